//! Incidents: runs of trouble on one lock or on connected ones, who was at their root, who waited, and how they ended. Pure:
//! made of the facts and lives that are stored, so they are the same live, over a recording and over an autopsy.
//!
//! A run begins when a lock's verdict becomes one of trouble, or a finding by which somebody is hurt ([`Harm`]) is raised, and
//! ends when neither is so any more; one that begins again within [`QUIET_MS`] goes on. Where findings hurt those alone who
//! wait, and nobody waited for [`VICTIM_MS`], it is no incident. Runs are connected where they overlap in time and a session that holds one of the locks holds or
//! waits for the other at that time.

mod all;
mod connect;
mod life;
mod root;
mod run;
mod search;
mod shape;

use std::collections::{BTreeMap, BTreeSet};

use lockscope_core::diagnosis::Verdict;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};

pub use all::{ALL_RUNS_MAX, all};
pub use connect::connect;
pub use life::Life;
pub use run::{QUIET_MS, Run, runs};
pub use search::{
    EARLIER_MS, IncidentQuery, IncidentsFound, LIVES_A_RUN_MAX, LIVES_A_RUN_MIN, LIVES_MAX, Present, RUNS_MAX, earlier,
    incident_of, lives_in, search,
};

pub use crate::names::{IncidentEnd, WaitShape};

use crate::derive::Harm;
use crate::store::rows::SpanEnd;

/// Whoever waited this long within an incident is a victim.
pub const VICTIM_MS: i64 = 1_000;
/// How near to an incident's end something is taken for what ended it.
const END_MS: i64 = 1_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncidentRoot {
    /// The lock that it held.
    pub lock: Box<str>,
    /// Its session; None for a znode that no session owns.
    pub session: Option<SessionId>,
    pub label: Option<Box<str>>,
    pub host: Option<Box<str>>,
    pub held_at: TimeMs,
    /// What it is charged of the waiting.
    pub charged_ms: i64,
}

/// Something was wrong with one lock, or with several at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    /// The number of the fact that began it.
    pub number: u64,
    pub from: TimeMs,
    /// When it ended; None while it goes on.
    pub to: Option<TimeMs>,
    /// The worst verdict; `Healthy` where findings alone say that something was wrong.
    pub worst: Verdict,
    /// Findings by which somebody was hurt, by their codes.
    pub findings: BTreeSet<Box<str>>,
    /// The runs that it is made of, the oldest first.
    pub runs: Vec<Run>,
    /// Who made the others wait; None where nobody that is known held.
    pub root: Option<IncidentRoot>,
    /// The recipe of the lock that names it; None where nobody was at it.
    pub recipe: Option<Box<str>>,
    pub shape: WaitShape,
    /// Sessions that waited [`VICTIM_MS`] or longer within it.
    pub victims: usize,
    pub victims_peak: usize,
    /// All waiting within it together.
    pub waiting_ms: i64,
    /// Not all who waited were looked at.
    pub is_lower_bound: bool,
    pub ended_by: IncidentEnd,
    /// The contender that left then, where that is what ended it.
    pub ended_with: Option<Zxid>,
}

impl Incident {
    /// Makes one of runs that belong together, and of the lives of their locks.
    ///
    /// `runs` has one at least; `now` is when those end that go on.
    pub fn new(mut runs: Vec<Run>, lives: Vec<&Life>, now: TimeMs, is_lower_bound: bool) -> Self {
        runs.sort_by_key(|run| (run.from, run.number));
        let lives = &*distinct(lives);
        let from = runs.iter().map(|run| run.from).min().unwrap_or(now);
        let to = if runs.iter().any(Run::is_open) { None } else { runs.iter().filter_map(|run| run.to).max() };
        let until = to.unwrap_or(now).max(from);
        let windows = windows(&runs, now);
        let waits = waits(lives, &windows);
        let root = root::root_of(lives, &waits, from, until);
        let (ended_by, ended_with) = ended_by(&runs, lives, root.as_ref(), to);
        let mut of_sessions = BTreeMap::<SessionId, i64>::new();
        for wait in &waits {
            if let Some(session) = wait.life.session {
                *of_sessions.entry(session).or_default() += wait.ms();
            }
        }
        let victims = of_sessions.values().filter(|ms| **ms >= VICTIM_MS).count();
        let shape = shape::shape_of(&runs, lives, (from, until), victims);
        let mut incident = Self {
            number: runs.first().map_or(0, |run| run.number),
            from,
            to,
            worst: runs.iter().map(|run| run.worst).max().unwrap_or(Verdict::Unknown),
            findings: runs.iter().flat_map(|run| run.findings.iter().cloned()).collect(),
            recipe: None,
            shape,
            victims,
            victims_peak: peak(&waits),
            waiting_ms: waits.iter().map(Wait::ms).sum(),
            is_lower_bound,
            ended_by,
            ended_with,
            root,
            runs,
        };
        let named = lives.iter().find(|life| *life.lock == *incident.root_lock());
        incident.recipe = named.map(|life| life.recipe.clone());
        incident
    }

    /// Its number, as it is written.
    pub fn id(&self) -> String {
        format!("{:x}", self.number)
    }

