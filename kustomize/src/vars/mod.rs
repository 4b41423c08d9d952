//! The deprecated `vars`: `$(NAME)` in certain fields stands for a field of a resource.
//!
//! A kustomization's vars are tied to the resources accumulated when it is done; the values are read at the very end,
//! when names are final. Refused are a name that is defined twice, a reference that several resources fit, and a var
//! without a value.

mod expand;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use compact_str::CompactString;
use diagnostic::{Error, Result};
use yamltree::{Dialect, Kind, Node, Resolved, Span, Tag};

use self::expand::{Value, expand};
use crate::config::TransformerConfig;
use crate::context::Context;
use crate::decode::{Object, closest, described};
use crate::dotted;
use crate::fieldspec::Missing;
use crate::kustomization::Kustomization;
use crate::resid::{Gvk, ResId, parse_group_version};
use crate::resmap::ResMap;
use crate::resource::{Resource, is_null};
use crate::warning::Code;

const DEFAULT_FIELD: &str = "metadata.name";

/// The vars defined so far, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct VarSet(BTreeMap<CompactString, Var>);

/// The value of a name.
#[derive(Clone, Debug)]
struct Var {
    name: CompactString,
    /// The resource. Without a namespace it can be in any.
    object: ResId,
    field: String,
    span: Span,
}

impl VarSet {
    /// Adds those of a kustomization and ties them to the resources accumulated so far.
    pub(crate) fn add(&mut self, kustomization: &Kustomization, map: &mut ResMap) -> Result<()> {
        let vars: Vec<Var> = kustomization.items("vars")?.iter().map(Var::read).collect::<Result<_>>()?;
        if vars.is_empty() {
            return Ok(());
        }
        for (name, position) in matches(&vars, map)? {
            map.modify(position, |resource| {
                resource.vars.push(name);
                Ok(())
            })?;
        }
        vars.into_iter().try_for_each(|var| self.insert(var))
    }

    /// Adds those of a base.
    pub(crate) fn merge(&mut self, other: VarSet) -> Result<()> {
        other.0.into_values().try_for_each(|var| self.insert(var))
    }

    fn insert(&mut self, var: Var) -> Result<()> {
        if let Some(known) = self.0.get(&var.name) {
            return Err(Error::invalid(format!("the var `{}` is defined twice", var.name))
                .at(var.span)
                .via("first defined here", known.span));
        }
        self.0.insert(var.name.clone(), var);
        Ok(())
    }
}

impl Var {
    fn read(node: &Node) -> Result<Self> {
        let var = Object::new(node, "a var")?;
        let name = var.text("name")?;
        let object = var.field("objref").map_or(Ok(ResId::default()), read_object)?;
        let field = var.field("fieldref").map_or(Ok(String::new()), read_field)?;
        var.finish()?;
        let field = if field.is_empty() { DEFAULT_FIELD.to_owned() } else { field };
        Ok(Self { name: name.into(), object, field, span: node.span })
    }
}

/// `apiVersion` counts more than group and version.
fn read_object(node: &Node) -> Result<ResId> {
    let object = Object::new(node, "the objref of a var")?;
    let api_version = object.text("apiVersion")?;
    let (mut group, mut version) = (object.text("group")?, object.text("version")?);
    let (kind, name, namespace) = (object.text("kind")?, object.text("name")?, object.text("namespace")?);
    object.finish()?;
    match api_version.matches('/').count() {
        0 if api_version.is_empty() => {}
        0 => version = api_version,
        1 => (group, version) = split_api_version(&api_version),
        _ => {}
    }
    let gvk = Gvk { group: group.into(), version: version.into(), kind: kind.into() };
    Ok(ResId { gvk, name: name.into(), namespace: namespace.into(), cluster_scoped: false })
}

fn split_api_version(api_version: &str) -> (String, String) {
    let (group, version) = parse_group_version(api_version);
    (group.to_owned(), version.to_owned())
}

fn read_field(node: &Node) -> Result<String> {
    let field = Object::new(node, "the fieldref of a var")?;
    let path = field.text("fieldPath")?;
    field.finish()?;
    Ok(path)
}

