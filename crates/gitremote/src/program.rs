//! git over the standard streams of a program: `ssh`, or git itself for a repository on this machine's disk.

use std::any::Any;
use std::borrow::Cow;
use std::io::{BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use diagnostic::{Error, ErrorKind, Result};
use gix::bstr::BStr;
use gix::protocol::transport::client::blocking_io::{RequestWriter, SetServiceResponse, Transport};
use gix::protocol::transport::client::git::ConnectMode;
use gix::protocol::transport::client::git::blocking_io::Connection;
use gix::protocol::transport::client::{self, MessageKind, TransportWithoutIO, WriteMode};
use gix::protocol::transport::{Protocol, Service};

use crate::session::{Bounded, Session};
use crate::ssh;

/// Maximum length of a program's standard error that is kept.
const MAX_COMPLAINT: usize = 16 << 10;

/// Time it may take after the program has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Variables that a program must not inherit, so that it does not use the caller's repository.
const REPOSITORY_VARIABLES: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
];

/// A program to start, and what must stay while it runs.
pub(crate) struct Prepared {
    pub(crate) command: Command,
    pub(crate) files: Option<ssh::Files>,
}

/// A connection to a service of git's through a program.
pub(crate) struct ProgramTransport {
    connection: Connection<BufReader<Bounded<ChildStdout>>, ChildStdin>,
    url: gix::Url,
    session: Arc<Session>,
    _files: Option<ssh::Files>,
}

/// The last lines of a program's standard error.
pub(crate) struct Complaint {
    said: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

impl ProgramTransport {
    /// Starts the program; with what it will have complained about.
    pub(crate) fn start(
        prepared: Prepared,
        url: &gix::Url,
        session: &Arc<Session>,
    ) -> Result<(Self, Complaint)> {
        let Prepared { mut command, files } = prepared;
        command.env("GIT_PROTOCOL", "version=2");
        for name in REPOSITORY_VARIABLES {
            command.env_remove(name);
        }
        // A group of its own, so that what a shell starts for it ends with it.
        command.process_group(0);
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut program = spawned.map_err(|error| {
            let sentence = format!("`{}` cannot be run: {error}", command.get_program().display());
            Error::new(ErrorKind::Unavailable, sentence)
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
        Ok((Self { connection, url: url.clone(), session: Arc::clone(session), _files: files }, complaint))
    }
}

impl Drop for ProgramTransport {
    fn drop(&mut self) {
        self.session.end_program();
    }
}

impl Complaint {
    pub(crate) fn listen(mut stderr: ChildStderr) -> Self {
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

    /// The last line of it, once the program has ended.
    pub(crate) fn last_line(self) -> Option<String> {
        // A connection that ssh shares between its runs keeps the stream open.
        let _ = self.end.recv_timeout(LAST_WORDS);
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let said = String::from_utf8_lossy(&said);
        said.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    }
}

impl TransportWithoutIO for ProgramTransport {
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

impl Transport for ProgramTransport {
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
