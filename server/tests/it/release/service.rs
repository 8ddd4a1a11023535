//! The checks of the release service, on a real server: who may, what uses a plan up, limits, records that fail, orders
//! whose asker is gone, and the end.

use std::sync::atomic::Ordering;
use std::time::Duration;

use lockscope_access::{Grant, new_token, revoke_token};
use lockscope_audit::Actor;
use lockscope_release::{ACTOR_ACTS_MAX, ACTOR_PLANS_MAX, LOCK_PAUSE_MS, PLAN_MS, RejectionReason, Settings};
use lockscope_view::Within;
use lockscope_view::{AuditKind, Outcome, PlanRequest, ReleaseOrder, Role};

use super::office::{Office, operator, order_of, somebody};
use crate::harness::{Truth, zookeeper};

const TIMES: usize = 10;

struct Scene {
    server: lockscope_demo::PrivateZooKeeper,
    truth: Truth,
    office: Office,
}

impl Scene {
    async fn with(settings: Settings) -> Self {
        let server = zookeeper().await;
        let truth = Truth::new(&server.address()).await;
        truth.make("/locks").await;
        let office = Office::open_through(&server.address(), &server.address(), "/locks", settings).await;
        Self { server, truth, office }
    }

    async fn new() -> Self {
        Self::with(Settings::default()).await
    }

    async fn queued(&self, name: &str) -> String {
        self.truth.make(&format!("/locks/{name}")).await;
        let path = self.truth.queue(&format!("/locks/{name}/lock-")).await;
        self.office.knows(&path).await;
        path
    }

