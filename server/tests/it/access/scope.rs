//! What people with a scope see, over real HTTP and real sockets: whatever is asked, no name from outside is in the
//! bytes of an answer, and no payload where none is shown. Everybody outside has a name that is looked for.

use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::{SinkExt as _, StreamExt as _};
use lockscope_access::{Access, Grant, ListenScope, Settings, new_token};
use lockscope_audit::{Entry, Journal as _, Log};
use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings as Model};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid};
use lockscope_live::engine::Engine;
use lockscope_live::project::EnsembleInfo;
use lockscope_live::{About, Ensemble, Projector};
use lockscope_live::{Hub, pump};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::{self, DropGuard};
use lockscope_runtime::task_thread::TaskThread;
use lockscope_view::{AuditKind, Epoch, Role};
use lockscope_web::listener::Bounds;
use lockscope_web::{Http, Limits, Payloads, pages};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

mod requests;

use requests::{ADDRESSES, VIEWS};

use super::bearer;
use crate::harness::DEADLINE;
use crate::served::{NOW_MS, until};

/// Part of every name outside.
const OUTSIDE: &str = "canary";
/// Part of every payload that is no label.
const PAYLOAD: &str = "treasure";

/// Sessions; the last one is outside only.
const SESSIONS: [i64; 4] = [0x1001, 0x1002, 0x1003, 0x1fca];

/// What ends with the world.
type Running = (Vec<Engine<Observatory>>, Vec<mpsc::Sender<Vec<Observation>>>, Vec<DropGuard>);

struct World {
    address: SocketAddr,
    place: TempDir,
    clock: Clock,
    _log: Arc<Log>,
    _running: Running,
}

fn facts(zxid: i64, owner: Option<i64>, payload: &str) -> Box<Facts> {
    Box::new(Facts {
        czxid: Zxid(zxid),
        mzxid: Zxid(zxid),
        pzxid: Zxid(zxid),
        ctime_ms: NOW_MS - 5_000,
        version: 0,
        cversion: 1,
        children: 0,
        owner: owner.map(SessionId),
        payload: Some(payload.as_bytes().into()),
        payload_bytes: u32::try_from(payload.len()).unwrap(),
    })
}

/// A tree of directories with kazoo's contenders: each `(directory, sequence, session, label)`.
fn told(queues: &[(&str, u32, i64, &str)]) -> Vec<Observation> {
    let root = RootId(0);
    let mut told = vec![
        Observation::Link { link: Link::Live, session: Some(SessionId(9)), why: "".into() },
        Observation::SyncBegan { root, why: "first sync".into() },
    ];
    let mut known: Vec<String> = Vec::new();
    let mut node = |path: &str, owner: Option<i64>, payload: &str| {
        if !known.iter().any(|known| known == path) {
            known.push(path.to_owned());
            let facts = facts(known.len() as i64, owner, payload);
            told.push(Observation::SyncNode { root, path: path.into(), facts, unreadable: false });
        }
    };
    node("/", None, "");
    for (directory, sequence, session, label) in queues {
        for (at, _) in directory.match_indices('/').skip(1) {
            node(&directory[..at], None, "");
        }
        node(directory, None, "");
        let payload = format!("{{\"host\":\"{label}\",\"note\":\"{PAYLOAD}\"}}");
        node(&format!("{directory}/{:032x}__lock__{sequence:010}", sequence + 7), Some(*session), &payload);
    }
    told.push(Observation::SyncEnded { root });
    told.push(Observation::Synced { sent_at: TimeMs(NOW_MS) });
    told
}

