//! The status page in words. Pure.

use crate::format::{bytes, count, duration, plural, visible};
use lockscope_view::{
    EnsembleStatus, ExcludedStatus, HistoryStatus, Link, MemberRole, MemberStatus, Proof, RootState, SourceState,
};

pub(super) const NONE: &str = "none";
pub(super) const NO_FILE: &str = "flags and environment";

pub(super) const HISTORY_OFF: &str = "off; the settings history and data_dir turn it on";
/// Of a past that was made up, before the moment up to which it was; and of one that another server records.
pub(super) const GENERATED_UNTIL: &str = "generated for the demo, not observed, up to ";
pub(super) const STANDBY: &str = "recorded by another server; this one takes over when that one is gone";

pub(super) fn kept(history: &HistoryStatus) -> String {
    let rate = format!("{}, {}/s", bytes(history.bytes), bytes(history.bytes_per_s));
    if history.gaps == 0 {
        return format!("{rate}, no gaps");
    }
    format!("{rate}, {} of {} together", plural(history.gaps, "gap", "gaps"), duration(history.gap_ms))
}

pub(super) fn releases(is_read_only: bool) -> &'static str {
    if is_read_only { "nobody may: this server is read-only" } else { "operators may" }
}

pub(super) fn waits_for_restart(keys: &[String]) -> String {
    format!("waits for a restart: {}", keys.join(", "))
}

pub(super) fn ensemble(name: &str) -> String {
    format!("Ensemble {}", visible(name))
}

pub(super) fn link_word(link: Link) -> &'static str {
    match link {
        Link::Live => "live",
        Link::Syncing => "syncing: reading everything again",
        Link::Stale => "stale: no answer",
        Link::Lost => "lost: no session",
    }
}

pub(super) fn root_word(state: RootState) -> &'static str {
    if state == RootState::Past { "as it was" } else { state.name() }
}

pub(super) fn proof(proof: Proof) -> String {
    let parts = [("answer", proof.answer), ("epoch", proof.epoch), ("quorum", proof.quorum)];
    parts.map(|(part, state)| format!("{part} {}", state.name())).join(", ")
}

pub(super) const PROOF: &str = "Answer: our member answers in time. Epoch: no member reports a newer epoch than ours. Quorum: the leader has a quorum in sync (mntr), or commits our writes (clock_scratch). Missing: no member can be asked for it.";

pub(super) fn offset(ms: Option<i64>, error_ms: Option<i64>) -> String {
    let error = error_ms.map_or("unknown".to_owned(), |ms| format!("{} ms", ms.max(0)));
    match ms {
        None => "not known yet".to_owned(),
        Some(ms) if ms < 0 => format!("ours is {} behind (±{error})", duration(ms.saturating_neg())),
        Some(ms) => format!("ours is {} ahead (±{error})", duration(ms)),
    }
}

/// Patterns of what is left out that are named; the API has all.
const PATTERNS_MAX: usize = 5;

fn never_read(excluded: &ExcludedStatus) -> String {
    let named = excluded.patterns.iter().take(PATTERNS_MAX).map(|pattern| visible(pattern));
    let more = excluded.patterns.len().saturating_sub(PATTERNS_MAX);
    let more = (more > 0).then(|| format!("{more} more"));
    let patterns = named.chain(more).collect::<Vec<_>>().join(", ");
    format!("{patterns}: about {} left out", plural(excluded.paths, "znode", "znodes"))
}

pub(super) fn counters(ensemble: &EnsembleStatus) -> [(&'static str, Option<String>); 5] {
    let too_late = |number: u64| format!("{} went before they could be read", plural(number, "znode", "znodes"));
    [
        ("Changes processed", ensemble.events.map(count)),
        ("Full re-reads", ensemble.resyncs.map(count)),
        ("Changes missed", ensemble.missed.map(count)),
        ("Owner unknown", ensemble.owner_unknown.map(too_late)),
        ("Never read", ensemble.excluded.as_ref().map(never_read)),
    ]
}

pub(super) fn state_word(state: SourceState) -> &'static str {
    if state == SourceState::NotAsked { "not asked" } else { state.name() }
}

pub(super) fn meaning(state: SourceState) -> &'static str {
    match state {
        SourceState::Ok => "Answered",
        SourceState::Off => "Nobody listens, or it is switched off",
        SourceState::Denied => "Refused",
        SourceState::Error => "Asked, and the answer was none",
        SourceState::Spared => "Not asked, because it would cost the member too much",
        SourceState::NotAsked => "Not asked yet, or not needed now",
    }
}

pub(super) fn role(member: &MemberStatus) -> Option<&'static str> {
    if member.is_down { Some("down") } else { member.role.map(role_word) }
}

fn role_word(role: MemberRole) -> &'static str {
    if role == MemberRole::ReadOnly { "read-only" } else { role.name() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::ProofPart;

    #[test]
    fn a_proof_names_its_parts() {
        let proved = Proof { answer: ProofPart::Proved, epoch: ProofPart::Failed, ..Proof::default() };
        assert_eq!(proof(proved), "answer proved, epoch failed, quorum missing");
    }

    #[test]
    fn a_history_says_its_size_and_what_is_missing() {
        let whole = HistoryStatus { bytes: 4_200_000_000, bytes_per_s: 2_500, ..HistoryStatus::default() };
        assert_eq!(kept(&whole), "4.2 GB, 2.5 KB/s, no gaps");
        let gaps = HistoryStatus { gaps: 2, gap_ms: 90_000, ..whole };
        assert_eq!(kept(&gaps), "4.2 GB, 2.5 KB/s, 2 gaps of 1 min 30 s together");
    }
}
