//! What changed, a line a change: for whoever follows without a terminal. Pure.

use std::collections::BTreeMap;

use lockscope_view::{Body, LockRow, Verdict, WINDOW_ROWS_MAX};

use super::text::clean;
use super::words;

/// What was said of each lock so far.
#[derive(Debug, Default)]
pub(super) struct Changes {
    rows: Option<BTreeMap<String, (Verdict, String)>>,
    link: String,
    was_partly: bool,
}

impl Changes {
    /// What the link's word is by now, if it is another one; `text` is the sentence beside it.
    pub(super) fn link(&mut self, word: &str, text: &str, now_ms: i64) -> Option<String> {
        if self.link == word {
            return None;
        }
        word.clone_into(&mut self.link);
        Some(words::changed(now_ms, word, &clean(text), ""))
    }

    /// What differs from what was said before; at first, what is not as it should be.
    pub(super) fn of(&mut self, body: &Body, now_ms: i64) -> Vec<String> {
        let (rows, total): (Vec<&LockRow>, u32) = match body {
            Body::Board(board) => (board.window.rows.iter().collect(), board.window.total),
            Body::Lock(page) => (page.iter().map(|page| &page.head.row).collect(), u32::from(page.is_some())),
            _ => return Vec::new(),
        };
        let is_first = self.rows.is_none();
        let is_lock = matches!(body, Body::Lock(_));
        let old = self.rows.take().unwrap_or_default();
        let mut lines = Vec::new();
        let is_part = usize::try_from(total).is_ok_and(|total| total > rows.len());
        if is_part && !self.was_partly {
            lines.push(words::changed(now_ms, "note", &words::not_all(rows.len(), total), ""));
        }
        self.was_partly = is_part;
        let mut new = BTreeMap::new();
        for row in rows {
            let said = (row.verdict, clean(&row.sentence));
            let is_fine = matches!(row.verdict, Verdict::Free | Verdict::Healthy);
            let is_told = if is_first { is_lock || !is_fine } else { old.get(&row.key) != Some(&said) };
            if is_told {
                lines.push(words::changed(now_ms, words::verdict(said.0), &clean(&row.key), &said.1));
            }
            new.insert(row.key.clone(), said);
        }
        // Of a part of a longer list, one that is not there any more may only stand elsewhere.
        let is_whole = !is_part && new.len() < WINDOW_ROWS_MAX as usize;
        for key in old.keys().filter(|key| is_whole && !new.contains_key(*key)) {
            lines.push(words::changed(now_ms, "gone", &clean(key), words::LOCK_GONE));
        }
        self.rows = Some(new);
        lines
    }
}
