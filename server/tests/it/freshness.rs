//! Every hop from ZooKeeper to a reader, each with a delay put into it: what is told grows old, nothing older than two
//! seconds is told as live, and afterwards all is live again. The last hop, the browser, is in the browser's tests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use futures_util::StreamExt as _;
use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};
use lockscope_live::engine::{Engine, Reader};
use lockscope_live::project::EnsembleInfo;
use lockscope_live::{About, Ensemble, Projector};
use lockscope_live::{Hub, Known, ProjectedView, Projection, Views, pump};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::{self, DropGuard};
use lockscope_runtime::task_thread::TaskThread;
use lockscope_view::{
    Board, BoardQuery, Epoch, EventsQuery, LIVE_AGE_MAX_MS, LabQuery, LabRun, Lately, LockPage, LockQuery, QueueMap,
    QueueMapQuery, Scope, SessionPage, SessionQuery, Sessions, SessionsQuery, Status, View, Waits, WaitsQuery,
};
use lockscope_web::listener::Bounds;
use lockscope_web::{Http, Limits};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::harness::DEADLINE;
use crate::served::{Client, say, until};

/// Who judges what came has the same clock as who sent it, and was not always looking.
const SLACK_MS: i64 = 500;
/// A probe is answered so often.
const PROBE: Duration = Duration::from_millis(100);

/// The projector, behind a delay.
struct Slow {
    projector: Projector,
    projects_for_ms: Arc<AtomicU64>,
}

impl Slow {
    fn late<T>(&self, projected: ProjectedView<T>) -> ProjectedView<T> {
        std::thread::sleep(Duration::from_millis(self.projects_for_ms.load(Ordering::Relaxed)));
        projected
    }
}

impl Views for Slow {
    fn board(&self, query: &BoardQuery, scope: &Scope) -> ProjectedView<Board> {
        self.late(self.projector.board(query, scope))
    }
    fn lock(&self, query: &LockQuery, scope: &Scope) -> ProjectedView<Option<Box<LockPage>>> {
        self.late(self.projector.lock(query, scope))
    }
    fn status(&self, scope: &Scope) -> ProjectedView<Status> {
        self.late(self.projector.status(scope))
    }
    fn waits(&self, query: &WaitsQuery, scope: &Scope) -> ProjectedView<Box<Waits>> {
        self.late(self.projector.waits(query, scope))
    }
    fn sessions(&self, query: &SessionsQuery, scope: &Scope) -> ProjectedView<Sessions> {
        self.late(self.projector.sessions(query, scope))
    }
    fn session(&self, query: &SessionQuery, scope: &Scope) -> ProjectedView<Option<Box<SessionPage>>> {
        self.late(self.projector.session(query, scope))
    }
    fn lab(&self, query: &LabQuery, scope: &Scope) -> ProjectedView<Option<Box<LabRun>>> {
        self.late(self.projector.lab(query, scope))
    }
    fn events(&self, query: &EventsQuery, scope: &Scope) -> ProjectedView<Lately> {
        self.late(self.projector.events(query, scope))
    }
    fn queue_map(&self, query: &QueueMapQuery, scope: &Scope) -> ProjectedView<Option<Box<QueueMap>>> {
        self.late(self.projector.queue_map(query, scope))
    }
}

impl Projection for Slow {
    fn revisions(&self) -> lockscope_live::Revisions {
        self.projector.revisions()
    }
    fn revision(&self) -> u64 {
        self.projector.revision()
    }
    fn view_revision(&self, view: &View, sight: &Scope) -> Vec<u64> {
        self.projector.view_revision(view, sight)
    }
    fn known(&self, view: &View, sight: &Scope) -> Known {
        self.projector.known(view, sight)
    }
    fn is_ready(&self) -> bool {
        self.projector.is_ready()
    }
    fn is_linked(&self) -> bool {
        self.projector.is_linked()
    }
}

/// From a made-up observer to a socket: one lock that changes hands all the time.
struct Line {
    address: SocketAddr,
    reader: Reader<Observatory>,
    answers: Arc<AtomicBool>,
    projects_for_ms: Arc<AtomicU64>,
    _running: (Engine<Observatory>, Vec<DropGuard>),
}

fn facts(czxid: i64, now_ms: i64) -> Box<Facts> {
    let zxid = Zxid(czxid);
    Box::new(Facts {
        czxid: zxid,
        mzxid: zxid,
        pzxid: zxid,
        ctime_ms: now_ms,
        version: 0,
        cversion: 0,
        children: 0,
        owner: Some(SessionId(czxid)),
        payload: None,
        payload_bytes: 0,
    })
}

