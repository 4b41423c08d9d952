//! A review as data: what the formats are made of, and what `json` is.
//!
//! `schema.json` beside this crate's sources is the schema of these types; a test holds it to them.

use std::fmt;

use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde_json::Value;
use yamltree::Location;

/// The version of the form of the data. It grows when a reader of an older one would go wrong.
pub(crate) const VERSION: u32 = 1;

/// A review of a change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    /// The version of the form of this data.
    pub version: u32,
    /// The summary.
    pub summary: Summary,
    /// The targets, sorted by kind and name. Of one that is the same on both sides only that is said.
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
    /// Images that change, with the workloads that run them.
    pub images: Vec<ImageChange>,
    /// Numbers of replicas that change.
    pub replicas: Vec<ReplicaChange>,
    /// Findings for the reviewer, most severe first.
    pub findings: Vec<Finding>,
}

/// Targets by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Only there after the change.
    pub added: usize,
    /// Only there before the change.
    pub removed: usize,
    /// Rendered to something else.
    pub changed: usize,
    /// Rendered to the same.
    pub unchanged: usize,
    /// Not rendered on one side or both.
    pub failed: usize,
}

/// Objects by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectCounts {
    /// Only there after the change.
    pub added: usize,
    /// Only there before the change.
    pub removed: usize,
    /// Other than before.
    pub changed: usize,
    /// The same.
    pub unchanged: usize,
}

/// Differences that are counted and not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hidden {
    /// Noise: versions of charts, checksums, bundles of certificates.
    pub noise: usize,
    /// Number of differences that the Application ignores.
    pub ignored: usize,
    /// Lists whose order means nothing and has changed.
    pub reordered: usize,
}

/// An image in the place of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageChange {
    /// The target.
    pub target: String,
    /// The workload.
    pub object: ObjectId,
    /// The field.
    pub path: String,
    /// The image before; none where the container is new.
    pub old: Option<String>,
    /// The image after; none where the container is gone.
    pub new: Option<String>,
}

/// Another number of replicas.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaChange {
    /// The target.
    pub target: String,
    /// The workload or its autoscaler.
    pub object: ObjectId,
    /// The field.
    pub path: String,
    /// The number before; none where it was left to others.
    pub old: Option<i64>,
    /// The number after.
    pub new: Option<i64>,
}

/// Something that a reviewer should look at.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The severity.
    pub level: Level,
    /// The target.
    pub target: String,
    /// The object, if it is about one.
    pub object: Option<ObjectId>,
    /// The field, if it is about one.
    pub path: Option<String>,
    /// The message.
    pub message: String,
    /// The location.
    pub location: Option<FileLocation>,
    /// The same with the file's text.
    #[serde(skip)]
    pub place: Option<Location>,
}

/// The severity of a finding, most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// It will fail, or destroys what nothing brings back.
    Error,
    /// It should be meant.
    Warning,
    /// It is good to know.
    Note,
}

/// Declares the kinds of findings, once each.
macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal, $id:literal, $title:literal;)+) => {
        /// A kind of finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Rule { $($(#[doc = $doc])+ $name,)+ }

        impl Rule {
            /// All kinds, in the order of a report.
            pub const ALL: &[Rule] = &[$(Rule::$name,)+];

            /// The stable name, as in `json`.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $(Rule::$name => $id,)+ }
            }

            /// A heading.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Rule::$name => $title,)+ }
            }

            /// The rule as formats for CI know it: with its code, and what it is about.
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
    /// A field changes that the API server lets nobody change, so that applying it is refused.
    ImmutableField = "REVIEW002", "immutable-field", "The API server will reject the change";
    /// An object is deleted from the cluster.
    ObjectDeleted = "REVIEW003", "object-deleted", "Deleted from the cluster";
    /// An object is no longer in Git and stays in the cluster.
    ObjectOrphaned = "REVIEW004", "object-orphaned", "Left behind in the cluster";
    /// A CustomResourceDefinition loses a version or takes less than before.
    CrdNarrowed = "REVIEW005", "crd-narrowed", "Custom resources";
    /// A workload gets more power over its node.
    PrivilegeGained = "REVIEW006", "privilege-gained", "Privileges";
    /// An account gets more permissions.
    PermissionGained = "REVIEW007", "permission-gained", "Permissions";
}

