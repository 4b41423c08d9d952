//! Manifests by what a command line names: what a folder renders to, or what files hold.
//!
//! In: a kustomization, a chart, a folder or file of manifests, or standard input. Out: objects, lists taken apart, that
//! know where they are written as far as that is known: in files, or through kustomizations.

use std::collections::HashSet;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use argocd::objects::{self, Object, Sources};
use diagnostic::{Error, ErrorKind, Result};
use vfs::{FileKind, Files, MAX_FILE_SIZE};
use yamltree::{Source, Span};

use crate::built::{Built, Overlay};
use crate::chart::places::ChartPlaces;
use crate::chart_target::{is_archive, is_chart, is_overlay};
use crate::render::Renderer;

/// The name of standard input.
pub(crate) const STDIN: &str = "-";

/// No folder of manifests is deeper.
const MAX_DEPTH: usize = 64;

/// The objects that an argument stands for.
///
/// # Errors
/// If it is invalid.
pub(crate) fn read(argument: &Path, renderer: &Renderer) -> Result<Vec<Object>> {
    read_over(argument, renderer, renderer.files())
}

/// The same over a view of the renderer's files.
///
/// # Errors
/// If it is invalid.
pub(crate) fn read_over(argument: &Path, renderer: &Renderer, files: &dyn Files) -> Result<Vec<Object>> {
    let is_rendered = is_overlay(argument, files) || is_chart(argument, files) || is_address(argument, files);
    if is_rendered {
        return rendered(&argument.display().to_string(), &renderer.render_over(argument, files)?, renderer);
    }
    plain(argument, files)
}

/// The objects in a file, in a folder and those below it, or on standard input, as they are written.
///
/// # Errors
/// If it cannot be read or is not an object.
pub(crate) fn plain(argument: &Path, files: &dyn Files) -> Result<Vec<Object>> {
    if argument == Path::new(STDIN) {
        return parse(STDIN, &standard_input()?);
    }
    let mut reading = Reading { files, folders: HashSet::new(), objects: Vec::new() };
    reading.read(argument, 0)?;
    Ok(reading.objects)
}

/// The objects of what was rendered.
///
/// # Errors
/// If a document is no object.
pub(crate) fn rendered(name: &str, built: &Built, renderer: &Renderer) -> Result<Vec<Object>> {
    match built {
        Built::Chart(chart) => match &chart.places {
            Some(places) => Ok(objects::flatten(of_chart(name, chart.text.as_str().into(), places)?)?),
            None => parse(name, chart.text.as_bytes()),
        },
        Built::Overlay(overlay) => of_overlay(overlay, renderer),
    }
}

/// The objects of a kustomization; what was read of files leads back to them.
///
/// # Errors
/// If a resource has no JSON.
pub(crate) fn of_overlay(overlay: &Overlay, renderer: &Renderer) -> Result<Vec<Object>> {
    objects::flatten(documents(overlay, renderer)?)
}

/// The resources of a kustomization, lists as they are.
///
/// # Errors
/// If a resource has no JSON.
pub(crate) fn documents(overlay: &Overlay, renderer: &Renderer) -> Result<Vec<Object>> {
    let place = |span: Span| renderer.place(span).map_or(Span::NONE, |place| place.span);
    let none: Sources = Vec::new().into();
    let object = |object: &kustomize::Object| {
        let failed = |_| Object::new(&object.node, &renderer.sources().into());
        Ok(Object::new(&object.node, &none).or_else(failed)?.with_places(&none, &place))
    };
    let placed = overlay.output.objects().iter().map(object).collect::<Result<Vec<_>>>()?;
    // What leads into a template has made a source of it.
    let sources: Sources = renderer.sources().into();
    Ok(placed.into_iter().map(|object| object.with_places(&sources, &|span| span)).collect())
}

/// The documents of a chart's text, lists as they are, with their places in its templates.
///
/// # Errors
/// If a document is no object.
pub(crate) fn of_chart(name: &str, text: Arc<str>, places: &ChartPlaces) -> Result<Vec<Object>> {
    let source = Arc::new(Source { name: format!("{name} (rendered)"), text });
    let sources = places.sources();
    let all = objects::documents(&source)?.into_iter();
    Ok(all.map(|object| object.with_places(&sources, &|span| places.span(span))).collect())
}

fn parse(name: &str, bytes: &[u8]) -> Result<Vec<Object>> {
    let text = yamltree::decode(bytes, 0).map_err(|error| {
        Error::new(ErrorKind::Invalid, format!("`{name}` is not valid UTF-8: {}", error.message()))
    })?;
    objects::read(&Arc::new(Source { name: name.to_owned(), text: text.as_ref().into() }))
}

/// All that is on standard input.
///
/// # Errors
/// If reading fails, and more than a file may have.
pub(crate) fn standard_input() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than is allowed shows that there are more.
    let read = io::stdin().lock().take(MAX_FILE_SIZE + 1).read_to_end(&mut bytes);
    read.map_err(|error| Error::io("read", Path::new(STDIN), &error))?;
    if bytes.len() as u64 > MAX_FILE_SIZE {
        let sentence = format!("there are more than {} MiB on standard input", MAX_FILE_SIZE >> 20);
        return Err(Error::new(ErrorKind::Invalid, sentence));
    }
    Ok(bytes)
}

/// Returns true if an argument is no path here, so that it can only be the address of a kustomization.
fn is_address(argument: &Path, files: &dyn Files) -> bool {
    files.resolve(argument).is_err() && argument.to_str().is_some_and(|text| text.contains("//"))
}

/// Returns true if a file is read when its folder is.
fn is_manifest(name: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|extension| name.ends_with(extension))
}

/// Files and folders on their way to objects.
struct Reading<'f> {
    files: &'f dyn Files,
    /// Those that were read: symbolic links may lead back.
    folders: HashSet<PathBuf>,
    objects: Vec<Object>,
}

impl Reading<'_> {
    fn read(&mut self, path: &Path, depth: usize) -> Result<()> {
        let failed = |error: io::Error| Error::io("read", path, &error);
        let missing = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => {
                Error::new(ErrorKind::Invalid, format!("no such file or directory: `{}`", path.display()))
            }
            _ => failed(error),
        };
        let (real, kind) = self.files.resolve(path).map_err(missing)?;
        if kind == FileKind::File {
            if is_archive(path) {
                let sentence = format!("`{}` is a chart, not a manifest", path.display());
                return Err(Error::new(ErrorKind::Invalid, sentence));
            }
            let name = self.files.display(path);
            self.objects.extend(parse(&name, &self.files.read(&real).map_err(failed)?)?);
            return Ok(());
        }
        if depth > MAX_DEPTH {
            let sentence = format!("`{}` is nested too deep", path.display());
            return Err(Error::new(ErrorKind::Invalid, sentence));
        }
        if !self.folders.insert(real.clone()) {
            return Ok(());
        }
        for name in self.files.list(&real).map_err(failed)? {
            let inner = path.join(&name);
            let is_folder = matches!(self.files.resolve(&inner), Ok((_, FileKind::Directory)));
            // What is hidden is no manifest's folder, and a link that leads nowhere is no manifest, which is said.
            let is_hidden = is_folder && name.starts_with('.');
            if !is_hidden && (is_folder || is_manifest(&name)) {
                self.read(&inner, depth + 1)?;
            }
        }
        Ok(())
    }
}
