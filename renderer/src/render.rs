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

use files::{Disk, FileKind, Files};
use kustomize::{Shared, World};

use crate::built::{Built, Overlay, RenderedChart};
use crate::chart_target::{self, ChartTargets};
use crate::charts::Charts;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::functions::Programs;
use crate::homes::Homes;
use crate::inflate::Inflator;
use crate::remote::Remotes;
use crate::remote::charts::{ChartSources, TIMEOUT};
use crate::stack;

/// How often a waiting caller hears that work goes on.
const TICK: Duration = Duration::from_millis(200);

/// What renders targets.
#[derive(Debug)]
pub struct Renderer {
    config: Config,
    files: Disk,
    remotes: Remotes,
    charts: Charts,
    chart_targets: ChartTargets,
    chart_sources: ChartSources,
    functions: Programs,
    shared: Shared,
}

/// What a caller hears while targets are rendered.
#[derive(Debug)]
pub enum Event<T> {
    /// A target is done; with its number.
    Done(usize, T),
    /// Some time has passed.
    Tick,
}

impl Renderer {
    /// A renderer with nothing read yet.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let remotes = Remotes::new(config.cache_dir.clone(), config.offline);
        let homes = Homes::from_environment();
        let chart_sources = ChartSources::new(config.cache_dir.clone(), config.offline, homes, TIMEOUT);
        Self {
            files: Disk::new(),
            remotes,
            charts: Charts::default(),
            chart_targets: ChartTargets::new(config.charts.clone()),
            chart_sources,
            config,
            functions: Programs::default(),
            shared: Shared::default(),
        }
    }

    /// The files that it reads.
    #[must_use]
    pub fn files(&self) -> &Disk {
        &self.files
    }

    /// Renders one target, a chart or an overlay, on the caller's stack.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn render(&self, target: &Path) -> Result<Built> {
        if !chart_target::is_chart(target, &self.files) {
            return self.render_overlay(target).map(|overlay| Built::Overlay(Box::new(overlay)));
        }
        let (text, warnings) = guarded(|| self.chart_targets.render(target, &self.charts))?;
        Ok(Built::Chart(RenderedChart { text, warnings }))
    }

    /// Renders one overlay on the caller's stack.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn render_overlay(&self, target: &Path) -> Result<Overlay> {
        let inflator = Inflator::new(&self.charts, &self.chart_sources);
        let world = World {
            files: &NamedFiles { disk: &self.files, remotes: &self.remotes },
            remote: Some(&self.remotes),
            charts: Some(&inflator),
            functions: Some(&self.functions),
        };
        let build = || Ok(kustomize::build(target, world, &self.config.options, &self.shared)?);
        let output = guarded(build)?;
        Ok(Overlay { output, chart_warnings: inflator.into_warnings() })
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
        mut hear: impl FnMut(Event<T>),
    ) -> Result<()> {
        let next = AtomicUsize::new(0);
        let (sender, receiver) = channel();
        thread::scope(|scope| {
            for _ in 0..jobs.min(targets.len()) {
                let (sender, next, work) = (sender.clone(), &next, &work);
                let worker = move || {
                    while let Some((number, target)) = take(targets, next) {
                        let done = work(number, self.render(target.as_ref()));
                        if sender.send((number, done)).is_err() {
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
}

/// A fault of ours in one target is no reason to lose the others.
fn guarded<T>(render: impl FnOnce() -> Result<T>) -> Result<T> {
    panic::catch_unwind(AssertUnwindSafe(render)).unwrap_or_else(|_| {
        Err(Error::new(ErrorKind::Environment, "the renderer has a fault, your files may be fine")
            .hint("please report it with the lines above"))
    })
}

/// The files of the disk, those from a server named by its address.
struct NamedFiles<'r> {
    disk: &'r Disk,
    remotes: &'r Remotes,
}

impl Files for NamedFiles<'_> {
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, FileKind)> {
        self.disk.resolve(path)
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        self.disk.read(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.disk.list(path)
    }

    fn display(&self, path: &Path) -> String {
        self.remotes.display(path).unwrap_or_else(|| self.disk.display(path))
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
