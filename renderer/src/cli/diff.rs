//! `renderer diff`: what a change does to everything that a repository renders.

use std::io::IsTerminal as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use diagnostic::{Error, ErrorKind, Result};
use manifest_diff::{FORMATS, Format, FormatOptions, Options, SecretKey};

use super::argocd_flags::WorldFlags;
use crate::diff::{self, Request, Sides};
use crate::output;
use crate::report::Reporter;

/// Exit code if there are differences and `--exit-code` is set.
const DIFFERENT: u8 = 10;

const EXAMPLES: &str = "\
Examples:
  # what the changes in the work tree do to everything that the repository renders
  renderer diff

  # what a branch would do to the clusters
  renderer diff --base origin/main --head HEAD --merge-base

  # in CI: a comment for the pull request, and a page with everything
  renderer diff --base origin/main --merge-base -o markdown=comment.md -o html=report.html \\
    --full-report https://ci.example.com/report.html

  # some folders only
  renderer diff --base v1.2.0 apps/web charts/db

  # two sets of manifests, however they were made
  renderer diff rendered/old rendered/new
  helm template web charts/web | renderer diff deployed.yaml -";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Paths to search for Applications, kustomizations and charts [default: the whole repository]. Without a
    /// revision, two paths are two sets of manifests; `-` is standard input
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The state before the change: a branch, a tag, a commit [default: HEAD]
    #[arg(long, value_name = "REV")]
    base: Option<String>,

    /// The state after the change; the work tree by default
    #[arg(long, value_name = "REV")]
    head: Option<String>,

    /// Compare with the commit at which head left base, as pull requests do
    #[arg(long)]
    merge_base: bool,

    /// A format, or a format and the file for it (repeatable): terminal, unified, json, markdown, html, github, gitlab,
    /// sarif, junit
    #[arg(short, long, value_name = "FORMAT[=FILE]", value_parser = Output::read, default_value = "terminal")]
    output: Vec<Output>,

    /// Maximum number of characters of a comment
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Title of the report [default: the two revisions]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// URL of the full report, for links in comments
    #[arg(long, value_name = "ADDRESS")]
    full_report: Option<String>,

    /// Take the context file of the later state from that state, which lets a change judge itself
    #[arg(long)]
    trust_head: bool,

    /// Exit with 10 if there are differences
    #[arg(long)]
    exit_code: bool,

    /// Number of targets to render at a time [default: number of processors]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    #[command(flatten)]
    world: WorldFlags,
}

/// A format, and where it goes.
#[derive(Clone, Debug)]
struct Output {
    format: &'static Format,
    file: Option<PathBuf>,
}

impl Output {
    fn read(text: &str) -> std::result::Result<Self, String> {
        let (name, file) = match text.split_once('=') {
            Some((_, "")) => return Err("a file is missing behind `=`".to_owned()),
            Some((name, file)) => (name, Some(PathBuf::from(file))),
            None => (text, None),
        };
        let format = Format::named(name).ok_or_else(|| {
            let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            format!("there are the formats {}", names.join(", "))
        })?;
        Ok(Self { format, file })
    }
}

pub(super) fn run(arguments: &Arguments, reporter: &mut Reporter) -> Result<()> {
    let prints = arguments.output.iter().filter(|output| output.file.is_none()).count();
    if prints > 1 {
        return Err(Error::new(ErrorKind::Usage, "only one format can go to standard output")
            .hint("name files for the others: `-o html=report.html`"));
    }
    let sides = arguments.sides(reporter)?;
    sides.errors.iter().for_each(|error| reporter.error(error, None));
    sides.notices.iter().for_each(|notice| reporter.notice(notice));
    let options = Options { secret_key: secret_key()? };
    let mut review = manifest_diff::review(&sides.base, &sides.head, &options);
    review.summary.targets.unchanged += sides.unaffected;
    for Output { format, file } in &arguments.output {
        let options = FormatOptions {
            color: file.is_none() && std::io::stdout().is_terminal(),
            limit: arguments.limit,
            title: Some(arguments.title.clone().unwrap_or_else(|| sides.title.clone())),
            full_report: arguments.full_report.clone(),
            command: None,
        };
        let text = (format.write)(&review, &options);
        match file {
            Some(file) => output::replace(file, text.as_bytes())?,
            None => output::to_stdout_coloured(&text)?,
        }
    }
    if review.has_failed() {
        reporter.fail(ErrorKind::Invalid);
    } else if arguments.exit_code && !review.is_empty() {
        reporter.end_with(DIFFERENT);
    }
    // The process ends here; taking large trees apart node by node would only keep the user waiting.
    std::mem::forget((sides, review));
    Ok(())
}

impl Arguments {
    fn sides(&self, reporter: &mut Reporter) -> Result<Sides> {
        let config = self.world.config(self.paths.iter().map(PathBuf::as_path), reporter);
        let has_revision = self.base.is_some() || self.head.is_some() || self.merge_base;
        match self.paths.as_slice() {
            [base, head] if !has_revision => diff::of_manifests(base, head, config),
            paths if paths.iter().any(|path| path == Path::new("-")) => {
                Err(Error::new(ErrorKind::Usage, "standard input is one of two sets of manifests")
                    .hint("`renderer diff OLD -` compares it with OLD"))
            }
            paths => {
                let request = Request {
                    paths,
                    base: self.base.as_deref().unwrap_or("HEAD"),
                    head: self.head.as_deref(),
                    from_merge_base: self.merge_base,
                    context: self.world.context.as_deref(),
                    trust_head: self.trust_head,
                    jobs: super::jobs(self.jobs, usize::MAX),
                };
                diff::of_revisions(&request, config, &self.world.overrides(false))
            }
        }
    }
}

/// A key for this run: nobody can try which values a tag of a Secret may stand for.
fn secret_key() -> Result<SecretKey> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(|error| {
        Error::new(ErrorKind::Environment, format!("the system gives no random bytes: {error}"))
    })?;
    Ok(SecretKey::new(random))
}
