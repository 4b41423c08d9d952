//! The schema of a kustomization: the types of Kustomize 5.8.1, with its error messages.

use diagnostic::{Error, Result};
use yamledit::Content;
use yamltree::Node;

use crate::fields::is_null;

/// A structure: its name in Kustomize's sources, and its fields.
struct Structure {
    name: &'static str,
    fields: &'static [(&'static str, Type)],
}

enum Type {
    Text,
    /// The paths and inline patches of `patchesStrategicMerge`, which are texts with a type of their own.
    StrategicMerge,
    Order,
    Bool,
    Int,
    Int64,
    Texts,
    Anything,
    List(&'static Type),
    Of(&'static Structure),
}

use Type::{Anything, Bool, Int, Int64, List, Of, Order, StrategicMerge, Text, Texts};

static KUSTOMIZATION: Structure = Structure {
    name: "Kustomization",
    fields: &[
        ("apiVersion", Text),
        ("kind", Text),
        ("metadata", Of(&METADATA)),
        ("openapi", Texts),
        ("namePrefix", Text),
        ("nameSuffix", Text),
        ("namespace", Text),
        ("commonLabels", Texts),
        ("labels", List(&Of(&LABEL))),
        ("commonAnnotations", Texts),
        ("patchesStrategicMerge", List(&StrategicMerge)),
        ("patchesJson6902", List(&Of(&PATCH))),
        ("patches", List(&Of(&PATCH))),
        ("images", List(&Of(&IMAGE))),
        ("imageTags", List(&Of(&IMAGE))),
        ("replacements", List(&Of(&REPLACEMENT))),
        ("replicas", List(&Of(&REPLICA))),
        ("vars", List(&Of(&VAR))),
        ("sortOptions", Of(&SORT_OPTIONS)),
        ("resources", List(&Text)),
        ("components", List(&Text)),
        ("crds", List(&Text)),
        ("bases", List(&Text)),
        ("configMapGenerator", List(&Of(&CONFIG_MAP))),
        ("secretGenerator", List(&Of(&SECRET))),
        ("helmGlobals", Of(&HELM_GLOBALS)),
        ("helmCharts", List(&Of(&HELM_CHART))),
        ("helmChartInflationGenerator", List(&Of(&HELM_CHART_ARGS))),
        ("generatorOptions", Of(&GENERATOR_OPTIONS)),
        ("configurations", List(&Text)),
        ("generators", List(&Text)),
        ("transformers", List(&Text)),
        ("validators", List(&Text)),
        ("buildMetadata", List(&Text)),
    ],
};

static METADATA: Structure = Structure {
    name: "ObjectMeta",
    fields: &[("name", Text), ("namespace", Text), ("labels", Texts), ("annotations", Texts)],
};

static LABEL: Structure = Structure {
    name: "Label",
    fields: &[
        ("pairs", Texts),
        ("includeSelectors", Bool),
        ("includeTemplates", Bool),
        ("fields", List(&Of(&FIELD_SPEC))),
    ],
};

static FIELD_SPEC: Structure = Structure {
    name: "FieldSpec",
    fields: &[("group", Text), ("version", Text), ("kind", Text), ("path", Text), ("create", Bool)],
};

static PATCH: Structure = Structure {
    name: "Patch",
    fields: &[("path", Text), ("patch", Text), ("target", Of(&SELECTOR)), ("options", Of(&PATCH_ARGS))],
};

static PATCH_ARGS: Structure =
    Structure { name: "PatchArgs", fields: &[("allowNameChange", Bool), ("allowKindChange", Bool)] };

static SELECTOR: Structure = Structure {
    name: "Selector",
    fields: &[
        ("group", Text),
        ("version", Text),
        ("kind", Text),
        ("name", Text),
        ("namespace", Text),
        ("annotationSelector", Text),
        ("labelSelector", Text),
    ],
};

static IMAGE: Structure = Structure {
    name: "Image",
    fields: &[("name", Text), ("newName", Text), ("tagSuffix", Text), ("newTag", Text), ("digest", Text)],
};

static REPLICA: Structure = Structure { name: "Replica", fields: &[("name", Text), ("count", Int64)] };

static REPLACEMENT: Structure = Structure {
    name: "ReplacementField",
    fields: &[
        ("source", Of(&SOURCE)),
        ("targets", List(&Of(&TARGET_SELECTOR))),
        ("sourceValue", Text),
        ("path", Text),
    ],
};

static SOURCE: Structure = Structure {
    name: "SourceSelector",
    fields: &[
        ("group", Text),
        ("version", Text),
        ("kind", Text),
        ("name", Text),
        ("namespace", Text),
        ("fieldPath", Text),
        ("options", Of(&FIELD_OPTIONS)),
    ],
};

static TARGET_SELECTOR: Structure = Structure {
    name: "TargetSelector",
    fields: &[
        ("select", Of(&SELECTOR)),
        ("reject", List(&Of(&SELECTOR))),
        ("fieldPaths", List(&Text)),
        ("options", Of(&FIELD_OPTIONS)),
    ],
};

static FIELD_OPTIONS: Structure = Structure {
    name: "FieldOptions",
    fields: &[("delimiter", Text), ("index", Int), ("encoding", Text), ("create", Bool)],
};

static VAR: Structure = Structure {
    name: "Var",
    fields: &[("name", Text), ("objref", Of(&VAR_TARGET)), ("fieldref", Of(&FIELD_SELECTOR))],
};

static VAR_TARGET: Structure = Structure {
    name: "Target",
    fields: &[
        ("apiVersion", Text),
        ("group", Text),
        ("version", Text),
        ("kind", Text),
        ("name", Text),
        ("namespace", Text),
    ],
};

static FIELD_SELECTOR: Structure = Structure { name: "FieldSelector", fields: &[("fieldPath", Text)] };

static SORT_OPTIONS: Structure = Structure {
    name: "SortOptions",
    fields: &[("order", Order), ("legacySortOptions", Of(&LEGACY_SORT_OPTIONS))],
};

static LEGACY_SORT_OPTIONS: Structure = Structure {
    name: "LegacySortOptions",
    fields: &[("orderFirst", List(&Text)), ("orderLast", List(&Text))],
};

static CONFIG_MAP: Structure = Structure {
    name: "ConfigMapArgs",
    fields: &[
        ("namespace", Text),
        ("name", Text),
        ("behavior", Text),
        ("literals", List(&Text)),
        ("files", List(&Text)),
        ("envs", List(&Text)),
        ("env", Text),
        ("options", Of(&GENERATOR_OPTIONS)),
    ],
};

static SECRET: Structure = Structure {
    name: "SecretArgs",
    fields: &[
        ("namespace", Text),
        ("name", Text),
        ("behavior", Text),
        ("literals", List(&Text)),
        ("files", List(&Text)),
        ("envs", List(&Text)),
        ("env", Text),
        ("options", Of(&GENERATOR_OPTIONS)),
        ("type", Text),
    ],
};

static GENERATOR_OPTIONS: Structure = Structure {
    name: "GeneratorOptions",
    fields: &[
        ("labels", Texts),
        ("annotations", Texts),
        ("disableNameSuffixHash", Bool),
        ("immutable", Bool),
    ],
};

static HELM_GLOBALS: Structure =
    Structure { name: "HelmGlobals", fields: &[("chartHome", Text), ("configHome", Text)] };

static HELM_CHART: Structure = Structure {
    name: "HelmChart",
    fields: &[
        ("name", Text),
        ("version", Text),
        ("repo", Text),
        ("releaseName", Text),
        ("namespace", Text),
        ("additionalValuesFiles", List(&Text)),
        ("valuesFile", Text),
        ("valuesInline", Anything),
        ("valuesMerge", Text),
        ("includeCRDs", Bool),
        ("skipHooks", Bool),
        ("apiVersions", List(&Text)),
        ("kubeVersion", Text),
        ("nameTemplate", Text),
        ("skipTests", Bool),
        ("debug", Bool),
        ("devel", Bool),
    ],
};

static HELM_CHART_ARGS: Structure = Structure {
    name: "HelmChartArgs",
    fields: &[
        ("chartName", Text),
        ("chartVersion", Text),
        ("chartRepoUrl", Text),
        ("chartHome", Text),
        ("chartRepoName", Text),
        ("helmBin", Text),
        ("helmHome", Text),
        ("values", Text),
        ("valuesLocal", Anything),
        ("valuesMerge", Text),
        ("releaseName", Text),
        ("releaseNamespace", Text),
        ("extraArgs", List(&Text)),
    ],
};

/// Checks the content of a kustomization file that is not empty.
pub(crate) fn check(root: &Node, content: &Content) -> Result<()> {
    let checker = Checker { root };
    if !matches!(content, Content::Mapping(_)) {
        let sentence =
            format!("json: cannot unmarshal {} into Go value of type types.Kustomization", found(content));
        return Err(checker.error(&[], &sentence));
    }
    checker.structure(&KUSTOMIZATION, content, &mut Vec::new())
}

/// Knows the file's tree, so that a fault has its place.
struct Checker<'n> {
    root: &'n Node,
}

/// A step of the way to a value.
#[derive(Clone, Copy)]
enum Step<'c> {
    Key(&'c str),
    Item(usize),
}

impl Checker<'_> {
    fn structure<'c>(
        &self,
        structure: &Structure,
        content: &'c Content,
        way: &mut Vec<Step<'c>>,
    ) -> Result<()> {
        let Content::Mapping(entries) = content else { return Ok(()) };
        let mut seen: Vec<&str> = Vec::new();
        for (key, value) in entries {
            way.push(Step::Key(key));
            let known = structure.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
            let Some((name, wanted)) = known else {
                return Err(self.error(way, &format!("json: unknown field \"{key}\"")));
            };
            if seen.contains(name) {
                return Err(self.error(way, &format!("the field \"{name}\" is there twice")));
            }
            seen.push(name);
            self.value(structure, wanted, value, way)?;
            way.pop();
        }
        Ok(())
    }

    fn value<'c>(
        &self,
        owner: &Structure,
        wanted: &Type,
        value: &'c Content,
        way: &mut Vec<Step<'c>>,
    ) -> Result<()> {
        let is_wanted = match (wanted, value) {
            (_, value) if is_null(value) => return Ok(()),
            (Text | StrategicMerge | Order, Content::String(_)) | (Bool, Content::Bool(_)) => true,
            (Int | Int64, Content::Plain(number)) if is_whole(number) => true,
            (Int | Int64, Content::Plain(number)) => {
                return Err(self.mismatch(owner, wanted, &format!("number {number}"), way));
            }
            (Anything, Content::Mapping(_)) => return Ok(()),
            (Texts, Content::Mapping(entries)) => {
                for (key, value) in entries {
                    way.push(Step::Key(key));
                    if !matches!(value, Content::String(_)) && !is_null(value) {
                        return Err(self.mismatch(owner, &Text, found(value), way));
                    }
                    way.pop();
                }
                true
            }
            (List(wanted), Content::Sequence(items)) => {
                for (at, item) in items.iter().enumerate() {
                    way.push(Step::Item(at));
                    self.value(owner, wanted, item, way)?;
                    way.pop();
                }
                true
            }
            (Of(structure), Content::Mapping(_)) => return self.structure(structure, value, way),
            _ => false,
        };
        if is_wanted { Ok(()) } else { Err(self.mismatch(owner, wanted, found(value), way)) }
    }

    fn mismatch(&self, owner: &Structure, wanted: &Type, found: &str, way: &[Step<'_>]) -> Error {
        // Of the way only the keys of structures are told.
        let mut told: Vec<&str> = Vec::new();
        let mut fields = Some(&KUSTOMIZATION);
        for step in way {
            if let Step::Key(key) = step
                && let Some(structure) = fields
                && let Some((name, of)) =
                    structure.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(key))
            {
                told.push(name);
                fields = match of {
                    Of(inner) | List(Of(inner)) => Some(inner),
                    _ => None,
                };
            }
        }
        let sentence = format!(
            "json: cannot unmarshal {found} into Go struct field {}.{} of type {}",
            owner.name,
            told.join("."),
            name(wanted)
        );
        self.error(way, &sentence)
    }

    fn error(&self, way: &[Step<'_>], sentence: &str) -> Error {
        let mut node = self.root;
        let mut span = node.span;
        for step in way {
            let next = match step {
                Step::Key(key) => node.entries().and_then(|entries| {
                    entries.iter().find(|entry| entry.key.text() == Some(key)).map(|entry| {
                        span = entry.key.span;
                        &entry.value
                    })
                }),
                Step::Item(at) => node.items().and_then(|items| items.get(*at)),
            };
            let Some(next) = next else { break };
            if matches!(step, Step::Item(_)) {
                span = next.span;
            }
            node = next;
        }
        Error::invalid(format!("invalid Kustomization: {sentence}")).at(span)
    }
}

/// Returns true if a number is one of Go's `int64`.
fn is_whole(number: &str) -> bool {
    matches!(yamltree::resolve(number, yamltree::Dialect::V2), yamltree::Resolved::Int(_))
}

/// Returns the JSON type of a value.
fn found(value: &Content) -> &'static str {
    match value {
        Content::String(_) => "string",
        Content::Bool(_) => "bool",
        Content::Plain(_) => "number",
        Content::Sequence(_) => "array",
        Content::Mapping(_) => "object",
    }
}

/// Returns what Go calls a type.
fn name(wanted: &Type) -> String {
    match wanted {
        Text => "string".to_owned(),
        StrategicMerge => "types.PatchStrategicMerge".to_owned(),
        Order => "types.SortOrder".to_owned(),
        Bool => "bool".to_owned(),
        Int => "int".to_owned(),
        Int64 => "int64".to_owned(),
        Texts => "map[string]string".to_owned(),
        Anything => "map[string]interface {}".to_owned(),
        List(item) => format!("[]{}", name(item)),
        Of(structure) => format!("types.{}", structure.name),
    }
}
