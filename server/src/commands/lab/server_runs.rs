//! The lab of a running server, asked over its API.

use lockscope_view::{LabOrder, LabRun, LabStarted};
use reqwest::Method;

use crate::api_client::ApiClient;
use crate::error::RunError;

pub(super) async fn start(client: &ApiClient, order: &LabOrder) -> Result<String, RunError> {
    let body = serde_json::to_string(order)
        .map_err(|error| RunError::Internal(format!("the request can't be written: {error}")))?;
    let started: LabStarted = client.ask(Method::POST, "/api/v1/lab/runs", Some(body)).await?;
    Ok(started.id)
}

pub(super) async fn run(client: &ApiClient, id: &str) -> Result<LabRun, RunError> {
    Ok(client.ask(Method::GET, &format!("/api/v1/lab/runs/{id}"), None).await?)
}

pub(super) async fn stop(client: &ApiClient, id: &str) -> Result<(), RunError> {
    Ok(client.ask::<LabRun>(Method::DELETE, &format!("/api/v1/lab/runs/{id}"), None).await.map(drop)?)
}
