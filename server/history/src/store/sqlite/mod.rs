//! The embedded store: a directory for each ensemble, in it a SQLite file a day for chunks and one for what is derived.
//!
//! A file holds the chunks from the first checkpoint of its day on, until the first of another day. So each begins with a
//! checkpoint, can be removed without harm to others, and can be handed on alone. A clock that is set back does not go
//! back to an earlier file: numbers rise from file to file. A file that can't be read is set aside, and is a gap.
//!
//! A bundle is a window of all that in one file, to be handed on.

mod bundle;
#[cfg(feature = "postgres")]
mod bundle_of;
mod charges;
mod chunks;
mod connection;
mod error;
mod facts;
mod files;
mod lives;
mod place;
mod readers;
mod retention;
mod rows;
mod rows_write;
mod schema;

#[cfg(feature = "postgres")]
pub(super) use self::bundle_of::make as bundle_of;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::ops::Range;
use std::path::Path;

use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use parking_lot::{Mutex, MutexGuard};
use rusqlite::Connection;

use self::chunks::Totals;
use self::files::{DAY_MS, Day};
use self::place::Place;
use self::readers::Readers;
use self::rows_write::RowWriter;
use self::schema::Content;
use super::bundle::{BundleError, BundleQuery};
use super::rows::{Density, DensityQuery, Fact, FactQuery, Minute, MinuteQuery, Rows, Span, SpanQuery};
use super::{
    CHUNKS_READ_MAX, ChunkHead, Coverage, GAPS_READ_MAX, Gap, GapReason, Removed, Retention, Store, StoreError,
    generated_before,
};
use crate::codec::{Chunk, ChunkKind};

/// Gaps kept in mind; of more, the oldest are only in the files.
const GAPS_MAX: usize = 100_000;

#[derive(Debug)]
pub struct SqliteStore {
    place: Place,
    ensemble: String,
    state: Mutex<State>,
    readers: Readers,
    row_writer: RowWriter,
    /// Days whose rows could not be read when they were asked for last.
    unread: Mutex<BTreeSet<Day>>,
    /// Held as long as this lives: there is one writer. None of a bundle, which has none.
    _taken: Option<File>,
}

#[derive(Debug, Default)]
struct State {
    days: BTreeMap<Day, Totals>,
    gaps: Vec<Gap>,
    unwritten: Vec<Gap>,
    writer: Option<(Day, Connection)>,
}

