//! Finds the places of an image in files and folders.
//!
//! A file is edited by every kind of target that knows it: kustomizations and Applications by name and kind, markers of
//! policies that show the image, containers of manifests, and in any other YAML the values that charts have by
//! convention. A file that is no YAML is passed over unless it has markers. Links are not followed.

use diagnostic::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

use crate::disk;
use crate::edit::{self, Outcome, Policy, Request, Source, Standing, Target};
use crate::files::Files;
use crate::report;

/// Maximum number of files that are looked at: a repository of more has no business being searched whole.
const MAX_FILES: usize = 100_000;

/// Maximum number of folders lie within one another at most.
const MAX_DEPTH: usize = 64;

/// The edit of a file.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    /// The file as it was named.
    pub(crate) path: String,
    /// The file itself.
    pub(crate) file: PathBuf,
    /// By which kinds of target.
    pub(crate) kinds: Vec<&'static str>,
    pub(crate) old: String,
    pub(crate) new: String,
    /// The versions that stand where it writes.
    pub(crate) standing: Vec<Standing>,
}

impl Edit {
    pub(crate) fn is_change(&self) -> bool {
        self.old != self.new
    }
}

/// Returns what becomes of a file that was named with its kind of target.
///
/// # Errors
/// If a place must not be edited.
pub(crate) fn edit_named(
    target: &Target,
    path: &str,
    file: PathBuf,
    old: String,
    request: &Request,
) -> Result<Edit> {
    let source = Source { path, text: &old };
    let standing = edit::current(target, &source, request)?;
    let new = match (target.edit)(&source, request)? {
        Outcome::Changed(new) => new,
        Outcome::Right | Outcome::NotThere => old.clone(),
    };
    Ok(Edit { path: path.to_owned(), file, kinds: vec![target.name], old, new, standing })
}

/// Returns what becomes of the files that hold the image, in the order of their paths.
///
/// # Errors
/// If a place must not be edited, or there is none.
pub(crate) fn places(within: &[PathBuf], request: &Request) -> Result<Vec<Edit>> {
    let named: Vec<PathBuf> =
        within.iter().map(|path| disk::locate(path, disk::root_of(path))).collect::<Result<_>>()?;
    let texts = texts(&named, &|_, text| may_hold(text, request))?;
    let within: Vec<_> = within.iter().map(|path| path.display().to_string()).collect();
    edits_of(texts, request, &within)
}

/// The same for files of a repository; the folders and files to look in are from its root, which is the empty path.
///
/// # Errors
/// If a place must not be edited, or there is none.
pub(crate) fn places_of(files: &dyn Files, within: &[String], request: &Request) -> Result<Vec<Edit>> {
    let mut texts = Vec::new();
    for path in files.glob("**")? {
        let is_wanted = is_yaml(Path::new(&path)) && within.iter().any(|folder| is_below(&path, folder));
        if !is_wanted && !within.contains(&path) {
            continue;
        }
        // A file in another encoding is no concern of ours unless it has the image.
        let bytes = files.bytes(&path)?.unwrap_or_default();
        if may_hold(&String::from_utf8_lossy(&bytes), request) {
            texts.push(Text { text: disk::text(bytes, &path)?, path: path.into() });
        }
    }
    edits_of(texts, request, within)
}

/// Returns true if a text has a marker, or the last part of the image's name, which every spelling has.
fn may_hold(text: &str, request: &Request) -> bool {
    let name = &request.version.name;
    text.contains(name.rsplit('/').next().unwrap_or(name)) || text.contains(edit::MARKER_KEY)
}

/// Returns true if a path is in a folder; all are in the root, which is the empty path.
pub(crate) fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

fn edits_of(texts: Vec<Text>, request: &Request, within: &[String]) -> Result<Vec<Edit>> {
    let policies = policies(&texts, request);
    let mut edits = Vec::new();
    for text in texts {
        edits.extend(edit_file(text, request, &policies)?);
    }
    if edits.is_empty() {
        let within: Vec<_> = within.iter().map(|path| format!("`{path}`")).collect();
        return Err(Error::invalid(format!("`{}` not found in {}", request.version.name, within.join(", ")))
            .hint("name its place with `--target KIND:FILE`"));
    }
    Ok(edits)
}

