//! The data of a review: the input of all formats, and the output of `json`.
//!
//! `schema.json` in the directory of this crate is the schema of these types; a test compares the two.

use std::fmt;

use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde_json::Value;
use yamltree::Location;

/// The version of the schema. Incremented by a change that breaks readers of older versions.
pub(crate) const VERSION: u32 = 1;

/// A review of a change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    /// The version of this schema.
    pub version: u32,
    /// The summary.
    pub summary: Summary,
    /// The targets, sorted by kind and name. An unchanged target lists no objects.
    pub targets: Vec<TargetReview>,
}

/// The summary of a change.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Number of Applications, overlays, charts and the like.
    pub targets: Counts,
    /// Number of objects.
    pub objects: ObjectCounts,
    /// Counts of hidden differences.
    pub hidden: Hidden,
    /// Changed images, with the workloads that run them.
    pub images: Vec<ImageChange>,
    /// Changed replica counts.
    pub replicas: Vec<ReplicaChange>,
    /// Findings for the reviewer, most severe first.
    pub findings: Vec<Finding>,
}

/// Number of targets by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Exist only after the change.
    pub added: usize,
    /// Exist only before the change.
    pub removed: usize,
    /// Render to different objects.
    pub changed: usize,
    /// Render to the same objects.
    pub unchanged: usize,
    /// Do not render before or after the change.
    pub failed: usize,
}

/// Number of objects by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectCounts {
    /// Exist only after the change.
    pub added: usize,
    /// Exist only before the change.
    pub removed: usize,
    /// Differ.
    pub changed: usize,
    /// Do not differ.
    pub unchanged: usize,
}

/// Differences that are counted and not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hidden {
    /// Number of noisy differences: chart versions, checksums, CA bundles.
    pub noise: usize,
    /// Number of differences that the Application ignores.
    pub ignored: usize,
    /// Number of lists that differ only in an order without meaning.
    pub reordered: usize,
}

/// A changed image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageChange {
    /// The target.
    pub target: String,
    /// The workload.
    pub object: ObjectId,
    /// The field.
    pub path: String,
    /// The image before; null if the container is new.
    pub old: Option<String>,
    /// The image after; null if the container is removed.
    pub new: Option<String>,
}

/// A changed replica count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaChange {
    /// The target.
    pub target: String,
    /// The workload or its autoscaler.
    pub object: ObjectId,
    /// The field.
    pub path: String,
    /// The number before; null if the field was not set.
    pub old: Option<i64>,
    /// The number after.
    pub new: Option<i64>,
}

/// A finding for the reviewer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The severity.
    pub level: Level,
    /// The target.
    pub target: String,
    /// The object, if the finding is about one.
    pub object: Option<ObjectId>,
    /// The field, if the finding is about one.
    pub path: Option<String>,
    /// The message.
    pub message: String,
    /// The location.
    pub location: Option<FileLocation>,
    /// The location with the text of the file.
    #[serde(skip)]
    pub place: Option<Location>,
}

/// The severity of a finding, most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The change fails, or destroys data for good.
    Error,
    /// The change may be unintended.
    Warning,
    /// Information.
    Note,
}

/// Declares the rules, one line each.
macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal, $id:literal, $title:literal;)+) => {
        /// A rule of the review.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Rule { $($(#[doc = $doc])+ $name,)+ }

        impl Rule {
            /// All rules, in the order of a report.
            pub const ALL: &[Rule] = &[$(Rule::$name,)+];

            /// Returns the stable name, as in `json`.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $(Rule::$name => $id,)+ }
            }

            /// Returns the heading for its findings.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Rule::$name => $title,)+ }
            }

            /// Returns the rule for formats of CI systems, with code and description.
            #[must_use]
            pub fn described(self) -> &'static findings::Rule {
                match self {
                    $(Rule::$name => {
                        static RULE: findings::Rule = findings::Rule {
                            code: $code,
                            name: $id,
                            meaning: concat!($($doc,)+).trim_ascii(),
                        };
                        &RULE
                    })+
                }
            }
        }
    };
}

