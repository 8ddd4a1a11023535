//! Requests to an AdminServer: plain HTTP, no proxy, no redirect, within a time-out and a size limit.

use std::error::Error as _;

use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};
use tokio::time::{Instant, timeout_at};

use super::failure::{BODY_BYTES_MAX, Failure};
use super::url;

pub(super) fn client() -> Result<Client, reqwest::Error> {
    // No proxy: members are asked from here or not at all. No redirect: an AdminServer never sends one.
    // No authorities either: it is plain HTTP, and a machine without them must not keep us from asking.
    Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        .tls_certs_only(std::iter::empty())
        .pool_max_idle_per_host(1)
        .build()
}

pub(super) async fn ask(client: &Client, base: &str, command: &str, deadline: Instant) -> Result<Vec<u8>, Failure> {
    let limited = timeout_at(deadline, exchange(client, &url::command(base, command))).await;
    limited.unwrap_or_else(|_| Err(Failure::timed_out()))
}

async fn exchange(client: &Client, url: &str) -> Result<Vec<u8>, Failure> {
    let mut response = client.get(url).send().await.map_err(|error| failed(&error))?;
    match response.status() {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            return Err(Failure::forbidden(&format!("HTTP {}", response.status())));
        }
        StatusCode::NOT_FOUND => return Err(Failure::absent(&format!("HTTP {}", response.status()))),
        // ZooKeeper 3.9 answers errors with 4xx and 5xx and the reason in the body.
        _ => {}
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error))? {
        if body.len() + chunk.len() > BODY_BYTES_MAX {
            return Err(Failure::endless());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn failed(error: &reqwest::Error) -> Failure {
    // The first cause in the chain that comes from the system, which is what helps; the rest repeats the address.
    let mut source = error.source();
    let mut said = error.to_string();
    while let Some(cause) = source {
        if let Some(io) = cause.downcast_ref::<std::io::Error>()
            && io.kind() == std::io::ErrorKind::ConnectionRefused
        {
            return Failure::nobody();
        }
        said = cause.to_string();
        source = cause.source();
    }
    Failure::unreachable(&said)
}
