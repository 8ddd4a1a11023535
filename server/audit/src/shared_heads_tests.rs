//! Publishing heads, and a log that lacks the published one.

use super::*;
use crate::chain::HASH_CHARS;
use crate::{Entry, Journal as _, Log};
use lockscope_view::AuditKind;

/// A log with so many more records, of somebody.
async fn filled(dir: &Path, whose: &str, records: u64) {
    let log = Log::open(dir, Clock::manual(1_790_000_000_000)).await.unwrap();
    for number in 0..records {
        let entry = Entry::of_server(AuditKind::SignedIn, format!("{whose} {number}"));
        log.append(entry).await.unwrap();
    }
}

fn heads(replica: &str, dir: &Path) -> Arc<SharedHeads> {
    SharedHeads::new(replica.to_owned(), dir.to_owned(), Clock::manual(1_790_000_000_000))
}

/// An exchange of everything with a database that has these rows.
async fn exchange(heads: &SharedHeads, rows: &mut Vec<SharedRow>) {
    heads.read_own().await;
    let sent = heads.outgoing();
    for row in &sent {
        rows.retain(|known| known.key != row.key);
        rows.push(row.clone());
    }
    heads.sent(&sent);
    heads.take(rows.clone(), true).await;
    heads.check().await;
}

#[tokio::test]
async fn head_is_published_after_the_check() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    filled(one.path(), "ann", 3).await;
    filled(two.path(), "ann", 5).await;
    let mut rows = Vec::new();
    let (a, b) = (heads("a", one.path()), heads("b", two.path()));
    exchange(&a, &mut rows).await;
    assert_eq!(rows, []);
    for _ in 0..2 {
        exchange(&a, &mut rows).await;
        exchange(&b, &mut rows).await;
    }
    exchange(&a, &mut rows).await;
    let last = head::read(two.path()).unwrap().unwrap().id;
    assert_eq!(a.others(), BTreeMap::from([("b".to_owned(), last)]));
    assert_eq!(a.outgoing(), [], "nothing is new");
    // A process that comes after it goes on, as its log has what was shown.
    filled(one.path(), "ann", 2).await;
    let again = heads("a", one.path());
    exchange(&again, &mut rows).await;
    exchange(&again, &mut rows).await;
    let shown = rows.iter().filter_map(parse).find(|(replica, _)| replica == "a").unwrap().1;
    assert_eq!((again.trouble(), Some(shown)), (String::new(), head::read(one.path()).unwrap()));
}

#[tokio::test]
async fn rewritten_log_never_replaces_the_published_head() {
    let (whole, anew) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    filled(whole.path(), "ann", 3).await;
    let mut rows = Vec::new();
    let before = heads("a", whole.path());
    exchange(&before, &mut rows).await;
    exchange(&before, &mut rows).await;
    let proof = rows.clone();
    // Longer than it was, and chained as it should be.
    filled(anew.path(), "bob", 9).await;
    let after = heads("a", anew.path());
    for _ in 0..3 {
        exchange(&after, &mut rows).await;
    }
    assert_eq!(rows, proof);
    assert!(after.trouble().contains("is not in its log"), "{}", after.trouble());
}

#[tokio::test]
async fn lost_row_is_published_again() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path(), "ann", 3).await;
    let heads = heads("a", dir.path());
    let mut rows = Vec::new();
    exchange(&heads, &mut rows).await;
    exchange(&heads, &mut rows).await;
    assert_eq!(rows.len(), 1);
    rows.clear();
    heads.take(Vec::new(), true).await;
    exchange(&heads, &mut rows).await;
    assert_eq!(rows.len(), 1);
}

#[test]
fn malformed_rows_are_ignored() {
    let row = |body: &str| SharedRow {
        key: "a".to_owned(),
        body: body.to_owned(),
        stamp: 1,
        is_over: false,
        expires_at_ms: i64::MAX,
    };
    let hash = "0".repeat(HASH_CHARS);
    assert!(parse(&row(&format!(r#"{{"id":1,"hash":"{hash}"}}"#))).is_some());
    for other in ["", "{}", r#"{"id":1,"hash":"x"}"#, &format!(r#"{{"id":1,"hash":"{hash}","x":1}}"#)] {
        assert_eq!(parse(&row(other)), None, "{other}");
    }
}
