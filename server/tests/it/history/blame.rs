//! Who made others wait: the page and the table of two real clients, one of which waited for the other.

use lockscope_view::words::date;
use rusqlite::Connection;
use rustix::process::Signal;
use serde_json::Value;
use zookeeper_client::{Acls, Client, CreateMode};

use super::{Recorded, now_ms};
use crate::harness::open;
use crate::served::until;

/// A name that would be a formula in a spreadsheet.
const HOLDER: &str = "@anna";
const LOCK: &str = "/a/order";
const WEEK_MS: i64 = 7 * 86_400_000;

async fn named(recorded: &Recorded, payload: &str) -> (Client, String) {
    let client = open(&recorded.zookeeper.address()).await;
    let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    let (_, sequence) = client.create(&format!("{LOCK}/lock-"), payload.as_bytes(), &options).await.unwrap();
    (client, format!("{LOCK}/lock-{sequence}"))
}

/// Waits until the second in line is seen to have waited long enough to be charged.
async fn until_waits_for_long(recorded: &Recorded) {
    let waits_ms = async || recorded.lock(LOCK, "").await["contenders"][1]["waiting_ms"].as_i64();
    until(async || waits_ms().await.is_some_and(|ms| ms >= 300)).await;
}

/// One held, another waited for it, and both went. From when to when that was, and the session of who held.
async fn one_waits_for_another(recorded: &Recorded) -> (i64, i64, String) {
    recorded.truth.make(LOCK).await;
    let from = now_ms();
    let (_anna, first) = named(recorded, HOLDER).await;
    recorded.until_holds(LOCK, &first).await;
    let (_berta, second) = named(recorded, "berta").await;
    until_waits_for_long(recorded).await;
    recorded.truth.delete(&first).await;
    recorded.until_holds(LOCK, &second).await;
    recorded.truth.delete(&second).await;
    let lives = async || recorded.json(&format!("/api/v1/history/holds?from={from}")).await.1["holds"].clone();
    until(async || lives().await.as_array().is_some_and(|lives| lives.len() == 2)).await;
    let to = now_ms();
    recorded.until_kept(to).await;
    let lives = lives().await;
    let session = lives[1]["session_id"].as_str().unwrap().to_owned();
    assert_eq!((&lives[1]["label"], &lives[0]["label"]), (&HOLDER.into(), &"berta".into()), "{lives:#}");
    (from, to, session)
}

