//! The sample workload, ten times as fast as in the demo: every scene is really played, and nothing is left of it.

use std::cell::RefCell;
use std::collections::BTreeSet;

use lockscope_demo::workload::{Pace, run_workload};

use crate::harness::{Believed, DEADLINE, Observed, zookeeper};

/// Permits of the semaphore, and the one lease that waits to become one.
const LEASES_MAX: usize = 4;
const ITEMS_MAX: usize = 30;

/// Names and owners of a directory's ephemeral children in order of their sequence numbers; only those that were read.
fn queue(believed: &Believed, directory: &str) -> Vec<(String, i64)> {
    let owned =
        |name: String| Some((name.clone(), believed.tree[&format!("{directory}/{name}")].facts.as_ref()?.owner?.0));
    let mut queue: Vec<(String, i64)> = names(believed, directory).into_iter().filter_map(owned).collect();
    queue.sort_by_key(|(name, _)| name[name.len() - 10..].to_owned());
    queue
}

/// Names of a directory's children.
fn names(believed: &Believed, directory: &str) -> Vec<String> {
    let inside = |path: &String| {
        path.strip_prefix(directory)?.strip_prefix('/').filter(|name| !name.contains('/')).map(str::to_owned)
    };
    believed.tree.keys().filter_map(inside).collect()
}

fn count(believed: &Believed, directory: &str, part: &str) -> usize {
    names(believed, directory).iter().filter(|name| name.contains(part)).count()
}

fn queues_are_long(believed: &Believed) -> bool {
    count(believed, "/reports/nightly", "x-") > 8
        && count(believed, "/payments/curator", "-lock-") > 1
        && count(believed, "/inventory/kazoo", "__lock__") > 1
        && count(believed, "/order", "lock-") > 1
        && believed.tree.contains_key("/exclusive_lock/lock")
        && believed.tree.contains_key("/idle")
}

fn a_report_says_who_it_is(believed: &Believed) -> bool {
    let reports = believed.tree.iter().filter(|(path, _)| path.starts_with("/reports/nightly/x-"));
    let mut payloads = reports.filter_map(|(_, node)| node.facts.as_ref()?.payload.as_deref());
    payloads.any(|payload| payload.starts_with(b"report-"))
}

fn readers_hold_and_a_writer_waits(believed: &Believed) -> bool {
    let queue = queue(believed, "/catalog/rw");
    let readers = queue.iter().take_while(|(name, _)| name.contains("-__READ__")).count();
    readers > 1 && queue.get(readers).is_some_and(|(name, _)| name.contains("-__WRIT__"))
}

fn a_reader_waits_for_a_writer(believed: &Believed) -> bool {
    let queue = queue(believed, "/catalog/rw");
    queue.first().is_some_and(|(name, _)| name.contains("-__WRIT__"))
        && queue.iter().any(|(name, _)| name.contains("-__READ__"))
}

/// The newest lease waits: its session is also the first in the queue. Another one waits behind it.
fn all_permits_are_taken(believed: &Believed) -> bool {
    let (leases, locks) = (queue(believed, "/pool/connections/leases"), queue(believed, "/pool/connections/locks"));
    leases.len() == LEASES_MAX
        && locks.len() > 1
        && leases.last().map(|lease| lease.1) == locks.first().map(|lock| lock.1)
}

fn candidates_wait(believed: &Believed) -> bool {
    count(believed, "/election/scheduler", "-latch-") == 4
}

fn members_gather(believed: &Believed) -> bool {
    matches!(count(believed, "/barrier/batch", ""), 1..3) && count(believed, "/barrier/batch", "ready") == 0
}

fn members_work(believed: &Believed) -> bool {
    queue(believed, "/barrier/batch").len() == 3 && count(believed, "/barrier/batch", "ready") == 1
}

fn items_wait(believed: &Believed) -> bool {
    count(believed, "/queue/mail", "entry-100-") > 0
}

fn both_wait_for_each_other(believed: &Believed) -> bool {
    let owners = |directory| queue(believed, directory).into_iter().map(|(_, owner)| owner).collect::<Vec<_>>();
    match (owners("/transfer/a").as_slice(), owners("/transfer/b").as_slice()) {
        ([holds_a, waits_a], [holds_b, waits_b]) => holds_a == waits_b && holds_b == waits_a && holds_a != holds_b,
        _ => false,
    }
}

