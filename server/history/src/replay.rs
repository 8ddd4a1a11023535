//! The model as it was: from the newest checkpoint before a moment, all that was recorded up to it, through the same core.
//! Blocking; runs where it delays nobody. Ticks are recorded, so nothing is added and nothing made up.

mod hindsight;

use std::ops::ControlFlow;

use lockscope_core::observation::Observation;
use lockscope_core::observatory::{Observatory, is_fresh};
use lockscope_core::settings::Settings;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use lockscope_runtime::cancel;

use crate::codec::{Chunk, ChunkKind, CodecError, Decoder};
use crate::store::{CHUNKS_READ_MAX, ChunkHead, Gap, GapReason, Store, StoreError, is_all_generated};

/// Observations that are replayed for one look; a recording with checkpoints needs a tenth of it.
pub const OBSERVATIONS_MAX: usize = 5_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// As it was at an instant: all that was taken in no later. Where a clock was set back, of the later of two moments
    /// that it called the same.
    At(TimeMs),
    /// As it was when a transaction had just been seen.
    Zxid(Zxid),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    #[error("nothing is kept of that moment")]
    NothingKept {
        /// The nearest kept moment before it.
        before: Option<TimeMs>,
        /// The nearest kept moment after it.
        after: Option<TimeMs>,
    },
    /// It lies in a gap, the ends of which are the nearest kept moments.
    #[error("nothing is known of that moment: {}", .0.why)]
    InGap(Gap),
    /// Too much happened since the checkpoint before it.
    #[error("more than {OBSERVATIONS_MAX} observations lie between that moment and the checkpoint before it")]
    TooFar,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The model as it was at a moment. A clone stays where it is: step with one and keep the other.
#[derive(Clone, Debug)]
pub struct Rewound {
    observatory: Observatory,
    /// The instant of the last observation that was taken in.
    known_at: TimeMs,
    /// The chunk it is in, and how many of that one's observations were taken in.
    seq: u64,
    taken: usize,
    /// Reads on from the beginning of that chunk.
    decoder: Decoder,
}

impl Rewound {
    /// The model as it was at a moment.
    ///
    /// # Errors
    /// Nothing is kept of it, or the store can't be read.
    pub fn new(store: &dyn Store, moment: Moment) -> Result<Self, ReplayError> {
        let target = Target::find(store, moment)?;
        let mut rewound = Self::before(&target);
        rewound.go_on(store, &target, &mut { OBSERVATIONS_MAX }, &mut apply)?;
        rewound.known_of(moment)?;
        Ok(rewound)
    }

    /// The model as it was at the end of a chunk, from a checkpoint before it. `each` takes in the observations, of which so
    /// many are left.
    pub(crate) fn followed(
        store: &dyn Store,
        checkpoint: ChunkHead,
        head: ChunkHead,
        left: &mut usize,
        each: &mut dyn FnMut(&mut Observatory, Taken),
    ) -> Result<Self, ReplayError> {
        let target = Target { moment: Moment::At(TimeMs(i64::MAX)), head, checkpoint }.within_a_checkpoint(store)?;
        let mut rewound = Self::before(&target);
        rewound.go_on(store, &target, left, each)?;
        Ok(rewound)
    }

    /// Goes to another moment: on from here where that is nearer than from a checkpoint, else anew. After an error it
    /// stands anywhere, and only [`Self::new`] helps.
    ///
    /// # Errors
    /// Nothing is kept of it, or the store can't be read.
    pub fn step_to(&mut self, store: &dyn Store, moment: Moment) -> Result<(), ReplayError> {
        let target = Target::find(store, moment)?;
        let is_ahead = match moment {
            Moment::At(at) => at >= self.known_at,
            Moment::Zxid(zxid) => zxid > self.observatory.zxid(),
        };
        if !is_ahead || target.head.seq < self.seq || target.checkpoint.seq > self.seq {
            *self = Self::before(&target);
        }
        self.go_on(store, &target, &mut { OBSERVATIONS_MAX }, &mut apply)?;
        self.known_of(moment)
    }

