//! From rendered files to what `helm template` prints: files split into documents, hooks set apart, both sorted by
//! kind, and the exact text.
//!
//! In: rendered files. Out: documents in the order of installation. Refused: documents that are no objects.

mod fault;

use std::cmp::Ordering;
use std::sync::Arc;

use diagnostic::Error;
use yamltree::{Dialect, DuplicateKeys, Expansion, Node, ParseOptions};

use self::fault::Fault;
use crate::chart::shape::json_type;
use crate::origin::{Origin, Writer};
use crate::version::HelmVersion;

/// A file that a template was rendered to.
#[derive(Clone, Debug)]
pub struct RenderedFile {
    /// The chart's path and the file's: `web/templates/service.yaml`.
    pub path: String,
    /// The text that the template wrote.
    pub text: String,
    /// Which part of the template wrote which part of it.
    pub(crate) writer: Option<Arc<Writer>>,
}

impl RenderedFile {
    /// A file that no template is known to have written.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into(), writer: None }
    }

    /// Returns where in the file a document begins whose text is a part of the file's.
    fn offset_of(&self, document: &str) -> usize {
        (document.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize)
    }
}

/// One document of the output.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The file that it came from.
    pub path: String,
    /// Its kind; empty where it has none.
    pub kind: String,
    /// Its text, as it was written.
    pub text: String,
    /// Which part of a template wrote which part of the text, where that is known.
    pub origin: Option<Origin>,
}

/// A document that is run at a point of a release's life, and is no part of it.
#[derive(Clone, Debug)]
pub struct Hook {
    /// The document.
    pub manifest: Manifest,
    /// When it is run.
    pub events: Vec<&'static str>,
}

/// The rendered manifests of a chart.
#[derive(Clone, Debug, Default)]
pub struct Manifests {
    /// The release's documents, in the order of installation.
    pub manifests: Vec<Manifest>,
    /// Its hooks, in the same order of kinds.
    pub hooks: Vec<Hook>,
    /// The values of `helm.sh/hook` in documents that were dropped because of an unknown event.
    pub unknown_hooks: Vec<(String, String)>,
}

const HOOK: &str = "helm.sh/hook";

/// The words of [`HOOK`], and the event that each means.
const EVENTS: &[(&str, &str)] = &[
    ("pre-install", "pre-install"),
    ("post-install", "post-install"),
    ("pre-delete", "pre-delete"),
    ("post-delete", "post-delete"),
    ("pre-upgrade", "pre-upgrade"),
    ("post-upgrade", "post-upgrade"),
    ("pre-rollback", "pre-rollback"),
    ("post-rollback", "post-rollback"),
    ("test", "test"),
    ("test-success", "test"),
];

