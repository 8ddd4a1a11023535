//! How a lock comes to each finding.

use lockscope_core::diagnosis::Code;
use lockscope_core::finding::Limits;
use lockscope_core::observation::{LockConfig, Observation};

use super::{A, B, Life, X, Y, Z, evidence, verdicts};

pub(super) fn live(code: Code, life: &mut Life) -> i64 {
    match code {
        Code::OrphanContender | Code::DuplicateSession | Code::SameClientNewSession | Code::WaitingForItself => {
            of_clients(code, life)
        }
        Code::DoubleOwnerWindow | Code::OldOwnerConnected | Code::LeaseLeak | Code::LeaderMismatch => {
            of_owners(code, life)
        }
        Code::ContainerReaped | Code::WillBeReaped | Code::MustBeHeld | Code::NeverDrains => of_the_lock(code, life),
        Code::ExpiryOverdue => evidence::overdue(life),
        Code::StaleEphemeral => evidence::stale(life),
        Code::MembersDisagree => evidence::disagree(life),
        Code::MissingWatch => evidence::missing_watch(life),
        Code::WatchInversion => evidence::inversion(life),
        Code::TryLockChurn | Code::Herd | Code::DeepQueue => of_crowds(code, life),
        Code::Deadlock => {
            life.tree("/a\n/b");
            verdicts::cross(life)
        }
        Code::LockOrder => {
            life.tree("/a\n/b");
            life.comes(1_000, "/a/lock-0000000000", "owner=1").comes(1_010, "/b/lock-0000000000", "owner=1");
            life.goes(1_020, "/b/lock-0000000000").goes(1_030, "/a/lock-0000000000");
            life.comes(1_990, "/b/lock-0000000001", "owner=2").comes(2_000, "/a/lock-0000000001", "owner=2");
            2_000
        }
        Code::ForeignChild
        | Code::MixedRecipes
        | Code::SequenceOverflow
        | Code::OrderAnomaly
        | Code::RewrittenNode
        | Code::NeverExpires => of_names(code, life),
        Code::EmptyLocks | Code::SessionHoards | Code::LongTimeout | Code::ShortTimeout | Code::ManyZnodes => {
            unreachable!("{code:?} is of an ensemble, and no rule may be about it")
        }
    }
}

/// Of clients that queue, one way or another, more than once.
fn of_clients(code: Code, life: &mut Life) -> i64 {
    match code {
        Code::OrphanContender => {
            life.tree("/l\n/l/lock-0000000000 owner=a data=worker-1\n/l/lock-0000000001 owner=a data=worker-2");
            300_000
        }
        Code::DuplicateSession => {
            life.tree(&format!("/l\n/l/{A}lock-0000000000 owner=a"));
            life.comes(2_000, &format!("/l/{A}lock-0000000001"), "owner=a");
            2_000
        }
        Code::WaitingForItself => {
            life.tree("/l\n/l/lock-0000000000 owner=a data=worker-1");
            life.comes(2_000, "/l/lock-0000000001", "owner=b data=worker-1");
            2_000
        }
        _ => {
            session_ends(life);
            life.comes(2_000, "/l/lock-0000000002", "owner=c data=worker-1");
            2_000
        }
    }
}

/// The session of a holder of two locks ends, and another gets one of them.
fn session_ends(life: &mut Life) {
    life.tree(
        "/l\n/m\n/l/lock-0000000000 owner=a data=worker-1\n/m/lock-0000000000 owner=a data=worker-1\n/l/lock-0000000001 owner=b data=worker-2",
    );
    life.goes(1_000, "/l/lock-0000000000").goes(1_000, "/m/lock-0000000000");
}

/// Of who holds.
fn of_owners(code: Code, life: &mut Life) -> i64 {
    match code {
        Code::DoubleOwnerWindow => {
            session_ends(life);
            1_000
        }
        Code::OldOwnerConnected => {
            session_ends(life);
            life.comes(2_000, "/l/lock-0000000002", "owner=c data=worker-1");
            2_000
        }
        Code::LeaseLeak => {
            life.tree(&format!(
                "/s data=2\n/s-__lock__\n/s/{X} owner=a data=old\n/s/{Y} owner=b\n/s-__lock__/{X}__lock__0000000005 owner=c"
            ));
            life.goes(60_000, &format!("/s/{Y}")).comes(60_000, &format!("/s/{Z}"), "owner=d");
            60_000
        }
        _ => {
            // Nobody took office within the two seconds that it may take.
            life.tree(
                "/overseer_elect
                /overseer_elect/election
                /overseer_elect/election/72057655109877762-10.0.0.1:8983_solr-n_0000000000 owner=a
                /overseer_elect/election/72057655109877763-10.0.0.2:8983_solr-n_0000000001 owner=b",
            );
            2_000
        }
    }
}