/// One target.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetReview {
    /// The kind of target.
    pub kind: TargetKind,
    /// Its name.
    pub name: String,
    /// Its name before, where most of its objects were another target's.
    pub was: Option<String>,
    /// The status.
    pub status: TargetStatus,
    /// The location of its definition.
    pub origin: Option<FileLocation>,
    /// Why it was not rendered before the change.
    pub base_error: Option<String>,
    /// Why it is not rendered after the change.
    pub head_error: Option<String>,
    /// The warnings of rendering.
    pub warnings: Vec<WarningReview>,
    /// The objects that are not the same, by kind, namespace and name.
    pub objects: Vec<ObjectReview>,
    /// Number of objects are the same.
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
    /// A folder with a kustomization.
    Kustomization,
    /// A chart.
    Chart,
    /// Manifests as they are.
    Files,
}

/// The status of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetStatus {
    /// Only there after the change.
    Added,
    /// Only there before the change.
    Removed,
    /// Renders to something else.
    Changed,
    /// Renders to the same.
    Unchanged,
    /// Not rendered before the change.
    FailedBefore,
    /// Not rendered after the change.
    FailedAfter,
    /// Not rendered on either side.
    FailedBoth,
}

/// A warning of rendering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WarningReview {
    /// The warning.
    pub message: String,
    /// True if the change brings it.
    pub is_new: bool,
}

/// One object that is not the same.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectReview {
    /// The object; after the change, where it is there then.
    pub id: ObjectId,
    /// The status.
    pub status: ObjectStatus,
    /// The former identity, if it changed.
    pub was: Option<Moved>,
    /// True if it is a hook: Argo CD does not compare those, and applies them with the next sync only.
    pub is_hook: bool,
    /// The fields that differ; one without a path where the whole object comes or goes.
    pub fields: Vec<FieldChange>,
    /// Counts of hidden differences.
    pub hidden: Hidden,
    /// The location.
    pub location: Option<FileLocation>,
    /// The object before, as YAML in which only what is shown differs from the one after.
    #[serde(skip)]
    pub before: Option<String>,
    /// The object after.
    #[serde(skip)]
    pub after: Option<String>,
}

/// The identity of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectId {
    /// The kind.
    pub kind: String,
    /// The namespace; empty for objects of the cluster.
    pub namespace: String,
    /// The name; where the cluster makes one, what it begins with and `*`.
    pub name: String,
    /// `group/version`, or the version alone.
    pub api_version: String,
}

/// The status of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectStatus {
    /// Only there after the change.
    Added,
    /// Only there before the change.
    Removed,
    /// Other than before.
    Changed,
}

/// The former identity of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Moved {
    /// The object before.
    pub id: ObjectId,
    /// True if it is another object to the cluster: the old one goes and the new one comes.
    pub is_renamed: bool,
}

/// One field that differs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldChange {
    /// The field, such as `spec.template.spec.containers[name=web].image`.
    pub path: String,
    /// The same as a JSON pointer: into the object after, or into the one before where the field is gone.
    pub pointer: String,
    /// The status.
    pub status: FieldStatus,
    /// The value before. Values of Secrets are tags: equal tags, equal values.
    pub old: Option<Value>,
    /// The value after.
    pub new: Option<Value>,
    /// True if it changes on every render.
    pub is_volatile: bool,
    /// The location.
    pub location: Option<FileLocation>,
}

/// The status of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FieldStatus {
    /// Only there after the change.
    Added,
    /// Only there before the change.
    Removed,
    /// Another value.
    Changed,
    /// A list with the same items in another order, which matters here.
    Reordered,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Location")]
pub struct FileLocation {
    /// The file's path in the repository.
    pub path: String,
    /// The line, from one.
    pub line: usize,
    /// The column, from one.
    pub column: usize,
}

/// The order in which a target's objects are applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The steps, one after the other.
    pub steps: Vec<PlanStep>,
}

/// A step whose actions run concurrently.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanStep {
    /// The phase and the wave, or what else tells steps apart.
    pub title: String,
    /// The objects.
    pub objects: Vec<PlannedObject>,
}

/// The planned action on one object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlannedObject {
    /// The action, in a word.
    pub action: String,
    /// The object.
    pub object: String,
    /// An additional note.
    pub note: Option<String>,
}

/// The JSON schema of a [`Review`].
#[must_use]
pub fn schema() -> Value {
    schema_for!(Review).to_value()
}

impl Review {
    /// Returns true if nothing is different: all targets render, and to the same.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Counts { added, removed, changed, failed, .. } = self.summary.targets;
        added + removed + changed + failed == 0
    }

    /// Returns true if a target is not rendered after the change.
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
    /// The name of the kind.
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
    /// The status in words.
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
    /// The status in a word.
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
    /// The API group; empty for the core.
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
    /// The line and column of a place.
    #[must_use]
    pub fn of(place: &Location) -> Self {
        let (line, column) = place.source.line_column(place.span.start);
        Self { path: place.source.name.clone(), line, column }
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
            "write it anew: `cargo run -p manifest-diff --example schema > crates/manifest-diff/schema.json`"
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