    async fn is_there(&self, path: &str) -> bool {
        self.truth.client.check_stat(path).await.unwrap().is_some()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_who_may_and_only_there() {
    let scene = Scene::new().await;
    let path = scene.queued("a").await;
    let request = PlanRequest { ensemble: None, path: path.clone() };
    for role in [Role::Viewer, Role::Auditor] {
        let refused = scene.office.service.plan(&somebody("vera", role), &request).await.unwrap_err();
        assert_eq!((refused.kind, refused.status()), (RejectionReason::Right, 403), "{refused}");
    }
    let mut elsewhere = operator();
    elsewhere.scope = Within::new(&[], &["/other".to_owned()]);
    assert_eq!(scene.office.service.plan(&elsewhere, &request).await.unwrap_err().kind, RejectionReason::Right);
    let nothing = PlanRequest { ensemble: None, path: "/locks/nothing".to_owned() };
    assert_eq!(
        scene.office.service.plan(&elsewhere, &nothing).await.unwrap_err().kind,
        RejectionReason::Right,
        "not even that it is not there"
    );
    assert_eq!(scene.office.service.plan(&operator(), &nothing).await.unwrap_err().status(), 404);
    let other = PlanRequest { ensemble: Some("prod".to_owned()), path: path.clone() };
    assert_eq!(scene.office.service.plan(&operator(), &other).await.unwrap_err().status(), 404);
    let directory = PlanRequest { ensemble: Some("default".to_owned()), path: "/locks/a".to_owned() };
    assert_eq!(scene.office.service.plan(&operator(), &directory).await.unwrap_err().status(), 409);

    // A role that was taken away in between.
    let plan = scene.office.plan(&path).await.unwrap();
    let demoted = somebody("anna", Role::Viewer);
    assert_eq!(
        scene.office.service.execute(&demoted, &order_of(&plan)).await.unwrap_err().kind,
        RejectionReason::Right
    );
    assert!(scene.is_there(&path).await);
    assert!(
        scene.office.journal.kinds().iter().all(|kind| *kind == AuditKind::Refused)
            && scene.office.journal.kinds().len() == 5
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_for_one_order_of_one_actor_within_its_time() {
    let scene = Scene::new().await;
    for time in 0..TIMES {
        let path = scene.queued(&format!("a{time}")).await;
        scene.office.rest();
        let plan = scene.office.plan(&path).await.unwrap();
        let stranger = scene.office.service.execute(&somebody("ben", Role::Operator), &order_of(&plan)).await.unwrap();
        assert_eq!((stranger.result.outcome, stranger.status()), (Outcome::PlanExpired, 409));
        scene.office.clock.set_ms(plan.expires_at_ms);
        assert_eq!(scene.office.order(&plan).await.unwrap().result.outcome, Outcome::PlanExpired);
        assert!(scene.is_there(&path).await);
        assert_eq!(plan.plan_id.len(), 32);
    }
    let path = scene.queued("b").await;
    scene.office.rest();
    let plan = scene.office.plan(&path).await.unwrap();
    scene.office.clock.set_ms(plan.expires_at_ms - 1);
    let wrong = |confirm: &str, reason: &str| ReleaseOrder {
        confirm: confirm.to_owned(),
        reason: reason.to_owned(),
        ..order_of(&plan)
    };
    for confirm in ["", "/locks", "/locks/b ", "/locks/B", &path] {
        let refused = scene.office.service.execute(&operator(), &wrong(confirm, "because")).await.unwrap_err();
        assert_eq!((refused.kind, refused.status()), (RejectionReason::Confirm, 422), "{confirm:?}");
    }
    for reason in ["", "  no ", &"x".repeat(501)] {
        assert_eq!(
            scene.office.service.execute(&operator(), &wrong("/locks/b", reason)).await.unwrap_err().kind,
            RejectionReason::Reason
        );
    }
    // Of two orders at once, one is carried out, and whoever asks is told its outcome.
    let (one, other) = tokio::join!(scene.office.order(&plan), scene.office.order(&plan));
    let one = one.unwrap();
    assert_eq!(one.result.outcome, Outcome::Released);
    assert_eq!((&other.unwrap(), &scene.office.order(&plan).await.unwrap()), (&one, &one));
    let ben = scene.office.service.execute(&somebody("ben", Role::Operator), &order_of(&plan)).await.unwrap();
    assert_eq!(ben.result.outcome, Outcome::PlanExpired, "it is nobody else's");
    let kinds = scene.office.journal.kinds();
    assert_eq!(kinds.iter().filter(|kind| **kind == AuditKind::ReleaseOutcome).count(), 1);
    assert_eq!(PLAN_MS, 60_000);

    // Somebody who plans and plans keeps the newest.
    let path = scene.queued("c").await;
    scene.office.rest();
    let oldest = scene.office.plan(&path).await.unwrap();
    scene.office.clock.set_ms(scene.office.clock.now_ms() + 1);
    let mut newer = Vec::new();
    for _ in 0..ACTOR_PLANS_MAX {
        newer.push(scene.office.plan(&path).await.unwrap());
    }
    assert_eq!(scene.office.order(&oldest).await.unwrap().result.outcome, Outcome::PlanExpired);
    assert_eq!(scene.office.order(&newer[0]).await.unwrap().result.outcome, Outcome::Released);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn not_too_many_in_too_short_a_time() {
    let scene = Scene::new().await;
    let first = scene.queued("a").await;
    let second = scene.queued("a").await;
    scene.office.rest();
    let plans = [scene.office.plan(&first).await.unwrap(), scene.office.plan(&second).await.unwrap()];
    assert_eq!(scene.office.order(&plans[0]).await.unwrap().result.outcome, Outcome::Released);
    let refused = scene.office.order(&plans[1]).await.unwrap_err();
    assert_eq!(
        (refused.kind, refused.status()),
        (RejectionReason::TooMany { wait_ms: LOCK_PAUSE_MS }, 429),
        "{refused}"
    );
    scene.office.clock.set_ms(scene.office.clock.now_ms() + LOCK_PAUSE_MS);
    assert_eq!(
        scene.office.order(&plans[1]).await.unwrap().result.outcome,
        Outcome::Released,
        "the plan was not used up by the refusal"
    );
    for at in 2..ACTOR_ACTS_MAX {
        let path = scene.queued(&format!("b{at}")).await;
        let plan = scene.office.plan(&path).await.unwrap();
        assert_eq!(scene.office.order(&plan).await.unwrap().result.outcome, Outcome::Released);
    }
    let path = scene.queued("c").await;
    let plan = scene.office.plan(&path).await.unwrap();
    assert!(matches!(scene.office.order(&plan).await.unwrap_err().kind, RejectionReason::TooMany { .. }));
    assert!(scene.is_there(&path).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_leaves_without_its_record() {
    let scene = Scene::new().await;
    for time in 0..TIMES {
        let path = scene.queued(&format!("a{time}")).await;
        scene.office.rest();
        let plan = scene.office.plan(&path).await.unwrap();
        scene.office.journal.fails.store(true, Ordering::SeqCst);
        let done = scene.office.order(&plan).await.unwrap();
        assert_eq!((done.result.outcome, done.status()), (Outcome::RefusedAudit, 503));
        assert!(done.result.sentence.contains("no space left"), "{}", done.result.sentence);
        assert!(scene.is_there(&path).await);
        scene.office.journal.fails.store(false, Ordering::SeqCst);
        assert_eq!(scene.office.order(&plan).await.unwrap(), done, "used up, and its outcome stays");
    }
    // The outcome can't be recorded: what was done is told, loudly.
    let path = scene.queued("b").await;
    scene.office.journal.fails_late.store(true, Ordering::SeqCst);
    let done = scene.office.release(&path).await;
    assert_eq!((done.result.outcome, done.result.audit_id), (Outcome::Released, None));
    assert!(done.result.sentence.contains("ATTENTION"), "{}", done.result.sentence);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_goes_on_when_whoever_asked_is_gone() {
    let scene = Scene::new().await;
    let path = scene.queued("a").await;
    let plan = scene.office.plan(&path).await.unwrap();
    let service = scene.office.service.clone();
    let order = order_of(&plan);
    let asker = operator();
    {
        let mut asking = Box::pin(service.execute(&asker, &order));
        // Polled once and dropped, as a closed connection does.
        assert!(futures_util::poll!(&mut asking).is_pending());
    }
    assert!(service.close(Duration::from_secs(30)).await, "the end waits for it");
    assert!(!scene.is_there(&path).await);
    assert_eq!(scene.office.journal.kinds(), [AuditKind::ReleaseIntent, AuditKind::ReleaseOutcome]);
    assert_eq!((scene.office.journal.last().intent, scene.office.journal.last().outcome), (Some(1), Some("released")));
    assert_eq!(
        service.execute(&asker, &order).await.unwrap().result.outcome,
        Outcome::Released,
        "who comes back is told"
    );
    let counted: u64 = service.counted().ended[0].1.iter().map(|(_, count)| count).sum();
    assert_eq!(counted, 1, "counted though nobody waited");
    let path = scene.queued("b").await;
    let plan = scene.office.plan(&path).await.unwrap();
    assert_eq!(scene.office.order(&plan).await.unwrap_err().kind, RejectionReason::Closing);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_act_that_panics_leaves_its_outcome() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    truth.make("/locks/a").await;
    // The first connector is the plan's, which reads the ACL.
    let count = std::sync::atomic::AtomicU32::new(0);
    let make = move || match count.fetch_add(1, Ordering::SeqCst) {
        0 => Ok(zookeeper_client::Client::connector()),
        _ => std::panic::panic_any("broken"),
    };
    let acting = lockscope_zookeeper::ReleaseClient::new(&server.address(), std::sync::Arc::new(make));
    let office = Office::open_with(&server.address(), acting, "/locks", Settings::default()).await;
    let path = truth.queue("/locks/a/lock-").await;
    let done = office.release(&path).await;
    assert_eq!((done.result.outcome, done.result.audit_id), (Outcome::Unknown, Some(2)), "{done:?}");
    assert!(done.result.sentence.contains("broke off"), "{}", done.result.sentence);
    assert_eq!(office.journal.kinds(), [AuditKind::ReleaseIntent, AuditKind::ReleaseOutcome]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_person_approves() {
    let scene = Scene::with(Settings { needs_second: true }).await;
    let path = scene.queued("a").await;
    let plan = scene.office.plan(&path).await.unwrap();
    assert!(plan.needs_second);
    assert_eq!(scene.office.order(&plan).await.unwrap_err().kind, RejectionReason::Second);
    let approval = order_of(&plan);
    assert_eq!(
        scene.office.service.approve(&operator(), &approval).await.unwrap_err().kind,
        RejectionReason::Second,
        "not oneself"
    );
    assert_eq!(
        scene.office.service.approve(&somebody("vera", Role::Viewer), &approval).await.unwrap_err().kind,
        RejectionReason::Right
    );
    for name in ["ANNA", "anna ", "an\u{200b}na", "\u{430}nna"] {
        let same = somebody(name, Role::Operator);
        assert_eq!(
            scene.office.service.approve(&same, &approval).await.unwrap_err().kind,
            RejectionReason::Second,
            "{name:?} is anna"
        );
    }
    let elsewhere = Actor { scope: Within::new(&[], &["/other".to_owned()]), ..somebody("carl", Role::Operator) };
    let refused = scene.office.service.approve(&elsewhere, &approval).await.unwrap_err();
    assert!(refused.status() == 404 && !refused.sentence.contains("/locks"), "{refused}");
    let ben = somebody("ben", Role::Operator);
    let people = scene.office.people.path().to_owned();
    let grant = || Grant::everywhere(Role::Operator);
    new_token(&people, "ben", grant(), scene.office.clock.now_ms(), None).unwrap();
    scene.office.journal.fails.store(true, Ordering::SeqCst);
    assert_eq!(scene.office.service.approve(&ben, &approval).await.unwrap_err().kind, RejectionReason::Audit);
    scene.office.journal.fails.store(false, Ordering::SeqCst);
    assert_eq!(scene.office.order(&plan).await.unwrap_err().kind, RejectionReason::Second);
    scene.office.service.approve(&ben, &approval).await.unwrap();
    assert_eq!(scene.office.service.planned(&ben, &plan.plan_id).unwrap().1.as_deref(), Some("ben"));
    // What was approved is looked at again when it is used.
    revoke_token(&people, "ben").unwrap();
    let refused = scene.office.order(&plan).await.unwrap_err();
    assert!(refused.kind == RejectionReason::Second && refused.sentence.starts_with("ben, who approved"), "{refused}");
    new_token(&people, "ben", Grant::everywhere(Role::Viewer), scene.office.clock.now_ms(), None).unwrap();
    assert_eq!(scene.office.order(&plan).await.unwrap_err().kind, RejectionReason::Second, "may look only by now");
    revoke_token(&people, "ben").unwrap();
    new_token(&people, "ben", grant(), scene.office.clock.now_ms(), None).unwrap();
    scene.office.service.approve(&ben, &approval).await.unwrap();
    assert_eq!(scene.office.order(&plan).await.unwrap().result.outcome, Outcome::Released);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_sent_from_a_view_that_is_not_live() {
    let mut scene = Scene::new().await;
    let mut plans = Vec::new();
    for name in ["anna", "ben"] {
        for time in 0..ACTOR_ACTS_MAX {
            let path = scene.queued(&format!("{name}{time}")).await;
            let actor = somebody(name, Role::Operator);
            let plan = scene.office.service.plan(&actor, &PlanRequest { ensemble: None, path }).await.unwrap();
            plans.push((actor, plan));
        }
    }
    scene.server.kill_minus_9().await.unwrap();
    let is_live =
        |model: &lockscope_core::observatory::Observatory| model.link().0 == lockscope_core::observation::Link::Live;
    scene.office.until("the link is lost", |model| !is_live(model)).await;
    for (actor, plan) in &plans {
        let done = scene.office.service.execute(actor, &order_of(plan)).await.unwrap();
        assert_eq!((done.result.outcome, done.status()), (Outcome::NotLive, 503), "{done:?}");
    }
    let refused = scene.office.plan(&plans[0].1.path).await.unwrap_err();
    assert_eq!((refused.kind, refused.status()), (RejectionReason::NotLive, 503), "{refused}");
}
