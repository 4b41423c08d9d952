//! Records how the resources of a build change, step by step.
//!
//! In: the resources after each step of a build that is watched. Out: a [`History`] for each resource of the output: its
//! tree after each step that changed it or moved it to another place. A build that nobody watches pays nothing.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use yamltree::{Kind, Node, Span};

use crate::kustomization::Kustomization;
use crate::resmap::ResMap;
use crate::resource::Resource;

/// The history of one resource.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The resource after each step that changed it; the first is how it was read or generated.
    pub versions: Vec<Version>,
}

/// A resource after a step.
#[derive(Clone, Debug)]
pub struct Version {
    /// The step.
    pub step: Step,
    /// The resource.
    pub node: Node,
}

/// A step of a build.
#[derive(Clone, Debug)]
pub struct Step {
    /// The name of the step, by its field of the kustomization: `images`.
    pub name: Cow<'static, str>,
    /// The span of its configuration.
    pub span: Span,
    /// The fields of the kustomization that ask for it, or the entry of one.
    pub fields: Vec<Field>,
}

/// A field of a kustomization that configures a step.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its value, or the entry of it.
    pub value: Node,
}

/// Which fields of a kustomization ask for a generator or transformer.
const FIELDS: &[(&str, &[&str])] = &[
    ("ConfigMapGenerator", &["configMapGenerator"]),
    ("SecretGenerator", &["secretGenerator"]),
    ("HelmChartInflationGenerator", &["helmCharts", "helmChartInflationGenerator"]),
    ("PatchStrategicMergeTransformer", &["patchesStrategicMerge"]),
    ("PatchTransformer", &["patches"]),
    ("NamespaceTransformer", &["namespace"]),
    ("PrefixTransformer", &["namePrefix"]),
    ("SuffixTransformer", &["nameSuffix"]),
    ("LabelTransformer", &["labels", "commonLabels"]),
    ("AnnotationsTransformer", &["commonAnnotations"]),
    ("PatchJson6902Transformer", &["patchesJson6902"]),
    ("ReplicaCountTransformer", &["replicas"]),
    ("ImageTagTransformer", &["images", "imageTags"]),
    ("ReplacementTransformer", &["replacements"]),
];

impl Step {
    /// A step that belongs to no field.
    pub(crate) fn named(name: impl Into<Cow<'static, str>>, span: Span) -> Self {
        Self { name: name.into(), span, fields: Vec::new() }
    }

    /// The step that a built-in generator or transformer is, the `number`th of `count` that the fields ask for.
    pub(crate) fn of_fields(kind: &str, number: usize, count: usize, kustomization: &Kustomization) -> Self {
        let names = FIELDS.iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, names)| names);
        let present = |name: &&'static str| {
            let value = kustomization.field(name)?;
            Some(Field { name, value: value.clone() })
        };
        let fields: Vec<Field> = names.iter().filter_map(present).collect();
        let Some(first) = fields.first() else { return Self::named(kind.to_owned(), kustomization.span()) };
        let entries: usize = fields.iter().map(|field| field.value.items().map_or(0, Vec::len)).sum();
        let entry = |field: &Field| {
            let items = field.value.items().cloned().unwrap_or_default();
            let name = field.name;
            items.into_iter().map(move |value| Field { name, value }).collect::<Vec<_>>()
        };
        // One for each entry: then it is known which entry asks for it.
        if let (true, Some(field)) = (entries == count, fields.iter().flat_map(entry).nth(number)) {
            return Self { name: field.name.into(), span: field.value.span, fields: vec![field] };
        }
        Self { name: first.name.into(), span: first.value.span, fields }
    }

    /// The step that a plugin is which a resource configures.
    pub(crate) fn of_plugin(configuration: &Resource) -> Self {
        Self::named(configuration.kind().to_owned(), configuration.span())
    }
}

/// Notes what becomes of the resources of a kind.
#[derive(Debug)]
pub(crate) struct Recorder {
    kind: String,
    histories: RefCell<HashMap<u32, History>>,
}

impl Recorder {
    pub(crate) fn new(kind: &str) -> Self {
        Self { kind: kind.to_owned(), histories: RefCell::default() }
    }

    /// Notes what a step left.
    pub(crate) fn after(&self, map: &ResMap, step: &Step) {
        let mut histories = self.histories.borrow_mut();
        for resource in map.iter().filter(|resource| resource.kind().eq_ignore_ascii_case(&self.kind)) {
            if resource.lineage.get() == 0 {
                resource.lineage.set(u32::try_from(histories.len()).unwrap_or(u32::MAX - 1) + 1);
            }
            let history = histories.entry(resource.lineage.get()).or_default();
            if history.versions.last().is_none_or(|last| !is_same(&last.node, &resource.node)) {
                history.versions.push(Version { step: step.clone(), node: resource.node.clone() });
            }
        }
    }