/// Ties vars to the resources that they mean, by any id that those have or had.
fn matches(vars: &[Var], map: &ResMap) -> Result<Vec<(CompactString, usize)>> {
    let in_any_namespace = positions_in_any_namespace(vars, map);
    let mut found = Vec::with_capacity(vars.len());
    for var in vars {
        let positions = if var.object.namespace.is_empty() {
            in_any_namespace.get(&(&var.object.gvk, var.object.name.as_str())).map_or(&[][..], Vec::as_slice)
        } else {
            map.with_any_id(&var.object)
        };
        match positions {
            [] => {}
            [position] => found.push((var.name.clone(), *position)),
            [first, ..] => {
                let sentence = format!(
                    "the var `{}` can mean {} resources named `{}`",
                    var.name,
                    positions.len(),
                    var.object.name
                );
                return Err(Error::invalid(sentence)
                    .at(var.span)
                    .hint("say which by `objref.namespace`")
                    .via("one of them is defined here", map.get(*first).span()));
            }
        }
    }
    Ok(found)
}

/// The resources that vars mean without saying in which namespace.
fn positions_in_any_namespace<'v>(
    vars: &'v [Var],
    map: &'v ResMap,
) -> HashMap<(&'v Gvk, &'v str), Vec<usize>> {
    let wanted = vars.iter().filter(|var| var.object.namespace.is_empty());
    let mut found: HashMap<_, Vec<usize>> =
        wanted.map(|var| ((&var.object.gvk, var.object.name.as_str()), Vec::new())).collect();
    if found.is_empty() {
        return found;
    }
    for (position, resource) in map.iter().enumerate() {
        for id in resource.all_ids() {
            if let Some(positions) = found.get_mut(&(&id.gvk, id.name.as_str()))
                && positions.last() != Some(&position)
            {
                positions.push(position);
            }
        }
    }
    found
}

/// Puts the values of vars in their places.
pub(crate) fn resolve(
    map: &mut ResMap,
    vars: &VarSet,
    config: &TransformerConfig,
    cx: &Context<'_>,
) -> Result<()> {
    if vars.0.is_empty() {
        return Ok(());
    }
    let values = values(vars, map)?;
    let mut used = BTreeSet::new();
    map.modify_each(|resource| {
        for spec in config.var_reference.iter() {
            spec.apply(resource, Missing::Stays, |node| replace(node, &values, &mut used))?;
            resource.sync_aliases();
        }
        Ok(())
    })?;
    for var in vars.0.values().filter(|var| !used.contains(&var.name)) {
        let sentence = match values.get(&var.name) {
            Some(Value::Collection) => {
                format!("the var `{}` is not a scalar, so it is not replaced", var.name)
            }
            _ => format!("the var `{}` is not used", var.name),
        };
        cx.warn(Code::UnusedVar, sentence, var.span);
    }
    Ok(())
}

/// Reads what the vars stand for, now that nothing changes any more.
fn values(vars: &VarSet, map: &ResMap) -> Result<HashMap<CompactString, Value>> {
    let mut positions: HashMap<&str, usize> = HashMap::new();
    for (position, resource) in map.iter().enumerate() {
        for name in &resource.vars {
            positions.entry(name).or_insert(position);
        }
    }
    let mut values = HashMap::with_capacity(vars.0.len());
    for var in vars.0.values() {
        let Some(position) = positions.get(var.name.as_str()) else { return Err(no_object(var, map)) };
        let resource = map.get(*position);
        let Some(node) = dotted::lookup(&resource.node, &dotted::split(&var.field)) else {
            let sentence = format!(
                "no field `{1}` in {0} for the var `{2}`",
                resource.id().described(),
                var.field,
                var.name
            );
            return Err(Error::invalid(sentence)
                .at(var.span)
                .via("the resource is defined here", resource.span()));
        };
        let Some(value) = value(node) else {
            let sentence = format!("the var `{}` is {}, which cannot be put in", var.name, described(node));
            return Err(Error::invalid(sentence).at(node.span).via("by this var", var.span));
        };
        values.insert(var.name.clone(), value);
    }
    Ok(values)
}

fn no_object(var: &Var, map: &ResMap) -> Error {
    let object = &var.object;
    let error =
        Error::invalid(format!("no resource is {}, which the var `{}` names", object.described(), var.name))
            .at(var.span);
    let of_kind = || map.iter().flat_map(Resource::all_ids).filter(|id| id.gvk.kind == object.gvk.kind);
    let Some(namesake) = of_kind().find(|id| id.name == object.name) else {
        return match closest(&object.name, of_kind().map(|id| id.name.as_str())) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error,
        };
    };
    error.hint(if namesake.gvk != object.gvk {
        format!("the resource of that name has the apiVersion `{}`", namesake.gvk.api_version())
    } else if namesake.cluster_scoped {
        "the resource of that name is in no namespace".to_owned()
    } else {
        format!("the resource of that name is in the namespace `{}`", namesake.effective_namespace())
    })
}

