//! Requests that one replica hands on to another whole: acts, files, and pages of the past. Plain data, what may be handed
//! on at all, and room for it. Sent by `handed_on_send`, answered by `handed_on_take`.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderName, Method, Uri, header};
use identity::{Actor, QuotaOwner, Scope};
use lockscope_wire::{Role, SignedBy};
use runtime::clock;
use runtime::quota::Quota;
use runtime::rate::RateLimit;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use super::caller::Caller;
use super::elsewhere::names_a_moment;
use super::handed_on_counts::HandedOnCounts;
use super::history::is_past_page;
use super::problem::ErrorResponse;

/// Where replicas hand requests on.
pub const REPLICA_HAND_ON: &str = "/api/v1/cluster/hand-on";
/// Headers of an answer that are handed on.
pub(super) const HANDED_ON_HEADERS: [HeaderName; 6] = [
    header::CONTENT_TYPE,
    header::CONTENT_LENGTH,
    header::CONTENT_DISPOSITION,
    header::CONTENT_SECURITY_POLICY,
    header::LOCATION,
    header::RETRY_AFTER,
];

/// What a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HandedOnKind {
    /// It changes something, or plans to. It is sent once, and rights are those of the replica that carries it out as well.
    Act,
    /// A file of any size, which nobody holds as a whole.
    File,
    /// A page of the past.
    Page,
}

/// Room for requests of each kind. Overflow policy: one more is refused, and nothing of it is done.
#[derive(Clone)]
pub(super) struct HandedOnRooms {
    /// Sent to others, by who asks.
    sent: [Quota<QuotaOwner>; 3],
    /// Answered for others.
    taken: [Arc<Semaphore>; 3],
    /// Orders that are put on record before they are sent.
    orders: Arc<Mutex<RateLimit<QuotaOwner>>>,
    /// What came of them.
    pub(super) counts: Arc<HandedOnCounts>,
}

/// Orders of one person, a second for long and at once: each is a record, and five releases a minute are one's limit.
const ORDERS_PER_SECOND: u32 = 1;
const ORDERS_BURST: u32 = 10;

impl HandedOnKind {
    /// Requests at once: of one person, and of all.
    fn most(self) -> (usize, usize) {
        match self {
            Self::Act => (4, 32),
            Self::File => (2, 4),
            Self::Page => (4, 16),
        }
    }

    pub(super) const ALL: [Self; 3] = [Self::Act, Self::File, Self::Page];

    /// Its name in metrics.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Act => "act",
            Self::File => "file",
            Self::Page => "page",
        }
    }
}

impl HandedOnRooms {
    pub(super) fn new() -> Self {
        let sent = HandedOnKind::ALL.map(|kind| Quota::new(kind.most().1, kind.most().0, Arc::default()));
        let taken = HandedOnKind::ALL.map(|kind| Arc::new(Semaphore::new(kind.most().1)));
        let orders = Arc::new(Mutex::new(RateLimit::new(ORDERS_PER_SECOND, ORDERS_BURST)));
        Self { sent, taken, orders, counts: Arc::default() }
    }

    /// Lets somebody have an order handed on, or says why not.
    pub(super) fn admit_order(&self, caller: &QuotaOwner) -> Result<(), ErrorResponse> {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        orders.take(caller, 1, clock::instant()).map_err(|wait| {
            let sentence = "Nothing was sent: more orders of yours are handed on to other replicas than may be; wait.";
            ErrorResponse::too_many(sentence, wait)
        })
    }

    pub(super) fn sent(&self, kind: HandedOnKind) -> &Quota<QuotaOwner> {
        let [act, file, page] = &self.sent;
        match kind {
            HandedOnKind::Act => act,
            HandedOnKind::File => file,
            HandedOnKind::Page => page,
        }
    }

    pub(super) fn taken(&self, kind: HandedOnKind) -> &Arc<Semaphore> {
        let [act, file, page] = &self.taken;
        match kind {
            HandedOnKind::Act => act,
            HandedOnKind::File => file,
            HandedOnKind::Page => page,
        }
    }
}

