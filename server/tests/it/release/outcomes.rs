//! Every outcome once more than ten times, each brought about at the one point where it must come about.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use lockscope_view::{AuditKind, DeleteRight, HoldEnd, Naming, Outcome};
use zookeeper_client::{Acl, Acls, AuthId, Client, CreateMode, Permission};

use super::office::Office;
use super::tap::{DELETE, EXISTS, Fate, Hook, SYNC, Tap};
use crate::harness::{Truth, zookeeper};

/// How often each is brought about.
const TIMES: usize = 10;

/// What the tap does next, and once.
type Plot = Arc<Mutex<Option<(i32, usize, Deed)>>>;
type Deed = Box<dyn FnOnce() -> futures_util::future::BoxFuture<'static, Fate> + Send>;

fn hook(plot: &Plot) -> Hook {
    let plot = Arc::clone(plot);
    Arc::new(move |kind, count| {
        let deed = plot.lock().unwrap().take_if(|(when, nth, _)| (*when, *nth) == (kind, count));
        async move {
            match deed {
                Some((_, _, deed)) => deed().await,
                None => Fate::Pass,
            }
        }
        .boxed()
    })
}

/// The first look of an act asks `exists` twice; the third opens the salvo that holds the deletion.
const SALVO: (i32, usize) = (EXISTS, 2);

struct Stage {
    _server: lockscope_demo::PrivateZooKeeper,
    office: Office,
    truth: Truth,
    tap: Tap,
    plot: Plot,
}

const EPHEMERAL: CreateMode = CreateMode::Ephemeral;

async fn take(client: &Client, path: &str) {
    client.create(path, b"", &EPHEMERAL.with_acls(Acls::anyone_all())).await.unwrap();
}

impl Stage {
    async fn set() -> Self {
        let server = zookeeper().await;
        let truth = Truth::new(&server.address()).await;
        truth.make("/locks").await;
        let plot = Plot::default();
        let tap = Tap::start(server.address(), hook(&plot)).await;
        let office =
            Office::open_through(&server.address(), &tap.address(), "/locks", lockscope_release::Settings::default())
                .await;
        Self { _server: server, office, truth, tap, plot }
    }

