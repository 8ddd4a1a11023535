//! One request to another replica over HTTP, with the cluster's secret proved on both sides: what is asked and what is
//! answered can't be changed on the way, and is within bounds in time and size.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use cluster::{ANSWER_HEADERS, Greeting, PROOF_HEADER, answer_text};
use reqwest::Client;
use reqwest::header::CONTENT_TYPE;
use tokio::time::timeout;

use crate::connection::{Identity, detail, root_cause};
use crate::directory::OwnerAddress;
use crate::gateway::{GatewayError, GatewaySettings, direct_client, once_client};
use crate::hand_on::CONNECT_MAX;
use crate::words;
use runtime::clock::Clock;

/// Asks other replicas. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ReplicaClient {
    pub(crate) identity: Identity,
    /// For requests that are not sent twice.
    pub(crate) once: Client,
    bytes_max: usize,
}

/// What came back of one that has the secret.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The values of [`ANSWER_HEADERS`]; empty where there is none.
    pub headers: [String; ANSWER_HEADERS.len()],
    /// The body, whole.
    pub body: Bytes,
}

impl ReplicaClient {
    /// As a replica of a cluster; answers of more than `bytes_max` are refused.
    ///
    /// # Errors
    /// No connection can be made from here at all.
    pub fn new(settings: GatewaySettings, clock: Clock, bytes_max: usize) -> Result<Self, GatewayError> {
        let client = direct_client()?;
        let identity = Identity { id: settings.id, secret: settings.secret, client, clock };
        Ok(Self { identity, once: once_client(CONNECT_MAX)?, bytes_max })
    }

    /// Posts a body to a path of one, and waits for the answer for so long.
    ///
    /// # Errors
    /// It does not answer in time, refuses, sends too much, or does not prove to have the secret; one sentence that does
    /// not name it.
    pub async fn post(&self, of: &OwnerAddress, path: &str, body: Bytes, within: Duration) -> Result<Answer, String> {
        let answered = timeout(within, self.exchange(of, path, body)).await;
        answered.unwrap_or_else(|_| Err(words::silent(within.as_millis())))
    }

    async fn exchange(&self, of: &OwnerAddress, path: &str, body: Bytes) -> Result<Answer, String> {
        let Identity { id, secret, client, clock } = &self.identity;
        let greeting = Greeting { from: id.clone(), to: of.id.clone(), at_ms: clock.now_ms(), nonce: rand::random() };
        let request = client
            .post(format!("{}{path}", of.address))
            .header("authorization", secret.sign_request(&greeting, &of.address, &body))
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        let mut answer = request.send().await.map_err(|error| words::unreachable(&root_cause(&error)))?;
        let status = answer.status().as_u16();
        let header = |name: &str| {
            let value = answer.headers().get(name).and_then(|value| value.to_str().ok());
            value.unwrap_or_default().to_owned()
        };
        let (proof, headers) = (header(PROOF_HEADER), ANSWER_HEADERS.map(header));
        if proof.is_empty() {
            // A refusal at the door, or somebody else.
            return Err(words::refused(status, &detail(answer).await));
        }
        let mut received = BytesMut::new();
        while let Some(chunk) = answer.chunk().await.map_err(|error| words::unreachable(&root_cause(&error)))? {
            if received.len() + chunk.len() > self.bytes_max {
                return Err(words::too_long(self.bytes_max));
            }
            received.extend_from_slice(&chunk);
        }
        let body = received.freeze();
        let about = answer_text(status, &headers, &body);
        if !secret.verify_answer(&greeting, &of.address, &about, &proof) {
            return Err(words::NO_PROOF.to_owned());
        }
        Ok(Answer { status, headers, body })
    }
}
