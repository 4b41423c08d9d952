//! From what a source renders to what Argo CD compares and applies.
//!
//! In: rendered objects. Out: each object once, tracked, in its namespace, with the warnings that Argo CD shows at the
//! Application. Refused: what cannot be tracked, and lists of what are no objects.

use std::collections::HashMap;

use diagnostic::Result;

use super::{Key, Object, ResourceFilter, Scopes, Tracking, flatten};
use crate::warning::{Code, Warning};

/// The destination of an Application's objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Destination {
    /// The address of the cluster.
    pub server: String,
    /// The namespace of objects that say none.
    pub namespace: String,
}

/// The processing of an Application's objects.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// The tracking metadata.
    pub tracking: Tracking,
    /// The destination.
    pub destination: Destination,
    /// Which of them are left alone.
    pub filter: ResourceFilter,
}

/// The objects as they would be applied, and what to say of them.
#[derive(Debug, Default)]
pub struct Processed {
    /// The objects, those of several that are the same in the place of the last.
    pub objects: Vec<Object>,
    /// Those of kinds that are left alone.
    pub excluded: Vec<Object>,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

impl Pipeline {
    /// Does it to the objects of all sources, in the order of the sources.
    ///
    /// # Errors
    /// If a list holds what is no object, or an object cannot be tracked.
    pub fn run(&self, rendered: Vec<Object>) -> Result<Processed> {
        let mut objects = flatten(rendered)?;
        let namespace = &self.destination.namespace;
        // The repo-server tracks all but CRDs, the controller whatever it moves to another namespace, CRDs too.
        for object in objects.iter_mut().filter(|object| !object.is_crd()) {
            self.tracking.track(object, namespace)?;
        }
        let scopes = Scopes::of(&objects);
        for object in &mut objects {
            if settle(object, namespace, &scopes) {
                self.tracking.track(object, namespace)?;
            }
        }
        let mut warnings = Vec::new();
        let is_excluded =
            |object: &Object| self.filter.excludes(object.group(), object.kind(), &self.destination.server);
        let (excluded, objects): (Vec<_>, Vec<_>) =
            once_each(objects, &mut warnings).into_iter().partition(is_excluded);
        warnings.extend(excluded.iter().map(|object| {
            let message = format!("{object} is not applied: Argo CD leaves its kind alone");
            Warning::new(Code::ExcludedResource, message).at(object.place())
        }));
        Ok(Processed { objects, excluded, warnings })
    }
}

/// Puts an object in the namespace that it belongs to; whether it has another one then.
fn settle(object: &mut Object, namespace: &str, scopes: &Scopes) -> bool {
    let is_namespaced = scopes.is_namespaced(object.group(), object.kind());
    match (is_namespaced, object.namespace().is_empty()) {
        (false, false) => object.set_namespace(""),
        (true, true) => object.set_namespace(namespace),
        _ => return false,
    }
    true
}

/// Of objects that are the same, the last.
pub(crate) fn once_each(objects: Vec<Object>, warnings: &mut Vec<Warning>) -> Vec<Object> {
    let mut places: HashMap<Key, Vec<usize>> = HashMap::new();
    for (at, object) in objects.iter().enumerate() {
        // Each object whose name the cluster makes is another one.
        if !object.name().is_empty() || object.generate_name().is_empty() {
            places.entry(object.key()).or_default().push(at);
        }
    }
    let mut is_dropped = vec![false; objects.len()];
    for (at, object) in objects.iter().enumerate() {
        let Some([before @ .., last]) = places.get(&object.key()).map(Vec::as_slice) else { continue };
        if before.first() != Some(&at) {
            continue;
        }
        before.iter().for_each(|at| is_dropped[*at] = true);
        let counts = objects[*last]
            .place()
            .map_or("the last one counts".to_owned(), |place| format!("the last one counts, at {place}"));
        let message = format!("{} is there {} times: {counts}", object.key(), before.len() + 1);
        warnings.push(
            Warning::new(Code::RepeatedResource, message).at(object.place()).hint("remove all but one"),
        );
    }
    let kept = objects.into_iter().zip(is_dropped).filter(|(_, is_dropped)| !is_dropped);
    kept.map(|(object, _)| object).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use yamltree::Source;

    use super::super::{Method, read};
    use super::*;

    fn processed(text: &str, settings: &[(&str, &str)]) -> Processed {
        let settings: BTreeMap<_, _> =
            settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let pipeline = Pipeline {
            tracking: Tracking::new(&settings, "web".to_owned(), Some(Method::Annotation)),
            destination: Destination { server: "https://prod".to_owned(), namespace: "shop".to_owned() },
            filter: ResourceFilter::new(&settings).unwrap(),
        };
        let source = Arc::new(Source { name: "a.yaml".to_owned(), text: text.into() });
        pipeline.run(read(&source).unwrap()).unwrap()
    }

    fn ids(processed: &Processed) -> Vec<String> {
        let id = |object: &Object| {
            let id = object.annotation("argocd.argoproj.io/tracking-id").unwrap_or_default();
            format!("{} {id}", object.key())
        };
        processed.objects.iter().map(id).collect()
    }

    const CRD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n";

    /// controller/state.go `NormalizeTargetObjects`
    #[test]
    fn objects_are_tracked_and_in_their_namespaces() {
        let text = format!(
            "kind: ConfigMap\nmetadata: {{name: a}}\n---\n{CRD}metadata: {{name: x}}\nspec: {{group: g, names: {{kind: K}}, scope: Cluster}}\n---\n{CRD}metadata: {{name: z, namespace: old}}\n---\nkind: K\napiVersion: g/v1\nmetadata: {{name: k, namespace: old}}\n"
        );
        assert_eq!(
            ids(&processed(&text, &[])),
            [
                "ConfigMap/shop/a web:/ConfigMap:shop/a",
                "apiextensions.k8s.io/CustomResourceDefinition/x ",
                // One that gives up its namespace is tracked all the same.
                "apiextensions.k8s.io/CustomResourceDefinition/z web:apiextensions.k8s.io/CustomResourceDefinition:shop/z",
                "g/K/k web:g/K:shop/k",
            ]
        );
    }

    #[test]
    fn of_the_same_objects_the_last_stays() {
        let text = "kind: A\nmetadata: {name: a}\n---\nkind: B\nmetadata: {name: b}\n---\nkind: A\nmetadata: {name: a, namespace: shop}\n---\nkind: J\nmetadata: {generateName: j-}\n---\nkind: J\nmetadata: {generateName: j-}\n";
        let processed = processed(text, &[]);
        assert_eq!(processed.objects.len(), 4);
        assert_eq!(processed.objects[1].place().unwrap().to_string(), "a.yaml:7:1");
        let [warning] = processed.warnings.as_slice() else { panic!("{:?}", processed.warnings) };
        assert_eq!(warning.message, "A/shop/a is there 2 times: the last one counts, at a.yaml:7:1");
        assert_eq!(warning.location.as_ref().unwrap().to_string(), "a.yaml:1:1");
    }

    #[test]
    fn excluded_kinds_are_said() {
        let rules = "- {apiGroups: [''], kinds: [Secret], clusters: ['https://prod']}";
        let text = "kind: Secret\nmetadata: {name: s}\n---\nkind: A\nmetadata: {name: a}\n";
        let processed = processed(text, &[("resource.exclusions", rules)]);
        assert_eq!(processed.objects.len(), 1);
        assert_eq!(processed.warnings[0].code, Code::ExcludedResource);
        assert_eq!(processed.warnings[0].message, "Secret/s is not applied: Argo CD leaves its kind alone");
        assert_eq!(processed.excluded[0].to_string(), "Secret/s");
    }
}
