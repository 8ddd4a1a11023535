//! Converts the model's closed enums to the wire's, one function each, matched exhaustively.

use lockscope_core::missing::{Missing as ModelMissing, MissingSet};
use lockscope_core::observatory::RootState as ModelRootState;
use lockscope_core::recipe::{Access as ModelAccess, Confidence as ModelConfidence, Recipe as ModelRecipe};
use lockscope_core::time_to_lock::NoEstimate;
use lockscope_core::verdict::Verdict as ModelVerdict;
use lockscope_wire as wire;
use lockscope_wire::words::count;

pub(super) fn wire_confidence(confidence: ModelConfidence) -> wire::Confidence {
    match confidence {
        ModelConfidence::High => wire::Confidence::High,
        ModelConfidence::Medium => wire::Confidence::Medium,
        ModelConfidence::Low => wire::Confidence::Low,
    }
}

pub(super) fn wire_access(access: ModelAccess) -> wire::Access {
    match access {
        ModelAccess::Exclusive => wire::Access::Exclusive,
        ModelAccess::Read => wire::Access::Read,
        ModelAccess::Write => wire::Access::Write,
        ModelAccess::Lease => wire::Access::Lease,
        ModelAccess::Leader => wire::Access::Leader,
        ModelAccess::Member => wire::Access::Member,
        ModelAccess::Item => wire::Access::Item,
    }
}

pub(super) fn wire_recipe(recipe: ModelRecipe) -> wire::Recipe {
    match recipe {
        ModelRecipe::SequentialMutex => wire::Recipe::SequentialMutex,
        ModelRecipe::ReadWrite => wire::Recipe::ReadWrite,
        ModelRecipe::Semaphore => wire::Recipe::Semaphore,
        ModelRecipe::SingleNodeMutex => wire::Recipe::SingleNodeMutex,
        ModelRecipe::Election => wire::Recipe::Election,
        ModelRecipe::Barrier => wire::Recipe::Barrier,
        ModelRecipe::DoubleBarrier => wire::Recipe::DoubleBarrier,
        ModelRecipe::Queue => wire::Recipe::Queue,
        ModelRecipe::Membership => wire::Recipe::Membership,
        ModelRecipe::Unknown => wire::Recipe::Unknown,
    }
}

pub(super) fn wire_no_estimate(reason: NoEstimate) -> wire::NoEstimateReason {
    match reason {
        NoEstimate::NotAQueue => wire::NoEstimateReason::NotAQueue,
        NoEstimate::TooFewHolds => wire::NoEstimateReason::TooFewHolds,
        NoEstimate::HolderAgeUnknown => wire::NoEstimateReason::HolderAgeUnknown,
        NoEstimate::HolderBeyondSeen => wire::NoEstimateReason::HolderBeyondSeen,
        NoEstimate::Deadlocked => wire::NoEstimateReason::Deadlocked,
        NoEstimate::Stuck => wire::NoEstimateReason::Stuck,
        NoEstimate::HolderGone => wire::NoEstimateReason::HolderGone,
        NoEstimate::HolderBlocked => wire::NoEstimateReason::HolderBlocked,
        NoEstimate::NotWatching => wire::NoEstimateReason::NotWatching,
        NoEstimate::Incomplete => wire::NoEstimateReason::Incomplete,
        NoEstimate::NotLive => wire::NoEstimateReason::NotLive,
        NoEstimate::TooManyHolders => wire::NoEstimateReason::TooManyHolders,
        NoEstimate::TooFarBack => wire::NoEstimateReason::TooFarBack,
    }
}

pub(super) fn wire_verdict(verdict: ModelVerdict) -> wire::Verdict {
    match verdict {
        ModelVerdict::Free => wire::Verdict::Free,
        ModelVerdict::Healthy => wire::Verdict::Healthy,
        ModelVerdict::Unknown => wire::Verdict::Unknown,
        ModelVerdict::Slow => wire::Verdict::Slow,
        ModelVerdict::Expiring => wire::Verdict::Expiring,
        ModelVerdict::NobodyHome => wire::Verdict::NobodyHome,
        ModelVerdict::Orphan => wire::Verdict::Orphan,
        ModelVerdict::Stuck => wire::Verdict::Stuck,
        ModelVerdict::MaybeDeadlocked => wire::Verdict::MaybeDeadlocked,
        ModelVerdict::DoubleOwner => wire::Verdict::DoubleOwner,
        ModelVerdict::Deadlocked => wire::Verdict::Deadlocked,
    }
}

pub(super) fn wire_root_state(state: ModelRootState) -> wire::RootState {
    match state {
        ModelRootState::Live => wire::RootState::Live,
        ModelRootState::Syncing => wire::RootState::Syncing,
        ModelRootState::Stale => wire::RootState::Stale,
        ModelRootState::Partial => wire::RootState::Partial,
        ModelRootState::Denied => wire::RootState::Denied,
        ModelRootState::Gone => wire::RootState::Gone,
        ModelRootState::Reduced => wire::RootState::Reduced,
    }
}

pub(super) fn wire_missing(missing: MissingSet) -> Vec<wire::Missing> {
    let name = |missing| match missing {
        ModelMissing::UnreadableChildren => wire::Missing::UnreadableChildren,
        ModelMissing::Unswept => wire::Missing::Unswept,
        ModelMissing::WatchesNotRead => wire::Missing::WatchesNotRead,
        ModelMissing::WaitersWithoutZnodes => wire::Missing::WaitersWithoutZnodes,
    };
    missing.iter().map(name).collect()
}

/// What to make of a root that has no lock, and what helps; nothing while it is being read.
pub fn root_help(state: wire::RootState, znodes: u64, connect: &str) -> String {
    use wire::RootState;
    match state {
        RootState::Stale if znodes == 0 => format!(
            "Asked: {connect}. Is that the client port, 2181 as a rule? Can this machine reach it, through firewalls and DNS? If the ensemble \
             wants TLS or a password, it must be configured here too."
        ),
        RootState::Denied => {
            "Grant the identity that Lockscope uses READ on it and on all below, or configure credentials that have it."
                .to_owned()
        }
        RootState::Gone => {
            "There is no such znode. It is watched for, and read as soon as somebody makes it; is the path right?"
                .to_owned()
        }
        RootState::Syncing | RootState::Past => String::new(),
        RootState::Live | RootState::Partial | RootState::Reduced | RootState::Stale if znodes == 1 => {
            "1 znode seen, and it is no lock.".to_owned()
        }
        RootState::Live | RootState::Partial | RootState::Reduced | RootState::Stale => {
            format!("{} znodes seen, none of them a lock.", count(znodes))
        }
    }
}

#[cfg(test)]
mod tests {
    use lockscope_core::label::text_label_of;

    /// What a label escapes is what the page makes visible; the core keeps a list of its own.
    #[test]
    fn what_labels_escape_is_made_visible() {
        for char in (0..=0x0010_ffff).filter_map(char::from_u32).filter(|char| !char.is_whitespace()) {
            let label = text_label_of("", format!("host-name{char}x").as_bytes()).unwrap_or_default();
            let shown = lockscope_wire::visible(&char.to_string());
            assert_eq!(label.contains("\\u{"), shown != char.to_string(), "{:x}", u32::from(char));
        }
    }
}
