//! The lab of a running server, asked over its API.

use lockscope_wire::{LabOrder, LabRun, LabStarted};
use reqwest::Method;

use crate::error::RunError;
use crate::remote::Remote;

/// Begins a run and gives its id.
pub(super) async fn start(remote: &Remote, order: &LabOrder) -> Result<String, RunError> {
    let body = serde_json::to_string(order).map_err(|error| RunError::Internal(format!("the order can't be written: {error}")))?;
    let started: LabStarted = remote.ask(Method::POST, "/api/v1/lab/runs", Some(body)).await?;
    Ok(started.id)
}

/// A run as it is now.
pub(super) async fn run(remote: &Remote, id: &str) -> Result<LabRun, RunError> {
    Ok(remote.ask(Method::GET, &format!("/api/v1/lab/runs/{id}"), None).await?)
}

/// Stops a run.
pub(super) async fn stop(remote: &Remote, id: &str) -> Result<(), RunError> {
    Ok(remote.ask::<LabRun>(Method::DELETE, &format!("/api/v1/lab/runs/{id}"), None).await.map(drop)?)
}
