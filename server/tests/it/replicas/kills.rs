//! Whoever records is killed, again and again, at 500 changes a second, and another one goes on: judged by ZooKeeper's own
//! log, no life is missing but in gaps that are told, and none is there twice. `CLUSTER_KILLS=20` is the long form: on a quiet
//! machine it also bounds how soon another one records. Beside other work that is a matter of the machine.

use std::time::{Duration, Instant};

use lockscope_demo::PrivateZooKeeper;
use lockscope_private_postgres::PrivatePostgres;
use rustix::process::Signal;
use tokio::sync::SemaphorePermit;

use super::log::{assert_whole, judged, summary};
use super::traffic::{RATE, Traffic};
use super::{Replica, TIMEOUT, long, recorder, replicas, turn};
use crate::harness::{DEADLINE, STEP, Truth, zookeeper};
use crate::served::until;

/// Three servers, what they share, and what happens meanwhile.
struct Stage {
    zookeeper: PrivateZooKeeper,
    postgres: PrivatePostgres,
    all: Vec<Replica>,
    traffic: Traffic,
    /// The last to go.
    _turn: SemaphorePermit<'static>,
}

impl Stage {
    async fn set() -> Self {
        let turn = turn().await;
        let (zookeeper, postgres) = (zookeeper().await, PrivatePostgres::start().await.unwrap());
        let truth = Truth::new(&zookeeper.address()).await;
        truth.make("/a").await;
        let more = format!("history_url = \"{}\"\n", postgres.url());
        let all = replicas(&zookeeper.address(), 3, &more).await;
        until(async || recorder(&all).await.is_some()).await;
        let traffic = Traffic::start(&zookeeper, &truth).await;
        Self { zookeeper, postgres, all, traffic, _turn: turn }
    }

    /// Waits until more happened.
    async fn more(&self, changes: u64) {
        let wanted = self.traffic.changes() + changes;
        until(async || self.traffic.changes() >= wanted).await;
    }

