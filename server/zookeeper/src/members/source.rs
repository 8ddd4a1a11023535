//! The two transports to a member behind one interface: each request in the form the transport needs, each failure in
//! the same words.

use std::future::Future;
use std::time::Duration;

use lockscope_core::evidence::{Connection, Health, Question, SessionTable, WatchTable};
use reqwest::Client;
use tokio::time::Instant;

use super::admin::{self, Identity};
use super::failure::{ANSWER_MAX, Failure};
use super::fault::Malformed;
use super::four_letter::{cons, dump, mntr, srvr, wchp};
use super::{health, http, tcp};

#[derive(Clone, Debug)]
pub(super) enum Source {
    Admin { client: Client, url: String },
    Words { address: String },
}

impl Source {
    async fn admin<T>(
        client: &Client,
        url: &str,
        command: &str,
        read: fn(&[u8]) -> Result<T, Malformed>,
    ) -> Result<T, Failure> {
        let body = http::ask(client, url, command, Instant::now() + ANSWER_MAX).await?;
        Ok(read(&body)?)
    }

    async fn word<T>(address: &str, word: &str, read: fn(&str) -> Result<T, Malformed>) -> Result<T, Failure> {
        let text = tcp::ask(address, word, Instant::now() + ANSWER_MAX).await?;
        Ok(read(&text)?)
    }
}

/// Light questions, for every second.
impl Source {
    /// Role and last transaction.
    pub(super) async fn serving(&self) -> Result<Health, Failure> {
        match self {
            Self::Admin { client, url } => Self::admin(client, url, "server_stats", admin::server_stats).await,
            Self::Words { address } => Self::word(address, "srvr", srvr::parse).await,
        }
    }

    pub(super) async fn synced_followers(&self) -> Result<usize, Failure> {
        match self {
            Self::Admin { client, url } => Self::admin(client, url, "monitor", admin::synced_followers).await,
            Self::Words { address } => Self::word(address, "mntr", mntr::synced_followers).await,
        }
    }
}

pub(super) async fn identity(client: &Client, url: &str, limit: Duration) -> Result<Identity, Failure> {
    let body = http::ask(client, url, "configuration", Instant::now() + limit).await?;
    Ok(admin::identity(&body)?)
}

pub(super) trait SourceAnswer: Sized + Send {
    const QUESTION: Question;
    fn ask(source: &Source) -> impl Future<Output = Result<Self, Failure>> + Send;
}

impl SourceAnswer for Vec<Connection> {
    const QUESTION: Question = Question::Connections;
    async fn ask(source: &Source) -> Result<Self, Failure> {
        match source {
            Source::Admin { client, url } => Source::admin(client, url, "connections", admin::connections).await,
            Source::Words { address } => Source::word(address, "cons", cons::parse).await,
        }
    }
}

impl SourceAnswer for SessionTable {
    const QUESTION: Question = Question::Sessions;
    async fn ask(source: &Source) -> Result<Self, Failure> {
        match source {
            Source::Admin { client, url } => Source::admin(client, url, "dump", admin::dump).await,
            Source::Words { address } => Source::word(address, "dump", dump::parse).await,
        }
    }
}

impl SourceAnswer for WatchTable {
    const QUESTION: Question = Question::Watches;
    async fn ask(source: &Source) -> Result<Self, Failure> {
        match source {
            Source::Admin { client, url } => {
                Source::admin(client, url, "watches_by_path", admin::watches_by_path).await
            }
            Source::Words { address } => Source::word(address, "wchp", wchp::parse).await,
        }
    }
}

impl SourceAnswer for Health {
    const QUESTION: Question = Question::Health;
    /// Two questions; one answer is enough. Where only the default whitelist holds, it is that of `srvr`.
    async fn ask(source: &Source) -> Result<Self, Failure> {
        let first = match source {
            Source::Admin { client, url } => Source::admin(client, url, "monitor", admin::monitor).await,
            Source::Words { address } => Source::word(address, "srvr", srvr::parse).await,
        };
        if first.as_ref().is_err_and(|failure| failure.whole_way) {
            return first;
        }
        let second = match source {
            Source::Admin { client, url } => Source::admin(client, url, "server_stats", admin::server_stats).await,
            Source::Words { address } => Source::word(address, "mntr", mntr::parse).await,
        };
        match (first, second) {
            (Ok(first), Ok(second)) => {
                // The counters are in `monitor` and `mntr`.
                let (counters, other) =
                    if matches!(source, Source::Admin { .. }) { (first, second) } else { (second, first) };
                Ok(health::merged(counters, other))
            }
            (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
            (Err(first), Err(_)) => Err(first),
        }
    }
}
