//! A folder of manifests as a source (repository.go `findManifests`).
//!
//! In: the folder and what is said of it. Out: the objects in its files. Refused: links out of the repository, files that
//! look like manifests and do not parse, Jsonnet, and more than Argo CD reads.

use std::path::Path;
use std::sync::Arc;

use serde::de::IgnoredAny;
use vfs::FileKind;
use yamltree::{Location, Source, Span};

use super::checkout::{Absence, Checkout};
use super::fields::{At, place_of};
use super::source::Directory;
use crate::objects::{self, Object, Sources};
use crate::warning::{Code, Warning};
use diagnostic::{Error, Result};
use glob::gobwas::Glob;

/// A file that has it is no manifest.
const SKIP_MARKER: &str = "+argocd:skip-file-rendering";

/// All files together are no larger (repo-server `--max-combined-directory-manifests-size`, by default `10M`).
const MAX_SIZE: usize = 10_000_000;

/// Folders nest no deeper; a link could lead round in a circle.
const MAX_DEPTH: usize = 64;

const ENDINGS: [&str; 4] = [".yaml", ".yml", ".json", ".jsonnet"];

/// The objects of a folder.
pub(crate) fn render(
    folder: &Path,
    directory: &Directory,
    checkout: &Checkout<'_>,
    texts: &Sources,
    jsonnet: bool,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Object>> {
    let mut pattern = |pattern: &At<String>| match Glob::new(&pattern.value, "") {
        _ if pattern.value.is_empty() => None,
        Ok(glob) => Some(Some(glob)),
        // Argo CD writes a line into its log, and takes it for one that matches nothing.
        Err(error) => {
            let warning = Warning::new(Code::UnusablePattern, error.message().to_owned());
            warnings.push(warning.at(place_of(texts, pattern.span)));
            Some(None)
        }
    };
    let walk = Walk {
        folder,
        checkout,
        recurse: directory.recurse,
        all_endings: directory.disable_extension_filter,
        include: pattern(&directory.include),
        exclude: pattern(&directory.exclude),
        jsonnet,
    };
    let mut found = Found { objects: Vec::new(), size: 0 };
    walk.folder(folder, 0, &mut found)?;
    Ok(found.objects)
}

struct Walk<'w> {
    folder: &'w Path,
    checkout: &'w Checkout<'w>,
    recurse: bool,
    all_endings: bool,
    /// A pattern, or one that matches nothing, if there is any.
    include: Option<Option<Glob>>,
    exclude: Option<Option<Glob>>,
    jsonnet: bool,
}

struct Found {
    objects: Vec<Object>,
    size: usize,
}

impl Walk<'_> {
    fn folder(&self, folder: &Path, depth: usize, found: &mut Found) -> Result<()> {
        let shown = self.checkout.files.display(folder);
        if depth > MAX_DEPTH {
            return Err(Error::invalid(format!("`{shown}` is nested too deep")));
        }
        let names = self.checkout.files.list(folder);
        for name in names.map_err(|error| Error::invalid(format!("cannot read `{shown}`: {error}")))? {
            let path = folder.join(&name);
            // Argo CD follows links to files, and none to folders.
            match self.checkout.real(&path) {
                Ok((real, FileKind::Directory)) if real == path => {
                    if self.recurse {
                        self.folder(&path, depth + 1, found)?;
                    }
                }
                Ok((_, FileKind::Directory)) => {}
                Ok((real, FileKind::File)) if self.is_wanted(&path, &name) => {
                    self.file(&path, &real, &name, found)?;
                }
                Ok((_, FileKind::File)) | Err(Absence::Missing) => {}
                Err(Absence::Outside) if !self.has_ending(&name) => {}
                Err(absence) => {
                    let shown = self.checkout.files.display(&path);
                    return Err(Error::invalid(match absence {
                        Absence::Outside => format!("the link `{shown}` leads out of the repository"),
                        Absence::Unreadable(reason) => format!("cannot read `{shown}`: {reason}"),
                        Absence::Missing | Absence::WrongKind => format!("`{shown}` is not a file"),
                    }));
                }
            }
        }
        Ok(())
    }

    fn has_ending(&self, name: &str) -> bool {
        self.all_endings || ENDINGS.iter().any(|ending| name.ends_with(ending))
    }

    fn is_wanted(&self, path: &Path, name: &str) -> bool {
        let relative = path.strip_prefix(self.folder).unwrap_or(path).to_string_lossy();
        let matches = |pattern: &Option<Glob>| pattern.as_ref().is_some_and(|glob| glob.matches(&relative));
        self.has_ending(name)
            && !self.exclude.as_ref().is_some_and(matches)
            && self.include.as_ref().is_none_or(matches)
    }

    fn file(&self, path: &Path, real: &Path, name: &str, found: &mut Found) -> Result<()> {
        let shown = self.checkout.files.display(path);
        let bytes = self.checkout.files.read(real);
        let bytes = bytes.map_err(|error| Error::invalid(format!("cannot read `{shown}`: {error}")))?;
        let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes));
        if text.contains(SKIP_MARKER) {
            return Ok(());
        }
        if name.ends_with(".jsonnet") {
            return if self.jsonnet { Err(jsonnet(&shown)) } else { Ok(()) };
        }
        found.size += bytes.len();
        if found.size > MAX_SIZE {
            let message = format!(
                "the manifests in `{}` are larger than {} MB",
                self.checkout.files.display(self.folder),
                MAX_SIZE / 1_000_000
            );
            return Err(
                Error::invalid(message).hint("Argo CD's repo-server rejects them: split the Application")
            );
        }
        let source = Arc::new(Source { name: shown, text: text.into() });
        found.objects.extend(objects(&source, name)?);
        Ok(())
    }
}

fn jsonnet(shown: &str) -> Error {
    Error::invalid(format!("`{shown}` is Jsonnet, which is not rendered here")).hint(
        "leave it out with `directory.exclude`, or commit what it renders to; the Application is not rendered without it",
    )
}

/// The objects of a file. YAML that does not parse and is no manifest by its looks is passed over.
fn objects(source: &Arc<Source>, name: &str) -> Result<Vec<Object>> {
    if name.ends_with(".json") {
        check_json(source)?;
        return objects::documents(source);
    }
    let (objects, fault) = objects::documents_until_fault(source);
    let looks_like_one =
        || ["apiVersion:", "kind:", "metadata:"].iter().all(|word| source.text.contains(word));
    match fault {
        Some(fault) if !objects.is_empty() || looks_like_one() => Err(fault),
        _ => Ok(objects),
    }
}

/// A file of JSON holds one value, and nothing else.
fn check_json(source: &Arc<Source>) -> Result<()> {
    let text = &source.text;
    let refuse = |message: String, at: usize| {
        let start = u32::try_from(at).unwrap_or(u32::MAX);
        let place = Location { source: Arc::clone(source), span: Span { source: 0, start, end: start } };
        Err(Error::invalid(message).at(Some(place)))
    };
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => {}
        Some(Err(error)) => {
            let before: usize =
                text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
            let at = (before + error.column().saturating_sub(1)).min(text.len());
            return refuse(format!("invalid JSON: {error}"), at);
        }
        None => return refuse("the file is empty".to_owned(), 0),
    }
    let rest = &text[values.byte_offset()..];
    if rest.trim_ascii().is_empty() {
        return Ok(());
    }
    let at = text.len() - rest.trim_ascii_start().len();
    refuse("a file of JSON has one object only".to_owned(), at)
}
