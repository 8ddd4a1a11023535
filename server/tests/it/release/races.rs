//! A release against everything that may happen at the same moment, on a real server. Each race has a directory of its
//! own in which one adversary makes every znode, so what it did not delete itself, the release did.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::stream::{self, StreamExt as _};
use lockscope_core::release::{End, Ending, Fact, Naming, Target};
use lockscope_core::znode::{SessionId, Zxid};
use lockscope_zookeeper::ReleaseClient;
use zookeeper_client::{Acls, Client, CreateMode, Error, Stat};

use crate::harness::{Truth, ensemble, open, zookeeper};

/// Races of each kind of four.
const RACES: u64 = 260;
/// Races of a fixed name against somebody who takes it anew at full speed.
const FLIPS: u64 = 400;
/// Races under way at once.
const AT_ONCE: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    OwnRelease,
    SessionEnds,
    OtherRelease,
    DataWritten,
}

/// What really happened in one race.
struct Real {
    target: i64,
    /// Incarnations that nobody but a release deleted.
    by_release: Vec<i64>,
}

async fn make(client: &Client, path: &str, mode: CreateMode) -> Result<(String, Stat), Error> {
    let (_, number) = client.create(path, b"", &mode.with_acls(Acls::anyone_all())).await?;
    let path = if mode == CreateMode::EphemeralSequential { format!("{path}{number}") } else { path.to_owned() };
    let stat = client.check_stat(&path).await?.ok_or(Error::NoNode)?;
    Ok((path, stat))
}

fn target(path: &str, stat: &Stat, naming: Naming) -> Target {
    let owner = (stat.ephemeral_owner != 0).then_some(SessionId(stat.ephemeral_owner));
    Target { path: path.into(), czxid: Zxid(stat.czxid), owner, version: stat.version, naming }
}

/// Lets some round trips go by, so that races meet at different moments.
async fn round_trips(client: &Client, count: u64) {
    for _ in 0..count {
        client.check_stat("/").await.unwrap();
    }
}

/// Whether the session deleted it; else somebody else had.
async fn deletes(client: &Client, path: &str) -> bool {
    match client.delete(path, None).await {
        Ok(()) => true,
        Err(Error::NoNode) => false,
        Err(error) => panic!("{error}"),
    }
}

async fn race_of_one(
    acting: &ReleaseClient,
    client: &Client,
    connect: &str,
    kind: Kind,
    directory: &str,
    delay: u64,
) -> (Vec<End>, Real) {
    let owner = open(connect).await;
    let (path, stat) = make(&owner, &format!("{directory}/lock-"), CreateMode::EphemeralSequential).await.unwrap();
    make(client, &format!("{directory}/lock-"), CreateMode::EphemeralSequential).await.unwrap();
    let target = target(&path, &stat, Naming::Sequential);
    let release = acting.release(target.clone());
    let mut by_world = false;
    let ends = match kind {
        Kind::OwnRelease => {
            let world = async {
                round_trips(client, delay).await;
                deletes(&owner, &path).await
            };
            let (end, deleted) = tokio::join!(release, world);
            by_world = deleted;
            vec![end]
        }
        Kind::SessionEnds => {
            let world = async {
                round_trips(client, delay).await;
                drop(owner);
            };
            let (end, ()) = tokio::join!(release, world);
            // Either it went with its session or it was deleted before: that only the answer tells.
            by_world = end.ending != Ending::Released;
            crate::served::until(async || client.check_stat(&path).await.unwrap().is_none()).await;
            vec![end]
        }
        Kind::OtherRelease => {
            let (one, other) = tokio::join!(release, acting.release(target.clone()));
            vec![one, other]
        }
        Kind::DataWritten => {
            let world = async {
                round_trips(client, delay).await;
                let _ = client.set_data(&path, b"written", None).await;
            };
            let (end, ()) = tokio::join!(release, world);
            vec![end]
        }
    };
    client.sync("/").await.unwrap();
    let is_there = client.check_stat(&path).await.unwrap().is_some();
    let by_release = if is_there || by_world { Vec::new() } else { vec![stat.czxid] };
    (ends, Real { target: stat.czxid, by_release })
}

/// One adversary deletes and takes the same name again and again.
async fn race_of_flips(acting: &ReleaseClient, client: &Client, directory: &str, delay: u64) -> (End, Real, u64) {
    let path = format!("{directory}/lock");
    let (_, first) = make(client, &path, CreateMode::Ephemeral).await.unwrap();
    let is_over = AtomicBool::new(false);
    let world = async {
        let (mut made, mut deleted) = (vec![first.czxid], Vec::new());
        round_trips(client, delay).await;
        while !is_over.load(Ordering::SeqCst) {
            if deletes(client, &path).await {
                deleted.extend(made.last().copied());
            }
            made.push(make_again(client, &path).await);
        }
        client.sync("/").await.unwrap();
        let last = client.check_stat(&path).await.unwrap().map(|stat| stat.czxid);
        made.iter().copied().filter(|czxid| !deleted.contains(czxid) && last != Some(*czxid)).collect::<Vec<i64>>()
    };
    let release = async {
        let end = acting.release(target(&path, &first, Naming::Fixed)).await;
        is_over.store(true, Ordering::SeqCst);
        end
    };
    let (end, by_release) = tokio::join!(release, world);
    let foreign = by_release.iter().filter(|czxid| **czxid != first.czxid).count() as u64;
    (end, Real { target: first.czxid, by_release }, foreign)
}

/// The czxid of a fresh incarnation, told by its own creation: it may be gone a moment later.
async fn make_again(client: &Client, path: &str) -> i64 {
    let (stat, _) = client.create(path, b"", &CreateMode::Ephemeral.with_acls(Acls::anyone_all())).await.unwrap();
    stat.czxid
}

