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
    /// Asks in the form that the transport needs: a command of AdminServer or a four-letter word, each with its parser.
    async fn ask<T>(
        &self,
        command: &str,
        parse_body: fn(&[u8]) -> Result<T, Malformed>,
        word: &str,
        parse_text: fn(&str) -> Result<T, Malformed>,
    ) -> Result<T, Failure> {
        let deadline = Instant::now() + ANSWER_MAX;
        match self {
            Self::Admin { client, url } => Ok(parse_body(&http::ask(client, url, command, deadline).await?)?),
            Self::Words { address } => Ok(parse_text(&tcp::ask(address, word, deadline).await?)?),
        }
    }

    /// Role and last transaction: a light question, for every second.
    pub(super) async fn serving(&self) -> Result<Health, Failure> {
        self.ask("server_stats", admin::server_stats, "srvr", srvr::parse).await
    }

    /// As light.
    pub(super) async fn synced_followers(&self) -> Result<usize, Failure> {
        self.ask("monitor", admin::synced_followers, "mntr", mntr::synced_followers).await
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
        source.ask("connections", admin::connections, "cons", cons::parse).await
    }
}

impl SourceAnswer for SessionTable {
    const QUESTION: Question = Question::Sessions;
    async fn ask(source: &Source) -> Result<Self, Failure> {
        source.ask("dump", admin::dump, "dump", dump::parse).await
    }
}

impl SourceAnswer for WatchTable {
    const QUESTION: Question = Question::Watches;
    async fn ask(source: &Source) -> Result<Self, Failure> {
        source.ask("watches_by_path", admin::watches_by_path, "wchp", wchp::parse).await
    }
}

impl SourceAnswer for Health {
    const QUESTION: Question = Question::Health;
    /// Two questions; one answer is enough. Where only the default whitelist holds, it is that of `srvr`.
    async fn ask(source: &Source) -> Result<Self, Failure> {
        let first = source.ask("monitor", admin::monitor, "srvr", srvr::parse).await;
        if first.as_ref().is_err_and(|failure| failure.whole_way) {
            return first;
        }
        let second = source.ask("server_stats", admin::server_stats, "mntr", mntr::parse).await;
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
