//! Sends a four-letter word: one connection, one word, the whole answer, within a time-out and a size limit.

use std::io::ErrorKind;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use super::failure::{ANSWER_MAX, BODY_BYTES_MAX, Failure};

/// How long a look at whether anybody listens may take.
const REFUSED_WITHIN: Duration = Duration::from_millis(300);

pub(super) async fn ask(address: &str, word: &str, deadline: Instant) -> Result<String, Failure> {
    let limited = timeout_at(deadline, exchange(address, word)).await;
    limited.unwrap_or_else(|_| Err(Failure::timed_out()))
}

async fn exchange(address: &str, word: &str) -> Result<String, Failure> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::ConnectionRefused => Failure::nobody(),
        _ => Failure::unreachable(&error.to_string()),
    };
    let mut stream = TcpStream::connect(address).await.map_err(failed)?;
    stream.write_all(word.as_bytes()).await.map_err(failed)?;
    let most = u64::try_from(BODY_BYTES_MAX).unwrap_or(u64::MAX);
    let mut answer = Vec::new();
    // One byte more than is accepted, to distinguish a full answer from a longer one.
    let read = stream.take(most.saturating_add(1)).read_to_end(&mut answer).await;
    if answer.len() > BODY_BYTES_MAX {
        return Err(Failure::endless());
    }
    read.map_err(failed)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// The whole answer to a four-letter word as text, for those that ask once and not round by round.
///
/// # Errors
/// A clause with a subject: what came back.
pub async fn ask_word(address: &str, word: &str) -> Result<String, String> {
    ask(address, word, Instant::now() + ANSWER_MAX).await.map_err(|failure| failure.said)
}

/// Whether nobody listens there.
pub(super) async fn is_refused(address: &str) -> bool {
    let connected = timeout_at(Instant::now() + REFUSED_WITHIN, TcpStream::connect(address)).await;
    matches!(connected, Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused)
}
