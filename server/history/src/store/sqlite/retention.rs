//! What is too old, or too much, goes: whole days by removing their files; of the day that is written, what lies before
//! one of its checkpoints.

use std::path::Path;
use std::time::Duration;

use lockscope_core::time::TimeMs;
use lockscope_runtime::clock;

use super::files::{self, DAY_MS, Day};
use super::schema::{Content, Lives};
use super::{SqliteStore, State, chunks, connection, days_in, error, is_unusable};
use crate::store::{Removed, Retention, StoreError, TRANSACTION_ROWS_MAX};

/// How long the file of a day may take to be written anew, without its lives.
const VACUUM_MAX: Duration = Duration::from_secs(1_800);

impl SqliteStore {
    pub(super) fn remove(&self, now: TimeMs, retention: Retention) -> Result<Removed, StoreError> {
        let mut removed = Removed::default();
        let mut state = self.state();
        let oldest_kept = now - retention.chunks_ms;
        let mut bytes: u64 = state.days.keys().map(|day| self.bytes_of(*day)).sum();
        while state.days.len() > 1 {
            let Some((day, totals)) = state.days.first_key_value().map(|(day, totals)| (*day, *totals)) else { break };
            if totals.last_at >= oldest_kept.0 && bytes <= retention.chunk_bytes_max {
                break;
            }
            bytes = bytes.saturating_sub(self.bytes_of(day));
            self.readers.forget(day);
            remove_file(&self.path(day, Content::Chunks))?;
            state.days.remove(&day);
            removed.days += 1;
        }
        removed.chunks = self.trim(&mut state, retention.chunk_bytes_max)?;
        let begins = state.days.values().map(|totals| totals.first_at).min();
        state.gaps.retain(|gap| begins.is_none_or(|begins| gap.to.0 >= begins));
        drop(state);
        self.remove_rows(now, retention)?;
        Ok(removed)
    }

    fn bytes_of(&self, day: Day) -> u64 {
        files::bytes(&self.path(day, Content::Chunks))
    }

    /// Makes room in the file of the only day that is left. It keeps its size; what is written next takes the room.
    fn trim(&self, state: &mut State, bytes_max: u64) -> Result<u64, StoreError> {
        let Some((day, totals)) = state.days.first_key_value().map(|(day, totals)| (*day, *totals)) else {
            return Ok(0);
        };
        if state.days.len() > 1 || self.bytes_of(day) <= bytes_max {
            return Ok(0);
        }
        let connection = self.writer(state, day)?;
        if chunks::used_bytes(connection)? <= bytes_max {
            return Ok(0);
        }
        // A quarter at a time; the newest checkpoint stays with all behind it.
        let wanted = totals.first_seq + (totals.last_seq - totals.first_seq) / 4 + 1;
        let keep_from = match chunks::checkpoint_after(connection, wanted)? {
            Some(head) => Some(head),
            None => chunks::checkpoint_before(connection, u64::MAX)?,
        };
        let Some(keep_from) = keep_from.filter(|head| head.seq > totals.first_seq) else { return Ok(0) };
        let mut removed = 0;
        loop {
            connection::give_up_at(connection, None)?;
            match chunks::remove_below(connection, keep_from.seq, TRANSACTION_ROWS_MAX)? {
                0 => break,
                some => removed += some,
            }
        }
        let totals = chunks::totals(connection)?;
        state.days.insert(day, totals);
        Ok(removed)
    }

    fn remove_rows(&self, now: TimeMs, retention: Retention) -> Result<(), StoreError> {
        for day in days_in(self.directory()?, Content::Rows)? {
            let ended = day.0.saturating_add(1).saturating_mul(DAY_MS);
            let path = self.path(day, Content::Rows);
            let done = if ended < (now - retention.minutes_ms).0 {
                files::check_regular(&path).and_then(|()| remove_file(&path))
            } else if ended < (now - retention.spans_ms).0 {
                self.remove_spans(&path)
            } else {
                Ok(())
            };
            match done {
                Err(why) if is_unusable(&why) => {
                    files::set_aside(&path, &why)?;
                }
                done => done?,
            }
        }
        Ok(())
    }

    /// Only minutes stay of a day.
    fn remove_spans(&self, path: &Path) -> Result<(), StoreError> {
        let mut connection = connection::write(path, Content::Rows, &self.ensemble)?;
        connection::give_up_at(&mut connection, Some(clock::instant() + VACUUM_MAX))?;
        let has_some = "SELECT EXISTS (SELECT 1 FROM span) OR EXISTS (SELECT 1 FROM fact)";
        if connection.query_row(has_some, [], |row| row.get(0)).map_err(error::failed)? {
            let rows = match Lives::of(&connection).map_err(error::failed)? {
                Lives::Uncharged | Lives::Plain => "DELETE FROM span; DELETE FROM fact;",
                Lives::Packed => {
                    "DELETE FROM life; DELETE FROM session; DELETE FROM form; DELETE FROM happening; DELETE FROM sentence;"
                }
            };
            let all = format!("{rows} DELETE FROM client; VACUUM;");
            connection.execute_batch(&all).map_err(error::failed)?;
        }
        Ok(())
    }
}

fn remove_file(path: &Path) -> Result<(), StoreError> {
    for part in files::with_companions(path) {
        match std::fs::remove_file(&part) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(files::failed(&part, &error)),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}
