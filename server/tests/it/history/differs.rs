//! How waits differ: of real clients, some of which waited for long in one lock.

use serde_json::Value;
use zookeeper_client::{Acls, Client, CreateMode};

use super::{Recorded, now_ms};
use crate::harness::open;
use crate::served::until;

const SLOW: &str = "/a/slow";
const QUICK: &str = "/b/quick";
/// Who waits for long.
const WAITER: &str = "waiter-7@app";
const LONG_MS: i64 = 300;

async fn named(recorded: &Recorded, lock: &str, payload: &str) -> (Client, String) {
    let client = open(&recorded.zookeeper.address()).await;
    let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    let (_, sequence) = client.create(&format!("{lock}/lock-"), payload.as_bytes(), &options).await.unwrap();
    (client, format!("{lock}/lock-{sequence}"))
}

/// One waits for long in a lock below `/a`; two below `/b` hold at once. Since when.
async fn one_waits_for_long(recorded: &Recorded) -> i64 {
    recorded.truth.make(SLOW).await;
    recorded.truth.make(QUICK).await;
    let from = now_ms() - 1_000;
    for _ in 0..2 {
        let (_client, node) = named(recorded, QUICK, "quick-1@app").await;
        recorded.until_holds(QUICK, &node).await;
        recorded.truth.delete(&node).await;
    }
    let (_first, held) = named(recorded, SLOW, "holder-1@app").await;
    recorded.until_holds(SLOW, &held).await;
    let (_next, waits) = named(recorded, SLOW, WAITER).await;
    let waits_ms = async || recorded.lock(SLOW, "").await["contenders"][1]["waiting_ms"].as_i64();
    until(async || waits_ms().await.is_some_and(|ms| ms >= LONG_MS + 200)).await;
    recorded.truth.delete(&held).await;
    recorded.until_holds(SLOW, &waits).await;
    recorded.truth.delete(&waits).await;
    let lives = async || recorded.json(&format!("/api/v1/history/holds?from={from}")).await.1["holds"].clone();
    until(async || lives().await.as_array().is_some_and(|lives| lives.len() == 4)).await;
    from
}

fn dimension<'a>(differs: &'a Value, name: &str) -> Option<&'a Value> {
    differs["dimensions"].as_array().unwrap().iter().find(|dimension| dimension["name"] == name)
}

