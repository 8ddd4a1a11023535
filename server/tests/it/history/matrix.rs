//! Whoever may not see something now may not see it of then: every route that shows the past, for viewers of every kind.
//! The routes come from the program itself, so a new one fails here until it has a row.

use std::collections::BTreeSet;

use rustix::process::Signal;
use serde_json::Value;
use zookeeper_client::{Acls, Client, CreateMode};

use super::{Recorded, holder, now_ms};
use crate::harness::open;
use crate::served::until;
use lockscope_web::Verb;

/// What somebody may see: the directory of a lock, the session that holds it, and what its znode carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    OutsidePath,
    OutsideSession,
    OutsideLabel,
    OutsidePayload,
    InsidePayload,
}

use Mark::{InsidePayload, OutsideLabel, OutsidePath, OutsidePayload, OutsideSession};

const INSIDE: &str = "/a/order";
const OUTSIDE: &str = "/b/canary";

/// A route with what it is asked: `{lock}` and `{session}` are of the lock inside, and then of the one outside. `shows` is
/// what whoever may see everything is shown by it: a row that shows nobody anything would prove nothing.
struct Row {
    path: &'static str,
    asked: &'static [&'static str],
    shows: &'static [Mark],
}

const fn row(path: &'static str, asked: &'static [&'static str], shows: &'static [Mark]) -> Row {
    Row { path, asked, shows }
}

/// Who a client says it is is no payload: whoever may see its lock may see that.
const SEEN: &[Mark] = &[OutsidePath, OutsideSession, OutsideLabel];
const WITH_PAYLOADS: &[Mark] = &[OutsidePath, OutsideSession, OutsideLabel, OutsidePayload, InsidePayload];

/// Every route that shows the past.
const ROWS: &[Row] = &[
    row("/api/v1/status", &[""], &[]),
    row("/api/v1/locks", &["", "q=canary", "format=csv", "limit=500"], &[OutsidePath, OutsideLabel]),
    row(
        "/api/v1/lock",
        &["path={lock}", "path={lock}&format=csv"],
        &[OutsideSession, OutsideLabel, OutsidePayload, InsidePayload],
    ),
    // Of who waits alone: not of who holds.
    row("/api/v1/time-to-lock", &["path={lock}", "path={lock}&limit=1"], &[OutsideLabel]),
    row("/api/v1/waits", &[""], SEEN),
    // The order in which locks are taken stays known of sessions that are gone.
    row("/api/v1/orders", &["", "ensemble=default"], &[OutsidePath, OutsideLabel]),
    row("/api/v1/sessions", &["", "format=csv", "group=host", "group=application"], SEEN),
    row("/api/v1/session", &["id={session}"], &[OutsidePath, OutsideLabel]),
    row("/api/v1/history", &[""], &[]),
    row("/api/v1/history/marks", &["{range}", "{range}&path={lock}"], &[OutsidePath]),
    // Who a client said it was goes with the payloads here, and who is there still goes with a range up to now.
    row(
        "/api/v1/history/holds",
        &["{range}", "{range}&path={lock}", "{range}&session={session}", "path={lock}"],
        &[OutsidePath, OutsideSession],
    ),
    // Only waits of contenders that left within the range are charged.
    row(
        "/api/v1/history/blame",
        &[
            "{range}",
            "{range}&by=host",
            "{range}&by=session",
            "{range}&by=lock",
            "{range}&by=lock&path={lock}",
            "{range}&by=ensemble",
        ],
        &[],
    ),
    row("/api/v1/history/diff", &["{range}", "{range}&path={lock}"], SEEN),
    // Of the last hour: those that left joined before the range. Who a client said it was goes with the payloads.
    row(
        "/api/v1/history/differs",
        &["", "path={lock}", "min_wait_ms=500", "max_wait_ms=500&path={lock}", "{range}", "{range}&format=csv"],
        &[OutsidePath],
    ),
    row(
        "/api/v1/history/export",
        &[
            "{range}",
            "path={lock}",
            "{range}&session={session}",
            "{range}&format=perfetto",
            "path={lock}&format=perfetto",
        ],
        &[OutsidePath, OutsideSession],
    ),
    row("/api/v1/history/lock", &["{range}&path={lock}"], &[]),
    row(
        "/blame",
        &[
            "{range}",
            "{range}&by=host",
            "{range}&by=session",
            "{range}&by=lock",
            "{range}&by=lock&path={lock}",
            "{range}&by=ensemble",
        ],
        &[],
    ),
    row("/differs", &["", "path={lock}", "min_wait_ms=500", "{range}"], &[OutsidePath]),
    row("/", &["", "q=canary"], SEEN),
    row("/lock", &["path={lock}"], &[OutsideSession, OutsideLabel]),
    row("/waits", &[""], SEEN),
    row("/sessions", &["", "group=host"], SEEN),
    row("/session", &["id={session}"], &[OutsidePath, OutsideLabel]),
];

/// One who asks.
struct Viewer {
    name: &'static str,
    token: String,
    may_see: &'static [Mark],
}

/// Two locks, each with a holder and a waiter; the session of whoever held first ended.
struct Scene {
    session: [String; 2],
    /// Before the first holders left, and when all was as it is now.
    range: (i64, i64),
    _clients: Vec<Client>,
}

async fn enter(session: &Client, lock: &str) -> String {
    let name = lock.rsplit('/').next().unwrap();
    // Not the name of the lock: that is told apart.
    let client = if lock == OUTSIDE { "rival" } else { "friend" };
    let secret = format!("{{\"host\":\"client-of-{client}\",\"note\":\"treasure-of-{name}\"}}");
    let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    let (_, sequence) = session.create(&format!("{lock}/lock-"), secret.as_bytes(), &options).await.unwrap();
    format!("{lock}/lock-{sequence}")
}

/// Sessions take both locks in opposite orders and let go of them, until both orders were seen: while a link is behind,
/// none is learned.
async fn cross(recorded: &Recorded) {
    until(async || {
        cross_once(recorded).await;
        let orders = recorded.json("/api/v1/orders").await.1;
        orders["warnings"].as_array().is_some_and(|warnings| !warnings.is_empty())
    })
    .await;
}

async fn cross_once(recorded: &Recorded) {
    for locks in [[INSIDE, OUTSIDE], [OUTSIDE, INSIDE]] {
        let session = open(&recorded.zookeeper.address()).await;
        let mut nodes = Vec::new();
        for lock in locks {
            nodes.push(enter(&session, lock).await);
            recorded.until_holds(lock, nodes.last().unwrap()).await;
        }
        for node in nodes {
            session.delete(&node, None).await.unwrap();
        }
    }
}

/// One waits for half a second, beside those that hardly wait.
async fn wait_long(recorded: &Recorded) {
    let (first, second) = (open(&recorded.zookeeper.address()).await, open(&recorded.zookeeper.address()).await);
    let (held, waits) = (enter(&first, OUTSIDE).await, enter(&second, OUTSIDE).await);
    until(async || {
        let lock = recorded.lock(OUTSIDE, "").await;
        lock["contenders"].as_array().unwrap().iter().any(|one| one["waiting_ms"].as_i64() >= Some(500))
    })
    .await;
    first.delete(&held, None).await.unwrap();
    recorded.until_holds(OUTSIDE, &waits).await;
    second.delete(&waits, None).await.unwrap();
}

impl Scene {
    async fn new(recorded: &Recorded) -> Self {
        let (mut clients, mut first, mut next) = (Vec::new(), Vec::new(), Vec::new());
        for lock in [INSIDE, OUTSIDE] {
            recorded.truth.make(lock).await;
        }
        cross(recorded).await;
        wait_long(recorded).await;
        for lock in [INSIDE, OUTSIDE] {
            let (leaves, stays, waits) = (
                open(&recorded.zookeeper.address()).await,
                open(&recorded.zookeeper.address()).await,
                open(&recorded.zookeeper.address()).await,
            );
            let node = enter(&leaves, lock).await;
            next.push(enter(&stays, lock).await);
            enter(&waits, lock).await;
            recorded.until_holds(lock, &node).await;
            first.push(leaves);
            clients.extend([stays, waits]);
        }
        let from = now_ms();
        drop(first);
        recorded.until_holds(INSIDE, &next[0]).await;
        recorded.until_holds(OUTSIDE, &next[1]).await;
        // What is found out a moment later is there as well, and the lives that ended are stored.
        let ended = async |lock: &str| {
            let told = recorded.get(&format!("/api/v1/history/export?path={lock}")).await.1;
            let marks = recorded.get(&format!("/api/v1/history/marks?path={lock}")).await.1;
            told.contains(",released,") && marks.contains("waiting_for_itself")
        };
        until(async || ended(INSIDE).await && ended(OUTSIDE).await).await;
        let to = now_ms();
        recorded.until_kept(to).await;
        let session = async |lock: &str| {
            let lock = recorded.lock(lock, "").await;
            let rows = lock["contenders"].as_array().unwrap();
            let held = rows.iter().find(|row| row["path"] == holder(&lock)).unwrap();
            held["session_id"].as_str().unwrap().to_owned()
        };
        let session = [session(INSIDE).await, session(OUTSIDE).await];
        Self { session, range: (from, to), _clients: clients }
    }

    /// What is told of what there is, but for what was asked for by name.
    fn marks(&self, asked: &str, told: &str) -> BTreeSet<Mark> {
        let texts = [
            (OutsidePath, "canary"),
            (OutsideSession, self.session[1].as_str()),
            (OutsideLabel, "client-of-rival"),
            (OutsidePayload, "treasure-of-canary"),
            (InsidePayload, "treasure-of-order"),
        ];
        texts
            .into_iter()
            .filter(|(_, text)| !asked.contains(text) && told.contains(text))
            .map(|(mark, _)| mark)
            .collect()
    }

    /// What a row asks, in full.
    fn asked(&self, row: &Row) -> BTreeSet<String> {
        let (from, to) = self.range;
        let of = |lock: &str, session: &str| {
            let texts = row.asked.iter().map(move |text| {
                text.replace("{lock}", lock)
                    .replace("{session}", session)
                    .replace("{range}", &format!("from={from}&to={to}"))
            });
            texts.collect::<Vec<_>>()
        };
        of(INSIDE, &self.session[0]).into_iter().chain(of(OUTSIDE, &self.session[1])).collect()
    }
}

/// Routes that show the past: reads that take `at` by their own document, all below `/api/v1/history`, pages that show a
/// band when they are asked for a moment, and the pages of who made others wait and of what differs, which are of nothing but
/// the past.
async fn routes_of_the_past(recorded: &Recorded, at: i64) -> (BTreeSet<&'static str>, BTreeSet<&'static str>) {
    let document = recorded.json("/api/v1/openapi.json").await.1;
    let (mut with_at, mut all) = (BTreeSet::new(), BTreeSet::new());
    for route in lockscope_web::routes().filter(|route| route.verb == Verb::Get && !route.path.contains('{')) {
        let parameters = document["paths"][route.path]["get"]["parameters"].as_array();
        let takes_at =
            parameters.is_some_and(|parameters| parameters.iter().any(|parameter| parameter["name"] == "at"));
        let is_past_page = route.is_for_people() && {
            let query = match route.path {
                "/lock" => "path=/a/order&",
                _ => "",
            };
            recorded.get(&format!("{}?{query}at={at}", route.path)).await.1.contains("data-testid=\"past-band\"")
        };
        if takes_at || is_past_page {
            with_at.insert(route.path);
        }
        let is_of_the_past = route.path.starts_with("/api/v1/history") || matches!(route.path, "/blame" | "/differs");
        if takes_at || is_past_page || is_of_the_past {
            all.insert(route.path);
        }
    }
    (with_at, all)
}

async fn viewers(recorded: &Recorded) -> Vec<Viewer> {
    let one = async |name, role, path, may_see| Viewer { name, token: recorded.token(role, path).await, may_see };
    vec![
        one("a viewer of /a", "viewer", "/a", &[]).await,
        one("a viewer of everything", "viewer", "/", SEEN).await,
        one("an operator of /a", "operator", "/a", &[InsidePayload]).await,
        one("an operator of everything", "operator", "/", WITH_PAYLOADS).await,
    ]
}

/// Asks every row as one viewer; what it is shown of the past by each of them.
async fn ask(recorded: &Recorded, scene: &Scene, with_at: &BTreeSet<&str>, viewer: &Viewer) {
    let (_, at) = scene.range;
    for row in ROWS {
        let mut shown = BTreeSet::new();
        for asked in scene.asked(row) {
            let (present, past) = match (with_at.contains(row.path), asked.is_empty()) {
                (true, true) => (Some(row.path.to_owned()), format!("{}?at={at}", row.path)),
                (true, false) => (Some(format!("{}?{asked}", row.path)), format!("{}?{asked}&at={at}", row.path)),
                (false, _) => (None, format!("{}?{asked}", row.path)),
            };
            let (status, told) = recorded.text_as(&viewer.token, &past).await;
            let marks = scene.marks(&asked, &told);
            let may: BTreeSet<Mark> = viewer.may_see.iter().copied().collect();
            assert!(marks.is_subset(&may), "{} is shown {marks:?} by {past}: {told}", viewer.name);
            if let Some(present) = present {
                let (status_now, told_now) = recorded.text_as(&viewer.token, &present).await;
                let marks_now = scene.marks(&asked, &told_now);
                assert_eq!(status, status_now, "{}: {past}", viewer.name);
                // It is as it was then: what is shown of it is the same.
                assert_eq!(marks, marks_now, "{}: {past}", viewer.name);
            }
            shown.extend(marks);
        }
        let wanted: BTreeSet<Mark> = row.shows.iter().filter(|mark| viewer.may_see.contains(mark)).copied().collect();
        assert!(shown.is_superset(&wanted), "{} is shown {shown:?} by {}", viewer.name, row.path);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_shown_more_of_the_past_than_of_the_present() {
    let mut recorded = Recorded::start("payloads = \"operator\"\n").await;
    let scene = Scene::new(&recorded).await;
    let (with_at, routes) = routes_of_the_past(&recorded, scene.range.1).await;
    let rows: BTreeSet<&str> = ROWS.iter().map(|row| row.path).collect();
    assert_eq!(routes, rows, "every route that shows the past has a row in ROWS, and no other");
    let mut viewers = viewers(&recorded).await;
    for viewer in &viewers {
        ask(&recorded, &scene, &with_at, viewer).await;
    }
    // Payloads are recorded and nobody may see them any more: those of then neither.
    recorded.end(Signal::TERM).await;
    recorded.more = "payloads = \"nobody\"\n";
    recorded.run().await;
    for viewer in &mut viewers {
        viewer.may_see = if viewer.may_see.contains(&OutsidePath) { SEEN } else { &[] };
        ask(&recorded, &scene, &with_at, viewer).await;
    }
    let (_, told) = recorded.text_as(&viewers[3].token, &format!("/api/v1/locks?at={}", scene.range.1)).await;
    let locks: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(locks["total"], 2, "the locks of then are there: {told}");
}
