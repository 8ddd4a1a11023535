//! Moments of the past over the live socket: one snapshot each, and nobody waits for them.

use futures_util::StreamExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use super::{Recorded, holder, now_ms};
use crate::served::{Client, hear, say, until};

impl Recorded {
    pub(super) async fn socket(&self, token: Option<&str>) -> Client {
        let token = token.map(|token| ("authorization", format!("Bearer {token}")));
        self.socket_with(token).await
    }

    /// One of a viewer who comes through a proxy.
    pub(super) async fn socket_from(&self, client: &str) -> Client {
        self.socket_with(Some(("x-forwarded-for", client.to_owned()))).await
    }

    async fn socket_with(&self, header: Option<(&'static str, String)>) -> Client {
        connect(&self.url("/api/v1/live"), header).await
    }
}

/// A socket at an address of a server.
pub(super) async fn connect(url: &str, header: Option<(&'static str, String)>) -> Client {
    let mut request = url.replace("http", "ws").into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", "lockscope.v1.json".parse().unwrap());
    if let Some((name, value)) = header {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    tokio_tungstenite::connect_async(request).await.unwrap().0
}

pub(super) async fn look(client: &mut Client, id: u32, view: Value) {
    say(client, &json!({ "type": "subscribe", "id": id, "view": view }).to_string()).await;
}

async fn refusal(client: &mut Client, id: u32, view: Value) -> String {
    look(client, id, view).await;
    let error = hear(client, "error").await;
    assert_eq!(error["id"], id, "{error}");
    error["detail"].as_str().unwrap().to_owned()
}

fn first_holder(snapshot: &Value) -> &str {
    snapshot["body"]["head"]["row"]["holders"][0]["path"].as_str().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_view_of_a_moment_is_one_snapshot() {
    let recorded = Recorded::start("").await;
    recorded.truth.make("/a/order").await;
    let first = recorded.truth.queue("/a/order/lock-").await;
    let at_first = recorded.until_holds("/a/order", &first).await;
    recorded.truth.delete(&first).await;
    let second = recorded.truth.queue("/a/order/lock-").await;
    let at_second = recorded.until_holds("/a/order", &second).await;
    recorded.until_kept(at_second).await;

    let mut client = recorded.socket(None).await;
    let lock = |at: Value| json!({ "kind": "lock", "path": "/a/order", "at": at });
    look(&mut client, 1, lock(at_first.into())).await;
    let snapshot = hear(&mut client, "snapshot").await;
    let told = [&snapshot["id"], &snapshot["known_at_ms"], &snapshot["as_of"]];
    assert_eq!(told, [&json!(1), &json!(at_first), &json!({ "state": "past", "at_ms": at_first })], "{snapshot:#}");
    let as_of = &snapshot["body"]["head"]["as_of"];
    assert_eq!((&as_of["state"], &as_of["since_ms"]), (&"past".into(), &at_first.into()), "{snapshot:#}");
    assert_eq!(first_holder(&snapshot), first, "{snapshot:#}");
    let then = recorded.lock("/a/order", &at_first.to_string()).await;
    assert_eq!(holder(&then), first);
    // Another moment in its place, by a transaction.
    let czxid = then["contenders"][0]["czxid"].as_str().unwrap();
    look(&mut client, 1, lock(format!("zxid:{czxid}").into())).await;
    assert_eq!(first_holder(&hear(&mut client, "snapshot").await), first);
    for (id, kind) in (2..).zip(["board", "status", "waits", "sessions", "events"]) {
        look(&mut client, id, json!({ "kind": kind, "at": at_second })).await;
        let snapshot = hear(&mut client, "snapshot").await;
        let told = [&snapshot["id"], &snapshot["body"]["kind"], &snapshot["as_of"]["state"]];
        assert_eq!(told, [&json!(id), &json!(kind), &json!("past")], "{snapshot:#}");
    }
    // What happens now is sent for what is live only.
    look(&mut client, 9, json!({ "kind": "board" })).await;
    assert!(hear(&mut client, "snapshot").await["as_of"].is_null());
    let third = recorded.truth.queue("/a/order/lock-").await;
    recorded.truth.delete(&second).await;
    recorded.until_holds("/a/order", &third).await;
    loop {
        let delta = hear(&mut client, "delta").await;
        assert_eq!(delta["id"], 9, "{delta:#}");
        let rows = delta["body"]["window"]["changed"].as_array().cloned().unwrap_or_default();
        if rows.iter().any(|row| row[1]["holders"][0]["path"] == third) {
            break;
        }
    }
    let beat = hear(&mut client, "heartbeat").await;
    assert!(beat["views"].as_array().unwrap().iter().all(|view| view["id"] == 9), "{beat:#}");
    // The same number, live.
    look(&mut client, 1, json!({ "kind": "lock", "path": "/a/order" })).await;
    assert_eq!(first_holder(&hear(&mut client, "snapshot").await), third);
    say(&mut client, r#"{"type":"unsubscribe","id":2}"#).await;
    assert!(
        refusal(&mut client, 3, json!({ "kind": "board", "at": "x" })).await.starts_with("`x` is not a value of `at`")
    );
    say(&mut client, r#"{"type":"unsubscribe","id":2}"#).await;
    assert_eq!(hear(&mut client, "error").await["id"], 2, "it was ended before, and was there until then");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_kept_is_said_in_one_sentence() {
    let mut recorded = Recorded::start("").await;
    recorded.truth.make("/a/order").await;
    let held = recorded.truth.queue("/a/order/lock-").await;
    let before = recorded.until_holds("/a/order", &held).await;
    recorded.until_kept(before).await;
    recorded.end(Signal::KILL).await;
    let between = now_ms();
    recorded.run().await;
    let after = recorded.until_holds("/a/order", &held).await;
    recorded.until_kept(after).await;
    let kept = recorded.json("/api/v1/history").await.1;
    let (from, gap) = (&kept["from_at_ms"], &kept["gaps"][0]);

    let mut client = recorded.socket(None).await;
    let board = |at: Value| json!({ "kind": "board", "at": at });
    let nearest = "in the ensemble default; the nearest moment";
    assert_eq!(
        refusal(&mut client, 1, board(1000.into())).await,
        format!("nothing is kept of that moment, {nearest} that is kept is {from}")
    );
    assert_eq!(
        refusal(&mut client, 1, board(between.into())).await,
        format!(
            "nothing is known of that moment: Lockscope was not running, {nearest}s that are kept are {} and {}",
            gap["from_at_ms"], gap["to_at_ms"]
        )
    );
    let future = refusal(&mut client, 1, board((now_ms() + 60_000).into())).await;
    assert_eq!(future, "that moment is not over yet; ask for one of the past");
    let lab = refusal(&mut client, 1, json!({ "kind": "lab", "run": "x", "at": after })).await;
    assert_eq!(lab, "a run of the lab is shown live only; leave out `at`");
    for bad in [json!(""), json!("now"), json!(-1), json!(1.5), json!("zxid:2a6"), json!([])] {
        let said = refusal(&mut client, 1, board(bad)).await;
        assert!(said.contains("milliseconds") || said.contains("is no moment"), "{said}");
    }
    // Refused is ended; the socket goes on.
    say(&mut client, r#"{"type":"unsubscribe","id":1}"#).await;
    assert_eq!(hear(&mut client, "error").await["id"], 1);
    look(&mut client, 1, board(after.into())).await;
    assert_eq!(hear(&mut client, "snapshot").await["as_of"]["at_ms"], after);

    let off = Recorded::start("history = \"off\"\n").await;
    let said = refusal(&mut off.socket(None).await, 1, board(1000.into())).await;
    assert!(said.contains("history = \"on\""), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_not_see_a_lock_may_not_see_it_then() {
    let recorded = Recorded::start("payloads = \"operator\"\n").await;
    for directory in ["/a/order", "/b/canary"] {
        recorded.truth.make(directory).await;
        let held = recorded.truth.queue(&format!("{directory}/lock-")).await;
        recorded.until_holds(directory, &held).await;
    }
    let at = now_ms();
    recorded.until_kept(at).await;
    let viewer = recorded.token("viewer", "/a").await;
    let mut client = recorded.socket(Some(&viewer)).await;
    look(&mut client, 1, json!({ "kind": "lock", "path": "/b/canary", "at": at })).await;
    let snapshot = hear(&mut client, "snapshot").await;
    assert!(snapshot["body"]["value"].is_null() && snapshot["body"]["head"].is_null(), "{snapshot:#}");
    for kind in ["board", "status", "waits", "sessions", "events"] {
        look(&mut client, 1, json!({ "kind": kind, "at": at })).await;
        let text = hear(&mut client, "snapshot").await.to_string();
        assert!(!text.contains("canary"), "{text}");
    }
}

/// Moments that somebody asks for who never rests.
const GREEDY: usize = 1_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_asks_for_many_moments_holds_up_nobody() {
    let recorded = Recorded::start("").await;
    recorded.truth.make("/a/order").await;
    let held = recorded.truth.queue("/a/order/lock-").await;
    let at = recorded.until_holds("/a/order", &held).await;
    recorded.until_kept(at).await;

    let answered = Arc::new(AtomicUsize::new(0));
    let mut greedy = recorded.socket(None).await;
    look(&mut greedy, 0, json!({ "kind": "board" })).await;
    hear(&mut greedy, "snapshot").await;
    let (count, moments) = (answered.clone(), at - GREEDY as i64);
    let asking = tokio::spawn(async move {
        // All are wanted at once, then one more for each that comes; its own live view goes on as well.
        let mut asked = 0;
        for id in 1..16 {
            look(&mut greedy, id, json!({ "kind": "board", "at": at - asked })).await;
            asked += 1;
        }
        while count.load(Ordering::Relaxed) < GREEDY {
            // A moment before anything was kept is refused, which is an answer.
            let frame = next(&mut greedy).await;
            let id = frame["id"].as_u64().filter(|id| frame["type"] != "delta" && *id > 0);
            let Some(id) = id else { continue };
            count.fetch_add(1, Ordering::Relaxed);
            asked += 1;
            look(&mut greedy, u32::try_from(id).unwrap(), json!({ "kind": "board", "at": (at - asked).max(moments) }))
                .await;
        }
    });
    until(async || answered.load(Ordering::Relaxed) > 0).await;

    let mut good = recorded.socket(None).await;
    look(&mut good, 1, json!({ "kind": "lock", "path": "/a/order" })).await;
    let mut waiters = hear(&mut good, "snapshot").await["body"]["head"]["row"]["waiter_count"].as_u64();
    assert_eq!(waiters, Some(0));
    for number in 1..=20 {
        recorded.truth.queue("/a/order/lock-").await;
        while waiters != Some(number) {
            let delta = hear(&mut good, "delta").await;
            let told = delta["body"]["head"]["row"]["waiter_count"].as_u64();
            waiters = told.or(waiters);
        }
    }
    assert!(answered.load(Ordering::Relaxed) < GREEDY, "it asked for too little to be in the way");
    asking.abort();
}

/// The next frame that is no heartbeat.
async fn next(client: &mut Client) -> Value {
    loop {
        let message = client.next().await.unwrap().unwrap();
        let Ok(text) = message.into_text() else { continue };
        let frame: Value = serde_json::from_str(&text).unwrap_or_default();
        if frame["type"] != "heartbeat" && !frame.is_null() {
            return frame;
        }
    }
}
