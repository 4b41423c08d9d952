//! Threads to render on: few, with room for deep documents, and not those that answer clients.
//!
//! In: work. Out: what it gives. Work that nobody waits for any more is not begun. A panic is the end of its work only.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use tokio::sync::oneshot;

/// Thirty times what the deepest document needs of a build without optimisation.
const STACK: usize = 64 << 20;

type Job = Box<dyn FnOnce() + Send>;

/// A number of threads, which end when it is dropped.
pub(crate) struct Workers {
    queue: Arc<Queue>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    is_closed: bool,
}

/// The work panicked, or was given up because the workers end.
#[derive(Debug)]
pub(crate) struct Lost;

impl Workers {
    /// # Errors
    /// A thread that cannot be started.
    pub(crate) fn start(count: usize) -> io::Result<Self> {
        let workers = Self { queue: Arc::default() };
        for number in 0..count {
            let queue = Arc::clone(&workers.queue);
            let thread = thread::Builder::new().name(format!("render-{number}")).stack_size(STACK);
            thread.spawn(move || queue.work())?;
        }
        Ok(workers)
    }

    /// Has something done, when there is a thread for it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Lost> {
        let (sender, receiver) = oneshot::channel();
        let job: Job = Box::new(move || {
            if !sender.is_closed() {
                let done: Result<T, Box<dyn Any + Send>> = panic::catch_unwind(AssertUnwindSafe(work));
                let _ = sender.send(done.map_err(|_| Lost));
            }
        });
        self.queue.lock().jobs.push_back(job);
        self.queue.changed.notify_one();
        receiver.await.unwrap_or(Err(Lost))
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.queue.lock().is_closed = true;
        self.queue.changed.notify_all();
    }
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").finish_non_exhaustive()
    }
}

impl Queue {
    fn work(&self) {
        while let Some(job) = self.next() {
            job();
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_ends_only_its_work() {
        let workers = Workers::start(1).unwrap();
        assert!(workers.run(|| panic!("a fault")).await.map(|(): ()| ()).is_err());
        assert_eq!(workers.run(|| 2).await.unwrap(), 2);
    }

    #[tokio::test]
    async fn what_nobody_waits_for_is_not_begun() {
        let workers = Workers::start(1).unwrap();
        let (release, gate) = std::sync::mpsc::channel::<()>();
        let busy = workers.run(move || gate.recv());
        let ran = Arc::new(Mutex::new(false));
        let abandoned = {
            let ran = Arc::clone(&ran);
            workers.run(move || *ran.lock().unwrap() = true)
        };
        tokio::pin!(busy);
        {
            tokio::pin!(abandoned);
            // Both are in the queue once they were polled.
            tokio::select! { biased; _ = &mut busy => {}, _ = &mut abandoned => {}, () = std::future::ready(()) => {} }
        }
        release.send(()).unwrap();
        busy.await.unwrap().unwrap();
        workers.run(|| ()).await.unwrap();
        assert!(!*ran.lock().unwrap());
    }
}
