//! Opening, writing, failing and going on.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use futures_util::future;

use super::*;
use crate::chain::GENESIS;
use crate::{AuditLog, PageQuery, Records as _, verify_dir};

fn append_raw(path: &Path, text: &[u8]) {
    std::fs::OpenOptions::new().append(true).open(path).unwrap().write_all(text).unwrap();
}

async fn newest(log: &Log) -> lockscope_view::AuditRecord {
    log.page(PageQuery { limit: 1, ..PageQuery::default() }).await.unwrap().records.remove(0)
}

#[tokio::test]
async fn a_log_begins_and_goes_on() {
    let place = dir();
    let below = place.path().join("made/here");
    let log = open(&below).await;
    assert_eq!(newest(&log).await.detail, "record started");
    assert_eq!(log.append(act(1)).await, Ok(2));
    let tip = log.tip();
    drop(log);
    let log = open(&below).await;
    let record = newest(&log).await;
    assert_eq!((record.id, record.kind), (3, AuditKind::Started));
    assert_eq!(record.detail, format!("the log goes on after record 2 with the hash {}", tip.hash));
    assert_ne!(tip.hash, GENESIS);
    let mode = |name: &str| std::fs::metadata(below.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(["audit.log", "audit.head", "audit.lock", ""].map(mode), [0o600, 0o600, 0o600, 0o700]);
}

#[tokio::test]
async fn two_servers_do_not_write_one_log() {
    let place = dir();
    let log = open(place.path()).await;
    let error = Log::open(place.path(), Clock::manual(0)).await.unwrap_err().to_string();
    assert!(error.contains("is written by another Lockscope; stop that one"), "{error}");
    drop(log);
    open(place.path()).await;
}

#[tokio::test]
async fn a_torn_line_is_kept_aside_and_told() {
    let place = dir();
    for round in 1..=3 {
        filled_on(place.path()).await;
        append_raw(&place.path().join("audit.log"), b"{\"id\":99,\"at_ms\":17");
        assert_eq!(verify_dir(place.path(), None).unwrap().torn_bytes, 19);
        let log = open(place.path()).await;
        let aside = place.path().join(format!("audit.log.torn-{round}"));
        assert_eq!(std::fs::read(&aside).unwrap(), b"{\"id\":99,\"at_ms\":17");
        let said = newest(&log).await.detail;
        assert!(
            said.contains(&format!(
                "19 bytes of a line that was being written when the server before ended were moved to {}",
                aside.display()
            )),
            "{said}"
        );
        drop(log);
        assert_eq!(verify_dir(place.path(), None).unwrap().torn_bytes, 0);
    }
}

async fn filled_on(dir: &Path) {
    let log = open(dir).await;
    log.append(act(0)).await.unwrap();
}

#[tokio::test]
async fn a_server_that_ended_between_two_steps_is_no_break() {
    let place = dir();
    filled(place.path(), 20).await;
    // Between a record and its head.
    let head = std::fs::read(place.path().join("audit.head")).unwrap();
    filled_on(place.path()).await;
    std::fs::write(place.path().join("audit.head"), head).unwrap();
    let tip = verify_dir(place.path(), None).unwrap().tip;
    filled_on(place.path()).await;
    let whole = verify_dir(place.path(), None).unwrap();
    assert_eq!(whole.tip.id, tip.id + 2);
    // Between a full file and the next.
    let last = whole.segments.last().unwrap();
    std::fs::rename(&last.path, place.path().join(crate::files::full_name(last.first_id))).unwrap();
    assert_eq!(verify_dir(place.path(), None).unwrap().tip, whole.tip);
    filled_on(place.path()).await;
    assert_eq!(verify_dir(place.path(), None).unwrap().tip.id, whole.tip.id + 2);
    // Between the very first record and its head.
    let bare = dir();
    filled(bare.path(), 0).await;
    std::fs::remove_file(bare.path().join("audit.head")).unwrap();
    filled_on(bare.path()).await;
    assert_eq!(verify_dir(bare.path(), None).unwrap().tip.id, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn it_is_whole_at_every_moment_for_who_verifies_or_reads_meanwhile() {
    let place = dir();
    let log = Arc::new(open(place.path()).await);
    let writing = log.clone();
    let writer = tokio::spawn(async move {
        for number in 0..600 {
            writing.append(act(number)).await.unwrap();
        }
    });
    let mut rounds = 0;
    while !writer.is_finished() || rounds < 5 {
        let dir = place.path().to_owned();
        let told = log.tip().id;
        let whole = tokio::task::spawn_blocking(move || verify_dir(&dir, None)).await.unwrap().unwrap();
        assert!(whole.tip.id >= told);
        let page = log.page(PageQuery { limit: 500, ..PageQuery::default() }).await.unwrap();
        assert_eq!(page.records[0].id, page.total);
        assert!(page.records.windows(2).all(|pair| pair[0].id == pair[1].id + 1));
        rounds += 1;
    }
    writer.await.unwrap();
    assert!(verify_dir(place.path(), None).unwrap().segments.len() > 50);
}

#[tokio::test]
async fn a_broken_log_is_not_written_to() {
    let place = dir();
    filled(place.path(), 3).await;
    let path = place.path().join("audit.log");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("act 1", "act 7")).unwrap();
    let error = Log::open(place.path(), Clock::manual(0)).await.unwrap_err();
    assert!(
        error.0.contains("audit.log is broken at line 3 (record 3 was expected)") && error.0.contains("moved away"),
        "{error}"
    );
    let closed = AuditLog::unavailable(error.clone());
    assert_eq!(closed.append(act(1)).await, Err(error.clone()));
    assert_eq!(closed.page(PageQuery::default()).await, Err(error));
    std::fs::write(&path, text).unwrap();
    open(place.path()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_at_once_make_one_chain() {
    const TASKS: u64 = 50;
    const EACH: u64 = 10;
    let place = dir();
    let log = Arc::new(open(place.path()).await);
    let task = |task: u64| {
        let log = log.clone();
        tokio::spawn(async move {
            let mut ids = Vec::new();
            for number in 0..EACH {
                ids.push((log.append(act(task * EACH + number)).await.unwrap(), task * EACH + number));
            }
            ids
        })
    };
    let told: Vec<(u64, u64)> =
        future::join_all((0..TASKS).map(task)).await.into_iter().flat_map(Result::unwrap).collect();
    let mut ids: Vec<u64> = told.iter().map(|(id, _)| *id).collect();
    ids.sort_unstable();
    assert_eq!(ids, (2..2 + TASKS * EACH).collect::<Vec<_>>());
    for (id, number) in told.into_iter().step_by(37) {
        let page = log.page(PageQuery { before: Some(id + 1), limit: 1, ..PageQuery::default() }).await.unwrap();
        assert_eq!((page.records[0].id, page.records[0].detail.as_str()), (id, format!("act {number}").as_str()));
    }
    drop(log);
    assert_eq!(verify_dir(place.path(), None).unwrap().tip.id, 1 + TASKS * EACH);
}

#[tokio::test]
async fn a_file_that_is_moved_away_is_missed_and_found_again() {
    let place = dir();
    let log = open(place.path()).await;
    log.append(act(1)).await.unwrap();
    let (path, away) = (place.path().join("audit.log"), place.path().join("away"));
    std::fs::rename(&path, &away).unwrap();
    let error = log.append(act(2)).await.unwrap_err();
    assert!(error.0.contains("audit.log can't be written") && error.0.contains("put it back"), "{error}");
    assert_eq!(log.trouble(), error.0);
    // Another file does not do; a copy of the right one does.
    std::fs::write(&path, b"").unwrap();
    assert!(log.append(act(2)).await.unwrap_err().0.contains("is another file than before"));
    std::fs::copy(&away, &path).unwrap();
    assert_eq!(log.append(act(2)).await, Ok(3));
    assert_eq!(log.trouble(), "");
    append_raw(&path, b"x");
    assert!(log.append(act(3)).await.unwrap_err().0.contains("something else wrote to it"));
    drop(log);
    assert_eq!(verify_dir(place.path(), None).unwrap().tip.id, 3);
}

#[tokio::test]
async fn a_head_that_can_not_be_replaced_takes_the_record_back() {
    let place = dir();
    let log = open(place.path()).await;
    // A directory in the way of the new head, as nothing but an operator's mistake makes it.
    let way = place.path().join("audit.head.new");
    std::fs::create_dir(&way).unwrap();
    let bytes = std::fs::metadata(place.path().join("audit.log")).unwrap().len();
    let error = log.append(act(1)).await.unwrap_err();
    assert!(error.0.contains("audit.head can't be written"), "{error}");
    assert_eq!(std::fs::metadata(place.path().join("audit.log")).unwrap().len(), bytes);
    std::fs::remove_dir(&way).unwrap();
    assert_eq!(log.append(act(1)).await, Ok(2));
    drop(log);
    assert_eq!(verify_dir(place.path(), None).unwrap().tip.id, 2);
}

#[tokio::test]
async fn a_place_that_can_not_be_written_is_told_at_once() {
    let place = dir();
    let file = place.path().join("file");
    std::fs::write(&file, b"").unwrap();
    let error = Log::open(&file, Clock::manual(0)).await.unwrap_err().to_string();
    assert!(error.contains("--data-dir") && error.contains("name a directory in which Lockscope may write"), "{error}");
}

#[tokio::test]
async fn texts_are_bounded_and_show_what_is_hidden() {
    let place = dir();
    let log = open(place.path()).await;
    let entry = Entry { reason: Some(format!("evil\u{202e}{}", "x".repeat(600))), detail: "y".repeat(3_000), ..act(1) };
    log.append(entry).await.unwrap();
    let record = newest(&log).await;
    let reason = record.reason.unwrap();
    assert!(reason.starts_with("evil\\u{202e}xxx") && reason.ends_with('…'), "{reason}");
    assert_eq!((reason.chars().count(), record.detail.chars().count()), (500, 2_000));
    assert_eq!(
        (record.actor.as_str(), record.actor_by.as_str(), record.address.as_deref()),
        ("bob", "operator by token", Some("10.0.0.7"))
    );
}