fn path(at: i64) -> Box<str> {
    format!("/order/_c_3f2504e0-4f89-41d3-9a0c-0305e82c3301-lock-{at:010}").into()
}

/// Hands the lock on, and says that all is told while probes are answered.
async fn observe(sink: mpsc::Sender<Vec<Observation>>, clock: Clock, answers: Arc<AtomicBool>) {
    let root = RootId(0);
    let began = vec![
        Observation::Link { link: Link::Live, session: Some(SessionId(1)), why: "".into() },
        Observation::SyncBegan { root, why: "first sync".into() },
        Observation::SyncNode { root, path: "/order".into(), facts: facts(1, 0), unreadable: false },
        Observation::SyncNode { root, path: path(0), facts: facts(2, clock.now_ms()), unreadable: false },
        Observation::SyncEnded { root },
    ];
    let mut next = Some(began);
    for at in 1.. {
        let sent_at = TimeMs(clock.now_ms());
        let mut batch = next.take().unwrap_or_default();
        batch.push(Observation::NodeRead { root, path: path(at), facts: facts(2 + at, sent_at.0), unreadable: false });
        batch.push(Observation::NodeDeleted { root, path: path(at - 1) });
        if answers.load(Ordering::Relaxed) {
            batch.push(Observation::Synced { sent_at });
        }
        if sink.send(batch).await.is_err() {
            return;
        }
        tokio::time::sleep(PROBE).await;
    }
}

