//! The section on a session's time-out over a whole server: who is shown whose, in a document, as a fragment, and of a
//! moment; and that it says why it knows nothing yet.

use super::Recorded;
use crate::harness::{open, queue};
use crate::served::until;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_may_see_a_session_reads_of_its_time_out_and_nobody_else() {
    let recorded = Recorded::start("").await;
    recorded.truth.make("/a/order").await;
    let client = open(&recorded.zookeeper.address()).await;
    let node = queue(&client, "/a/order/lock-").await;
    let id = client.session_id();
    let (page, section) = (format!("/session?id={id}"), format!("/session/timeout?id={id}"));
    let (near, far) = (recorded.token("viewer", "/a").await, recorded.token("viewer", "/b/c").await);
    until(async || recorded.text_as(&near, &section).await.1.contains("data-testid=\"session-timeout\"")).await;
    let (status, markup) = recorded.text_as(&near, &section).await;
    assert_eq!(status, 200);
    assert!(markup.contains("data-outcome=\"unknown\"") && markup.contains("is not known: "), "{markup}");
    assert!(!markup.contains("0 ms"), "what is not known is never nought: {markup}");
    let (status, document) = recorded.text_as(&near, &page).await;
    assert!(status == 200 && document.contains("data-testid=\"session-timeout\""), "{status} {document}");
    assert_eq!(recorded.text_as(&far, &section).await, (200, String::new()));
    assert!(!recorded.text_as(&far, &page).await.1.contains("data-testid=\"session-timeout\""));

    // Whatever the newest moment is, it has her by then.
    let newest = async || recorded.json("/api/v1/history").await.1["to_at_ms"].as_i64().unwrap_or(0);
    until(async || {
        let at = format!("{section}&at={}", newest().await);
        recorded.text_as(&near, &at).await.1.contains("data-testid=\"session-timeout\"")
    })
    .await;
    let at = format!("{page}&at={}", newest().await);
    let (status, document) = recorded.text_as(&near, &at).await;
    assert!(status == 200 && document.contains("data-testid=\"session-timeout\""), "{status} {document}");

    assert_eq!(recorded.text_as(&near, "/session/timeout?id=0x7").await, (200, String::new()));
    for wrong in ["/session/timeout", "/session/timeout?id=seven", "/session/timeout?id=0x7&colour=red"] {
        assert_eq!(recorded.text_as(&near, wrong).await.0, 400, "{wrong}");
    }
    recorded.truth.delete(&node).await;
    until(async || recorded.text_as(&near, &section).await == (200, String::new())).await;
}
