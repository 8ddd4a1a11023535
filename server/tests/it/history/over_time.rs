//! A lock over time as its page shows it: who held in which order, what is not known, what may be seen, and what an
//! address that can't be is answered.

use rustix::process::Signal;
use zookeeper_client::{Acls, CreateMode};

use super::{Recorded, now_ms};
use crate::harness::open;
use crate::served::until;

const HOSTILE: &str = "<script>alert(1)</script>\u{202e}\"' onload=x";

/// Queues with a payload that says who it is.
async fn named(recorded: &Recorded, lock: &str, payload: &str) -> (zookeeper_client::Client, String) {
    let client = open(&recorded.zookeeper.address()).await;
    let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    let (_, sequence) = client.create(&format!("{lock}/lock-"), payload.as_bytes(), &options).await.unwrap();
    (client, format!("{lock}/lock-{sequence}"))
}

/// Names of the clients whose bars there are, in order.
fn bars(markup: &str) -> Vec<String> {
    let after = markup.split("data-client=\"").skip(1);
    after.map(|rest| rest.split('"').next().unwrap_or_default().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_held_is_drawn_in_order_with_gaps_and_in_documents() {
    let mut recorded = Recorded::start("").await;
    recorded.truth.make("/a/order").await;
    let (_anna, first) = named(&recorded, "/a/order", "anna").await;
    let (_evil, second) = named(&recorded, "/a/order", HOSTILE).await;
    let at_first = recorded.until_holds("/a/order", &first).await;
    recorded.truth.delete(&first).await;
    let at_second = recorded.until_holds("/a/order", &second).await;
    recorded.until_kept(at_second).await;
    let of = "/lock/over-time?path=/a/order&range=15m";
    until(async || bars(&recorded.get(of).await.1).len() == 2).await;
    let (status, markup) = recorded.get(of).await;
    assert_eq!(status, 200);
    assert_eq!(bars(&markup)[0], "anna", "{markup}");
    assert!(!markup.contains("<script") && !markup.contains("\u{202e}"), "{markup}");
    assert!(markup.contains("&lt;script&gt;alert(1)"), "{markup}");
    // Each leads to a moment that is kept, and keeps the picture.
    let href = markup.split("class=\"ot-hold\"").next().unwrap().rsplit("href=\"").next().unwrap();
    let href = href.split('"').next().unwrap().replace("&amp;", "&");
    assert!(href.contains("&from=") && href.contains("&to="), "{href}");
    let (status, page) = recorded.get(&href).await;
    assert!(status == 200 && page.contains("anna holds it."), "{href}: {page}");
    assert!(page.contains("data-testid=\"ot-cursor\"") && bars(&page).len() == 2, "it is in the document");
    assert!(page.contains("link was live then") && !page.contains(">link live"), "{page}");
    // A live page has it where the address chooses it, and the ways to it else.
    let (_, live) = recorded.get("/lock?path=/a/order&range=6h&compare=1d").await;
    assert!(bars(&live).len() == 2 && live.contains("data-testid=\"ot-not-compared\""), "{live}");
    let (_, plain) = recorded.get("/lock?path=/a/order").await;
    assert!(
        plain.contains("data-state=\"waits\"") && plain.contains("/lock?path=%2Fa%2Forder&amp;range=24h#over-time")
    );

    // Killed, and started again: what was missed is a gap.
    recorded.end(Signal::KILL).await;
    recorded.run().await;
    recorded.until_kept(now_ms()).await;
    let (_, markup) = recorded.get(of).await;
    assert!(markup.contains("data-testid=\"ot-gap\"") && markup.contains("Lockscope was not running"), "{markup}");
    assert_eq!(bars(&markup).first().map(String::as_str), Some("anna"), "{markup}");
    // Of a lock that is gone, what was stays.
    recorded.truth.delete(&second).await;
    recorded.truth.delete("/a/order").await;
    until(async || recorded.get("/lock?path=/a/order&range=1h").await.0 == 404).await;
    let (_, gone) = recorded.get("/lock?path=/a/order&range=1h").await;
    assert!(!bars(&gone).is_empty() && gone.contains("data-testid=\"no-lock\""), "{gone}");
    assert!(at_first < at_second);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scopes_and_payloads_hold_and_mistakes_are_named() {
    let recorded = Recorded::start("payloads = \"operator\"\n").await;
    recorded.truth.make("/a/order").await;
    recorded.truth.make("/b/canary").await;
    let (_one, first) = named(&recorded, "/a/order", "treasure").await;
    let (_two, other) = named(&recorded, "/b/canary", "treasure").await;
    recorded.until_holds("/a/order", &first).await;
    let at = recorded.until_holds("/b/canary", &other).await;
    recorded.until_kept(at).await;
    let (viewer, operator) = (recorded.token("viewer", "/a").await, recorded.token("operator", "/").await);
    let ask = async |token: &str, query: &str| recorded.text_as(token, &format!("/lock/over-time?{query}")).await;
    let (status, own) = ask(&viewer, "path=/a/order").await;
    assert!(status == 200 && bars(&own).len() == 1 && !own.contains("treasure"), "{own}");
    assert_eq!(bars(&ask(&operator, "path=/a/order").await.1), ["treasure"]);
    let (status, foreign) = ask(&viewer, "path=/b/canary").await;
    assert!(status == 200 && bars(&foreign).is_empty() && !foreign.contains("treasure"), "{foreign}");
    // In the same window, up to the picture, without what the clock changes.
    let window = format!("from={}&to={at}", at - 900_000);
    let (_, foreign) = ask(&viewer, &format!("path=/b/canary&{window}")).await;
    let (_, none) = ask(&viewer, &format!("path=/b/never&{window}")).await;
    let without = |text: &str| {
        let text = text.replace("canary", "never");
        let head = text.split("data-from").next().unwrap_or_default().to_owned();
        head.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>()
    };
    assert_eq!(without(&foreign), without(&none), "what may not be seen is as if it were not there");
    for (query, said) in [
        ("range=2h", "\"2h\" is not a value of range; use 15m, 1h, 6h, 24h, 7d or 30d"),
        ("from=9&to=5", "is not a value of to; use an instant at least 10 s after from"),
        ("compare=2d", "is not a value of compare; use 1d or 1w"),
    ] {
        let (status, told) = ask(&viewer, &format!("path=/a/order&{query}")).await;
        let told = told.replace("&quot;", "\"");
        assert!(status == 200 && told.contains("data-testid=\"ot-refused\"") && told.contains(said), "{query}: {told}");
    }
    for query in ["", "path=", "path=/a&q=x", "path=/a&path=/b"] {
        assert_eq!(ask(&viewer, query).await.0, 400, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_history_one_line_says_so() {
    let recorded = Recorded::start("history = \"off\"\n").await;
    recorded.truth.make("/a/order").await;
    let (_one, first) = named(&recorded, "/a/order", "anna").await;
    recorded.until_holds("/a/order", &first).await;
    for target in ["/lock/over-time?path=/a/order", "/lock?path=/a/order", "/lock?path=/a/order&range=1h"] {
        let (status, text) = recorded.get(target).await;
        assert!(status == 200 && text.contains("History is off: set history = \"on\""), "{target}: {text}");
    }
}
