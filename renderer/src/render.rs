//! Renders targets: one after the other or side by side, each file read and parsed once.
//!
//! In: a [`Config`] and targets. Out: what each target gave, in the order of the targets.

use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use diagnostic::{Error, ErrorKind, Result};
use helm_lite::values::UserValues;
use helm_lite::{Chart, HelmVersion, Rendered, Text};
use kustomize::{History, Options, Shared, World};
use vfs::{FileKind, Files, ReadSet};
use yamltree::{Location, Source, Span};

use crate::built::{Built, Overlay};
use crate::chart::places::{ChartPlaces, Inputs, Kept, Root};
use crate::chart::{self, Release};
use crate::chart_target::{self, ChartTargets};
use crate::charts::Charts;
use crate::config::Config;
use crate::functions::Programs;
use crate::homes::Homes;
use crate::inflate::Inflator;
use crate::remote::Remotes;
use crate::remote::charts::{ChartSources, TIMEOUT};
use crate::stack;

/// Maximum number of times a waiting caller hears that work goes on.
const TICK: Duration = Duration::from_millis(200);

/// The generation of Helm that charts are rendered as, unless a command line says another.
pub(crate) const ENGINE: HelmVersion = HelmVersion::V4;

/// Renders targets.
#[derive(Debug)]
pub struct Renderer {
    config: Config,
    files: Arc<dyn Files>,
    outside: Arc<Outside>,
    charts: Charts,
    chart_targets: ChartTargets,
    shared: Shared,
    /// The recorded inputs for locations, if anybody asks.
    kept: Option<Kept>,
}

/// The state that is neither a file nor a setting, and does not depend on the rendered files.
#[derive(Debug)]
struct Outside {
    remotes: Remotes,
    chart_sources: ChartSources,
    functions: Programs,
}

/// The engines over some files. What they read they have in common with the renderer that gave them, so that these must
/// be its files, or a view of them that changes none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Engines<'r> {
    renderer: &'r Renderer,
    files: &'r dyn Files,
}

/// The events while targets are rendered.
#[derive(Debug)]
pub enum Event<T> {
    /// A target is done; with its number.
    Done(usize, T),
    /// Some time has passed.
    Tick,
}

