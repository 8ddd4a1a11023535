//! What is served over HTTP: the routes, and what holds for every answer. Knows views, never the model.
#![recursion_limit = "512"]

mod alerts;
mod api;
mod api_as_of;
mod api_problems;
mod api_sessions;
mod api_types;
mod approve;
mod assets;
mod audit_api;
mod audit_others;
mod audit_page;
mod caller;
mod cluster;
mod compact;
mod counts;
mod csv;
mod events;
mod events_page;
mod find;
mod flow_control;
mod forms;
mod health;
mod help;
mod history;
#[cfg(feature = "lab")]
mod lab_api;
#[cfg(feature = "lab")]
mod lab_form;
#[cfg(feature = "lab")]
mod lab_page;
mod limits;
pub mod listener;
mod live;
mod me;
pub mod metrics;
mod metrics_api;
mod middleware;
mod near;
mod openapi;
mod operation;
mod orders;
mod origins;
mod page_source;
mod pages;
mod params;
mod payloads;
mod peer;
mod preferences_api;
mod problem;
mod redirect;
mod release_api;
mod route;
mod routes;
mod server_pages;
mod session_timeout;
mod shared_answers;
mod sign_in;
mod socket;
mod socket_beside;
mod socket_end;
mod socket_past;
mod socket_stream;
mod socket_viewer;
mod worker_pool;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use tokio::sync::{Semaphore, watch};

pub use crate::alerts::AlertDesk;
use crate::history::Moments;
pub use crate::history::{AllIncidents, Recordings};
use crate::metrics::Metrics;
use counts::Counts;
pub use limits::Limits;
use lockscope_access::Access;
use lockscope_audit::{Actor, AuditLog, QuotaOwner, Records, Right, SharedHeads};
use lockscope_cluster::Cluster;
#[cfg(feature = "lab")]
use lockscope_lab::{Lab, LabService};
use lockscope_live::Hub;
use lockscope_release::ReleaseService;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::quota::Quota;
use lockscope_runtime::shutdown::CancellationToken;
use lockscope_view::Scope;
use middleware::{authentication, compression, headers, origin, panicked};
use operation::{Operation, Tag};
pub use origins::{ORIGINS_MAX, Origin, OriginFault, Origins, Scheme, is_loopback};
pub use pages::pages;
use params::ParamNames;
pub use payloads::Payloads;
use problem::ErrorResponse;
use route::Answer;
pub use route::{Need, Route, Verb};
pub use routes::all as routes;
use shared_answers::SharedAnswers;
use worker_pool::WorkerPool;

/// Bytes of a request's body; nothing here takes more.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// Live sockets at once unless something else is said; one more is refused with 503.
pub const SOCKETS_MAX: u32 = 4_096;
pub const SOCKETS_ALLOWED_MAX: u32 = 32_768;
/// Live sockets of one caller at once; a client of whom nobody is known has four times as many. All who share a name or an
/// address have half of all at most.
pub const CALLER_SOCKETS_MAX: usize = 16;
/// Views of one caller at once, on all sockets together; limited as sockets are.
pub const CALLER_VIEWS_MAX: usize = 64;
/// Views of all callers, each counted for everybody who looks at it.
const VIEWS_MAX: usize = 65_536;
/// Questions about the past that are worked on at once, one of each caller: two who ask for much leave turns for others.
const PAST_AT_ONCE: usize = 4;

