//! What was written is damaged: as little as possible is lost, that is told, and recording goes on by itself.

use std::io::Write as _;

use rusqlite::Connection;
use rustix::process::Signal;

use super::clocks::until_live;
use super::{Recorded, day_file, holder, now_ms};
use crate::harness::{open, queue};
use crate::served::until;

/// A lock that changes hands once; who had it before and who has it then, with instants at which they did, all stored.
async fn handed_off(recorded: &Recorded) -> ([(i64, String); 2], Vec<zookeeper_client::Client>) {
    recorded.truth.make("/a/order").await;
    let clients = vec![open(&recorded.zookeeper.address()).await, open(&recorded.zookeeper.address()).await];
    let first = queue(&clients[0], "/a/order/lock-").await;
    let second = queue(&clients[1], "/a/order/lock-").await;
    let before = recorded.until_holds("/a/order", &first).await;
    recorded.truth.delete(&first).await;
    let after = recorded.until_holds("/a/order", &second).await;
    recorded.until_kept(after).await;
    ([(before, first), (after, second)], clients)
}

/// A gap of this reason that hides an instant.
async fn gap_at(recorded: &Recorded, why: &str, at: i64) -> Option<(i64, i64)> {
    let history = recorded.json("/api/v1/history").await.1;
    let gaps = history["gaps"].as_array()?;
    let mut ends = gaps
        .iter()
        .filter(|gap| gap["why"] == why)
        .map(|gap| (gap["from_at_ms"].as_i64().unwrap(), gap["to_at_ms"].as_i64().unwrap()));
    ends.find(|(from, to)| (*from..=*to).contains(&at))
}

