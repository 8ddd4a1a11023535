//! What is served over HTTP: the routes, and what holds for every answer. Knows views, never the model.

mod api;
mod api_sessions;
mod api_types;
mod assets;
mod audit;
mod guard;
mod headers;
mod health;
mod live;
mod metrics;
mod origin;
mod pages;
mod problem;
mod release;
mod socket;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{Method, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use tokio::sync::Semaphore;

use crate::audit::{Closed, Records};
use crate::feed::Hub;
use crate::release::Desk;
use crate::shutdown::Stop;
pub use origin::{ORIGINS_MAX, Origin, OriginFault, Origins, Scheme, is_loopback};
pub use pages::pages;
use problem::Refused;

/// Bytes of a request's body; nothing here takes more.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// An answer that takes longer is given up.
const ANSWER_MS_MAX: u64 = 10_000;
/// Live sockets at once; one more is refused with 503.
pub const SOCKETS_MAX: u32 = 4_096;

/// Limits a test may want smaller.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time between two heartbeats.
    pub heartbeat_ms: u64,
    /// A frame that can't be sent in this time ends the socket with 1013.
    pub send_ms_max: u64,
    /// Size of the kernel-independent write buffer of a socket.
    pub write_buffer_bytes: usize,
    /// Live sockets at once.
    pub sockets_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { heartbeat_ms: 3_000, send_ms_max: 10_000, write_buffer_bytes: 16 * 1024, sockets_max: SOCKETS_MAX }
    }
}

/// What the routes share.
#[derive(Clone)]
pub struct Http {
    hub: Arc<Hub>,
    draining: Stop,
    limits: Limits,
    sockets: Arc<Semaphore>,
    counts: Arc<Counts>,
    /// Where releases are ordered; None where nothing can be recorded.
    desk: Option<Desk>,
    origins: Arc<Origins>,
    records: Arc<dyn Records>,
}

/// What is counted here, for `/metrics`.
#[derive(Debug, Default)]
struct Counts {
    sockets_opened: AtomicU64,
    frames_sent: AtomicU64,
    slow_closed: AtomicU64,
    refused_frames: AtomicU64,
    guarded: AtomicU64,
}

impl Counts {
    fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

impl Http {
    /// Routes over a hub; `draining` says when to send everybody away. Only pages of this machine may use them.
    pub fn new(hub: Arc<Hub>, draining: Stop, limits: Limits) -> Self {
        let sockets = Arc::new(Semaphore::new(limits.sockets_max as usize));
        Self {
            hub,
            draining,
            limits,
            sockets,
            counts: Arc::default(),
            desk: None,
            origins: Arc::new(Origins::loopback()),
            records: Arc::new(Closed::without_directory()),
        }
    }

    /// The same, for the pages and at the hosts that these name.
    #[must_use]
    pub fn with_origins(self, origins: Origins) -> Self {
        Self { origins: Arc::new(origins), ..self }
    }

    /// The same, with a desk where releases are ordered.
    #[must_use]
    pub fn with_desk(self, desk: Desk) -> Self {
        Self { desk: Some(desk), ..self }
    }

    /// The same, with a record of acts to be read.
    #[must_use]
    pub fn with_records(self, records: Arc<dyn Records>) -> Self {
        Self { records, ..self }
    }

    /// Waits until every socket is closed, at most this long; false when some are not.
    pub async fn sockets_closed(&self, within: Duration) -> bool {
        tokio::time::timeout(within, self.sockets.acquire_many(self.limits.sockets_max)).await.is_ok()
    }

    /// The whole router. `pages` brings the page and its assets, with its own answer to unknown addresses.
    pub fn router(&self, pages: Router) -> Router {
        let api = Router::new()
            .route("/healthz", get(health::healthz))
            .route("/readyz", get(health::readyz))
            .route("/metrics", get(metrics::metrics))
            .route("/api/v1/status", get(api::status))
            .route("/api/v1/locks", get(api::locks))
            .route("/api/v1/lock", get(api::lock))
            .route("/api/v1/waits", get(api::waits))
            .route("/api/v1/sessions", get(api::sessions))
            .route("/api/v1/session", get(api::session))
            .route("/api/v1/live", get(live::live))
            // Both need the right to read the record (`Right::ReadAudit`).
            .route("/api/v1/audit", get(audit::page))
            .route("/api/v1/audit/export", get(audit::export))
            .route("/api", any(unknown_api))
            .route("/api/{*rest}", any(unknown_api))
            .with_state(self.clone())
            .layer(middleware::map_response(headers::of_api));
        api.merge(pages)
            .method_not_allowed_fallback(method_not_allowed)
            .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
            .layer(middleware::from_fn(bounded))
            .layer(middleware::from_fn_with_state(self.clone(), guard::guard))
            .layer(middleware::from_fn_with_state(self.clone(), headers::of_all))
    }
}

async fn unknown_api(uri: Uri) -> Refused {
    Refused::not_found(format!(
        "there is nothing at {}; the API has /api/v1/status, /api/v1/locks, /api/v1/lock, /api/v1/waits, /api/v1/sessions, /api/v1/session, /api/v1/live, /api/v1/audit and /api/v1/audit/export",
        problem::echo(uri.path())
    ))
}

async fn method_not_allowed(method: Method, uri: Uri) -> Refused {
    Refused::new(
        axum::http::StatusCode::METHOD_NOT_ALLOWED,
        format!("{} is not allowed at {}; use GET", problem::echo(method.as_str()), problem::echo(uri.path())),
    )
}

async fn bounded(request: Request, next: Next) -> Response {
    match tokio::time::timeout(Duration::from_millis(ANSWER_MS_MAX), next.run(request)).await {
        Ok(response) => response,
        Err(_) => Refused::unavailable(format!("no answer was ready within {ANSWER_MS_MAX} ms; try again")).into_response(),
    }
}