fn transfers_are_done(believed: &Believed) -> bool {
    names(believed, "/transfer/a").is_empty() && names(believed, "/transfer/b").is_empty()
}

/// The first two are one session's, and others wait.
fn a_session_waits_behind_itself(believed: &Believed) -> bool {
    let queue = queue(believed, "/billing/invoices");
    queue.len() > 2 && queue[0].1 == queue[1].1 && queue[2].1 != queue[0].1
}

fn nobody_waits_behind_itself(believed: &Believed) -> bool {
    let mut owners: Vec<i64> = queue(believed, "/billing/invoices").into_iter().map(|(_, owner)| owner).collect();
    let all = owners.len();
    owners.sort_unstable();
    owners.dedup();
    all > 0 && owners.len() == all
}

fn two_recipes_share_a_directory(believed: &Believed) -> bool {
    count(believed, "/shared/mixed", "__lock__") > 0 && count(believed, "/shared/mixed", "-lock-") > 0
}

/// Everybody stands in one queue, and the same one holds: nobody else of five would wait for so long.
fn all_wait_for_one_that_hangs(believed: &Believed) -> bool {
    count(believed, "/shipping/labels", "-lock-") == 5
}

type Look = fn(&Believed) -> bool;

/// What must be seen of each scene, in this order.
const SCENES: [(&str, &[Look]); 11] = [
    ("long queues", &[queues_are_long]),
    // A contender is seen before it is read.
    ("labels", &[a_report_says_who_it_is]),
    ("an election", &[candidates_wait]),
    ("a read/write lock", &[readers_hold_and_a_writer_waits, a_reader_waits_for_a_writer]),
    ("a semaphore", &[all_permits_are_taken]),
    ("a barrier", &[members_gather, members_work, members_gather, members_work]),
    ("a queue", &[items_wait]),
    ("a holder that hangs", &[all_wait_for_one_that_hangs]),
    ("two recipes in one directory", &[two_recipes_share_a_directory]),
    (
        "a session behind itself",
        &[a_session_waits_behind_itself, nobody_waits_behind_itself, a_session_waits_behind_itself],
    ),
    ("a deadlock", &[both_wait_for_each_other, transfers_are_done, both_wait_for_each_other]),
];

/// How much of each scene was seen, and who led the election.
#[derive(Default)]
struct Seen {
    looks: [usize; SCENES.len()],
    leaders: BTreeSet<i64>,
}

impl Seen {
    fn look(&mut self, believed: &Believed) {
        assert!(count(believed, "/pool/connections/leases", "") <= LEASES_MAX, "more leases than there may be");
        assert!(count(believed, "/queue/mail", "") <= ITEMS_MAX, "more items than there may be");
        self.leaders.extend(queue(believed, "/election/scheduler").first().map(|leader| leader.1));
        for (seen, (_, looks)) in self.looks.iter_mut().zip(SCENES) {
            *seen += usize::from(looks.get(*seen).is_some_and(|look| look(believed)));
        }
    }
}

/// The sample workload shows every scene, and leaves nothing when it is stopped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sample_workload_contends_and_leaves_nothing() {
    let server = zookeeper().await;
    let observed = Observed::start(&server.address(), &["/"]);
    observed.until_live().await;
    let (stop, stopped) = lockscope_runtime::shutdown::token();
    let address = server.address();
    let workload = tokio::spawn(async move { run_workload(&address, Pace::percent(10), stopped).await });
    let seen = RefCell::new(Seen::default());
    for (at, (what, looks)) in SCENES.iter().enumerate() {
        let is_seen = |believed: &Believed| {
            seen.borrow_mut().look(believed);
            seen.borrow().looks[at] == looks.len()
        };
        observed.until(what, is_seen).await;
    }
    let has_changed = |believed: &Believed| {
        seen.borrow_mut().look(believed);
        seen.borrow().leaders.len() > 1
    };
    observed.until("the leader steps down", has_changed).await;
    drop(stop);
    tokio::time::timeout(DEADLINE, workload).await.expect("the workload stops").unwrap().unwrap();
    let nothing_is_left = |believed: &Believed| {
        let is_owned = believed.tree.values().any(|node| node.facts.as_ref().is_none_or(|facts| facts.owner.is_some()));
        !is_owned && names(believed, "/queue/mail").is_empty() && names(believed, "/barrier/batch").is_empty()
    };
    observed.until("nothing held, waiting or left", nothing_is_left).await;
    observed.stop().await;
}