/// All charges of an answer are all waits, as who held and in the end.
fn is_conserved(blame: &Value) {
    let of = |value: &Value| value.as_i64().unwrap();
    let rows = blame["rows"].as_array().unwrap();
    let rest = of(&blame["hand_off_ms"]) + of(&blame["unknown_ms"]);
    for (own, others) in [("charged_ms", "charged_others_ms"), ("charged_root_ms", "charged_root_others_ms")] {
        let sum: i64 = rows.iter().map(|row| of(&row[own])).sum();
        assert_eq!(sum + of(&blame[others]) + rest, of(&blame["waits_ms"]), "{own}: {blame:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_held_is_charged_on_the_page_and_in_the_table() {
    let mut recorded = Recorded::start("").await;
    let (from, to, session) = one_waits_for_another(&recorded).await;
    let range = format!("from={from}&to={to}");
    let (_, blame) = recorded.json(&format!("/api/v1/history/blame?{range}")).await;
    is_conserved(&blame);
    let row = &blame["rows"][0];
    assert!(row["key"] == HOLDER && row["charged_root_ms"].as_i64() >= Some(300), "{blame:#}");
    assert!(row["charged_week_before_ms"].is_null() && blame["week_before_part"] == 0.0, "{blame:#}");

    let (_, whole) = recorded.json(&format!("/api/v1/history/blame?{range}&by=ensemble")).await;
    is_conserved(&whole);
    assert_eq!((&whole["rows"][0]["key"], &whole["waits_ms"]), (&"default".into(), &blame["waits_ms"]), "{whole:#}");
    assert_eq!((&whole["rows"][0]["holds"], &whole["rows"][0]["victims"]), (&2.into(), &1.into()), "{whole:#}");

    let (status, table) = recorded.get(&format!("/api/v1/history/blame?{range}&format=csv")).await;
    let lines: Vec<&str> = table.split("\r\n").collect();
    assert_eq!(status, 200, "{table}");
    assert!(lines[0].starts_with("key,holds,hold_p50_ms,hold_p99_ms,charged_ms,charged_root_ms,"), "{table}");
    let charged = row["charged_ms"].as_i64().unwrap();
    assert!(lines[1].starts_with(&format!("'{HOLDER},1,")) && lines[1].contains(&format!(",{charged},")), "{table}");

    let (status, page) = recorded.get(&format!("/blame?{range}")).await;
    let named = "@anna</bdi> made others wait most: ";
    assert!(status == 200 && page.contains(named), "{page}");
    assert!(
        page.contains("All of it is recorded.")
            && page.contains("data-explain=\"number-all-waiting\" class=\"explain\">All waiting</a></th>"),
        "{page}"
    );
    let (_, sessions) = recorded.get(&format!("/blame?{range}&by=session")).await;
    assert!(sessions.contains(&format!("The session <bdi title=\"{session}\">")), "{sessions}");
    // The moment before the worst wait ended, the holder still holds.
    let link = page.split("href=\"").map(|rest| rest.split('"').next().unwrap_or_default());
    let link = link.filter(|link| link.starts_with("/lock?")).last().unwrap().replace("&amp;", "&");
    assert!(link.contains(&format!("at={}", row["worst_at_ms"].as_i64().unwrap() - 1)), "{link}");
    let (status, lock) = recorded.get(&link).await;
    assert!(status == 200 && lock.contains("anna") && lock.contains("berta"), "{lock}");
    // Its files have the same rows.
    let csv = page.split("href=\"").map(|rest| rest.split('"').next().unwrap_or_default());
    let csv = csv.filter(|link| link.contains("format=csv")).last().unwrap().replace("&amp;", "&");
    assert_eq!(recorded.get(&csv).await, (200, table));

    // A moment's page ends with it, and links keep it.
    let (status, then) = recorded.get(&format!("/blame?at={to}")).await;
    assert!(status == 200 && then.contains("Up to the moment") && then.contains(HOLDER), "{then}");
    assert!(then.contains(&format!("name=\"at\" value=\"{to}\"")), "{then}");
    let (_, before) = recorded.get(&format!("/blame?at={from}&range=6h")).await;
    assert!(before.contains("Nobody waited for a lock in this range") && !before.contains("<table"), "{before}");
    assert!(recorded.get("/waits").await.1.contains("href=\"/blame\""));

    recorded.end(Signal::KILL).await;
    recorded.run().await;
    until(async || recorded.get("/blame").await.1.contains("Lockscope was not running")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_left_empty_is_left_out_and_what_can_not_be_has_a_remedy() {
    let recorded = Recorded::start("").await;
    for target in [
        "/blame?by=&limit=&path=&ensemble=&range=&from=&to=&at=",
        "/api/v1/history/blame?by=&limit=&format=&path=&ensemble=",
        "/blame?limit=1&by=lock&path=/a",
        "/blame?by=ensemble",
        "/blame?from=1&to=2",
    ] {
        let (status, told) = recorded.get(target).await;
        assert_eq!(status, 200, "{target}: {told}");
    }
    for (target, said) in [
        ("/blame?by=x", "use client, host, session, lock or ensemble"),
        ("/blame?range=2h", "use 1h, 6h, 24h or 7d"),
        ("/blame?range=1h&from=1", "either range, or from and to"),
        ("/blame?limit=0", "a number from 1 to 1000"),
        ("/blame?from=9&to=3", "`from` has to be before `to`"),
        ("/blame?from=x", "milliseconds since the epoch"),
        ("/blame?path=a", "not an absolute path"),
        ("/blame?depth=1", "it takes by, path, ensemble, range, from, to, limit and at"),
        ("/api/v1/history/blame?format=perfetto", "use json or csv"),
        ("/api/v1/history/blame?by=x", "use client, host, session, lock or ensemble"),
    ] {
        let (status, told) = recorded.get(target).await;
        assert!(status == 400 && told.contains(said), "{target}: {status} {told}");
    }
    let off = Recorded::start("history = \"off\"\n").await;
    let (status, page) = off.get("/blame").await;
    assert!(status == 200 && page.contains("No history is kept here") && page.contains("restart Lockscope"), "{page}");
    assert!(!off.get("/waits").await.1.contains("href=\"/blame\""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_not_see_payloads_or_roots_is_not_offered_them() {
    let recorded = Recorded::start("payloads = \"operator\"\n").await;
    recorded.truth.make(LOCK).await;
    let (from, operator) = (now_ms(), recorded.token("operator", "/").await);
    let viewer = recorded.token("viewer", "/a").await;
    let (_anna, first) = named(&recorded, "treasure").await;
    recorded.until_holds(LOCK, &first).await;
    let (_berta, second) = named(&recorded, "berta").await;
    until_waits_for_long(&recorded).await;
    recorded.truth.delete(&first).await;
    recorded.until_holds(LOCK, &second).await;
    recorded.truth.delete(&second).await;
    let page = async |token: &str, more: &str| recorded.text_as(token, &format!("/blame?from={from}{more}")).await;
    // The first one's own wait is kept before that of the second, which names it.
    until(async || page(&operator, "").await.1.contains("treasure")).await;
    let (_, all) = page(&operator, "").await;
    assert!(all.contains("<option value=\"client\" selected") && all.contains("treasure"), "{all}");
    let (status, part) = page(&viewer, "").await;
    assert!(status == 200 && part.contains("<option value=\"host\" selected") && part.contains("Charged as holder"));
    for hidden in ["value=\"client\"", "Charged in the end", "in the end", "treasure"] {
        assert!(!part.contains(hidden), "{hidden} is in {part}");
    }
    let (status, told) = page(&viewer, "&by=client").await;
    assert!(status == 400 && told.contains("ask with by=host"), "{told}");
}

/// Moves a copy of what is derived of a day a week back.
fn as_a_week_before(recorded: &Recorded, at_ms: i64) {
    let folder = recorded.history().join("default");
    let day = |at_ms: i64| folder.join(format!("{}.rows.db", &date(at_ms)[..10]));
    let before = day(at_ms - WEEK_MS);
    Connection::open(day(at_ms)).unwrap().execute("VACUUM INTO ?1", [before.display().to_string()]).unwrap();
    // When it joined and held is kept as the time up to its end.
    let set = "UPDATE life SET left_at = left_at - ?1";
    Connection::open(&before).unwrap().execute(set, [WEEK_MS]).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_says_what_it_was_charged_a_week_before() {
    let mut recorded = Recorded::start("").await;
    let (from, to, _) = one_waits_for_another(&recorded).await;
    recorded.end(Signal::TERM).await;
    as_a_week_before(&recorded, to);
    recorded.run().await;
    let range = format!("from={from}&to={to}");
    until(async || recorded.json(&format!("/api/v1/history/blame?{range}")).await.0 == 200).await;
    let (_, blame) = recorded.json(&format!("/api/v1/history/blame?{range}")).await;
    let row = &blame["rows"][0];
    assert!(row["key"] == HOLDER && row["charged_root_ms"] == row["charged_week_before_ms"], "{blame:#}");
    // Changes of then are not kept, so nothing says that all of it was recorded.
    let part = blame["week_before_part"].as_f64().unwrap();
    assert!(part > 0.0 && part < 1.0, "{blame:#}");
    let (_, page) = recorded.get(&format!("/blame?{range}")).await;
    assert!(page.contains("A week before") && page.contains("at least, since"), "{page}");
    // Who was not charged then was charged nothing.
    let (_, sessions) = recorded.json(&format!("/api/v1/history/blame?{range}&by=lock")).await;
    assert_eq!(sessions["rows"][0]["charged_week_before_ms"], sessions["rows"][0]["charged_ms"]);
    let (_, other) = recorded.json(&format!("/api/v1/history/blame?{range}&path=/a/none")).await;
    assert_eq!(other["rows"], Value::Array(Vec::new()));
}
