//! A thread of its own for tasks that hand much to each other: one wakes the next without a switch of threads. It drives
//! the I/O of `zookeeper-client` itself, which is `async-io`'s, and runs what that client spawns; timers and other I/O
//! are those of the Tokio runtime it was started in.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use std::{io, thread};

use spawns_core::{Spawn, Task};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinError, LocalSet, spawn_local};

use super::clock;

type Job = Box<dyn FnOnce() + Send>;

/// The thread as those see it who give it tasks; cheap to clone. It ends when all clones are gone and all its tasks
/// have ended.
#[derive(Clone, Debug)]
pub struct TaskThread(mpsc::UnboundedSender<Job>);

#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    #[error("{0}")]
    Panicked(#[from] JoinError),
    #[error("its thread has ended")]
    NoThread,
}

/// Waits for a task's result. A task goes on when nobody waits for it.
#[derive(Debug)]
pub struct TaskResult<T>(oneshot::Receiver<Result<T, JoinError>>);

impl<T> Future for TaskResult<T> {
    type Output = Result<T, TaskError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|sent| Ok(sent.map_err(|_| TaskError::NoThread)??))
    }
}

impl TaskThread {
    /// Starts a thread, from within a Tokio runtime.
    pub fn start(name: &str) -> io::Result<Self> {
        let (sender, jobs) = mpsc::unbounded_channel();
        let runtime = Handle::current();
        thread::Builder::new().name(name.to_owned()).spawn(move || run(&runtime, jobs))?;
        Ok(Self(sender))
    }

    /// Clones that there are of this thread, this one among them.
    pub(crate) fn clones(&self) -> usize {
        self.0.strong_count()
    }

    pub fn spawn<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> TaskResult<T> {
        let (sender, result) = oneshot::channel();
        let job = move || {
            let task = spawn_local(task);
            spawn_local(async move {
                // Nobody may wait for it.
                let _ = sender.send(task.await);
            });
        };
        // A thread that has ended drops the job, and whoever waits for the result finds that out.
        let _ = self.0.send(Box::new(job));
        TaskResult(result)
    }
}

/// Runs what libraries spawn that know no runtime.
struct LocalSpawner;

impl Spawn for LocalSpawner {
    fn spawn(&self, task: Task) {
        spawn_local(Box::into_pin(task.future));
    }
}

fn run(runtime: &Handle, mut jobs: mpsc::UnboundedReceiver<Job>) {
    let _entered = runtime.enter();
    let _scope = spawns_core::enter(&LocalSpawner);
    let tasks = LocalSet::new();
    async_io::block_on(Moderated::new(tasks.run_until(async move {
        while let Some(job) = jobs.recv().await {
            job();
        }
    })));
    async_io::block_on(Moderated::new(tasks));
}

/// Wakes of the thread that wait for nothing, and how long each further one comes after the one before.
const WAKES_AT_ONCE: u32 = 3;
const WAKES_APART: Duration = Duration::from_micros(1_500);

/// Lets a thread that is woken very often rest before it looks: what arrives meanwhile is handled in one go. A wake
/// costs more than an event, and the kernel keeps what arrives. (Network cards do the same with their interrupts.)
struct Moderated<F> {
    future: Pin<Box<F>>,
    /// When all wakes so far would have been due, had they come [`WAKES_APART`]; no further ahead than
    /// [`WAKES_AT_ONCE`].
    used_until: Instant,
}

impl<F: Future> Moderated<F> {
    fn new(future: F) -> Self {
        Self { future: Box::pin(future), used_until: clock::instant() }
    }
}

impl<F: Future> Future for Moderated<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let now = clock::instant();
        let ahead = self.used_until.saturating_duration_since(now);
        thread::sleep(ahead.saturating_sub(WAKES_APART * (WAKES_AT_ONCE - 1)));
        self.used_until = self.used_until.max(now) + WAKES_APART;
        self.future.as_mut().poll(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn tasks_and_what_they_spawn_run_on_one_thread_that_is_not_the_runtimes() {
        let thread = TaskThread::start("own").unwrap();
        let id = || async { (thread::current().id(), thread::current().name().map(str::to_owned)) };
        let nested = thread.spawn(async move { spawns_core::spawn(id()).await.unwrap() });
        let [first, second, nested] =
            [thread.spawn(id()).await.unwrap(), thread.spawn(id()).await.unwrap(), nested.await.unwrap()];
        assert_eq!((&first, &first), (&second, &nested));
        assert_eq!(first.1.as_deref(), Some("own"));
        assert_ne!(first.0, thread::current().id());
    }

    #[tokio::test]
    async fn a_panic_ends_its_task_alone() {
        let thread = TaskThread::start("own").unwrap();
        let broken = thread.spawn(async { panic!("broke") });
        let error = broken.await.unwrap_err();
        assert!(error.to_string().contains("broke"), "{error}");
        assert_eq!(thread.spawn(async { 7 }).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn a_task_outlives_whoever_gave_it() {
        let (sender, waits) = oneshot::channel::<u8>();
        let result = {
            let thread = TaskThread::start("own").unwrap();
            thread.spawn(async move {
                // Timers are the runtime's.
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                waits.await
            })
        };
        sender.send(7).unwrap();
        assert_eq!(result.await.unwrap(), Ok(7));
    }
}
