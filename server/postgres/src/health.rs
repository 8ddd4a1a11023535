//! Whether it makes sense to ask: while the database is down, looks fail at once, and one in a while is let through.

use std::time::{Duration, Instant};

use lockscope_runtime::backoff::Backoff;
use lockscope_runtime::clock;
use parking_lot::Mutex;

use crate::error::DatabaseError;

const RETRY_FIRST: Duration = Duration::from_millis(200);
const RETRY_CAP: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(crate) struct Health(Mutex<Option<Down>>);

#[derive(Debug)]
struct Down {
    error: DatabaseError,
    retry_at: Instant,
    backoff: Option<Backoff>,
}

impl Health {
    /// Ok where it makes sense to ask. Where it is down and a try is due, whoever asks makes it.
    pub(crate) fn check(&self) -> Result<(), DatabaseError> {
        let now = clock::instant();
        let mut down = self.0.lock();
        let Some(down) = down.as_mut() else { return Ok(()) };
        if now < down.retry_at {
            return Err(down.error.clone());
        }
        down.pause(now);
        Ok(())
    }

    pub(crate) fn works(&self) {
        *self.0.lock() = None;
    }

    pub(crate) fn fails(&self, error: &DatabaseError) {
        if !error.is_lost() {
            return;
        }
        let now = clock::instant();
        let mut down = self.0.lock();
        match down.as_mut() {
            Some(down) => down.error = error.clone(),
            None => {
                let backoff = Backoff::new(RETRY_FIRST, RETRY_CAP).ok();
                let mut new = Down { error: error.clone(), retry_at: now, backoff };
                new.pause(now);
                *down = Some(new);
            }
        }
    }
}

impl Down {
    fn pause(&mut self, now: Instant) {
        let wait = self.backoff.as_mut().map_or(RETRY_CAP, |backoff| backoff.next(0.5));
        self.retry_at = now + wait;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_a_while_is_let_through() {
        let health = Health::default();
        health.check().unwrap();
        health.fails(&DatabaseError::TooLong);
        health.check().unwrap();
        let error = DatabaseError::Unreachable("gone".to_owned());
        health.fails(&error);
        assert_eq!(health.check(), Err(error));
        if let Some(down) = health.0.lock().as_mut() {
            down.retry_at = clock::instant();
        }
        health.check().unwrap();
        assert!(health.check().is_err(), "only one");
        health.works();
        health.check().unwrap();
    }
}
