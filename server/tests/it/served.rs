//! An HTTP server over a model that is a list of names: what the socket and API tests share. No ZooKeeper.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use axum::Router;
use futures_util::{SinkExt as _, StreamExt as _};
use lockscope_access::Access;
use lockscope_live::{Hub, Known, ProjectedView, Projection, Views, pump};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::{self, CancellationToken, DropGuard};
use lockscope_view::{
    Board, BoardHead, BoardQuery, Confidence, ConfigStatus, EnsembleStatus, Epoch, EventsQuery, LabQuery, LabRun,
    Lately, Link, LockHead, LockPage, LockQuery, LockRow, LockStats, PROTOCOL, QueueMap, QueueMapQuery, Recipe,
    RootBrief, RootState, Scope, SessionPage, SessionQuery, Sessions, SessionsQuery, Status, Verdict, View, Waits,
    WaitsQuery, Window, Zxid,
};
use lockscope_web::listener::{Bounds, Tls};
use lockscope_web::{Http, Limits};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::harness::{DEADLINE, STEP};
use crate::made_up;

/// The server's clock stands here.
pub(crate) const NOW_MS: i64 = 1_000_000;

/// A model that is a list of lock paths.
pub(crate) struct Fake {
    paths: Mutex<Vec<String>>,
    revision: watch::Sender<u64>,
    is_ready: Mutex<bool>,
    /// Up to when what it shows is known to be true.
    pub(crate) known_at_ms: AtomicI64,
    /// How long a look at waits and sessions takes, and how many were taken.
    look: Mutex<Duration>,
    looks: AtomicUsize,
    /// Whether such looks wait, and for what.
    held: Mutex<bool>,
    let_go: Condvar,
}

impl Default for Fake {
    fn default() -> Self {
        Self {
            paths: Mutex::default(),
            revision: watch::channel(0).0,
            is_ready: Mutex::new(true),
            known_at_ms: AtomicI64::new(NOW_MS),
            look: Mutex::default(),
            looks: AtomicUsize::new(0),
            held: Mutex::default(),
            let_go: Condvar::new(),
        }
    }
}

impl Fake {
    pub(crate) fn set(&self, paths: &[String]) {
        *self.paths.lock().unwrap() = paths.to_vec();
        self.revision.send_modify(|revision| *revision += 1);
    }

    pub(crate) fn set_look(&self, takes: Duration) {
        *self.look.lock().unwrap() = takes;
    }

    /// Has looks at waits and sessions wait, until they are let go.
    pub(crate) fn hold_looks(&self, held: bool) {
        *self.held.lock().unwrap() = held;
        self.let_go.notify_all();
    }

    pub(crate) fn looks(&self) -> usize {
        self.looks.load(Ordering::Relaxed)
    }

    pub(crate) fn set_ready(&self, is_ready: bool) {
        *self.is_ready.lock().unwrap() = is_ready;
    }
}

fn row(path: &str) -> LockRow {
    LockRow {
        key: path.to_owned(),
        tag: None,
        ensemble: "default".to_owned(),
        path: path.to_owned(),
        root: "/".to_owned(),
        recipe: Recipe::SequentialMutex,
        recipe_label: "kazoo Lock".to_owned(),
        confidence: Confidence::High,
        verdict: Verdict::Healthy,
        sentence: "held".to_owned(),
        state: RootState::Live,
        holders: Vec::new(),
        holder_count: 1,
        waiter_count: Some(2),
        wait_is_lower_bound: false,
        oldest_wait_at_ms: Some(NOW_MS - 500),
        waiting_since_sum_ms: 2 * NOW_MS - 700,
        held_since_ms: Some(NOW_MS - 900),
        hold_is_lower_bound: true,
        findings: Vec::new(),
        depth: lockscope_view::Depth::default(),
        hand_offs_in_10_s: None,
        missing: Vec::new(),
    }
}

impl Fake {
    fn known_now(&self) -> Known {
        Known { at_ms: self.known_at_ms.load(Ordering::Relaxed), is_live: true, is_past: false }
    }

    fn show<T>(&self, body: impl FnOnce(Vec<String>) -> T) -> ProjectedView<T> {
        let paths = self.paths.lock().unwrap().clone();
        ProjectedView { body: body(paths), known: self.known_now() }
    }