    /// Of a transaction from before everything was read for the first time nothing is known.
    fn known_of(&self, moment: Moment) -> Result<(), ReplayError> {
        let is_known = matches!(moment, Moment::At(_)) || self.observatory.is_ready();
        is_known.then_some(()).ok_or(ReplayError::NothingKept { before: None, after: Some(self.known_at) })
    }

    pub fn observatory(&self) -> &Observatory {
        &self.observatory
    }

    pub fn into_observatory(self) -> Observatory {
        self.observatory
    }

    /// The instant of the last observation that was taken in.
    pub fn known_at(&self) -> TimeMs {
        self.known_at
    }

    /// Nothing is taken in yet.
    fn before(target: &Target) -> Self {
        let at = target.checkpoint.first_at;
        Self {
            observatory: Observatory::new(Settings::default(), at),
            known_at: at,
            seq: target.checkpoint.seq,
            taken: 0,
            decoder: Decoder::new(),
        }
    }

    fn go_on(
        &mut self,
        store: &dyn Store,
        target: &Target,
        left: &mut usize,
        each: &mut Each<'_>,
    ) -> Result<(), ReplayError> {
        // The chunk that this stands in is read once more: it may have grown.
        let mut next = self.seq;
        loop {
            let chunks = store.chunks(next, CHUNKS_READ_MAX)?;
            if chunks.is_empty() {
                return Err(self.damaged(store, target, next));
            }
            for chunk in &chunks {
                if cancel::is_cancelled() {
                    return Err(StoreError::TooLong.into());
                }
                if chunk.seq != next {
                    return Err(self.damaged(store, target, next));
                }
                let taken = self.take(chunk, target, left, each);
                match taken {
                    Ok(ControlFlow::Break(())) => return Ok(()),
                    Ok(ControlFlow::Continue(())) => next += 1,
                    Err(Broken::TooFar) => return Err(ReplayError::TooFar),
                    Err(Broken::Chunk(error)) => {
                        tracing::error!(chunk = chunk.seq, %error, "a chunk of history can't be read");
                        return Err(self.damaged(store, target, next));
                    }
                }
            }
        }
    }

    fn take(
        &mut self,
        chunk: &Chunk,
        target: &Target,
        left: &mut usize,
        each: &mut Each<'_>,
    ) -> Result<ControlFlow<()>, Broken> {
        if chunk.seq != self.seq {
            (self.seq, self.taken) = (chunk.seq, 0);
        }
        let is_last = chunk.seq == target.head.seq;
        let flow = if is_last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        // A checkpoint on the way says nothing new.
        let is_checkpoint = matches!(chunk.kind, ChunkKind::Checkpoint { .. });
        if is_checkpoint && !target.is_in_first_checkpoint(chunk) {
            return Ok(flow);
        }
        let mut decoder = self.decoder.clone();
        let mut records = decoder.read(chunk)?;
        for (at, record) in records.by_ref().enumerate() {
            let (now, observation) = record?;
            if at < self.taken {
                continue;
            }
            if is_last && !is_checkpoint && target.is_reached(now, &self.observatory) {
                // Goes on from the beginning of this chunk, and leaves out what was taken.
                return Ok(flow);
            }
            *left = left.checked_sub(1).ok_or(Broken::TooFar)?;
            each(&mut self.observatory, Taken { now, observation, is_checkpoint });
            self.known_at = now;
            self.taken = at + 1;
        }
        drop(records);
        if !is_last {
            self.decoder = decoder;
        }
        Ok(flow)
    }

    /// The gap that a chunk leaves which can't be read: up to the next checkpoint. It is noted, so that the coverage
    /// says so as well.
    fn damaged(&self, store: &dyn Store, target: &Target, seq: u64) -> ReplayError {
        let after = match store.checkpoint_after(seq.saturating_add(1)) {
            Ok(after) => after,
            Err(error) => return error.into(),
        };
        let to = after.map_or(target.head.last_at, |after| after.first_at).max(self.known_at);
        let gap = Gap { after_seq: seq.saturating_sub(1), from: self.known_at, to, why: GapReason::Damaged };
        let is_known = store.gaps(gap.from..gap.to + 1).is_ok_and(|gaps| gaps.contains(&gap));
        if !is_known && let Err(error) = store.append(&[], &[gap]) {
            tracing::warn!(%error, "a gap can't be noted");
        }
        ReplayError::InGap(gap)
    }
}

