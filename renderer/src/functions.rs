//! Runs the functions that a kustomization names: programs that read a `ResourceList` and print one.
//!
//! In: a program, its arguments and its input. Out: what it printed. It refuses a program that fails, prints too much
//! or takes too long; what the program said on its standard error comes with the refusal.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use kustomize::{Function, FunctionRunner};

/// A function that downloads or compiles something may be slow; one that takes longer hangs.
const TIMEOUT: Duration = Duration::from_secs(300);

/// As much as the largest file that a build may load.
const MAX_OUTPUT: u64 = vfs::MAX_FILE_SIZE;

/// Maximum length of standard error that is kept: enough for a stack trace.
const MAX_COMPLAINT: u64 = 64 << 10;

/// Runs functions as programs of this machine.
#[derive(Clone, Copy, Debug)]
pub struct Programs {
    timeout: Duration,
    max_output: u64,
}

impl Default for Programs {
    fn default() -> Self {
        Self { timeout: TIMEOUT, max_output: MAX_OUTPUT }
    }
}

impl FunctionRunner for Programs {
    fn run(&self, function: &Function<'_>) -> Result<String, String> {
        self.pipe("function", function)
    }
}

impl Programs {
    /// Runs a program that is `what` to the user.
    ///
    /// # Errors
    /// A sentence for the user, with what the program wrote to its standard error.
    pub(crate) fn pipe(&self, what: &str, program: &Function<'_>) -> Result<String, String> {
        let shown = program.program.display();
        let child = spawn(program).map_err(|error| format!("cannot run the {what} `{shown}`: {error}"))?;
        let finished = self.finish(child, program.input.as_bytes().to_vec());
        let Finished { status, output, complaint } =
            finished.map_err(|sentence| format!("the {what} `{shown}` {sentence}"))?;
        if !status.success() {
            return Err(with_complaint(&format!("the {what} `{shown}` failed: {status}"), &complaint));
        }
        String::from_utf8(output).map_err(|_| format!("the {what} `{shown}` printed what is not UTF-8"))
    }
}

/// A program that came to its end.
struct Finished {
    status: ExitStatus,
    output: Vec<u8>,
    complaint: Vec<u8>,
}

fn spawn(function: &Function<'_>) -> io::Result<Child> {
    // Whether a relative program is looked up before or after the change of folder depends on the platform.
    let program = if function.program.components().count() > 1 {
        function.directory.join(function.program)
    } else {
        PathBuf::from(function.program)
    };
    Command::new(program)
        .args(function.arguments)
        .envs(function.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(function.directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

impl Programs {
    /// Feeds the program and reads from it side by side, so that no pipe fills up.
    fn finish(&self, mut child: Child, input: Vec<u8>) -> Result<Finished, String> {
        let deadline = Instant::now() + self.timeout;
        if let Some(mut stdin) = child.stdin.take() {
            // A program need not read its input to the end; if that was a fault, its exit status says so.
            thread::spawn(move || stdin.write_all(&input));
        }
        let output = collect(child.stdout.take(), self.max_output);
        let complaint = collect(child.stderr.take(), MAX_COMPLAINT);
        let finished = self.await_end(&mut child, &output, &complaint, deadline);
        if finished.is_err() {
            // It may have ended by itself in the meantime.
            let _ = child.kill();
            let _ = child.wait();
        }
        finished
    }

    fn await_end(
        &self,
        child: &mut Child,
        output: &Receiver<io::Result<Vec<u8>>>,
        complaint: &Receiver<io::Result<Vec<u8>>>,
        deadline: Instant,
    ) -> Result<Finished, String> {
        let late = || format!("did not end within {} seconds", self.timeout.as_secs());
        let receive = |from: &Receiver<io::Result<Vec<u8>>>| match from
            .recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(error)) => Err(format!("cannot be read from: {error}")),
            Err(RecvTimeoutError::Timeout) => Err(late()),
            Err(RecvTimeoutError::Disconnected) => Ok(Vec::new()),
        };
        let output = receive(output)?;
        if output.len() as u64 > self.max_output {
            return Err(format!("printed more than {} MiB", self.max_output >> 20));
        }
        let complaint = receive(complaint)?;
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(Finished { status, output, complaint }),
                Ok(None) if Instant::now() >= deadline => return Err(late()),
                // It closed both its outputs, so its end is near.
                Ok(None) => thread::sleep(Duration::from_millis(1)),
                Err(error) => return Err(format!("cannot be waited for: {error}")),
            }
        }
    }
}

