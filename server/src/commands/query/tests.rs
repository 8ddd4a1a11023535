//! What the commands print, from answers of the API.

use serde_json::{Value, json};

use super::responses::{LockDetail, Locks, Status};
use super::staleness::{self, notes};
use super::table::OutputStyle;
use super::{client, lock, locks, who};

/// 2026-11-21 14:03:22 UTC.
const NOW_MS: i64 = 1_795_269_802_000;
const PLAIN: OutputStyle = OutputStyle { columns: None, is_colored: false };

fn contender(position: u32, role: &str) -> Value {
    let ms = 245_000 - i64::from(position) * 1_000;
    let (waiting, holding) = if role == "holder" { (Value::Null, json!(ms)) } else { (json!(ms), Value::Null) };
    json!({
        "path": format!("/shop/order/lock-000000000{position}"), "node": format!("lock-000000000{position}"), "position": position, "role": role,
        "access": "exclusive", "session_id": format!("0x100{position}"), "liveness": "connected", "label": format!("worker-{position}"),
        "client": { "address": format!("10.0.0.{position}:40000"), "server": "zk1" }, "waiting_ms": waiting, "holding_ms": holding,
        "holding_is_lower_bound": false, "waits_for": if role == "holder" { json!([]) } else { json!(["/shop/order/lock-0000000000"]) },
        "added_by_a_newer_server": true,
    })
}

fn row(path: &str, verdict: &str, holders: &[Value], waiters: u32) -> Value {
    json!({
        "ensemble": "default", "path": path, "recipe": "sequential_mutex", "recipe_label": "kazoo Lock", "confidence": "high", "verdict": verdict,
        "sentence": "Held by worker-0; 3 wait.", "as_of": { "state": "live", "zxid": "0x1f", "at_ms": NOW_MS, "why": "" }, "holders": holders,
        "holder_count": holders.len(), "waiter_count": waiters, "oldest_wait_ms": (waiters > 0).then_some(244_000),
        "hold_ms": (!holders.is_empty()).then_some(245_000), "hold_is_lower_bound": false, "findings": [],
    })
}