impl World {
    async fn new(payloads: Payloads) -> Self {
        let [one, two, three, stranger] = SESSIONS;
        // One and two wait for each other: inside for a lock that two holds, outside for one that one holds.
        let prod = told(&[
            ("/shop/order", 0, one, "host-one"),
            ("/shop/order", 1, two, "host-two"),
            ("/shop/stock", 0, three, "host-three"),
            ("/canary-vault/gold", 0, two, "canary-two"),
            ("/canary-vault/gold", 1, one, "canary-one"),
            ("/canary-vault/iron", 0, three, "canary-three"),
            ("/canary-vault/iron", 1, stranger, "canary-stranger"),
            ("/shop-canary", 0, stranger, "canary-near"),
        ]);
        let other = told(&[
            ("/shop/order", 0, stranger, "canary-elsewhere"),
            ("/shop/canary", 0, stranger, "canary-elsewhere"),
        ]);
        let clock = Clock::manual(NOW_MS);
        let (mut engines, mut sinks, mut ensembles, mut stoppers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (name, told) in [("prod", prod), ("canary-lab", other)] {
            let (sink, inbox) = mpsc::channel(8);
            let (stopper, stop) = shutdown::token();
            let model = Observatory::new(Model { roots: vec!["/".into()], ..Model::default() }, TimeMs(NOW_MS));
            let engine = Engine::start(model, inbox, clock.clone(), stop, &TaskThread::start("engine").unwrap());
            sink.send(told).await.unwrap();
            let info = EnsembleInfo {
                name: name.into(),
                connect: format!("{name}:2181"),
                color: None,
                has_others: true,
                labels: Default::default(),
                excluded: None,
                proof: Default::default(),
            };
            ensembles.push(Ensemble { info, reader: engine.reader.clone() });
            engines.push(engine);
            sinks.push(sink);
            stoppers.push(stopper);
        }
        let about = About { version: "1".into(), started_at_ms: NOW_MS, read_only: Arc::default() };
        let hub = Hub::new(Arc::new(Projector::new(ensembles, about, clock.clone())), clock.clone(), Epoch(7));
        let (stopper, stop) = shutdown::token();
        pump::start(hub.clone(), stop);
        stoppers.push(stopper);
        let place = tempfile::tempdir().unwrap();
        let access = Access::new(
            Some(place.path().to_owned()),
            Settings { anonymous: Some(false), ..Settings::default() },
            ListenScope::LOOPBACK,
            clock.clone(),
        );
        let log = Arc::new(Log::open(&place.path().join("record"), clock.clone()).await.unwrap());
        let (drain, draining) = shutdown::token();
        let (close, closing) = shutdown::token();
        let http = Http::new(hub.clone(), draining, Limits::default())
            .with_access(access)
            .with_payloads(watch::channel(payloads).1)
            .with_records(log.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(lockscope_web::listener::serve(
            listener,
            None,
            http.router(pages(hub)),
            Bounds::default(),
            closing,
        ));
        stoppers.extend([drain, close]);
        let world = Self { address, place, clock, _log: log.clone(), _running: (engines, sinks, stoppers) };
        for (ensemble, lock) in [
            ("prod", "/shop/order"),
            ("prod", "/canary-vault/gold"),
            ("canary-lab", "/shop/order"),
            ("prod", "/shop-canary"),
        ] {
            log.append(entry(ensemble, lock)).await.unwrap();
        }
        let signed_in = Entry {
            kind: AuditKind::SignedIn,
            ensemble: None,
            lock: None,
            detail: "from elsewhere".to_owned(),
            ..entry("", "")
        };
        log.append(signed_in).await.unwrap();
        let whole = world.token("whole", Grant::everywhere(Role::Operator));
        until(async || world.get("/api/v1/waits", &whole).await.1.contains("\"victim\":")).await;
        // Findings come a moment later.
        until(async || {
            world.get("/api/v1/lock?ensemble=prod&path=/shop/order", &whole).await.1.contains("\"code\":\"deadlock\"")
        })
        .await;
        world
    }

    fn token(&self, name: &str, grant: Grant) -> String {
        let (_, token) = new_token(self.place.path(), name, grant, self.clock.now_ms(), None).unwrap();
        self.clock.set_ms(self.clock.now_ms() + 1_000);
        bearer(token.expose())
    }

    fn scoped(&self, name: &str, role: Role) -> String {
        self.token(name, Grant::new(role, &["prod".to_owned()], &["/shop".to_owned()]).unwrap())
    }

    async fn get(&self, path: &str, bearer: &str) -> (u16, String) {
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let answer =
            client.get(format!("http://{}{path}", self.address)).header("authorization", bearer).send().await.unwrap();
        (answer.status().as_u16(), String::from_utf8_lossy(&answer.bytes().await.unwrap()).into_owned())
    }

    /// The snapshots of these views, as bytes in one of the two encodings.
    async fn frames(&self, bearer: &str) -> String {
        let mut request = format!("ws://{}/api/v1/live", self.address).into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", "lockscope.v1.json".parse().unwrap());
        request.headers_mut().insert("authorization", bearer.parse().unwrap());
        let mut client = tokio_tungstenite::connect_async(request).await.unwrap().0;
        for (id, view) in VIEWS.iter().enumerate() {
            client
                .send(Message::text(format!("{{\"type\":\"subscribe\",\"id\":{id},\"view\":{view}}}")))
                .await
                .unwrap();
        }
        let (mut all, mut snapshots) = (String::new(), 0);
        let listen = async {
            while snapshots < VIEWS.len() {
                let frame = client.next().await.unwrap().unwrap().into_data();
                let text = String::from_utf8_lossy(&frame).into_owned();
                snapshots += usize::from(text.contains("\"type\":\"snapshot\""));
                all.push_str(&text);
            }
        };
        tokio::time::timeout(DEADLINE, listen).await.unwrap();
        all
    }
}

fn entry(ensemble: &str, lock: &str) -> Entry {
    Entry {
        ensemble: Some(ensemble.to_owned()),
        lock: Some(lock.to_owned()),
        ..Entry::of_server(AuditKind::Refused, format!("about {lock}"))
    }
}

#[tokio::test]
async fn no_name_from_outside_is_in_any_answer() {
    let world = World::new(Payloads::Viewer).await;
    let whole = world.token("all", Grant::everywhere(Role::Viewer));
    let scopes = Role::ALL.map(|role| world.scoped(&format!("some-{role}"), role));
    for path in ADDRESSES {
        for who in &scopes {
            let (status, text) = world.get(path, who).await;
            assert_eq!(status, 200, "{path}: {text}");
            assert!(!text.contains(OUTSIDE), "{path}: {text}");
            assert!(!text.contains("0x1fca"), "{path}: {text}");
        }
    }
    for path in [
        "/api/v1/status",
        "/api/v1/locks",
        "/api/v1/waits",
        "/api/v1/sessions",
        "/",
        "/waits",
        "/api/v1/lock?ensemble=prod&path=/shop/order",
    ] {
        assert!(world.get(path, &whole).await.1.contains(OUTSIDE), "{path} has nothing that could be hidden");
    }
    assert!(world.frames(&whole).await.contains(OUTSIDE));
    for who in &scopes {
        let frames = world.frames(who).await;
        assert!(!frames.contains(OUTSIDE) && frames.contains("/shop/stock"), "{frames}");
    }
    let nowhere = world.token("nowhere", Grant::new(Role::Viewer, &["other".to_owned()], &[]).unwrap());
    for path in ["/api/v1/status", "/api/v1/locks", "/api/v1/waits", "/api/v1/sessions", "/"] {
        let (status, text) = world.get(path, &nowhere).await;
        assert!(status == 200 && !text.contains(OUTSIDE) && !text.contains("/shop"), "{path}: {text}");
    }
}

#[tokio::test]
async fn what_is_outside_is_not_there() {
    let world = World::new(Payloads::Viewer).await;
    let some = world.scoped("some", Role::Viewer);
    let pairs = [
        ("/api/v1/lock?path=/canary-vault/gold", "/api/v1/lock?path=/nothing-here-atall"),
        ("/api/v1/lock?ensemble=canary-lab&path=/shop/order", "/api/v1/lock?ensemble=none&path=/shop/order"),
        ("/api/v1/session?ensemble=prod&id=0x1fca", "/api/v1/session?ensemble=prod&id=0x1fcb"),
    ];
    for (outside, nowhere) in pairs {
        let (mut one, other) = (world.get(outside, &some).await, world.get(nowhere, &some).await);
        one.1 = one.1.replace("/canary-vault/gold", "/nothing-here-atall").replace("0x1fca", "0x1fcb");
        assert_eq!((one.0, &one), (404, &other), "{outside}");
    }
    for path in ["/lock?ensemble=prod&path=/canary-vault/gold", "/session?ensemble=prod&id=0x1fca"] {
        assert_eq!(world.get(path, &some).await.0, 404, "{path}");
    }
    let json = async |path: &str| serde_json::from_str::<serde_json::Value>(&world.get(path, &some).await.1).unwrap();
    let locks = json("/api/v1/locks?sort=path").await;
    assert_eq!(
        (&locks["total"], &locks["locks"][0]["path"], &locks["locks"][1]["path"]),
        (&2.into(), &"/shop/order".into(), &"/shop/stock".into())
    );
    assert!(locks["locks"][0]["sentence"].as_str().unwrap().starts_with("Deadlock: a circle"), "{locks}");
    let status = json("/api/v1/status").await;
    for counter in ["resyncs", "events", "owner_unknown", "missed"] {
        assert_eq!(status["ensembles"][0][counter], serde_json::Value::Null, "{counter} is of the whole ensemble");
    }
    let root = &status["ensembles"][0]["roots"][0];
    // The directories of two locks, the one above, and three contenders.
    assert_eq!(
        (status["ensembles"].as_array().unwrap().len(), &root["locks"], &root["znodes"]),
        (1, &2.into(), &6.into()),
        "{status}"
    );
    let waits = json("/api/v1/waits").await;
    let edges: Vec<&str> =
        waits["edges"].as_array().unwrap().iter().map(|edge| edge["lock"].as_str().unwrap()).collect();
    assert_eq!((edges, &waits["cycles"], &waits["locks"]), (vec!["/shop/order"], &serde_json::json!([]), &2.into()));
    let sessions = json("/api/v1/sessions?sort=id").await;
    let rows: Vec<(&str, i64, i64)> = sessions["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (row["session_id"].as_str().unwrap(), row["ephemerals"].as_i64().unwrap(), row["blocks"].as_i64().unwrap())
        })
        .collect();
    assert_eq!(rows, [("0x1001", 1, 1), ("0x1002", 1, 0), ("0x1003", 1, 0)]);
}

#[tokio::test]
async fn payloads_are_shown_to_whom_the_setting_names() {
    for (payloads, shown) in [
        (Payloads::Viewer, &Role::ALL[..]),
        (Payloads::Operator, &[Role::Operator, Role::Admin]),
        (Payloads::Nobody, &[]),
    ] {
        let world = World::new(payloads).await;
        for role in Role::ALL {
            let who = world.token(role.name(), Grant::everywhere(role));
            let detail = world.get("/api/v1/lock?ensemble=prod&path=/shop/order", &who).await.1;
            assert!(detail.contains("host-one"), "a label is for all");
            assert_eq!(
                (detail.contains(PAYLOAD), world.frames(&who).await.contains(PAYLOAD)),
                (shown.contains(&role), shown.contains(&role)),
                "{payloads:?} {role}"
            );
            for path in ADDRESSES {
                let (_, text) = world.get(path, &who).await;
                assert!(shown.contains(&role) || !text.contains(PAYLOAD), "{payloads:?} {role} {path}: {text}");
            }
        }
    }
}

#[tokio::test]
async fn the_record_is_read_inside_the_scope_and_exported_whole() {
    let world = World::new(Payloads::Viewer).await;
    for role in [Role::Auditor, Role::Operator] {
        let some = world.scoped(&format!("some-{role}"), role);
        for path in ["/api/v1/audit", "/audit", "/api/v1/audit?lock=/shop/order"] {
            let (status, text) = world.get(path, &some).await;
            assert!(status == 200 && text.contains("about /shop/order") && !text.contains(OUTSIDE), "{path}: {text}");
        }
        assert!(
            !world.get("/api/v1/audit", &some).await.1.contains("from elsewhere"),
            "who signed in is about no place"
        );
        let (status, text) = world.get("/api/v1/audit/export", &some).await;
        assert!(
            status == 403 && text.contains("because a part of it can't be verified") && !text.contains(OUTSIDE),
            "{status} {text}"
        );
        let whole = world.token(role.name(), Grant::everywhere(role));
        let all = world.get("/api/v1/audit", &whole).await.1;
        assert!(all.contains("about /canary-vault/gold") && all.contains("from elsewhere"), "{all}");
        assert_eq!(world.get("/api/v1/audit/export", &whole).await.0, 200);
    }
}