/// The order of installation. Kinds that are not listed come after these, by name.
const INSTALL_ORDER: &[&str] = &[
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

/// So many kinds at the end of the order Helm 3 does not know.
const NEW_IN_HELM_4: usize = 2;

impl Hook {
    /// Returns true if it is a test, which `--skip-tests` leaves out.
    #[must_use]
    pub fn is_test(&self) -> bool {
        self.events.contains(&"test")
    }
}

/// Splits rendered files into documents and orders them, as a generation of Helm does. NOTES.txt files are no
/// manifests and must be left out.
///
/// # Errors
/// Names the file of the first document that is no object, in Helm's words.
pub fn sort(files: &[RenderedFile], version: HelmVersion) -> Result<Manifests, Error> {
    let mut files: Vec<&RenderedFile> = files.iter().collect();
    files.sort_by(|left, right| left.path.cmp(&right.path));
    let mut sorted = Manifests::default();
    for file in files {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        if name.starts_with('_') {
            continue;
        }
        for document in split_as(&file.text, version) {
            place(document, file, &mut sorted)?;
        }
    }
    let by_kind = |left: &str, right: &str| by_kind(left, right, version);
    sorted.manifests.sort_by(|left, right| by_kind(&left.kind, &right.kind));
    sorted.hooks.sort_by(|left, right| by_kind(&left.manifest.kind, &right.manifest.kind));
    Ok(sorted)
}

/// The files as they are, by their paths: what is shown where [`sort`] fails.
#[must_use]
pub fn unsorted(mut files: Vec<RenderedFile>) -> Manifests {
    files.retain(|file| !file.text.trim().is_empty());
    files.sort_by(|left, right| left.path.cmp(&right.path));
    let manifest = |RenderedFile { path, text, writer }| {
        let origin = writer.map(|writer| Origin::new(&writer, 0));
        Manifest { path, kind: String::new(), text, origin }
    };
    Manifests { manifests: files.into_iter().map(manifest).collect(), ..Manifests::default() }
}

/// Cuts a text as Helm does: at `---` at the start of a line, whatever follows it and wherever it stands.
/// Splits a text into documents; blank ones and leading blanks are dropped.
#[must_use]
pub fn split(text: &str) -> Vec<&str> {
    let text = text.trim_start_matches(is_space);
    let mut pieces = Vec::new();
    let mut from = 0;
    let mut line_start = 0;
    loop {
        if text[line_start..].starts_with("---") {
            pieces.push(&text[from..line_start]);
            from = line_start + 3;
            from += text[from..].len() - text[from..].trim_start_matches([' ', '\t']).len();
        }
        match memchr::memchr(b'\n', &text.as_bytes()[line_start.max(from)..]) {
            Some(length) => line_start = line_start.max(from) + length + 1,
            None => break,
        }
    }
    pieces.push(&text[from..]);
    pieces
        .into_iter()
        .map(|piece| piece.trim_start_matches(is_space))
        .filter(|piece| !piece.is_empty())
        .collect()
}

/// Cuts a text as a generation of Helm does.
#[must_use]
pub fn split_as(text: &str, version: HelmVersion) -> Vec<&str> {
    match version {
        HelmVersion::V4 => split(text),
        HelmVersion::V3 => split_trimmed(text),
    }
}

/// Helm 3 cuts with `(?:^|\s*\n)---\s*` and trims the file and each document, so that no document ends in a line break
/// and no empty line stands between two. Dashes right behind others are text: the line break before them is gone.
fn split_trimmed(text: &str) -> Vec<&str> {
    let mut rest = text.trim();
    let mut pieces = Vec::new();
    if let Some(first) = rest.strip_prefix("---") {
        rest = first.trim_start();
    }
    while let Some((piece, after)) = rest.split_once("\n---") {
        pieces.push(piece.trim());
        rest = after.trim_start();
    }
    pieces.push(rest.trim());
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Returns what Go calls a space, which is what Unicode calls white space.
fn is_space(c: char) -> bool {
    c.is_whitespace()
}

fn place(text: &str, file: &RenderedFile, sorted: &mut Manifests) -> Result<(), Error> {
    let path = &file.path;
    let head = Head::read(text).map_err(|fault| fault.error(text, file))?;
    let origin = file.writer.as_ref().map(|writer| Origin::new(writer, file.offset_of(text)));
    let manifest = Manifest { path: path.clone(), kind: head.kind, text: text.to_owned(), origin };
    let Some(words) = head.hook else {
        sorted.manifests.push(manifest);
        return Ok(());
    };
    let event = |word: &str| {
        let word = word.trim().to_lowercase();
        EVENTS.iter().find(|(known, _)| *known == word).map(|(_, event)| *event)
    };
    match words.split(',').map(event).collect::<Option<Vec<_>>>() {
        Some(events) => sorted.hooks.push(Hook { manifest, events }),
        None => sorted.unknown_hooks.push((path.clone(), words)),
    }
    Ok(())
}

/// The fields of a document that Helm reads.
struct Head {
    kind: String,
    hook: Option<String>,
}

impl Head {
    /// # Errors
    /// The reason, in Helm's words.
    fn read(text: &str) -> Result<Self, Fault> {
        let options = ParseOptions {
            dialect: Dialect::V2,
            duplicate_keys: DuplicateKeys::KeepLast,
            ..ParseOptions::default()
        };
        let converting = |error: &yamltree::Error| Fault {
            reason: format!("error converting YAML to JSON: {}", error.go_text()),
            at: error.span().start,
        };
        let document = yamltree::parse_first(text, 0, &options).map_err(|error| converting(&error))?;
        let Some(mut root) = document.map(|document| document.root) else {
            return Ok(Self { kind: String::new(), hook: None });
        };
        root.expand_aliases(Expansion::Decoded(Dialect::V2)).map_err(|error| converting(&error))?;
        Self::of(&root)
    }

    fn of(root: &Node) -> Result<Self, Fault> {
        object(root, "Go value of type util.SimpleHead")?;
        string(root.get("apiVersion"), "SimpleHead.apiVersion")?;
        let kind = string(root.get("kind"), "SimpleHead.kind")?.unwrap_or_default();
        let Some(metadata) = root.get("metadata") else { return Ok(Self { kind, hook: None }) };
        object(
            metadata,
            "Go struct field SimpleHead.metadata of type struct { Name string \"json:\\\"name\\\"\"; Annotations map[string]string \"json:\\\"annotations\\\"\" }",
        )?;
        string(metadata.get("name"), "SimpleHead.metadata.name")?;
        let Some(annotations) = metadata.get("annotations") else { return Ok(Self { kind, hook: None }) };
        object(annotations, "Go struct field SimpleHead.metadata.annotations of type map[string]string")?;
        for entry in annotations.entries().into_iter().flatten() {
            string(Some(&entry.value), "SimpleHead.metadata.annotations")?;
        }
        let hook = annotations.get(HOOK).and_then(Node::text).map(str::to_owned);
        Ok(Self { kind, hook })
    }
}

/// Refuses what Go's JSON decoder cannot put into a struct or map. A null leaves it empty.
fn object(node: &Node, target: &str) -> Result<(), Fault> {
    match json_type(node) {
        "object" | "null" => Ok(()),
        found => Err(unfit(node, found, target)),
    }
}

/// A string, which a number or boolean is turned into; nothing for a null.
fn string(node: Option<&Node>, field: &str) -> Result<Option<String>, Fault> {
    let Some(node) = node else { return Ok(None) };
    match json_type(node) {
        "null" => Ok(None),
        found @ ("object" | "array") => {
            Err(unfit(node, found, &format!("Go struct field {field} of type string")))
        }
        _ => Ok(node.text().map(str::to_owned)),
    }
}

fn unfit(node: &Node, found: &str, target: &str) -> Fault {
    let reason =
        format!("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into {target}");
    Fault { reason, at: node.span.start }
}

fn by_kind(left: &str, right: &str, version: HelmVersion) -> Ordering {
    let known = match version {
        HelmVersion::V4 => INSTALL_ORDER,
        HelmVersion::V3 => INSTALL_ORDER.split_at(INSTALL_ORDER.len() - NEW_IN_HELM_4).0,
    };
    let rank = |kind: &str| known.iter().position(|known| *known == kind);
    match (rank(left), rank(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.cmp(right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(path: &str, text: &str) -> RenderedFile {
        RenderedFile::new(path, text)
    }

    /// Expected values: what Helm prints as documents of such texts.
    #[test]
    fn texts_are_cut_at_dashes_at_the_start_of_a_line() {
        for (text, documents) in [
            ("a: 1\n---\nb: 2\n", vec!["a: 1\n", "b: 2\n"]),
            ("---\n\n---   \na: 1", vec!["a: 1"]),
            ("a: 1\n---d: 4\n", vec!["a: 1\n", "d: 4\n"]),
            ("a: 1\n----\n", vec!["a: 1\n", "-\n"]),
            ("--- # c\na: 1\n", vec!["# c\na: 1\n"]),
            ("  a: 1\n  b: 2\n", vec!["a: 1\n  b: 2\n"]),
            ("a: |\n---\nb\n", vec!["a: |\n", "b\n"]),
            ("a: ---\n", vec!["a: ---\n"]),
            ("\n \n", vec![]),
        ] {
            assert_eq!(split(text), documents, "{text:?}");
        }
    }

    #[test]
    fn documents_are_in_the_order_of_installation_and_hooks_stand_apart() {
        let files = [
            rendered("c/templates/b.yaml", "kind: Zebra\n---\nkind: Service\n---\nkind: Apple\n"),
            rendered(
                "c/templates/a.yaml",
                "kind: Namespace\n---\nkind: Job\nmetadata:\n  annotations:\n    helm.sh/hook: pre-install, Test\n",
            ),
            rendered("c/templates/_x.yaml", "kind: Never\n"),
            rendered(
                "c/templates/d.yaml",
                "kind: Pod\nmetadata: {annotations: {helm.sh/hook: crd-install}}\n",
            ),
        ];
        let sorted = sort(&files, HelmVersion::V4).expect("they are objects");
        let kinds: Vec<&str> = sorted.manifests.iter().map(|manifest| manifest.kind.as_str()).collect();
        assert_eq!(kinds, ["Namespace", "Service", "Apple", "Zebra"]);
        assert_eq!(sorted.hooks.len(), 1);
        assert_eq!(sorted.hooks[0].events, ["pre-install", "test"]);
        assert!(sorted.hooks[0].is_test());
        assert_eq!(sorted.unknown_hooks, [("c/templates/d.yaml".to_owned(), "crd-install".to_owned())]);
    }

    /// By helm.md, section 2, and `SplitManifests` of Helm 3, which trims the file and what it cuts out of it.
    #[test]
    fn helm_3_leaves_no_white_space_around_documents() {
        for (text, documents) in [
            ("a: 1\n\n---\n\nb: 2\n\n", vec!["a: 1", "b: 2"]),
            ("---\n# c\na: 1   \n---d: 4\n", vec!["# c\na: 1", "d: 4"]),
            ("  a: 1\n  b: 2\n", vec!["a: 1\n  b: 2"]),
            ("---\n---\na: 1\n", vec!["---\na: 1"]),
            ("a: |\n  x\n---\n", vec!["a: |\n  x"]),
            ("\n---\n\n", vec![]),
        ] {
            assert_eq!(split_as(text, HelmVersion::V3), documents, "{text:?}");
        }
    }

    /// By helm.md, section 2: webhooks are among the kinds that are not known, which are in the order of their names.
    #[test]
    fn helm_3_does_not_know_webhooks() {
        let text = "kind: ValidatingWebhookConfiguration\n---\nkind: Certificate\n---\nkind: APIService\n";
        let kinds = |version| {
            let sorted = sort(&[rendered("c/templates/a.yaml", text)], version).expect("they are objects");
            sorted.manifests.into_iter().map(|manifest| manifest.kind).collect::<Vec<_>>()
        };
        let webhook = "ValidatingWebhookConfiguration";
        assert_eq!(kinds(HelmVersion::V4), ["APIService", webhook, "Certificate"]);
        assert_eq!(kinds(HelmVersion::V3), ["APIService", "Certificate", webhook]);
    }

    #[test]
    fn what_is_no_object_is_refused_in_the_words_of_helm() {
        for (text, reason) in [
            (
                "- a\n",
                "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type util.SimpleHead",
            ),
            (
                "a: b: c\n",
                "error converting YAML to JSON: yaml: mapping values are not allowed in this context",
            ),
        ] {
            let error =
                sort(&[rendered("c/templates/x.yaml", text)], HelmVersion::V4).expect_err("it is refused");
            assert!(
                error.to_string().contains(&format!("YAML parse error on c/templates/x.yaml: {reason}")),
                "{error}"
            );
        }
    }
}
