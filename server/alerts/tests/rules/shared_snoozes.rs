//! A warning of lock orders that is silenced at one of two servers, at the other.

use std::future::{Future, ready};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use lockscope_alerts::service::{Alerts, Links, SnoozeError};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shared_rows::{Exchange, SharedRow, Sharer};
use lockscope_view::OrderSnooze;

/// The others can't be told at once.
struct Away;

impl Exchange for Away {
    fn exchange(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(ready(false))
    }
}

fn server(replica: &str, dir: Option<&Path>) -> (Alerts, Arc<dyn Sharer>) {
    let links = Links { lock: |_, _, _| String::new(), origin: None };
    let alerts = Alerts::open(dir.map(Path::to_owned), &[], Vec::new(), links, Clock::system());
    let [_, _, snoozes] = alerts.share(replica, Arc::new(Away));
    assert_eq!(snoozes.kind(), "order_snooze");
    (alerts, snoozes)
}

fn snooze(class: &str) -> OrderSnooze {
    OrderSnooze {
        id: 0,
        ensemble: "prod".to_owned(),
        classes: vec![class.to_owned(), "/z".to_owned()],
        by: "anna".to_owned(),
        at_ms: 5,
        until_at_ms: None,
        reason: "known".to_owned(),
    }
}

fn ids(alerts: &Alerts) -> Vec<u64> {
    alerts.order_snoozes().borrow().iter().map(|one| one.id).collect()
}

/// What one has to tell, told to the other.
async fn tell(from: &dyn Sharer, to: &dyn Sharer) -> Vec<SharedRow> {
    let rows = from.outgoing();
    from.sent(&rows);
    assert!(from.outgoing().is_empty());
    to.take(rows.clone(), false).await;
    rows
}

#[tokio::test]
async fn a_snooze_of_one_holds_at_the_other_until_anybody_ends_it() {
    let ((a, of_a), (b, of_b)) = (server("a", None), server("b", None));
    let made = a.snooze_order(snooze("/a")).await.unwrap();
    assert!(made.id < 1 << 53);
    let rows = tell(&*of_a, &*of_b).await;
    assert_eq!(b.order_snooze(made.id), Some(made.clone()));
    assert_eq!(b.check_order_snooze("anna", "prod", &made.classes), Err(SnoozeError::Already(made.id)));
    // Two that are made at the same moment have numbers of their own.
    let other = b.snooze_order(snooze("/b")).await.unwrap();
    assert_ne!(other.id, made.id);
    b.end_order_snooze(made.id).await.unwrap();
    // An older state that comes again changes nothing; it is told once more that it is over.
    of_b.take(rows, true).await;
    assert_eq!(ids(&b), [other.id]);
    tell(&*of_b, &*of_a).await;
    assert_eq!(ids(&a), [other.id]);
    assert!(of_a.outgoing().is_empty(), "nobody hands on what is another's");
}

#[tokio::test]
async fn a_snooze_that_could_not_be_told_is_told_after_a_restart_and_where_the_others_lost_it() {
    let dir = tempfile::tempdir().unwrap();
    let (a, _) = server("a", Some(dir.path()));
    let made = a.snooze_order(snooze("/a")).await.unwrap();
    drop(a);
    let ((a, of_a), (b, of_b)) = (server("a", Some(dir.path())), server("b", None));
    assert_eq!(ids(&a), [made.id]);
    tell(&*of_a, &*of_b).await;
    assert_eq!(ids(&b), [made.id]);
    // A database that was restored has nothing of it.
    of_b.take(Vec::new(), true).await;
    assert_eq!(of_b.outgoing().len(), 1);
}

#[tokio::test]
async fn rows_that_say_nothing_good_are_passed_over_and_no_more_are_taken_than_may_be() {
    let (b, of_b) = server("b", None);
    let row = |id: u64, body: String| SharedRow {
        key: id.to_string(),
        body,
        stamp: 5,
        is_over: false,
        expires_at_ms: i64::MAX,
    };
    let body = |one: &OrderSnooze| serde_json::to_string(one).unwrap();
    let over = OrderSnooze { id: 2, until_at_ms: Some(6), ..snooze("/a") };
    let bad = [row(1, "{".to_owned()), row(2, body(&over)), row(3, body(&OrderSnooze { id: 4, ..snooze("/a") }))];
    of_b.take(bad.to_vec(), false).await;
    assert!(ids(&b).is_empty());
    let many = (1..=200).map(|id| row(id, body(&OrderSnooze { id, ..snooze(&format!("/{id}")) })));
    of_b.take(many.collect(), true).await;
    assert_eq!(ids(&b).len(), lockscope_alerts::service::ORDER_SNOOZES_MAX);
}

#[tokio::test]
async fn nobody_takes_all_snoozes() {
    let (alerts, _) = server("a", None);
    let mut last = 0;
    for number in 0..16 {
        last = alerts.snooze_order(snooze(&format!("/{number}"))).await.unwrap().id;
    }
    let refused = alerts.snooze_order(snooze("/more")).await.unwrap_err();
    assert_eq!(refused, SnoozeError::TooManyOfPerson);
    assert!(refused.to_string().contains("16 warnings already") && refused.to_string().contains("end one of yours"));
    let of_bob = OrderSnooze { by: "bob".to_owned(), ..snooze("/more") };
    alerts.snooze_order(of_bob).await.unwrap();
    alerts.end_order_snooze(last).await.unwrap();
    alerts.snooze_order(snooze("/another")).await.unwrap();
}
