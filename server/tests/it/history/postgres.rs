//! The history in a real PostgreSQL: it is the same past, a database that is killed or hangs stops nobody, and of two
//! servers one records.

use std::time::{Duration, Instant};

use lockscope_private_postgres::PrivatePostgres;
use rustix::process::Signal;

use super::equality::still;
use super::{Launcher, Recorded, now_ms};
use crate::cli::lockscope;
use crate::harness::{open, queue};
use crate::served::until;

/// A program whose history is at an address.
async fn recorded_at(url: String) -> Recorded {
    Recorded::start_by("", |_| Launcher { words: Vec::new(), environment: vec![("LOCKSCOPE_HISTORY_URL", url)] }).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_past_is_in_the_database_and_the_model_goes_on_with_it() {
    let postgres = PrivatePostgres::start().await.unwrap();
    let mut recorded = recorded_at(postgres.url()).await;
    recorded.truth.make("/a/order").await;
    recorded.until_recorded().await;
    let first = recorded.truth.queue("/a/order/lock-").await;
    // Of another session: two of one session are a finding, which comes later.
    let other = open(&recorded.zookeeper.address()).await;
    queue(&other, "/a/order/lock-").await;
    recorded.until_holds("/a/order", &first).await;
    // What its directory counts is read a moment later.
    let is_read = async || {
        let lock = recorded.lock("/a/order", "").await;
        lock["contenders"][1]["session_id"].is_string() && lock["stat"]["children"] == 2
    };
    until(is_read).await;
    let at = now_ms();
    recorded.until_kept(at).await;
    let live = recorded.lock("/a/order", "").await;
    assert_eq!(still(&recorded.lock("/a/order", &at.to_string()).await), still(&live));
    let history = recorded.json("/api/v1/history").await.1;
    assert_eq!(history["store"], "postgres");
    assert!(history["bytes"].as_u64().unwrap() > 0);
    let metrics = recorded.get("/metrics").await.1;
    assert!(metrics.contains("lockscope_history_connects_total{result=\"made\"}"), "{metrics}");
    for signal in [Signal::TERM, Signal::KILL] {
        recorded.end(signal).await;
        recorded.run().await;
        recorded.until_recorded().await;
        let now = recorded.lock("/a/order", "").await;
        let holder = &now["contenders"][0];
        assert_eq!(holder["holding_is_lower_bound"], live["contenders"][0]["holding_is_lower_bound"], "{now:#}");
        assert_eq!(still(&recorded.lock("/a/order", &at.to_string()).await), still(&live));
    }
    let gaps = recorded.json("/api/v1/history").await.1["gaps"].clone();
    assert_eq!(gaps.as_array().unwrap().len(), 2, "each restart is a gap: {gaps:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_killed_or_hangs_stops_nobody_and_is_told() {
    let mut postgres = PrivatePostgres::start().await.unwrap();
    let recorded = recorded_at(postgres.url()).await;
    recorded.truth.make("/a/order").await;
    let mut held = recorded.truth.queue("/a/order/lock-").await;
    recorded.until_recorded().await;
    for is_killed in [true, false] {
        let kept = recorded.until_holds("/a/order", &held).await;
        recorded.until_kept(kept).await;
        if is_killed {
            postgres.kill_minus_9().await.unwrap();
        } else {
            postgres.pause().unwrap();
        }
        recorded.until_told("PostgreSQL").await;
        // What is live is live, and no page waits for the past.
        let next = recorded.truth.queue("/a/order/lock-").await;
        recorded.truth.delete(&held).await;
        held = next;
        recorded.until_holds("/a/order", &held).await;
        let lock = recorded.lock("/a/order", "").await;
        assert_eq!(lock["as_of"]["state"], "live");
        for page in ["/", "/lock?path=/a/order", "/status", "/api/v1/history", "/healthz", "/readyz"] {
            let began = Instant::now();
            let status = recorded.get(page).await.0;
            let took = began.elapsed();
            assert!(status == 200 && took < Duration::from_secs(7), "{page}: {status} after {took:?}");
        }
        let past = recorded.get(&format!("/api/v1/locks?at={kept}")).await;
        assert!(past.0 == 200 || past.0 == 503, "{past:?}");
        if is_killed {
            postgres.restart().await.unwrap();
        } else {
            postgres.resume().unwrap();
        }
        recorded.until_recorded().await;
        recorded.until_kept(now_ms()).await;
        assert_eq!(recorded.get(&format!("/api/v1/locks?at={kept}")).await.0, 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_that_is_refused_is_told_and_never_shown() {
    let postgres = PrivatePostgres::start().await.unwrap();
    let recorded = recorded_at(postgres.url_with("wr0ng-one")).await;
    recorded.until_told("password authentication failed").await;
    for page in ["/status", "/api/v1/status", "/api/v1/history", "/metrics"] {
        assert!(!recorded.get(page).await.1.contains("wr0ng-one"), "{page}");
    }
    let config = recorded.place().join("lockscope.toml").display().to_string();
    let check = async |url: String| {
        let args = ["check-config", "--config", &config];
        let checked =
            lockscope(&args).env("LOCKSCOPE_HISTORY", "on").env("LOCKSCOPE_HISTORY_URL", url).output().await.unwrap();
        (checked.status.code(), String::from_utf8(checked.stdout).unwrap() + &String::from_utf8_lossy(&checked.stderr))
    };
    let (code, told) = check(postgres.url_with("wr0ng-one")).await;
    assert!(code == Some(0) && told.contains("password authentication failed") && !told.contains("wr0ng"), "{told}");
    let (code, told) = check(postgres.url()).await;
    assert!(
        code == Some(0) && told.contains("history            PostgreSQL, database lockscope at 127.0.0.1:"),
        "{told}"
    );
    assert!(!told.contains("can't be used"), "{told}");
    let (code, told) = check("postgres://me:s3cret@db.invalid/x?sslmode=prefer".to_owned()).await;
    assert!(code == Some(64) && told.contains("sslmode") && !told.contains("s3cret"), "{told}");
    let (code, told) = check("postgres://me:s3cret@db.invalid/x".to_owned()).await;
    assert!(code == Some(0) && told.contains("db.invalid") && !told.contains("s3cret"), "{told}");
    assert_eq!(postgres.sql("SELECT to_regnamespace('lockscope') IS NULL").await.unwrap().trim(), "t", "it only looks");
}

/// Until it says that another server records, which is no trouble.
async fn until_standby(server: &Recorded) {
    until(async || {
        let history = server.json("/api/v1/history").await.1;
        // It reads what that one keeps, and says where.
        let told = history["why"] == "another server records it" && history["store"] == "postgres";
        let page = server.get("/status").await.1;
        let is_calm = page.contains("recorded by another server") && !page.contains("data-testid=\"history-trouble\"");
        told && is_calm && server.metric("lockscope_history_standby").await == 1.0
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_servers_one_records_and_the_other_comes_after_it() {
    let postgres = PrivatePostgres::start().await.unwrap();
    let mut first = recorded_at(postgres.url()).await;
    first.truth.make("/a/order").await;
    let held = first.truth.queue("/a/order/lock-").await;
    first.until_recorded().await;
    let at = first.until_holds("/a/order", &held).await;
    first.until_kept(at).await;
    let mut second = recorded_at(postgres.url()).await;
    until_standby(&second).await;
    // It shows what the first one records.
    until(async || second.json(&format!("/api/v1/lock?path=/a/order&at={at}")).await.0 == 200).await;
    assert_eq!(
        still(&second.lock("/a/order", &at.to_string()).await),
        still(&first.lock("/a/order", &at.to_string()).await)
    );
    first.end(Signal::KILL).await;
    second.until_recorded().await;
    second.until_kept(now_ms()).await;
    // And the first one after the second, which lost its connections.
    first.run().await;
    until_standby(&first).await;
    second.end(Signal::TERM).await;
    first.until_recorded().await;
    let gaps = first.json("/api/v1/history").await.1["gaps"].clone();
    assert!(gaps.as_array().unwrap().iter().all(|gap| gap["why"] == "not_running"), "{gaps:#}");
}
