//! The numbers of ensembles as samples. Pure.

use lockscope_view as view;

use super::catalogue::Family;
use super::text::Exposition;
use lockscope_live::project::{EnsembleCounters, LockSnapshot, Snapshot};

/// The path of the series for all other locks: no path of a znode looks like it.
pub const OTHER: &str = "_other";

const PPM: f64 = 1_000_000.0;

pub(super) fn tell(figures: &Snapshot, out: &mut Exposition) {
    let ensemble = figures.ensemble.as_str();
    locks(figures, out);
    out.one_of(Family::LinkState, &[ensemble], view::Link::ALL.map(view::Link::name), figures.link.name());
    figures.age_ms.into_iter().for_each(|ms| out.ms(Family::ViewAge, &[ensemble], ms));
    for root in &figures.roots {
        let states = view::RootState::ALL.map(view::RootState::name);
        out.one_of(Family::RootState, &[ensemble, &root.path], states, root.state.name());
        out.count(Family::RootLocks, &[ensemble, &root.path], root.locks);
        out.count(Family::RootZnodes, &[ensemble, &root.path], root.znodes);
    }
    for member in &figures.members {
        let sources = [
            ("connections", member.connections),
            ("watches", member.watches),
            ("sessions", member.sessions),
            ("health", member.health),
        ];
        for (source, state) in sources {
            let states = view::SourceState::ALL.map(view::SourceState::name);
            out.one_of(Family::EvidenceSource, &[ensemble, &member.member, source], states, state.name());
        }
    }
    for (family, ms) in [(Family::ClockOffset, figures.clock_offset_ms), (Family::ClockError, figures.clock_error_ms)] {
        ms.into_iter().for_each(|ms| out.ms(family, &[ensemble], ms));
    }
    if let Some(counted) = &figures.counted {
        totals(ensemble, counted, out);
    }
}

fn locks(figures: &Snapshot, out: &mut Exposition) {
    let (ensemble, all) = (figures.ensemble.as_str(), &figures.all);
    for (verdict, count) in view::Verdict::ALL.into_iter().zip(figures.verdicts) {
        out.count(Family::Locks, &[ensemble, verdict.name()], count);
    }
    for (missing, count) in view::Missing::ALL.into_iter().zip(figures.missing) {
        out.count(Family::LocksIncomplete, &[ensemble, missing.name()], count);
    }
    out.count(Family::LocksHeld, &[ensemble], all.held);
    out.count(Family::LocksContended, &[ensemble], all.contended);
    out.count(Family::Holders, &[ensemble], all.holders);
    out.count(Family::Waiters, &[ensemble], all.waiters);
    out.ms(Family::OldestWait, &[ensemble], all.oldest_wait_ms);
    out.ms(Family::LongestHold, &[ensemble], all.hold_ms);
    out.add(Family::SequenceUsed, &[ensemble], ratio(all.sequence_used_ppm));
    out.count(Family::Deadlocks, &[ensemble], figures.deadlocks);
    out.count(Family::MaybeDeadlocks, &[ensemble], figures.maybe_deadlocks);
    out.count(Family::OtherLocks, &[ensemble], figures.rest.locks);
    for ((code, severity), count) in &figures.findings {
        out.count(Family::Findings, &[ensemble, code, severity], *count);
    }
    for one in &figures.apart {
        lock(ensemble, &one.path, one, out);
    }
    lock(ensemble, OTHER, &figures.rest, out);
}

fn lock(ensemble: &str, path: &str, figures: &LockSnapshot, out: &mut Exposition) {
    let labels = [ensemble, path];
    out.count(Family::LockHolders, &labels, figures.holders);
    if !figures.may_hide_waiters {
        out.count(Family::LockWaiters, &labels, figures.waiters);
        out.ms(Family::LockOldestWait, &labels, figures.oldest_wait_ms);
    }
    out.ms(Family::LockHold, &labels, figures.hold_ms);
    out.add(Family::LockSequenceUsed, &labels, ratio(figures.sequence_used_ppm));
}

fn totals(ensemble: &str, counted: &EnsembleCounters, out: &mut Exposition) {
    let counters = [
        (Family::Changes, counted.changes),
        (Family::Events, counted.events),
        (Family::Missed, counted.missed),
        (Family::OwnerUnknown, counted.owner_unknown),
        (Family::EvidenceRounds, counted.rounds),
    ];
    for (family, count) in counters {
        out.count(family, &[ensemble], count);
    }
    for (family, durations) in [
        (Family::WaitDuration, &counted.waits),
        (Family::HoldDuration, &counted.holds),
        (Family::EventLag, &counted.lag),
    ] {
        out.durations(family, &[ensemble], durations);
    }
}

#[expect(clippy::cast_precision_loss, reason = "at most a few millions")]
fn ratio(ppm: u64) -> f64 {
    ppm as f64 / PPM
}