#[derive(Clone)]
pub struct Http {
    operations: &'static [(Tag, &'static [Operation])],
    hub: Arc<Hub>,
    draining: CancellationToken,
    limits: Limits,
    sockets: Arc<Semaphore>,
    caller_sockets: Quota<QuotaOwner>,
    caller_views: Quota<QuotaOwner>,
    counts: Arc<Counts>,
    /// The release service; None without an audit log.
    release_service: Option<ReleaseService>,
    origins: Arc<Origins>,
    records: Arc<dyn Records>,
    access: Access,
    /// Who is shown payloads. Set again when somebody may see more or less than before: every socket begins anew then.
    payloads: watch::Receiver<Payloads>,
    #[cfg(feature = "lab")]
    lab: LabService,
    metrics: Arc<Metrics>,
    /// Moments of the past; None where nothing is recorded.
    moments: Option<Arc<Moments>>,
    /// Alerts; None where nothing is live.
    alerts: Option<AlertDesk>,
    /// Other servers that watch the same; None where this one is alone.
    cluster: Option<Cluster>,
    /// How far their audit logs go; None where they share no database.
    audit_heads: Option<Arc<SharedHeads>>,
    /// Nothing is live: what is shown is as of the end of what was recorded.
    is_past: bool,
    /// What takes a while to answer, and answers that are shared.
    work: WorkerPool,
    shared: SharedAnswers,
    /// The same for the past, which takes seconds: who looks at the present never waits for who looks back.
    past_work: WorkerPool,
    past_shared: SharedAnswers,
    files: history::FileRooms,
}

impl Http {
    /// Routes over a hub; `draining` says when to send everybody away. Only pages of this machine may use them;
    /// everybody may look and nobody may do anything.
    pub fn new(hub: Arc<Hub>, draining: CancellationToken, limits: Limits) -> Self {
        let sockets = Arc::new(Semaphore::new(limits.sockets_max as usize));
        let (work, past_work) = (WorkerPool::new(), WorkerPool::with_turns(PAST_AT_ONCE));
        let caller_sockets = Quota::new(limits.sockets_max as usize, limits.caller_sockets_max, Arc::default());
        let caller_views = Quota::new(VIEWS_MAX, limits.caller_views_max, Arc::default());
        Self {
            operations: routes::OPERATIONS,
            hub,
            draining,
            limits,
            sockets,
            caller_sockets,
            caller_views,
            counts: Arc::default(),
            access: Access::open_to_all(Clock::system()),
            payloads: watch::channel(Payloads::default()).1,
            release_service: None,
            origins: Arc::new(Origins::loopback()),
            records: Arc::<AuditLog>::default(),
            #[cfg(feature = "lab")]
            lab: LabService::new(Lab::off(), Arc::<AuditLog>::default(), Clock::system()),
            metrics: Arc::default(),
            moments: None,
            alerts: None,
            cluster: None,
            audit_heads: None,
            is_past: false,
            shared: SharedAnswers::new(work.clone()),
            work,
            past_shared: SharedAnswers::new(past_work.clone()),
            past_work,
            files: history::FileRooms::new(),
        }
    }

    #[must_use]
    pub fn with_origins(self, origins: Origins) -> Self {
        Self { origins: Arc::new(origins), ..self }
    }

    #[must_use]
    pub fn with_release_service(self, release_service: ReleaseService) -> Self {
        Self { release_service: Some(release_service), ..self }
    }

    #[must_use]
    pub fn with_alerts(self, alerts: AlertDesk) -> Self {
        Self { alerts: Some(alerts), ..self }
    }

    #[must_use]
    pub fn with_cluster(self, cluster: Option<Cluster>, audit_heads: Option<Arc<SharedHeads>>) -> Self {
        Self { cluster, audit_heads, ..self }
    }

    #[must_use]
    pub fn with_history(self, recordings: Recordings) -> Self {
        Self { moments: Some(Arc::new(Moments::new(recordings))), ..self }
    }

    /// Where nothing is live: its hub is of the end of this, and its pages are those of a moment.
    #[must_use]
    pub fn of_the_past(self, recordings: Recordings) -> Self {
        Self { is_past: true, moments: Some(Arc::new(Moments::of_what_is_over(recordings))), ..self }
    }

    #[must_use]
    pub fn with_records(self, records: Arc<dyn Records>) -> Self {
        Self { records, ..self }
    }

    #[must_use]
    pub fn with_access(self, access: Access) -> Self {
        Self { access, ..self }
    }

    #[must_use]
    pub fn with_payloads(self, payloads: watch::Receiver<Payloads>) -> Self {
        Self { payloads, ..self }
    }