fn detail(verdict: &str, waiters: u32) -> Value {
    let mut page = row("/shop/order", verdict, &[contender(0, "holder")], waiters);
    let contenders: Vec<Value> =
        (0..=waiters.min(2)).map(|at| contender(at, if at == 0 { "holder" } else { "waiter" })).collect();
    page["contenders"] = json!(contenders);
    page["contender_count"] = json!(waiters + 1);
    page["findings"] = json!([{ "code": "deadlock", "severity": "critical", "text": "Two wait for each other.", "paths": [], "since_ms": 1 }]);
    page["notes"] = json!(["Waiters of this recipe have no znode."]);
    page
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

#[test]
fn locks_stand_in_a_table_with_their_number_below() {
    let evil = row("/evil\u{1b}[31m\n/\u{202e}x", "free", &[], 0);
    let many = row("/锁/订单", "stuck", &[contender(0, "holder"), contender(1, "holder")], 3);
    let answer: Locks = read(json!({ "seq": 1, "total": 2, "locks": [many, evil] }));
    let expected = "\
VERDICT  LOCK             RECIPE      HOLDER                    HELD  WAITERS   OLDEST WAIT
stuck    /锁/订单         kazoo Lock  worker-0 @ 10.0.0.0 +1  4 min 05 s        3  4 min 04 s
free     /evil␛[31m␊/␥x  kazoo Lock  -                              -        0            -

2 locks, as of 2026-11-21 14:03:22 UTC
";
    let text = locks::render(&answer, 0, false, NOW_MS, PLAIN);
    let words =
        |text: &str| text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    assert_eq!(words(&text), words(expected));
    assert!(
        text.lines()
            .take(3)
            .map(super::words::width)
            .all(|width| width == super::words::width(text.lines().next().unwrap())),
        "{text}"
    );
    let narrow = locks::render(&answer, 0, false, NOW_MS, OutputStyle { columns: Some(80), is_colored: false });
    assert!(
        narrow.lines().all(|line| super::words::width(line) <= 80)
            && narrow.contains('…')
            && !narrow.contains("RECIPE"),
        "{narrow}"
    );
    assert!(locks::render(&answer, 0, true, NOW_MS, PLAIN).starts_with("VERDICT  ENSEMBLE  LOCK"));
}

#[test]
fn what_is_not_all_says_how_to_go_on_and_nothing_is_said_to_be_nothing() {
    let answer: Locks = read(json!({ "seq": 1, "total": 57, "locks": [row("/a", "free", &[], 0)] }));
    assert!(
        locks::render(&answer, 20, false, NOW_MS, PLAIN)
            .contains("\n21 to 21 of 57 locks; --offset 21 goes on, as of ")
    );
    let none =
        |total: u32| locks::render(&read(json!({ "seq": 1, "total": total, "locks": [] })), 0, false, NOW_MS, PLAIN);
    assert_eq!(none(0), "no lock matches, as of 2026-11-21 14:03:22 UTC\n");
    assert_eq!(none(3), "no more than 3 locks, as of 2026-11-21 14:03:22 UTC\n");
}

#[test]
fn one_lock_tells_holders_queue_and_what_is_odd() {
    let page: LockDetail = read(detail("deadlocked", 4));
    let expected = "\
/shop/order  deadlocked
  Held by worker-0; 3 wait.
  recipe    kazoo Lock (sequential_mutex, high confidence)
  as of     2026-11-21 14:03:22 UTC, zxid 0x1f
  waiting   4, the longest for 4 min 04 s

Holders (1)
  WHO       HOST      SESSION  LIVENESS         HELD  ZNODE
  worker-0  10.0.0.0  0x1000   connected  4 min 05 s  lock-0000000000

Queue (2 of 4)
  #  WHO       HOST      SESSION  LIVENESS        WAITS  WAITS FOR
  1  worker-1  10.0.0.1  0x1001   connected  4 min 04 s  lock-0000000000
  2  worker-2  10.0.0.2  0x1002   connected  4 min 03 s  lock-0000000000
  … and 2 more: --offset 3 goes on, --limit shows more at once

Findings (1)
  critical  deadlock: Two wait for each other.

Notes
  Waiters of this recipe have no znode.
";
    assert_eq!(lock::render(&page, 0, PLAIN), expected);
    let mut stale = detail("healthy", 0);
    stale["as_of"] = json!({ "state": "stale", "zxid": "0x1f", "at_ms": NOW_MS - 60_000, "why": "silent" });
    let text = lock::render(&read(stale), 0, PLAIN);
    assert!(
        text.contains("as of     zxid 0x1f, STALE since 2026-11-21 14:02:22 UTC (silent): what follows is from then\n"),
        "{text}"
    );
    let colored = lock::render(&page, 0, OutputStyle { is_colored: true, ..PLAIN });
    assert!(
        colored.contains("\u{1b}[1;31mdeadlocked\u{1b}[0m") && colored.contains("\u{1b}[1;31mcritical\u{1b}[0m"),
        "{colored}"
    );
}

#[test]
fn an_answer_grows_old_on_its_way() {
    let aged = |state: &str, age_ms: Option<i64>, took_ms: i64| {
        let mut lock = detail("healthy", 0);
        lock["as_of"] =
            json!({ "state": state, "zxid": "0x1f", "at_ms": NOW_MS - 60_000, "why": "", "age_ms": age_ms });
        staleness::grow_old(&mut lock, took_ms);
        (lock["as_of"]["state"].as_str().unwrap().to_owned(), lock["as_of"]["age_ms"].as_i64())
    };
    assert_eq!(aged("live", Some(1_500), 500), ("live".to_owned(), Some(2_000)));
    assert_eq!(aged("partial", Some(1_500), 501), ("stale".to_owned(), Some(2_001)));
    assert_eq!(aged("syncing", Some(9_000), 501), ("syncing".to_owned(), Some(9_501)));
    assert_eq!(aged("live", None, 9_000), ("live".to_owned(), None), "a server that does not tell");
}

#[test]
fn who_is_one_line_and_a_code() {
    let line = |value: &Value| {
        let lock = read::<LockDetail>(value.clone()).lock;
        let text = who::render(&lock, None, NOW_MS, PLAIN);
        assert!(text.ends_with('\n') && text.lines().count() == 1, "{text}");
        (text.trim_end().to_owned(), who::code(&lock), who::json(value, &lock, None)["held"].clone())
    };
    let held =
        "/shop/order is held by worker-0 (session 0x1000, host 10.0.0.0) for 4 min 05 s, since 2026-11-21 13:59:17 UTC";
    assert_eq!(line(&detail("healthy", 3)), (format!("{held}; 3 wait, the longest for 4 min 04 s"), None, json!(true)));
    assert_eq!(line(&detail("stuck", 1)).0, format!("{held}; 1 waits, the longest for 4 min 04 s [stuck]"));
    assert_eq!(line(&detail("healthy", 0)).0, format!("{held}; nobody waits"));

    let mut free = detail("free", 0);
    (free["holders"], free["holder_count"]) = (json!([]), json!(0));
    assert_eq!(line(&free), ("/shop/order is free".to_owned(), Some(1), json!(false)));
    free["waiter_count"] = json!(2);
    assert_eq!(line(&free).0, "/shop/order is held by nobody; 2 wait");
    let mut led = detail("healthy", 2);
    (led["oldest_wait_ms"], led["total_wait_ms"]) = (Value::Null, json!(0));
    assert_eq!(line(&led).0, format!("{held}; nobody waits for a lock"), "standbys of an election");
    assert!(lock::render(&read(led), 0, PLAIN).contains("  waiting   -\n"));
    (free["waiter_count"], free["missing"]) = (Value::Null, json!(["unswept"]));
    let unsure = "/shop/order is not seen to be held, and not all of it can be seen";
    assert_eq!(line(&free), (unsure.to_owned(), Some(75), Value::Null), "somebody may hold it unseen");

    let mut unseen = detail("healthy", 0);
    (unseen["waiter_count"], unseen["missing"]) = (Value::Null, json!(["watches_not_read"]));
    assert_eq!(line(&unseen), (format!("{held}; waiters can't be seen here"), None, json!(true)));
    let mut some = detail("slow", 3);
    (some["missing"], some["wait_is_lower_bound"]) = (json!(["unreadable_children"]), json!(true));
    assert_eq!(line(&some).0, format!("{held}; at least 3 wait, the longest for ≥ 4 min 04 s [slow]"));
    let text = lock::render(&read(some), 0, PLAIN);
    assert!(
        text.contains("  waiting   ≥ 3, the longest for ≥ 4 min 04 s\n  missing   unreadable children\n"),
        "{text}"
    );

    let mut shared = detail("healthy", 0);
    (shared["holders"], shared["holder_count"]) = (json!([contender(0, "holder"), contender(1, "holder")]), json!(7));
    shared["ensemble"] = json!("prod");
    let several = "held by 7: worker-0 (session 0x1000, host 10.0.0.0) for 4 min 05 s, worker-1 (session 0x1001, host 10.0.0.1) for 4 min 04 s, 5 more";
    assert_eq!(line(&shared).0, format!("/shop/order in prod is {several}; nobody waits"));

    let mut bare = detail("healthy", 0);
    (bare["holders"][0]["label"], bare["holders"][0]["client"]) = (Value::Null, Value::Null);
    bare["as_of"] = json!({ "state": "stale", "zxid": "0x1f", "at_ms": NOW_MS - 60_000, "why": "" });
    let (text, code, held) = line(&bare);
    assert_eq!((code, held), (Some(75), Value::Null));
    let end = "; nobody waits; STALE since 2026-11-21 14:02:22 UTC (no answer from ZooKeeper): it was so then";
    assert!(text.starts_with("/shop/order is held by 0x1000 for 4 min 05 s, since ") && text.ends_with(end), "{text}");
}

#[test]
fn doubts_name_what_is_old_and_what_is_not_whole() {
    let root = |path: &str, state: &str| json!({ "path": path, "state": state, "since_ms": 0, "why": "" });
    let one = |name: &str, link: &str, roots: Vec<Value>| json!({ "name": name, "link": link, "since_ms": NOW_MS, "why": "silent", "roots": roots });
    let told = |ensembles: Vec<Value>, only: Option<&str>| {
        let status: Status = read(json!({ "ensembles": ensembles }));
        notes(&status, only).into_iter().map(|note| (note.text, note.is_old)).collect::<Vec<_>>()
    };
    assert_eq!(told(vec![one("default", "live", vec![root("/", "live")])], None), []);
    let stale = ("STALE: ZooKeeper since 2026-11-21 14:03:22 UTC (silent)".to_owned(), true);
    assert_eq!(told(vec![one("default", "stale", vec![root("/", "stale")])], None), [stale]);
    let two = vec![one("prod", "live", vec![root("/a", "partial"), root("/b", "gone")]), one("test", "lost", vec![])];
    let parts = [
        ("PARTIAL: /a of prod (some znodes may not be read)".to_owned(), false),
        ("GONE: /b of prod (the root does not exist)".to_owned(), true),
    ];
    assert_eq!(told(two.clone(), Some("prod")), parts);
    assert_eq!(told(two, None).len(), 3);
    let many = told(vec![one("default", "live", (0..9).map(|at| root(&format!("/{at}"), "syncing")).collect())], None);
    assert_eq!((many.len(), many[5].clone()), (6, ("and 4 more; GET /api/v1/status has all".to_owned(), true)));
}

#[test]
fn who_says_how_long_those_in_line_still_have_to_wait() {
    let lock = read::<LockDetail>(detail("healthy", 12)).lock;
    let wait = |place: u32, low_ms: i64| {
        json!({
            "place": place, "path": "/shop/order/lock-1", "session_id": "0x5", "label": null, "waiting_since_ms": 0,
            "remaining": { "low_ms": low_ms, "middle_ms": 2 * low_ms, "high_ms": 3 * low_ms }, "reason": null
        })
    };
    let mut told = json!({
        "ensemble": "default", "path": "/shop/order", "state": "live", "at_ms": 0, "waiter_count": 12, "reason": null,
        "waits": [wait(1, 1_000)], "asked": null, "last": wait(12, 60_000), "hold_count": 256, "source": "recording",
        "calibration": { "judged": 212, "right": 172, "sooner": 19, "later": 21, "unknown": 4, "untold": 0 }
    });
    let line = |told: &Value| {
        let text = who::render(&lock, Some(&read(told.clone())), NOW_MS, PLAIN);
        assert_eq!(text.lines().count(), 1, "{text}");
        text.split_once("12 wait, ").unwrap().1.split_once("; ").unwrap().1.trim_end().to_owned()
    };
    let right = "(80 %; right 81 % of 212 waits of the last day)";
    assert_eq!(line(&told), format!("1st in line: 1.0 s to 3.0 s, 12th in line: 1 min 00 s to 3 min 00 s {right}"));
    told["asked"] = wait(4, 35_000);
    assert_eq!(line(&told), format!("4th in line: 35.0 s to 1 min 45 s {right}"));
    (told["reason"], told["calibration"]) = (json!("deadlocked"), Value::Null);
    assert_eq!(line(&told), "for how long is not known: it is in a deadlock, or in what looks like one");
    assert_eq!(who::json(&detail("healthy", 1), &lock, Some(told))["time_to_lock"]["reason"], "deadlocked");
}

#[test]
fn several_answers_keep_their_order() {
    let paths = |rows: Vec<Value>| rows.iter().map(|row| row["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let with = |path: &str, verdict: &str, wait_ms: i64, label: &str, name: &str| {
        let holder = Value::Array(if name.is_empty() { Vec::new() } else { vec![contender(0, "holder")] });
        let mut row = row(path, verdict, holder.as_array().unwrap(), 1);
        (row["total_wait_ms"], row["recipe_label"]) = (json!(wait_ms), json!(label));
        if !name.is_empty() {
            row["holders"][0]["label"] = json!(name);
        }
        row
    };
    // The first has a critical finding, which no row tells.
    let healthy = || vec![with("/a", "healthy", 1, "kazoo", "zoe"), with("/b", "healthy", 900, "kazoo", "amy")];
    let stuck = || vec![with("/c", "stuck", 50, "Curator", "bob")];
    let free = || vec![with("/d", "free", 0, "Curator", "")];
    let merged = |sort: &str| paths(client::merged(vec![free(), healthy(), stuck()], sort));
    assert_eq!(merged("worst"), ["/c", "/a", "/b", "/d"]);
    assert_eq!(merged("path"), ["/a", "/b", "/c", "/d"]);
    let by = |mut rows: Vec<Value>, field: fn(&Value) -> String| {
        rows.sort_by_key(field);
        rows
    };
    let healthy = by(healthy(), |row| row["holders"][0]["label"].to_string());
    assert_eq!(paths(client::merged(vec![free(), healthy, stuck()], "holder")), ["/b", "/c", "/a", "/d"]);
    let recipe = vec![with("/a", "healthy", 1, "kazoo", "zoe")];
    assert_eq!(paths(client::merged(vec![recipe, free(), stuck()], "recipe")), ["/c", "/d", "/a"]);
}