/// An observation on its way into a model.
pub(crate) struct Taken {
    pub(crate) now: TimeMs,
    pub(crate) observation: Observation,
    /// It is part of a checkpoint: nothing happened.
    pub(crate) is_checkpoint: bool,
}

type Each<'a> = dyn FnMut(&mut Observatory, Taken) + 'a;

fn apply(model: &mut Observatory, taken: Taken) {
    model.apply(taken.now, taken.observation);
}

enum Broken {
    Chunk(CodecError),
    TooFar,
}

impl From<CodecError> for Broken {
    fn from(error: CodecError) -> Self {
        Self::Chunk(error)
    }
}

/// The gap that hides an instant, which `head` is the chunk of. A gap begins at the last proof of what was recorded: what
/// was recorded behind that proof, in the chunk before the gap, says nothing of the instants that follow it.
pub fn gap_behind(store: &dyn Store, at: TimeMs, head: &ChunkHead) -> Result<Option<Gap>, StoreError> {
    Ok(store.gaps(at..at + 1)?.into_iter().find(|gap| gap.hides(at) && gap.after_seq >= head.seq))
}

/// Where a moment is in the recording.
#[derive(Debug)]
struct Target {
    moment: Moment,
    /// The chunk it is in; of earlier ones everything is taken in.
    head: ChunkHead,
    checkpoint: ChunkHead,
}

impl Target {
    fn find(store: &dyn Store, moment: Moment) -> Result<Self, ReplayError> {
        let head = match moment {
            Moment::At(at) => store.head_at(at)?,
            Moment::Zxid(zxid) => store.head_of(zxid)?,
        };
        let Some(head) = head else {
            let coverage = store.coverage()?;
            return Err(match moment {
                Moment::At(_) => ReplayError::NothingKept { before: None, after: coverage.from },
                Moment::Zxid(_) => ReplayError::NothingKept { before: coverage.to, after: None },
            });
        };
        if let Moment::At(at) = moment
            && let Some(gap) = gap_behind(store, at, &head)?
        {
            return Err(ReplayError::InGap(gap));
        }
        if let Moment::Zxid(zxid) = moment {
            is_observed(store, zxid, &head)?;
        }
        let Some(checkpoint) = store.checkpoint_before(head.seq)? else {
            let after = store.checkpoint_after(head.seq)?.map(|head| head.first_at);
            return Err(ReplayError::NothingKept { before: None, after });
        };
        let target = Self { moment, head, checkpoint };
        target.within_a_checkpoint(store)
    }

    /// Of a checkpoint all parts are needed.
    fn within_a_checkpoint(mut self, store: &dyn Store) -> Result<Self, ReplayError> {
        while let ChunkKind::Checkpoint { part } = self.head.kind {
            let next = store.chunks(self.head.seq + 1, 1)?.pop();
            match next
                .filter(|next| next.seq == self.head.seq + 1 && next.kind == ChunkKind::Checkpoint { part: part + 1 })
            {
                Some(next) => self.head = (&next).into(),
                None => break,
            }
        }
        Ok(self)
    }

    fn is_in_first_checkpoint(&self, chunk: &Chunk) -> bool {
        let part = chunk.seq.saturating_sub(self.checkpoint.seq);
        matches!(chunk.kind, ChunkKind::Checkpoint { part: of } if u64::from(of) == part)
    }

    /// Whether an observation of the last chunk is one too many.
    fn is_reached(&self, now: TimeMs, observatory: &Observatory) -> bool {
        match self.moment {
            Moment::At(at) => now > at,
            Moment::Zxid(zxid) => observatory.zxid() >= zxid,
        }
    }
}