/// The texts of files and of the YAML files in folders that are wanted by their path and text, in the order of their
/// paths.
///
/// # Errors
/// If one cannot be read, or there are too many.
pub(crate) fn texts(within: &[PathBuf], is_wanted: &dyn Fn(&Path, &str) -> bool) -> Result<Vec<Text>> {
    let mut search = Search { is_wanted, texts: Vec::new(), seen: 0 };
    for path in within {
        search.visit(path, path, 0)?;
    }
    Ok(search.texts)
}

/// A file that is wanted.
pub(crate) struct Text {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

struct Search<'w> {
    is_wanted: &'w dyn Fn(&Path, &str) -> bool,
    texts: Vec<Text>,
    seen: usize,
}

impl Search<'_> {
    fn visit(&mut self, path: &Path, root: &Path, depth: usize) -> Result<()> {
        let failed = |error| Error::io("read", path, &error);
        let metadata = fs::symlink_metadata(path).map_err(failed)?;
        if metadata.is_dir() {
            if depth > MAX_DEPTH {
                return Err(Error::invalid(format!(
                    "the directories below `{}` are nested too deep",
                    root.display()
                )));
            }
            let mut entries: Vec<PathBuf> = fs::read_dir(path)
                .map_err(failed)?
                .map(|entry| entry.map(|entry| entry.path()))
                .collect::<Result<_, _>>()
                .map_err(failed)?;
            entries.sort();
            for entry in entries.iter().filter(|entry| !entry.ends_with(".git")) {
                self.visit(entry, root, depth + 1)?;
            }
        } else if metadata.is_file() && (depth == 0 || is_yaml(path)) && metadata.len() <= disk::MAX_FILE_LEN
        {
            self.seen += 1;
            if self.seen > MAX_FILES {
                return Err(Error::invalid(format!(
                    "there are more than {MAX_FILES} files below `{}`",
                    root.display()
                )));
            }
            self.read(path)?;
        }
        Ok(())
    }

    /// Keeps a text that is wanted.
    fn read(&mut self, path: &Path) -> Result<()> {
        let bytes = fs::read(path).map_err(|error| Error::io("read", path, &error))?;
        let Ok(text) = String::from_utf8(bytes) else { return Ok(()) };
        if (self.is_wanted)(path, &text) {
            self.texts.push(Text { path: path.to_owned(), text });
        }
        Ok(())
    }
}

/// The policies of the image: the one that was named, or those whose markers show it in any file.
fn policies(texts: &[Text], request: &Request) -> Vec<Policy> {
    if let Some(policy) = &request.policy {
        return vec![policy.clone()];
    }
    let mut policies = Vec::new();
    for Text { path, text } in texts {
        let path = path.display().to_string();
        for policy in edit::policies_of(&Source { path: &path, text }, &request.version) {
            if !policies.contains(&policy) {
                policies.push(policy);
            }
        }
    }
    policies
}

/// Returns true if a file is YAML by its name.
pub(crate) fn is_yaml(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name == "Kustomization" || name.ends_with(".yaml") || name.ends_with(".yml")
}

/// Edits a file by each kind of target in turn: what one has set another finds right.
fn edit_file(file: Text, request: &Request, policies: &[Policy]) -> Result<Option<Edit>> {
    let Text { path: file, text: old } = file;
    let path = file.display().to_string();
    let mut text = old.clone();
    let (mut kinds, mut standing) = (Vec::new(), Vec::new());
    let mut apply = |target: &Target, request: &Request| -> Result<()> {
        let source = Source { path: &path, text: &text };
        let outcome = (target.edit)(&source, request)?;
        if outcome == Outcome::NotThere {
            return Ok(());
        }
        standing.extend(edit::current(target, &source, request)?);
        if let Outcome::Changed(new) = outcome {
            text = new;
        }
        if !kinds.contains(&target.name) {
            kinds.push(target.name);
        }
        Ok(())
    };
    match (Source { path: &path, text: &old }).parse() {
        Ok(_) => edit::kinds_of(&file).iter().try_for_each(|target| apply(target, request))?,
        // A template that has the image may have to be edited by hand.
        Err(error) if old.contains(&request.version.name) => {
            report::warning(&format!("not valid YAML, searched for markers only: {error}"));
        }
        Err(_) => {}
    }
    for policy in policies {
        apply(&edit::FLUX, &Request { policy: Some(policy.clone()), ..request.clone() })?;
    }
    Ok((!kinds.is_empty()).then_some(Edit { path, file, kinds, old, new: text, standing }))
}