/// Of the lock's own znode, or its whole queue.
fn of_the_lock(code: Code, life: &mut Life) -> i64 {
    match code {
        Code::ContainerReaped | Code::WillBeReaped => {
            life.tree("/l\n/l/lock-0000000000 owner=a");
            life.goes(100, "/l/lock-0000000000").goes(200, "/l").comes(2_000, "/l", "");
            life.comes(2_000, "/l/lock-0000000000", "owner=b");
            if code == Code::ContainerReaped {
                return 2_000;
            }
            life.goes(5_000, "/l/lock-0000000000");
            5_000
        }
        Code::MustBeHeld => {
            let limits = Limits { must_be_held: vec!["/boss".to_owned()], ..Limits::default() };
            let config = LockConfig { configured: Vec::new(), limits };
            life.0.observe(Observation::ConfigChanged(Box::new(config)));
            life.tree("");
            30_000
        }
        _ => grows(life),
    }
}

/// A queue grows by one each 2.5 s, which is how finely its depth is kept. Of the last two minutes each quarter must be
/// deeper than that before it, by one waiter on average; before it was watched, it was empty.
fn grows(life: &mut Life) -> i64 {
    life.tree("/l\n/l/lock-0000000000 owner=1");
    let quarter = |from: i64| (from..from + 12).map(|slice| slice.max(0)).sum::<i64>();
    let grows = |slice: i64| {
        let sums = [4, 3, 2, 1].map(|back| quarter(slice - 12 * back));
        sums.windows(2).all(|pair| pair[1] >= pair[0] + 12)
    };
    let so_after = (0..).find(|slice| grows(*slice)).unwrap();
    for slice in 1..=so_after {
        life.comes(2_500 * slice, &format!("/l/lock-{slice:010}"), &format!("owner={slice:x}"));
    }
    2_500 * so_after
}

/// Of many clients.
fn of_crowds(code: Code, life: &mut Life) -> i64 {
    match code {
        Code::TryLockChurn => {
            life.tree("/l\n/l/lock-0000000000 owner=a");
            let most = i64::from(Limits::default().churn_attempts);
            for round in 1..=most {
                let name = format!("/l/lock-{round:010}");
                life.comes(100 * round, &name, "owner=b data=poller").goes(100 * round, &name);
            }
            100 * most
        }
        Code::Herd => {
            life.tree(&format!("/l\n/l/{A}__WRIT__0000000000 owner=a"));
            for at in 1..=12 {
                let name = format!("/l/_c_{at:08}-0000-4a4a-8b8b-000000000000-__READ__{at:010}");
                life.comes(2_000, &name, &format!("owner={at}"));
            }
            2_000
        }
        _ => {
            life.tree("/l");
            for at in 0..600 {
                life.comes(2_000, &format!("/l/lock-{at:010}"), &format!("owner={:x}", at + 16));
            }
            2_000
        }
    }
}

/// Of the names of znodes, and of what is in them.
fn of_names(code: Code, life: &mut Life) -> i64 {
    life.tree(&format!("/l\n/l/{X}__lock__0000000007 owner=a czxid=50"));
    let (path, fields) = match code {
        Code::ForeignChild => ("/l/notes".to_owned(), ""),
        Code::MixedRecipes => (format!("/l/{B}lock-0000000008"), "owner=b"),
        Code::SequenceOverflow => {
            life.tell("2000 # /l created=1900000000\n2100 + /l/{Y}__lock__1900000001".replace("{Y}", Y).as_str());
            return 2_000;
        }
        Code::OrderAnomaly => (format!("/l/{Y}__lock__0000000006"), "owner=b"),
        Code::RewrittenNode => {
            life.tell(&format!("2000 = /l/{X}__lock__0000000007 owner=a czxid=50 version=1 data=x"));
            return 2_000;
        }
        _ => (format!("/l/{Y}__lock__0000000008"), ""),
    };
    life.comes(2_000, &path, fields);
    2_000
}