/// A checkpoint with a later transaction says nothing of one that came before it was made, and that no chunk before it
/// has.
fn is_observed(store: &dyn Store, zxid: Zxid, head: &ChunkHead) -> Result<(), ReplayError> {
    if head.kind == ChunkKind::Events || head.zxid <= zxid {
        return Ok(());
    }
    let mut gaps = store.gaps(TimeMs(0)..head.last_at + 1)?;
    gaps.retain(|gap| gap.after_seq < head.seq && gap.why != GapReason::Generated);
    // Numbers of chunks that were dropped are not given again: the gap may end some behind where it began.
    let is_next = |gap: &Gap| -> Result<bool, StoreError> {
        Ok(store.chunks(gap.after_seq + 1, 1)?.first().is_some_and(|chunk| chunk.seq == head.seq))
    };
    let gap = match gaps.pop() {
        Some(gap) if is_next(&gap)? => Some(gap),
        Some(_) | None => None,
    };
    Err(gap.map_or(ReplayError::NothingKept { before: None, after: Some(head.first_at) }, ReplayError::InGap))
}

/// Until when all that happened is kept: up to the last proof. Should the recording end now, its gap begins there.
pub fn complete_until(store: &dyn Store) -> Result<Option<TimeMs>, StoreError> {
    let coverage = store.coverage()?;
    let Some(to) = coverage.to else { return Ok(None) };
    // What was generated is complete up to its end.
    let proven_at = if is_all_generated(store)? { None } else { proven_at(store, coverage.last_seq) };
    let until = complete_at(to, proven_at);
    // A proof may have been asked for before the recording began, in the gap before it.
    let gaps = store.gaps(until..to + 1)?;
    Ok(Some(gaps.into_iter().map(|gap| gap.to).fold(until, TimeMs::max)))
}

/// Until when all that happened was recorded, where the last was recorded at an instant: up to the last proof. What happened
/// since may have come later, on a busy machine by a good part of a second. Where the last proof is old the recording says
/// itself that it was stale.
pub(crate) fn complete_at(last_at: TimeMs, proven_at: Option<TimeMs>) -> TimeMs {
    proven_at.filter(|proven_at| is_fresh(*proven_at, last_at)).map_or(last_at, |proven_at| proven_at.min(last_at))
}

/// When the last question was sent whose answer the last chunks have. All that had happened by then is recorded; of what
/// happened later some may not be.
fn proven_at(store: &dyn Store, last_seq: u64) -> Option<TimeMs> {
    let mut proven_at = None;
    // Where a chunk is damaged, those before it say less, and nothing wrong.
    let _ = walk(store, last_seq.saturating_sub(1), |_, _, observation| {
        if let Observation::Synced { sent_at } = observation {
            proven_at = Some(sent_at);
        }
        ControlFlow::Continue(())
    });
    proven_at
}

/// Everything that was recorded from a chunk on, in order, for who derives something of all of it: spans, incidents.
/// `each` gets the chunk's head and an observation, and stops it with `Break`.
///
/// # Errors
/// The store can't be read, or a chunk is damaged: the gap that it leaves.
pub fn walk(
    store: &dyn Store,
    from_seq: u64,
    mut each: impl FnMut(&ChunkHead, TimeMs, Observation) -> ControlFlow<()>,
) -> Result<(), ReplayError> {
    let (mut decoder, mut next) = (Decoder::new(), from_seq);
    loop {
        let chunks = store.chunks(next, CHUNKS_READ_MAX)?;
        let Some(last) = chunks.last() else { return Ok(()) };
        next = last.seq + 1;
        for chunk in &chunks {
            let head = ChunkHead::from(chunk);
            let damaged = |_| {
                let (after_seq, why) = (chunk.seq.saturating_sub(1), GapReason::Damaged);
                ReplayError::InGap(Gap { after_seq, from: chunk.first_at, to: chunk.last_at, why })
            };
            for record in decoder.read(chunk).map_err(damaged)? {
                let (now, observation) = record.map_err(damaged)?;
                if each(&head, now, observation).is_break() {
                    return Ok(());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_complete_up_to_its_last_proof() {
        let until = |proven_at: Option<i64>| complete_at(TimeMs(50_000), proven_at.map(TimeMs)).0;
        assert_eq!(until(Some(49_700)), 49_700);
        // A proof that came with a clock that was set back, an old one, and none.
        assert_eq!([until(Some(50_300)), until(Some(40_000)), until(None)], [50_000; 3]);
    }
}
