//! The hour before the demo: recorded once, shipped as a bundle, and kept as if it had ended just now, so that there is
//! something to rewind to. The live model knows nothing of it.
//!
//! It is quiet but for some troubles, one after the other: a client that stands in a queue twice (from minute 9), a
//! deadlock that somebody releases (14:30 to 16:40), a leader whose host dies (24:31), 40 s without Lockscope (30:00), a
//! client that hangs while it holds (36:00 to 42:20), a burst at a lock that everyone watches (48:00), and two libraries
//! in one directory (53:00).

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;

use flate2::read::GzDecoder;
use lockscope_core::evidence::{MemberAnswer, Report};
use lockscope_core::observation::Observation;
use lockscope_core::settings::Settings;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Zxid, join_path};
use lockscope_history::backfill::{Backfill, BackfillError};
use lockscope_history::codec::ChunkKind;
use lockscope_history::derive::MINUTE_MS;
use lockscope_history::replay::{self, ReplayError};
use lockscope_history::store::rows::{SpanEnd, SpanQuery};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{GapReason, Store, StoreError};
use lockscope_runtime::shutdown::CancellationToken;

use crate::config::{History, HistoryPlace};
use crate::serve::OpenPlace;

/// What `GET /api/v1/history/export?format=sqlite` gave of the hour, without checkpoints, and without rows but that of the
/// lock that was released by force; gzipped.
const BUNDLE: &[u8] = include_bytes!("demo_hour.bundle.gz");
const HOUR_MS: i64 = 60 * MINUTE_MS;

#[derive(Debug, thiserror::Error)]
pub enum DemoPastError {
    #[error(transparent)]
    Backfill(#[from] BackfillError),
    #[error("the recorded hour can't be unpacked: {0}; set TMPDIR to a folder that can be written")]
    Unpack(#[from] io::Error),
    #[error("the recorded hour can't be read: {0}")]
    Replay(#[from] ReplayError),
}

impl From<StoreError> for DemoPastError {
    fn from(error: StoreError) -> Self {
        Self::Backfill(error.into())
    }
}

/// Fills the history of an ensemble, of which nothing is kept yet, with an hour that ends with the minute before `now`. Blocking; gives up when stopped.
///
/// # Errors
/// It can't be kept.
pub fn fill(
    history: &History,
    ensemble: &str,
    settings: Settings,
    now: TimeMs,
    stop: &CancellationToken,
) -> Result<(), DemoPastError> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("hour");
    io::copy(&mut GzDecoder::new(BUNDLE), &mut std::fs::File::create(&file)?)?;
    let recorded = SqliteStore::open_bundle(&file)?;
    let store = OpenPlace::of(&history.place, None)?.open(ensemble)?;
    let mut backfill = Backfill::new(store, history.retention, settings);
    // What is recorded from now on is of another minute, so no figure is of both.
    let begins_at = TimeMs(now.0.div_euclid(MINUTE_MS) * MINUTE_MS - HOUR_MS);
    let played = play(&recorded, &mut backfill, begins_at, stop);
    let filled = played.and(backfill.finish_generated().map_err(Into::into));
    if filled.is_err()
        && let HistoryPlace::Directory(dir) = &history.place
    {
        // Some of it may be there and not say what it is.
        let _ = std::fs::remove_dir_all(dir);
    }
    filled
}

/// Hands over what was recorded as if it had begun at `begins_at`.
fn play(
    recorded: &SqliteStore,
    backfill: &mut Backfill,
    begins_at: TimeMs,
    stop: &CancellationToken,
) -> Result<(), DemoPastError> {
    let coverage = recorded.coverage()?;
    let later_ms = coverage.from.map_or(0, |from| begins_at.since(from));
    let mut stops = recorded.gaps(TimeMs(i64::MIN)..TimeMs(i64::MAX))?;
    stops.retain(|gap| gap.why == GapReason::NotRunning);
    // The next is the last.
    stops.reverse();
    let spans = recorded.spans(&SpanQuery::default())?.into_iter().filter(|span| span.how == SpanEnd::Forced);
    let forced: BTreeMap<String, Zxid> = spans.map(|span| (join_path(&span.lock, &span.node), span.czxid)).collect();
    let mut failed = None;
    replay::walk(recorded, 0, |head, at, mut observation| {
        if head.kind != ChunkKind::Events {
            return ControlFlow::Continue(());
        }
        let step = || {
            if let Some(gap) = stops.pop_if(|gap| gap.after_seq < head.seq) {
                backfill.stop(gap.to + later_ms)?;
            }
            if let Observation::NodeDeleted { path, .. } = &observation
                && let Some(czxid) = forced.get(&**path)
            {
                backfill.forced(*czxid);
            }
            shift(&mut observation, later_ms);
            backfill.observe(at + later_ms, observation)
        };
        failed = step().err();
        if failed.is_some() || stop.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    failed.map_or(Ok(()), |error| Err(error.into()))
}

fn shift(observation: &mut Observation, later_ms: i64) {
    fn of_answer<T>(answer: &mut MemberAnswer<T>, later_ms: i64) {
        if let MemberAnswer::Ok { asked_at, .. } = answer {
            *asked_at = *asked_at + later_ms;
        }
    }
    match observation {
        Observation::SyncNode { facts, .. }
        | Observation::NodeRead { facts, .. }
        | Observation::Counted { facts, .. } => {
            facts.ctime_ms += later_ms;
        }
        Observation::Synced { sent_at: at } | Observation::EventsArrived { at } => *at = *at + later_ms,
        Observation::ClockRead { sent_at, told_at, ctime_ms } => {
            (*sent_at, *told_at) = (*sent_at + later_ms, *told_at + later_ms);
            *ctime_ms += later_ms;
        }
        Observation::Evidence(round) => {
            for Report { connections, sessions, watches, health, .. } in &mut round.reports {
                if let MemberAnswer::Ok { value, .. } = connections {
                    let begun = value.iter_mut().filter_map(|connection| connection.established_ms.as_mut());
                    begun.for_each(|at_ms| *at_ms += later_ms);
                }
                of_answer(connections, later_ms);
                of_answer(sessions, later_ms);
                of_answer(watches, later_ms);
                of_answer(health, later_ms);
            }
        }
        // The others name none.
        _ => {}
    }
}
