//! From where on a recording is replayed: what was recorded without a break, and where it broke.

use lockscope_core::time::TimeMs;

use super::{LIVES_WRITTEN_MS, SET_BACK_MAX_MS};
use crate::replay::ReplayError;
use crate::store::{ChunkHead, Gap, GapReason, Store, StoreError};

/// Chunks that are gone through once more beyond those that the model and the lives need. Where a minute reaches back
/// further, its figures stay as they were written last.
const CHUNKS_MAX: u64 = 128;

/// What was recorded without a break, from a checkpoint to a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) checkpoint: ChunkHead,
    pub(super) head: ChunkHead,
    /// Nothing was recorded before it.
    pub(super) is_beginning: bool,
}

/// How much of the end of a recording is replayed.
#[derive(Debug)]
pub(super) struct Ends {
    /// From the newest checkpoint on from which everything since an instant can be derived.
    pub(super) all: Vec<Stretch>,
    /// There is none, and the one is taken from which on the most can be.
    pub(super) is_cut: bool,
    /// As far as lives must go back: checkpoints are seconds apart.
    pub(super) of_lives: Vec<Stretch>,
    /// From the newest checkpoint on, for the model alone.
    pub(super) newest: Stretch,
}

pub(super) fn ends_of(store: &dyn Store, head: ChunkHead, since: TimeMs) -> Result<Ends, ReplayError> {
    let nothing = ReplayError::NothingKept { before: None, after: None };
    let checkpoint = store.checkpoint_before(head.seq)?.ok_or(nothing)?;
    let newest = Stretch { checkpoint, head, is_beginning: checkpoint.seq == 1 };
    let gaps = store.gaps(since..TimeMs(i64::MAX))?;
    let (mut stretches, mut checkpoint, mut of_lives) = (vec![newest], checkpoint, None);
    let is_whole = loop {
        let is_enough = checkpoint.first_at <= head.last_at - LIVES_WRITTEN_MS;
        if is_enough && of_lives.is_none() {
            of_lives = Some(stretches.clone());
        }
        if checkpoint.first_at <= since {
            break true;
        }
        let Some(before) = store.checkpoint_before(checkpoint.seq.saturating_sub(1))? else {
            // Nothing is older: before it nothing was derived either.
            break checkpoint.seq == 1;
        };
        if is_enough && newest.checkpoint.seq - before.seq > CHUNKS_MAX {
            break false;
        }
        let between = gaps.iter().filter(|gap| (before.seq..checkpoint.seq).contains(&gap.after_seq));
        let is_beginning = before.seq == 1;
        match last_before(store, between, before, checkpoint)? {
            Break::None => stretches.iter_mut().take(1).for_each(|first| {
                (first.checkpoint, first.is_beginning) = (before, is_beginning);
            }),
            Break::Behind(head) => stretches.insert(0, Stretch { checkpoint: before, head, is_beginning }),
            Break::Lost => break false,
        }
        checkpoint = before;
    };
    let of_lives = of_lives.unwrap_or_else(|| stretches.clone());
    Ok(Ends { all: stretches, is_cut: !is_whole, of_lives, newest })
}

/// How the recording goes on up to a checkpoint.
enum Break {
    /// Without a break: in a gap nobody looked, and nothing was lost.
    None,
    /// It ended with a chunk, and the checkpoint begins it anew.
    Behind(ChunkHead),
    /// Whoever recorded behind it knew nothing of what came before: it ended with a chunk that is not kept, was not observed,
    /// or lies ahead of the clock, which was set back.
    Lost,
}

fn last_before<'a>(
    store: &dyn Store,
    gaps: impl Iterator<Item = &'a Gap>,
    before: ChunkHead,
    checkpoint: ChunkHead,
) -> Result<Break, StoreError> {
    let is_set_back = |last_at: TimeMs| checkpoint.first_at < last_at - SET_BACK_MAX_MS;
    for gap in gaps {
        let next = store.chunks(gap.after_seq + 1, 1)?;
        if next.first().is_none_or(|next| next.seq != checkpoint.seq) {
            continue;
        }
        let last = store.chunks(gap.after_seq, 1)?;
        let last = last.first().filter(|last| last.seq == gap.after_seq && gap.why != GapReason::Generated);
        let last = last.map(ChunkHead::from).filter(|last| !is_set_back(last.last_at));
        return Ok(last.map_or(Break::Lost, Break::Behind));
    }
    Ok(if is_set_back(before.first_at) { Break::Lost } else { Break::None })
}
