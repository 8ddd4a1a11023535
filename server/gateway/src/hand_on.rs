//! One request that is handed on to another replica, and its answer in pieces that are proved one by one. What was perhaps
//! sent is told apart from what was not: nothing is sent twice, by nobody.

use std::time::Duration;

use bytes::Bytes;
use cluster::{Greeting, PieceReader};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use tokio::time::timeout;

use crate::connection::{Identity, detail, root_cause};
use crate::directory::OwnerAddress;
use crate::request::ReplicaClient;
use crate::words;

/// Where replicas hand requests on.
pub const HAND_ON_PATH: &str = "/api/v1/cluster/hand-on";
/// How long a connection may take: what fails until then was not sent.
pub(crate) const CONNECT_MAX: Duration = Duration::from_millis(1_500);
/// How long the next piece of an answer may take.
const PIECE_MAX: Duration = Duration::from_secs(20);

/// Why there is no answer; one sentence each that does not name the replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandOnError {
    /// Nothing was sent.
    NotSent(String),
    /// It was sent, or a part of it was, and what came of it is not known.
    NoAnswer(String),
}

/// What came back, piece by piece, each proved before it is handed out.
#[derive(Debug)]
pub struct Pieces {
    answer: Response,
    reader: PieceReader,
}

impl Pieces {
    /// The next one; None behind the last.
    ///
    /// # Errors
    /// The answer was cut off or changed on the way, or nothing more comes.
    pub async fn next(&mut self) -> Result<Option<Bytes>, String> {
        loop {
            match self.reader.take().map_err(|error| error.to_string())? {
                Some((bytes, is_last)) if bytes.is_empty() && is_last => return Ok(None),
                Some((bytes, _)) if bytes.is_empty() => {}
                Some((bytes, _)) => return Ok(Some(bytes)),
                None if self.reader.is_over() => return Ok(None),
                None => {
                    let more = timeout(PIECE_MAX, self.answer.chunk()).await;
                    let more = more.map_err(|_| words::silent(PIECE_MAX.as_millis()))?;
                    match more.map_err(|error| words::unreachable(&root_cause(&error)))? {
                        Some(bytes) => self.reader.push(&bytes),
                        None => return Err(cluster::PieceError::Cut.to_string()),
                    }
                }
            }
        }
    }
}

impl ReplicaClient {
    /// Hands a request on to one, over a connection of its own, and waits for the first piece of the answer for so long.
    ///
    /// # Errors
    /// See [`HandOnError`].
    pub async fn hand_on(
        &self,
        to: &OwnerAddress,
        body: Bytes,
        within: Duration,
    ) -> Result<(Bytes, Pieces), HandOnError> {
        let begun = timeout(within, self.begin(to, body)).await;
        begun.unwrap_or_else(|_| Err(HandOnError::NoAnswer(words::silent(within.as_millis()))))
    }

    async fn begin(&self, to: &OwnerAddress, body: Bytes) -> Result<(Bytes, Pieces), HandOnError> {
        let Identity { id, secret, client: _, clock } = &self.identity;
        let greeting = Greeting { from: id.clone(), to: to.id.clone(), at_ms: clock.now_ms(), nonce: rand::random() };
        let request = self
            .once
            .post(format!("{}{HAND_ON_PATH}", to.address))
            .header("authorization", secret.sign_handed_on(&greeting, &to.address, &body))
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        let answer = request.send().await.map_err(|error| {
            let why = words::unreachable(&root_cause(&error));
            // Before there was a connection nothing can have left.
            if error.is_connect() || error.is_builder() {
                HandOnError::NotSent(why)
            } else {
                HandOnError::NoAnswer(why)
            }
        })?;
        let is_pieces = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == cluster::PIECES_TYPE);
        if !is_pieces {
            // A refusal at the door, or somebody else.
            let status = answer.status().as_u16();
            return Err(HandOnError::NoAnswer(words::refused(status, &detail(answer).await)));
        }
        let reader = PieceReader::new(secret.clone(), greeting, &to.address);
        let mut pieces = Pieces { answer, reader };
        match pieces.next().await {
            Ok(Some(head)) => Ok((head, pieces)),
            Ok(None) => Err(HandOnError::NoAnswer(cluster::PieceError::Cut.to_string())),
            Err(why) => Err(HandOnError::NoAnswer(why)),
        }
    }
}
