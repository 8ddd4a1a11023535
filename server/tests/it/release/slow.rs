//! Orders over HTTP that take longer than an answer may: each has one outcome, and whoever asks again is told it.

use std::time::Duration;

use lockscope_access::{self, Access, Grant, ListenScope};
use lockscope_release::Settings;
use lockscope_runtime::clock::Clock;
use lockscope_view::{AuditKind, Outcome, Role};
use lockscope_web::Limits;
use lockscope_web::listener::Bounds;

use super::office::{Office, order_of};
use crate::harness::{Truth, zookeeper};
use crate::served::Served;

/// How long any other answer may take here.
const ANSWER_MS: u64 = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_release_is_answered_with_its_outcome_however_often_it_is_asked_for() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks/a").await;
    let office = Office::open_through(&server.address(), &server.address(), "/locks", Settings::default()).await;
    let path = truth.queue("/locks/a/lock-").await;
    office.knows(&path).await;
    let plan = office.plan(&path).await.unwrap();
    let people = tempfile::tempdir().unwrap();
    let (_, token) =
        lockscope_access::new_token(people.path(), "anna", Grant::everywhere(Role::Operator), 0, None).unwrap();
    let access = Access::new(
        Some(people.path().to_owned()),
        lockscope_access::Settings::default(),
        ListenScope::LOOPBACK,
        Clock::system(),
    );
    let limits = Limits { answer_ms_max: ANSWER_MS, ..Limits::default() };
    let service = office.service.clone();
    let served = Served::start_with(limits, Bounds::default(), None, |http| {
        http.with_release_service(service).with_access(access)
    })
    .await;
    office.journal.stalls.send_replace(true);
    let order = || {
        let asked = reqwest::Client::new().post(format!("http://{}/api/v1/release/execute", served.address));
        let asked = asked.bearer_auth(token.expose()).json(&order_of(&plan));
        tokio::spawn(async move {
            let answer = asked.send().await.unwrap();
            (answer.status().as_u16(), answer.json::<serde_json::Value>().await.unwrap())
        })
    };
    let mut first = order();
    crate::served::until(async || truth.client.check_stat(&path).await.unwrap().is_none()).await;
    let mut second = order();
    // Longer than an answer may take.
    for asked in [&mut first, &mut second] {
        let early = tokio::time::timeout(Duration::from_millis(5 * ANSWER_MS), asked).await;
        assert!(early.is_err(), "answered before its outcome was on record: {early:?}");
    }
    office.journal.stalls.send_replace(false);
    let (first, second) = (first.await.unwrap(), second.await.unwrap());
    assert_eq!((first.0, &first.1["outcome"], &first.1["audit_id"]), (200, &"released".into(), &2.into()), "{first:?}");
    assert_eq!(second, first);
    assert_eq!(order().await.unwrap(), first);
    assert_eq!(office.journal.kinds(), [AuditKind::ReleaseIntent, AuditKind::ReleaseOutcome]);
    let ended = office.service.counted().ended[0].1.clone();
    let counted: Vec<_> = ended.into_iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!(counted, [(Outcome::Released, 1)]);
}
