//! `replicas`, and the plugin `ReplicaCountTransformer`: sets the number of replicas of a resource by its name.
//!
//! A name is one that the resource has or had. Refused: a name that nothing has which could have replicas.

use diagnostic::{Error, Result};
use yamltree::{Node, Span, Tag};

use crate::config::FieldSpecs;
use crate::context::Context;
use crate::decode::{Object, closest};
use crate::fieldspec::{FieldSpec, Missing};
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::setter::set_tagged;
use crate::target::Target;

use super::{Builtin, Transformer};

pub(crate) const BUILTIN: Builtin = Builtin { kind: "ReplicaCountTransformer", from_fields, from_config };

#[derive(Debug)]
struct ReplicaCountTransformer {
    name: String,
    count: i64,
    specs: FieldSpecs,
    span: Span,
}

fn from_fields(target: &Target<'_, '_>) -> Result<Vec<Box<dyn Transformer>>> {
    let mut transformers: Vec<Box<dyn Transformer>> = Vec::new();
    for node in target.kustomization.items("replicas")? {
        let object = Object::new(node, "an entry of replicas")?;
        let specs = target.config.replicas.clone();
        transformers.push(Box::new(ReplicaCountTransformer::read(object, specs, target.cx)?));
    }
    Ok(transformers)
}

fn from_config(node: &Node, target: &Target<'_, '_>) -> Result<Box<dyn Transformer>> {
    let object = Object::plugin(node, "a ReplicaCountTransformer")?;
    let specs = FieldSpecs::read(&object, "fieldSpecs", target.cx)?;
    let replica = Object::read(object.field("replica").unwrap_or(&Node::null()), "replica", object.reading())
        .and_then(|replica| ReplicaCountTransformer::read(replica, specs, target.cx))?;
    object.close(target.cx)?;
    Ok(Box::new(replica))
}

impl ReplicaCountTransformer {
    fn read(object: Object<'_>, specs: FieldSpecs, cx: &Context<'_>) -> Result<Self> {
        let transformer = Self {
            name: object.text("name")?,
            count: object.integer("count")?.unwrap_or_default(),
            specs,
            span: object.span(),
        };
        object.close(cx)?;
        Ok(transformer)
    }

    /// The positions of the resources that have or had the name while they were of a kind that the field is of.
    fn selected(&self, map: &ResMap, spec: &FieldSpec) -> Vec<usize> {
        let is_meant = |position: &&usize| {
            let ids = map.get(**position).all_ids();
            ids.into_iter().any(|id| id.name == self.name && id.gvk.is_selected(&spec.gvk))
        };
        map.with_any_name(&self.name).iter().filter(is_meant).copied().collect()
    }

    fn nothing_found(&self, map: &ResMap) -> Error {
        let mut kinds: Vec<&str> = self.specs.iter().map(|spec| spec.gvk.kind.as_str()).collect();
        kinds.dedup();
        let sentence = format!("no resource named `{}` can have replicas ({})", self.name, kinds.join(", "));
        let error = Error::invalid(sentence).at(self.span);
        let has_replicas = |kind: &str| kinds.iter().any(|known| known.is_empty() || *known == kind);
        let names = map.iter().filter(|resource| has_replicas(resource.kind())).map(Resource::name);
        match closest(&self.name, names) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error,
        }
    }
}

impl Transformer for ReplicaCountTransformer {
    fn transform(&self, map: &mut ResMap, _: &Context<'_>) -> Result<()> {
        let mut found = false;
        let count = self.count.to_string();
        for spec in self.specs.iter() {
            for position in self.selected(map, spec) {
                found = true;
                map.modify(position, |resource| {
                    spec.apply(resource, Missing::Scalar(Tag::Int), |node| set_tagged(node, &count, Tag::Int))
                })?;
            }
        }
        if found { Ok(()) } else { Err(self.nothing_found(map)) }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build_files, built};

    fn files<'f>(kustomization: &'f str, deployment: &'f str) -> [(&'f str, &'f str); 2] {
        [("kustomization.yaml", kustomization), ("web.yaml", deployment)]
    }

    const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n";
    const REPLICAS: &str = "resources: [web.yaml]\nreplicas: [{name: web, count: 5}]\n";

    #[test]
    fn a_number_that_was_quoted_stays_so() {
        let deployment = format!("{DEPLOYMENT}spec:\n  replicas: \"3\"\n");
        assert_eq!(built(&files(REPLICAS, &deployment)), deployment.replace('3', "5"));
        assert_eq!(built(&files(REPLICAS, DEPLOYMENT)), format!("{DEPLOYMENT}spec:\n  replicas: 5\n"));
    }

    #[test]
    fn the_name_may_be_a_former_one() {
        let renamed = format!("namePrefix: p-\n{REPLICAS}");
        assert!(built(&files(&renamed, DEPLOYMENT)).contains("replicas: 5"));
    }

    #[test]
    fn a_name_that_nothing_has_is_refused_with_the_one_that_was_meant() {
        let kustomization = REPLICAS.replace("name: web", "name: wep");
        let error = build_files(&files(&kustomization, DEPLOYMENT)).expect_err("no such name");
        let kinds = "Deployment, StatefulSet, ReplicaSet, ReplicationController";
        assert_eq!(
            error.to_string(),
            format!("kustomization.yaml:2:12: no resource named `wep` can have replicas ({kinds})")
        );
        assert_eq!(error.get_hint(), Some("did you mean `web`?"));
    }
}
