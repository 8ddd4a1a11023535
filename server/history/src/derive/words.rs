//! Names of what the core has no names for, as on the wire, and one sentence for each fact.

use std::sync::Arc;

use lockscope_core::diagnosis::{Code, Severity, Verdict};
use lockscope_core::observation::Link;
use lockscope_core::recipe::Recipe;
use lockscope_core::root::RootState;
use lockscope_core::time::TimeMs;

use super::event::Event;
use crate::store::rows::{Fact, FactKind};

pub fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Free => "free",
        Verdict::Healthy => "healthy",
        Verdict::Unknown => "unknown",
        Verdict::Slow => "slow",
        Verdict::Expiring => "expiring",
        Verdict::NobodyHome => "nobody_home",
        Verdict::Orphan => "orphan",
        Verdict::Stuck => "stuck",
        Verdict::MaybeDeadlocked => "maybe_deadlocked",
        Verdict::DoubleOwner => "double_owner",
        Verdict::Deadlocked => "deadlocked",
    }
}

pub fn verdict_of(name: &str) -> Option<Verdict> {
    let all = [
        Verdict::Free,
        Verdict::Healthy,
        Verdict::Unknown,
        Verdict::Slow,
        Verdict::Expiring,
        Verdict::NobodyHome,
        Verdict::Orphan,
        Verdict::Stuck,
        Verdict::MaybeDeadlocked,
        Verdict::DoubleOwner,
        Verdict::Deadlocked,
    ];
    all.into_iter().find(|verdict| verdict_name(*verdict) == name)
}

pub fn is_trouble(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Free | Verdict::Healthy | Verdict::Unknown => false,
        Verdict::Slow
        | Verdict::Expiring
        | Verdict::NobodyHome
        | Verdict::Orphan
        | Verdict::Stuck
        | Verdict::MaybeDeadlocked
        | Verdict::DoubleOwner
        | Verdict::Deadlocked => true,
    }
}

fn verdict_severity(verdict: Verdict) -> Severity {
    match verdict {
        Verdict::Free | Verdict::Healthy | Verdict::Unknown => Severity::Info,
        Verdict::Slow | Verdict::Expiring => Severity::Warning,
        Verdict::NobodyHome
        | Verdict::Orphan
        | Verdict::Stuck
        | Verdict::MaybeDeadlocked
        | Verdict::DoubleOwner
        | Verdict::Deadlocked => Severity::Critical,
    }
}

/// What a lock became, in one sentence.
fn verdict_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Free => "It is free.",
        Verdict::Healthy => "It is healthy again.",
        Verdict::Unknown => "Who holds it is not known.",
        Verdict::Slow => "It is held for longer than usual.",
        Verdict::Expiring => "Nobody who holds it is connected; the session runs out by itself.",
        Verdict::NobodyHome => "Its directory is gone and was not made again.",
        Verdict::Orphan => "A znode that no session owns is at its head.",
        Verdict::Stuck => "It is stuck: its holder keeps it far longer than usual, and others wait.",
        Verdict::MaybeDeadlocked => "It may be part of a deadlock.",
        Verdict::DoubleOwner => "Two hold it at once.",
        Verdict::Deadlocked => "It is deadlocked.",
    }
}

pub(super) fn recipe_name(recipe: Recipe) -> &'static str {
    match recipe {
        Recipe::SequentialMutex => "sequential_mutex",
        Recipe::ReadWrite => "read_write",
        Recipe::Semaphore => "semaphore",
        Recipe::SingleNodeMutex => "single_node_mutex",
        Recipe::Election => "election",
        Recipe::Barrier => "barrier",
        Recipe::DoubleBarrier => "double_barrier",
        Recipe::Queue => "queue",
        Recipe::Membership => "membership",
        Recipe::Unknown => "unknown",
    }
}

fn link_name(link: Link) -> &'static str {
    match link {
        Link::Live => "live",
        Link::Stale => "stale",
        Link::Lost => "lost",
    }
}

fn state_name(state: RootState) -> &'static str {
    match state {
        RootState::Live => "live",
        RootState::Syncing => "syncing",
        RootState::Stale => "stale",
        RootState::Partial => "partial",
        RootState::Denied => "denied",
        RootState::Gone => "gone",
        RootState::Reduced => "reduced",
    }
}

fn state_severity(state: RootState) -> Severity {
    match state {
        RootState::Live | RootState::Syncing => Severity::Info,
        RootState::Stale | RootState::Partial | RootState::Reduced => Severity::Warning,
        RootState::Denied | RootState::Gone => Severity::Critical,
    }
}