    /// The histories of resources, in their order; nothing is known of those of another kind.
    pub(crate) fn histories(&self, resources: &[Resource]) -> Vec<History> {
        let mut histories = self.histories.borrow_mut();
        resources
            .iter()
            .map(|resource| histories.remove(&resource.lineage.get()).unwrap_or_default())
            .collect()
    }
}

/// Returns true if two trees hold the same and were written at the same places.
fn is_same(left: &Node, right: &Node) -> bool {
    if left.span != right.span {
        return false;
    }
    match (&left.kind, &right.kind) {
        (Kind::Mapping(left), Kind::Mapping(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| {
                    left.key.text() == right.key.text() && is_same(&left.value, &right.value)
                })
        }
        (Kind::Sequence(left), Kind::Sequence(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_same(left, right))
        }
        _ => left.text() == right.text() && left.is_scalar() == right.is_scalar(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use vfs::MemoryTree;

    use crate::build::{Shared, build_watched};
    use crate::options::Options;
    use crate::world::World;

    /// The steps of each watched resource, with where they are asked for.
    fn steps(files: &[(&str, &str)], kind: &str) -> Vec<Vec<String>> {
        let memory: MemoryTree = files.iter().map(|(path, text)| (path, text.as_bytes())).collect();
        let world = World { files: &memory, remote: None, charts: None, functions: None };
        let shared = Shared::default();
        let (output, histories) =
            build_watched(Path::new("/o"), world, &Options::default(), &shared, kind).expect("it builds");
        assert_eq!(output.objects().len(), histories.len());
        let step = |version: &super::Version| {
            let place = shared.place(version.step.span).map_or_else(String::new, |place| place.to_string());
            format!("{} {place}", version.step.name)
        };
        let of = |history: &super::History| history.versions.iter().map(step).collect::<Vec<_>>();
        // Nothing is noted of the others.
        histories.iter().map(of).filter(|steps| !steps.is_empty()).collect()
    }

    const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n      containers:\n      - {name: web, image: web:1}\n      volumes:\n      - {name: c, configMap: {name: c}}\n";

    #[test]
    fn each_step_that_changes_a_resource_is_noted() {
        let overlay = "resources: [../b]\nnamePrefix: p-\nimages:\n- {name: web, newTag: '2'}\n- {name: x, newTag: '2'}\nreplicas:\n- {name: web, count: 3}\nconfigMapGenerator:\n- name: c\n  literals: [a=b]\n";
        let files = [
            ("o/kustomization.yaml", overlay),
            ("b/kustomization.yaml", "resources: [d.yaml]\n"),
            ("b/d.yaml", DEPLOYMENT),
        ];
        let found = steps(&files, "deployment");
        assert_eq!(
            found[0],
            [
                "resources b/kustomization.yaml:1:13",
                "namePrefix o/kustomization.yaml:2:13",
                "replicas o/kustomization.yaml:7:3",
                "images o/kustomization.yaml:4:1",
                "the names of what is referred to ",
            ]
        );
        assert_eq!(found.len(), 1);
        let found = steps(&files, "ConfigMap");
        assert_eq!(
            found[0],
            [
                "configMapGenerator o/kustomization.yaml:9:3",
                "namePrefix o/kustomization.yaml:2:13",
                "the hash of the content ",
            ]
        );
    }

    /// Two variants of one base come from the same lines and yet have each a history of their own.
    #[test]
    fn variants_of_one_base_are_told_apart() {
        let files = [
            ("o/kustomization.yaml", "resources: [../x, ../y]\n"),
            ("x/kustomization.yaml", "resources: [../b]\nnamePrefix: x-\n"),
            ("y/kustomization.yaml", "resources: [../b]\nnameSuffix: -y\n"),
            ("b/kustomization.yaml", "resources: [d.yaml]\n"),
            ("b/d.yaml", DEPLOYMENT),
        ];
        let found = steps(&files, "Deployment");
        // The output is in the order of names.
        assert_eq!(found[0], ["resources b/kustomization.yaml:1:13", "nameSuffix y/kustomization.yaml:2:13"]);
        assert_eq!(found[1], ["resources b/kustomization.yaml:1:13", "namePrefix x/kustomization.yaml:2:13"]);
    }
}
