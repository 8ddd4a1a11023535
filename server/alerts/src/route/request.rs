//! One request that tells a receiver of alerts. Pure: nothing is sent here.

use std::fmt;

use reqwest::Url;
use serde_json::Value;

/// Alerts in one request, where every alert is told; there are as many requests as it takes.
pub(super) const ALERTS_MAX: usize = 100;

/// One POST request. Neither address nor headers nor body are shown: each may hold what is secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Where it goes, with what signs it.
    pub url: Url,
    /// Its headers, beside those that are the same for all.
    pub headers: Vec<(&'static str, String)>,
    /// Its body, JSON.
    pub body: Vec<u8>,
}

impl Outgoing {
    pub(super) fn json(url: Url, body: &Value) -> Self {
        Self::text(url, body.to_string())
    }

    /// Of JSON that is written.
    pub(super) fn text(url: Url, body: String) -> Self {
        Self { url, headers: vec![("content-type", "application/json".to_owned())], body: body.into_bytes() }
    }
}

/// An object with one more field, where there is a value for it.
pub(super) fn with(mut object: Value, name: &str, value: Option<Value>) -> Value {
    if let (Value::Object(fields), Some(value)) = (&mut object, value) {
        fields.insert(name.to_owned(), value);
    }
    object
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing").field("body_bytes", &self.body.len()).finish_non_exhaustive()
    }
}
