//! An Application as Argo CD has it.
//!
//! In: an object of kind Application. Out: its fields, with the places that errors need. Refused: fields of another type
//! than Argo CD's, and Applications without a name or a source. Unknown fields are warned of.

use std::collections::BTreeMap;
use std::sync::Arc;

use diagnostic::{Error, Result};
use yamltree::{Location, Node, Span};

use super::fields::{At, Reading, place_of};
use super::source::Source;
use crate::objects::{Object, Sources, instance_name};
use crate::warning::Warning;

/// An Application.
#[derive(Clone, Debug)]
pub struct Application {
    /// Its name.
    pub name: At<String>,
    /// Its namespace; empty where none is given, which is Argo CD's.
    pub namespace: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
    /// Its project; `default` where none is given.
    pub project: At<String>,
    /// The destination of its objects.
    pub destination: Destination,
    /// The sources of its manifests, in the order in which they are applied.
    pub sources: Vec<Source>,
    /// True if the sources are those of the field `sources`, so that one can refer to another.
    pub has_multiple_sources: bool,
    /// The destination of hydrated manifests, if the source is a dry one.
    pub hydrator: Option<SyncSource>,
    /// The sync policy.
    pub sync_policy: SyncPolicy,
    /// Differences that are ignored when the cluster is compared.
    pub ignore_differences: Vec<IgnoreDifferences>,
    /// Warnings.
    pub warnings: Vec<Warning>,
    /// The texts that spans lead to.
    pub(crate) texts: Sources,
    pub(crate) span: Span,
}

/// The cluster and the namespace that objects go to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Destination {
    /// The address of the cluster.
    pub server: String,
    /// The name of the cluster.
    pub name: String,
    /// The namespace of objects that name none.
    pub namespace: String,
    /// The span of the Application.
    pub(crate) span: Span,
}

/// The destination to which hydrated manifests are committed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncSource {
    /// The repository; that of the dry source where empty.
    pub repo_url: String,
    /// The branch.
    pub target_branch: String,
    /// The folder.
    pub path: At<String>,
}

/// The sync policy of an Application.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncPolicy {
    /// Tells whether it is synced without being asked to, and how.
    pub automated: Option<Automated>,
    /// Options such as `CreateNamespace=true`.
    pub sync_options: Vec<String>,
}

/// The automated sync of an Application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Automated {
    /// True if objects go that are no longer in the manifests.
    pub prune: bool,
    /// True if changes in the cluster are taken back.
    pub self_heal: bool,
    /// True if everything may go.
    pub allow_empty: bool,
}

/// Fields that are ignored when the cluster is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IgnoreDifferences {
    /// A pattern for the API group.
    pub group: String,
    /// A pattern for the kind.
    pub kind: String,
    /// The name; any where empty.
    pub name: String,
    /// The namespace; any where empty.
    pub namespace: String,
    /// JSON pointers.
    pub json_pointers: Vec<String>,
    /// Expressions of jq.
    pub jq_path_expressions: Vec<String>,
    /// Managers whose fields win.
    pub managed_fields_managers: Vec<String>,
}

/// Returns true if an object is an Application.
#[must_use]
pub fn is_application(object: &Object) -> bool {
    object.group() == "argoproj.io" && object.kind() == "Application"
}

const SPEC: &[&str] = &[
    "source",
    "sources",
    "sourceHydrator",
    "destination",
    "project",
    "syncPolicy",
    "ignoreDifferences",
    "info",
    "revisionHistoryLimit",
];
const SYNC_POLICY: &[&str] = &["automated", "syncOptions", "retry", "managedNamespaceMetadata"];
const IGNORE: &[&str] =
    &["group", "kind", "name", "namespace", "jsonPointers", "jqPathExpressions", "managedFieldsManagers"];

impl Application {
    /// Reads an Application.
    ///
    /// # Errors
    /// If it is invalid.
    pub fn read(object: &Object) -> Result<Self> {
        let texts = Arc::clone(object.sources());
        let mut reading = Reading::new(&texts);
        let root = object.node();
        let null = Node::null();
        let section = |name: &str| root.get(name).unwrap_or(&null);
        let Some(metadata) = reading.fields(section("metadata"), "metadata", &[])? else {
            return Err(reading.error("the Application lacks `metadata.name`", root.span));
        };
        let name = metadata.placed("name", &reading)?;
        if name.value.is_empty() {
            return Err(reading.error("the Application lacks `metadata.name`", name.span));
        }
        let Some(spec) = reading.fields(section("spec"), "spec", SPEC)? else {
            return Err(reading.error("the Application lacks `spec`", root.span));
        };
        let mut project = spec.placed("project", &reading)?;
        if project.value.is_empty() {
            "default".clone_into(&mut project.value);
        }
        let hydrator = spec.get("sourceHydrator").filter(|node| !super::fields::is_null(node));
        let many = spec.items("sources", &reading)?;
        let (sources, hydrator) = match (hydrator, many) {
            (Some(node), _) => {
                let (dry, sync) = read_hydrator(node, &mut reading)?;
                (vec![dry], Some(sync))
            }
            (None, []) => {
                let single = spec.get("source").map(|node| Source::read(node, "spec.source", &mut reading));
                (single.transpose()?.flatten().into_iter().collect(), None)
            }
            (None, many) => {
                let read = |node| Source::read(node, "spec.sources", &mut reading);
                (many.iter().map(read).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect(), None)
            }
        };
        if sources.is_empty() {
            return Err(reading.error("the Application lacks `spec.source`", spec.span()));
        }
        let destination = match spec.get("destination") {
            Some(node) => read_destination(node, &mut reading)?,
            None => Destination { span: spec.span(), ..Destination::default() },
        };
        let has_multiple_sources = hydrator.is_none() && !many.is_empty();
        let sync_policy = read_sync_policy(spec.get("syncPolicy").unwrap_or(&null), &mut reading)?;
        let ignored = spec.items("ignoreDifferences", &reading)?;
        let ignore_differences =
            ignored.iter().map(|node| read_ignored(node, &mut reading)).collect::<Result<_>>()?;
        Ok(Self {
            namespace: metadata.text("namespace", &reading)?,
            labels: metadata.map("labels", &reading)?,
            annotations: metadata.map("annotations", &reading)?,
            name,
            project,
            destination,
            sources,
            has_multiple_sources,
            hydrator,
            sync_policy,
            ignore_differences,
            warnings: reading.warnings,
            span: root.span,
            texts,
        })
    }

