//! A program that runs for as long as a test wants it to, logs lines of JSON, and answers on a port of its own.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

/// Maximum number of times something is looked for that is to come about, and how long it is waited between two looks.
const LOOKS: usize = 6_000;
const PAUSE: Duration = Duration::from_millis(10);

/// A daemon that runs; it is killed when it is dropped.
#[derive(Debug)]
pub struct Daemon {
    log: PathBuf,
    child: Child,
}

impl Daemon {
    /// Starts a program, which logs to a file.
    ///
    /// # Panics
    /// If it cannot be run.
    #[must_use]
    pub fn start(mut command: Command, log: &Path) -> Self {
        let file = File::create(log).expect("it can be made");
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).spawn();
        Self { log: log.to_owned(), child: child.expect("it can be run") }
    }

    /// All that it has logged.
    #[must_use]
    pub fn text(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// The lines that it has logged, as far as they are whole.
    ///
    /// # Panics
    /// If one is no JSON.
    #[must_use]
    pub fn log(&self) -> Vec<serde_json::Value> {
        let text = self.text();
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let read = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("it logs no JSON: {text}"));
        whole.lines().map(read).collect()
    }

    /// The most memory that it has had, in MiB.
    ///
    /// # Panics
    /// If it does not run.
    #[must_use]
    pub fn peak_mib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = peak.and_then(|peak| peak.split_whitespace().next()?.parse::<u64>().ok());
        kib.expect("it is a number of KiB") / 1024
    }

    /// Waits until it logs something.
    pub fn says(&self, message: &str) {
        self.waits(message, || self.log().iter().any(|line| line["message"] == message));
    }

    /// Waits for something to come about.
    ///
    /// # Panics
    /// If it does not.
    pub fn waits(&self, what: &str, is_so: impl Fn() -> bool) {
        for _ in 0..LOOKS {
            if is_so() {
                return;
            }
            thread::sleep(PAUSE);
        }
        panic!("{what}: {}", self.text());
    }

    /// Returns what it answers: the status and the body.
    ///
    /// # Panics
    /// If it does not.
    #[must_use]
    pub fn get(&self, path: &str) -> (u16, String) {
        let listens = || self.log().into_iter().find_map(|line| Some(line["address"].as_str()?.to_owned()));
        self.waits("it listens", || listens().is_some());
        let mut stream = TcpStream::connect(listens().expect("it says where")).expect("it listens");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("it is HTTP");
        (head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("it is HTTP"), body.to_owned())
    }

    /// Returns true if a line is among its numbers.
    #[must_use]
    pub fn counts(&self, line: &str) -> bool {
        self.get("/metrics").1.lines().any(|known| known == line)
    }

    /// Sends it a signal.
    ///
    /// # Panics
    /// If it is gone.
    pub fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().expect("there is a shell").success());
    }

    /// Returns how it has ended, if it has.
    ///
    /// # Panics
    /// If that cannot be known.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("it is a child")
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// If it goes on.
    pub fn ends(&mut self) -> ExitStatus {
        for _ in 0..LOOKS {
            if let Some(status) = self.ended() {
                return status;
            }
            thread::sleep(PAUSE);
        }
        panic!("it goes on: {}", self.text());
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
