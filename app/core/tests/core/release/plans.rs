//! What a plan says, recipe by recipe: who holds after it, who moves up, what can't be promised.

use lockscope_core::release::{ContenderRole, Naming, Plan, Refusal, plan};
use lockscope_core::time::TimeMs;

use crate::language::Story;
use crate::recipes::{expand, tree};

const NOW: TimeMs = TimeMs(20);

fn planned<'a>(story: &'a Story, path: &str) -> Result<Plan<'a>, Refusal> {
    plan(&story.observatory, &expand(path), NOW)
}

fn report(plan: &Plan<'_>) -> String {
    let next: Vec<&str> = plan.next.iter().map(|contender| contender.key.name()).collect();
    format!(
        "{:?} {:?}, next [{}], {} move up, {:?}: {}",
        plan.role,
        plan.target.naming,
        next.join(" "),
        plan.waiters_moving,
        plan.warnings,
        plan.next_sentence
    )
}

/// A tree, the znode to release, and what the plan says of it.
fn check(lines: &str, path: &str, wanted: &str) {
    let story = tree(lines);
    let plan = planned(&story, path).unwrap_or_else(|refusal| panic!("{path}: {refusal}"));
    assert_eq!(report(&plan), expand(wanted), "{path}");
}

fn check_refused(lines: &str, path: &str, wanted: Refusal) {
    assert_eq!(planned(&tree(lines), path).map(|plan| report(&plan)).unwrap_err(), wanted, "{path}");
}

const MUTEX: &str = "
    /order/_c_<a>-lock-#1 owner=a data=worker-1 czxid=101
    /order/_c_<b>-lock-#2 owner=b czxid=102
    /order/_c_<c>-lock-#3 owner=c czxid=103
    /order/_c_<d>-lock-#4 owner=d czxid=104";

#[test]
fn mutex() {
    check(
        MUTEX,
        "/order/_c_<a>-lock-#1",
        "Holder Sequential, next [_c_<b>-lock-#2], 3 move up, [OwnerUnknown, OldHolderBelieves]: session 0xb (fencing token 0x66) holds next.",
    );
    check(
        MUTEX,
        "/order/_c_<c>-lock-#3",
        "Waiter Sequential, next [], 1 move up, [OwnerUnknown, WaiterNotTold]: Who holds stays the same.",
    );
    check(
        MUTEX,
        "/order/_c_<d>-lock-#4",
        "Waiter Sequential, next [], 0 move up, [OwnerUnknown, WaiterNotTold]: Who holds stays the same.",
    );
    let alone = "/order/_c_<a>-lock-#1 owner=a";
    check(
        alone,
        "/order/_c_<a>-lock-#1",
        "Holder Sequential, next [], 0 move up, [OwnerUnknown, OldHolderBelieves]: Nobody waits: it is free then.",
    );
}

#[test]
fn read_write() {
    let lock = "
        /rw/_c_<a>-__WRIT__#1 owner=a
        /rw/_c_<b>-__READ__#2 owner=b
        /rw/_c_<c>-__READ__#3 owner=c
        /rw/_c_<d>-__WRIT__#4 owner=d
        /rw/_c_<e>-__READ__#5 owner=e";
    check(
        lock,
        "/rw/_c_<a>-__WRIT__#1",
        "Holder Sequential, next [_c_<b>-__READ__#2 _c_<c>-__READ__#3], 4 move up, [OwnerUnknown, OldHolderBelieves]: \
         session 0xb (fencing token CZ2) and session 0xc (fencing token CZ3) hold next."
            .replace("CZ2", &czxid(lock, "/rw/_c_<b>-__READ__#2"))
            .replace("CZ3", &czxid(lock, "/rw/_c_<c>-__READ__#3"))
            .as_str(),
    );
    // A writer in between goes: the reader behind it reads together with those before.
    let reading = "
        /rw/_c_<b>-__READ__#2 owner=b
        /rw/_c_<c>-__READ__#3 owner=c
        /rw/_c_<d>-__WRIT__#4 owner=d
        /rw/_c_<e>-__READ__#5 owner=e czxid=500";
    check(
        reading,
        "/rw/_c_<d>-__WRIT__#4",
        "Waiter Sequential, next [_c_<e>-__READ__#5], 1 move up, [OwnerUnknown, WaiterNotTold]: session 0xe (fencing token 0x1f4) holds next.",
    );
    check(
        reading,
        "/rw/_c_<b>-__READ__#2",
        "Holder Sequential, next [], 2 move up, [OwnerUnknown, OldHolderBelieves]: Nobody new: the other holder goes on.",
    );
}