/// How a request is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum HandedOnMethod {
    /// GET.
    Get,
    /// POST.
    Post,
    /// DELETE.
    Delete,
}

impl HandedOnMethod {
    pub(super) fn method(self) -> Method {
        match self {
            Self::Get => Method::GET,
            Self::Post => Method::POST,
            Self::Delete => Method::DELETE,
        }
    }
}

/// What a request carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum HandedOnContent {
    /// Nothing.
    None,
    /// JSON.
    Json(String),
    /// What was typed into a form.
    Form(String),
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) method: HandedOnMethod,
    /// Path and query.
    pub(super) target: String,
    pub(super) content: HandedOnContent,
}

/// One request, for somebody whom the one that hands it on knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HandedOnRequest {
    /// The number by which audit logs name it.
    pub(super) request_id: String,
    /// Since when the process runs that is meant, ms since the epoch: one that was started since does not take it.
    pub(super) process_since_ms: i64,
    /// How it was asked.
    method: HandedOnMethod,
    /// Path and query.
    target: String,
    /// What was sent with it.
    content: HandedOnContent,
    /// For whom.
    name: String,
    /// With what role.
    role: Role,
    /// How the one that hands it on knows them.
    by: SignedBy,
    /// From where they came; null where that is not known.
    address: Option<IpAddr>,
    /// The ensembles that they may see; empty for all.
    ensembles: Vec<String>,
    /// The paths that they may see, with all below; empty for all.
    paths: Vec<String>,
    /// Whether they are shown what znodes carry, where they ask.
    pub(super) payloads: bool,
    /// The key of their forms; empty for none.
    pub(super) form_key: String,
}

/// What comes before the body of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HandedOnHead {
    pub(super) status: u16,
    /// Those of [`HANDED_ON_HEADERS`] that are there.
    pub(super) headers: Vec<(String, String)>,
    /// The clock of the one that answers, ms since the epoch.
    pub(super) now_ms: i64,
}

impl HandedOnRequest {
    pub(super) fn new(asked: &Asked, request_id: &str, process_since_ms: i64, caller: &Caller) -> Self {
        let Actor { name, role, scope, by, address, through: _ } = caller.actor.clone();
        let Scope { ensembles, paths } = scope;
        let Asked { method, target, content } = asked.clone();
        let (request_id, payloads) = (request_id.to_owned(), caller.scope.payloads());
        let form_key = caller.principal.forms.expose().to_owned();
        Self {
            request_id,
            process_since_ms,
            method,
            target,
            content,
            name,
            role,
            by,
            address,
            ensembles,
            paths,
            payloads,
            form_key,
        }
    }

    /// Whoever it is for, as far as the replica that hands it on knows them.
    pub(super) fn actor(&self, through: &str) -> Actor {
        Actor {
            name: self.name.clone(),
            role: self.role,
            scope: Scope { ensembles: self.ensembles.clone(), paths: self.paths.clone() },
            by: self.by,
            address: self.address,
            through: Some(through.to_owned()),
        }
    }

    /// What is asked for.
    pub(super) fn asked(&self) -> Asked {
        Asked { method: self.method, target: self.target.clone(), content: self.content.clone() }
    }
}

/// Acts that may be handed on, each with its method.
const ACTS: [(HandedOnMethod, &str); 9] = [
    (HandedOnMethod::Post, "/api/v1/release/plan"),
    (HandedOnMethod::Post, "/api/v1/release/execute"),
    (HandedOnMethod::Post, "/api/v1/release/revoke"),
    (HandedOnMethod::Post, "/api/v1/release/approve"),
    (HandedOnMethod::Post, "/api/v1/alerts/ack"),
    (HandedOnMethod::Post, "/api/v1/alerts/silences"),
    (HandedOnMethod::Post, "/api/v1/orders/snooze"),
    (HandedOnMethod::Post, "/release/approve"),
    (HandedOnMethod::Get, "/release/approve"),
];
/// What may be ended by its number, below these.
const ENDED: [&str; 2] = ["/api/v1/alerts/silences/", "/api/v1/orders/snooze/"];
/// Runs of the lab.
const RUNS: &str = "/api/v1/lab/runs/";
/// Files that may be.
pub(super) const EXPORT: &str = "/api/v1/history/export";
/// Where a rule is tried on what was recorded.
pub(super) const RULE_TEST: &str = "/api/v1/alerts/test";

