//! What a rule would have said of the recorded past: the same rules over the same model, replayed. Blocking.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::time::Instant;

use lockscope_core::observation::Observation;
use lockscope_core::observatory::Observatory;
use lockscope_core::settings::Settings;
use lockscope_core::time::TimeMs;
use lockscope_history::codec::ChunkKind;
use lockscope_history::replay::{ReplayError, walk};
use lockscope_history::store::{ChunkHead, Gap, GapReason, Store, StoreError};
use lockscope_runtime::clock;

use crate::evaluator::{AlertEnd, AlertNews, Evaluator};
use crate::rule::Rule;

/// Firings that are told. Overflow policy: later ones are counted only.
pub const FIRINGS_MAX: usize = 1_000;
/// Gaps that are told. Overflow policy: later ones are counted in the time that is unknown only.
pub const GAPS_MAX: usize = 100;
/// Observations between two looks at the time.
const LOOK_AT_TIME: u32 = 64;

/// A rule would have fired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Firing {
    pub rule: Arc<str>,
    /// The lock's path.
    pub lock: Arc<str>,
    pub from: TimeMs,
    /// When it would have been over; None: it was not by the end of the range.
    pub to: Option<TimeMs>,
    pub sentence: Box<str>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Backtest {
    /// In the order in which they would have fired; those under way within the range.
    pub firings: Vec<Firing>,
    /// Later ones that are not told.
    pub left_out: usize,
    /// What is not known of the range, in order of time: nobody can say what would have fired in it.
    pub gaps: Vec<Gap>,
    /// Milliseconds of the range that lie in gaps, those that are not told included, or before all that is kept.
    pub unknown_ms: i64,
}

