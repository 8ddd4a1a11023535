//! A database with the connections that look, and the thread that drives all of them.

use std::fmt;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use lockscope_runtime::shutdown::CancellationToken;
use lockscope_runtime::{cancel, clock};
use parking_lot::Mutex;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::time::{timeout, timeout_at};
use tokio_postgres::Client;

use crate::connection::Connection;
use crate::error::DatabaseError;
use crate::health::Health;
use crate::target::Target;

/// Connections that look at the same time. Overflow policy: further looks wait, within their bounds.
pub const READERS_MAX: usize = 4;
/// How long a look may take that has no bound of its own.
const READ_MAX: Duration = Duration::from_secs(5);
/// How much later whoever waits gives up by itself, were the thread not to answer.
const GRACE: Duration = Duration::from_millis(500);
/// How long a look that takes too long is given to prove that the database still answers others.
const PROBE_MAX: Duration = Duration::from_secs(2);

pub type Job<'a, T> = BoxFuture<'a, Result<T, DatabaseError>>;

/// A database; cheap to clone. It connects when it is first asked.
#[derive(Clone)]
pub struct Database(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    target: Target,
    /// Taken when this is dropped, wherever that is.
    runtime: Option<Runtime>,
    readers: Semaphore,
    idle: Mutex<Vec<Connection>>,
    pub(crate) health: Health,
    stats: Mutex<DatabaseStats>,
}

/// What happened to a database's connections since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatabaseStats {
    pub connects: u64,
    pub connects_failed: u64,
    /// Looks and writes that took too long.
    pub timeouts: u64,
}

impl Database {
    /// A database that is not connected yet.
    pub fn new(target: Target) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(2)
            .thread_name("postgres")
            .enable_all()
            .build()?;
        Ok(Self(Arc::new(Inner {
            target,
            runtime: Some(runtime),
            readers: Semaphore::new(READERS_MAX),
            idle: Mutex::default(),
            health: Health::default(),
            stats: Mutex::default(),
        })))
    }

    pub fn target(&self) -> &Target {
        &self.0.target
    }

    pub fn stats(&self) -> DatabaseStats {
        *self.0.stats.lock()
    }

    /// Looks at something, until an instant or for [`READ_MAX`], and no longer than somebody waits for it. Blocking; for tasks
    /// there is [`Database::look`].
    ///
    /// # Errors
    /// No connection can be made, it takes too long, or the look failed.
    pub fn read<T, F>(&self, give_up_at: Option<Instant>, job: F) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a Client) -> Job<'a, T> + Send + 'static,
    {
        let until = give_up_at.unwrap_or_else(|| clock::instant() + READ_MAX);
        self.wait(until, Arc::clone(&self.0).read(until, cancel::current(), job))
    }

    /// The same for tasks.
    ///
    /// # Errors
    /// No connection can be made, it takes too long, or the look failed.
    pub async fn look<T, F>(&self, give_up_at: Option<Instant>, job: F) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a Client) -> Job<'a, T> + Send + 'static,
    {
        let until = give_up_at.unwrap_or_else(|| clock::instant() + READ_MAX);
        self.wait_async(Arc::clone(&self.0).read(until, CancellationToken::new(), job)).await
    }

    /// Runs something on our thread, and waits for it.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        until: Instant,
        job: impl Future<Output = Result<T, DatabaseError>> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let Some(runtime) = &self.0.runtime else { return Err(DatabaseError::TooLong) };
        let (sender, receiver) = mpsc::sync_channel(1);
        runtime.spawn(async move {
            // Nobody may wait any more.
            let _ = sender.send(job.await);
        });
        let within = until.saturating_duration_since(clock::instant()) + GRACE;
        receiver.recv_timeout(within).unwrap_or(Err(DatabaseError::TooLong))
    }

    pub(crate) async fn wait_async<T: Send + 'static>(
        &self,
        job: impl Future<Output = Result<T, DatabaseError>> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let Some(runtime) = &self.0.runtime else { return Err(DatabaseError::TooLong) };
        runtime.spawn(job).await.unwrap_or_else(|error| Err(DatabaseError::Failed(error.to_string())))
    }
}

impl Inner {
    pub(crate) async fn connect(&self) -> Result<Connection, DatabaseError> {
        let opened = Connection::open(&self.target).await;
        match &opened {
            Ok(_) => self.stats.lock().connects += 1,
            Err(error) => {
                self.stats.lock().connects_failed += 1;
                self.health.fails(error);
            }
        }
        opened
    }

    async fn read<T, F>(self: Arc<Self>, until: Instant, gone: CancellationToken, job: F) -> Result<T, DatabaseError>
    where
        F: for<'a> FnOnce(&'a Client) -> Job<'a, T> + Send + 'static,
    {
        self.health.check()?;
        let until = tokio::time::Instant::from_std(until);
        let permit = timeout_at(until, gone.run_until_cancelled(self.readers.acquire())).await;
        let Ok(Some(Ok(_permit))) = permit else { return Err(self.too_long()) };
        let connection = match self.idle() {
            Some(connection) => connection,
            None => timeout_at(until, self.connect()).await.unwrap_or_else(|_| Err(self.too_long()))?,
        };
        match timeout_at(until, gone.run_until_cancelled(job(&connection.client))).await {
            Ok(Some(Ok(found))) => {
                self.health.works();
                self.keep(connection);
                Ok(found)
            }
            Ok(Some(Err(error))) => {
                if !error.is_lost() {
                    self.keep(connection);
                }
                Err(error)
            }
            // Nobody waits for it any more, which says nothing about the database.
            Ok(None) => {
                connection.give_up();
                Err(DatabaseError::TooLong)
            }
            Err(_) => Err(self.abandon(connection)),
        }
    }

    fn too_long(&self) -> DatabaseError {
        self.stats.lock().timeouts += 1;
        DatabaseError::TooLong
    }

    /// Ends what took too long, and finds out whether the database answers at all: one that hangs is down, and a look that
    /// was too large is not.
    pub(crate) fn abandon(self: &Arc<Self>, connection: Connection) -> DatabaseError {
        connection.give_up();
        let inner = Arc::clone(self);
        tokio::spawn(async move {
            let probe = timeout(PROBE_MAX, async {
                let connection = inner.connect().await?;
                connection.client.simple_query("SELECT 1").await?;
                Ok(connection)
            });
            let silent = || DatabaseError::Unreachable("the server does not answer".to_owned());
            match probe.await.unwrap_or_else(|_| Err(silent())) {
                Ok(connection) => inner.keep(connection),
                Err(error) => inner.health.fails(&error),
            }
        });
        self.too_long()
    }

    fn idle(&self) -> Option<Connection> {
        let mut idle = self.idle.lock();
        idle.retain(Connection::is_open);
        idle.pop()
    }

    fn keep(&self, connection: Connection) {
        let mut idle = self.idle.lock();
        if connection.is_open() && idle.len() < READERS_MAX {
            idle.push(connection);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // This may be the end of a task, where nobody may wait for threads.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Database({})", self.0.target.shown())
    }
}
