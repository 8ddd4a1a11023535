//! What is seen of the program: as many lines as the screen has, none wider than it. Pure.

use lockscope_view::{Body, Window};

use super::super::text::{Line, wrapped};
use super::super::{board, lock, words};
use super::{App, Size};
use crate::commands::query::table::Tone;

/// Smaller screens show nothing.
const COLUMNS_MIN: usize = 20;
const ROWS_MIN: usize = 5;
/// Rows of the list that are seen whatever stands above it.
const LIST_ROWS_MIN: usize = 3;
/// Lines that are always there: the link, the title, the heads of the columns, the keys.
const FIXED_LINES: usize = 4;

impl App {
    /// The screen: as many lines as it has rows, none wider than it.
    pub(in crate::commands::watch) fn screen(&mut self) -> Vec<Line> {
        let Size { columns, rows } = self.size;
        if columns < COLUMNS_MIN || rows < ROWS_MIN {
            return vec![Line::of(Tone::Plain, words::TOO_SMALL).fit(columns)];
        }
        let mut lines = if self.is_help_open { self.help() } else { self.whole() };
        lines.resize_with(rows - 1, Line::default);
        lines.push(self.footer());
        lines.into_iter().map(|line| line.fit(columns)).collect()
    }

    /// All there is in so many rows, without the keys.
    pub(in crate::commands::watch) fn whole(&mut self) -> Vec<Line> {
        let rows = self.size.rows - FIXED_LINES;
        let total = usize::try_from(self.window().total).unwrap_or(usize::MAX);
        let list_rows = total.clamp(1, LIST_ROWS_MIN.max(rows / 2));
        let is_live = self.viewer.link().is_live();
        let mut body = self.head(is_live, rows.saturating_sub(list_rows));
        self.seen = u32::try_from(rows.saturating_sub(body.len()).max(1)).unwrap_or(u32::MAX);
        self.settle();
        body.extend(self.list());
        // Of what is old, colours say nothing. The title says which rows are seen.
        let body = body.into_iter().map(|line| if is_live { line } else { line.dimmed() });
        let lines = [self.link_line(is_live), self.title()].into_iter().chain(body);
        lines.map(|line| line.fit(self.size.columns)).collect()
    }

    fn help(&self) -> Vec<Line> {
        let is_live = self.viewer.link().is_live();
        let mut lines = vec![self.link_line(is_live), self.title(), Line::of(Tone::Head, words::HELP_TITLE)];
        for (key, text) in words::KEYS {
            lines.extend(wrapped(&format!("  {key:<7}"), Tone::Plain, text, self.size.columns, 3));
        }
        lines
    }

    fn link_line(&self, is_live: bool) -> Line {
        let (word, text) = self.viewer.link_words();
        let (word_tone, text_tone) = match (is_live, self.viewer.link().state == "live" && !self.viewer.is_paused()) {
            (_, true) => (Tone::Good, Tone::Faint),
            (true, false) => (Tone::Odd, Tone::Faint),
            (false, _) => (Tone::Bad, Tone::Bad),
        };
        Line::of(word_tone, &word).with(Tone::Plain, "  ").with(text_tone, &text)
    }

    fn title(&self) -> Line {
        let line = Line::of(Tone::Faint, &self.server).with(Tone::Plain, "  ");
        let line = if self.lock.is_some() {
            let needs = self.viewer.model.board_head().map_or(0, |head| head.problem_count);
            let needs = if needs > 0 { format!("{}  ", words::need_you(needs)) } else { String::new() };
            line.with(Tone::Bad, &needs).with(Tone::Faint, words::HOLDERS_AND_QUEUE)
        } else {
            let grouped = if self.query.group { ", by root" } else { "" };
            let filter = if self.query.q.is_empty() { String::new() } else { format!("  /{}", self.query.q) };
            line.with(Tone::Faint, words::sort(self.query.sort)).with(Tone::Faint, grouped).with(Tone::Odd, &filter)
        };
        let Window { total, offset, rows } = self.window();
        let end = offset.saturating_add(u32::try_from(rows.len()).unwrap_or(u32::MAX)).min(total);
        let last = self.list.top().saturating_add(self.seen).min(end);
        if last == 0 {
            return line;
        }
        let first = self.list.top().saturating_add(1).min(last);
        line.with(Tone::Faint, &format!("  {}", words::rows(first, last, total)))
    }

    /// What stands above the list.
    fn head(&self, is_live: bool, lines_max: usize) -> Vec<Line> {
        let (now_ms, columns) = (self.viewer.now_ms(), self.size.columns);
        match (self.viewer.model.body(), &self.lock) {
            (Some(Body::Board(board)), _) => board::head(&board.head, is_live, now_ms, columns, lines_max),
            (Some(Body::Lock(Some(page))), _) => lock::head(page, now_ms, columns, lines_max),
            (Some(Body::Lock(None)), Some(query)) => wrapped("", Tone::Plain, &words::no_lock(&query.path), columns, 3),
            _ => vec![Line::of(Tone::Faint, words::NOT_READ)],
        }
    }

    /// The heads of the columns and the rows that are seen.
    fn list(&self) -> Vec<Line> {
        let (now_ms, columns) = (self.viewer.now_ms(), self.size.columns);
        let Window { total, offset, .. } = self.window();
        let skipped = self.list.top().saturating_sub(offset) as usize;
        let seen = (offset..).zip(0_usize..).skip(skipped).take(self.seen as usize);
        let is_chosen = |at| self.list.at() == Some(at);
        match self.viewer.model.body() {
            Some(Body::Board(board)) if total == 0 => {
                let is_empty = board.head.totals.locks == 0;
                vec![Line::of(Tone::Faint, if is_empty { words::NO_LOCKS } else { words::NO_ROW })]
            }
            Some(Body::Board(board)) => {
                let table = board::table(board, columns);
                let rows = seen.map_while(|(at, index)| {
                    let row = board.window.rows.get(*self.order.indices().get(index)?)?;
                    let mark = match (is_chosen(at), self.query.pins.contains(&row.key)) {
                        (true, _) => "›",
                        (false, true) => "*",
                        (false, false) => "",
                    };
                    Some(table.row(mark, board::cells(row, is_chosen(at), now_ms)))
                });
                std::iter::once(table.heads()).chain(rows).collect()
            }
            Some(Body::Lock(Some(page))) => {
                let (table, holders) = (lock::table(columns), page.head.row.holder_count);
                let rows = seen.map_while(|(at, index)| {
                    let row = page.window.rows.get(index)?;
                    Some(table.row(if is_chosen(at) { "›" } else { "" }, lock::cells(row, holders, now_ms)))
                });
                std::iter::once(table.heads()).chain(rows).collect()
            }
            _ => Vec::new(),
        }
    }

    fn footer(&self) -> Line {
        if let Some(text) = &self.typing {
            return Line::of(Tone::Head, "/").with(Tone::Plain, text).with(Tone::Head, "_");
        }
        if let Some(refusal) = self.viewer.model.refusal() {
            return Line::of(Tone::Bad, refusal);
        }
        let texts: &[&str] = match (self.is_help_open, &self.lock) {
            (true, _) => &words::HELP_FOOTERS,
            (false, None) => &words::BOARD_FOOTERS,
            (false, Some(_)) => &words::LOCK_FOOTERS,
        };
        let fits = |text: &&&str| text.chars().count() <= self.size.columns;
        Line::of(Tone::Faint, texts.iter().find(fits).or(texts.last()).copied().unwrap_or_default())
    }
}
