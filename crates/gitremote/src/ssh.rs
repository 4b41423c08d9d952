//! git over ssh: the user's `ssh` program, which knows keys, agents and hosts, carries the bytes.
//!
//! It never asks anything (`BatchMode`), and host keys are its own affair: an unknown one is a failure. A user, host or
//! path that would read as an option is refused.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use diagnostic::{Error, ErrorKind, Result};
use gix::bstr::ByteSlice;
use gix::protocol::transport::Service;
use gix::url::ArgumentSafety;

use crate::access::{KnownHosts, Secret, SecretFile, SshAccess};
use crate::passphrase::Passphrase;
use crate::program::Prepared;

/// Returns what to run to reach a service of the repository behind an address.
pub(crate) fn prepare(
    url: &gix::Url,
    service: Service,
    access: &SshAccess,
    configuration: &gix::Repository,
) -> Result<Prepared> {
    let files = Files::of(access)?;
    // In a batch nobody is asked, and no program is either that knows what the key is locked with.
    let batch = if files.passphrase.is_some() { "BatchMode=no" } else { "BatchMode=yes" };
    let mut options: Vec<OsString> = ["-o", batch, "-o", "SendEnv=GIT_PROTOCOL"].map(OsString::from).to_vec();
    options.extend(trust(&access.hosts, files.hosts.as_ref().map(SecretFile::path))?);
    if let Some(key) = &files.key {
        options.extend([OsString::from("-i"), key.path().into()]);
        options.extend(["-o", "IdentitiesOnly=yes"].map(OsString::from));
    }
    if files.passphrase.is_some() {
        options.extend(["-o", "PreferredAuthentications=publickey"].map(OsString::from));
    }
    let destination = destination(url, service)?;
    let program = configuration.ssh_connect_options().map_err(|error| {
        Error::new(ErrorKind::Unavailable, format!("git's configuration of ssh cannot be read: {error}"))
    })?;
    if !matches!(access.hosts, KnownHosts::Configured | KnownHosts::Unchecked) {
        refuse_trust(program.ssh_command())?;
    }
    let mut command = command(program.ssh_command(), program.disallow_shell);
    command.args(options).args(destination);
    if let Some(passphrase) = &files.passphrase {
        passphrase.give_to(&mut command);
    }
    Ok(Prepared { command, files: Some(files) })
}

/// Temporary files that must exist while ssh runs.
pub(crate) struct Files {
    key: Option<SecretFile>,
    passphrase: Option<Passphrase>,
    hosts: Option<SecretFile>,
}

impl Files {
    fn of(access: &SshAccess) -> Result<Self> {
        let hosts = match &access.hosts {
            KnownHosts::Given(text) => Some(Secret::Value(text.clone()).to_file()?),
            _ => None,
        };
        Ok(Self {
            key: access.key.as_ref().map(Secret::to_file).transpose()?,
            passphrase: access.passphrase.as_ref().map(Passphrase::of).transpose()?,
            hosts,
        })
    }
}

/// Returns what a complaint of ssh's asks of the user.
pub(crate) fn advice(complaint: &str) -> Option<(ErrorKind, &'static str)> {
    // ssh ends with the same code whatever went wrong; these two are its oldest sentences.
    if complaint.contains("Host key verification failed") {
        return Some((
            ErrorKind::Denied,
            "the server's host key is not among the known ones: compare it with what the server's owner says, and add it to known_hosts",
        ));
    }
    complaint
        .contains("Permission denied (")
        .then_some((ErrorKind::Denied, "the server rejects all offered keys"))
}

/// The program: a file, or the command line that `GIT_SSH_COMMAND` and `core.sshCommand` hold.
fn command(program: &OsStr, disallow_shell: bool) -> Command {
    if disallow_shell || !program.as_bytes().contains_str(b" ") {
        return Command::new(program);
    }
    let mut script = OsString::from(program);
    script.push(" \"$@\"");
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).arg(program);
    shell
}

/// Of two options ssh takes the first, so that ours would not count after one in the command line.
fn refuse_trust(program: &OsStr) -> Result<()> {
    let text = program.to_string_lossy().to_ascii_lowercase();
    let trusts = text.split("stricthostkeychecking").skip(1).any(|value| {
        let value = value.trim_start_matches(['=', ' ', '"', '\'']);
        ["no", "off", "accept-new"].iter().any(|trust| value.starts_with(trust))
    });
    if !trusts {
        return Ok(());
    }
    let message =
        "`GIT_SSH_COMMAND` or `core.sshCommand` has ssh take any host key, and host keys are checked here";
    Err(Error::new(ErrorKind::Denied, message)
        .hint("take `StrictHostKeyChecking` out of it, and add the host's key to known_hosts"))
}