impl Line {
    async fn start() -> Self {
        let clock = Clock::system();
        let (sink, inbox) = mpsc::channel(8);
        let (stopper, stop) = shutdown::token();
        let model =
            Observatory::new(Settings { roots: vec!["/order".into()], ..Settings::default() }, TimeMs(clock.now_ms()));
        let engine = Engine::start(model, inbox, clock.clone(), stop.clone(), &TaskThread::start("engine").unwrap());
        let answers = Arc::new(AtomicBool::new(true));
        tokio::spawn(observe(sink, clock.clone(), answers.clone()));
        let info = EnsembleInfo {
            name: "default".into(),
            connect: "made:up".into(),
            color: None,
            has_others: false,
            labels: Default::default(),
            excluded: None,
            proof: Default::default(),
        };
        let about = About { version: "1".into(), started_at_ms: clock.now_ms(), read_only: Arc::default() };
        let (reader, projects_for_ms) = (engine.reader.clone(), Arc::<AtomicU64>::default());
        let projector = Projector::new(vec![Ensemble { info, reader: reader.clone() }], about, clock.clone());
        let hub = Hub::new(Arc::new(Slow { projector, projects_for_ms: projects_for_ms.clone() }), clock, Epoch(7));
        pump::start(hub.clone(), stop);
        let (drain, draining) = shutdown::token();
        let (close, closing) = shutdown::token();
        let http = Http::new(hub, draining, Limits::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(lockscope_web::listener::serve(
            listener,
            None,
            http.router(Router::new()),
            Bounds::default(),
            closing,
        ));
        let line = Self { address, reader, answers, projects_for_ms, _running: (engine, vec![stopper, drain, close]) };
        until(async || line.asked().await.is_live).await;
        line
    }

    /// What the API says.
    async fn asked(&self) -> Told {
        self.asked_for("lock?path=/order").await
    }

    async fn answer(&self, what: &str) -> Value {
        let answer = reqwest::get(format!("http://{}/api/v1/{what}", self.address)).await.unwrap();
        serde_json::from_str(&answer.text().await.unwrap()).unwrap()
    }

    async fn asked_for(&self, what: &str) -> Told {
        let answer = self.answer(what).await;
        let came_ms = Clock::system().now_ms();
        let as_of = &answer["as_of"];
        // None yet.
        let Some(at_ms) = as_of["at_ms"].as_i64() else { return Told { is_live: false, known_at_ms: 0, came_ms } };
        let is_live = as_of["state"] == "live";
        assert!(!is_live || as_of["age_ms"].as_i64().unwrap() <= LIVE_AGE_MAX_MS, "{as_of}");
        Told { is_live, known_at_ms: at_ms, came_ms }
    }

    /// Somebody who looks at the lock and judges all that comes.
    async fn viewer(&self) -> Viewer {
        let mut request = format!("ws://{}/api/v1/live", self.address).into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", "lockscope.v1.json".parse().unwrap());
        let mut client = connect_async(request).await.unwrap().0;
        say(&mut client, r#"{"type":"subscribe","id":1,"view":{"kind":"lock","path":"/order"}}"#).await;
        Viewer { client, state: String::new(), since_ms: 0 }
    }
}

/// What was told of the lock, when.
#[derive(Clone, Copy, Debug)]
struct Told {
    is_live: bool,
    known_at_ms: i64,
    came_ms: i64,
}

struct Viewer {
    client: Client,
    state: String,
    since_ms: i64,
}

impl Viewer {
    /// Takes the next frame in that tells of the lock.
    async fn next(&mut self) -> Told {
        loop {
            let message = tokio::time::timeout(DEADLINE, self.client.next()).await.expect("a frame").unwrap().unwrap();
            let Message::Text(text) = message else { continue };
            let came_ms = Clock::system().now_ms();
            let frame: Value = serde_json::from_str(&text).unwrap();
            let known_at_ms = match frame["type"].as_str().unwrap() {
                "heartbeat" => frame["views"][0]["known_at_ms"].as_i64(),
                "snapshot" | "delta" => {
                    if let Some(as_of) = frame["body"]["head"]["as_of"].as_object() {
                        as_of["state"].as_str().unwrap().clone_into(&mut self.state);
                        self.since_ms = as_of["since_ms"].as_i64().unwrap();
                    }
                    frame["known_at_ms"].as_i64()
                }
                _ => None,
            };
            let Some(known_at_ms) = known_at_ms else { continue };
            return Told { is_live: self.state == "live", known_at_ms, came_ms };
        }
    }

    /// The same; what is told as live must be young.
    async fn judged(&mut self) -> Told {
        let told = self.next().await;
        let age_ms = told.came_ms - told.known_at_ms;
        assert!(!told.is_live || age_ms <= LIVE_AGE_MAX_MS + SLACK_MS, "live, and {age_ms} ms old");
        told
    }

    async fn until_live(&mut self) {
        while !self.judged().await.is_live {}
    }

    /// Reads until it is told that nothing is live; `began_ms` is when the delay began.
    async fn until_old(&mut self, began_ms: i64) {
        while self.judged().await.is_live {}
        assert!(
            (self.since_ms - began_ms).abs() <= 1_000,
            "since {} ms after the delay began",
            self.since_ms - began_ms
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_probe_that_is_late_makes_everything_old() {
    let line = Line::start().await;
    let mut viewer = line.viewer().await;
    viewer.until_live().await;
    let began_ms = Clock::system().now_ms();
    line.answers.store(false, Ordering::Relaxed);
    viewer.until_old(began_ms).await;
    let asked = line.asked().await;
    assert!(!asked.is_live && (asked.known_at_ms - began_ms).abs() <= 1_000, "{asked:?}");
    line.answers.store(true, Ordering::Relaxed);
    viewer.until_live().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_is_held_up_makes_everything_old() {
    let line = Line::start().await;
    let mut viewer = line.viewer().await;
    viewer.until_live().await;
    // Who reads holds up who writes: what was observed meanwhile waits in the model's queue.
    let reader = line.reader.clone();
    let held = tokio::task::spawn_blocking(move || {
        let _guard = reader.guard();
        std::thread::sleep(Duration::from_millis(3_000));
    });
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(4_000) {
        viewer.judged().await;
    }
    held.await.unwrap();
    viewer.until_live().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_look_that_takes_long_shows_nothing_as_live() {
    let line = Line::start().await;
    let mut viewer = line.viewer().await;
    viewer.until_live().await;
    line.projects_for_ms.store(2_500, Ordering::Relaxed);
    while viewer.judged().await.is_live {}
    for what in ["lock?path=/order", "waits", "sessions", "session?id=0x2"] {
        let asked = line.asked_for(what).await;
        assert!(!asked.is_live && asked.known_at_ms > 0, "{what}: {asked:?}");
    }
    assert!(
        line.answer("locks").await["locks"].as_array().unwrap().iter().all(|lock| lock["as_of"]["state"] != "live")
    );
    assert!(line.answer("status").await["age_ms"].as_i64().unwrap() > LIVE_AGE_MAX_MS);
    line.projects_for_ms.store(0, Ordering::Relaxed);
    // The first viewer was not read meanwhile.
    line.viewer().await.until_live().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_of_ten_frames_a_second_is_never_told_what_is_old_as_live() {
    let line = Line::start().await;
    let mut viewer = line.viewer().await;
    let mut pace = tokio::time::interval(Duration::from_millis(250));
    let (mut live, mut oldest_ms) = (0, 0);
    for _ in 0..40 {
        pace.tick().await;
        let told = viewer.judged().await;
        live += u32::from(told.is_live);
        oldest_ms = oldest_ms.max(told.came_ms - told.known_at_ms);
    }
    assert!(live > 20, "it is shown something: {live}, the oldest {oldest_ms} ms");
}
