//! Two that share rows by a real PostgreSQL, which is killed, hangs and loses what it had.
#![expect(clippy::unwrap_used, reason = "tests take what they made themselves for granted")]

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lockscope_cluster::shared_rows::{Keeper, Shared, WAIT_MAX};
use lockscope_postgres::{Database, Target};
use lockscope_private_postgres::PrivatePostgres;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shared_rows::{Exchange as _, SharedRow, Sharer};
use lockscope_runtime::shutdown::{self, DropGuard};

/// Longer than anything here takes on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// Rows, and whether each is to be sent.
#[derive(Default)]
struct Rows(Mutex<BTreeMap<String, (SharedRow, bool)>>);

impl Rows {
    fn set(&self, key: &str, stamp: i64, is_over: bool) {
        let expires_at_ms = Clock::system().now_ms() + 3_600_000;
        let row = SharedRow { key: key.to_owned(), body: format!("{stamp}"), stamp, is_over, expires_at_ms };
        self.0.lock().unwrap().insert(key.to_owned(), (row, true));
    }

    fn get(&self, key: &str) -> Option<(String, bool)> {
        self.0.lock().unwrap().get(key).map(|(row, _)| (row.body.clone(), row.is_over))
    }
}

impl Sharer for Rows {
    fn kind(&self) -> &'static str {
        "test"
    }

    fn outgoing(&self) -> Vec<SharedRow> {
        self.0.lock().unwrap().values().filter(|(_, is_new)| *is_new).map(|(row, _)| row.clone()).take(1_000).collect()
    }

    fn sent(&self, rows: &[SharedRow]) {
        let mut own = self.0.lock().unwrap();
        for row in rows {
            own.entry(row.key.clone()).and_modify(|(_, is_new)| *is_new = false);
        }
    }

    fn take<'a>(&'a self, rows: Vec<SharedRow>, is_whole: bool) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        let mut own = self.0.lock().unwrap();
        if is_whole {
            let missing =
                own.values_mut().filter(|(own, _)| !own.is_over && !rows.iter().any(|row| row.key == own.key));
            missing.for_each(|(_, is_new)| *is_new = true);
        }
        for row in rows {
            let is_newer =
                own.get(&row.key).is_none_or(|(own, _)| own.stamp < row.stamp || (!own.is_over && row.is_over));
            if is_newer {
                own.insert(row.key.clone(), (row, false));
            }
        }
        Box::pin(std::future::ready(()))
    }
}

struct Server {
    rows: Arc<Rows>,
    shared: Shared,
    _stop: DropGuard,
}

fn server(postgres: &PrivatePostgres, cluster: &str) -> Server {
    let database = Database::new(Target::parse(&postgres.url()).unwrap()).unwrap();
    let (keeper, shared) = Keeper::new(&database, cluster.to_owned(), Clock::system());
    let rows = Arc::<Rows>::default();
    let (stop, stopped) = shutdown::token();
    tokio::spawn(keeper.with(rows.clone()).run(stopped));
    Server { rows, shared, _stop: stop }
}

async fn until(is_true: impl Fn() -> bool) -> Duration {
    let begin = Instant::now();
    while !is_true() {
        assert!(begin.elapsed() < DEADLINE);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    begin.elapsed()
}

fn is(body: &str, is_over: bool) -> Option<(String, bool)> {
    Some((body.to_owned(), is_over))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_says_the_other_knows_and_what_is_over_stays_so() {
    let postgres = PrivatePostgres::start().await.unwrap();
    let (a, b, stranger) = (server(&postgres, "x"), server(&postgres, "x"), server(&postgres, "y"));
    until(|| [&a, &b, &stranger].iter().all(|one| one.shared.state().borrow().exchanged_at_ms.is_some())).await;
    a.rows.set("k", 1, false);
    assert!(a.shared.exchange().await && b.shared.exchange().await);
    assert_eq!(b.rows.get("k"), is("1", false));
    b.rows.set("k", 2, true);
    assert!(b.shared.exchange().await && a.shared.exchange().await);
    assert_eq!(a.rows.get("k"), is("2", true));
    // Whoever says it again does not bring it back.
    let late = server(&postgres, "x");
    late.rows.set("k", 3, false);
    until(|| late.rows.get("k") == is("3", true)).await;
    // Nobody asks: within a little more than a second.
    a.rows.set("l", 1, false);
    eprintln!("known elsewhere after {:?}", until(|| b.rows.get("l").is_some()).await);
    // More than one round brings.
    (0..2_500).for_each(|at| a.rows.set(&format!("m{at}"), 1, false));
    until(|| b.rows.0.lock().unwrap().len() >= 2_502).await;
    assert_eq!(stranger.rows.0.lock().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_hangs_or_is_gone_keeps_nobody_for_long_and_what_was_said_comes_later() {
    let mut postgres = PrivatePostgres::start().await.unwrap();
    let (a, b) = (server(&postgres, "x"), server(&postgres, "x"));
    assert!(a.shared.exchange().await && b.shared.exchange().await);
    for is_killed in [false, true] {
        let key = format!("k{is_killed}");
        if is_killed {
            postgres.kill_minus_9().await.unwrap()
        } else {
            postgres.pause().unwrap()
        }
        a.rows.set(&key, 1, false);
        let begin = Instant::now();
        assert!(!a.shared.exchange().await);
        let first = begin.elapsed();
        assert!(first < WAIT_MAX + Duration::from_secs(1), "{first:?}");
        let begin = Instant::now();
        for _ in 0..100 {
            assert!(!a.shared.exchange().await);
        }
        let next = begin.elapsed();
        assert!(next < Duration::from_secs(1), "{next:?}");
        eprintln!("killed {is_killed}: the first waited {first:?}, 100 more {next:?}");
        let state = a.shared.state();
        until(|| state.borrow().failing_since_ms.is_some() && !state.borrow().why.is_empty()).await;
        if is_killed {
            postgres.restart().await.unwrap()
        } else {
            postgres.resume().unwrap()
        }
        until(|| b.rows.get(&key).is_some()).await;
        until(|| state.borrow().why.is_empty()).await;
    }
}