impl Renderer {
    /// A renderer of this machine's files, with nothing read yet.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let remotes =
            Remotes::new(config.cache_dir.clone(), config.offline).confined_to(config.roots.clone());
        let homes = Homes::from_environment();
        let chart_sources = ChartSources::new(config.cache_dir.clone(), config.offline, homes, TIMEOUT);
        let outside = Outside { remotes, chart_sources, functions: Programs::default() };
        let disk = config.disk();
        Self::with(config, Arc::new(disk), Arc::new(outside))
    }

    /// A renderer of other files, with nothing of them read yet. What was fetched is had in common.
    #[must_use]
    pub fn over(&self, files: Arc<dyn Files>) -> Self {
        let renderer = Self::with(self.config.clone(), files, Arc::clone(&self.outside));
        if self.kept.is_some() { renderer.with_places() } else { renderer }
    }

    /// The same renderer, whose objects lead back to templates and values too.
    #[must_use]
    pub fn with_places(self) -> Self {
        Self { kept: Some(Kept::default()), ..self }
    }

    /// The same, which also keeps how objects of a kind become what they are in kustomizations.
    #[must_use]
    pub(crate) fn watching(self, kind: &str) -> Self {
        Self { kept: Some(Kept::watching(kind)), ..self }
    }

    /// Returns how the watched objects of kustomizations became what they are, in the order of the builds.
    pub(crate) fn histories(&self) -> Vec<History> {
        self.kept.as_ref().map(Kept::take_histories).unwrap_or_default()
    }

    /// Returns what the chart was rendered with that a text is a template of.
    pub(crate) fn inputs(&self, template: &Arc<Source>) -> Option<Inputs> {
        self.kept.as_ref()?.inputs(template)
    }

    fn with(config: Config, files: Arc<dyn Files>, outside: Arc<Outside>) -> Self {
        let chart_targets = ChartTargets::new(config.charts.clone());
        let (charts, shared) = (Charts::default(), Shared::default());
        Self { config, files, outside, charts, chart_targets, shared, kept: None }
    }

    /// The files that it reads.
    #[must_use]
    pub fn files(&self) -> &dyn Files {
        &*self.files
    }

    /// The texts that kustomizations were built of, by the numbers that spans have.
    pub(crate) fn sources(&self) -> Vec<Arc<Source>> {
        self.shared.sources()
    }

    /// Returns where a span of what a kustomization gave is written.
    pub(crate) fn place(&self, span: Span) -> Option<Location> {
        self.shared.place(span)
    }

    /// The engines, over a view of the files such as one that records what is consulted.
    pub(crate) fn engines<'r>(&'r self, files: &'r dyn Files) -> Engines<'r> {
        Engines { renderer: self, files }
    }

    /// Returns the options of builds.
    pub(crate) fn options(&self) -> &Options {
        &self.config.options
    }

    /// Returns where what was fetched is kept.
    pub(crate) fn cache_dir(&self) -> Option<&Path> {
        self.config.cache_dir.as_deref()
    }

    /// Returns true if any file came from an address of its own, and from no folder.
    pub(crate) fn has_fetched_files(&self) -> bool {
        self.outside.remotes.have_files()
    }

    /// Renders one target, a chart or an overlay, on the caller's stack.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn render(&self, target: &Path) -> Result<Built> {
        self.render_over(target, &*self.files)
    }

    /// The same over a view of the files.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub(crate) fn render_over(&self, target: &Path, files: &dyn Files) -> Result<Built> {
        let engines = self.engines(files);
        if !chart_target::is_chart(target, files) {
            let overlay = engines.kustomize(target, &self.config.options)?;
            return Ok(Built::Overlay(Box::new(overlay)));
        }
        self.chart_targets.render(engines, target).map(Built::Chart)
    }

    /// Renders one overlay on the caller's stack.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn render_overlay(&self, target: &Path) -> Result<Overlay> {
        self.engines(&*self.files).kustomize(target, &self.config.options)
    }

    /// Renders one overlay for a process that does nothing else: on the main thread where its stack can grow, as a
    /// thread costs a tenth of a small build.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub(crate) fn render_on_main(&self, target: &Path) -> Result<Overlay> {
        if stack::let_main_grow() {
            return self.render_overlay(target);
        }
        thread::scope(|scope| {
            let worker = spawn(scope, || self.render_overlay(target))?;
            worker.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
        })
    }

    /// Renders targets on threads with room for deep documents, hands each result to `work` there, and tells the
    /// caller's thread of each as it comes.
    ///
    /// # Errors
    /// A thread that cannot be started.
    pub fn render_each<P: AsRef<Path> + Sync, T: Send>(
        &self,
        targets: &[P],
        jobs: usize,
        work: impl Fn(usize, Result<Built>) -> T + Sync,
        hear: impl FnMut(Event<T>),
    ) -> Result<()> {
        let work = |number: usize, target: &P| work(number, self.render(target.as_ref()));
        side_by_side(targets, jobs, work, hear)
    }
}

/// Does work for each item on threads with room for deep documents, and tells the caller's thread of each result as it
/// comes.
///
/// # Errors
/// A thread that cannot be started.
pub(crate) fn side_by_side<I: Sync, T: Send>(
    items: &[I],
    jobs: usize,
    work: impl Fn(usize, &I) -> T + Sync,
    mut hear: impl FnMut(Event<T>),
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        for _ in 0..jobs.min(items.len()) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            let worker = move || {
                while let Some((number, item)) = take(items, next) {
                    if sender.send((number, work(number, item))).is_err() {
                        return;
                    }
                }
            };
            spawn(scope, worker)?;
        }
        drop(sender);
        loop {
            match receiver.recv_timeout(TICK) {
                Ok((number, done)) => hear(Event::Done(number, done)),
                Err(RecvTimeoutError::Timeout) => hear(Event::Tick),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    })
}

