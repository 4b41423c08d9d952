//! Edits kustomization files as `kustomize edit` does, and leaves every byte alone that an edit does not concern.
//!
//! In: the text of a kustomization file and edits. Out: its new text, which means what Kustomize 5.8.1 would have
//! written. There is no disk: patterns for files are for the caller to resolve.
//!
//! ```
//! use kustomize_edit::Kustomization;
//!
//! let text = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: dev # for now\n";
//! let mut kustomization = Kustomization::parse(text)?;
//! kustomization.set_namespace("prod");
//! kustomization.set_images(&["shop=registry.example.com/shop:1.2.3"])?;
//! assert_eq!(
//!     kustomization.finish()?,
//!     "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: prod # for now\n\
//!      images:\n- name: shop\n  newName: registry.example.com/shop\n  newTag: 1.2.3\n"
//! );
//! # Ok::<(), diagnostic::Error>(())
//! ```
//!
//! As with Kustomize, a file that is edited is brought up to date on the way: `apiVersion` and `kind` are added,
//! `bases` become `resources`, `imageTags` become `images`, and `env` of a generator becomes one of its `envs`.
//!
//! Refused are files that Kustomize refuses, in its words: what is no YAML, unknown fields, and values of a wrong type.

mod fields;
mod fix;
mod generators;
mod images;
mod kustomization;
mod lists;
mod metadata;
mod names;
mod patches;
mod replicas;
mod schema;

pub use generators::{Generator, Sources};
pub use kustomization::Kustomization;
pub use lists::List;
pub use metadata::{AddLabels, Pairs, parse_annotations, parse_labels};
pub use patches::{Patch, Target};

/// The names that a kustomization file may have.
pub const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
