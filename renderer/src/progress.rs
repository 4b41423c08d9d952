//! Tells a person at a terminal how far a long run is. Anybody else hears nothing.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::output;

/// Time before progress is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// A line on the terminal that is rewritten as targets are done.
#[derive(Debug)]
pub(crate) struct Progress {
    total: usize,
    done: usize,
    started: Instant,
    /// The number on the line, while there is one.
    shown: Option<usize>,
    terminal: bool,
}

/// Does work that may take long, and says to a person at a terminal what is waited for.
pub(crate) fn while_waiting<T>(doing: &str, work: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    let (done, waiting) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if waiting.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                output::to_stderr(&format!("\r\x1b[K{doing}…"));
                // It comes to an end when the work does.
                let _ = waiting.recv();
                output::to_stderr("\r\x1b[K");
            }
        });
        let outcome = work();
        drop(done);
        outcome
    })
}

impl Progress {
    pub(crate) fn new(total: usize) -> Self {
        Self { total, done: 0, started: Instant::now(), shown: None, terminal: io::stderr().is_terminal() }
    }

    /// Another target is done.
    pub(crate) fn advance(&mut self) {
        self.done += 1;
    }

    /// Shows how far it is.
    pub(crate) fn show(&mut self) {
        if self.terminal && self.shown != Some(self.done) && self.started.elapsed() >= PATIENCE {
            self.shown = Some(self.done);
            self.write(&format!("\r\x1b[K{} of {} targets", self.done, self.total));
        }
    }

    /// Frees the line for something else.
    pub(crate) fn clear(&mut self) {
        if self.shown.take().is_some() {
            self.write("\r\x1b[K");
        }
    }

    fn write(&self, text: &str) {
        // Progress that cannot be shown is no loss.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}
