//! Plays observations through the model, and hands what was played to the historian, as the engine of a live server does:
//! the same tap, the same checkpoints, the same encoder. It waits for the historian instead of losing anything.

use lockscope_core::observation::Observation;
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_history::derive::{Event, Tap};
use lockscope_history::historian::{CHECKPOINT_MS, CHECKPOINT_OBSERVATIONS, Recorder};
use lockscope_history::store::GapReason;
use lockscope_txn_log::{Session, Transaction};

use crate::AutopsyError;
use crate::audit_log::{AuditLog, Writer};
use crate::pace::Pace;
use crate::translate::Translator;
use crate::tree::Tree;

/// Observations that are handed over at once.
const BATCH: usize = 1_024;
/// After so long a checkpoint is taken if so much was played: replaying a quiet stretch costs little.
const CHECKPOINT_OBSERVATIONS_MIN: u64 = 5_000;
/// A checkpoint is taken after so much in any case: half of what a live server allows, as nobody waits for it here.
const CHECKPOINT_OBSERVATIONS_MAX: u64 = CHECKPOINT_OBSERVATIONS / 2;
const DAY_MS: i64 = 86_400_000;

struct Played {
    model: Observatory,
    tap: Tap,
    writers: AuditLog,
    recorder: Recorder,
    is_recording: bool,
    /// Records are missing: nothing is recorded before the next checkpoint.
    is_lost: bool,
    batch: Vec<(TimeMs, Observation)>,
    events: Vec<(TimeMs, Event)>,
    /// When the last checkpoint was taken, and what was played since.
    checkpoint_at: TimeMs,
    since: u64,
}

pub(crate) struct Player {
    translator: Translator,
    played: Played,
    pace: Pace,
    now: TimeMs,
    /// What is before it is played and not recorded.
    from: Option<TimeMs>,
    has_begun: bool,
    recorded_from: TimeMs,
    /// Records are missing since then.
    lost_at: Option<TimeMs>,
    /// By how much instants went back, at most: the leader's clock was set.
    set_back_ms: i64,
    /// How far that clock is behind the instants of the log, as the model knows it.
    behind_ms: i64,
}

pub(crate) struct Finished {
    pub(crate) model: Observatory,
    pub(crate) translator: Translator,
    pub(crate) from: TimeMs,
    pub(crate) to: TimeMs,
    pub(crate) set_back_ms: i64,
    pub(crate) has_recorded: bool,
}

impl Player {
    pub(crate) fn new(
        roots: &[String],
        (tree, open): (Tree, &[Session]),
        writers: AuditLog,
        recorder: Recorder,
        from: Option<TimeMs>,
    ) -> Self {
        let settings = Settings { roots: roots.to_vec(), ..Settings::default() };
        let now = TimeMs(0);
        Self {
            translator: Translator::new(roots, tree, open),
            played: Played {
                model: Observatory::new(settings, now),
                tap: Tap::default(),
                writers,
                recorder,
                is_recording: false,
                is_lost: false,
                batch: Vec::new(),
                events: Vec::new(),
                checkpoint_at: now,
                since: 0,
            },
            pace: Pace::new(now),
            now,
            from,
            has_begun: false,
            recorded_from: now,
            lost_at: None,
            set_back_ms: 0,
            behind_ms: 0,
        }
    }

    pub(crate) fn tree(&self) -> &Tree {
        self.translator.tree()
    }

    /// Takes in a transaction without looking: the tree is not known well enough yet.
    pub(crate) fn take_unseen(&mut self, transaction: &Transaction) {
        self.translator.take(transaction, &mut |_| {});
    }

    /// Goes on with another tree and other sessions; the next transaction shows them.
    pub(crate) fn replace_tree(&mut self, tree: Tree, open: &[Session]) {
        self.translator.replace_tree(tree, open);
    }

    /// Everything is known as of an instant: it is looked at from here on.
    pub(crate) fn begin(&mut self, at: TimeMs) -> Result<(), AutopsyError> {
        self.advance(at)?;
        let (why, played, now) = ("first sync", &mut self.played, self.now);
        self.translator.sync(now, why, &mut |observation| played.apply(now, observation));
        self.played.apply(now, Observation::Tick);
        (self.has_begun, self.pace) = (true, Pace::new(now));
        self.record_from(now)
    }

    pub(crate) fn take(&mut self, transaction: &Transaction) -> Result<(), AutopsyError> {
        let at = TimeMs(transaction.time_ms);
        self.set_back_ms = self.set_back_ms.max(self.now.since(at));
        self.advance(at)?;
        if self.lost_at.take().is_some() {
            return self.find_again(transaction);
        }
        let (played, now) = (&mut self.played, self.now);
        // What is made while the clock is set back came now, and not when its stamp says.
        let behind_ms = now.since(at);
        if std::mem::replace(&mut self.behind_ms, behind_ms) != behind_ms {
            played.apply(now, Observation::ClockRead { sent_at: now, told_at: now, ctime_ms: at.0 });
        }
        let before = played.since;
        self.translator.take(transaction, &mut |observation| played.apply(now, observation));
        if self.played.since != before {
            self.pace.changed(now);
        }
        self.played.go_on(now)
    }

    /// Records are missing from here on, up to the next transaction.
    pub(crate) fn lose(&mut self) {
        if self.has_begun && self.lost_at.is_none() {
            self.lost_at = Some(self.now);
            self.played.lose();
        }
    }

