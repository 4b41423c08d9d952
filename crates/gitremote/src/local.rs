//! git on this machine's disk: its own program, which keeps the other repository's rules and runs its hooks.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::Command;

use gix::protocol::transport::Service;

use crate::program::Prepared;

/// Returns what to run to reach a service of the repository behind a `file` address.
pub(crate) fn prepare(url: &gix::Url, service: Service) -> Prepared {
    let mut command = Command::new("git");
    // The path begins with a slash, so that it is no option.
    command.arg(service.as_git_subcommand()).arg(path(url));
    Prepared { command, files: None }
}

/// The folder that a `file` address names.
pub(crate) fn path(url: &gix::Url) -> PathBuf {
    // git has `file://a/b` mean `/a/b`.
    let mut path = url.host().map(|host| format!("/{host}").into_bytes()).unwrap_or_default();
    path.extend_from_slice(&url.path);
    PathBuf::from(OsString::from_vec(path))
}
