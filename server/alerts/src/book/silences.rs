//! Silences: made, ended and forgotten.

use lockscope_view::{Alert, Silence};

use super::{Book, BookError, KeptSilence, SILENCES_MAX, is_meant};

/// Silences of one person at once: nobody takes them all.
pub(super) const A_PERSON_MAX: usize = SILENCES_MAX / 4;

impl Book {
    /// Silences that have not ended.
    pub fn silences(&self, now_ms: i64) -> Vec<Silence> {
        self.silences.values().filter(|silence| silence.until_at_ms > now_ms).cloned().collect()
    }

    /// One silence that has not ended.
    pub fn silence_by_id(&self, id: u64, now_ms: i64) -> Option<&Silence> {
        self.silences.get(&id).filter(|silence| silence.until_at_ms > now_ms)
    }

    /// Nobody is told of some alerts for a while. The silence's number is given by the book.
    ///
    /// # Errors
    /// There are too many.
    pub fn silence(&mut self, silence: Silence) -> Result<Silence, BookError> {
        let open = self.silences(silence.at_ms);
        if open.len() >= SILENCES_MAX {
            return Err(BookError::TooMany);
        }
        if open.iter().filter(|one| one.by == silence.by).count() >= A_PERSON_MAX {
            return Err(BookError::TooManyOfPerson);
        }
        self.last_silence = match &self.shared {
            Some(shared) => shared.next_id(self.last_silence, silence.at_ms),
            None => self.last_silence + 1,
        };
        let silence = Silence { id: self.last_silence, ..silence };
        self.silences.insert(silence.id, silence.clone());
        self.silence_changed(silence.id);
        Ok(silence)
    }

    pub fn end_silence(&mut self, id: u64) -> Result<(), BookError> {
        let silence = self.silences.remove(&id).ok_or(BookError::NoSilence(id))?;
        if self.shared.is_some() {
            self.ended_silences.insert(id, silence);
        }
        self.silence_changed(id);
        Ok(())
    }

    fn silence_changed(&mut self, id: u64) {
        self.unsaved_silences.insert(id);
        if let Some(shared) = &mut self.shared {
            shared.unsent_silences.insert(id);
        }
    }

    /// One as it is to be kept; None: it is gone.
    pub(super) fn kept_silence(&self, id: u64) -> Option<KeptSilence> {
        let open = self.silences.get(&id).map(|silence| (silence, false));
        let kept = open.or_else(|| self.ended_silences.get(&id).map(|silence| (silence, true)));
        kept.map(|(silence, is_ended)| KeptSilence { silence: silence.clone(), is_ended })
    }

    pub(super) fn silence_of(&self, alert: &Alert, now_ms: i64) -> Option<&Silence> {
        self.silences.values().find(|silence| silence.until_at_ms > now_ms && is_meant(&silence.matchers, alert))
    }

    /// What is past its end goes.
    pub(super) fn forget_silences(&mut self, now_ms: i64) {
        let all = self.silences.values().chain(self.ended_silences.values());
        let past: Vec<u64> = all.filter(|silence| silence.until_at_ms <= now_ms).map(|silence| silence.id).collect();
        for id in past {
            self.silences.remove(&id);
            self.ended_silences.remove(&id);
            self.unsaved_silences.insert(id);
            if let Some(shared) = &mut self.shared {
                shared.unsent_silences.remove(&id);
            }
        }
        if let Some(shared) = &mut self.shared {
            shared.forget(now_ms);
        }
    }
}