fn czxid(lines: &str, path: &str) -> String {
    planned(&tree(lines), path).unwrap().target.czxid.to_string()
}

#[test]
fn election() {
    let latch = "
        /leader/_c_<a>-latch-#1 owner=a data=one
        /leader/_c_<b>-latch-#2 owner=b data=two czxid=500";
    check(
        latch,
        "/leader/_c_<a>-latch-#1",
        "Holder Sequential, next [_c_<b>-latch-#2], 1 move up, [OwnerUnknown, TwoLeaders]: two (fencing token 0x1f4) leads next.",
    );
}

#[test]
fn one_znode() {
    check(
        "/exclusive_lock/lock owner=a",
        "/exclusive_lock/lock",
        "Holder Fixed, next [], 0 move up, [OwnerUnknown, OldHolderBelieves, FixedName, AnyWatcher]: \
         Whoever creates the znode next; nobody is known to watch it.",
    );
}

#[test]
fn semaphores() {
    let curator = "
        /sem/leases/_c_<a>-lease-#1 owner=a
        /sem/leases/_c_<b>-lease-#2 owner=b
        /sem/locks/_c_<c>-lock-#7 owner=c
        /sem/locks/_c_<d>-lock-#8 owner=d";
    check(
        curator,
        "/sem/leases/_c_<a>-lease-#1",
        "Holder Sequential, next [], 2 move up, [OwnerUnknown, LeaseUsedOn]: /sem/locks/_c_<c>-lock-#7 is first in line for the free lease; \
         the lease's fencing token is its own czxid, once it is made.",
    );
    check(
        curator,
        "/sem/locks/_c_<c>-lock-#7",
        "Waiter Sequential, next [], 1 move up, [OwnerUnknown, WaiterNotTold]: Who holds stays the same.",
    );
}

#[test]
fn persistent() {
    let lock = "
        /k/{a}__lock__#0
        /k/{b}__lock__#1 owner=b czxid=500";
    check(
        lock,
        "/k/{a}__lock__#0",
        "Holder Sequential, next [{b}__lock__#1], 1 move up, [OldHolderBelieves, Persistent]: session 0xb (fencing token 0x1f4) holds next.",
    );
}

#[test]
fn what_is_no_hold_is_refused() {
    check_refused(MUTEX, "/order", Refusal::Directory);
    check_refused(MUTEX, "/order/_c_<f>-lock-#9", Refusal::NoSuchZnode);
    check_refused("/config/a\n/order/_c_<a>-lock-#1 owner=a", "/config/a", Refusal::NotAContender);
    check_refused("/party/{a}__party__#1 owner=a", "/party/{a}__party__#1", Refusal::Member);
    check_refused("/queue/entry-100-#1", "/queue/entry-100-#1", Refusal::Item);
    let mut story = tree(MUTEX);
    story.tell(&expand("20 + /order/_c_<e>-lock-#5"));
    assert_eq!(planned(&story, "/order/_c_<e>-lock-#5").map(|plan| report(&plan)).unwrap_err(), Refusal::NotRead);
    story.tell("30 link stale no answer");
    assert!(matches!(planned(&story, "/order/_c_<a>-lock-#1").map(|plan| report(&plan)), Err(Refusal::NotLive(_))));
    let story = Story::new(&["/order"]);
    assert_eq!(planned(&story, "/other/x").map(|plan| report(&plan)).unwrap_err(), Refusal::NotWatched);
}

/// The plan's foresight is what the model then believes.
#[test]
fn what_is_foretold_comes_true() {
    let mut story = tree(MUTEX);
    for path in ["/order/_c_<c>-lock-#3", "/order/_c_<a>-lock-#1", "/order/_c_<b>-lock-#2"] {
        let plan = planned(&story, path).unwrap();
        let foretold: Vec<String> = plan.next.iter().map(|contender| contender.key.name().to_owned()).collect();
        let before: Vec<String> = plan
            .lock
            .holders
            .iter()
            .map(|hold| hold.name.to_string())
            .filter(|name| !expand(path).ends_with(name))
            .collect();
        assert_eq!(plan.target.naming, Naming::Sequential);
        let was_holder = plan.role == ContenderRole::Holder;
        story.tell(&expand(&format!("40 - {path}")));
        let after: Vec<String> = story.lock("/order").holders.iter().map(|hold| hold.name.to_string()).collect();
        assert_eq!(after, [before, foretold].concat(), "{path}, {was_holder}");
    }
}