    /// The same; takes a while.
    fn show_late<T>(&self, body: impl FnOnce(Vec<String>) -> T) -> ProjectedView<T> {
        let paths = self.paths.lock().unwrap().clone();
        self.looks.fetch_add(1, Ordering::Relaxed);
        let takes = *self.look.lock().unwrap();
        std::thread::sleep(takes);
        drop(self.let_go.wait_while(self.held.lock().unwrap(), |held| *held).unwrap());
        ProjectedView { body: body(paths), known: self.known_now() }
    }
}

impl Views for Fake {
    fn board(&self, query: &BoardQuery, _scope: &Scope) -> ProjectedView<Board> {
        let root = RootBrief {
            tag: None,
            path: "/".to_owned(),
            state: RootState::Live,
            since_ms: 1,
            why: String::new(),
            locks: 0,
            help: String::new(),
        };
        self.show(|paths| {
            let rows: Vec<LockRow> =
                paths.iter().skip(query.offset as usize).take(query.limit as usize).map(|path| row(path)).collect();
            let head = BoardHead { roots: vec![root], ..BoardHead::default() };
            Board { head, window: Window { total: u32::try_from(paths.len()).unwrap(), offset: query.offset, rows } }
        })
    }

    fn lock(&self, query: &LockQuery, _scope: &Scope) -> ProjectedView<Option<Box<LockPage>>> {
        let page = || {
            let head = LockHead {
                row: row(&query.path),
                as_of: lockscope_view::AsOf {
                    state: RootState::Stale,
                    since_ms: 77,
                    why: "silent".to_owned(),
                    zxid: Zxid(16),
                    proof: lockscope_view::Proof::default(),
                    ensemble: None,
                },
                recognised_by: Vec::new(),
                capacity: None,
                foreign: Vec::new(),
                findings: Vec::new(),
                notes: Vec::new(),
                stat: None,
                stats: LockStats::default(),
                past: Vec::new(),
                herd: None,
                fired: Vec::new(),
                hidden_waiters: 0,
                trust: lockscope_view::Trust::default(),
                advice: None,
            };
            Box::new(LockPage { head, window: Window::default() })
        };
        self.show(|paths| paths.contains(&query.path).then(page))
    }

    fn status(&self, _scope: &Scope) -> ProjectedView<Status> {
        let ensemble = EnsembleStatus {
            color: None,
            name: "default".to_owned(),
            connect: "fake:1".to_owned(),
            link: Link::Live,
            since_ms: 0,
            why: String::new(),
            session_id: None,
            zxid: Zxid(1),
            clock_offset_ms: None,
            roots: Vec::new(),
            clock_error_ms: None,
            evidence: Vec::new(),
            findings: Vec::new(),
            resyncs: Some(0),
            events: Some(3),
            owner_unknown: Some(0),
            missed: Some(0),
            history: None,
            excluded: None,
            proof: Default::default(),
        };
        self.show(|_| Status {
            version: "0".to_owned(),
            protocol: PROTOCOL,
            seq: self.revision(),
            read_only: true,
            started_at_ms: 0,
            config: ConfigStatus::default(),
            ensembles: vec![ensemble],
        })
    }

    fn waits(&self, _query: &WaitsQuery, _scope: &Scope) -> ProjectedView<Box<Waits>> {
        self.show_late(|paths| Box::new(made_up::waits(&paths)))
    }

    fn sessions(&self, query: &SessionsQuery, _scope: &Scope) -> ProjectedView<Sessions> {
        self.show_late(|paths| made_up::sessions(&paths, query))
    }

    fn session(&self, query: &SessionQuery, _scope: &Scope) -> ProjectedView<Option<Box<SessionPage>>> {
        self.show(|paths| made_up::session(&paths, query))
    }

    fn lab(&self, _query: &LabQuery, _scope: &Scope) -> ProjectedView<Option<Box<LabRun>>> {
        self.show(|_| None)
    }

    fn events(&self, _query: &EventsQuery, _scope: &Scope) -> ProjectedView<Lately> {
        self.show(|_| Lately::default())
    }

    fn queue_map(&self, _query: &QueueMapQuery, _scope: &Scope) -> ProjectedView<Option<Box<QueueMap>>> {
        self.show(|_| None)
    }
}

impl Projection for Fake {
    fn revisions(&self) -> lockscope_live::Revisions {
        lockscope_live::Revisions::of([self.revision.subscribe()])
    }

    fn revision(&self) -> u64 {
        *self.revision.borrow()
    }

    fn view_revision(&self, _view: &View, _sight: &Scope) -> Vec<u64> {
        vec![self.revision()]
    }

    fn known(&self, _view: &View, _sight: &Scope) -> Known {
        self.known_now()
    }

    fn is_ready(&self) -> bool {
        *self.is_ready.lock().unwrap()
    }

