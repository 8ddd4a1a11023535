//! Two replicas that release the same znode at the same moment, on a real ZooKeeper. What goes must be what was planned for,
//! and go once. `CLUSTER_RACES=1000` is the long form.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::time::Duration;

use lockscope_cluster::{Cluster, Settings};
use lockscope_core::release::{End, Ending, Naming, Target};
use lockscope_core::znode::{SessionId, Zxid};
use lockscope_demo::{PrivateZooKeeper, ServerOptions};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::CancellationToken;
use lockscope_zookeeper::{Credentials, ReleaseClient};
use zookeeper_client::{Acls, Client, CreateMode, Error};

const DEADLINE: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_millis(5);

/// What a race is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// A numbered name, with another behind it.
    Numbered,
    /// A fixed name that somebody takes again the moment it is free: the same path, the same version.
    Fixed,
    /// A numbered name, and somebody takes the mutex away as soon as it is held.
    MutexLost,
}

fn replica(connect: &str, id: &str) -> Cluster {
    let settings = Settings {
        connect: connect.to_owned(),
        credentials: Credentials::default(),
        session_timeout: Duration::from_secs(10),
        root: "/lockscope".to_owned(),
        id: id.to_owned(),
        address: format!("http://{id}"),
        version: "0.1.0".to_owned(),
        ensemble: "default".to_owned(),
        watched: vec!["default".to_owned()],
    };
    let cluster = Cluster::new(settings, Clock::system());
    tokio::spawn(cluster.clone().run(CancellationToken::new()));
    cluster
}

async fn joined(cluster: &Cluster) {
    let begin = std::time::Instant::now();
    while cluster.view().replicas.len() < 2 {
        assert!(begin.elapsed() < DEADLINE, "{:?}", cluster.view());
        tokio::time::sleep(STEP).await;
    }
}

/// What one replica does: its turn, and then the release as planned.
async fn release(cluster: &Cluster, client: &ReleaseClient, target: Target, lock: &str) -> End {
    let _turn = cluster.act_mutex("default", lock, DEADLINE).await.unwrap();
    client.release(target).await
}

async fn make(client: &Client, path: &str, mode: CreateMode) -> (String, i64, i64) {
    let (stat, number) = client.create(path, b"", &mode.with_acls(Acls::anyone_all())).await.unwrap();
    let path = if mode == CreateMode::EphemeralSequential { format!("{path}{number}") } else { path.to_owned() };
    (path, stat.czxid, stat.ephemeral_owner)
}

/// Takes a name again as soon as it is free; gives the incarnation that is its own.
async fn take_again(client: &Client, path: &str) -> i64 {
    loop {
        match client.create(path, b"", &CreateMode::Ephemeral.with_acls(Acls::anyone_all())).await {
            Ok((stat, _)) => return stat.czxid,
            Err(Error::NodeExists) => {
                if let (Some(_), watcher) = client.check_and_watch_stat(path).await.unwrap() {
                    watcher.changed().await;
                }
            }
            Err(error) => unreachable!("{error}"),
        }
    }
}

/// Takes mutexes of a lock away as they come, until it is stopped.
async fn rob(client: &Client) {
    loop {
        for lock in client.list_children("/lockscope/acts").await.unwrap_or_default() {
            let dir = format!("/lockscope/acts/{lock}");
            for held in client.list_children(&dir).await.unwrap_or_default() {
                let _ = client.delete(&format!("{dir}/{held}"), None).await;
            }
        }
        tokio::task::yield_now().await;
    }
}

async fn race(
    (a, b): (&Cluster, &Cluster),
    acting: &ReleaseClient,
    (owner, next): (&Client, &Client),
    kind: Kind,
    number: u64,
) -> (Ending, Ending) {
    let lock = format!("/race-{number}");
    owner.create(&lock, b"", &CreateMode::Persistent.with_acls(Acls::anyone_all())).await.unwrap();
    let naming = if kind == Kind::Fixed { Naming::Fixed } else { Naming::Sequential };
    let (path, czxid, session) = match naming {
        Naming::Fixed => make(owner, &format!("{lock}/lock"), CreateMode::Ephemeral).await,
        Naming::Sequential => make(owner, &format!("{lock}/lock-"), CreateMode::EphemeralSequential).await,
    };
    let target =
        Target { path: path.as_str().into(), czxid: Zxid(czxid), owner: Some(SessionId(session)), version: 0, naming };
    let both =
        async { tokio::join!(release(a, acting, target.clone(), &lock), release(b, acting, target.clone(), &lock)) };
    // Who stands behind must be there in the end, whatever happened.
    let (ends, behind, its) = match kind {
        Kind::Fixed => {
            let (ends, taken) = tokio::join!(both, take_again(next, &path));
            (ends, path.clone(), taken)
        }
        Kind::Numbered => {
            let (behind, its, _) = make(next, &format!("{lock}/lock-"), CreateMode::EphemeralSequential).await;
            (both.await, behind, its)
        }
        Kind::MutexLost => {
            let (behind, its, _) = make(next, &format!("{lock}/lock-"), CreateMode::EphemeralSequential).await;
            let ends = tokio::select! { ends = both => ends, () = rob(next) => unreachable!("it goes on for ever") };
            (ends, behind, its)
        }
    };
    let there = next.check_stat(&behind).await.unwrap();
    assert_eq!(there.map(|stat| stat.czxid), Some(its), "{kind:?} {number}: the wrong one went: {ends:?}");
    if kind != Kind::Fixed {
        assert!(next.check_stat(&path).await.unwrap().is_none(), "{kind:?} {number}: it is still there: {ends:?}");
    }
    (ends.0.ending, ends.1.ending)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_replicas_one_releases_and_never_another_znode() {
    let races: u64 = std::env::var("CLUSTER_RACES").ok().and_then(|number| number.parse().ok()).unwrap_or(48);
    let server = PrivateZooKeeper::start(ServerOptions::default()).await.unwrap();
    let connect = server.address();
    let (a, b) = (replica(&connect, "a"), replica(&connect, "b"));
    joined(&a).await;
    joined(&b).await;
    let acting = ReleaseClient::anonymous(&connect);
    let (owner, next) = (Client::connect(&connect).await.unwrap(), Client::connect(&connect).await.unwrap());
    let mut ends: BTreeMap<(Kind, [Ending; 2]), u64> = BTreeMap::new();
    for number in 0..races {
        let kind = [Kind::Numbered, Kind::Fixed, Kind::MutexLost][usize::try_from(number % 3).unwrap()];
        let (one, other) = race((&a, &b), &acting, (&owner, &next), kind, number).await;
        let mut pair = [one, other];
        pair.sort_unstable();
        *ends.entry((kind, pair)).or_default() += 1;
        // One released it; the other found it gone, or in other hands.
        let is_second = matches!(pair[1], Ending::AlreadyGone | Ending::ChangedHands);
        assert!(kind == Kind::MutexLost || (pair[0] == Ending::Released && is_second), "{kind:?} {number}: {pair:?}");
    }
    eprintln!("{races} races, 0 wrong deletes:");
    for ((kind, pair), count) in ends {
        eprintln!("  {kind:?} {pair:?}: {count}");
    }
}