    #[cfg(feature = "lab")]
    #[must_use]
    pub fn with_lab(self, lab: LabService) -> Self {
        Self { lab, ..self }
    }

    /// Runs of the lab that were begun, by ensemble.
    fn lab_runs(&self) -> Vec<(String, u64)> {
        #[cfg(feature = "lab")]
        let begun = self.lab.lab().begun().map(|(name, count)| (name.to_owned(), count)).collect();
        #[cfg(not(feature = "lab"))]
        let begun = Vec::new();
        begun
    }

    #[must_use]
    pub fn with_metrics(self, metrics: Metrics) -> Self {
        Self { metrics: Arc::new(metrics), ..self }
    }

    fn scope_of(&self, actor: &Actor) -> Scope {
        let payloads = self.payloads.borrow().are_for(actor.role);
        let scope = Scope::new(actor.scope.clone(), payloads);
        scope.with_records(actor.may(Right::ReadAudit))
    }

    async fn in_time(&self, answer: impl Future<Output = Response>) -> Result<Response, ErrorResponse> {
        let within = Duration::from_millis(self.limits.answer_ms_max);
        tokio::time::timeout(within, answer).await.map_err(|_| self.late())
    }

    fn late(&self) -> ErrorResponse {
        let ms_max = self.limits.answer_ms_max;
        ErrorResponse::unavailable(format!("no answer was ready within {ms_max} ms; try again"))
    }

    /// Waits until every socket is closed, at most this long; false when some are not.
    pub async fn sockets_closed(&self, within: Duration) -> bool {
        tokio::time::timeout(within, self.sockets.acquire_many(self.limits.sockets_max)).await.is_ok()
    }

    /// What is made of the table alone.
    fn rows(&self) -> Router {
        let rows = |router: Router<Self>, (row, params): (&Route, ParamNames)| match row.answer {
            Answer::Api(handler) | Answer::Act(handler) | Answer::Form(handler) => {
                router.route(row.path, handler().layer(Extension(params)))
            }
            Answer::Page | Answer::File => router,
        };
        routes::with_params().fold(Router::new(), rows).with_state(self.clone())
    }

    /// The whole router, made of the table in `routes`. `pages` brings the page and its assets, with its own answer to
    /// unknown addresses.
    pub fn router(&self, pages: Router) -> Router {
        let own = self.rows();
        let pages = pages
            .layer(from_fn_with_state(self.clone(), authentication::render_in_turn))
            .layer(from_fn_with_state(self.clone(), history::show_moments))
            .layer(from_fn_with_state(self.clone(), alerts::banner::add));
        own.merge(pages)
            .layer(from_fn_with_state(self.clone(), history::refuse_the_present))
            .layer(from_fn_with_state(self.clone(), authentication::authenticate))
            .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
            .layer(from_fn(panicked::caught))
            .layer(from_fn_with_state(self.clone(), bounded))
            .layer(from_fn_with_state(self.clone(), origin::check_origin))
            .layer(from_fn_with_state(self.clone(), compression::compress))
            .layer(from_fn_with_state(self.clone(), headers::of_all))
    }
}

/// Time-out for answers. A release ends by itself, however long it takes; only its body has to arrive in time.
async fn bounded(State(http): State<Http>, request: Request, next: Next) -> Response {
    if !routes::row(request.uri().path(), request.method()).is_some_and(|row| row.bounds_itself) {
        return http.in_time(next.run(request)).await.unwrap_or_else(IntoResponse::into_response);
    }
    let (within, late) = (Duration::from_millis(http.limits.answer_ms_max), || http.late().into_response());
    let (parts, body) = request.into_parts();
    match tokio::time::timeout(within, axum::body::to_bytes(body, BODY_BYTES_MAX)).await {
        Ok(Ok(body)) => next.run(Request::from_parts(parts, body.into())).await,
        Ok(Err(_)) => {
            let detail = format!("the body can't be read: it ended early or has more than {BODY_BYTES_MAX} bytes");
            ErrorResponse::new(StatusCode::PAYLOAD_TOO_LARGE, detail).into_response()
        }
        Err(_) => late(),
    }
}