impl SqliteStore {
    /// Opens the recording of an ensemble under a directory, made where it is missing. Days that can't be read are set
    /// aside and are gaps.
    ///
    /// # Errors
    /// The directory can't be used, or another process writes there.
    pub fn open(directory: &Path, ensemble: &str) -> Result<Self, StoreError> {
        let directory = directory.join(files::directory_name(ensemble));
        files::make_directory(&directory)?;
        let taken = files::take(&directory)?;
        files::sweep(&directory);
        let mut state = State::default();
        for day in days_in(&directory, Content::Chunks)? {
            let path = directory.join(day.file_name(Content::Chunks));
            match look(&path, ensemble) {
                Ok((totals, gaps)) => {
                    state.days.insert(day, totals);
                    state.gaps.extend(gaps);
                }
                Err(why) if is_unusable(&why) || matches!(why, StoreError::TooLong) => {
                    if let Err(error) = state.lose(day, &path, &why) {
                        tracing::error!(file = %path.display(), %why, %error, "a day of history is left out: it can't be used, nor set aside");
                    }
                }
                Err(error) => return Err(error),
            }
        }
        state.days.retain(|_, totals| totals.chunks > 0);
        state.gaps.drain(..state.gaps.len().saturating_sub(GAPS_MAX));
        Ok(Self {
            place: Place::Directory(directory),
            ensemble: ensemble.to_owned(),
            state: Mutex::new(state),
            readers: Readers::default(),
            row_writer: RowWriter::default(),
            unread: Mutex::default(),
            _taken: Some(taken),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Runs a look over the days whose totals say that they may have it, in this order, until one has.
    fn find(
        &self,
        is_reversed: bool,
        may_have: impl Fn(&Totals) -> bool,
        look: impl Fn(&Connection) -> Result<Option<ChunkHead>, StoreError>,
    ) -> Result<Option<ChunkHead>, StoreError> {
        let mut days: Vec<Day> =
            self.state().days.iter().filter(|(_, totals)| may_have(totals)).map(|(day, _)| *day).collect();
        if is_reversed {
            days.reverse();
        }
        for day in days {
            if let Some(head) = self.reading(day, &look)?.flatten() {
                return Ok(Some(head));
            }
        }
        Ok(None)
    }

    fn head_behind(&self, zxid: Zxid, behind: u64) -> Result<Option<ChunkHead>, StoreError> {
        let may_have = |totals: &Totals| totals.zxid >= zxid.0 && totals.last_seq > behind;
        self.find(false, may_have, |connection| chunks::head_of(connection, zxid, behind))
    }

    /// Runs a look over a day; None when it was removed or proved to be damaged, which is noted.
    fn reading<T>(
        &self,
        day: Day,
        look: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let path = self.path(day, Content::Chunks);
        match self.readers.with(day, &path, Content::Chunks, look) {
            Ok(value) => Ok(Some(value)),
            Err(why) if is_unusable(&why) => {
                self.readers.forget(day);
                self.state().lose(day, &path, &why)?;
                Ok(None)
            }
            Err(_) if !self.state().days.contains_key(&day) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&self, state: &mut State, day: Day, chunks: &[&Chunk], gaps: &[Gap]) -> Result<(), StoreError> {
        let path = self.path(day, Content::Chunks);
        let written = self.writer(state, day).and_then(|connection| {
            let transaction = connection.transaction().map_err(error::failed)?;
            chunks.iter().try_for_each(|chunk| chunks::insert(&transaction, chunk))?;
            gaps.iter().try_for_each(|gap| chunks::insert_gap(&transaction, gap))?;
            transaction.commit().map_err(error::failed)
        });
        if let Err(error) = written {
            // Opened anew with the next try: what is wrong may be this file or this connection.
            state.writer = None;
            if is_unusable(&error) {
                self.readers.forget(day);
                state.lose(day, &path, &error)?;
            }
            return Err(error);
        }
        let totals = state.days.entry(day).or_default();
        chunks.iter().for_each(|chunk| totals.add(chunk));
        for gap in gaps {
            // One that goes on takes its own place.
            state.gaps.retain(|known| (known.after_seq, known.from) != (gap.after_seq, gap.from));
            state.gaps.push(*gap);
        }
        Ok(())
    }

    fn writer<'a>(&self, state: &'a mut State, day: Day) -> Result<&'a mut Connection, StoreError> {
        let path = self.path(day, Content::Chunks);
        // Somebody may have removed the file: what would be written to it then is lost.
        let is_open = state.writer.as_ref().is_some_and(|(open, _)| *open == day) && path.exists();
        if !is_open {
            state.writer = None;
            let connection = connection::write(&path, Content::Chunks, &self.ensemble)?;
            state.writer = Some((day, connection));
        }
        let connection = state.writer.as_mut().map(|(_, connection)| connection);
        let connection = connection.ok_or_else(|| StoreError::Failed("not open".to_owned()))?;
        connection::give_up_at(connection, None)?;
        Ok(connection)
    }
}

impl State {
    fn last_seq(&self) -> u64 {
        self.days.last_key_value().map_or(0, |(_, totals)| totals.last_seq)
    }

    /// A day can't be read: its file is set aside, and it is a gap. Days after it are whole.
    fn lose(&mut self, day: Day, path: &Path, why: &StoreError) -> Result<(), StoreError> {
        self.days.remove(&day);
        self.writer.take_if(|(open, _)| *open == day);
        let written = std::fs::symlink_metadata(path).and_then(|metadata| metadata.modified()).ok();
        let written = written.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let written_ms = written.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or(i64::MAX);
        if !files::set_aside(path, why)? {
            return Ok(());
        }
        let before = self.days.range(..day).next_back().map(|(_, totals)| *totals);
        let begins = day.0.saturating_mul(DAY_MS);
        let from = before.map_or(begins, |before| before.last_at);
        let after = self.days.range(day..).next().map(|(_, totals)| totals.first_at);
        let to = after.unwrap_or_else(|| written_ms.min(begins.saturating_add(DAY_MS))).max(from);
        let after_seq = before.map_or(0, |before| before.last_seq);
        let gap = Gap { after_seq, from: TimeMs(from), to: TimeMs(to), why: GapReason::Damaged };
        self.gaps.push(gap);
        self.unwritten.push(gap);
        Ok(())
    }
}

/// Whether it is the file itself that can't be used, and another in its place can.
fn is_unusable(error: &StoreError) -> bool {
    matches!(error, StoreError::Damaged(_) | StoreError::Newer(_))
}

/// Totals and gaps of a day. Opened to write, so that what a killed process left is put in order first.
fn look(path: &Path, ensemble: &str) -> Result<(Totals, Vec<Gap>), StoreError> {
    let connection = match connection::write(path, Content::Chunks, ensemble) {
        Err(StoreError::Denied(_)) => connection::read(path, Content::Chunks)?,
        other => other?,
    };
    Ok((chunks::totals(&connection)?, chunks::gaps(&connection)?))
}

fn days_in(directory: &Path, content: Content) -> Result<Vec<Day>, StoreError> {
    let entries = std::fs::read_dir(directory).map_err(|error| files::failed(directory, &error))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut days: Vec<Day> = names.filter_map(|name| Day::of_file(&name, content)).collect();
    days.sort_unstable();
    Ok(days)
}

impl Store for SqliteStore {
    fn kind(&self) -> &'static str {
        "sqlite"
    }

    fn append(&self, chunks: &[Chunk], gaps: &[Gap]) -> Result<(), StoreError> {
        self.directory()?;
        let mut state = self.state();
        let state = &mut *state;
        let mut newest = state.days.last_key_value().map(|(day, _)| *day);
        let mut last_seq = state.last_seq();
        let mut batches: Vec<(Day, Vec<&Chunk>)> = Vec::new();
        for chunk in chunks {
            if chunk.seq < last_seq || chunk.seq == 0 {
                return Err(StoreError::Failed(format!("chunk {} comes after chunk {last_seq}", chunk.seq)));
            }
            last_seq = chunk.seq;
            let own = Day::of(chunk.first_at.0);
            let day = match newest {
                Some(newest) if chunk.kind != (ChunkKind::Checkpoint { part: 0 }) => newest,
                Some(newest) => newest.max(own),
                None => own,
            };
            newest = Some(day);
            match batches.last_mut().filter(|(of, _)| *of == day) {
                Some((_, batch)) => batch.push(chunk),
                None => batches.push((day, vec![chunk])),
            }
        }
        if batches.is_empty()
            && let Some(day) = newest.or_else(|| gaps.first().map(|gap| Day::of(gap.to.0)))
        {
            batches.push((day, Vec::new()));
        }
        for (at, (day, batch)) in batches.iter().enumerate() {
            // Gaps go with the first: they lie before what comes after them.
            let gaps = if at == 0 { gaps } else { &[] };
            let unwritten = std::mem::take(&mut state.unwritten);
            let all: Vec<Gap> = unwritten.iter().chain(gaps).copied().collect();
            if let Err(error) = self.write(state, *day, batch, &all) {
                state.unwritten.splice(0..0, unwritten);
                return Err(error);
            }
        }
        Ok(())
    }

    fn chunks(&self, from_seq: u64, limit: usize) -> Result<Vec<Chunk>, StoreError> {
        let limit = limit.min(CHUNKS_READ_MAX);
        let days: Vec<Day> =
            self.state().days.iter().filter(|(_, totals)| totals.last_seq >= from_seq).map(|(day, _)| *day).collect();
        let mut found = Vec::new();
        for day in days {
            let wanted = limit - found.len();
            if wanted == 0 {
                break;
            }
            found.extend(
                self.reading(day, |connection| chunks::from(connection, from_seq, wanted))?.unwrap_or_default(),
            );
        }
        Ok(found)
    }

    fn head_at(&self, at: TimeMs) -> Result<Option<ChunkHead>, StoreError> {
        self.find(true, |totals| totals.first_at <= at.0, |connection| chunks::head_at(connection, at))
    }

    fn head_of(&self, zxid: Zxid) -> Result<Option<ChunkHead>, StoreError> {
        let generated = generated_before(self)?.map_or(0, |gap| gap.after_seq);
        let observed = self.head_behind(zxid, generated)?;
        if observed.is_some() || generated == 0 { Ok(observed) } else { self.head_behind(zxid, 0) }
    }

    fn checkpoint_before(&self, seq: u64) -> Result<Option<ChunkHead>, StoreError> {
        let may_have = |totals: &Totals| totals.checkpoints > 0 && totals.first_seq <= seq;
        self.find(true, may_have, |connection| chunks::checkpoint_before(connection, seq))
    }

    fn checkpoint_after(&self, seq: u64) -> Result<Option<ChunkHead>, StoreError> {
        let may_have = |totals: &Totals| totals.checkpoints > 0 && totals.last_seq >= seq;
        self.find(false, may_have, |connection| chunks::checkpoint_after(connection, seq))
    }

    fn gaps(&self, range: Range<TimeMs>) -> Result<Vec<Gap>, StoreError> {
        let state = self.state();
        let overlapping = |gap: &&Gap| gap.from < range.end && gap.to >= range.start;
        let mut gaps: Vec<Gap> = state.gaps.iter().rev().filter(overlapping).take(GAPS_READ_MAX).copied().collect();
        gaps.sort_unstable_by_key(|gap| (gap.after_seq, gap.from));
        Ok(gaps)
    }

    fn unread_rows(&self, range: &Range<TimeMs>) -> Vec<Gap> {
        self.unread_days(range)
    }

    fn coverage(&self) -> Result<Coverage, StoreError> {
        let state = self.state();
        let mut coverage = Coverage { last_seq: state.last_seq(), ..Coverage::default() };
        for (day, totals) in &state.days {
            let (first_at, last_at) = (TimeMs(totals.first_at), TimeMs(totals.last_at));
            coverage.from = Some(coverage.from.map_or(first_at, |from| from.min(first_at)));
            // The end is that of the newest, by number: a clock may have been set back.
            coverage.to = Some(last_at);
            coverage.chunks += totals.chunks;
            coverage.checkpoints += totals.checkpoints;
            coverage.bytes += files::bytes(&self.path(*day, Content::Chunks));
        }
        for gap in &state.gaps {
            coverage.gaps += 1;
            coverage.gap_ms = coverage.gap_ms.saturating_add(gap.to.since(gap.from));
        }
        coverage.to = coverage.to.max(state.gaps.iter().map(|gap| gap.to).max());
        if let Place::Directory(directory) = &self.place {
            for day in days_in(directory, Content::Rows)? {
                coverage.bytes += files::bytes(&self.path(day, Content::Rows));
            }
        }
        Ok(coverage)
    }

    fn retain(&self, now: TimeMs, retention: Retention) -> Result<Removed, StoreError> {
        self.directory()?;
        self.remove(now, retention)
    }

    fn write_rows(&self, rows: &Rows) -> Result<(), StoreError> {
        rows_write::write(self, rows)
    }

    fn spans(&self, query: &SpanQuery) -> Result<Vec<Span>, StoreError> {
        rows::spans(self, query)
    }

    fn minutes(&self, query: &MinuteQuery) -> Result<Vec<Minute>, StoreError> {
        rows::minutes(self, query)
    }

    fn densities(&self, query: &DensityQuery) -> Result<Vec<Density>, StoreError> {
        rows::densities(self, query)
    }

    fn facts(&self, query: &FactQuery) -> Result<Vec<Fact>, StoreError> {
        rows::facts(self, query)
    }

    fn bundle(&self, query: &BundleQuery<'_>) -> Result<File, BundleError> {
        bundle::make(self, query)
    }
}
