//! The hour before the demo: made up, kept as such, and recorded as if it had been observed, so that there is something to
//! rewind to. The live model knows nothing of it.

use demo::workload::past::{GENERATED_MS, GeneratedHour, Step};
use history::backfill::{Backfill, BackfillError};
use history::derive::MINUTE_MS;
use lockscope_core::settings::Settings;
use lockscope_core::time::TimeMs;
use runtime::shutdown::CancellationToken;

use crate::config::{History, HistoryPlace};
use crate::serve::OpenPlace;

/// Of all hours that can be made, this one.
const SEED: u64 = 1;

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
) -> Result<(), BackfillError> {
    let store = OpenPlace::of(&history.place, None)?.open(ensemble)?;
    let mut backfill = Backfill::new(store, history.retention, settings);
    // What is recorded from now on is of another minute, so no figure is of both.
    let begins_at = TimeMs(now.0.div_euclid(MINUTE_MS) * MINUTE_MS) - GENERATED_MS;
    let played = play(&mut backfill, GeneratedHour::new(SEED, begins_at), stop);
    let filled = played.and(backfill.finish_generated());
    if filled.is_err()
        && let HistoryPlace::Directory(dir) = &history.place
    {
        // Some of it may be there and not say what it is. A private database is gone with the demo.
        let _ = std::fs::remove_dir_all(dir);
    }
    filled
}

fn play(backfill: &mut Backfill, hour: GeneratedHour, stop: &CancellationToken) -> Result<(), BackfillError> {
    for step in hour {
        if stop.is_cancelled() {
            return Ok(());
        }
        match step {
            Step::Observed(at, observation) => backfill.observe(at, observation)?,
            Step::Forced(czxid) => backfill.forced(czxid),
            Step::Stopped { until } => backfill.stop(until)?,
        }
    }
    Ok(())
}