/// A field's value with its type; `None` for a number that is not written in the decimal way.
fn value(node: &Node) -> Option<Value> {
    let Some(text) = node.text() else { return Some(Value::Collection) };
    match node.resolved(Dialect::V3) {
        Ok(Resolved::Int(_) | Resolved::Uint(_)) => text.parse().ok().map(Value::Int),
        Ok(Resolved::Float(_)) => text.parse().ok().filter(|float: &f64| float.is_finite()).map(Value::Float),
        Ok(Resolved::Bool(value)) => Some(Value::Bool(value)),
        _ => Some(Value::Text(text.to_owned())),
    }
}

/// Replaces in a string, in the strings of a list, or in the values of a mapping.
fn replace(
    node: &mut Node,
    values: &HashMap<CompactString, Value>,
    used: &mut BTreeSet<CompactString>,
) -> Result<()> {
    if is_null(node) {
        return Ok(());
    }
    match &mut node.kind {
        Kind::Sequence(items) => items.iter_mut().try_for_each(|item| {
            if is_string(item) {
                replace_text(item, values, used);
                return Ok(());
            }
            Err(Error::invalid(format!(
                "vars are put into a list of strings, but this is {}",
                described(item)
            ))
            .at(item.span))
        }),
        Kind::Mapping(entries) => entries.iter_mut().try_for_each(|entry| {
            if !is_string(&entry.key) {
                return Err(Error::invalid(format!("a key must be a string, not {}", described(&entry.key)))
                    .at(entry.key.span));
            }
            replace_text(&mut entry.value, values, used);
            Ok(())
        }),
        Kind::Scalar(_) | Kind::Alias(_) => {
            replace_text(node, values, used);
            Ok(())
        }
    }
}

/// A tag of the user's own makes a text something else.
fn is_string(node: &Node) -> bool {
    matches!(node.tag, Tag::Implicit | Tag::Str) && matches!(node.resolved(Dialect::V3), Ok(Resolved::Str))
}

/// Replaces in a string; anything else stays.
fn replace_text(node: &mut Node, values: &HashMap<CompactString, Value>, used: &mut BTreeSet<CompactString>) {
    let Some(text) = node.text().filter(|text| text.contains('$')) else { return };
    if !is_string(node) {
        return;
    }
    let replaced = expand(text, |name| {
        let value = values.get(name).filter(|value| !matches!(value, Value::Collection));
        if value.is_some() {
            used.insert(name.into());
        }
        value
    });
    node.overwrite(replaced.to_node().at(node.span));
}

#[cfg(test)]
mod tests {
    use crate::testing::{built, refused, warned};

    const SERVICE: &str = "apiVersion: v1
kind: Service
metadata: {name: s, annotations: {example.com/ratio: 1.50}}
spec: {publishNotReadyAddresses: true, ports: [{port: 80}]}
";

