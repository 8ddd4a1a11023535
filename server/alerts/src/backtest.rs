//! What a rule would have said of the recorded past: the same rules over the same model, replayed. Blocking.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::time::Instant;

use history::codec::ChunkKind;
use history::replay::{ReplayError, walk};
use history::store::{Store, StoreError};
use lockscope_core::observation::Observation;
use lockscope_core::observatory::Observatory;
use lockscope_core::settings::Settings;
use lockscope_core::time::TimeMs;
use runtime::clock;

use crate::evaluator::{AlertEnd, AlertNews, Evaluator};
use crate::rule::Rule;

/// Firings that are told. Overflow policy: later ones are counted only.
pub const FIRINGS_MAX: usize = 1_000;
/// Observations between two looks at the time.
const LOOK_AT_TIME: u32 = 64;

/// A rule would have fired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Firing {
    /// The rule's name.
    pub rule: Arc<str>,
    /// The lock's path.
    pub lock: Arc<str>,
    /// When it would have fired.
    pub from: TimeMs,
    /// When it would have been over; None: it was not by the end of the range.
    pub to: Option<TimeMs>,
    /// What was wrong.
    pub sentence: Box<str>,
}

/// What a back-test shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Backtest {
    /// In the order in which they would have fired; those under way within the range.
    pub firings: Vec<Firing>,
    /// Later ones that are not told.
    pub left_out: usize,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum BacktestError {
    /// It takes too long.
    #[error("it takes too long; a range that ends at {0} would do")]
    TooLong(TimeMs),
    /// The past can't be replayed.
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
    let Some(from_seq) = beginning(store, range.start)? else { return Ok(Backtest::default()) };
    let mut replay = Replay::new(ensemble, rules, range.clone());
    let (mut count, mut late) = (0_u32, None);
    let gaps = store.gaps(TimeMs(0)..range.end)?;
    walk(store, from_seq, |head, now, observation| {
        if now >= range.end {
            return ControlFlow::Break(());
        }
        count = count.wrapping_add(1);
        if count.is_multiple_of(LOOK_AT_TIME) && clock::instant() >= give_up_at {
            late = Some(now);
            return ControlFlow::Break(());
        }
        let checkpoint = match head.kind {
            ChunkKind::Checkpoint { part } => Some((head.seq - u64::from(part), part)),
            ChunkKind::Events => None,
        };
        let follows_gap = |seq: u64| gaps.iter().any(|gap| gap.after_seq + 1 == seq);
        replay.take(now, observation, checkpoint.map(|(seq, _)| (seq, follows_gap(seq))));
        ControlFlow::Continue(())
    })?;
    match late {
        Some(at) => Err(BacktestError::TooLong(at)),
        None => Ok(replay.result),
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
            result: Backtest::default(),
            left_out: BTreeSet::new(),
        }
    }

    /// Takes in an observation; of a checkpoint, which one, and whether something is missing before it.
    fn take(&mut self, now: TimeMs, observation: Observation, checkpoint: Option<(u64, bool)>) {
        match checkpoint {
            Some((seq, follows_gap)) if self.began_with != Some(seq) => {
                if self.model.is_some() && !follows_gap {
                    // It says nothing new.
                    return;
                }
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
