//! `IAMPolicyGenerator`: a ServiceAccount tied to an account of a cloud provider. It has no field in a kustomization.

use diagnostic::{Error, Result};
use yamltree::{Entry, Node, Span};

use super::{Builtin, Generator};
use crate::context::Context;
use crate::decode::Object;
use crate::resource::Resource;
use crate::target::Target;

pub(crate) const BUILTIN: Builtin =
    Builtin { kind: "IAMPolicyGenerator", from_fields: |_| Ok(Vec::new()), from_config };

struct IamPolicyGenerator {
    account: String,
    project: String,
    name: String,
    namespace: String,
    span: Span,
}

fn from_config(config: &Node, target: &Target<'_, '_>) -> Result<Box<dyn Generator>> {
    let object = Object::plugin(config, "an IAMPolicyGenerator")?;
    let cloud = object.text("cloud")?;
    if cloud != "gke" {
        let span = object.field("cloud").map_or(object.span(), |node| node.span);
        return Err(Error::invalid(format!("the cloud `{cloud}` is not supported"))
            .at(span)
            .hint("the one that is: `cloud: gke`"));
    }
    let null = Node::null();
    let part = |name| Object::read(object.field(name).unwrap_or(&null), name, object.reading());
    let (service, account) = (part("kubernetesService")?, part("serviceAccount")?);
    let generator = IamPolicyGenerator {
        account: account.text("name")?,
        project: account.text("projectId")?,
        name: service.text("name")?,
        namespace: service.text("namespace")?,
        span: object.span(),
    };
    service.close(target.cx)?;
    account.close(target.cx)?;
    object.close(target.cx)?;
    Ok(Box::new(generator))
}

impl Generator for IamPolicyGenerator {
    fn generate(&self, cx: &Context<'_>) -> Result<Vec<Resource>> {
        let text = |text: &str| Node::plain(text).at(self.span);
        let email = format!("{}@{}.iam.gserviceaccount.com", self.account, self.project);
        let annotations = vec![Entry::new("iam.gke.io/gcp-service-account", text(&email))];
        let mut metadata =
            vec![Entry::new("annotations", Node::mapping(annotations)), Entry::new("name", text(&self.name))];
        if !self.namespace.is_empty() {
            metadata.push(Entry::new("namespace", text(&self.namespace)));
        }
        let node = Node::mapping(vec![
            Entry::new("apiVersion", Node::string("v1")),
            Entry::new("kind", Node::string("ServiceAccount")),
            Entry::new("metadata", Node::mapping(metadata)),
        ]);
        Ok(vec![Resource::new(node.at(self.span), &cx.schema())])
    }
}
