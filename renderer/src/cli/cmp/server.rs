//! `renderer cmp server`: the plugin's service on its socket.

use std::future::Ready;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::Args;
use cmp_server::{Limits, Options, Server, probe};
use diagnostic::{Error, ErrorKind, Result};

use super::log::{self, LogFormat};
use super::size;
use crate::cli::flags::BuildFlags;
use crate::cmp::Plugin;
use crate::config::Config;
use crate::output;
use crate::report::Reporter;

/// The plugin directory of the repo-server; its variable overrides it, as with argocd-cmp-server.
const SOCKET_DIR: &str = "/home/argocd/cmp-server/plugins";
const SOCKET_DIR_VARIABLE: &str = "ARGOCD_PLUGINSOCKFILEPATH";

/// Time that a probe waits for an answer.
const PROBE_PATIENCE: Duration = Duration::from_secs(2);

const EXAMPLES: &str = "\
Examples:
  # in a sidecar of the repo-server, with its plugins mounted; applications name it by `plugin: {name: renderer}`
  renderer cmp server --max-memory 512Mi --enable-helm

  # another name, two applications at a time, logs for a machine
  renderer cmp server --name kustomize-5 --jobs 2 --log-format json

  # whether it is well, as a liveness probe
  renderer cmp server --probe";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Arguments {
    /// The plugin's name, by which applications ask for it
    #[arg(long, value_name = "NAME", default_value = "renderer", value_parser = name)]
    name: String,

    /// The folder of the plugins' sockets [env: ARGOCD_PLUGINSOCKFILEPATH] [default: /home/argocd/cmp-server/plugins]
    #[arg(long, value_name = "DIR")]
    socket_dir: Option<PathBuf>,

    /// Ask the server that has this socket whether it is well, and exit with 0 if it is
    #[arg(long)]
    probe: bool,

    /// Memory limit of repositories and results; the least recently used are evicted first
    #[arg(long, value_name = "SIZE", default_value = "512Mi", value_parser = size::parse)]
    max_memory: u64,

    /// Maximum size of a repository
    #[arg(long, value_name = "SIZE", default_value = "256Mi", value_parser = size::parse)]
    max_repository: u64,

    /// Maximum number of files in a repository
    #[arg(long, value_name = "N", default_value_t = Limits::default().files)]
    max_files: usize,

    /// Depth to which folders may be
    #[arg(long, value_name = "N", default_value_t = Limits::default().depth)]
    max_depth: usize,

    /// Maximum ratio of an archive's unpacked size to its packed size
    #[arg(long, value_name = "N", default_value_t = Limits::default().ratio)]
    max_ratio: u64,

    /// Number of applications to render at a time [default: number of processors]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Time that started requests may take after SIGTERM
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    grace: u64,

    /// Log format of requests
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,

    #[command(flatten)]
    flags: BuildFlags,
}

/// A name that is one of a file.
fn name(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if text.is_empty() || text.starts_with('.') || !text.bytes().all(is_plain) {
        return Err("a name has letters, digits, `-`, `_` and `.`".to_owned());
    }
    Ok(text.to_owned())
}

pub(super) fn run(arguments: &Arguments, reporter: &mut Reporter) -> Result<()> {
    let socket = arguments.socket();
    if arguments.probe {
        return probe(&socket, PROBE_PATIENCE).map_err(|error| {
            let sentence = format!("the server on `{}` is not well: {error}", socket.display());
            Error::new(ErrorKind::Environment, sentence)
        });
    }
    let config = Config::new(&arguments.flags, reporter)?;
    let options = arguments.options(socket.clone());
    let server = Server::bind(options).map_err(|error| {
        let hint = if error.is_taken() {
            "give it another --name, or stop what is there"
        } else {
            "the directory must exist and be writable: mount the plugins' volume, or set --socket-dir"
        };
        Error::new(ErrorKind::Environment, error.to_string()).hint(hint)
    })?;
    output::to_stderr(&format!("listening on {}\n", socket.display()));
    let format = arguments.log_format;
    let observe = move |record: &cmp_server::Record| output::to_stderr(&log::line(record, format));
    server
        .run(Arc::new(Plugin::new(config)), observe, None::<Ready<()>>)
        .map_err(|error| Error::new(ErrorKind::Environment, format!("cannot serve: {error}")))
}

impl Arguments {
    fn socket(&self) -> PathBuf {
        let variable = || std::env::var_os(SOCKET_DIR_VARIABLE).filter(|path| !path.is_empty());
        let folder = self.socket_dir.clone().or_else(|| variable().map(PathBuf::from));
        folder.unwrap_or_else(|| PathBuf::from(SOCKET_DIR)).join(format!("{}.sock", self.name))
    }

    fn options(&self, socket: PathBuf) -> Options {
        let limits = Limits {
            tree_bytes: self.max_repository,
            files: self.max_files,
            depth: self.max_depth,
            ratio: self.max_ratio,
            ..Limits::default()
        };
        let jobs = self.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
        Options { socket, max_memory: self.max_memory, limits, jobs, grace: Duration::from_secs(self.grace) }
    }
}
