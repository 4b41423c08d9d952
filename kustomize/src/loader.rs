//! Loads what a kustomization names: files below its folder, other folders, repositories. Refuses what leads outside
//! and what leads back to where the build came from.

use std::collections::HashMap;
use std::hash::Hash;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use diagnostic::{Error, ErrorKind, Result};
use vfs::{FileKind, clean};
use yamltree::{SourceId, Span};

use crate::context::Context;
use crate::decode::{Located, closest};
use crate::options::LoadRestrictor;
use crate::read::{self, Kept};
use crate::repository::{self, RepositoryEntry};
use crate::warning::Code;

/// A text file that was read.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// The number by which spans name it.
    pub(crate) source: SourceId,
    pub(crate) text: Arc<str>,
}

/// The cache that concurrent builds share, so that each file is read and parsed once.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    texts: Slots<PathBuf, File>,
    resources: Slots<PathBuf, Arc<Kept>>,
    documents: Slots<PathBuf, Arc<Vec<yamltree::Document>>>,
}

/// One slot for each key, filled once; who asks for a slot that is being filled waits for it.
#[derive(Debug)]
struct Slots<K, V>(Mutex<HashMap<K, Arc<OnceLock<Result<V>>>>>);

impl<K, V> Default for Slots<K, V> {
    fn default() -> Self {
        Self(Mutex::new(HashMap::new()))
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Slots<K, V> {
    fn get(&self, key: &K, make: impl FnOnce() -> Result<V>) -> Result<V> {
        let slot = {
            let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(slots.entry(key.clone()).or_default())
        };
        slot.get_or_init(make).clone()
    }
}

/// The folder that a kustomization's paths are relative to, and the folders that led there.
#[derive(Clone, Debug)]
pub(crate) struct Loader {
    root: PathBuf,
    restrictor: LoadRestrictor,
    /// The repository that the folder came from, when it is a remote one.
    repository: Option<Checkout>,
    referrer: Option<Arc<Loader>>,
}

/// A repository that was fetched.
#[derive(Clone, Debug)]
struct Checkout {
    directory: PathBuf,
    entry: RepositoryEntry,
}

impl Loader {
    /// A loader at the folder of the kustomization that a build starts with: a path, or the address of a repository.
    pub(crate) fn new(path: &Path, cx: &Context<'_>) -> Result<Self> {
        if let Some(entry) = path.to_str().map(repository::parse).transpose()?.flatten() {
            return Self::at_repository(entry, None, Span::NONE, cx);
        }
        let root = directory(path, cx)?;
        Ok(Self { root, restrictor: cx.options.load_restrictor, repository: None, referrer: None })
    }

    /// The folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The address and revision of the repository that the folder is in, when it is a remote one, and its directory.
    pub(crate) fn repository(&self) -> Option<(&RepositoryEntry, &Path)> {
        self.lineage()
            .find_map(|loader| loader.repository.as_ref())
            .map(|clone| (&clone.entry, clone.directory.as_path()))
    }

    /// This loader and those that led to it.
    fn lineage(&self) -> impl Iterator<Item = &Loader> {
        std::iter::successors(Some(self), |loader| loader.referrer.as_deref())
    }

    /// A loader for another folder or a repository that this one's kustomization names.
    pub(crate) fn enter(self: &Arc<Self>, entry: &Located, cx: &Context<'_>) -> Result<Arc<Loader>> {
        if entry.text.is_empty() {
            return Err(Error::invalid("the path is empty").at(entry.span));
        }
        if let Some(repository) = repository::parse(&entry.text).map_err(|error| error.at(entry.span))? {
            return Self::at_repository(repository, Some(self), entry.span, cx).map(Arc::new);
        }
        if Path::new(&entry.text).is_absolute() {
            return Err(Error::new(
                ErrorKind::Denied,
                format!("the base `{}` must be a relative path", entry.text),
            )
            .at(entry.span));
        }
        let root = directory(&self.root.join(&entry.text), cx).map_err(|error| error.at(entry.span))?;
        self.refuse_outside_repository(&root, entry.span, cx)?;
        self.refuse_cycle(&root, entry.span, cx)?;
        Ok(Arc::new(Self {
            root,
            restrictor: self.restrictor,
            repository: None,
            referrer: Some(Arc::clone(self)),
        }))
    }

    fn at_repository(
        entry: RepositoryEntry,
        referrer: Option<&Arc<Loader>>,
        span: Span,
        cx: &Context<'_>,
    ) -> Result<Self> {
        let cycle = referrer
            .into_iter()
            .flat_map(|loader| loader.lineage())
            .filter_map(|loader| loader.repository.as_ref())
            .find(|clone| clone.entry.raw.starts_with(&entry.raw));
        if let Some(clone) = cycle {
            let sentence =
                format!("cycle: `{}` is referenced by `{}`, which it leads to", entry.raw, clone.entry.raw);
            return Err(Error::invalid(sentence).at(span));
        }
        if repository::asks_for_git_protocol(&entry.raw) {
            cx.warn(Code::Ignored, "`git::` in front of a URL is ignored", span);
        }
        refuse_local_from_remote(&entry, referrer, span)?;
        let Some(remote) = cx.world.remote else {
            return Err(Error::new(
                ErrorKind::Denied,
                format!("remote resources are not enabled: `{}`", entry.raw),
            )
            .at(span));
        };
        let (top, _) =
            remote.repository(&entry.repository).map_err(|error| error.at(span)).and_then(|path| {
                cx.world.files.resolve(&path).map_err(|error| io_error(&path, &error, cx).at(span))
            })?;
        let root = directory(&top.join(&entry.path), cx).map_err(|error| match error.kind() {
            ErrorKind::NotFound => missing_in_repository(&entry).at(span),
            _ => error.at(span),
        })?;
        if !root.starts_with(&top) {
            let sentence = format!("`{}` leads outside of the repository", entry.raw);
            return Err(Error::new(ErrorKind::Denied, sentence).at(span));
        }
        Ok(Self {
            root,
            // The files of a clone never reach outside of it, whatever the option says.
            restrictor: LoadRestrictor::RootOnly,
            repository: Some(Checkout { directory: top, entry }),
            referrer: referrer.map(Arc::clone),
        })
    }

    fn refuse_outside_repository(&self, root: &Path, span: Span, cx: &Context<'_>) -> Result<()> {
        match self.repository() {
            Some((entry, top)) if !root.starts_with(top) => Err(Error::new(
                ErrorKind::Denied,
                format!(
                    "the base `{}` is outside of the repository `{}`",
                    cx.world.files.display(root),
                    entry.raw
                ),
            )
            .at(span)),
            _ => Ok(()),
        }
    }

    /// A folder that contains one that led here would be built without end.
    fn refuse_cycle(&self, root: &Path, span: Span, cx: &Context<'_>) -> Result<()> {
        let Some(at) = self.lineage().position(|visited| visited.root.starts_with(root)) else {
            return Ok(());
        };
        let shown = |path: &Path| cx.world.files.display(path);
        let mut path: Vec<String> = self.lineage().take(at + 1).map(|visited| shown(&visited.root)).collect();
        path.reverse();
        path.push(shown(root));
        Err(Error::invalid(format!("cycle: {}", path.join(" → "))).at(span))
    }

    /// The content of a file or of an `http(s)` address.
    pub(crate) fn read(&self, entry: &Located, cx: &Context<'_>) -> Result<Arc<[u8]>> {
        if is_remote_file(&entry.text) {
            return self.fetch(entry, cx);
        }
        let path = self.locate(entry, cx)?;
        cx.world.files.read(&path).map_err(|error| io_error(&path, &error, cx).at(entry.span))
    }

    /// A text file, or the text behind an `http(s)` address.
    pub(crate) fn text(&self, entry: &Located, cx: &Context<'_>) -> Result<File> {
        if is_remote_file(&entry.text) {
            return cx.cache.texts.get(&PathBuf::from(&entry.text), || {
                file(entry.text.clone(), &self.fetch(entry, cx)?, cx).map_err(|error| error.at(entry.span))
            });
        }
        let path = self.locate(entry, cx)?;
        text_at(&path, cx).map_err(|error| error.at(entry.span))
    }

    /// The resources in a file, as Kustomize reads them.
    pub(crate) fn resources(&self, entry: &Located, cx: &Context<'_>) -> Result<Arc<Kept>> {
        let file = self.text(entry, cx)?;
        let key =
            if is_remote_file(&entry.text) { PathBuf::from(&entry.text) } else { self.locate(entry, cx)? };
        cx.cache.resources.get(&key, || read::resources(&file.text, file.source).map(Arc::new))
    }

    /// The documents of a file in the dialect of sigs.k8s.io/yaml.
    pub(crate) fn documents(
        &self,
        entry: &Located,
        cx: &Context<'_>,
    ) -> Result<Arc<Vec<yamltree::Document>>> {
        let file = self.text(entry, cx)?;
        let key =
            if is_remote_file(&entry.text) { PathBuf::from(&entry.text) } else { self.locate(entry, cx)? };
        cx.cache.documents.get(&key, || read::documents(&file.text, file.source).map(Arc::new))
    }

    /// The real path of a file that the kustomization may load.
    pub(crate) fn locate(&self, entry: &Located, cx: &Context<'_>) -> Result<PathBuf> {
        let wanted = clean(&self.root.join(&entry.text));
        let (path, kind) =
            cx.world.files.resolve(&wanted).map_err(|error| io_error(&wanted, &error, cx).at(entry.span))?;
        if kind == FileKind::Directory {
            return Err(Error::invalid(format!("`{}` is a directory, not a file", entry.text)).at(entry.span));
        }
        if self.restrictor == LoadRestrictor::RootOnly && !path.starts_with(&self.root) {
            let (file, root) = (cx.world.files.display(&wanted), cx.world.files.display(&self.root));
            return Err(Error::new(ErrorKind::Denied, format!("the file `{file}` is not in or below `{root}`"))
                .at(entry.span)
                .hint("move it below the kustomization, make it a base, or use --load-restrictor LoadRestrictionsNone"));
        }
        Ok(path)
    }

    /// Returns true if an entry names a file that exists, allowed or not.
    pub(crate) fn is_file(&self, entry: &Located, cx: &Context<'_>) -> bool {
        let path = clean(&self.root.join(&entry.text));
        matches!(cx.world.files.resolve(&path), Ok((_, FileKind::File)))
    }

    fn fetch(&self, entry: &Located, cx: &Context<'_>) -> Result<Arc<[u8]>> {
        let Some(remote) = cx.world.remote else {
            let sentence = format!("remote files are not enabled: `{}`", entry.text);
            return Err(Error::new(ErrorKind::Denied, sentence).at(entry.span));
        };
        remote.file(&entry.text).map_err(|error| error.at(entry.span))
    }
}

/// Rejects local repositories in files that came from a server.
fn refuse_local_from_remote(
    entry: &RepositoryEntry,
    referrer: Option<&Arc<Loader>>,
    span: Span,
) -> Result<()> {
    let from_server =
        |loader: &Loader| loader.repository.as_ref().is_some_and(|clone| !clone.entry.repository.is_local());
    match referrer {
        Some(referrer) if entry.repository.is_local() && referrer.lineage().any(from_server) => {
            let sentence = format!("a remote kustomization may not use the local repository `{}`", entry.raw);
            Err(Error::new(ErrorKind::Denied, sentence).at(span))
        }
        _ => Ok(()),
    }
}

fn missing_in_repository(entry: &RepositoryEntry) -> Error {
    let revision = entry.repository.revision.as_deref().unwrap_or("HEAD");
    let sentence = format!("no directory `{}` in the repository at `{revision}`", entry.path);
    Error::new(ErrorKind::NotFound, sentence)
}

/// Returns true if an entry is the address of a file on the web.
pub(crate) fn is_remote_file(entry: &str) -> bool {
    entry.starts_with("http://") || entry.starts_with("https://")
}

/// Returns true if an address ends as a file of resources does.
pub(crate) fn has_file_extension(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    extension.is_some_and(|extension| matches!(extension.as_str(), "yaml" | "yml" | "json"))
}

/// The text at a real path, read once in all builds.
pub(crate) fn text_at(path: &Path, cx: &Context<'_>) -> Result<File> {
    cx.cache.texts.get(&path.to_path_buf(), || {
        let bytes = cx.world.files.read(path).map_err(|error| io_error(path, &error, cx))?;
        file(cx.world.files.display(path), &bytes, cx)
    })
}

fn file(name: String, bytes: &[u8], cx: &Context<'_>) -> Result<File> {
    let text: Arc<str> = match yamltree::decode(bytes, SourceId::MAX) {
        Ok(text) => text.into(),
        Err(error) => {
            return Err(Error::invalid(format!("`{name}` is not valid UTF-8: {}", error.message())));
        }
    };
    Ok(cx.sources.file(name, text))
}

/// The real path of a folder.
fn directory(path: &Path, cx: &Context<'_>) -> Result<PathBuf> {
    let path = clean(path);
    match cx.world.files.resolve(&path) {
        Ok((real, FileKind::Directory)) => Ok(real),
        Ok((_, FileKind::File)) => {
            Err(Error::invalid(format!("`{}` is a file, not a folder", cx.world.files.display(&path))))
        }
        Err(error) => Err(io_error(&path, &error, cx)),
    }
}

fn io_error(path: &Path, error: &io::Error, cx: &Context<'_>) -> Error {
    let shown = cx.world.files.display(path);
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            let missing = Error::new(ErrorKind::NotFound, format!("`{shown}` does not exist"));
            match neighbour(path, cx) {
                Some(meant) => missing.hint(format!("did you mean `{meant}`?")),
                None => missing,
            }
        }
        _ => Error::new(ErrorKind::Unavailable, format!("cannot read `{shown}`: {error}")),
    }
}

/// The name beside a missing one that is most like it.
fn neighbour(path: &Path, cx: &Context<'_>) -> Option<String> {
    let (folder, name) = (path.parent()?, path.file_name()?.to_str()?);
    let names = cx.world.files.list(folder).unwrap_or_default();
    closest(name, names.iter().map(String::as_str)).map(str::to_owned)
}