/// Digits of the id of a run.
const RUN_ID_DIGITS: usize = 16;

/// Whether this can be the id of a run of the lab.
pub(super) fn is_run_id(id: &str) -> bool {
    id.len() == RUN_ID_DIGITS && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// What a request is, if it may be handed on at all.
pub(super) fn kind_of(method: HandedOnMethod, uri: &Uri) -> Option<HandedOnKind> {
    let path = uri.path();
    if ACTS.contains(&(method, path)) {
        return Some(HandedOnKind::Act);
    }
    if let Some(rest) = path.strip_prefix(RUNS) {
        let id = match method {
            HandedOnMethod::Delete => Some(rest),
            HandedOnMethod::Post => rest.strip_suffix("/faults"),
            HandedOnMethod::Get => None,
        };
        return id.is_some_and(is_run_id).then_some(HandedOnKind::Act);
    }
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    match method {
        HandedOnMethod::Delete => {
            let is_ended = ENDED.iter().any(|top| path.strip_prefix(top).is_some_and(is_number));
            return is_ended.then_some(HandedOnKind::Act);
        }
        // It changes nothing, and takes as long as a page of the past.
        HandedOnMethod::Post => return (path == RULE_TEST).then_some(HandedOnKind::Page),
        HandedOnMethod::Get => {}
    }
    if path == EXPORT {
        return Some(HandedOnKind::File);
    }
    (is_past_page(path) && names_a_moment(uri)).then_some(HandedOnKind::Page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_listed_is_handed_on() {
        let of = |method, target: &str| kind_of(method, &target.parse().unwrap());
        let (get, post) = (HandedOnMethod::Get, HandedOnMethod::Post);
        assert_eq!(of(post, "/api/v1/release/execute"), Some(HandedOnKind::Act));
        assert_eq!(of(get, "/release/approve?plan=1"), Some(HandedOnKind::Act));
        assert_eq!(of(get, "/api/v1/history/export?format=csv"), Some(HandedOnKind::File));
        assert_eq!(of(get, "/lock?path=/a&at=1"), Some(HandedOnKind::Page));
        for target in
            ["/lock?path=/a", "/status?at=1", "/api/v1/locks?at=1", "/sign-in?at=1", "/api/v1/release/execute"]
        {
            assert_eq!(of(get, target), None, "{target}");
        }
        for wrong in ["", "0123456789ABCDEF", "0123456789abcde", "0123456789abcdef0", "../../api/v1/meta"] {
            assert!(!is_run_id(wrong), "{wrong}");
        }
        for target in ["/sign-out", "/api/v1/cluster/hand-on", "/api/v1/lab/runs", "/api/v1/preferences", "/lock?at=1"]
        {
            assert_eq!(of(post, target), None, "{target}");
        }
        let delete = HandedOnMethod::Delete;
        assert_eq!(of(delete, "/api/v1/alerts/silences/7"), Some(HandedOnKind::Act));
        assert_eq!(of(delete, "/api/v1/orders/snooze/7?ensemble=a"), Some(HandedOnKind::Act));
        assert_eq!(of(delete, "/api/v1/lab/runs/0123456789abcdef"), Some(HandedOnKind::Act));
        assert_eq!(of(post, "/api/v1/lab/runs/0123456789abcdef/faults"), Some(HandedOnKind::Act));
        assert_eq!(of(post, "/api/v1/lab/runs/0123456789abcdef"), None);
        assert_eq!(of(post, RULE_TEST), Some(HandedOnKind::Page));
        for target in
            ["/api/v1/release/plan", "/api/v1/alerts/silences/", "/api/v1/alerts/silences/7/8", "/api/v1/lab/runs/1"]
        {
            assert_eq!(of(delete, target), None, "{target}");
        }
    }
}
