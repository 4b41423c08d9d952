//! One exchange with a server: how long it may last, how much may come, and how it is ended from outside.

use std::io::{self, BufRead, Read};
use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use diagnostic::{Error, ErrorKind, Result};
use rustix::process::{Pid, Signal, kill_process_group};

/// More than the packs of all but a handful of repositories at depth one.
const MAX_RECEIVED: u64 = 2 << 30;

/// A longer timeout than this is none.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// An exchange that is going on.
#[derive(Debug)]
pub(crate) struct Session {
    timeout: Duration,
    deadline: Instant,
    /// Number of bytes that may still be read.
    budget: AtomicU64,
    /// Looked at by what works on received data.
    pub(crate) stopped: AtomicBool,
    program: Mutex<Option<Child>>,
}

impl Session {
    /// Does work that talks to a server on a thread of its own, and returns when it is done or the time is over.
    pub(crate) fn run<T: Send + 'static>(
        timeout: Duration,
        work: impl FnOnce(&Arc<Session>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let session = Arc::new(Self::new(timeout.min(MAX_TIMEOUT), MAX_RECEIVED));
        let (sender, receiver) = channel();
        let of_worker = Arc::clone(&session);
        let worker = thread::Builder::new().name("git".to_owned()).spawn(move || {
            // Nobody listens any more where the time is over.
            let _ = sender.send(work(&of_worker));
        });
        let worker = worker.map_err(|error| {
            Error::new(ErrorKind::Unavailable, format!("a thread cannot be started: {error}"))
        })?;
        match receiver.recv_timeout(session.timeout) {
            Ok(outcome) => outcome,
            Err(RecvTimeoutError::Timeout) => {
                session.stop();
                Err(crate::error::timed_out(session.timeout))
            }
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => Err(crate::error::timed_out(session.timeout)),
            },
        }
    }

    fn new(timeout: Duration, budget: u64) -> Self {
        Self {
            timeout,
            deadline: Instant::now() + timeout,
            budget: AtomicU64::new(budget),
            stopped: AtomicBool::new(false),
            program: Mutex::new(None),
        }
    }

    /// Returns how much time is left.
    pub(crate) fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Takes charge of a program that talks to the server and leads a group of processes.
    pub(crate) fn adopt(&self, program: Child) {
        let mut adopted = self.program.lock().unwrap_or_else(PoisonError::into_inner);
        end(adopted.replace(program));
        if self.stopped.load(Ordering::Relaxed) {
            end(adopted.take());
        }
    }

    /// Ends the program that talks to the server.
    pub(crate) fn end_program(&self) {
        end(self.program.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.end_program();
    }

    /// Why the session itself made its work fail, if it did.
    pub(crate) fn failure(&self) -> Option<Error> {
        if self.time_left().is_zero() {
            return Some(crate::error::timed_out(self.timeout));
        }
        (self.budget.load(Ordering::Relaxed) == 0).then(|| {
            let reason = format!("the server sends more than {} MiB", MAX_RECEIVED >> 20);
            Error::new(ErrorKind::Limit, reason)
        })
    }

    fn spend(&self, count: usize) {
        let spent = |left: u64| Some(left.saturating_sub(count as u64));
        let _ = self.budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spent);
    }

    fn check(&self) -> io::Result<()> {
        if self.stopped.load(Ordering::Relaxed) || self.failure().is_some() {
            return Err(io::Error::other("the exchange was ended"));
        }
        Ok(())
    }
}

/// Ends a program that leads a group of processes, with all of them.
fn end(program: Option<Child>) {
    if let Some(mut program) = program {
        // It may have ended by itself; until it is waited for, its number is no other's.
        let _ = kill_process_group(Pid::from_child(&program), Signal::KILL);
        let _ = program.wait();
    }
}

/// A reader that is limited by the session.
pub(crate) struct Bounded<R> {
    inner: R,
    session: Arc<Session>,
}

impl<R> Bounded<R> {
    pub(crate) fn new(inner: R, session: &Arc<Session>) -> Self {
        Self { inner, session: Arc::clone(session) }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.session.check()?;
        let count = self.inner.read(buffer)?;
        self.session.spend(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Bounded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.session.check()?;
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.session.spend(count);
        self.inner.consume(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_told_when_the_time_is_over() {
        let started = Instant::now();
        let outcome = Session::run(Duration::from_millis(50), |session| {
            while !session.stopped.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(5));
            }
            Ok(())
        });
        assert!(outcome.unwrap_err().kind() == ErrorKind::TimedOut);
        assert!(started.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn reading_ends_where_the_budget_does() {
        let session = Arc::new(Session::new(Duration::from_secs(60), 100));
        let mut endless = Bounded::new(io::repeat(7), &session);
        let mut chunk = [0; 40];
        let reads = (0..10).take_while(|_| endless.read(&mut chunk).is_ok()).count();
        assert_eq!(reads, 3);
        assert_eq!(session.failure().unwrap().kind(), ErrorKind::Limit);
    }

    #[test]
    fn an_endless_timeout_is_no_overflow() {
        assert_eq!(Session::run(Duration::MAX, |_| Ok(7)).unwrap(), 7);
    }
}