/// Moments are shown again soon, without a restart.
async fn goes_on(recorded: &Recorded, held: &str) {
    until(async || {
        let newest = recorded.json("/api/v1/history").await.1["to_at_ms"].as_i64().unwrap();
        holder(&recorded.lock("/a/order", &newest.to_string()).await) == held
    })
    .await;
    let third = recorded.truth.queue("/a/order/lock-").await;
    recorded.truth.delete(held).await;
    let after = recorded.until_holds("/a/order", &third).await;
    until(async || holder(&recorded.lock("/a/order", &after.to_string()).await) == third).await;
    assert_eq!(recorded.json("/api/v1/history").await.1["why"], "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_chunk_hides_what_needs_it_and_a_checkpoint_follows() {
    let recorded = Recorded::start("").await;
    let ([_, (at, held)], _clients) = handed_off(&recorded).await;
    let file = Connection::open(day_file(&recorded.history().join("default"))).unwrap();
    let one = |sql: &str| file.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    // The one that has the hand-off, once it does not grow any more.
    let seq = one(&format!("SELECT max(seq) FROM chunk WHERE kind = 0 AND first_at <= {at}"));
    until(async || one("SELECT max(seq) FROM chunk") > seq).await;
    file.execute("UPDATE chunk SET body = zeroblob(length(body)) WHERE seq = ?1", [seq]).unwrap();

    let (status, problem) = recorded.json(&format!("/api/v1/lock?path=/a/order&at={at}")).await;
    assert_eq!(status, 404, "{problem:#}");
    assert!(problem["detail"].as_str().unwrap().contains("what was written is damaged"), "{problem:#}");
    let (from, to) = gap_at(&recorded, "damaged", at).await.expect("the gap is told");
    assert_eq!((&problem["nearest"]["before_at_ms"], &problem["nearest"]["after_at_ms"]), (&from.into(), &to.into()));
    let (status, page) = recorded.get(&format!("/lock?path=/a/order&at={at}")).await;
    assert!(status == 404 && page.contains("data-testid=\"no-moment\""), "{status}");
    assert_eq!(holder(&recorded.lock("/a/order", "").await), held, "the present is whole");
    goes_on(&recorded, &held).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_day_that_can_not_be_read_is_set_aside_and_the_server_starts_without_it() {
    let mut recorded = Recorded::start("").await;
    let ([_, (at, held)], _clients) = handed_off(&recorded).await;
    recorded.end(Signal::TERM).await;
    let file = day_file(&recorded.history().join("default"));
    std::fs::write(&file, "no database, but something that somebody copied here\n".repeat(1_000)).unwrap();
    // What was not written back is beside it, and SQLite would take it from there.
    let _ = std::fs::remove_file(file.with_extension("db-wal"));
    recorded.run().await;
    let lock = until_live(&recorded, &held).await;
    assert_eq!(lock["contenders"][0]["holding_is_lower_bound"], true, "nothing is known of before: {lock:#}");
    until(async || gap_at(&recorded, "damaged", at).await.is_some()).await;
    let asked = format!("/api/v1/lock?path=/a/order&at={at}");
    assert_eq!(recorded.json(&asked).await.0, 404);
    let folder = file.parent().unwrap();
    let mut names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.any(|name| name.contains("damaged")), "nothing is thrown away");
    goes_on(&recorded, &held).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_day_that_is_damaged_while_it_is_written_costs_no_restart() {
    let recorded = Recorded::start("").await;
    let ([_, (at, held)], _clients) = handed_off(&recorded).await;
    let path = day_file(&recorded.history().join("default"));
    // All of it is in the file itself, which is then overwritten in place.
    let file = Connection::open(&path).unwrap();
    until(async || file.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0)) == Ok(0)).await;
    drop(file);
    let len = std::fs::metadata(&path).unwrap().len();
    let mut damaged = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    damaged.write_all(&vec![b'?'; usize::try_from(len).unwrap()]).unwrap();
    drop(damaged);
    until(async || {
        // Whoever looks back finds it, or whoever writes.
        let status = recorded.json(&format!("/api/v1/lock?path=/a/order&at={at}")).await.0;
        status == 404 && gap_at(&recorded, "damaged", at).await.is_some()
    })
    .await;
    let lock = recorded.lock("/a/order", "").await;
    assert_eq!((holder(&lock), &lock["as_of"]["state"]), (&*held, &"live".into()), "{lock:#}");
    assert!(at < now_ms());
    goes_on(&recorded, &held).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_can_not_be_read_are_a_gap_of_answers() {
    let mut recorded = Recorded::start("").await;
    let (_, _clients) = handed_off(&recorded).await;
    let range = format!("from={}&to={}", now_ms() - 60_000, now_ms() + 60_000);
    let ask = async |recorded: &Recorded, question: &str| {
        recorded.json(&format!("/api/v1/history/{question}?path=/a/order&{range}")).await.1
    };
    let is_over =
        |holds: &serde_json::Value| holds["holds"].as_array().unwrap().iter().any(|one| one["how"] != "still");
    until(async || is_over(&ask(&recorded, "holds").await)).await;
    assert_eq!(ask(&recorded, "holds").await["coverage"]["gaps"], serde_json::json!([]));

    // As long as it runs, and where the file was set aside at the next start.
    let folder = recorded.history().join("default");
    let rows = folder.join(day_file(&folder).file_name().unwrap().to_str().unwrap().replace(".db", ".rows.db"));
    std::fs::write(&rows, "no database, but something that somebody copied here\n".repeat(1_000)).unwrap();
    for part in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{part}", rows.display()));
    }
    for question in ["holds", "blame", "marks"] {
        let answer = ask(&recorded, question).await;
        assert_eq!(answer["coverage"]["gaps"][0]["why"], "damaged", "{question}: {answer:#}");
    }
    let page = recorded.get(&format!("/blame?by=lock&{range}")).await.1;
    assert!(page.contains("what was written is damaged"), "{page}");
    // At its end a writer would make the file good again, from what it remembers.
    recorded.end(Signal::KILL).await;
    recorded.run().await;
    until(async || {
        let gaps = ask(&recorded, "blame").await["coverage"]["gaps"].clone();
        gaps.as_array().unwrap().iter().any(|gap| gap["why"] == "damaged")
    })
    .await;
}