    fn plot<F>(&self, (kind, nth): (i32, usize), deed: impl FnOnce(Client) -> F + Send + 'static)
    where
        F: Future<Output = Fate> + Send + 'static,
    {
        let client = self.truth.client.clone();
        *self.plot.lock().unwrap() = Some((kind, nth, Box::new(move || deed(client).boxed())));
    }

    /// A numbered contender in a directory of its own, with one behind it.
    async fn queued(&self, name: &str) -> (String, String) {
        self.truth.make(&format!("/locks/{name}")).await;
        let first = self.truth.queue(&format!("/locks/{name}/lock-")).await;
        let second = self.truth.queue(&format!("/locks/{name}/lock-")).await;
        self.office.knows(&second).await;
        (first, second)
    }

    /// A fixed name.
    async fn fixed(&self, name: &str) -> String {
        self.truth.make(&format!("/locks/{name}")).await;
        let path = format!("/locks/{name}/lock");
        take(&self.truth.client, &path).await;
        path
    }
}

fn name_of(path: &str) -> String {
    path.rsplit('/').next().unwrap().to_owned()
}

async fn exists(client: &Client, path: &str) -> bool {
    client.check_stat(path).await.unwrap().is_some()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn released_with_proof() {
    let stage = Stage::set().await;
    for time in 0..TIMES {
        let (first, second) = stage.queued(&format!("a{time}")).await;
        let next = stage.truth.client.check_stat(&second).await.unwrap().unwrap();
        stage.office.rest();
        let plan = stage.office.plan(&first).await.unwrap();
        assert_eq!((plan.naming, plan.right, plan.waiters_moving), (Naming::Sequential, DeleteRight::Granted, 1));
        assert_eq!(plan.next.len(), 1);
        assert!(plan.next_sentence.contains(&format!("fencing token {:#x}", next.czxid)), "{}", plan.next_sentence);
        assert!(plan.runbook.as_deref().unwrap().contains("terminateSession"), "{:?}", plan.runbook);
        let done = stage.office.order(&plan).await.unwrap();
        assert_eq!(
            (done.result.outcome, done.result.verified, done.status()),
            (Outcome::Released, true, 200),
            "{done:?}"
        );
        // Its address once a member told it, until then its session.
        let told = format!("{} deleted; /locks/a{time} now held by ", plan.czxid);
        let proof = format!(" ({:#x}) after {} ms.", next.czxid, done.result.took_ms);
        let known = &done.result.proof;
        assert!(known.starts_with(&told) && known.contains(&proof) && known.contains("Proven: "), "{known}");
        let sentence = &done.result.sentence;
        assert!(sentence.contains(&format!(" no longer holds /locks/a{time}. ")), "{sentence}");
        assert_eq!(done.result.holders.len(), 1);
        assert!(!exists(&stage.truth.client, &first).await && exists(&stage.truth.client, &second).await);
        // Among those who held before it says so; one that went otherwise does not.
        let lock = format!("/locks/a{time}");
        let forced = (name_of(&first), HoldEnd::Forced, Some("anna".to_owned()), done.result.audit_id);
        assert_eq!((stage.office.ends(&lock), forced.3.is_some()), (vec![forced.clone()], true));
        stage.truth.client.delete(&second, None).await.unwrap();
        stage
            .office
            .until("the next one left", |model| model.lock(&lock).is_some_and(|lock| lock.tally.past.len() == 2))
            .await;
        assert_eq!(stage.office.ends(&lock), [(name_of(&second), HoldEnd::Released, None, None), forced]);
    }
    let record = stage.office.journal.kinds();
    assert_eq!(record, [AuditKind::ReleaseIntent, AuditKind::ReleaseOutcome].repeat(TIMES));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn differences_before_anything_is_sent() {
    let stage = Stage::set().await;
    for time in 0..TIMES {
        let (first, _) = stage.queued(&format!("a{time}")).await;
        let path = first.clone();
        stage.plot((SYNC, 0), async move |client| {
            client.delete(&path, None).await.unwrap();
            Fate::Pass
        });
        assert_eq!(stage.office.release(&first).await.result.outcome, Outcome::AlreadyGone);

        let fixed = stage.fixed(&format!("b{time}")).await;
        let path = fixed.clone();
        stage.plot((SYNC, 0), async move |client| {
            client.delete(&path, None).await.unwrap();
            take(&client, &path).await;
            Fate::Pass
        });
        let done = stage.office.release(&fixed).await;
        assert_eq!(done.result.outcome, Outcome::ChangedHands, "{done:?}");
        assert!(exists(&stage.truth.client, &fixed).await);

        let (first, _) = stage.queued(&format!("c{time}")).await;
        let path = first.clone();
        stage.plot((SYNC, 0), async move |client| {
            client.set_data(&path, b"written", None).await.unwrap();
            Fate::Pass
        });
        assert_eq!(stage.office.release(&first).await.result.outcome, Outcome::VersionMoved);
        assert!(exists(&stage.truth.client, &first).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn differences_within_the_last_round_trip() {
    let stage = Stage::set().await;
    for time in 0..TIMES {
        let (first, _) = stage.queued(&format!("a{time}")).await;
        let path = first.clone();
        stage.plot(SALVO, async move |client| {
            client.delete(&path, None).await.unwrap();
            Fate::Pass
        });
        assert_eq!(stage.office.release(&first).await.result.outcome, Outcome::AlreadyGone);
        let ended = stage.office.ends(&format!("/locks/a{time}"));
        assert!(ended.iter().all(|(_, how, by, _)| *how == HoldEnd::Released && by.is_none()), "{ended:?}");

        let (first, _) = stage.queued(&format!("b{time}")).await;
        let path = first.clone();
        stage.plot(SALVO, async move |client| {
            client.set_data(&path, b"written", None).await.unwrap();
            Fate::Pass
        });
        assert_eq!(stage.office.release(&first).await.result.outcome, Outcome::VersionMoved);

        // Another incarnation is hit, and that is said.
        let fixed = stage.fixed(&format!("c{time}")).await;
        let path = fixed.clone();
        stage.plot(SALVO, async move |client| {
            client.delete(&path, None).await.unwrap();
            take(&client, &path).await;
            Fate::Pass
        });
        let done = stage.office.release(&fixed).await;
        assert_eq!((done.result.outcome, done.result.verified), (Outcome::ReleasedOther, true), "{done:?}");
        assert!(done.result.sentence.starts_with("ANOTHER INCARNATION WAS DELETED"), "{}", done.result.sentence);
        assert!(!exists(&stage.truth.client, &fixed).await);
        let ended = stage.office.ends(&format!("/locks/c{time}"));
        assert!(ended.iter().all(|(_, how, by, _)| *how != HoldEnd::Forced && by.is_none()), "{ended:?}");

        // The same between the read and the deletion of the salvo: what can't be shown is not claimed.
        let fixed = stage.fixed(&format!("d{time}")).await;
        let path = fixed.clone();
        stage.plot((DELETE, 0), async move |client| {
            client.delete(&path, None).await.unwrap();
            take(&client, &path).await;
            Fate::Pass
        });
        let done = stage.office.release(&fixed).await;
        // The read may be carried out late enough to show it.
        let is_honest = match done.result.outcome {
            Outcome::Unknown => done.result.sentence.contains("can't be shown"),
            outcome => outcome == Outcome::ReleasedOther,
        };
        assert!(is_honest, "{done:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_right_to_delete() {
    let stage = Stage::set().await;
    let readable = [Acl::new(Permission::READ | Permission::CREATE, AuthId::anyone())];
    for time in 0..TIMES {
        let parent = format!("/locks/a{time}");
        stage.truth.client.create(&parent, b"", &CreateMode::Persistent.with_acls(Acls::new(&readable))).await.unwrap();
        let first = stage.truth.queue(&format!("{parent}/lock-")).await;
        stage.office.knows(&first).await;
        stage.office.rest();
        let plan = stage.office.plan(&first).await.unwrap();
        assert_eq!(plan.right, DeleteRight::Missing, "{}", plan.right_sentence);
        let done = stage.office.order(&plan).await.unwrap();
        assert_eq!((done.result.outcome, done.status()), (Outcome::Denied, 403), "{done:?}");
        assert!(exists(&stage.truth.client, &first).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answer_is_lost() {
    let stage = Stage::set().await;
    for time in 0..TIMES {
        // It arrived.
        let (first, _) = stage.queued(&format!("a{time}")).await;
        stage.plot((DELETE, 0), async |_| Fate::Mute);
        let gone = async {
            crate::served::until(async || !exists(&stage.truth.client, &first).await).await;
            stage.tap.cut();
        };
        let (done, ()) = tokio::join!(stage.office.release(&first), gone);
        assert_eq!((done.result.outcome, done.status()), (Outcome::Unknown, 202), "{done:?}");
        assert!(done.result.sentence.contains("is gone: by this order or otherwise"), "{}", done.result.sentence);

        // It did not.
        let (first, _) = stage.queued(&format!("b{time}")).await;
        stage.plot((DELETE, 0), async |_| Fate::Lose);
        let done = stage.office.release(&first).await;
        assert_eq!(done.result.outcome, Outcome::Unknown, "{done:?}");
        assert!(done.result.sentence.contains("it no longer can"), "{}", done.result.sentence);
        assert!(exists(&stage.truth.client, &first).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_znode_with_children_stays() {
    let stage = Stage::set().await;
    stage.truth.make("/locks/a").await;
    let options = CreateMode::PersistentSequential.with_acls(Acls::anyone_all());
    let prefix = "/locks/a/6f1e2d3c00004a4a8b8b0123456789ab__lock__";
    let (_, number) = stage.truth.client.create(prefix, b"", &options).await.unwrap();
    let path = format!("{prefix}{number}");
    stage.office.knows(&path).await;
    let child = format!("{path}/child");
    let made = child.clone();
    stage.plot((SYNC, 0), async move |client| {
        client.create(&made, b"", &CreateMode::Persistent.with_acls(Acls::anyone_all())).await.unwrap();
        Fate::Pass
    });
    let done = stage.office.release(&path).await;
    assert_eq!(done.result.outcome, Outcome::Denied, "{done:?}");
    stage.office.rest();
    stage.office.knows(&child).await;
    let refused = stage.office.plan(&path).await.unwrap_err();
    assert!(refused.sentence.contains("children"), "{refused}");
}
