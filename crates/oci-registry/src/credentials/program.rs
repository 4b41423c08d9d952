//! Programs that give credentials. In: a command and what it reads. Out: what it wrote. It ends a program that takes
//! too long or writes too much, with all that it started; what it wrote is never part of a message.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, SystemTime};

use diagnostic::{Error, ErrorKind, Result};
use rustix::process::{Pid, Signal, kill_process_group};

use super::memo::{Given, Memo};
use super::{Credential, CredentialSource, LIFETIME};

/// A token is a few thousand bytes.
const MAX_OUTPUT: u64 = 1 << 18;

/// Time limit of programs without their own; a cloud's may ask two servers.
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);

/// A program that writes `user:password`.
#[derive(Debug)]
pub struct CredentialProgram {
    program: OsString,
    arguments: Vec<OsString>,
    timeout: Duration,
    lifetime: Duration,
    memo: Memo<Credential>,
}

impl CredentialProgram {
    /// A program with its arguments; no shell is between.
    #[must_use]
    pub fn new(program: impl Into<OsString>, arguments: Vec<OsString>) -> Self {
        Self {
            program: program.into(),
            arguments,
            timeout: TIMEOUT,
            lifetime: LIFETIME,
            memo: Memo::default(),
        }
    }

    /// Ends the program after some time.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Uses what the program gave for some time.
    #[must_use]
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }
}

impl CredentialSource for CredentialProgram {
    fn find(&self, _: &str, _: &str) -> Result<Option<Credential>> {
        let now = SystemTime::now();
        let ask = || {
            let written = run(&self.program, &self.arguments, b"", self.timeout)?;
            let credential = Credential::parse(&String::from_utf8_lossy(&written.stdout));
            match credential {
                Some(value) if written.succeeded => {
                    Ok(Given { value, until: now.checked_add(self.lifetime) })
                }
                None if written.succeeded => Err(failed(&self.program, "it writes no `user:password`")),
                _ => Err(failed(&self.program, "it reports a failure")),
            }
        };
        self.memo.get("", now, ask).map(Some)
    }

    fn forget(&self, refused: &Credential) {
        self.memo.forget(|known| known == refused);
    }
}

/// The output of a program.
pub(super) struct Written {
    pub(super) stdout: Vec<u8>,
    pub(super) succeeded: bool,
}

/// Runs a program to its end.
pub(super) fn run(
    program: &OsStr,
    arguments: &[impl AsRef<OsStr>],
    input: &[u8],
    timeout: Duration,
) -> Result<Written> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // Where a script is traced, it shows what it must not.
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| failed(program, &format!("it cannot be run: {error}")))?;
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(failed(program, "its standard input and output are not connected"));
    };
    let input = input.to_owned();
    // The program may not want it.
    thread::spawn(move || drop(stdin.write_all(&input)));
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut output = Vec::new();
        let outcome = stdout.take(MAX_OUTPUT + 1).read_to_end(&mut output);
        // Nobody listens any more where the time is over.
        let _ = sender.send(outcome.map(|_| output));
    });
    let outcome = receiver.recv_timeout(timeout);
    let Ok(Ok(stdout)) = outcome else {
        end(&mut child);
        return Err(failed(program, &format!("it does not end within {timeout:?}")));
    };
    if stdout.len() as u64 > MAX_OUTPUT {
        end(&mut child);
        return Err(failed(program, "it writes too much"));
    }
    wait(&mut child, timeout).map_or_else(
        || Err(failed(program, &format!("it does not end within {timeout:?}"))),
        |succeeded| Ok(Written { stdout, succeeded }),
    )
}

/// Returns whether a program that has written all succeeded; nothing where it does not end.
fn wait(child: &mut Child, timeout: Duration) -> Option<bool> {
    const STEP: Duration = Duration::from_millis(5);
    let steps = timeout.as_millis() / STEP.as_millis() + 1;
    for _ in 0..steps {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) => thread::sleep(STEP),
            Err(_) => break,
        }
    }
    end(child);
    None
}

fn end(child: &mut Child) {
    // It may have ended by itself; until it is waited for, its number is no other's.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.wait();
}

/// The program behind a helper of Docker's, as it is named in a configuration.
pub(super) fn helper(name: &str) -> Option<OsString> {
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    is_name.then(|| OsString::from(format!("docker-credential-{name}")))
}

pub(super) fn failed(program: &OsStr, reason: &str) -> Error {
    let shown = program.to_string_lossy();
    Error::new(
        ErrorKind::Credentials,
        format!("cannot read credentials from the program `{shown}`: {reason}"),
    )
    .hint("run it by hand to see what is wrong")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> CredentialProgram {
        CredentialProgram::new("/bin/sh", vec!["-c".into(), script.into()])
    }

    #[test]
    fn a_program_gives_user_and_password() {
        let found = shell("echo AWS:to:ken").find("h", "").unwrap();
        assert_eq!(found, Some(Credential::basic("AWS", "to:ken")));
    }

    #[test]
    fn a_program_that_fails_shows_nothing_of_what_it_wrote() {
        for script in
            ["echo u:s3cret; exit 3", "echo s3cret", "yes s3cret:x", "echo u:s3cret; exec >&-; sleep 60"]
        {
            let error = shell(script).timeout(Duration::from_millis(200)).find("h", "").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Credentials);
            assert!(!error.message().contains("s3cret"), "{error}");
        }
        let error = shell("sleep 60").timeout(Duration::from_millis(50)).find("h", "").unwrap_err();
        assert!(error.message().ends_with("it does not end within 50ms"), "{error}");
        let missing = CredentialProgram::new("/nonexistent/program", Vec::new());
        assert!(missing.find("h", "").is_err());
    }
}