    /// The name by which objects are tracked: with the namespace in front where that is not Argo CD's.
    #[must_use]
    pub fn instance_name(&self) -> String {
        instance_name(&self.namespace, &self.name.value)
    }

    /// Returns where something in it is written.
    #[must_use]
    pub fn place(&self, span: Span) -> Option<Location> {
        place_of(&self.texts, span)
    }

    /// An error at something in it.
    pub(crate) fn error(&self, message: impl Into<String>, span: Span) -> Error {
        Error::invalid(message).at(self.place(span))
    }
}

fn read_destination(node: &Node, reading: &mut Reading<'_>) -> Result<Destination> {
    let known = ["server", "name", "namespace"];
    let Some(fields) = reading.fields(node, "spec.destination", &known)? else {
        return Ok(Destination { span: node.span, ..Destination::default() });
    };
    let destination = Destination {
        server: fields.text("server", reading)?,
        name: fields.text("name", reading)?,
        namespace: fields.text("namespace", reading)?,
        span: node.span,
    };
    Ok(destination)
}

fn read_hydrator(node: &Node, reading: &mut Reading<'_>) -> Result<(Source, SyncSource)> {
    let known = ["drySource", "syncSource", "hydrateTo"];
    let fields = reading.fields(node, "spec.sourceHydrator", &known)?;
    let part = |name: &str| fields.as_ref().and_then(|fields| fields.get(name));
    let dry = part("drySource").map(|node| Source::read(node, "spec.sourceHydrator.drySource", reading));
    let Some(dry) = dry.transpose()?.flatten() else {
        return Err(reading.error("`spec.sourceHydrator` lacks `drySource`", node.span));
    };
    let sync = part("syncSource").unwrap_or(node);
    let known = ["targetBranch", "path", "repoURL"];
    let sync = match part("syncSource") {
        Some(_) => reading.fields(sync, "spec.sourceHydrator.syncSource", &known)?,
        None => None,
    };
    let Some(sync) = sync else {
        return Err(reading.error("`spec.sourceHydrator` lacks `syncSource`", node.span));
    };
    let sync_source = SyncSource {
        repo_url: sync.text("repoURL", reading)?,
        target_branch: sync.text("targetBranch", reading)?,
        path: sync.placed("path", reading)?,
    };
    Ok((dry, sync_source))
}

fn read_sync_policy(node: &Node, reading: &mut Reading<'_>) -> Result<SyncPolicy> {
    let Some(fields) = reading.fields(node, "spec.syncPolicy", SYNC_POLICY)? else {
        return Ok(SyncPolicy::default());
    };
    let known = ["prune", "selfHeal", "allowEmpty", "enabled"];
    let automated = match fields.get("automated") {
        Some(node) => reading.fields(node, "spec.syncPolicy.automated", &known)?,
        None => None,
    };
    let automated = match automated {
        // `enabled: false` keeps the rest for later.
        Some(fields) if fields.get("enabled").is_none() || fields.flag("enabled", reading)? => {
            Some(Automated {
                prune: fields.flag("prune", reading)?,
                self_heal: fields.flag("selfHeal", reading)?,
                allow_empty: fields.flag("allowEmpty", reading)?,
            })
        }
        _ => None,
    };
    Ok(SyncPolicy { automated, sync_options: fields.words("syncOptions", reading)? })
}

fn read_ignored(node: &Node, reading: &mut Reading<'_>) -> Result<IgnoreDifferences> {
    let Some(fields) = reading.fields(node, "spec.ignoreDifferences", IGNORE)? else {
        return Ok(IgnoreDifferences::default());
    };
    Ok(IgnoreDifferences {
        group: fields.text("group", reading)?,
        kind: fields.text("kind", reading)?,
        name: fields.text("name", reading)?,
        namespace: fields.text("namespace", reading)?,
        json_pointers: fields.words("jsonPointers", reading)?,
        jq_path_expressions: fields.words("jqPathExpressions", reading)?,
        managed_fields_managers: fields.words("managedFieldsManagers", reading)?,
    })
}
