//! What the page needs from its host while it is rendered on the server. In the browser the same data comes
//! over the live socket.

use std::sync::Arc;

use crate::address::with_parameter;
use lockscope_view::{
    Board, BoardQuery, Epoch, LockOrders, LockPage, LockQuery, SessionPage, SessionQuery, Sessions, SessionsQuery,
    Status, Waits, WaitsQuery,
};

/// A first view and where to go on from: the live socket resumes after (`epoch`, `seq`) of the same view.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct InitialView<T> {
    pub epoch: Epoch,
    pub seq: u64,
    /// The server's clock, ms since the Unix epoch; ages in the first render are against this.
    pub server_time_ms: i64,
    /// The instant up to which the view is known to be true, as in a live frame.
    pub known_at_ms: i64,
    pub value: T,
}

/// Read access to the live views.
pub trait Source: Send + Sync + 'static {
    fn board(&self, query: &BoardQuery) -> InitialView<Board>;
    /// One lock; `value` is None when there is no such lock.
    fn lock(&self, query: &LockQuery) -> InitialView<Option<Box<LockPage>>>;
    fn status(&self) -> InitialView<Status>;
    fn waits(&self, query: WaitsQuery) -> InitialView<Box<Waits>>;
    fn orders(&self) -> LockOrders {
        LockOrders::default()
    }
    fn sessions(&self, query: &SessionsQuery) -> InitialView<Sessions>;
    /// One session; `value` is None when nothing is known of it.
    fn session(&self, query: &SessionQuery) -> InitialView<Option<Box<SessionPage>>>;
}

/// What the host found in what is kept of the past.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PastAnswer<T> {
    /// No history is kept.
    #[default]
    Off,
    /// Why it can't be shown.
    Refused(String),
    Found(Box<T>),
}

/// The field of a form that says which page it came from.
pub const FORM_TOKEN: &str = "form_token";

/// Makes the tokens of forms, by the form's address; a context of the page while it is rendered on the server.
#[derive(Clone)]
pub struct FormTokens(Arc<dyn Fn(&str) -> String + Send + Sync>);

impl FormTokens {
    pub fn new(token: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(token))
    }

    /// The token of a form that is sent to an address; empty where none is needed.
    pub fn token(&self, action: &str) -> String {
        (self.0)(action)
    }
}

impl Default for FormTokens {
    fn default() -> Self {
        Self::new(|_| String::new())
    }
}

impl std::fmt::Debug for FormTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FormTokens(…)")
    }
}

/// What ends an address that leads from a page of the past to the present; taken off by the host.
pub const PRESENT: &str = "#present";

/// A moment of the past that a page shows in place of the present; a context of the page while it is rendered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PastView {
    /// The moment, ms since the epoch.
    pub at_ms: i64,
    pub now_ms: i64,
    /// The address of the page without its moment.
    pub address: String,
    /// Nothing is live: time ends with what is kept.
    pub is_over: bool,
    /// What is shown was generated for the demo and not observed.
    pub is_generated: bool,
    /// Ensembles of which nothing is known at that moment, and why; empty where there are none.
    pub not_shown: String,
    /// The oldest and the newest moment that are kept.
    pub kept_ms: (i64, i64),
    pub gaps_ms: Vec<(i64, i64)>,
    /// How much happened when, in order; of time in which nothing happened there is none.
    pub pieces: Vec<PastPiece>,
    /// When somebody released by Lockscope.
    pub releases_ms: Vec<i64>,
    /// The moments before and after it at which something happened.
    pub events_ms: Neighbours,
    /// The same of changes of a verdict.
    pub changes_ms: Neighbours,
}

impl PastView {
    pub fn url(&self, at_ms: i64) -> String {
        with_parameter(&self.address, &format!("at={at_ms}"))
    }

    /// The moment so much later, or earlier where it is negative: no further than something is kept. Of what lies in a
    /// gap nothing is known, so a step that would end there ends where the gap does on this side, or on the other side
    /// where it started there.
    pub fn step(&self, by_ms: i64) -> Option<i64> {
        let (from, to) = self.kept_ms;
        let wanted_ms = self.at_ms + by_ms;
        // Gaps of several ensembles may overlap: where one ends another may go on.
        let out_of_gaps = |is_back: bool| {
            let mut at_ms = wanted_ms;
            while let Some((begin, end)) = self.gaps_ms.iter().find(|(begin, end)| *begin < at_ms && at_ms < *end) {
                at_ms = if is_back { *begin } else { *end };
            }
            at_ms
        };
        let near_ms = out_of_gaps(by_ms > 0);
        let is_on_the_way = if by_ms > 0 { near_ms > self.at_ms } else { near_ms < self.at_ms };
        let at_ms = if is_on_the_way { near_ms } else { out_of_gaps(by_ms < 0) };
        (from..=to).contains(&at_ms).then_some(at_ms)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastPiece {
    /// Where it begins, ms since the epoch.
    pub from_ms: i64,
    pub to_ms: i64,
    /// Contenders that came, began to hold, or gave up.
    pub events: u64,
    /// Of the worst verdict: 0 for worth knowing, 1 for worth a look, 2 for act.
    pub severity: u8,
}

/// The nearest moments before and after another; None where none is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Neighbours {
    pub before: Option<i64>,
    pub after: Option<i64>,
}
