//! Which source of an Application in a cluster is written: the name of a file, as rounds know it.
//!
//! In: an Application and one of its sources. Out: `Application/NAMESPACE/NAME/spec/source`, or for one of several
//! `…/spec/sources/1@3f2a90bc`, where the number is that of the list and the rest tells the source from others: a list
//! may have been put in another order since.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::change::Named;

/// The fields that identify a source of an Application.
const TELLING: [&str; 4] = ["repoURL", "chart", "path", "ref"];

/// A source of an Application in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LiveSource {
    pub(crate) application: Named,
    pub(crate) field: SourceField,
}

/// The field of an Application that contains a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SourceField {
    /// It is the only one.
    Only,
    /// It is what is rendered into another repository first.
    Dry,
    /// It is one of a list.
    OneOf {
        /// Which one.
        index: usize,
        /// A fingerprint of its content.
        print: String,
    },
}

/// Returns what a source of several is, in short; two that are the same but for how they are rendered look alike.
pub(crate) fn print_of<'s>(field: impl Fn(&str) -> Option<&'s str>) -> String {
    let mut hasher = Sha256::new();
    for key in TELLING {
        hasher.update(field(key).unwrap_or_default());
        hasher.update([0]);
    }
    hasher.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

impl fmt::Display for LiveSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Named { namespace, name } = &self.application;
        write!(f, "Application/{namespace}/{name}/spec/")?;
        match &self.field {
            SourceField::Only => f.write_str("source"),
            SourceField::Dry => f.write_str("sourceHydrator/drySource"),
            SourceField::OneOf { index, print } => write!(f, "sources/{index}@{print}"),
        }
    }
}

#[cfg(feature = "kube")]
impl LiveSource {
    /// Reads the name of a file.
    pub(crate) fn parse(path: &str) -> Option<Self> {
        let (namespace, rest) = path.strip_prefix("Application/")?.split_once('/')?;
        let (name, field) = rest.split_once("/spec/")?;
        let field = match field {
            "source" => SourceField::Only,
            "sourceHydrator/drySource" => SourceField::Dry,
            _ => {
                let (index, print) = field.strip_prefix("sources/")?.split_once('@')?;
                SourceField::OneOf { index: index.parse().ok()?, print: print.to_owned() }
            }
        };
        let application = Named { namespace: namespace.to_owned(), name: name.to_owned() };
        Some(Self { application, field })
    }
}

#[cfg(all(test, feature = "kube"))]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_known_by_its_file() {
        let named = |field| LiveSource {
            application: Named { namespace: "argocd".to_owned(), name: "web".to_owned() },
            field,
        };
        let print = print_of(|key| (key == "chart").then_some("shop"));
        assert_eq!(print.len(), 8);
        assert_ne!(print, print_of(|key| (key == "path").then_some("shop")));
        for field in [SourceField::Only, SourceField::Dry, SourceField::OneOf { index: 1, print }] {
            let source = named(field);
            assert_eq!(LiveSource::parse(&source.to_string()), Some(source.clone()));
        }
        assert_eq!(named(SourceField::Only).to_string(), "Application/argocd/web/spec/source");
        for path in ["web/values.yaml", "Application/a/b", "Application/a/b/spec/sources/x@y"] {
            assert_eq!(LiveSource::parse(path), None, "{path}");
        }
    }
}
