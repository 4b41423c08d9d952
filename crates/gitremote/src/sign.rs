//! Signatures of commits, as `git commit -S` has them made: by `ssh-keygen` or by `gpg`.
//!
//! In: the bytes of a commit. Out: an armoured signature for its `gpgsig` header. Nobody is asked for a passphrase; a
//! program that asks or hangs is ended. Secrets reach programs in files that only their user can read.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use diagnostic::{Error, ErrorKind, Result};

use crate::access::Secret;
use crate::passphrase::Passphrase;
use crate::program::Complaint;
use crate::session::Session;

/// Nobody waits at a terminal, and a key on a stick that wants to be touched is no key for a program.
const TIMEOUT: Duration = Duration::from_secs(30);

/// An RSA key of 16,384 bits signs in a fifth of it.
const MAX_SIGNATURE: u64 = 16 << 10;

/// Signs commits.
pub trait Sign: Send + Sync {
    /// The armoured signature of a commit's bytes.
    ///
    /// # Errors
    /// If there is no key, or it does not sign.
    fn sign(&self, payload: &[u8]) -> Result<String>;
}

/// Signs with an ssh key.
#[derive(Clone, Debug)]
pub struct SshSigner {
    /// `ssh-keygen`.
    pub program: PathBuf,
    /// The private key; the public one where an agent has the other.
    pub key: Secret,
    /// The passphrase, where the key has one.
    pub passphrase: Option<Secret>,
}

/// Signs with an OpenPGP key.
#[derive(Clone, Debug)]
pub struct GpgSigner {
    /// `gpg`.
    pub program: PathBuf,
    /// Which key of the keyring: its fingerprint, or a user's name.
    pub key: String,
    /// The directory of the keyring, if not the default.
    pub home: Option<PathBuf>,
    /// The passphrase, where the key has one.
    pub passphrase: Option<Secret>,
}

impl SshSigner {
    /// With the machine's `ssh-keygen`.
    #[must_use]
    pub fn new(key: Secret) -> Self {
        Self { program: "ssh-keygen".into(), key, passphrase: None }
    }
}

impl GpgSigner {
    /// With the machine's `gpg` and a key of its keyring.
    #[must_use]
    pub fn new(key: impl Into<String>) -> Self {
        Self { program: "gpg".into(), key: key.into(), home: None, passphrase: None }
    }
}

impl Sign for SshSigner {
    fn sign(&self, payload: &[u8]) -> Result<String> {
        let key = self.key.to_file()?;
        let mut command = Command::new(&self.program);
        command.args(["-Y", "sign", "-n", "git", "-f"]).arg(key.path());
        let passphrase = self.passphrase.as_ref().map(Passphrase::of).transpose()?;
        match &passphrase {
            Some(passphrase) => passphrase.give_to(&mut command),
            // It would ask for a passphrase at the terminal.
            None => drop(command.env("SSH_ASKPASS_REQUIRE", "force").env("SSH_ASKPASS", "false")),
        }
        run(command, payload, "-----BEGIN SSH SIGNATURE-----")
    }
}

impl Sign for GpgSigner {
    fn sign(&self, payload: &[u8]) -> Result<String> {
        let passphrase = self.passphrase.as_ref().map(Secret::to_file).transpose()?;
        let mut command = Command::new(&self.program);
        command.args(["--batch", "--no-tty"]);
        if let Some(home) = &self.home {
            command.arg("--homedir").arg(home);
        }
        match &passphrase {
            Some(file) => command.args(["--pinentry-mode", "loopback", "--passphrase-file"]).arg(file.path()),
            None => command.args(["--pinentry-mode", "error"]),
        };
        command.args(["--armor", "--detach-sign", "--local-user", &self.key]);
        run(command, payload, "-----BEGIN PGP SIGNATURE-----")
    }
}

/// Returns what a program makes of the payload, where that begins as a signature does.
fn run(command: Command, payload: &[u8], begin: &'static str) -> Result<String> {
    let program = command.get_program().display().to_string();
    let is_signature = move |text: &str| text.starts_with(begin) && text.trim_end().ends_with("-----");
    let signed = output(command, payload, is_signature);
    signed.map_err(|error| error.prefix(format!("a commit cannot be signed by `{program}`")))
}

/// Returns what a program says about an input, where that is accepted.
pub(crate) fn output(
    command: Command,
    input: &[u8],
    accepts: impl Fn(&str) -> bool + Send + 'static,
) -> Result<String> {
    let input = input.to_vec();
    Session::run(TIMEOUT, move |session| talk(command, &input, accepts, session))
}

fn talk(
    mut command: Command,
    payload: &[u8],
    accepts: impl Fn(&str) -> bool,
    session: &Arc<Session>,
) -> Result<String> {
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |error: std::io::Error| Error::new(ErrorKind::Unavailable, error.to_string());
    let mut program = command.spawn().map_err(failed)?;
    let piped = "all three were asked for";
    let (mut input, output) = (program.stdin.take().expect(piped), program.stdout.take().expect(piped));
    let complaint = Complaint::listen(program.stderr.take().expect(piped));
    session.adopt(program);
    // One that has no key does not read, and says so.
    let _ = input.write_all(payload);
    drop(input);
    let mut signature = String::new();
    let read = output.take(MAX_SIGNATURE).read_to_string(&mut signature);
    if read.is_ok() && accepts(&signature) {
        session.end_program();
        return Ok(signature);
    }
    let reason = complaint.last_line().unwrap_or_else(|| "it gives no signature".to_owned());
    session.end_program();
    Err(Error::new(ErrorKind::Unavailable, reason)
        .hint("check the key, and that it needs no passphrase that nobody gives"))
}