/// For each dimension all values together are the selection and the rest.
fn adds_up(differs: &Value) {
    for dimension in differs["dimensions"].as_array().unwrap() {
        for (side, all) in [("selection", "selected"), ("rest", "others")] {
            let named: u64 =
                dimension["values"].as_array().unwrap().iter().map(|row| row[side].as_u64().unwrap()).sum();
            let others = dimension["others"][side].as_u64().unwrap_or(0);
            assert_eq!(named + others, differs[all].as_u64().unwrap(), "{side} of {dimension:#}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_long_waits_have_in_common_is_said_and_to_whom() {
    let recorded = Recorded::start("payloads = \"operator\"\n").await;
    let operator = recorded.token("operator", "/").await;
    let viewer = recorded.token("viewer", "/b").await;
    let from = one_waits_for_long(&recorded).await;
    let ask = async |token: &str, more: &str| {
        let target = format!("/api/v1/history/differs?from={from}&min_wait_ms={LONG_MS}{more}");
        let (status, told) = recorded.text_as(token, &target).await;
        assert_eq!(status, 200, "{told}");
        let differs: Value = serde_json::from_str(&told).unwrap();
        adds_up(&differs);
        (differs, told)
    };
    let (all, _) = ask(&operator, "").await;
    assert_eq!((&all["selected"], &all["others"]), (&1.into(), &3.into()), "{all:#}");
    assert_eq!((&all["without_wait"], &all["is_sampled"]), (&0.into(), &false.into()), "{all:#}");
    let client = dimension(&all, "client").unwrap();
    assert_eq!((client["difference"].as_f64(), &client["values"][0]["value"]), (Some(1.0), &WAITER.into()), "{all:#}");
    let application = dimension(&all, "application").unwrap();
    assert!(application["values"].as_array().unwrap().iter().any(|row| row["value"] == "waiter"), "{all:#}");
    let lock = &dimension(&all, "lock").unwrap()["values"][0];
    assert_eq!((lock["selection_part"].as_f64(), lock["selection"].as_u64()), (Some(1.0), Some(1)), "{all:#}");
    assert_eq!(dimension(&all, "recipe").unwrap()["difference"], 0.0);
    // Of one lock alone, and of a selection that is empty.
    let (one, _) = ask(&operator, &format!("&path={SLOW}")).await;
    assert_eq!((&one["selected"], &one["others"], &one["is_sampled"]), (&1.into(), &1.into(), &Value::Null), "{one:#}");
    let (none, _) = ask(&operator, "&max_wait_ms=301").await;
    assert!(none["selected"] == 0 && none["dimensions"][0]["difference"].is_null(), "{none:#}");

    // As a table it is the same, value by value.
    let (status, table) = recorded
        .text_as(&operator, &format!("/api/v1/history/differs?from={from}&min_wait_ms={LONG_MS}&format=csv"))
        .await;
    let values: usize =
        all["dimensions"].as_array().unwrap().iter().map(|one| one["values"].as_array().unwrap().len()).sum();
    assert!(status == 200 && table.lines().count() == values + 1, "{table}");
    assert!(table.contains(&format!("client,1,false,{WAITER},1,1,0,1,0\r\n")), "{table}");

    // The page says the same, and each cell of its map selects what is in it.
    let (status, page) = recorded.text_as(&operator, &format!("/differs?from={from}&min_wait_ms={LONG_MS}")).await;
    assert!(status == 200 && page.contains("1 of 4 waits of ≥ 300 ms <a"), "{page}");
    let text: String = page.split('<').filter_map(|part| Some(part.split_once('>')?.1)).collect();
    assert!(text.contains("differs by 100.0 %"), "{text}");
    assert!(page.contains(WAITER) && page.contains("heat-chosen"), "{page}");
    let links = page.split("href=\"").map(|rest| rest.split('"').next().unwrap_or_default());
    let cells: Vec<String> =
        links.filter(|link| link.contains("sel_from=")).map(|link| link.replace("&amp;", "&")).collect();
    let mut counted = 0;
    for cell in cells.iter().filter(|link| link.starts_with("/differs?")) {
        let (status, page) = recorded.text_as(&operator, cell).await;
        let said = page
            .split("differs-lead\"")
            .nth(1)
            .and_then(|rest| rest.split(['>', ' ']).find(|text| text.parse::<u64>().is_ok()));
        assert!(status == 200 && said.is_some(), "{cell}: {status} {page}");
        counted += said.unwrap().parse::<u64>().unwrap();
    }
    assert_eq!(counted, 4, "{cells:?}");
    let (_, blame) = recorded.text_as(&operator, &format!("/blame?from={from}")).await;
    assert!(blame.contains(&format!("href=\"/differs?from={from}&amp;to=")), "{blame}");

    // Who may see a part of it is told of that alone, and of no clients.
    let (status, page) = recorded.text_as(&viewer, &format!("/differs?from={from}&max_wait_ms=1")).await;
    assert!(status == 200 && !page.contains(WAITER) && !page.contains("/a/slow"), "{page}");
    let (part, told) = ask(&viewer, "").await;
    assert_eq!((&part["selected"], &part["others"], &part["is_sampled"]), (&0.into(), &2.into(), &Value::Null));
    assert!(dimension(&part, "client").is_none() && dimension(&part, "application").is_none(), "{part:#}");
    assert!(!told.contains("slow") && !told.contains("waiter") && !told.contains("quick-1"), "{told}");
    let (hidden, _) = ask(&viewer, &format!("&path={SLOW}")).await;
    assert_eq!((&hidden["selected"], &hidden["others"]), (&0.into(), &0.into()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_selection_that_can_not_be_has_a_remedy() {
    let recorded = Recorded::start("").await;
    let differs = "/api/v1/history/differs";
    for query in
        ["", "?path=&ensemble=&sel_from=&sel_to=&min_wait_ms=&max_wait_ms=", "?from=1&to=9&sel_from=2&sel_to=3"]
    {
        let (status, told) = recorded.get(&format!("{differs}{query}")).await;
        assert_eq!(status, 200, "{query}: {told}");
    }
    for target in [
        "/differs",
        "/differs?path=&ensemble=&range=&from=&to=&sel_from=&sel_to=&min_wait_ms=&max_wait_ms=",
        "/differs?range=6h&min_wait_ms=1000",
    ] {
        let (status, page) = recorded.get(target).await;
        assert!(status == 200 && page.contains("data-testid=\"differs-none\""), "{target}: {page}");
    }
    for (target, said) in [
        ("/differs?range=2h", "use 1h, 6h, 24h or 7d"),
        ("/differs?range=1h&from=1", "either range, or from and to"),
        ("/differs?path=a", "not an absolute path"),
        ("/differs?at=1", "`at` is not a parameter of /differs; it takes path, ensemble, range"),
    ] {
        let (status, told) = recorded.get(target).await;
        assert!(status == 400 && told.contains(said), "{target}: {status} {told}");
    }
    let off = Recorded::start("history = \"off\"\n").await;
    assert!(off.get("/differs").await.1.contains("No history is kept here"));
    for (query, said) in [
        ("from=5&to=9&sel_from=4", "have to be within `from` and `to`"),
        ("from=5&to=9&sel_from=8&sel_to=7", "`sel_from` has to be before `sel_to`"),
        ("min_wait_ms=5&max_wait_ms=5", "`min_wait_ms` has to be less than `max_wait_ms`"),
        ("min_wait_ms=-1", "a number of milliseconds"),
        ("limit=5", "`limit` is not a parameter of /api/v1/history/differs; it takes ensemble, path"),
    ] {
        let (status, told) = recorded.get(&format!("{differs}?{query}")).await;
        assert!(status == 400 && told.contains(said), "{query}: {status} {told}");
    }
}