#[derive(Debug, thiserror::Error)]
pub enum BacktestError {
    #[error("it takes too long; a range that ends at {0} would do")]
    TooLong(TimeMs),
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

impl From<StoreError> for BacktestError {
    fn from(error: StoreError) -> Self {
        Self::Replay(error.into())
    }
}

/// Lets rules look at a range of what was recorded of an ensemble.
///
/// # Errors
/// It takes longer than that, or what was recorded can't be read.
pub fn backtest(
    store: &dyn Store,
    ensemble: &str,
    rules: &[Rule],
    range: &Range<TimeMs>,
    give_up_at: Instant,
) -> Result<Backtest, BacktestError> {
    let whole = range.end.0.saturating_sub(range.start.0);
    let nothing = || Backtest { unknown_ms: whole, ..Backtest::default() };
    let Some(mut from_seq) = beginning(store, range.start)? else { return Ok(nothing()) };
    let Some(kept_from) = store.coverage()?.from else { return Ok(nothing()) };
    let mut replay = Replay::new(ensemble, rules, range.clone());
    let (mut count, mut late) = (0_u32, None);
    let mut gaps = store.gaps(TimeMs(0)..range.end)?;
    loop {
        let walked = walk(store, from_seq, |head, now, observation| {
            if now >= range.end {
                return ControlFlow::Break(());
            }
            count = count.wrapping_add(1);
            if count.is_multiple_of(LOOK_AT_TIME) && clock::instant() >= give_up_at {
                late = Some(now);
                return ControlFlow::Break(());
            }
            replay.take(head, now, observation, &gaps);
            ControlFlow::Continue(())
        });
        match walked {
            Ok(()) => break,
            Err(ReplayError::InGap(damaged)) if damaged.why == GapReason::Damaged => {
                // Behind it the model is known again from a checkpoint on.
                let next = store.checkpoint_after(damaged.after_seq.saturating_add(2))?;
                let to = next.map_or(range.end, |next| next.first_at).max(damaged.from);
                gaps.retain(|gap| (gap.after_seq, gap.why) != (damaged.after_seq, damaged.why));
                gaps.push(Gap { to, ..damaged });
                replay.is_torn = true;
                match next {
                    Some(next) if clock::instant() < give_up_at => from_seq = next.seq,
                    Some(next) => return Err(BacktestError::TooLong(next.first_at)),
                    None => break,
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    match late {
        Some(at) => Err(BacktestError::TooLong(at)),
        None => Ok(replay.finish(gaps, kept_from)),
    }
}

/// The checkpoint that a range begins with.
fn beginning(store: &dyn Store, from: TimeMs) -> Result<Option<u64>, StoreError> {
    let before = match store.head_at(from)? {
        Some(head) => store.checkpoint_before(head.seq)?,
        None => None,
    };
    Ok(match before {
        Some(checkpoint) => Some(checkpoint.seq),
        None => store.checkpoint_after(0)?.map(|checkpoint| checkpoint.seq),
    })
}

struct Replay<'a> {
    ensemble: &'a str,
    rules: &'a [Rule],
    range: Range<TimeMs>,
    model: Option<(Observatory, Evaluator)>,
    /// The checkpoint that the model is being made of.
    began_with: Option<u64>,
    /// The newest chunk that was taken in.
    seq: u64,
    /// What came before could not be read: the next checkpoint is a new beginning.
    is_torn: bool,
    result: Backtest,
    /// Those that are left out and under way.
    left_out: BTreeSet<(Arc<str>, Arc<str>, TimeMs)>,
}

impl<'a> Replay<'a> {
    fn new(ensemble: &'a str, rules: &'a [Rule], range: Range<TimeMs>) -> Self {
        Self {
            ensemble,
            rules,
            range,
            model: None,
            began_with: None,
            seq: 0,
            is_torn: false,
            result: Backtest::default(),
            left_out: BTreeSet::new(),
        }
    }

    fn take(&mut self, head: &ChunkHead, now: TimeMs, observation: Observation, gaps: &[Gap]) {
        let checkpoint = match head.kind {
            ChunkKind::Checkpoint { part } => Some(head.seq - u64::from(part)),
            ChunkKind::Events => None,
        };
        // Numbers of chunks that were dropped are not given again: the gap is behind the newest that is kept.
        let before = std::mem::replace(&mut self.seq, head.seq);
        let follows_gap = |seq: u64| gaps.iter().any(|gap| (before..seq).contains(&gap.after_seq));
        match checkpoint {
            Some(seq) if self.began_with != Some(seq) => {
                if self.model.is_some() && !self.is_torn && !follows_gap(seq) {
                    // It says nothing new.
                    return;
                }
                self.is_torn = false;
                let known = self.model.take().map(|(_, evaluator)| evaluator.active()).unwrap_or_default();
                let evaluator = Evaluator::new(self.ensemble, self.rules, known, now);
                self.model = Some((Observatory::new(Settings::default(), now), evaluator));
                self.began_with = Some(seq);
            }
            Some(_) | None => {}
        }
        let Some((model, evaluator)) = &mut self.model else { return };
        if checkpoint.is_some() {
            model.apply(now, observation);
            return;
        }
        self.began_with = None;
        let changes = model.begin(now, observation);
        evaluator.look(model, now, &changes);
        while model.has_backlog() {
            let changes = model.go_on();
            evaluator.look(model, now, &changes);
        }
        let news = evaluator.take_news();
        news.into_iter().for_each(|news| self.note(news));
    }

    fn finish(mut self, mut gaps: Vec<Gap>, kept_from: TimeMs) -> Backtest {
        let range = self.range;
        gaps.retain(|gap| gap.from < gap.to && gap.from < range.end && range.start < gap.to);
        gaps.sort_by_key(|gap| (gap.from, gap.to));
        let mut known_to = kept_from.clamp(range.start, range.end);
        self.result.unknown_ms = known_to.0 - range.start.0;
        for gap in &gaps {
            let to = gap.to.min(range.end);
            self.result.unknown_ms += (to.0 - gap.from.max(known_to).0).max(0);
            known_to = known_to.max(to);
        }
        gaps.truncate(GAPS_MAX);
        self.result.gaps = gaps;
        self.result
    }

    fn note(&mut self, AlertNews { alert, end }: AlertNews) {
        let Some(from) = alert.fired_at else { return };
        let firings = &mut self.result.firings;
        let to = match end {
            Some(AlertEnd::Resolved(at)) => Some(at),
            Some(AlertEnd::NeverFired) | None => None,
        };
        if to.is_some_and(|to| to < self.range.start) {
            firings.retain(|firing| (&firing.rule, &firing.lock, firing.from) != (&alert.rule, &alert.lock, from));
            return;
        }
        let is_full = firings.len() >= FIRINGS_MAX;
        let known = firings
            .iter_mut()
            .rfind(|firing| (&firing.rule, &firing.lock, firing.from) == (&alert.rule, &alert.lock, from));
        match known {
            Some(firing) => firing.to = to,
            None if is_full => {
                // It is told again whenever something of it changes.
                let key = (alert.rule, alert.lock, from);
                match to {
                    Some(_) => drop(self.left_out.remove(&key)),
                    None => self.result.left_out += usize::from(self.left_out.insert(key)),
                }
            }
            None => firings.push(Firing { rule: alert.rule, lock: alert.lock, from, to, sentence: alert.sentence }),
        }
    }
}