impl Engines<'_> {
    /// Builds a kustomization on the caller's stack.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub(crate) fn kustomize(&self, target: &Path, options: &Options) -> Result<Overlay> {
        let Outside { remotes, functions, .. } = &*self.renderer.outside;
        let inflator = Inflator::new(*self);
        let world = World {
            files: &NamedFiles { files: self.files, remotes },
            remote: Some(remotes),
            charts: Some(&inflator),
            functions: Some(functions),
        };
        let shared = &self.renderer.shared;
        let kept = self.renderer.kept.as_ref();
        let watched = kept.and_then(|kept| Some((kept, kept.watched()?)));
        let output = guarded(|| match watched {
            None => Ok(kustomize::build(target, world, options, shared)?),
            Some((kept, kind)) => {
                let (output, histories) = kustomize::build_watched(target, world, options, shared, kind)?;
                kept.add_histories(histories);
                Ok(output)
            }
        })?;
        Ok(Overlay { output, chart_warnings: inflator.into_warnings() })
    }

    /// The chart in a folder or archive; with a `boundary`, nothing outside of that folder is read.
    ///
    /// # Errors
    /// If it is invalid, with Helm's message.
    pub(crate) fn chart(&self, path: &Path, boundary: Option<&Path>) -> Result<Arc<Chart>> {
        self.renderer.charts.get(self.files, path, boundary, ENGINE)
    }

    /// Renders a chart that was read, on the caller's stack.
    ///
    /// # Errors
    /// If the chart or its values are invalid, with Helm's message.
    pub(crate) fn helm(&self, chart: &Chart, user: &UserValues, release: &Release<'_>) -> Result<Rendered> {
        guarded(|| chart::render_loaded(chart.clone(), user, release)?.complete())
    }

    /// The text of a chart that was rendered, and where it was written if that is kept.
    pub(crate) fn text(
        &self,
        text: Text<'_>,
        chart: &Path,
        inputs: impl FnOnce(Root) -> Inputs,
    ) -> (String, Option<Arc<ChartPlaces>>) {
        let Some(kept) = &self.renderer.kept else { return (text.whole(), None) };
        let root = Root { path: chart.to_owned(), name: self.files.display(chart) };
        let (text, places) = ChartPlaces::of(text, &root.name);
        let places = Arc::new(places);
        kept.add(Arc::clone(&places), inputs(root));
        (text, Some(places))
    }

    /// Returns true if objects are to lead back to where they were written.
    pub(crate) fn keep_places(&self) -> bool {
        self.renderer.kept.is_some()
    }

    /// The renderer that they are of.
    pub(crate) fn renderer(&self) -> &Renderer {
        self.renderer
    }

    /// The same engines over another view of the files.
    pub(crate) fn over<'v>(&'v self, files: &'v dyn Files) -> Engines<'v> {
        Engines { renderer: self.renderer, files }
    }

    /// Returns what is on servers.
    pub(crate) fn remotes(&self) -> &Remotes {
        &self.renderer.outside.remotes
    }

    /// The files that they read.
    pub(crate) fn files(&self) -> &dyn Files {
        self.files
    }

    /// Returns where charts that are in no file come from.
    pub(crate) fn chart_sources(&self) -> &ChartSources {
        &self.renderer.outside.chart_sources
    }
}

/// A fault of ours in one target is no reason to lose the others.
fn guarded<T>(render: impl FnOnce() -> Result<T>) -> Result<T> {
    panic::catch_unwind(AssertUnwindSafe(render)).unwrap_or_else(|_| {
        Err(Error::new(ErrorKind::Environment, "the renderer has a fault, your files may be fine")
            .hint("please report it with the lines above"))
    })
}

/// Files, those from a server named by its address.
#[derive(Debug)]
struct NamedFiles<'r> {
    files: &'r dyn Files,
    remotes: &'r Remotes,
}

impl Files for NamedFiles<'_> {
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, FileKind)> {
        self.files.resolve(path)
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        self.files.read(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.files.list(path)
    }

    fn display(&self, path: &Path) -> String {
        self.remotes.display(path).unwrap_or_else(|| self.files.display(path))
    }

    fn record_reads(&self, set: &ReadSet) {
        self.files.record_reads(set);
    }
}

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>> {
    let thread = thread::Builder::new().stack_size(stack::DEEP).spawn_scoped(scope, work);
    thread.map_err(|error| Error::new(ErrorKind::Environment, format!("cannot start a thread: {error}")))
}

fn take<'t, P>(targets: &'t [P], next: &AtomicUsize) -> Option<(usize, &'t P)> {
    let number = next.fetch_add(1, Ordering::Relaxed);
    targets.get(number).map(|target| (number, target))
}
