//! Applications: what Argo CD's repo-server and controller make of one, without either.
//!
//! In: an object of kind Application, a [`Context`](crate::Context), files, and engines that render charts and
//! kustomizations. Out: the objects that Argo CD would apply. Refused, with the place of the field: what Argo CD refuses,
//! and what cannot be rendered without a cluster or a network.
//!
//! [`render`] is the way in; `render.rs` reads top to bottom.

pub(crate) mod checkout;
mod clusters;
pub(crate) mod context;
pub(crate) mod detect;
pub(crate) mod directory;
mod doublestar;
mod engines;
pub(crate) mod environment;
pub(crate) mod fields;
pub(crate) mod helm;
pub(crate) mod kustomize;
pub(crate) mod located;
mod model;
mod overrides;
pub(crate) mod render;
pub(crate) mod settings;
mod source;
pub(crate) mod value_files;

pub use clusters::{IN_CLUSTER_NAME, IN_CLUSTER_SERVER};
pub use context::{Overrides, World};
pub use detect::Engine;
pub use engines::{
    ChartOutput, ChartRequest, EditedKustomization, Engines, KustomizationRequest, Manifests, Parameter,
    ParameterKind, PulledChart, RemoteChart, ValueText,
};
pub use environment::{Environment, Identity};
pub use fields::At;
pub use model::{
    Application, Automated, Destination, IgnoreDifferences, SyncPolicy, SyncSource, is_application,
};
pub use render::{Rendered, RenderedSource, cluster, render};
pub use source::{Directory, Helm, HelmFileParameter, HelmParameter, Kustomize, Plugin, Replica, Source};
pub use value_files::ValueFile;