fn judge(end: &End, real: &Real) -> Result<(), String> {
    let is_target = real.by_release == [real.target];
    let is_right = match (end.ending, end.fact) {
        (Ending::Released, _) => is_target,
        (Ending::ReleasedOther, _) => real.by_release.len() == 1 && !is_target,
        (Ending::Unknown, Fact::Ambiguous) => real.by_release.len() == 1,
        (Ending::AlreadyGone | Ending::ChangedHands | Ending::VersionMoved | Ending::Denied | Ending::NotLive, _) => {
            real.by_release.is_empty()
        }
        (Ending::Unknown, Fact::NeverArrived) => real.by_release.is_empty(),
        // Claims nothing; where an answer does not come in time, on a machine that is busy, nothing else is true.
        (Ending::Unknown, _) => true,
    };
    is_right.then_some(()).ok_or_else(|| {
        format!("{end:?}, but the release deleted {:x?}, and the target was {:x}", real.by_release, real.target)
    })
}

/// That no answer came in time is the exception: one of ten at most.
fn are_decided(counts: impl Iterator<Item = (Ending, Fact, u64)>) {
    let is_late = |ending, fact| ending == Ending::NotLive || (ending == Ending::Unknown && fact != Fact::Ambiguous);
    let (late, all) = counts.fold((0, 0), |(late, all), (ending, fact, count)| {
        (late + u64::from(is_late(ending, fact)) * count, all + count)
    });
    assert!(late * 10 <= all, "{late} of {all} had no answer in time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::print_stdout, reason = "the figures are wanted")]
async fn a_thousand_races() {
    let server = zookeeper().await;
    let (connect, acting) = (server.address(), ReleaseClient::anonymous(&server.address()));
    let truth = Truth::new(&connect).await;
    let counts: std::sync::Mutex<BTreeMap<(Kind, Ending, Fact), u64>> = std::sync::Mutex::default();
    let kinds = [Kind::OwnRelease, Kind::SessionEnds, Kind::OtherRelease, Kind::DataWritten];
    let races = (0..RACES).flat_map(|race| kinds.map(|kind| (race, kind)));
    let run = async |(race, kind): (u64, Kind)| {
        let directory = format!("/races/{kind:?}-{race}");
        truth.make(&directory).await;
        let (ends, real) = race_of_one(&acting, &truth.client, &connect, kind, &directory, race % 24).await;
        for end in &ends {
            *counts.lock().unwrap().entry((kind, end.ending, end.fact)).or_default() += 1;
        }
        match &ends[..] {
            [end] => judge(end, &real).unwrap_or_else(|wrong| panic!("{kind:?} {directory}: {wrong}")),
            ends => {
                // Of two releases one wins, and the other must say that it was too late, if it could tell at all.
                let count = |ending| ends.iter().filter(|end| end.ending == ending).count();
                assert!(count(Ending::Released) <= 1, "{directory}: {ends:?}");
                let undecided = count(Ending::NotLive) + count(Ending::Unknown);
                assert!(
                    undecided > 0 || (count(Ending::Released), count(Ending::AlreadyGone)) == (1, 1),
                    "{directory}: {ends:?}"
                );
            }
        }
    };
    stream::iter(races).map(run).buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
    for ((kind, ending, fact), count) in &*counts.lock().unwrap() {
        println!("{kind:?} {ending:?} {fact:?}: {count}");
    }
    are_decided(counts.lock().unwrap().iter().map(|((_, ending, fact), count)| (*ending, *fact, *count)));
    println!("{} races of numbered names; deletions of another incarnation: 0", RACES * 4);
}

/// Acts at one member while the adversary is at another, which may be the same.
#[expect(clippy::print_stdout, reason = "the figures are wanted")]
async fn flips(act: &str, adversary: &str, races: u64) {
    let acting = ReleaseClient::anonymous(act);
    let truth = Truth::new(adversary).await;
    let (mut foreign, mut counts) = (0, BTreeMap::<(Ending, Fact), u64>::new());
    for race in 0..races {
        let directory = format!("/flips/{race}");
        truth.make(&directory).await;
        let (end, real, others) = race_of_flips(&acting, &truth.client, &directory, race % 40).await;
        judge(&end, &real).unwrap_or_else(|wrong| panic!("{directory}: {wrong}"));
        // What was not meant to go and went must have been told.
        let is_told = matches!(end.ending, Ending::ReleasedOther | Ending::Unknown);
        assert!(others == 0 || is_told, "{directory}: a foreign deletion was not told: {end:?}");
        foreign += others;
        *counts.entry((end.ending, end.fact)).or_default() += 1;
    }
    are_decided(counts.iter().map(|((ending, fact), count)| (*ending, *fact, *count)));
    println!(
        "{races} races of a fixed name against full speed; deletions of another incarnation: {foreign}, all told; {counts:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fixed_name_taken_anew_at_full_speed() {
    let server = zookeeper().await;
    flips(&server.address(), &server.address(), FLIPS).await;
}

/// Members apply what is committed at different moments, so a read may show what is no longer so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_between_members_of_an_ensemble() {
    let ensemble = ensemble().await;
    for (act, adversary) in [(0, 1), (1, 2), (2, 0)] {
        let [act, adversary] = [act, adversary].map(|member: usize| ensemble.members()[member].address());
        let prefix = Truth::new(&adversary).await;
        flips(&act, &adversary, FLIPS / 8).await;
        for race in 0..FLIPS / 8 {
            prefix.client.delete(&format!("/flips/{race}/lock"), None).await.ok();
            prefix.client.delete(&format!("/flips/{race}"), None).await.unwrap();
        }
    }
}
