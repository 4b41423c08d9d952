//! A kustomization file: which one it is, what kind it has, and its fields. What a field holds is read by the step
//! that it belongs to.

use std::sync::Arc;

use diagnostic::{Error, ErrorKind, Result};
use yamltree::{Document, Node, Span};

use crate::context::Context;
use crate::decode::{self, Located, Object, closest};
use crate::loader::Loader;
use crate::warning::{Code, Warning};

/// The names that a kustomization file may have.
pub(crate) const FILE_NAMES: &[&str] = &["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The fields of a kustomization. One that is deprecated has the field that took its place.
const FIELDS: &[(&str, Option<&str>)] = &[
    ("apiVersion", None),
    ("kind", None),
    ("metadata", None),
    ("openapi", None),
    ("namePrefix", None),
    ("nameSuffix", None),
    ("namespace", None),
    ("commonLabels", Some("labels")),
    ("labels", None),
    ("commonAnnotations", None),
    ("patchesStrategicMerge", Some("patches")),
    ("patchesJson6902", Some("patches")),
    ("patches", None),
    ("images", None),
    ("imageTags", Some("images")),
    ("replacements", None),
    ("replicas", None),
    ("vars", Some("replacements")),
    ("sortOptions", None),
    ("resources", None),
    ("components", None),
    ("crds", None),
    ("bases", Some("resources")),
    ("configMapGenerator", None),
    ("secretGenerator", None),
    ("helmGlobals", None),
    ("helmCharts", None),
    ("helmChartInflationGenerator", None),
    ("generatorOptions", None),
    ("configurations", None),
    ("generators", None),
    ("transformers", None),
    ("validators", None),
    ("buildMetadata", None),
];

const API_VERSION: &str = "kustomize.config.k8s.io/v1beta1";
const COMPONENT_API_VERSION: &str = "kustomize.config.k8s.io/v1alpha1";

/// Tells whether a file describes a tree of resources of its own or a change to those of who includes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Kustomization,
    Component,
}

/// A kustomization file that was read.
#[derive(Debug)]
pub(crate) struct Kustomization {
    pub(crate) kind: Kind,
    /// The file's name in its folder.
    pub(crate) file_name: &'static str,
    /// `buildMetadata` of the kustomization that the build started with, which holds for all.
    pub(crate) build_metadata: Arc<[String]>,
    documents: Arc<Vec<Document>>,
}

impl Kustomization {
    /// Reads the kustomization file of a folder.
    pub(crate) fn load(loader: &Loader, cx: &Context<'_>) -> Result<Self> {
        let file_name = find(loader, cx)?;
        let entry = Located { text: file_name.to_owned(), span: Span::NONE };
        let documents = loader.documents(&entry, cx)?;
        let mut kustomization =
            Self { kind: Kind::Kustomization, file_name, build_metadata: Arc::default(), documents };
        kustomization.check(loader, cx)?;
        kustomization.kind = kustomization.read_kind()?;
        kustomization.build_metadata = kustomization.read_build_metadata(cx)?;
        kustomization.warn(cx);
        Ok(kustomization)
    }

    /// The whole file.
    pub(crate) fn root(&self) -> &Node {
        static EMPTY: std::sync::LazyLock<Node> = std::sync::LazyLock::new(Node::null);
        self.documents.first().map_or(&*EMPTY, |document| &document.root)
    }

    /// Returns where the file is.
    pub(crate) fn span(&self) -> Span {
        self.root().span
    }

    /// A field's value; `None` where it is absent or null.
    pub(crate) fn field(&self, name: &str) -> Option<&Node> {
        decode::find(self.root().entries()?, name)
    }

    /// A field that is a string, empty where it is absent.
    pub(crate) fn text(&self, name: &str) -> Result<Located> {
        self.field(name).map_or(Ok(Located::default()), |node| {
            Ok(Located { text: decode::string(node, name)?, span: node.span })
        })
    }

    /// A field that is a list, empty where it is absent.
    pub(crate) fn items(&self, name: &str) -> Result<&[Node]> {
        self.field(name).map_or(Ok(&[]), |node| decode::items(node, name))
    }

    /// A field that is a list of strings, empty where it is absent.
    pub(crate) fn strings(&self, name: &'static str) -> Result<Vec<Located>> {
        self.items(name)?.iter().map(|node| Located::of(node, name)).collect()
    }

    /// Returns true if the build shall note something in the resources.
    pub(crate) fn build_metadata(&self, option: &str) -> bool {
        self.build_metadata.iter().any(|known| known == option)
    }

