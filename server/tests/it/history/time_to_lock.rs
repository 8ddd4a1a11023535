//! Time to lock over a whole server: who is told of whose line, and what is said where no estimate can be given.

use super::Recorded;
use crate::harness::{open, queue};
use crate::served::until;

const LINE: &str = "/api/v1/time-to-lock?path=/a/order";
const SECTION: &str = "/lock/time-to-lock?path=/a/order";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_without_holds_has_a_reason_and_a_lock_that_is_gone_has_no_section() {
    let recorded = Recorded::start("").await;
    recorded.truth.make("/a/order").await;
    let client = open(&recorded.zookeeper.address()).await;
    let nodes = [queue(&client, "/a/order/lock-").await, queue(&client, "/a/order/lock-").await];
    until(async || recorded.json(LINE).await.1["waiter_count"] == 1).await;
    let line = recorded.json(LINE).await.1;
    let reason = line["reason"].as_str().or(line["waits"][0]["reason"].as_str());
    assert_eq!((line["waits"][0]["place"].as_u64(), reason), (Some(1), Some("too_few_holds")), "{line:#}");
    assert!(line["waits"][0]["remaining"].is_null(), "{line:#}");
    let (near, far) = (recorded.token("viewer", "/a").await, recorded.token("viewer", "/b/c").await);
    let (status, section) = recorded.text_as(&near, SECTION).await;
    assert!(status == 200 && section.contains("data-testid=\"time-to-lock\""), "{status} {section}");
    let page = "/lock?path=/a/order";
    let (status, document) = recorded.text_as(&near, page).await;
    assert!(status == 200 && document.contains("data-testid=\"time-to-lock\""), "{status} {document}");
    let (status, document) = recorded.text_as(&far, page).await;
    assert!(status == 404 && !document.contains("data-testid=\"time-to-lock\""), "{status} {document}");
    // Whoever may not see the lock reads what is said where there is none.
    assert_eq!(recorded.text_as(&far, LINE).await.0, 404);
    assert_eq!(recorded.text_as(&far, SECTION).await, (200, String::new()));

    for node in &nodes {
        recorded.truth.delete(node).await;
    }
    recorded.truth.delete("/a/order").await;
    until(async || recorded.text_as(&near, LINE).await.0 == 404).await;
    assert_eq!(recorded.text_as(&near, SECTION).await, (200, String::new()));
}