/// What a fact says, before it has a number.
pub(super) struct Said {
    pub(super) lock: Option<Box<str>>,
    pub(super) kind: FactKind,
    pub(super) code: Box<str>,
    pub(super) severity: Severity,
    pub(super) text: Box<str>,
}

impl Said {
    fn of(lock: Option<&str>, kind: FactKind, code: &str, severity: Severity, text: String) -> Self {
        Self { lock: lock.map(Into::into), kind, code: code.into(), severity, text: text.into() }
    }

    pub(super) fn numbered(self, number: u64, at: TimeMs) -> Fact {
        let Self { lock, kind, code, severity, text } = self;
        Fact { number, at, lock, kind, code, severity: severity_number(severity), text }
    }
}

/// How bad a verdict is: 0 for worth knowing, 1 for worth a look, 2 for act.
pub fn severity_of(verdict: Verdict) -> u8 {
    severity_number(verdict_severity(verdict))
}

fn severity_number(severity: Severity) -> u8 {
    match severity {
        Severity::Info => 0,
        Severity::Warning => 1,
        Severity::Critical => 2,
    }
}

/// The facts that an event is; none where it is none. A verdict is one only where something is wrong before or after: that a
/// lock is held and free again is no news. A deadlock is one of each of its locks, so that who may see some of them sees it
/// there.
pub(super) fn facts_of(event: &Event, before: Option<Verdict>) -> Vec<Said> {
    let one = match event {
        // What is there when it is looked at first, or anew, may be in trouble already, or no longer; its verdict may be told
        // once more with what made it.
        Event::Verdict { lock, verdict } | Event::Whole { lock, verdict, .. } => {
            if before == Some(*verdict) {
                return Vec::new();
            }
            if !is_trouble(*verdict) && !before.is_some_and(is_trouble) {
                return Vec::new();
            }
            verdict_said(lock, *verdict)
        }
        Event::Finding { lock, code, raised } => {
            let name = code.name();
            let (severity, text) = match raised {
                Some((severity, text)) => (*severity, text.to_string()),
                None => (Severity::Info, "It is no longer so.".to_owned()),
            };
            Said::of(Some(lock), FactKind::Finding, name, severity, text)
        }
        Event::Link(link) => {
            let (name, is_well) = (link_name(*link), *link == Link::Live);
            let severity = if is_well { Severity::Info } else { Severity::Warning };
            Said::of(None, FactKind::Link, name, severity, format!("The link to ZooKeeper is {name}."))
        }
        Event::Root { path, state } => {
            let name = state_name(*state);
            Said::of(Some(path), FactKind::Root, name, state_severity(*state), format!("The root is {name}."))
        }
        Event::Deadlock { locks, is_closed } => return locks.iter().map(|lock| deadlock(lock, *is_closed)).collect(),
        Event::Offset(_)
        | Event::Came { .. }
        | Event::Held { .. }
        | Event::Left { .. }
        | Event::NoContender { .. }
        | Event::Vanished { .. }
        | Event::Watchers { .. }
        | Event::SessionEnded { .. } => return Vec::new(),
    };
    vec![one]
}

/// What is odd about a lock still, or again: that is told behind each gap.
pub(super) fn findings_again(lock: &Arc<str>, findings: &[(Code, Severity, Box<str>)]) -> Vec<Event> {
    let again = |(code, severity, text): &(Code, Severity, Box<str>)| Event::Finding {
        lock: Arc::clone(lock),
        code: *code,
        raised: Some((*severity, text.clone())),
    };
    findings.iter().map(again).collect()
}

pub(super) fn verdict_said(lock: &str, verdict: Verdict) -> Said {
    let (name, severity) = (verdict_name(verdict), verdict_severity(verdict));
    Said::of(Some(lock), FactKind::Verdict, name, severity, verdict_words(verdict).to_owned())
}

/// A lock that was in trouble is shown no longer.
pub(super) fn vanished(lock: &str) -> Said {
    let text = "It is there no longer.".to_owned();
    Said::of(Some(lock), FactKind::Verdict, verdict_name(Verdict::Free), Severity::Info, text)
}

/// Somebody released a lock through Lockscope.
pub(super) fn released(lock: &str) -> Said {
    let text = "Somebody released it through Lockscope.".to_owned();
    Said::of(Some(lock), FactKind::Release, "released", Severity::Warning, text)
}

fn deadlock(lock: &Arc<str>, is_closed: bool) -> Said {
    let (code, severity, text) = match is_closed {
        true => ("closed", Severity::Critical, "It is part of a deadlock that closed."),
        false => ("opened", Severity::Info, "A deadlock that it was part of came apart."),
    };
    Said::of(Some(lock), FactKind::Deadlock, code, severity, text.to_owned())
}