    /// The first transaction after a gap: everything is looked at anew.
    fn find_again(&mut self, transaction: &Transaction) -> Result<(), AutopsyError> {
        self.take_unseen(transaction);
        let (why, played, now) = ("records are missing", &mut self.played, self.now);
        self.translator.sync(now, why, &mut |observation| played.apply(now, observation));
        self.played.apply(now, Observation::Tick);
        (self.pace, self.behind_ms) = (Pace::new(now), 0);
        self.played.checkpoint(now)
    }

    pub(crate) fn advance(&mut self, to: TimeMs) -> Result<(), AutopsyError> {
        if self.has_begun && self.lost_at.is_none() {
            loop {
                let next = self.pace.next(self.played.model.looks_at());
                if let Some(from) = self.from.filter(|from| *from <= next.min(to) && *from >= self.now) {
                    self.tick(from)?;
                    self.record_from(from)?;
                }
                if next >= to {
                    break;
                }
                self.tick(next)?;
            }
        }
        self.now = self.now.max(to);
        Ok(())
    }

    fn tick(&mut self, at: TimeMs) -> Result<(), AutopsyError> {
        self.now = self.now.max(at);
        let (played, now) = (&mut self.played, self.now);
        if self.pace.counts(now) {
            self.translator.count(&mut |observation| played.apply(now, observation));
        }
        self.played.apply(now, Observation::Synced { sent_at: now });
        self.played.apply(now, Observation::Tick);
        self.pace.ticked(now);
        self.played.go_on(now)
    }

    fn record_from(&mut self, now: TimeMs) -> Result<(), AutopsyError> {
        if self.played.is_recording || self.from.is_some_and(|from| now < from) {
            return Ok(());
        }
        (self.from, self.recorded_from) = (None, now);
        self.played.is_recording = true;
        self.played.batch.clear();
        self.played.events.clear();
        self.played.checkpoint(now)
    }

    /// The last moment, as everything is known then.
    pub(crate) fn finish(mut self, to: Option<TimeMs>) -> Result<Finished, AutopsyError> {
        if let Some(to) = to {
            self.advance(to)?;
        }
        if self.has_begun && self.lost_at.is_none() {
            self.pace.count_now();
            self.tick(self.now)?;
        }
        self.played.flush()?;
        let Self { translator, played, now, set_back_ms, recorded_from: from, .. } = self;
        let Played { model, is_recording, recorder, .. } = played;
        drop(recorder);
        Ok(Finished { model, translator, from, to: now, set_back_ms, has_recorded: is_recording })
    }
}

impl Played {
    fn apply(&mut self, now: TimeMs, observation: Observation) {
        let first = self.events.len();
        let writer = self.writer_of(&observation).map(|writer| writer.address.clone());
        // As `lockscope_history::derive::apply` does; here it goes on to the recorder.
        let changes = self.model.begin_with(now, &observation);
        self.tap.look(&self.model, now, Some(&observation), &changes, &mut self.events);
        while self.model.has_backlog() {
            let changes = self.model.go_on();
            self.tap.look(&self.model, now, None, &changes, &mut self.events);
        }
        self.since += 1;
        for (_, event) in self.events.iter_mut().skip(first) {
            if let Event::Left { host, .. } = event {
                *host = host.take().or_else(|| writer.clone());
            }
        }
        if self.is_recording && !self.is_lost {
            self.batch.push((now, observation));
        } else {
            // The checkpoint that it begins with has all that came of it.
            self.events.clear();
        }
    }

    /// Who owns what goes.
    fn writer_of(&self, observation: &Observation) -> Option<&Writer> {
        let Observation::NodeDeleted { root, path } = observation else { return None };
        if self.writers.is_empty() {
            return None;
        }
        let owner = self.model.roots().get(root.0 as usize)?.mirror.node(path)?.owner()?;
        self.writers.writer(owner.0)
    }

    /// Hands over what there is, where that is enough, and the model where it is due. Between two transactions.
    fn go_on(&mut self, now: TimeMs) -> Result<(), AutopsyError> {
        if !self.is_recording || self.is_lost {
            return Ok(());
        }
        let is_other_day = now.0.div_euclid(DAY_MS) != self.checkpoint_at.0.div_euclid(DAY_MS);
        let is_due = now.since(self.checkpoint_at) >= CHECKPOINT_MS && self.since >= CHECKPOINT_OBSERVATIONS_MIN;
        if is_other_day || is_due || self.since >= CHECKPOINT_OBSERVATIONS_MAX {
            return self.checkpoint(now);
        }
        if self.batch.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), AutopsyError> {
        if self.is_recording && !self.is_lost {
            // With as much room again: growing from nothing copies each batch twice. What was much at once is no measure.
            let room = |before: usize| before.min(4 * BATCH);
            let batch = Vec::with_capacity(room(self.batch.capacity()));
            let events = Vec::with_capacity(room(self.events.capacity()));
            self.recorder
                .record(std::mem::replace(&mut self.batch, batch), std::mem::replace(&mut self.events, events));
        }
        match self.recorder.handle().status().trouble {
            Some((trouble, _)) => Err(AutopsyError::Store(trouble.into())),
            None => Ok(()),
        }
    }

    fn checkpoint(&mut self, now: TimeMs) -> Result<(), AutopsyError> {
        self.flush()?;
        if !self.is_recording {
            return Ok(());
        }
        if let Some(checkpoint) = self.model.checkpoint() {
            self.recorder.checkpoint(now, checkpoint);
        }
        (self.checkpoint_at, self.since, self.is_lost) = (now, 0, false);
        Ok(())
    }

    fn lose(&mut self) {
        if self.is_recording {
            self.recorder.record(std::mem::take(&mut self.batch), std::mem::take(&mut self.events));
            self.recorder.lose(GapReason::Damaged);
            self.is_lost = true;
        }
    }
}