rules! {
    /// A target cannot be rendered.
    RenderFailed = "REVIEW001", "render-failed", "Cannot be rendered";
    /// An immutable field changes: the API server rejects the change.
    ImmutableField = "REVIEW002", "immutable-field", "The API server will reject the change";
    /// An object is deleted from the cluster.
    ObjectDeleted = "REVIEW003", "object-deleted", "Deleted from the cluster";
    /// An object is no longer in Git and stays in the cluster.
    ObjectOrphaned = "REVIEW004", "object-orphaned", "Left behind in the cluster";
    /// A CustomResourceDefinition loses a version or accepts fewer objects than before.
    CrdNarrowed = "REVIEW005", "crd-narrowed", "Custom resources";
    /// A workload gains privileges on its node.
    PrivilegeGained = "REVIEW006", "privilege-gained", "Privileges";
    /// A subject gains permissions.
    PermissionGained = "REVIEW007", "permission-gained", "Permissions";
}

/// One target.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetReview {
    /// The kind of target.
    pub kind: TargetKind,
    /// The name.
    pub name: String,
    /// The former name, if most of its objects belonged to a target of another name.
    pub was: Option<String>,
    /// The status.
    pub status: TargetStatus,
    /// The location of the definition.
    pub origin: Option<FileLocation>,
    /// The error of rendering before the change.
    pub base_error: Option<String>,
    /// The error of rendering after the change.
    pub head_error: Option<String>,
    /// The warnings of rendering.
    pub warnings: Vec<WarningReview>,
    /// The objects that differ, sorted by kind, namespace and name.
    pub objects: Vec<ObjectReview>,
    /// Number of objects that do not differ.
    pub unchanged: usize,
    /// Counts of hidden differences.
    pub hidden: Hidden,
    /// The order in which objects are applied.
    pub plan: Option<Plan>,
}

/// The kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// An Application of Argo CD.
    Application,
    /// A Kustomization of Flux.
    FluxKustomization,
    /// A HelmRelease of Flux.
    HelmRelease,
    /// A directory with a kustomization.
    Kustomization,
    /// A chart.
    Chart,
    /// Plain manifests.
    Files,
}

/// The status of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetStatus {
    /// Exists only after the change.
    Added,
    /// Exists only before the change.
    Removed,
    /// Renders to different objects.
    Changed,
    /// Renders to the same objects.
    Unchanged,
    /// Did not render before the change.
    FailedBefore,
    /// Does not render after the change.
    FailedAfter,
    /// Renders neither before nor after the change.
    FailedBoth,
}

/// A warning from rendering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WarningReview {
    /// The warning.
    pub message: String,
    /// True if the warning appears only after the change.
    pub is_new: bool,
}

/// An object that differs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectReview {
    /// The object after the change; before it, if the object is removed.
    pub id: ObjectId,
    /// The status.
    pub status: ObjectStatus,
    /// The former identity, if it changed.
    pub was: Option<Moved>,
    /// True for a hook: Argo CD does not compare hooks and applies them only with the next sync.
    pub is_hook: bool,
    /// The fields that differ; a single one without a path if the object is added or removed.
    pub fields: Vec<FieldChange>,
    /// Counts of hidden differences.
    pub hidden: Hidden,
    /// The location.
    pub location: Option<FileLocation>,
    /// The object before as YAML, which differs from `after` only in the differences shown.
    #[serde(skip)]
    pub before: Option<String>,
    /// The object after the change as YAML.
    #[serde(skip)]
    pub after: Option<String>,
}

/// The identity of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectId {
    /// The kind.
    pub kind: String,
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// The name; for `generateName`, the prefix and `*`.
    pub name: String,
    /// `group/version`, or `version` for the core group.
    pub api_version: String,
}

/// The status of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectStatus {
    /// Exists only after the change.
    Added,
    /// Exists only before the change.
    Removed,
    /// Differs.
    Changed,
}