/// Returns the host key options of ssh; `given` is a file of the given host keys.
fn trust(hosts: &KnownHosts, given: Option<&Path>) -> Result<Vec<OsString>> {
    let mut options = ["-o", "StrictHostKeyChecking=yes"].map(OsString::from).to_vec();
    let file = match (hosts, given) {
        (KnownHosts::Configured, _) => return Ok(Vec::new()),
        (KnownHosts::Unchecked, _) => {
            let unchecked = [
                "-o",
                "StrictHostKeyChecking=no",
                "-o",
                "UserKnownHostsFile=/dev/null",
                "-o",
                "LogLevel=ERROR",
            ];
            return Ok(unchecked.map(OsString::from).to_vec());
        }
        (KnownHosts::File(path), _) => path,
        (KnownHosts::Given(_), Some(path)) => path,
        (KnownHosts::Strict | KnownHosts::Given(_), _) => return Ok(options),
    };
    options.push("-o".into());
    options.push(known_hosts_option(file)?);
    options.extend(["-o", "GlobalKnownHostsFile=none"].map(OsString::from));
    Ok(options)
}

/// The path as ssh reads it: in quotes, with `%` for itself.
fn known_hosts_option(path: &Path) -> Result<OsString> {
    let unusable = |why: &str| {
        Error::new(ErrorKind::Invalid, format!("the file of known hosts `{}` {why}", path.display()))
    };
    // ssh takes a file that is not there for an empty one.
    let path = path.canonicalize().map_err(|error| unusable(&format!("cannot be read: {error}")))?;
    if path.as_os_str().as_bytes().find_byteset(b"\"\n\\").is_some() {
        return Err(unusable("has a name that ssh cannot be given"));
    }
    let mut option = OsString::from("UserKnownHostsFile=\"");
    option.push(OsStr::from_bytes(&path.as_os_str().as_bytes().replace("%", "%%")));
    option.push("\"");
    Ok(option)
}

fn destination(url: &gix::Url, service: Service) -> Result<Vec<OsString>> {
    let refused = |what: &str, text: &str| {
        Error::new(ErrorKind::Denied, format!("the {what} `{text}` would read as an option of ssh"))
    };
    let host = match url.host_as_argument() {
        ArgumentSafety::Usable(host) => host,
        ArgumentSafety::Dangerous(host) => return Err(refused("host", host)),
        ArgumentSafety::Absent => {
            return Err(Error::new(ErrorKind::Invalid, "the URL lacks a host"));
        }
    };
    let destination = match url.user_as_argument() {
        ArgumentSafety::Usable(user) => format!("{user}@{host}"),
        ArgumentSafety::Dangerous(user) => return Err(refused("user", user)),
        ArgumentSafety::Absent => host.to_owned(),
    };
    let path = gix::url::expand_path::for_shell(url.path.clone());
    if path.starts_with(b"-") {
        return Err(refused("path", &path.to_str_lossy()));
    }
    let mut arguments = Vec::new();
    if let Some(port) = url.port {
        arguments.extend([OsString::from("-p"), port.to_string().into()]);
    }
    let mut remote_command = format!("{} ", service.as_str()).into_bytes();
    remote_command.extend_from_slice(&gix::quote::single(path.as_ref()));
    arguments.extend([destination.into(), OsStr::from_bytes(&remote_command).to_owned()]);
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_that_trusts_any_host_is_refused() {
        for (command, is_refused) in [
            ("ssh", false),
            ("ssh -i key -o StrictHostKeyChecking=yes", false),
            ("ssh -o StrictHostKeyChecking=no", true),
            ("ssh -o 'stricthostkeychecking off'", true),
            ("ssh -oStrictHostKeyChecking=yes -o \"StrictHostKeyChecking = accept-new\"", true),
        ] {
            assert_eq!(refuse_trust(OsStr::new(command)).is_err(), is_refused, "{command}");
        }
    }

    #[test]
    fn a_file_of_known_hosts_is_written_as_ssh_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("a b%h");
        std::fs::write(&path, "").unwrap();
        let option = known_hosts_option(&path).unwrap();
        let want = format!("UserKnownHostsFile=\"{}\"", path.display().to_string().replace('%', "%%"));
        assert_eq!(option, OsString::from(want));
        assert!(known_hosts_option(&folder.path().join("none")).is_err());
        let quoted = folder.path().join("\"");
        std::fs::write(&quoted, "").unwrap();
        assert!(known_hosts_option(&quoted).is_err());
    }
}