    fn files<'f>(vars: &'f str, pod: &'f str) -> [(&'f str, &'f str); 3] {
        [("kustomization.yaml", vars), ("s.yaml", SERVICE), ("pod.yaml", pod)]
    }

    #[test]
    fn values_keep_their_type_where_a_reference_stands_alone() {
        let yaml = built(&files(
            "resources: [s.yaml, pod.yaml]
namePrefix: p-
vars:
- name: NAME
  objref: {kind: Service, name: s, apiVersion: v1}
- name: PORT
  objref: {kind: Service, name: s, version: v1}
  fieldref: {fieldPath: 'spec.ports[0].port'}
- name: RATIO
  objref: {kind: Service, name: s, version: v1}
  fieldref: {fieldPath: 'metadata.annotations.[example.com/ratio]'}
- name: FLAG
  objref: {kind: Service, name: s, version: v1}
  fieldref: {fieldPath: spec.publishNotReadyAddresses}
",
            "apiVersion: v1
kind: Pod
metadata: {name: p, annotations: {x: $(NAME)}}
spec:
  containers:
  - args: [$(NAME), 'http://$(NAME):$(PORT)/$(RATIO)', $(PORT), $(RATIO), $(FLAG), $$(NAME), $(OTHER)]
    env: [{value: $(PORT)}]
",
        ));
        let want = "  annotations:
    x: p-s
  name: p-p
spec:
  containers:
  - args:
    - p-s
    - http://p-s:80/1.5
    - 80
    - 1.5
    - true
    - $(NAME)
    - $(OTHER)
    env:
    - value: 80
";
        assert!(yaml.ends_with(want), "{yaml}");
    }

    #[test]
    fn a_var_without_use_or_without_a_single_value_is_warned_of() {
        let vars = "resources: [s.yaml, pod.yaml]
vars:
- {name: UNUSED, objref: {kind: Service, name: s, apiVersion: v1}}
- {name: MAP, objref: {kind: Service, name: s, apiVersion: v1}, fieldref: {fieldPath: spec}}
";
        let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{args: [$(MAP)]}]}}";
        let warnings = warned(&files(vars, pod));
        let about_vars: Vec<_> = warnings.iter().filter(|warning| warning.starts_with("KUST-W015")).collect();
        assert_eq!(
            about_vars,
            [
                "KUST-W015 kustomization.yaml:4:3 the var `MAP` is not a scalar, so it is not replaced",
                "KUST-W015 kustomization.yaml:3:3 the var `UNUSED` is not used",
            ]
        );
        assert!(built(&files(vars, pod)).contains("- $(MAP)\n"));
    }

    #[test]
    fn vars_that_mean_nothing_or_too_much_are_refused() {
        let refused = |vars: &str, more: &str| {
            let kustomization = format!("resources: [s.yaml, pod.yaml]\nvars:\n{vars}");
            refused(&files(&kustomization, more))
        };
        let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}}";
        let other = "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: n}}";
        let cases = [
            (
                refused("- {name: A, objref: {kind: Service, name: t, apiVersion: v1}}\n", pod),
                "kustomization.yaml:3:3: no resource is Service/t, which the var `A` names",
            ),
            (
                refused("- {name: A, objref: {kind: Service, name: s, apiVersion: v1}}\n", other),
                "kustomization.yaml:3:3: the var `A` can mean 2 resources named `s`",
            ),
            (
                refused(
                    "- &a {name: A, objref: {kind: Service, name: s, apiVersion: v1}}\n- {name: A}\n",
                    pod,
                ),
                "kustomization.yaml:4:3: the var `A` is defined twice",
            ),
            (
                refused(
                    "- {name: A, objref: {kind: Service, name: s, apiVersion: v1}, fieldref: {fieldPath: spec.x}}\n",
                    pod,
                ),
                "kustomization.yaml:3:3: no field `spec.x` in Service/s for the var `A`",
            ),
            (
                refused("- {name: A, objref: {kind: Service, names: s}}\n", pod),
                "kustomization.yaml:3:37: unknown field `names` in the objref of a var",
            ),
        ];
        for (error, want) in cases {
            assert_eq!(error, want);
        }
    }

    /// A label that is put in several places is one node there: what is replaced in one place is in all, although
    /// vars are not looked for in selectors. So `$$` is undone twice where vars are looked for in two of the places.
    #[test]
    fn a_label_with_a_var_is_replaced_in_selectors_too() {
        let yaml = built(&files(
            "resources: [s.yaml, pod.yaml]
commonLabels: {l: $(V)}
commonAnnotations: {x: $$(V)}
vars: [{name: V, objref: {kind: Service, name: s, apiVersion: v1}}]
",
            "apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}}}
",
        ));
        let want = "metadata:
  annotations:
    x: s
  labels:
    l: s
  name: d
spec:
  selector:
    matchLabels:
      a: b
      l: s
  template:
    metadata:
      annotations:
        x: s
      labels:
        a: b
        l: s
";
        assert!(yaml.ends_with(want), "{yaml}");
    }

    /// A namespace decides, and a cluster-scoped resource is in none.
    #[test]
    fn a_namespace_says_which_resource_is_meant() {
        let vars = |namespace: &str| {
            format!(
                "resources: [s.yaml, pod.yaml]\nvars:\n- {{name: A, objref: {{kind: Service, name: s, apiVersion: v1, \
                 namespace: {namespace}}}, fieldref: {{fieldPath: metadata.namespace}}}}\n"
            )
        };
        let more = "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: nn}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {x: $(A)}}}
";
        assert!(built(&files(&vars("nn"), more)).contains("x: nn\n"));
        let error = refused(&files(&vars("default"), more));
        assert_eq!(
            error,
            "kustomization.yaml:3:3: no field `metadata.namespace` in Service/s for the var `A`"
        );
    }
}
