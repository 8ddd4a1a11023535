//! Task threads for many groups of tasks: each group has a thread of its own while there are few, and shares one with as
//! few others as possible when there are many. A thread costs little while it sleeps, but each that wakes costs a switch,
//! and a thousand that wake four times a second would do nothing else.

use std::io;

use super::task_thread::TaskThread;

/// Threads at most. Overflow policy: further groups share.
pub const THREADS_MAX: usize = 16;

/// The threads; they end when all tasks on them have ended and this is dropped.
#[derive(Debug)]
pub struct TaskThreads {
    name: &'static str,
    threads: Vec<TaskThread>,
}

impl TaskThreads {
    pub fn new(name: &'static str) -> Self {
        Self { name, threads: Vec::new() }
    }

    /// A thread for another group, from within a Tokio runtime. The group counts as long as it keeps a clone.
    ///
    /// # Errors
    /// When the system gives no thread and there is none yet.
    pub fn place(&mut self) -> io::Result<TaskThread> {
        let has_free = self.threads.iter().any(|thread| thread.clones() == 1);
        if !has_free && self.threads.len() < THREADS_MAX {
            match TaskThread::start(self.name) {
                Ok(thread) => self.threads.push(thread),
                Err(error) if self.threads.is_empty() => return Err(error),
                Err(error) => tracing::warn!(%error, "no further thread; tasks share those there are"),
            }
        }
        let least = self.threads.iter().min_by_key(|thread| thread.clones());
        least.cloned().ok_or_else(|| io::Error::other("there is no thread"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn few_have_a_thread_each_and_many_share_evenly() {
        let mut threads = TaskThreads::new("many");
        let few: Vec<_> = (0..THREADS_MAX).map(|_| threads.place().unwrap()).collect();
        assert!(threads.threads.len() == THREADS_MAX && few.iter().all(|thread| thread.clones() == 2));
        let many: Vec<_> = (0..THREADS_MAX * 3).map(|_| threads.place().unwrap()).collect();
        assert!(threads.threads.len() == THREADS_MAX && many.iter().all(|thread| thread.clones() == 5));
        drop((few, many));
        let again = threads.place().unwrap();
        assert_eq!((threads.threads.len(), again.clones()), (THREADS_MAX, 2));
    }
}
