//! What is seen of the program: as many lines as the screen has, none wider than it. Pure.

use lockscope_view::Body;

use super::super::text::{Line, wrapped};
use super::super::{board, lock, words};
use super::{App, Place, Size, severity};
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
        let mut lines = vec![self.link_line()];
        if self.is_help_open {
            lines.push(self.title());
            lines.extend(help(columns));
            lines.truncate(rows - 1);
        } else {
            let total = usize::try_from(self.total()).unwrap_or(usize::MAX);
            let list_rows = total.clamp(1, LIST_ROWS_MIN.max((rows - FIXED_LINES) / 2));
            let head = self.head((rows - FIXED_LINES).saturating_sub(list_rows));
            self.seen = u32::try_from((rows - FIXED_LINES).saturating_sub(head.len()).max(1)).unwrap_or(1);
            self.settle();
            // It says which rows are seen.
            lines.push(self.title());
            lines.extend(head);
            lines.extend(self.list());
        }
        lines.resize_with(rows - 1, Line::default);
        lines.push(self.footer());
        lines.into_iter().map(|line| line.fit(columns)).collect()
    }

    /// All there is, without a screen: what is asked for once.
    pub(in crate::commands::watch) fn whole(&mut self) -> Vec<Line> {
        self.seen = u32::MAX;
        let mut lines = vec![self.link_line(), self.title()];
        lines.extend(self.head(usize::MAX));
        lines.extend(self.list());
        let columns = self.size.columns;
        lines.into_iter().map(|line| line.fit(columns)).collect()
    }

    fn link_line(&self) -> Line {
        let (word, text) = self.viewer.link_words();
        let link = self.viewer.link();
        let tone = match (link.is_live(), link.state == "live" && !self.viewer.is_paused()) {
            (_, true) => Tone::Good,
            (true, false) => Tone::Odd,
            (false, _) => Tone::Bad,
        };
        Line::of(tone, &word)
            .with(Tone::Plain, "  ")
            .with(if tone == Tone::Bad { Tone::Bad } else { Tone::Faint }, &text)
    }

    fn title(&self) -> Line {
        let line = Line::of(Tone::Faint, &self.server);
        match &self.place {
            Place::Board => {
                let grouped = if self.query.group { ", by root" } else { "" };
                let line = line.with(Tone::Faint, &format!("  {}{grouped}", words::sort(self.query.sort)));
                let filter = if self.query.q.is_empty() { String::new() } else { format!("  /{}", self.query.q) };
                line.with(Tone::Odd, &filter).with(Tone::Faint, &self.rows_words())
            }
            Place::Lock(_) => {
                let needs = self.viewer.model.board_head().map_or(0, |head| head.problem_count);
                let needs = if needs > 0 { format!("  {}", words::need_you(needs)) } else { String::new() };
                let title = format!("  {}", words::HOLDERS_AND_QUEUE);
                line.with(Tone::Bad, &needs).with(Tone::Faint, &title).with(Tone::Faint, &self.rows_words())
            }
        }
    }

    fn rows_words(&self) -> String {
        let (list, offset, sent, total) = match self.viewer.model.body() {
            Some(Body::Board(board)) => {
                (&self.board_list, board.window.offset, board.window.rows.len(), board.window.total)
            }
            Some(Body::Lock(Some(page))) => {
                (&self.lock_list, page.window.offset, page.window.rows.len(), page.window.total)
            }
            _ => return String::new(),
        };
        let end = offset.saturating_add(u32::try_from(sent).unwrap_or(u32::MAX)).min(total);
        let last = list.top().saturating_add(self.seen).min(end);
        if last == 0 {
            String::new()
        } else {
            format!("  {}", words::rows(list.top().saturating_add(1).min(last), last, total))
        }
    }

    /// Whether what is shown may be called so now.
    fn is_live(&self) -> bool {
        self.viewer.link().is_live()
    }

    fn head(&self, lines_max: usize) -> Vec<Line> {
        let (now_ms, columns, is_live) = (self.viewer.now_ms(), self.size.columns, self.is_live());
        let lines = match self.viewer.model.body() {
            Some(Body::Board(board)) => board::head(&board.head, is_live, now_ms, columns, lines_max),
            Some(Body::Lock(Some(page))) => lock::head(page, now_ms, columns, lines_max),
            Some(Body::Lock(None)) => {
                let path = if let Place::Lock(query) = &self.place { query.path.as_str() } else { "" };
                wrapped("", Tone::Plain, &words::no_lock(path), columns, 3)
            }
            _ => vec![Line::of(Tone::Faint, words::NOT_READ)],
        };
        if is_live { lines } else { lines.into_iter().map(Line::dimmed).collect() }
    }

    fn list(&self) -> Vec<Line> {
        let (now_ms, columns, is_live) = (self.viewer.now_ms(), self.size.columns, self.is_live());
        let mut lines = Vec::new();
        if let Some(board) = self.board() {
            if board.window.total == 0 {
                let is_empty = board.head.totals.locks == 0;
                return vec![Line::of(Tone::Faint, if is_empty { words::NO_LOCKS } else { words::NO_ROW })];
            }
            let widths = board::Columns::of(board, columns);
            lines.push(widths.heads());
            let rows: Vec<(&str, u8)> =
                board.window.rows.iter().map(|row| (row.key.as_str(), severity(row.verdict))).collect();
            // As it was arranged a moment ago.
            let order = self.order.clone().arrange(&rows, board.window.offset, now_ms);
            let skipped = self.board_list.top().saturating_sub(board.window.offset);
            let seen = (board.window.offset..).zip(order).skip(skipped as usize).take(self.seen as usize);
            lines.extend(seen.filter_map(|(at, index)| {
                let row = board.window.rows.get(index)?;
                let is_pinned = self.query.pins.contains(&row.key);
                Some(widths.row(row, self.board_list.at() == Some(at), is_pinned, now_ms))
            }));
        } else if let Some(Some(page)) = self.lock() {
            let widths = lock::Columns::of(columns);
            lines.push(widths.heads());
            let skipped = self.lock_list.top().saturating_sub(page.window.offset);
            let seen = (page.window.offset..).zip(&page.window.rows).skip(skipped as usize).take(self.seen as usize);
            let holders = page.head.row.holder_count;
            lines.extend(seen.map(|(at, row)| widths.row(row, holders, self.lock_list.at() == Some(at), now_ms)));
        }
        if is_live { lines } else { lines.into_iter().map(Line::dimmed).collect() }
    }

    fn footer(&self) -> Line {
        if let Some(text) = &self.typing {
            return Line::of(Tone::Head, "/").with(Tone::Plain, text).with(Tone::Head, "_");
        }
        if let Some(refusal) = self.viewer.model.refusal() {
            return Line::of(Tone::Bad, refusal);
        }
        let texts: &[&str] = match (&self.place, self.is_help_open) {
            (_, true) => &words::HELP_FOOTERS,
            (Place::Board, _) => &words::BOARD_FOOTERS,
            (Place::Lock(_), _) => &words::LOCK_FOOTERS,
        };
        let fits = |text: &&&str| text.chars().count() <= self.size.columns;
        Line::of(Tone::Faint, texts.iter().find(fits).or(texts.last()).copied().unwrap_or_default())
    }
}

fn help(columns: usize) -> Vec<Line> {
    let mut lines = vec![Line::of(Tone::Head, words::HELP_TITLE)];
    for (key, text) in words::KEYS {
        lines.extend(wrapped(&format!("  {key:<7}"), Tone::Plain, text, columns, 3));
    }
    lines
}
