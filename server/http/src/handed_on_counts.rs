//! How often something was handed on between replicas, and what came of it.

use std::sync::atomic::{AtomicU64, Ordering};

use super::handed_on::HandedOnKind;

/// What came of a request that was handed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HandedOnEnd {
    /// The beginning of an answer came, whatever it says.
    Answered,
    /// Nothing was sent.
    NotSent,
    /// It may have come, and no answer did.
    NoAnswer,
}

impl HandedOnEnd {
    pub(super) const ALL: [Self; 3] = [Self::Answered, Self::NotSent, Self::NoAnswer];

    /// Its name in metrics.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::NotSent => "not_sent",
            Self::NoAnswer => "no_answer",
        }
    }
}

/// Counted since the process began.
#[derive(Debug, Default)]
pub(super) struct HandedOnCounts {
    sent: [[AtomicU64; 3]; 3],
    taken: [AtomicU64; 3],
}

/// The same as numbers: by kind and end, and by kind.
pub(crate) type HandedOnNumbers = (Vec<([&'static str; 2], u64)>, Vec<(&'static str, u64)>);

impl HandedOnCounts {
    pub(super) fn sent(&self, kind: HandedOnKind, end: HandedOnEnd) {
        if let Some(counter) = self.sent.get(kind as usize).and_then(|of| of.get(end as usize)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn taken(&self, kind: HandedOnKind) {
        if let Some(counter) = self.taken.get(kind as usize) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn numbers(&self) -> HandedOnNumbers {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let kinds = || HandedOnKind::ALL.into_iter();
        let sent = kinds().zip(&self.sent).flat_map(|(kind, ends)| {
            HandedOnEnd::ALL.into_iter().zip(ends).map(move |(end, counter)| ([kind.name(), end.name()], of(counter)))
        });
        (sent.collect(), kinds().zip(&self.taken).map(|(kind, counter)| (kind.name(), of(counter))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_counted_by_its_names() {
        let counts = HandedOnCounts::default();
        counts.sent(HandedOnKind::File, HandedOnEnd::NoAnswer);
        counts.taken(HandedOnKind::Page);
        let (sent, taken) = counts.numbers();
        assert_eq!(sent.iter().filter(|(_, count)| *count > 0).collect::<Vec<_>>(), [&(["file", "no_answer"], 1)]);
        assert_eq!((sent.len(), taken), (9, vec![("act", 0), ("file", 0), ("page", 1)]));
    }
}