/// Reads a stream on a thread of its own, one byte beyond the limit at most.
///
/// The thread is not joined: it ends with the stream, which a grandchild may hold open after the program was killed.
fn collect(stream: Option<impl Read + Send + 'static>, limit: u64) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = channel();
    if let Some(stream) = stream {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stream.take(limit + 1).read_to_end(&mut bytes);
            // Nobody listens any more where the other stream was at fault.
            let _ = sender.send(read.map(|_| bytes));
        });
    }
    receiver
}

fn with_complaint(sentence: &str, complaint: &[u8]) -> String {
    let complaint = String::from_utf8_lossy(complaint);
    let complaint = complaint.trim();
    if complaint.is_empty() { sentence.to_owned() } else { format!("{sentence}\n{complaint}") }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn run(programs: Programs, script: &str, input: &str) -> Result<String, String> {
        let function = Function {
            program: Path::new("/bin/sh"),
            arguments: &["-c".to_owned(), script.to_owned()],
            environment: &[("GREETING".to_owned(), "hello".to_owned())],
            directory: Path::new("/tmp"),
            input,
        };
        programs.run(&function)
    }

    #[test]
    fn a_function_has_its_input_folder_and_environment() {
        let printed = run(Programs::default(), "cat; echo $GREETING; pwd -P >&2", "in\n");
        assert_eq!(printed.unwrap(), "in\nhello\n");
    }

    #[test]
    fn streams_are_moved_side_by_side() {
        // Each is larger than a pipe holds.
        let input = "x".repeat(1 << 20);
        let printed = run(Programs::default(), "cat; head -c 60000 /dev/zero >&2", &input);
        assert_eq!(printed.unwrap().len(), input.len());
        // An input that is not read is no fault.
        assert_eq!(run(Programs::default(), "echo done", &input).unwrap(), "done\n");
    }

    #[test]
    fn a_failure_comes_with_what_the_function_said() {
        let error = run(Programs::default(), "echo partial; echo no such field >&2; exit 3", "").unwrap_err();
        assert_eq!(error, "the function `/bin/sh` failed: exit status: 3\nno such field");
    }

    #[test]
    fn a_missing_program_is_named() {
        let function = Function {
            program: Path::new("./nothing"),
            arguments: &[],
            environment: &[],
            directory: Path::new("/tmp"),
            input: "",
        };
        let error = Programs::default().run(&function).unwrap_err();
        assert!(error.starts_with("cannot run the function `./nothing`: "), "{error}");
    }

    #[test]
    fn time_and_output_are_bounded() {
        let hasty = Programs { timeout: Duration::from_millis(100), ..Programs::default() };
        let started = Instant::now();
        let error = run(hasty, "sleep 30", "").unwrap_err();
        assert!(error.contains("did not end within"), "{error}");
        // The grandchild keeps the pipes open; nobody waits for it.
        let error = run(hasty, "sleep 30 & wait", "").unwrap_err();
        assert!(error.contains("did not end within"), "{error}");
        assert!(started.elapsed() < Duration::from_secs(10));
        let sparing = Programs { max_output: 1 << 20, ..Programs::default() };
        let error = run(sparing, "cat /dev/zero", "").unwrap_err();
        assert!(error.contains("printed more than 1 MiB"), "{error}");
    }
}
