//! git over ssh: the user's `ssh` program, which knows keys, agents and hosts, carries the bytes.
//!
//! It never asks anything (`BatchMode`), and whom to trust is its own affair: an unknown host key is a failure. A user,
//! host or path that would read as an option is refused.

use std::any::Any;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::{BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use gix::bstr::{BStr, ByteSlice};
use gix::protocol::transport::client::blocking_io::{RequestWriter, SetServiceResponse, Transport};
use gix::protocol::transport::client::git::ConnectMode;
use gix::protocol::transport::client::git::blocking_io::Connection;
use gix::protocol::transport::client::{self, MessageKind, TransportWithoutIO, WriteMode};
use gix::protocol::transport::{Protocol, Service};
use gix::url::ArgumentSafety;
use kustomize::ErrorKind;

use super::failure::{Failure, Result};
use super::session::{Bounded, Session};

/// How much of what ssh says on its standard error is kept.
const MAX_COMPLAINT: usize = 16 << 10;

/// How long it may take after ssh has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What a program must not inherit, so that it does not take the caller's repository for its own.
const REPOSITORY_VARIABLES: &[&str] = &["GIT_DIR", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE"];

/// A connection to `git upload-pack` on the other side.
pub(super) struct SshTransport {
    connection: Connection<BufReader<Bounded<ChildStdout>>, ChildStdin>,
    url: gix::Url,
    session: Arc<Session>,
}

/// What ssh says on its standard error.
pub(super) struct Complaint {
    said: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

impl SshTransport {
    /// Starts ssh; with what it will have complained about.
    pub(super) fn connect(
        url: &gix::Url,
        repository: &gix::Repository,
        session: &Arc<Session>,
    ) -> Result<(Self, Complaint)> {
        let arguments = arguments(url)?;
        let options = repository.ssh_connect_options().map_err(|error| {
            Failure::new(
                ErrorKind::Unavailable,
                format!("git's configuration of ssh cannot be read: {error}"),
            )
        })?;
        let mut command = command(options.ssh_command(), options.disallow_shell);
        command.args(arguments).env("GIT_PROTOCOL", "version=2");
        for name in REPOSITORY_VARIABLES {
            command.env_remove(name);
        }
        // A group of its own, so that what a shell starts for it ends with it.
        command.process_group(0);
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut program = spawned.map_err(|error| {
            let sentence = format!("`{}` cannot be run: {error}", options.ssh_command().display());
            Failure::new(ErrorKind::Unavailable, sentence)
        })?;
        let piped = "all three were asked for";
        let (stdin, stdout) = (program.stdin.take().expect(piped), program.stdout.take().expect(piped));
        let complaint = Complaint::listen(program.stderr.take().expect(piped));
        session.adopt(program);
        let connection = Connection::new(
            BufReader::new(Bounded::new(stdout, session)),
            stdin,
            Protocol::V2,
            url.path.clone(),
            None::<(&str, _)>,
            ConnectMode::Process,
            false,
        );
        Ok((Self { connection, url: url.clone(), session: Arc::clone(session) }, complaint))
    }
}

impl Drop for SshTransport {
    fn drop(&mut self) {
        self.session.end_program();
    }
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

fn arguments(url: &gix::Url) -> Result<Vec<OsString>> {
    let refused = |what: &str, text: &str| {
        Failure::new(ErrorKind::Denied, format!("the {what} `{text}` would read as an option of ssh"))
    };
    let host = match url.host_as_argument() {
        ArgumentSafety::Usable(host) => host,
        ArgumentSafety::Dangerous(host) => return Err(refused("host", host)),
        ArgumentSafety::Absent => {
            return Err(Failure::new(ErrorKind::Invalid, "the address has no host"));
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
    let mut arguments: Vec<OsString> =
        ["-o", "BatchMode=yes", "-o", "SendEnv=GIT_PROTOCOL"].map(OsString::from).to_vec();
    if let Some(port) = url.port {
        arguments.extend([OsString::from("-p"), port.to_string().into()]);
    }
    let mut remote_command = b"git-upload-pack ".to_vec();
    remote_command.extend_from_slice(&gix::quote::single(path.as_ref()));
    arguments.extend([destination.into(), OsStr::from_bytes(&remote_command).to_owned()]);
    Ok(arguments)
}

impl Complaint {
    fn listen(mut stderr: ChildStderr) -> Self {
        let said = Arc::new(Mutex::new(Vec::new()));
        let (ended, end) = channel();
        let heard = Arc::clone(&said);
        thread::spawn(move || {
            let mut chunk = [0; 1024];
            while let Ok(count @ 1..) = stderr.read(&mut chunk) {
                let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                let room = MAX_COMPLAINT.saturating_sub(heard.len());
                heard.extend_from_slice(&chunk[..count.min(room)]);
            }
            // Nobody may be waiting for it.
            let _ = ended.send(());
        });
        Self { said, end }
    }

    /// The last line of it, once ssh has ended.
    pub(super) fn last_line(self) -> Option<String> {
        // A connection that ssh shares between its runs keeps the stream open.
        let _ = self.end.recv_timeout(LAST_WORDS);
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let said = String::from_utf8_lossy(&said);
        said.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    }
}

impl TransportWithoutIO for SshTransport {
    fn to_url(&self) -> Cow<'_, BStr> {
        Cow::Owned(self.url.to_bstring())
    }

    fn connection_persists_across_multiple_requests(&self) -> bool {
        true
    }

    fn configure(&mut self, _: &dyn Any) -> gix::Result<()> {
        Ok(())
    }
}

impl Transport for SshTransport {
    fn handshake<'a>(
        &mut self,
        service: Service,
        extra_parameters: &'a [(&'a str, Option<&'a str>)],
    ) -> Result<SetServiceResponse<'_>, client::Error> {
        self.connection.handshake(service, extra_parameters)
    }

    fn request(
        &mut self,
        write_mode: WriteMode,
        on_into_read: MessageKind,
        trace: bool,
    ) -> Result<RequestWriter<'_>, client::Error> {
        self.connection.request(write_mode, on_into_read, trace)
    }
}
