//! Tells a person at a terminal what is waited for. Anybody else hears nothing.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Time before progress is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// Does work that may take long.
pub(crate) fn while_waiting<T>(doing: &str, work: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    let (done, waiting) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if waiting.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                write(&format!("\r\x1b[K{doing}…"));
                // It comes to an end when the work does.
                let _ = waiting.recv();
                write("\r\x1b[K");
            }
        });
        let outcome = work();
        drop(done);
        outcome
    })
}

fn write(text: &str) {
    // Progress that cannot be shown is no loss.
    let _ = io::stderr().write_all(text.as_bytes());
}
