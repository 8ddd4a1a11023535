//! Deletions that came from Lockscope, against what was planned and recorded.

use std::collections::{BTreeSet, HashMap};

use crate::truth::Truth;
use crate::{Limits, Outcome, Report, Wrong};

/// Everything Lockscope was asked to release, and which sessions are its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Releases {
    /// Whose deletions are ours.
    pub ours: OwnSessions,
    /// Every plan that was ordered to be executed.
    pub plans: Vec<Plan>,
}

/// Which sessions are Lockscope's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnSessions {
    /// These.
    These(BTreeSet<i64>),
    /// All but these, where the test knows all its own clients.
    AllBut(BTreeSet<i64>),
}

/// A deletion that was ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The znode.
    pub path: String,
    /// Its identity when it was planned.
    pub czxid: i64,
    /// When the record of the intent was durable; `None` when there is no such record.
    pub intent_durable_at_ms: Option<i64>,
    /// The outcome in the audit log; `None` when there is none.
    pub outcome: Option<Outcome>,
}

impl OwnSessions {
    fn has(&self, session: i64) -> bool {
        match self {
            Self::These(sessions) => sessions.contains(&session),
            Self::AllBut(others) => !others.contains(&session),
        }
    }
}

/// Compares each deletion of ours with the plans, and each plan's outcome with the deletions. What we created ourselves
/// we may delete unplanned. Several plans may have been made of one znode; one of them deleted it then. No request of
/// ZooKeeper's names a czxid, so another incarnation of a planned name may go in its place: that is counted, and wrong
/// unless the audit log says so.
pub(crate) fn compare(limits: &Limits, truth: &Truth, releases: &Releases, report: &mut Report) {
    let mut plans: HashMap<(&str, i64), Vec<&Plan>> = HashMap::new();
    for plan in &releases.plans {
        plans.entry((&plan.path, plan.czxid)).or_default().push(plan);
    }
    let mut done = BTreeSet::new();
    let mut told: Vec<&Plan> =
        releases.plans.iter().filter(|plan| plan.outcome == Some(Outcome::DeletedOther)).collect();
    let ours = |session| releases.ours.has(session);
    for removed in truth.deletions().iter().filter(|removed| ours(removed.deletion.session) && !ours(removed.creator)) {
        report.counts.deletions += 1;
        let deletion = &removed.deletion;
        let key = (deletion.path.as_str(), deletion.czxid);
        let deletion = deletion.clone();
        let intent_durable_at_ms = if let Some(of_znode) = plans.get(&key) {
            done.insert(key);
            of_znode.iter().filter_map(|plan| plan.intent_durable_at_ms).min()
        } else if let Some(at) = told.iter().position(|plan| plan.path == deletion.path) {
            report.counts.other_incarnations += 1;
            told.swap_remove(at).intent_durable_at_ms
        } else {
            report.push(Wrong::ForeignDeleted(deletion));
            continue;
        };
        if intent_durable_at_ms.is_none_or(|durable_at_ms| durable_at_ms > deletion.time_ms + limits.clock_tolerance_ms)
        {
            report.push(Wrong::IntentMissing { deletion, intent_durable_at_ms });
        }
    }
    for (key, of_znode) in &plans {
        outcomes(of_znode, done.contains(key), report);
    }
}

/// All plans of one znode: none is without an outcome, and together they say what happened.
fn outcomes(plans: &[&Plan], was_deleted: bool, report: &mut Report) {
    let mut claimed = 0;
    for plan in plans {
        let (path, czxid) = (plan.path.clone(), plan.czxid);
        match plan.outcome {
            // An order that was refused began nothing.
            None if plan.intent_durable_at_ms.is_none() => {}
            None => report.push(Wrong::OutcomeMissing { path, czxid, was_deleted }),
            Some(outcome @ Outcome::Deleted) if claimed > 0 || !was_deleted => {
                report.push(Wrong::OutcomeFalse { path, czxid, outcome, was_deleted })
            }
            Some(Outcome::Deleted) => claimed += 1,
            Some(Outcome::DeletedOther | Outcome::NothingDeleted | Outcome::Unknown) => {}
        }
    }
    let may_have = plans.iter().any(|plan| matches!(plan.outcome, None | Some(Outcome::Deleted | Outcome::Unknown)));
    if was_deleted && !may_have {
        let Some(plan) = plans.first() else { return };
        let outcome = plan.outcome.unwrap_or(Outcome::Unknown);
        report.push(Wrong::OutcomeFalse { path: plan.path.clone(), czxid: plan.czxid, outcome, was_deleted });
    }
}
