//! The lab of a running server, asked over its API.

use std::time::Duration;

use app::wire::{LabOrder, LabRun, LabStarted, Problem};
use reqwest::{Client, Method, Url};

use crate::error::RunError;

/// How long one answer may take.
const ANSWER_MAX: Duration = Duration::from_secs(20);
/// Bytes of an answer that are read.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A server, and who we are to it.
pub(super) struct Remote {
    client: Client,
    base: String,
    token: Option<String>,
}

impl Remote {
    /// For a server's address.
    ///
    /// # Errors
    /// An address that is none, or a token that would be read on the way.
    pub(super) fn new(base: &str, token: Option<String>) -> Result<Self, RunError> {
        let bad = |why: &str| super::wrong(format!("--server {base:?} {why}; write it like https://lockscope.example or http://127.0.0.1:3000"));
        let url = Url::parse(base).map_err(|_| bad("is no address"))?;
        let is_plain = match url.scheme() {
            "http" => true,
            "https" => false,
            _ => return Err(bad("is neither http nor https")),
        };
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let is_here = host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
        if is_plain && !is_here && token.is_some() {
            return Err(bad("is not encrypted, and anybody on the way could read the token"));
        }
        let client = Client::builder().redirect(reqwest::redirect::Policy::none()).timeout(ANSWER_MAX);
        // Plain HTTP needs no authorities, and a machine may have none.
        let client = if is_plain { client.no_proxy().tls_certs_only(std::iter::empty()) } else { client };
        let client = client.build().map_err(|error| RunError::Unavailable(format!("the server can't be asked ({error})")))?;
        Ok(Self { client, base: base.trim_end_matches('/').to_owned(), token })
    }

    /// Begins a run and gives its id.
    pub(super) async fn start(&self, order: &LabOrder) -> Result<String, RunError> {
        let body = serde_json::to_string(order).map_err(|error| RunError::Internal(format!("the order can't be written: {error}")))?;
        let started: LabStarted = self.ask(Method::POST, "/api/v1/lab/runs", Some(body)).await?;
        Ok(started.id)
    }

    /// A run as it is now.
    pub(super) async fn run(&self, id: &str) -> Result<LabRun, RunError> {
        self.ask(Method::GET, &format!("/api/v1/lab/runs/{id}"), None).await
    }

    /// Stops a run.
    pub(super) async fn stop(&self, id: &str) -> Result<(), RunError> {
        self.ask::<LabRun>(Method::DELETE, &format!("/api/v1/lab/runs/{id}"), None).await.map(drop)
    }

    async fn ask<T: serde::de::DeserializeOwned>(&self, method: Method, path: &str, body: Option<String>) -> Result<T, RunError> {
        let lost =
            |error: reqwest::Error| RunError::Unavailable(format!("--server {} can't be asked ({}); check that it runs", self.base, said(&error)));
        let mut request = self.client.request(method, format!("{}{path}", self.base));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body);
        }
        let mut answer = request.send().await.map_err(lost)?;
        let status = answer.status();
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(lost)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > ANSWER_BYTES_MAX {
                return Err(RunError::Unavailable(format!("--server {} answers more than {ANSWER_BYTES_MAX} bytes; is it Lockscope?", self.base)));
            }
        }
        if !status.is_success() {
            let told = serde_json::from_slice(&bytes).map_or_else(|_| "without a reason".to_owned(), |problem: Problem| problem.detail);
            return Err(RunError::Unavailable(format!("the server refuses ({}): {told}", status.as_u16())));
        }
        serde_json::from_slice(&bytes).map_err(|error| {
            RunError::Unavailable(format!(
                "--server {} answers in another form ({error}); use the same version of Lockscope on both sides",
                self.base
            ))
        })
    }
}

/// An error with what caused it.
fn said(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_sent_where_it_could_be_read() {
        let token = || Some("lks_1".to_owned());
        for good in ["http://127.0.0.1:3000", "http://localhost:3000/", "http://[::1]:3000"] {
            assert!(Remote::new(good, token()).is_ok(), "{good}");
        }
        assert!(Remote::new("http://lab.example", None).is_ok());
        for (bad, why) in [("http://lab.example", "is not encrypted"), ("ftp://a", "is neither http nor https"), ("lab", "is no address")] {
            let error = Remote::new(bad, token()).err().unwrap().to_string();
            assert!(error.contains(why) && !error.contains("lks_1"), "{error}");
        }
    }
}
