//! What an answer of a receiver means: taken, to be tried again, or refused for good. Pure.

use std::time::{Duration, UNIX_EPOCH};

use reqwest::StatusCode;
use serde_json::Value;

use super::RouteKind;

/// The longest wait that a receiver may ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(5 * 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendErrorKind {
    Permanent,
    Temporary,
}

/// Why a receiver was not told. Neither a secret nor an address is in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct SendError {
    /// What happened, to follow the receiver's name: "it answered 503 Service Unavailable".
    pub why: String,
    pub kind: SendErrorKind,
    /// How long the receiver asks to be left alone, at most 5 minutes; None where it says nothing.
    pub retry_after: Option<Duration>,
}

impl SendError {
    pub(super) fn permanent(why: impl Into<String>) -> Self {
        Self { why: why.into(), kind: SendErrorKind::Permanent, retry_after: None }
    }

    pub(super) fn temporary(why: impl Into<String>) -> Self {
        Self { why: why.into(), kind: SendErrorKind::Temporary, retry_after: None }
    }
}

#[derive(Debug)]
pub(super) enum Body {
    /// Nothing: the status says all, or it broke off.
    Unread,
    Whole(Vec<u8>),
    /// More than a bot ever answers.
    TooLong,
}

/// The field of an answer that has a bot's code: bots answer 200 whatever happens. None where the status is the answer.
pub(super) fn code_field(kind: RouteKind) -> Option<&'static str> {
    match kind {
        RouteKind::Feishu => Some("code"),
        RouteKind::DingTalk | RouteKind::WeCom => Some("errcode"),
        RouteKind::Alertmanager | RouteKind::PagerDuty | RouteKind::Slack | RouteKind::Teams | RouteKind::Webhook => {
            None
        }
    }
}

/// What a code means, beside 0.
fn meaning(bot: RouteKind, code: i64, said: &str) -> (SendErrorKind, &'static str) {
    use SendErrorKind::{Permanent, Temporary};
    match (bot, code) {
        // Feishu says with 9499 both that it is asked too often and that it does not understand.
        (RouteKind::Feishu, 9499) if said.to_ascii_lowercase().contains("bad request") => {
            (Permanent, ": it does not understand the message")
        }
        (RouteKind::Feishu, 9499 | 11232) | (RouteKind::DingTalk, 130_101) | (RouteKind::WeCom, 45009) => {
            (Temporary, ": it was sent too many messages")
        }
        (RouteKind::DingTalk | RouteKind::WeCom, -1) => (Temporary, ": it is busy"),
        (RouteKind::Feishu, 19021) => (Permanent, ": the signature does not match; check the secret and the clock"),
        (RouteKind::Feishu, 19022) => (Permanent, ": the bot does not take messages from this machine's address"),
        (RouteKind::Feishu, 19024) => {
            (Permanent, ": the message has none of the bot's keywords; Lockscope could be one")
        }
        (RouteKind::DingTalk, 310_000) => (
            Permanent,
            ": the signature, a keyword or this machine's address does not match; check its security settings",
        ),
        (RouteKind::DingTalk, 300_001) | (RouteKind::WeCom, 93000) => {
            (Permanent, ": it knows no such bot; check the address")
        }
        (_, _) => (Permanent, ""),
    }
}

/// Whether the receiver took it.
///
/// # Errors
/// When it did not, or did not say so.
pub(super) fn judged(
    kind: RouteKind,
    status: StatusCode,
    body: &Body,
    retry_after: Option<Duration>,
) -> Result<(), SendError> {
    let field = code_field(kind);
    let answer = field.and_then(|field| code(field, body));
    if let Some((field, (code, said))) = field.zip(answer.as_ref()).filter(|(_, (code, _))| *code != 0) {
        let (kind, meaning) = meaning(kind, *code, said);
        // A gateway's own words about its trouble are not the bot's.
        let kind = if is_temporary(status) { SendErrorKind::Temporary } else { kind };
        let why = format!("it answered {status} with {field} {code}{meaning}");
        return Err(SendError { why, kind, retry_after });
    }
    if !status.is_success() {
        let hint = if status.is_redirection() { ", and redirects are not followed" } else { "" };
        let kind = if is_temporary(status) { SendErrorKind::Temporary } else { SendErrorKind::Permanent };
        return Err(SendError { why: format!("it answered {status}{hint}"), kind, retry_after });
    }
    let Some(field) = field.filter(|_| answer.is_none()) else { return Ok(()) };
    let what = match body {
        Body::TooLong => "more than 64 KiB".to_owned(),
        Body::Unread | Body::Whole(_) => format!("no {field}"),
    };
    Err(SendError::permanent(format!("it answered {status} with {what}, as no such bot does; check the address")))
}

fn is_temporary(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT)
}

/// The code in a bot's answer, and what it says beside it.
fn code(field: &str, body: &Body) -> Option<(i64, String)> {
    let Body::Whole(body) = body else { return None };
    let answer = serde_json::from_slice::<Value>(body).ok()?;
    let said = answer.get("msg").and_then(Value::as_str).unwrap_or_default().to_owned();
    Some((answer.get(field)?.as_i64()?, said))
}

/// What the header `Retry-After` asks for, in seconds or as a date, at most 5 minutes.
pub(super) fn retry_after(value: &str, now_ms: i64) -> Option<Duration> {
    let value = value.trim();
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let wait = if is_number {
        // More seconds than a number holds are too many in any case.
        value.parse().map_or(RETRY_AFTER_MAX, Duration::from_secs)
    } else {
        let until = httpdate::parse_http_date(value).ok()?.duration_since(UNIX_EPOCH).ok()?;
        until.saturating_sub(Duration::from_millis(u64::try_from(now_ms).unwrap_or(0)))
    };
    Some(wait.min(RETRY_AFTER_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_read_and_bounded() {
        let now_ms = 1_767_323_045_000;
        assert_eq!(retry_after("7", now_ms), Some(Duration::from_secs(7)));
        assert_eq!(retry_after(" 0 ", now_ms), Some(Duration::ZERO));
        assert_eq!(retry_after("86400", now_ms), Some(RETRY_AFTER_MAX));
        assert_eq!(retry_after("99999999999999999999999", now_ms), Some(RETRY_AFTER_MAX));
        assert_eq!(retry_after("Fri, 02 Jan 2026 03:04:35 GMT", now_ms), Some(Duration::from_secs(30)));
        assert_eq!(retry_after("Fri, 02 Jan 2026 03:04:00 GMT", now_ms), Some(Duration::ZERO));
        assert_eq!(retry_after("Fri, 02 Jan 2099 03:04:00 GMT", now_ms), Some(RETRY_AFTER_MAX));
        for wrong in ["", "-1", "soon", "1.5"] {
            assert_eq!(retry_after(wrong, now_ms), None, "{wrong}");
        }
    }
}