    fn is_linked(&self) -> bool {
        true
    }
}

/// A running server.
pub(crate) struct Served {
    pub(crate) fake: Arc<Fake>,
    pub(crate) address: SocketAddr,
    hub: Arc<Hub>,
    pub(crate) http: Http,
    pub(crate) drain: CancellationToken,
    /// Closes the door.
    pub(crate) close: CancellationToken,
    _guards: [DropGuard; 3],
}

pub(crate) type Client = WebSocketStream<MaybeTlsStream<TcpStream>>;

impl Served {
    pub(crate) async fn start(limits: Limits) -> Self {
        Self::start_with(limits, Bounds::default(), None, |http| http).await
    }

    pub(crate) async fn start_with(
        limits: Limits,
        bounds: Bounds,
        tls: Option<Tls>,
        with: impl FnOnce(Http) -> Http,
    ) -> Self {
        Self::start_all(limits, bounds, tls, with, |_| Router::new()).await
    }

    /// The same for certain people, with certain pages.
    pub(crate) async fn start_for(limits: Limits, access: Access, pages: fn(Arc<Hub>) -> Router) -> Self {
        Self::start_all(limits, Bounds::default(), None, |http| http.with_access(access), pages).await
    }

    async fn start_all(
        limits: Limits,
        bounds: Bounds,
        tls: Option<Tls>,
        with: impl FnOnce(Http) -> Http,
        pages: fn(Arc<Hub>) -> Router,
    ) -> Self {
        let fake = Arc::new(Fake::default());
        let hub = Hub::new(fake.clone(), Clock::manual(NOW_MS), Epoch(0xe));
        let (pump_guard, stop) = shutdown::token();
        pump::start(hub.clone(), stop);
        let (drain_guard, drain) = shutdown::token();
        let (close_guard, close) = shutdown::token();
        let http =
            with(Http::new(hub.clone(), drain.clone(), limits).with_access(Access::open_to_all(Clock::manual(NOW_MS))));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = http.router(pages(hub.clone()));
        tokio::spawn(lockscope_web::listener::serve(listener, tls, router, bounds, close.clone()));
        Self { fake, address, hub, http, drain, close, _guards: [pump_guard, drain_guard, close_guard] }
    }

    /// Bytes that all views keep.
    pub(crate) fn bytes(&self) -> usize {
        self.hub.bytes()
    }

    pub(crate) async fn open(&self, headers: &[(&'static str, &str)]) -> Result<Client, tungstenite::Error> {
        let mut request = format!("ws://{}/api/v1/live", self.address).into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        tokio_tungstenite::connect_async(request).await.map(|(client, _)| client)
    }

    pub(crate) async fn json(&self) -> Client {
        self.open(&[("sec-websocket-protocol", "lockscope.v1.json")]).await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, String, String) {
        let answer = reqwest::get(format!("http://{}{path}", self.address)).await.unwrap();
        let kind =
            answer.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned()).unwrap_or_default();
        (answer.status().as_u16(), kind, answer.text().await.unwrap())
    }
}

pub(crate) async fn say(client: &mut Client, frame: &str) {
    client.send(Message::text(frame)).await.unwrap();
}

/// The next text frame of this type; others are passed over.
pub(crate) async fn hear(client: &mut Client, kind: &str) -> serde_json::Value {
    let next = async {
        loop {
            if let Message::Text(text) = client.next().await.unwrap().unwrap() {
                let value: serde_json::Value = serde_json::from_str(&text).unwrap();
                if value["type"] == kind {
                    return value;
                }
            }
        }
    };
    tokio::time::timeout(DEADLINE, next).await.unwrap_or_else(|_| panic!("no {kind} frame came"))
}

/// The close frame that ends the socket.
pub(crate) async fn closed(client: &mut Client) -> (u16, String) {
    let next = async {
        loop {
            match client.next().await.expect("a close frame") {
                Ok(Message::Close(Some(frame))) => return (frame.code.into(), frame.reason.to_string()),
                Ok(_) => {}
                Err(error) => panic!("{error}"),
            }
        }
    };
    tokio::time::timeout(DEADLINE, next).await.expect("the socket stays open")
}

pub(crate) fn short(heartbeat_ms: u64) -> Limits {
    Limits { heartbeat_ms, ..Limits::default() }
}

/// Waits until a condition holds.
pub(crate) async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !holds().await {
            tokio::time::sleep(STEP).await;
        }
    };
    tokio::time::timeout(DEADLINE, wait).await.expect("the condition never came true");
}
