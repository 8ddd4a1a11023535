//! Deletions: exactly those that were planned, each after its intent, each with its outcome.

use std::collections::BTreeSet;

use lockscope_judge::{Kind, Limits, Outcome, OwnSessions, Plan, Releases, Report, judge_releases};
use lockscope_txn_log::Lifetime;

use crate::world::{LOCK, World};

/// Our session.
const OURS: i64 = 77;

struct Scene {
    world: World,
    plan: Plan,
}

/// Ada holds, Bea waits; a release of Ada's znode was ordered and carried out.
fn scene() -> Scene {
    let mut world = World::new();
    let czxid = world.queue(11, 0);
    world.queue(12, 1);
    world.wait(1_000);
    let plan = Plan {
        path: format!("{LOCK}/_c_11-lock-0000000000"),
        czxid,
        intent_durable_at_ms: Some(world.now_ms - 2),
        outcome: Some(Outcome::Deleted),
    };
    Scene { world, plan }
}

fn judged(world: &World, plans: &[&Plan]) -> Report {
    let releases = |ours| Releases { ours, plans: plans.iter().map(|plan| (*plan).clone()).collect() };
    let by_name =
        judge_releases(&Limits::default(), &world.truth(), &releases(OwnSessions::These(BTreeSet::from([OURS]))));
    let by_others =
        judge_releases(&Limits::default(), &world.truth(), &releases(OwnSessions::AllBut(BTreeSet::from([1, 11, 12]))));
    assert_eq!(by_name, by_others);
    by_name
}

fn kinds(report: &Report) -> Vec<Kind> {
    report.wrong.iter().map(lockscope_judge::Wrong::kind).collect()
}

#[test]
fn a_planned_deletion_is_clean() {
    let Scene { mut world, plan } = scene();
    world.delete(OURS, &plan.path);
    let report = judged(&world, &[&plan]);
    assert!(report.is_clean());
    assert_eq!(report.counts.deletions, 1);
    // Two ordered it; one found it gone.
    let second = Plan { outcome: Some(Outcome::NothingDeleted), ..plan.clone() };
    assert!(judged(&world, &[&plan, &second]).is_clean());
    assert!(judged(&world, &[&second, &plan]).is_clean());
    assert_eq!(kinds(&judged(&world, &[&plan, &plan])), [Kind::OutcomeFalse]);
}

#[test]
fn a_foreign_znode() {
    let Scene { mut world, plan } = scene();
    world.delete(OURS, &format!("{LOCK}/_c_12-lock-0000000001"));
    let unused = Plan { outcome: Some(Outcome::NothingDeleted), ..plan };
    assert_eq!(kinds(&judged(&world, &[&unused])), [Kind::ForeignDeleted]);
    assert_eq!(kinds(&judged(&world, &[])), [Kind::ForeignDeleted]);
}

#[test]
fn another_incarnation_of_the_name() {
    let Scene { mut world, plan } = scene();
    world.delete(11, &plan.path);
    world.create(11, &plan.path, Lifetime::Ephemeral);
    world.delete(OURS, &plan.path);
    let honest = Plan { outcome: Some(Outcome::DeletedOther), ..plan.clone() };
    let report = judged(&world, &[&honest]);
    assert!(report.is_clean() && report.counts.other_incarnations == 1);
    let late = Plan { intent_durable_at_ms: Some(world.now_ms + 50), ..honest.clone() };
    assert_eq!(kinds(&judged(&world, &[&late])), [Kind::IntentMissing]);
    assert_eq!(kinds(&judged(&world, &[&plan])), [Kind::ForeignDeleted, Kind::OutcomeFalse]);
}

#[test]
fn an_intent_that_came_late_or_never() {
    let Scene { mut world, plan } = scene();
    world.delete(OURS, &plan.path);
    let late = Plan { intent_durable_at_ms: Some(world.now_ms + 50), ..plan.clone() };
    assert_eq!(kinds(&judged(&world, &[&late])), [Kind::IntentMissing]);
    let never = Plan { intent_durable_at_ms: None, ..plan };
    assert_eq!(kinds(&judged(&world, &[&never])), [Kind::IntentMissing]);
}

#[test]
fn outcomes_that_are_missing_or_false() {
    let Scene { mut world, plan } = scene();
    assert_eq!(kinds(&judged(&world, &[&plan])), [Kind::OutcomeFalse]);
    let unknown = Plan { outcome: Some(Outcome::Unknown), ..plan.clone() };
    assert!(judged(&world, &[&unknown]).is_clean());
    world.delete(OURS, &plan.path);
    assert!(judged(&world, &[&unknown]).is_clean());
    let none = Plan { outcome: None, ..plan.clone() };
    assert_eq!(kinds(&judged(&world, &[&none])), [Kind::OutcomeMissing]);
    let nothing = Plan { outcome: Some(Outcome::NothingDeleted), ..plan };
    assert_eq!(kinds(&judged(&world, &[&nothing])), [Kind::OutcomeFalse]);
}

/// Znodes to compare clocks with: ours to make and to delete.
#[test]
fn our_own_znodes_need_no_plan() {
    let Scene { mut world, .. } = scene();
    world.create(OURS, "/scratch", Lifetime::Persistent);
    world.delete(OURS, "/scratch");
    assert!(judged(&world, &[]).is_clean());
    world.close(OURS, true);
    assert!(judged(&world, &[]).is_clean());
}
