//! Images without a tag, or with `latest`.
//!
//! Left alone: images with a digest, and variables that something fills in.

use findings::{Rule, Severity};

use super::Check;
use crate::builder::FindingBuilder;
use crate::index::Index;
use crate::pods;

pub(super) const CHECK: Check = Check {
    rule: &Rule {
        code: "LINT005",
        name: "mutable-image",
        meaning: "What `latest` is changes without a change in Git: nodes run different versions, and a rollback rolls \
                  nothing back.",
    },
    fix: "set a version tag or a digest",
    run,
};

fn run<'s>(index: &Index<'s>, drafts: &mut Vec<FindingBuilder<'s>>) {
    for (at, _, object) in index.objects() {
        for container in pods::containers(object) {
            let Some(node) = container.node.get("image") else { continue };
            let Some(what) = node.text().and_then(fault) else { continue };
            let image = node.text().unwrap_or_default();
            drafts.push(
                FindingBuilder::new(index, at, object, Severity::Warning)
                    .field(format!("{}.image", container.path), node)
                    .message(format!("the image `{image}` has {what}")),
            );
        }
    }
}

/// Returns the problem with the tag of an image.
fn fault(image: &str) -> Option<&'static str> {
    // Istio puts its proxy in the place of `auto`.
    if image.is_empty() || image == "auto" || image.contains('@') || image.contains(['$', '{', '<', ' ']) {
        return None;
    }
    // A colon before the last slash is a port's.
    match image.rsplit('/').next().unwrap_or_default().split_once(':') {
        None => Some("no tag, which means `latest`"),
        Some((_, "latest")) => Some("the tag `latest`"),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_no_tag() {
        for image in ["nginx", "registry:5000/nginx", "nginx:latest", "ghcr.io/a/b:latest"] {
            assert!(fault(image).is_some(), "{image}");
        }
        let digest = "nginx@sha256:0000000000000000000000000000000000000000000000000000000000000000";
        for image in ["nginx:1", "registry:5000/nginx:1.2", digest, "$IMAGE", "auto", ""] {
            assert!(fault(image).is_none(), "{image}");
        }
    }
}
