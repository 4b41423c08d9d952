//! `renderer build`: many targets, side by side.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, BufRead};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use diagnostic::{Error, Result};

use super::flags::BuildFlags;
use super::helm::values::ValueFlags;
use crate::built::{Built, Warnings};
use crate::chart_target::ChartOptions;
use crate::config::Config;
use crate::output::{self, Format};
use crate::progress::Progress;
use crate::render::{Event, Renderer};
use crate::report::Reporter;
use crate::roots;
use crate::target::{self, Target};

const EXAMPLES: &str = "\
Examples:
  # every overlay of a repository, each into a file of its own: out/apps/web/overlays/prod.yaml, …
  renderer build apps/*/overlays/* --output-dir out

  # what find finds
  find apps -name kustomization.yaml -printf '%h\\n' | renderer build - --output-dir out

  # some targets as one stream
  renderer build infra apps/web | kubectl diff -f -

  # charts and overlays together; the release of a chart is named after its folder
  renderer build charts/web charts/db-1.2.3.tgz overlays/prod -f envs/prod.yaml --output-dir out";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Folders with a kustomization or a chart, archives of charts, or addresses of kustomizations; `-` reads them from
    /// standard input, one a line
    #[arg(value_name = "DIR", required = true)]
    targets: Vec<PathBuf>,

    /// Write OUT/DIR.yaml for each DIR; without it all go to standard output
    #[arg(long, value_name = "OUT")]
    output_dir: Option<PathBuf>,

    /// The format of the manifests
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml")]
    output: super::Format,

    /// Number of targets to render at a time [default: number of processors]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    #[command(flatten)]
    flags: BuildFlags,

    #[command(flatten)]
    charts: ChartFlags,
}

// What is said of charts that are targets, with the names of helm's flags. (A doc comment would be the help text.)
#[derive(Args, Debug)]
#[command(next_help_heading = "Charts that are targets")]
struct ChartFlags {
    #[command(flatten)]
    values: ValueFlags,

    /// The release's name; that of the chart's folder by default
    #[arg(long, value_name = "NAME")]
    release_name: Option<String>,

    /// The release's namespace
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,

    /// Print the charts' CRDs too
    #[arg(long)]
    include_crds: bool,

    /// Leave hooks out
    #[arg(long)]
    no_hooks: bool,

    /// Leave tests out
    #[arg(long)]
    skip_tests: bool,
}

impl ChartFlags {
    fn options(&self, flags: &BuildFlags) -> ChartOptions {
        ChartOptions {
            values: self.values.given(),
            release_name: self.release_name.clone(),
            namespace: self.namespace.clone(),
            include_crds: self.include_crds,
            no_hooks: self.no_hooks,
            skip_tests: self.skip_tests,
            kube_version: flags.helm_kube_version.clone(),
            api_versions: flags.helm_api_versions.clone(),
        }
    }
}

/// The result of a target.
struct Outcome {
    warnings: Warnings,
    text: Result<String>,
}

pub(super) fn run(arguments: Arguments, reporter: &mut Reporter) -> Result<()> {
    let charts = arguments.charts.options(&arguments.flags);
    let root = arguments.flags.root.clone();
    let config = Config { charts, ..Config::new(&arguments.flags, reporter)? };
    let run = Run { strict: config.strict, format: arguments.output.into(), jobs: arguments.jobs };
    let targets = read_targets(arguments.targets)?;
    let roots = roots::of_targets(root.as_deref(), targets.iter().map(AsRef::as_ref));
    let renderer = Renderer::new(config.confined_to(roots));
    match &arguments.output_dir {
        Some(folder) => run.write_files(&renderer, targets, folder, reporter)?,
        None => run.print(&renderer, &targets, reporter)?,
    }
    // The process ends here; taking large trees apart node by node would only keep the user waiting.
    std::mem::forget(renderer);
    Ok(())
}

/// The arguments, with those from standard input in place of `-`.
fn read_targets(arguments: Vec<PathBuf>) -> Result<Vec<Target>> {
    let mut targets = Vec::with_capacity(arguments.len());
    for argument in arguments {
        if argument.as_os_str() != "-" {
            targets.push(Target::new(argument));
            continue;
        }
        for line in io::stdin().lock().lines() {
            let line = line.map_err(|error| Error::io("read", Path::new("-"), &error))?;
            if !line.is_empty() {
                targets.push(Target::new(line));
            }
        }
    }
    Ok(targets)
}

struct Run {
    strict: bool,
    format: Format,
    jobs: Option<NonZeroUsize>,
}

impl Run {
    fn write_files(
        &self,
        renderer: &Renderer,
        targets: Vec<Target>,
        folder: &Path,
        reporter: &mut Reporter,
    ) -> Result<()> {
        let (targets, files): (Vec<Target>, Vec<PathBuf>) =
            target::files(targets, folder, self.format, &std::env::current_dir().unwrap_or_default())?
                .into_iter()
                .unzip();
        let work = |number: usize, built: &Built| {
            let text = built.text(self.format)?;
            output::put_below(folder, &files[number], text.as_bytes())?;
            Ok(String::new())
        };
        self.render(renderer, &targets, work, reporter).map(drop)
    }

    fn print(&self, renderer: &Renderer, targets: &[Target], reporter: &mut Reporter) -> Result<()> {
        let work = |_, built: &Built| built.fragment(self.format).map(Cow::into_owned);
        let texts = self.render(renderer, targets, work, reporter)?;
        // Half of what was asked for could be applied by mistake.
        if texts.len() == targets.len() {
            output::to_stdout(&output::join(&texts, self.format))?;
        }
        Ok(())
    }

    /// Renders the targets and reports what is wrong with each in their order; the texts of those that succeeded.
    fn render(
        &self,
        renderer: &Renderer,
        targets: &[Target],
        work: impl Fn(usize, &Built) -> Result<String> + Sync,
        reporter: &mut Reporter,
    ) -> Result<Vec<String>> {
        let finish = |number, built: Result<Built>| match built {
            Ok(built) => {
                let warnings = built.warnings();
                let text = self.accept(&warnings).and_then(|()| work(number, &built));
                Outcome { warnings, text }
            }
            Err(error) => Outcome { warnings: Warnings::default(), text: Err(error) },
        };
        let mut progress = Progress::new(targets.len());
        let mut in_order = InOrder::default();
        let mut texts = Vec::with_capacity(targets.len());
        renderer.render_each(targets, super::jobs(self.jobs, targets.len()), finish, |event| {
            let Event::Done(number, outcome) = event else { return progress.show() };
            progress.advance();
            in_order.put(number, outcome);
            while let Some((number, outcome)) = in_order.take() {
                progress.clear();
                outcome.warnings.report(reporter);
                match outcome.text {
                    Ok(text) => texts.push(text),
                    Err(error) => reporter.error(&error, Some(&targets[number].argument.to_string_lossy())),
                }
            }
        })?;
        progress.clear();
        Ok(texts)
    }

    fn accept(&self, warnings: &Warnings) -> Result<()> {
        if self.strict { warnings.refuse() } else { Ok(()) }
    }
}

/// Gives back in order what comes in any order.
struct InOrder<T> {
    next: usize,
    waiting: VecDeque<Option<T>>,
}

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        Self { next: 0, waiting: VecDeque::new() }
    }
}

impl<T> InOrder<T> {
    fn put(&mut self, number: usize, item: T) {
        let at = number - self.next;
        while self.waiting.len() <= at {
            self.waiting.push_back(None);
        }
        self.waiting[at] = Some(item);
    }

    fn take(&mut self) -> Option<(usize, T)> {
        let item = self.waiting.front_mut()?.take()?;
        self.waiting.pop_front();
        self.next += 1;
        Some((self.next - 1, item))
    }
}
