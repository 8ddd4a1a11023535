//! Sends notifications to receivers, and says why when one was not told.

use std::time::Duration;

use lockscope_runtime::webhook_client::{self, error_cause};
use reqwest::header::{HeaderValue, RETRY_AFTER, USER_AGENT};
use reqwest::{Client, Response};

use super::Route;
use super::answer::{Body, SendError, SendErrorKind, code_field, judged, retry_after};
use super::outgoing::outgoing;
use super::request::Outgoing;
use crate::notification::Notification;

const ANSWER_BYTES_MAX: usize = 64 * 1_024;

/// There is no way to send.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "alerts can't be sent ({0}); install the system's certificate authorities, or name a file of them in SSL_CERT_FILE"
)]
pub struct SenderError(String);

/// Sends notifications. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Sender {
    client: Client,
    is_plain: bool,
}

impl Sender {
    /// Sends to receivers; no request takes longer than `answer_within`. `is_plain`: over http alone, which needs no
    /// authorities, and a machine may have none.
    ///
    /// # Errors
    /// When there is no way to send over TLS, as on a machine without certificate authorities.
    pub fn new(answer_within: Duration, is_plain: bool) -> Result<Self, SenderError> {
        let client = webhook_client::client(answer_within, is_plain).map_err(SenderError)?;
        Ok(Self { client, is_plain })
    }

    /// Tells a receiver of these; `now_ms` since the epoch is what signatures are dated with.
    /// Where that takes several requests, those after one that was refused for good are sent all the same. What is sent
    /// again after an error is known to Alertmanager and `PagerDuty` by its labels or key, and to a webhook by its key.
    ///
    /// # Errors
    /// The first that may pass, at which it stops, or else the first refusal.
    pub async fn send(&self, route: &Route, notifications: &[Notification], now_ms: i64) -> Result<(), SendError> {
        let mut refused = None;
        for outgoing in outgoing(route, notifications, now_ms) {
            match self.post(route, outgoing, now_ms).await {
                Err(error) if error.kind == SendErrorKind::Temporary => return Err(error),
                Err(error) => refused = refused.or(Some(error)),
                Ok(()) => {}
            }
        }
        refused.map_or(Ok(()), Err)
    }

    async fn post(&self, route: &Route, outgoing: Outgoing, now_ms: i64) -> Result<(), SendError> {
        if self.is_plain && outgoing.url.scheme() != "http" {
            return Err(SendError::permanent("it is at an address of https, and this sender was made for http alone"));
        }
        let mut request = self.client.post(outgoing.url).header(USER_AGENT, webhook_client::USER_AGENT);
        for (name, value) in outgoing.headers {
            let Ok(mut value) = HeaderValue::from_str(&value) else {
                return Err(SendError::permanent("its secret has characters that can't be sent; check the secret"));
            };
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        let mut response = request.body(outgoing.body).send().await.map_err(failed)?;
        let asked = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let (status, wait) = (response.status(), asked.and_then(|value| retry_after(value, now_ms)));
        let body = match code_field(route.kind).map(|_| read(&mut response)) {
            None => Body::Unread,
            Some(reading) => match reading.await {
                Ok(body) => body,
                Err(error) if status.is_success() => return Err(failed(error)),
                // The status says enough.
                Err(_) => Body::Unread,
            },
        };
        judged(route.kind, status, &body, wait)
    }
}

/// Reads no more than an answer may have, however long it is said to be. The client's limit of time covers it too.
async fn read(response: &mut Response) -> Result<Body, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Ok(Body::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Body::Whole(body))
}

fn failed(error: reqwest::Error) -> SendError {
    if error.is_builder() { SendError::permanent(error_cause(error)) } else { SendError::temporary(error_cause(error)) }
}
