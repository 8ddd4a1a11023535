//! One connection: made within a bound, to a server that can be written, with bounds of its own on the server's side.

use std::time::Duration;

use tokio::task::{AbortHandle, spawn_blocking};
use tokio::time::timeout;
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::DatabaseError;
use crate::target::{CONNECT_MAX, Protection, Target, place};
use crate::tls;

/// The oldest server that has what is used here: 13.
const VERSION_MIN: i32 = 130_000;
/// How long it may take to stop a query; it is stopped by the server's own bound otherwise.
const CANCEL_MAX: Duration = Duration::from_secs(1);

/// Bounds on the server's side: of a query, of the wait for a lock, of a transaction that its client forgot; and how soon
/// the server sees that we are gone, so that it gives our locks to others. Servers before 14 lack the last one.
const SETTINGS: &str = "
SET statement_timeout = '10s';
SET lock_timeout = '4s';
SET idle_in_transaction_session_timeout = '10s';
SET tcp_keepalives_idle = 5;
SET tcp_keepalives_interval = 2;
SET tcp_keepalives_count = 3;
SET tcp_user_timeout = 10000;
SET client_min_messages = warning;
SET timezone = 'UTC';
SET search_path = pg_catalog, lockscope, pg_temp;
SELECT set_config(name, '2s', false) FROM pg_settings WHERE name = 'client_connection_check_interval';
";

pub(crate) struct Connection {
    pub(crate) client: Client,
    task: AbortHandle,
    tls: MakeRustlsConnect,
}

impl Connection {
    /// Asks one server after another until one lets write.
    pub(crate) async fn open(target: &Target) -> Result<Self, DatabaseError> {
        let mut first = None;
        for server in &target.servers {
            let opened = timeout(CONNECT_MAX, Self::open_one(server, target.protection.clone())).await;
            let silent = |_| {
                Err(DatabaseError::Unreachable(format!(
                    "{} accepts the connection and does not answer; look whether it is overloaded",
                    place(server)
                )))
            };
            match opened.unwrap_or_else(silent) {
                Ok(connection) => return Ok(connection),
                Err(error) => {
                    first.get_or_insert(error);
                }
            }
        }
        Err(first.unwrap_or_else(|| DatabaseError::Unreachable("no server is named".to_owned())))
    }

    async fn open_one(server: &Config, protection: Protection) -> Result<Self, DatabaseError> {
        // Elsewhere: a file on a disk that hangs must not hold up the thread that serves all connections.
        let tls = spawn_blocking(move || tls::connector(&protection)).await;
        let tls = tls.unwrap_or_else(|error| Err(DatabaseError::Failed(error.to_string())))?;
        let place = place(server);
        let at = |error: tokio_postgres::Error| match DatabaseError::from(error) {
            DatabaseError::Unreachable(why) => DatabaseError::Unreachable(format!("{place}: {why}")),
            DatabaseError::Tls(why) => DatabaseError::Tls(format!("{place}: {why}")),
            DatabaseError::Failed(why) => DatabaseError::Refused(format!("{place}: {why}")),
            error => error,
        };
        let (client, connection) = server.connect(tls.clone()).await.map_err(at)?;
        let task = tokio::spawn(async move { drop(connection.await) }).abort_handle();
        let connection = Self { client, task, tls };
        connection.prepare().await?;
        Ok(connection)
    }

    /// Looks whether the server is one that we can use, and sets bounds.
    async fn prepare(&self) -> Result<(), DatabaseError> {
        let sql = "SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
            pg_is_in_recovery()";
        let row = self.client.query_one(sql, &[]).await?;
        let (version, encoding, is_standby): (i32, String, bool) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        if version < VERSION_MIN {
            return Err(DatabaseError::Unfit(format!(
                "its version is {}, and 13 is the oldest that has what is used",
                version / 10_000
            )));
        }
        if encoding != "UTF8" {
            return Err(DatabaseError::Unfit(format!(
                "the database has the encoding {encoding}; create one with ENCODING 'UTF8'"
            )));
        }
        if is_standby {
            return Err(DatabaseError::Unreachable(
                "the server is a standby; name the primary, or all servers".to_owned(),
            ));
        }
        Ok(self.client.batch_execute(SETTINGS).await?)
    }

    /// For a connection that holds locks: has the server end this session when nothing comes for too long, so that a
    /// process that stands still gives them to others, though its machine goes on acknowledging what it is sent. Servers
    /// before 14 can't.
    pub(crate) async fn bound_silence(&self, silence: Duration) -> Result<(), DatabaseError> {
        let sql = "SELECT set_config(name, $1, false) FROM pg_settings
            WHERE name IN ('idle_session_timeout', 'idle_in_transaction_session_timeout')";
        self.client.execute(sql, &[&silence.as_millis().to_string()]).await?;
        Ok(())
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.client.is_closed()
    }

    /// Ends it at once, and what it is doing.
    pub(crate) fn give_up(self) {
        let (token, tls) = (self.client.cancel_token(), self.tls.clone());
        drop(self);
        // Where it can't be stopped, the server's own bound does it.
        tokio::spawn(timeout(CANCEL_MAX, async move { token.cancel_query(tls).await }));
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}
