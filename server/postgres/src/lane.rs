//! A connection that writes, for one at a time. It holds locks of the database as long as it lives, so that what it writes
//! is written under them: a lock that was lost with a connection is lost for whoever writes by it.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use lockscope_runtime::clock;
use tokio::sync::Mutex;
use tokio::time::timeout_at;
use tokio_postgres::Client;

use crate::connection::Connection;
use crate::database::{Database, Inner, Job};
use crate::error::DatabaseError;

pub const WRITE_MAX: Duration = Duration::from_secs(8);

/// A connection that writes; made anew when it is lost. Cheap to clone.
#[derive(Clone)]
pub struct Lane {
    database: Database,
    slot: Arc<Mutex<Slot>>,
}

#[derive(Default)]
struct Slot {
    session: Option<Session>,
    /// Sessions so far.
    number: u64,
}

/// A connection, and the locks that it holds.
pub struct Session {
    connection: Connection,
    /// Of the sessions of its lane, which.
    number: u64,
    /// By key: who holds them here.
    held: HashMap<i64, u64>,
    /// After so long without a word the server ends it where it holds locks.
    silence: Duration,
}

impl Session {
    pub fn client(&mut self) -> &mut Client {
        &mut self.connection.client
    }

    /// Which session of its lane this is: what was prepared on another one is not there.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Takes a lock for somebody, where nobody else has it, here or on another connection. It is held until the session
    /// ends, or it is given back. From then on the session ends when nothing comes of this process for as long as its target
    /// says, where the server is one of version 14 or newer.
    pub async fn lock(&mut self, key: i64, whose: u64) -> Result<bool, DatabaseError> {
        if let Some(holder) = self.held.get(&key) {
            return Ok(*holder == whose);
        }
        if self.held.is_empty() {
            self.connection.bound_silence(self.silence).await?;
        }
        let row = self.connection.client.query_one("SELECT pg_try_advisory_lock($1)", &[&key]).await?;
        let is_ours: bool = row.try_get(0)?;
        if is_ours {
            self.held.insert(key, whose);
        }
        Ok(is_ours)
    }

    pub fn holds(&self, key: i64, whose: u64) -> bool {
        self.held.get(&key) == Some(&whose)
    }

    /// Gives a lock back.
    pub async fn unlock(&mut self, key: i64, whose: u64) -> Result<(), DatabaseError> {
        if self.held.get(&key) == Some(&whose) {
            self.connection.client.execute("SELECT pg_advisory_unlock($1)", &[&key]).await?;
            self.held.remove(&key);
        }
        Ok(())
    }
}

impl Database {
    pub fn lane(&self) -> Lane {
        Lane { database: self.clone(), slot: Arc::default() }
    }
}

impl Lane {
    /// Writes something within a time, as [`WRITE_MAX`]. Blocking; for tasks there is [`Lane::run`].
    ///
    /// # Errors
    /// No connection can be made, it takes too long, or the write failed. Whether it was done is not known unless all of it
    /// was one transaction that failed.
    pub fn write<T, F>(&self, within: Duration, job: F) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a mut Session) -> Job<'a, T> + Send + 'static,
    {
        let until = clock::instant() + within;
        self.database.wait(until, self.clone().under_way(until, job))
    }

    /// The same for tasks, within [`WRITE_MAX`].
    pub async fn run<T, F>(&self, job: F) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a mut Session) -> Job<'a, T> + Send + 'static,
    {
        let until = clock::instant() + WRITE_MAX;
        self.database.wait_async(self.clone().under_way(until, job)).await
    }

    async fn under_way<T, F>(self, until: Instant, job: F) -> Result<T, DatabaseError>
    where
        F: for<'a> FnOnce(&'a mut Session) -> Job<'a, T> + Send + 'static,
    {
        let inner: &Arc<Inner> = &self.database.0;
        let until = tokio::time::Instant::from_std(until);
        let Ok(mut slot) = timeout_at(until, self.slot.lock()).await else { return Err(DatabaseError::TooLong) };
        let slot = &mut *slot;
        if slot.session.as_ref().is_none_or(|session| !session.connection.is_open()) {
            slot.session = None;
            let connection =
                timeout_at(until, inner.connect()).await.unwrap_or_else(|_| Err(DatabaseError::TooLong))?;
            slot.number += 1;
            let (number, silence) = (slot.number, self.database.target().silence);
            slot.session = Some(Session { connection, number, held: HashMap::new(), silence });
            tokio::spawn(keep_alive(Arc::downgrade(&self.slot), number, silence / 4));
        }
        let Some(session) = slot.session.as_mut() else { return Err(DatabaseError::TooLong) };
        match timeout_at(until, job(session)).await {
            Ok(Ok(done)) => {
                inner.health.works();
                Ok(done)
            }
            Ok(Err(error)) => {
                if error.is_lost() {
                    slot.session = None;
                }
                Err(error)
            }
            Err(_) => Err(slot.session.take().map_or(DatabaseError::TooLong, |lost| inner.abandon(lost.connection))),
        }
    }
}

/// Sends something now and then while a session holds locks, so that the server does not end it: whoever takes over a
/// recording works for longer than that before the first write. A process that stands still sends nothing.
async fn keep_alive(slot: Weak<Mutex<Slot>>, number: u64, pause: Duration) {
    loop {
        tokio::time::sleep(pause).await;
        let Some(slot) = slot.upgrade() else { return };
        let mut slot = slot.lock().await;
        let is_ours = |session: &&mut Session| session.number == number && session.connection.is_open();
        let Some(session) = slot.session.as_mut().filter(is_ours) else { return };
        if !session.held.is_empty() {
            // Where it fails the next write says so.
            let _ = tokio::time::timeout(pause, session.client().batch_execute("")).await;
        }
    }
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lane({:?})", self.database)
    }
}