    /// Waits until one of the others records, and gives which, and how long that took.
    async fn another(&self, than: usize, since: Instant) -> (usize, Duration) {
        loop {
            for (at, replica) in self.all.iter().enumerate() {
                if at != than && replica.program.is_some() && replica.records().await {
                    return (at, since.elapsed());
                }
            }
            assert!(since.elapsed() < DEADLINE, "nobody records after {:?}", since.elapsed());
            tokio::time::sleep(STEP).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_records_is_killed_and_nothing_is_missing_but_in_told_gaps() {
    let mut stage = Stage::set().await;
    let (kills, begin, mut after) = (long("CLUSTER_KILLS", 2), Instant::now(), Vec::new());
    for round in 0..kills {
        let writer = recorder(&stage.all).await.expect("one records");
        // From half a second to some seconds of it, otherwise in each round.
        stage.more(RATE / 2 + round * 617 % (3 * RATE)).await;
        let killed = Instant::now();
        stage.all[writer].end(Signal::KILL).await;
        let (_, took) = stage.another(writer, killed).await;
        if std::env::var_os("CLUSTER_KILLS").is_some() {
            assert!(took <= TIMEOUT + Duration::from_secs(1), "round {round}: another recorded after {took:?}");
        }
        after.push(took.as_millis());
        stage.all[writer].run().await;
    }
    stage.more(RATE * 2).await;
    let (changes, took) = (stage.traffic.changes(), begin.elapsed());
    let verdict = judged(&stage.zookeeper, &stage.postgres, stage.traffic).await;
    after.sort_unstable();
    eprintln!("{}", summary(&format!("{kills} kills"), &verdict, changes, took));
    eprintln!("another recorded after {:?} ms", after);
    assert_whole(&verdict);
    assert!(verdict.gaps.len() as u64 <= kills, "each kill is one gap at most: {:?}", verdict.gaps);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_that_are_killed_as_soon_as_they_record_lose_nothing_but_in_told_gaps() {
    let mut stage = Stage::set().await;
    let (kills, begin) = (long("CLUSTER_KILLS", 4), Instant::now());
    stage.more(RATE * 2).await;
    for _ in 0..kills {
        // Each has some milliseconds: whoever comes next has the rows of several to derive.
        let writer = recorder(&stage.all).await.expect("one records");
        stage.all[writer].end(Signal::KILL).await;
        stage.another(writer, Instant::now()).await;
        stage.all[writer].run().await;
    }
    stage.more(RATE * 2).await;
    let (changes, took) = (stage.traffic.changes(), begin.elapsed());
    let verdict = judged(&stage.zookeeper, &stage.postgres, stage.traffic).await;
    eprintln!("{}", summary(&format!("{kills} kills at once"), &verdict, changes, took));
    assert_whole(&verdict);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rolling_restart_of_three_misses_nothing_but_in_told_gaps() {
    let mut stage = Stage::set().await;
    let begin = Instant::now();
    for at in 0..stage.all.len() {
        stage.more(RATE).await;
        stage.all[at].end(Signal::TERM).await;
        stage.all[at].run().await;
        until(async || recorder(&stage.all).await.is_some()).await;
    }
    stage.more(RATE * 2).await;
    let (changes, took) = (stage.traffic.changes(), begin.elapsed());
    let verdict = judged(&stage.zookeeper, &stage.postgres, stage.traffic).await;
    eprintln!("{}", summary("a rolling restart", &verdict, changes, took));
    assert_whole(&verdict);
    // Whoever did not record leaves no gap.
    assert!(verdict.gaps.len() <= 3, "{:?}", verdict.gaps);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_that_is_frozen_is_replaced_and_writes_nothing_of_what_it_has_when_it_wakes() {
    let stage = Stage::set().await;
    let begin = Instant::now();
    let writer = recorder(&stage.all).await.expect("one records");
    stage.more(RATE).await;
    let frozen = Instant::now();
    stage.all[writer].signal(Signal::STOP);
    let (_, after) = stage.another(writer, frozen).await;
    eprintln!("another recorded {after:?} after SIGSTOP");
    stage.more(RATE).await;
    stage.all[writer].signal(Signal::CONT);
    until(async || recorder(&stage.all).await.is_some_and(|at| at != writer)).await;
    stage.more(RATE * 2).await;
    let (changes, took) = (stage.traffic.changes(), begin.elapsed());
    let verdict = judged(&stage.zookeeper, &stage.postgres, stage.traffic).await;
    eprintln!("{}", summary("a frozen writer", &verdict, changes, took));
    assert_whole(&verdict);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_writer_that_stands_still_for_a_moment_each_life_that_it_could_not_read_is_counted() {
    let stage = Stage::set().await;
    let begin = Instant::now();
    let writer = recorder(&stage.all).await.expect("one records");
    let mut longest = Duration::ZERO;
    for _ in 0..5 {
        stage.more(RATE / 2).await;
        // For longer than a contender waits and holds, and not so long that it is a gap.
        let stopped = Instant::now();
        stage.all[writer].signal(Signal::STOP);
        stage.more(RATE * 2 / 5).await;
        stage.all[writer].signal(Signal::CONT);
        longest = longest.max(stopped.elapsed());
    }
    stage.more(RATE * 2).await;
    let (changes, took) = (stage.traffic.changes(), begin.elapsed());
    let verdict = judged(&stage.zookeeper, &stage.postgres, stage.traffic).await;
    eprintln!("{}", summary("a writer that stands still now and then", &verdict, changes, took));
    assert_whole(&verdict);
    assert!(verdict.unread > 0);
    // Where the machine made the traffic slow, the writer stood still for so long that another one took over.
    assert!(verdict.gaps.is_empty() || longest > TIMEOUT / 2, "{:?} after {longest:?}", verdict.gaps);
}
