//! Maps the text of a rendered chart to the lines of its templates.
//!
//! In: the documents of a chart as they are put together. Out: [`ChartPlaces`], which leads from the text to files, named
//! as a person would open them; and beside it the [`Inputs`], to say what a value in a template is.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use helm_lite::{Chart, Document, HelmVersion, Origin, Text};
use kustomize::{History, TextPlaces};
use yamltree::{Location, Source, Span};

use super::given::Values;

/// The recorded inputs of rendered charts, for locations.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    charts: Mutex<Vec<(Arc<ChartPlaces>, Inputs)>>,
    /// The kind of objects whose way through kustomizations is kept too.
    watched: Option<String>,
    histories: Mutex<Vec<History>>,
}

/// The inputs of a rendered chart.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    /// The chart's folder, or its archive.
    pub(crate) root: Root,
    /// The chart.
    pub(crate) chart: Arc<Chart>,
    /// The values that were given, by the names of files.
    pub(crate) given: Values,
    /// The content of those files.
    pub(crate) files: ReadFiles,
    /// The generation of Helm.
    pub(crate) version: HelmVersion,
}

/// The folder of a chart, or its archive.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    /// The path.
    pub(crate) path: PathBuf,
    /// The path as the user would write it.
    pub(crate) name: String,
}

/// Files of values with their content, by the names that are in [`Values`].
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadFiles(pub(crate) HashMap<String, Vec<u8>>);

/// Leads from the text of a chart to its files.
#[derive(Debug, Default)]
pub(crate) struct ChartPlaces {
    sources: Vec<Arc<Source>>,
    /// In the order of the text.
    segments: Vec<Segment>,
}

/// A document in the text.
#[derive(Debug)]
struct Segment {
    start: usize,
    source: u32,
    /// The document is the file where nothing wrote it.
    origin: Option<Origin>,
}

/// Collects the places of documents while the text is put together.
struct Collector<'c> {
    /// The path of the chart's directory as the user would write it.
    root: &'c str,
    numbers: HashMap<String, u32>,
    places: ChartPlaces,
}

impl Kept {
    /// Returns what keeps the ways of objects of a kind too.
    pub(crate) fn watching(kind: &str) -> Self {
        Self { watched: Some(kind.to_owned()), ..Self::default() }
    }

    pub(crate) fn watched(&self) -> Option<&str> {
        self.watched.as_deref()
    }

    pub(crate) fn add_histories(&self, histories: Vec<History>) {
        self.histories.lock().unwrap_or_else(PoisonError::into_inner).extend(histories);
    }

    pub(crate) fn take_histories(&self) -> Vec<History> {
        std::mem::take(&mut *self.histories.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn add(&self, places: Arc<ChartPlaces>, inputs: Inputs) {
        self.charts.lock().unwrap_or_else(PoisonError::into_inner).push((places, inputs));
    }

    /// Returns what the chart was rendered with that a text is a template of.
    pub(crate) fn inputs(&self, template: &Arc<Source>) -> Option<Inputs> {
        let kept = self.charts.lock().unwrap_or_else(PoisonError::into_inner);
        let has = |places: &ChartPlaces| places.sources.iter().any(|source| Arc::ptr_eq(source, template));
        kept.iter().find(|(places, _)| has(places)).map(|(_, inputs)| inputs.clone())
    }
}

impl ChartPlaces {
    /// Returns the text of a chart with its places; `root` is the path of the chart's directory as the user would write it.
    pub(crate) fn of(text: Text<'_>, root: &str) -> (String, Self) {
        let mut collector = Collector::new(root);
        let text = text.write(&mut |start, document| match document {
            Document::Crd(path, text) => collector.add(start, path, text.as_bytes(), None),
            Document::Rendered(manifest) => {
                if let Some(origin) = &manifest.origin {
                    collector.add(start, &manifest.path, origin.template(), Some(origin));
                }
            }
        });
        (text, collector.places)
    }

    /// The files that its spans are in.
    pub(crate) fn sources(&self) -> argocd::objects::Sources {
        self.sources.as_slice().into()
    }

    /// Returns where a span of the text is in the files.
    pub(crate) fn span(&self, span: Span) -> Span {
        let found = span.is_some().then(|| self.find(span.start, span.end)).flatten();
        found.unwrap_or(Span::NONE)
    }

    fn find(&self, start: u32, end: u32) -> Option<Span> {
        let (from, to) = (start as usize, (end as usize).max(start as usize + 1) - 1);
        let index = self.segments.partition_point(|segment| segment.start <= from).checked_sub(1)?;
        let segment = self.segments.get(index)?;
        let within = |offset: usize| {
            let offset = offset - segment.start;
            let at = segment.origin.as_ref().map_or(Some(offset), |origin| origin.offset(offset))?;
            u32::try_from(at).ok()
        };
        let start = within(from)?;
        // What begins in one part of a template may end in an earlier one, as in a loop.
        let end = within(to).map_or(start, |last| last + 1).max(start + 1);
        Some(Span { source: segment.source, start, end })
    }
}

impl TextPlaces for ChartPlaces {
    fn place(&self, start: u32, end: u32) -> Option<Location> {
        let span = self.find(start, end)?;
        let source = self.sources.get(span.source as usize)?;
        Some(Location { source: Arc::clone(source), span })
    }
}

impl<'c> Collector<'c> {
    fn new(root: &'c str) -> Self {
        Self { root, numbers: HashMap::new(), places: ChartPlaces::default() }
    }

    /// Notes that a document begins at an offset of the text. A path begins with the chart's name.
    fn add(&mut self, start: usize, path: &str, file: &[u8], origin: Option<&Origin>) {
        let places = &mut self.places;
        let source = *self.numbers.entry(path.to_owned()).or_insert_with(|| {
            let inner = path.split_once('/').map_or(path, |(_, inner)| inner);
            let text = String::from_utf8_lossy(file).into();
            places.sources.push(Arc::new(Source { name: format!("{}/{inner}", self.root), text }));
            u32::try_from(places.sources.len() - 1).unwrap_or(u32::MAX)
        });
        places.segments.push(Segment { start, source, origin: origin.cloned() });
    }
}
