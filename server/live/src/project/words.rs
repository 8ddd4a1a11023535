//! Converts the model's closed enums to the wire's, one function each, matched exhaustively.

use lockscope_core::finding::Severity as ModelSeverity;
use lockscope_core::missing::{Missing as ModelMissing, MissingSet};
use lockscope_core::recipe::{Access as ModelAccess, Confidence as ModelConfidence, Recipe as ModelRecipe};
use lockscope_core::root::RootState as ModelRootState;
use lockscope_core::time_to_lock::NoEstimate;
use lockscope_core::verdict::Verdict as ModelVerdict;
use lockscope_view as view;
use lockscope_view::words::count;

pub(super) fn view_confidence(confidence: ModelConfidence) -> view::Confidence {
    match confidence {
        ModelConfidence::High => view::Confidence::High,
        ModelConfidence::Medium => view::Confidence::Medium,
        ModelConfidence::Low => view::Confidence::Low,
    }
}

pub(super) fn view_access(access: ModelAccess) -> view::Access {
    match access {
        ModelAccess::Exclusive => view::Access::Exclusive,
        ModelAccess::Read => view::Access::Read,
        ModelAccess::Write => view::Access::Write,
        ModelAccess::Lease => view::Access::Lease,
        ModelAccess::Leader => view::Access::Leader,
        ModelAccess::Member => view::Access::Member,
        ModelAccess::Item => view::Access::Item,
    }
}

pub(super) fn view_recipe(recipe: ModelRecipe) -> view::Recipe {
    match recipe {
        ModelRecipe::SequentialMutex => view::Recipe::SequentialMutex,
        ModelRecipe::ReadWrite => view::Recipe::ReadWrite,
        ModelRecipe::Semaphore => view::Recipe::Semaphore,
        ModelRecipe::SingleNodeMutex => view::Recipe::SingleNodeMutex,
        ModelRecipe::Election => view::Recipe::Election,
        ModelRecipe::Barrier => view::Recipe::Barrier,
        ModelRecipe::DoubleBarrier => view::Recipe::DoubleBarrier,
        ModelRecipe::Queue => view::Recipe::Queue,
        ModelRecipe::Membership => view::Recipe::Membership,
        ModelRecipe::Unknown => view::Recipe::Unknown,
    }
}

pub(super) fn view_severity(severity: ModelSeverity) -> view::Severity {
    match severity {
        ModelSeverity::Info => view::Severity::Info,
        ModelSeverity::Warning => view::Severity::Warning,
        ModelSeverity::Critical => view::Severity::Critical,
    }
}

pub(super) fn view_no_estimate(reason: NoEstimate) -> view::NoEstimateReason {
    match reason {
        NoEstimate::NotAQueue => view::NoEstimateReason::NotAQueue,
        NoEstimate::TooFewHolds => view::NoEstimateReason::TooFewHolds,
        NoEstimate::HolderAgeUnknown => view::NoEstimateReason::HolderAgeUnknown,
        NoEstimate::HolderBeyondSeen => view::NoEstimateReason::HolderBeyondSeen,
        NoEstimate::Deadlocked => view::NoEstimateReason::Deadlocked,
        NoEstimate::Stuck => view::NoEstimateReason::Stuck,
        NoEstimate::HolderGone => view::NoEstimateReason::HolderGone,
        NoEstimate::HolderBlocked => view::NoEstimateReason::HolderBlocked,
        NoEstimate::NotWatching => view::NoEstimateReason::NotWatching,
        NoEstimate::Incomplete => view::NoEstimateReason::Incomplete,
        NoEstimate::NotLive => view::NoEstimateReason::NotLive,
        NoEstimate::TooManyHolders => view::NoEstimateReason::TooManyHolders,
        NoEstimate::TooFarBack => view::NoEstimateReason::TooFarBack,
    }
}

pub(super) fn view_verdict(verdict: ModelVerdict) -> view::Verdict {
    match verdict {
        ModelVerdict::Free => view::Verdict::Free,
        ModelVerdict::Healthy => view::Verdict::Healthy,
        ModelVerdict::Unknown => view::Verdict::Unknown,
        ModelVerdict::Slow => view::Verdict::Slow,
        ModelVerdict::Expiring => view::Verdict::Expiring,
        ModelVerdict::NobodyHome => view::Verdict::NobodyHome,
        ModelVerdict::Orphan => view::Verdict::Orphan,
        ModelVerdict::Stuck => view::Verdict::Stuck,
        ModelVerdict::MaybeDeadlocked => view::Verdict::MaybeDeadlocked,
        ModelVerdict::DoubleOwner => view::Verdict::DoubleOwner,
        ModelVerdict::Deadlocked => view::Verdict::Deadlocked,
    }
}

pub(super) fn view_root_state(state: ModelRootState) -> view::RootState {
    match state {
        ModelRootState::Live => view::RootState::Live,
        ModelRootState::Syncing => view::RootState::Syncing,
        ModelRootState::Stale => view::RootState::Stale,
        ModelRootState::Partial => view::RootState::Partial,
        ModelRootState::Denied => view::RootState::Denied,
        ModelRootState::Gone => view::RootState::Gone,
        ModelRootState::Reduced => view::RootState::Reduced,
    }
}

pub(super) fn view_missing(missing: MissingSet) -> Vec<view::Missing> {
    let name = |missing| match missing {
        ModelMissing::UnreadableChildren => view::Missing::UnreadableChildren,
        ModelMissing::Unswept => view::Missing::Unswept,
        ModelMissing::WatchesNotRead => view::Missing::WatchesNotRead,
        ModelMissing::WaitersWithoutZnodes => view::Missing::WaitersWithoutZnodes,
    };
    missing.iter().map(name).collect()
}

/// What to make of a root that has no lock, and what helps; nothing while it is being read.
pub fn root_help(state: view::RootState, znodes: u64, connect: &str) -> String {
    use view::RootState;
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
            let shown = lockscope_view::visible(&char.to_string());
            assert_eq!(label.contains("\\u{"), shown != char.to_string(), "{:x}", u32::from(char));
        }
    }
}