    fn check(&self, loader: &Loader, cx: &Context<'_>) -> Result<()> {
        let root = self.root();
        let Some(entries) = root.entries() else {
            if decode::is_null(root) {
                return Err(self.empty(loader, cx));
            }
            return Err(decode::wrong_type(self.file_name, "a mapping", root));
        };
        for entry in entries {
            let name = entry.key.text().unwrap_or_default();
            if !FIELDS.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                return Err(unknown_field(name, entry.key.span));
            }
        }
        let says_something =
            |name: &str| !matches!(name, "apiVersion" | "kind") && self.field(name).is_some();
        if !FIELDS.iter().any(|(name, _)| says_something(name)) {
            return Err(self.empty(loader, cx));
        }
        if let Some(metadata) = self.field("metadata") {
            check_metadata(metadata)?;
        }
        Ok(())
    }

    fn empty(&self, loader: &Loader, cx: &Context<'_>) -> Error {
        let path = cx.world.files.display(&loader.root().join(self.file_name));
        Error::invalid(format!("`{path}` is empty"))
            .at(self.span())
            .hint("name what it shall build: `resources: [deployment.yaml]`")
    }

    fn read_kind(&self) -> Result<Kind> {
        let kind = self.text("kind")?;
        let (read, wanted) = match kind.text.as_str() {
            "" | "Kustomization" => (Kind::Kustomization, API_VERSION),
            "Component" => (Kind::Component, COMPONENT_API_VERSION),
            other => {
                return Err(Error::invalid(format!(
                    "the kind of a kustomization is `Kustomization` or `Component`, not `{other}`"
                ))
                .at(kind.span));
            }
        };
        let version = self.text("apiVersion")?;
        if version.text.is_empty() || version.text == wanted {
            return Ok(read);
        }
        let name = if read == Kind::Component { "Component" } else { "Kustomization" };
        Err(Error::invalid(format!("the apiVersion of a {name} is `{wanted}`, not `{}`", version.text))
            .at(version.span))
    }

    fn read_build_metadata(&self, cx: &Context<'_>) -> Result<Arc<[String]>> {
        const OPTIONS: &[&str] = &["originAnnotations", "transformerAnnotations", "managedByLabel"];
        let asked = self.strings("buildMetadata")?;
        for option in &asked {
            if !OPTIONS.contains(&option.text.as_str()) {
                let sentence = format!("unknown buildMetadata option `{}`; ignored", option.text);
                let hint = format!("the options are {}", OPTIONS.join(", "));
                cx.push_warning(Warning::new(Code::Ignored, sentence).at(option.span).hint(hint));
            }
        }
        Ok(asked.into_iter().map(|option| option.text).collect())
    }

    fn warn(&self, cx: &Context<'_>) {
        if let Some(second) = self.documents.get(1) {
            let sentence = "only the first document of a kustomization file counts; this one is ignored";
            cx.warn(Code::SecondDocument, sentence, second.root.span);
        }
        for duplicate in self.documents.iter().take(1).flat_map(|document| &document.duplicates) {
            cx.warn(Code::DuplicateKey, "duplicate key; the last one wins", duplicate.again);
        }
        for entry in self.root().entries().into_iter().flatten() {
            let name = entry.key.text().unwrap_or_default();
            let known = FIELDS.iter().find(|(field, _)| field.eq_ignore_ascii_case(name));
            if let Some((field, Some(successor))) = known
                && self.field(field).is_some()
            {
                let warning = Warning::new(Code::DeprecatedField, format!("`{field}` is deprecated"))
                    .at(entry.key.span);
                cx.push_warning(warning.hint(format!("use `{successor}`")));
            }
        }
    }
}

/// Which of the possible names a folder's kustomization file has.
fn find(loader: &Loader, cx: &Context<'_>) -> Result<&'static str> {
    let is_file = |name: &&&str| loader.is_file(&Located { text: (**name).to_owned(), span: Span::NONE }, cx);
    let found: Vec<&'static str> = FILE_NAMES.iter().filter(is_file).copied().collect();
    let folder = cx.world.files.display(loader.root());
    match found.as_slice() {
        [name] => Ok(name),
        [] => {
            let sentence = format!("no kustomization file in `{folder}`");
            Err(Error::new(ErrorKind::NotFound, sentence)
                .hint(format!("its name is one of {}", FILE_NAMES.join(", "))))
        }
        several => {
            Err(Error::invalid(format!("several kustomization files in `{folder}`: {}", several.join(", ")))
                .hint("keep one of them"))
        }
    }
}

fn unknown_field(name: &str, span: Span) -> Error {
    let error = Error::invalid(format!("unknown field `{name}` in the kustomization")).at(span);
    match closest(name, FIELDS.iter().map(|(field, _)| *field)) {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None => error,
    }
}

/// Metadata has no effect but must have the right form.
fn check_metadata(metadata: &Node) -> Result<()> {
    let object = Object::new(metadata, "the metadata of a kustomization")?;
    object.string("name")?;
    object.string("namespace")?;
    object.string_map("labels")?;
    object.string_map("annotations")?;
    object.finish()
}