    /// Its locks, in the order in which trouble began.
    pub fn locks(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        self.runs.iter().map(|run| &*run.lock).filter(|lock| seen.insert(*lock)).collect()
    }

    /// The lock that names it: that of its root, or the one with the worst verdict.
    pub fn root_lock(&self) -> &str {
        let worst = || self.runs.iter().min_by_key(|run| (std::cmp::Reverse(run.worst), run.from));
        self.root.as_ref().map(|root| &*root.lock).or_else(|| worst().map(|run| &*run.lock)).unwrap_or_default()
    }

    pub fn is_harm(&self) -> bool {
        self.victims > 0 || self.runs.iter().any(|run| run.harm == Harm::Everybody)
    }

    /// When it ended, or how far it is.
    pub fn until(&self, now: TimeMs) -> TimeMs {
        self.to.unwrap_or(now).max(self.from)
    }
}

/// The same life may be of two runs of one lock, and have ended while it was looked at.
fn distinct(mut lives: Vec<&Life>) -> Vec<&Life> {
    lives.sort_by_key(|life| (&life.lock, life.czxid, life.left_at.is_none()));
    lives.dedup_by_key(|life| (&life.lock, life.czxid));
    lives
}

/// A wait, as far as it lies within an incident.
#[derive(Debug)]
struct Wait<'a> {
    life: &'a Life,
    from: TimeMs,
    to: TimeMs,
}

impl Wait<'_> {
    fn ms(&self) -> i64 {
        self.to.since(self.from).max(0)
    }
}

/// When something was wrong with each lock: from its first run to the end of its last.
fn windows(runs: &[Run], now: TimeMs) -> BTreeMap<&str, (TimeMs, TimeMs)> {
    let mut windows = BTreeMap::<&str, (TimeMs, TimeMs)>::new();
    for run in runs {
        let (from, to) = (run.from, run.until(now));
        let window = windows.entry(&run.lock).or_insert((from, to));
        *window = (window.0.min(from), window.1.max(to));
    }
    windows
}

fn waits<'a>(lives: &[&'a Life], windows: &BTreeMap<&str, (TimeMs, TimeMs)>) -> Vec<Wait<'a>> {
    let within = |life: &&'a Life| {
        let (from, to) = windows.get(&*life.lock).copied()?;
        let (began, ended) = life.wait()?;
        let wait = Wait { life, from: from.max(began), to: ended.map_or(to, |ended| ended.min(to)) };
        (wait.ms() > 0).then_some(wait)
    };
    lives.iter().filter_map(within).collect()
}

fn peak(waits: &[Wait<'_>]) -> usize {
    let mut steps: Vec<(TimeMs, i64)> = waits.iter().flat_map(|wait| [(wait.from, 1), (wait.to, -1)]).collect();
    // Whoever leaves does so before others come.
    steps.sort_unstable();
    let (mut now, mut most) = (0_i64, 0_i64);
    for (_, step) in steps {
        now += step;
        most = most.max(now);
    }
    usize::try_from(most).unwrap_or(0)
}

/// What ended near an incident's end: a release through Lockscope counts before anything else, then what the root did.
fn ended_by(
    runs: &[Run],
    lives: &[&Life],
    root: Option<&IncidentRoot>,
    to: Option<TimeMs>,
) -> (IncidentEnd, Option<Zxid>) {
    let Some(to) = to else { return (IncidentEnd::Still, None) };
    if runs.iter().any(|run| run.is_cut && run.to == Some(to)) {
        return (IncidentEnd::Unknown, None);
    }
    let earliest_ms = if runs.iter().any(|run| !run.findings.is_empty()) { -END_MS - run::LAG_MS } else { -END_MS };
    // Before it or after it: `TimeMs::since` is never negative.
    let from_end_ms = |left: TimeMs| left.0.saturating_sub(to.0);
    let is_near = |life: &&&Life| life.left_at.is_some_and(|left| (earliest_ms..=END_MS).contains(&from_end_ms(left)));
    let of_root =
        |life: &Life| root.is_some_and(|root| root.session == life.session && life.held_at == Some(root.held_at));
    let rank = |life: &Life| {
        let end = match life.how? {
            SpanEnd::Forced => IncidentEnd::Forced,
            SpanEnd::Released => IncidentEnd::Released,
            SpanEnd::SessionEnded if life.held_at.is_some() => IncidentEnd::SessionEnded,
            SpanEnd::Unknown => IncidentEnd::Unknown,
            SpanEnd::GaveUp | SpanEnd::SessionEnded => IncidentEnd::GaveUp,
        };
        let is_last = matches!(end, IncidentEnd::GaveUp | IncidentEnd::Unknown);
        Some((
            end != IncidentEnd::Forced,
            !of_root(life),
            is_last,
            life.left_at.map(|left| from_end_ms(left).abs()),
            end,
            life.czxid,
        ))
    };
    let nearest =
        lives.iter().filter(is_near).filter_map(|life| rank(life)).min_by_key(|rank| (rank.0, rank.1, rank.2, rank.3));
    nearest.map_or((IncidentEnd::Recovered, None), |(.., end, czxid)| (end, Some(czxid)))
}
