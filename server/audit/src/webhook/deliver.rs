//! Delivers records in order, one at a time, until each was taken.

use std::sync::Arc;
use std::time::Duration;

use lockscope_view::AuditKind;
use reqwest::Client;
use reqwest::header::{CONTENT_TYPE, USER_AGENT};
use serde::Deserialize;

use super::{Webhook, cursor};
use crate::log::{Log, Shared};
use crate::{AuditError, chain, read};
use lockscope_runtime::backoff::Backoff;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::CancellationToken;
use lockscope_runtime::webhook_client::{self, SIGNATURE_HEADER, signature};

/// Records that are read at once.
const READ_MAX: usize = 64;
/// Bytes that are read at once, or a record that is longer.
const READ_BYTES_MAX: usize = 256 * 1024;

#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// An answer that takes longer is none.
    pub answer_within: Duration,
    /// The first wait after a failure.
    pub first_wait: Duration,
    pub longest_wait: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            answer_within: Duration::from_secs(5),
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(60),
        }
    }
}

/// Delivers what comes after the cursor.
#[derive(Debug)]
pub struct Delivery {
    log: Arc<Shared>,
    webhook: Webhook,
    client: Client,
    clock: Clock,
    backoff: Backoff,
    /// The last record that was delivered, or need not be.
    delivered: u64,
    /// Why it is behind, as last reported.
    trouble: String,
}

#[derive(Deserialize)]
struct Kind {
    kind: AuditKind,
}

impl Delivery {
    /// Goes on where a server before ended; without one, with the next record.
    ///
    /// # Errors
    /// When it can't be known how far it was, or there is no way to send.
    pub fn new(log: &Log, webhook: Webhook, clock: Clock, pace: Pace) -> Result<Self, AuditError> {
        let log = log.shared();
        let made = Self::made(&log, webhook, clock, pace);
        if let Err(error) = &made {
            log.set_delivery_trouble(error.0.clone());
        }
        made
    }

    fn made(log: &Arc<Shared>, webhook: Webhook, clock: Clock, pace: Pace) -> Result<Self, AuditError> {
        let last = *log.follow().borrow();
        let delivered = match cursor::read(&log.dir)? {
            Some(delivered) => delivered.min(last),
            None => {
                cursor::write(&log.dir, last)?;
                last
            }
        };
        let client = webhook_client::client(pace.answer_within, webhook.is_plain()).map_err(|why| {
            AuditError(format!(
                "the webhook can't be used ({why}); install the system's certificate authorities, or name a file of them in SSL_CERT_FILE"
            ))
        })?;
        let backoff = Backoff::new(pace.first_wait, pace.longest_wait)
            .map_err(|error| AuditError(format!("the webhook can't be used: {error}")))?;
        log.set_delivered(delivered);
        Ok(Self { log: log.clone(), webhook, client, clock, backoff, delivered, trouble: String::new() })
    }

    /// Delivers until `stop` is cancelled. A delivery in flight is repeated after the next start.
    pub async fn run(mut self, stop: CancellationToken) {
        tokio::select! {
            () = stop.cancelled() => {}
            () = self.deliver_all() => {}
        }
    }

    async fn deliver_all(&mut self) {
        let mut last_id = self.log.follow();
        while last_id.wait_for(|last| *last > self.delivered).await.is_ok() {
            match self.next_lines().await {
                Ok(lines) if !lines.is_empty() => {
                    for line in lines {
                        self.deliver(line).await;
                    }
                    self.save().await;
                }
                Ok(_) => {
                    self.wait("the webhook can't read the audit record: it is shorter than it was".to_owned()).await
                }
                Err(error) => {
                    self.wait(format!(
                        "the webhook can't read the audit record ({error}); run `lockscope audit verify`"
                    ))
                    .await
                }
            }
        }
    }

    async fn next_lines(&self) -> std::io::Result<Vec<Vec<u8>>> {
        let (log, id) = (self.log.clone(), self.delivered + 1);
        let lines = tokio::task::spawn_blocking(move || {
            read::forwards(&log.dir, &log.segments(), id, READ_MAX, READ_BYTES_MAX)
        })
        .await;
        lines.unwrap_or_else(|error| Err(std::io::Error::other(error)))
    }

    /// Sends a record until it is taken.
    async fn deliver(&mut self, line: Vec<u8>) {
        let id = chain::number_of(&line).unwrap_or(self.delivered + 1);
        // What this version does not know is for the receiver to judge.
        let is_wanted = serde_json::from_slice::<Kind>(&line).map_or(true, |line| is_told(line.kind));
        if is_wanted {
            while let Err(why) = self.post(&line).await {
                let shown = self.webhook.shown();
                self.wait(format!(
                    "the webhook at {shown} did not take record {id}: {why}; it is tried again until it does"
                ))
                .await;
            }
            self.well();
        }
        self.delivered = id;
        self.log.set_delivered(id);
        if is_wanted {
            self.save().await;
        }
    }

    async fn post(&self, line: &[u8]) -> Result<(), String> {
        let signed = signature(&self.webhook.secret, self.clock.now_ms(), line);
        let request = self.client.post(self.webhook.url.clone()).header(SIGNATURE_HEADER, signed);
        let request = request.header(CONTENT_TYPE, "application/json").header(USER_AGENT, webhook_client::USER_AGENT);
        let response = request.body(line.to_vec()).send().await.map_err(webhook_client::error_cause)?;
        let status = response.status();
        if status.is_success() {
            return Ok(());
        }
        let hint = if status.is_redirection() { ", and redirects are not followed" } else { "" };
        Err(format!("it answered {status}{hint}"))
    }

    async fn save(&mut self) {
        let (log, id) = (self.log.clone(), self.delivered);
        let saved = tokio::task::spawn_blocking(move || cursor::write(&log.dir, id)).await;
        if let Ok(Err(error)) = saved {
            // Delivered all the same; after a start it may come twice.
            self.tell(error.0);
        }
    }

    async fn wait(&mut self, trouble: String) {
        self.tell(trouble);
        tokio::time::sleep(self.backoff.next(rand::random())).await;
    }

    fn tell(&mut self, trouble: String) {
        if self.trouble != trouble {
            tracing::warn!("{trouble}");
            self.log.set_delivery_trouble(trouble.clone());
            self.trouble = trouble;
        }
    }

    fn well(&mut self) {
        self.backoff.reset();
        if !self.trouble.is_empty() {
            tracing::info!("the webhook takes records again");
            self.trouble.clear();
            self.log.set_delivery_trouble(String::new());
        }
    }
}

/// Releases and refusals; viewing is not reported.
fn is_told(kind: AuditKind) -> bool {
    match kind {
        AuditKind::Started | AuditKind::SignedIn | AuditKind::SignedOut | AuditKind::HeadsSeen => false,
        AuditKind::Refused
        | AuditKind::ReleaseIntent
        | AuditKind::ReleaseOutcome
        | AuditKind::RevokeIntent
        | AuditKind::RevokeOutcome
        | AuditKind::Approved
        | AuditKind::LabStarted
        | AuditKind::LabEnded
        | AuditKind::AlertAcknowledged
        | AuditKind::AlertsSilenced
        | AuditKind::SilenceEnded
        | AuditKind::OrderSnoozed
        | AuditKind::OrderSnoozeEnded
        | AuditKind::HandedOn => true,
    }
}