/// The former identity of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Moved {
    /// The object before.
    pub id: ObjectId,
    /// True if the cluster deletes the old object and creates a new one.
    pub is_renamed: bool,
}

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldChange {
    /// The field, such as `spec.template.spec.containers[name=web].image`.
    pub path: String,
    /// The field as a JSON pointer into the object after the change; into the object before, if the field is removed.
    pub pointer: String,
    /// The status.
    pub status: FieldStatus,
    /// The value before. Values of Secrets are replaced by tags; equal tags stand for equal values.
    pub old: Option<Value>,
    /// The value after.
    pub new: Option<Value>,
    /// True if every rendering gives another value.
    pub is_volatile: bool,
    /// The location.
    pub location: Option<FileLocation>,
}

/// The status of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FieldStatus {
    /// Exists only after the change.
    Added,
    /// Exists only before the change.
    Removed,
    /// Has another value.
    Changed,
    /// Is a list with the same items in another order, and the order matters.
    Reordered,
}

/// A location in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Location")]
pub struct FileLocation {
    /// The path of the file in the repository.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
}

/// The order in which a target's objects are applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The steps, in order.
    pub steps: Vec<PlanStep>,
}

/// A step whose actions run concurrently.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanStep {
    /// The title: phase and wave, for example.
    pub title: String,
    /// The objects.
    pub objects: Vec<PlannedObject>,
}

/// The planned action on one object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlannedObject {
    /// The action, such as `create`.
    pub action: String,
    /// The object.
    pub object: String,
    /// An additional note.
    pub note: Option<String>,
}

/// Returns the JSON schema of a [`Review`].
#[must_use]
pub fn schema() -> Value {
    schema_for!(Review).to_value()
}

impl Review {
    /// Returns true if all targets render, and to the same objects as before.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Counts { added, removed, changed, failed, .. } = self.summary.targets;
        added + removed + changed + failed == 0
    }

    /// Returns true if a target does not render after the change.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.targets.iter().any(|target| target.head_error.is_some())
    }
}

impl Hidden {
    /// Returns true if nothing is hidden.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.noise += other.noise;
        self.ignored += other.ignored;
        self.reordered += other.reordered;
    }
}

impl TargetKind {
    /// Returns the name of the kind.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Application => "Application",
            Self::FluxKustomization => "Flux Kustomization",
            Self::HelmRelease => "HelmRelease",
            Self::Kustomization => "kustomization",
            Self::Chart => "chart",
            Self::Files => "files",
        }
    }
}

impl TargetStatus {
    /// Returns the status as words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::FailedBefore => "failed before",
            Self::FailedAfter => "fails",
            Self::FailedBoth => "fails as before",
        }
    }
}

impl ObjectStatus {
    /// Returns the status as a word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

impl ObjectId {
    /// Returns the API group; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, namespace, name, .. } = self;
        write!(f, "{kind} ")?;
        if !namespace.is_empty() {
            write!(f, "{namespace}/")?;
        }
        f.write_str(name)
    }
}

impl FileLocation {
    /// Returns path, line and column of a location.
    #[must_use]
    pub fn of(location: &Location) -> Self {
        let (line, column) = location.source.line_column(location.span.start);
        Self { path: location.source.name.clone(), line, column }
    }
}

impl fmt::Display for FileLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path, self.line, self.column)
    }
}

impl fmt::Display for TargetReview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.as_str(), self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = include_str!("../schema.json");

    #[test]
    fn the_published_schema_is_that_of_the_types() {
        let published: Value = serde_json::from_str(SCHEMA).unwrap();
        assert_eq!(
            published,
            schema(),
            "regenerate it: `cargo run -p manifest-diff --example schema > crates/manifest-diff/schema.json`"
        );
    }

    #[test]
    fn rules_have_the_names_of_the_data() {
        for (at, rule) in Rule::ALL.iter().enumerate() {
            assert_eq!(serde_json::to_value(rule).unwrap(), rule.id());
            assert_eq!(rule.described().code, format!("REVIEW{:03}", at + 1));
            assert!(rule.described().meaning.starts_with(char::is_uppercase));
        }
    }
}
