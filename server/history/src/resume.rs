//! Where a process goes on that was started again: the model as it was recorded last, and the rows of the last moments that
//! were derived by the one before and not written, since it was killed. They are derived once more, of the recording.

mod missing;
mod stretches;

use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;

use crate::derive::{self, Deriver, Event, Tap, minute_of};
use crate::historian::limits::{FLUSH_MS, MINUTES_FLUSH_MS, ROWS_FLUSH_MS};
use crate::replay::{OBSERVATIONS_MAX, ReplayError, Rewound, Taken};
use crate::store::Store;
use missing::{missing_of, newest_fact};
use stretches::{Ends, Stretch, ends_of};

/// Clocks of two servers differ by no more than this, or one was set back: then what the one before followed is at its end.
pub(crate) const SET_BACK_MAX_MS: i64 = 5_000;
/// Lives and facts that are older than this were written, unless the store failed: a process writes those of the one before
/// it records anything, and its own soon.
const LIVES_WRITTEN_MS: i64 = (ROWS_FLUSH_MS + FLUSH_MS) as i64 + derive::SETTLE_MS + 3_000;
/// The same of minutes that are under way.
const WRITTEN_MS: i64 = MINUTES_FLUSH_MS as i64 + LIVES_WRITTEN_MS;

/// Observations that are replayed for the sake of minutes: some seconds of a start, or of a take-over, in which what is observed
/// waits. Where more happened, figures of the minute stay as they were written last, some seconds before.
const MINUTES_MAX: usize = 150_000;

#[derive(Debug)]
pub struct Resumed {
    pub observatory: Observatory,
    /// What derives rows of it, with the rows that are missing, and with all that it had followed; without that where the
    /// minute that was under way can't be derived anew.
    pub deriver: Deriver,
}

/// Replays the end of a recording.
///
/// # Errors
/// Nothing is kept, or the store can't be read.
pub fn resume(store: &dyn Store) -> Result<Resumed, ReplayError> {
    let Some(head) = store.head_at(TimeMs(i64::MAX))? else {
        return Err(ReplayError::NothingKept { before: None, after: None });
    };
    let since = minute_of(head.last_at - WRITTEN_MS);
    let Ends { all, is_cut, of_lives, newest } = ends_of(store, head, since)?;
    let last: Vec<Stretch> = of_lives.last().into_iter().copied().collect();
    // Where what lies before is too much, or damaged: the model needs none of it.
    let most = OBSERVATIONS_MAX;
    let ways = [(all, MINUTES_MAX, !is_cut), (of_lives, most, false), (last, most, false), (vec![newest], most, false)];
    let mut given_up = ReplayError::NothingKept { before: None, after: None };
    for (stretches, most, is_whole) in ways {
        let from = stretches.first().map_or(since, |first| first.checkpoint.first_at.min(since));
        match followed(store, stretches, most) {
            Ok((observatory, deriver)) => return rows_of(store, observatory, deriver, (from, since), is_whole),
            Err(error @ (ReplayError::InGap(_) | ReplayError::TooFar)) => given_up = error,
            Err(error) => return Err(error),
        }
    }
    Err(given_up)
}

/// Follows the recording as a process does that records.
#[derive(Default)]
struct Follower {
    tap: Tap,
    deriver: Deriver,
    events: Vec<(TimeMs, Event)>,
}

impl Follower {
    /// Behind a checkpoint, where a stretch begins.
    fn begin(&mut self, model: &Observatory, now: TimeMs, is_recalled: bool) {
        self.tap = Tap::default();
        self.tap.recall(model, now, &mut self.events);
        if is_recalled {
            return self.deriver.recall(now, std::mem::take(&mut self.events));
        }
        self.events.clear();
        Tap::default().all(model, now, &mut self.events);
        self.deriver.begin(now, std::mem::take(&mut self.events));
    }

    fn take(&mut self, model: &mut Observatory, taken: Taken) {
        derive::apply(&mut self.tap, model, taken.now, taken.observation, &mut self.events);
        self.events.drain(..).for_each(|(at, event)| self.deriver.take(at, event));
        self.deriver.advance(taken.now);
    }
}

/// Replays some stretches, of so many observations at most, and between two of them does what is done behind a gap while it is recorded.
fn followed(store: &dyn Store, stretches: Vec<Stretch>, most: usize) -> Result<(Observatory, Deriver), ReplayError> {
    let mut follower = Follower::default();
    let (mut observatory, mut is_first, mut left) = (None, true, most);
    for Stretch { checkpoint, head, is_beginning } in stretches {
        let is_recalled = std::mem::replace(&mut is_first, false) && !is_beginning;
        let mut has_begun = false;
        let mut each = |model: &mut Observatory, taken: Taken| {
            if taken.is_checkpoint {
                model.apply(taken.now, taken.observation);
                return;
            }
            if !std::mem::replace(&mut has_begun, true) {
                follower.begin(model, checkpoint.first_at, is_recalled);
            }
            follower.take(model, taken);
        };
        let model = Rewound::followed(store, checkpoint, head, &mut left, &mut each)?.into_observatory();
        // Nothing followed the checkpoint; what it says was derived all the same.
        if !has_begun {
            follower.begin(&model, checkpoint.first_at, is_recalled);
        }
        observatory = Some(model);
    }
    let observatory = observatory.ok_or(ReplayError::NothingKept { before: None, after: None })?;
    Ok((observatory, follower.deriver))
}

/// Keeps of the rows those that are not written. `from`: what is derived is of then on; `since`: minutes are whole from then on.
fn rows_of(
    store: &dyn Store,
    observatory: Observatory,
    mut deriver: Deriver,
    (from, since): (TimeMs, TimeMs),
    is_whole: bool,
) -> Result<Resumed, ReplayError> {
    let Some(until) = deriver.now() else { return Ok(Resumed { observatory, deriver: Deriver::default() }) };
    let mut rows = if is_whole { deriver.complete() } else { deriver.finish() };
    if is_whole {
        rows.minutes.extend(deriver.under_way());
    } else {
        // Of the minute only a part would be derived; lives and facts are what they are.
        rows.minutes.clear();
        deriver = Deriver::default();
    }
    let rows = missing_of(store, rows, (from, since), until)?;
    rows.minutes.iter().for_each(|minute| deriver.at_least(minute));
    deriver.number_after(rows.facts.iter().map(|fact| fact.number).max().unwrap_or(0).max(newest_fact(store)?));
    deriver.put_back(rows);
    Ok(Resumed { observatory, deriver })
}
