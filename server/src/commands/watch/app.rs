//! The program in the terminal as a state: keys and frames in, lines out. Pure.

use lockscope_wire::{Board, BoardQuery, Body, LockPage, LockQuery, PINS_MAX, Sort, Verdict, View};

use super::keys::Key;
use super::list::{ListState, Move, RowOrder};
use super::text::Line;
use super::viewer::{Moment, Viewer};
use super::{board, lock, words};
use crate::commands::query::table::Tone;

/// Characters of a filter.
const FILTER_CHARS_MAX: usize = 200;
/// Smaller screens show nothing.
const COLUMNS_MIN: usize = 20;
const ROWS_MIN: usize = 5;
/// Rows of the list that are seen whatever stands above it.
const LIST_ROWS_MIN: usize = 3;
/// Lines that are always there: the link, the title, the heads of the columns, the keys.
const FIXED_LINES: usize = 4;

/// A screen, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// What a key asks of whoever owns the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Go on.
    Go,
    /// Draw everything anew.
    Redraw,
    /// Stop until the shell continues us.
    Suspend,
    /// End.
    Quit,
}

/// What is on screen.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Board,
    Lock(LockQuery),
}

/// All of it.
#[derive(Debug)]
pub(super) struct App {
    pub(super) viewer: Viewer,
    server: String,
    place: Place,
    query: BoardQuery,
    board_list: ListState,
    lock_list: ListState,
    order: RowOrder,
    /// The filter while it is typed.
    typing: Option<String>,
    is_help_open: bool,
    size: Size,
    /// Rows of the list on screen, as of the last look.
    seen: u32,
}

impl App {
    /// Of a board, or of a lock whose board is behind it.
    pub(super) fn new(server: &str, query: BoardQuery, lock: Option<LockQuery>, size: Size) -> Self {
        let place = lock.map_or(Place::Board, Place::Lock);
        let view = view(&place, &query);
        Self {
            viewer: Viewer::new(view),
            server: server.trim_start_matches("http://").trim_start_matches("https://").to_owned(),
            place,
            query,
            board_list: ListState::default(),
            lock_list: ListState::default(),
            order: RowOrder::default(),
            typing: None,
            is_help_open: false,
            size,
            seen: 1,
        }
    }

    /// The screen has another size.
    pub(super) fn resize(&mut self, size: Size) {
        self.size = size;
    }

    /// A look at the clock; true when the connection is to be renewed.
    #[must_use]
    pub(super) fn look(&mut self, moment: Moment) -> bool {
        self.apply_filter();
        self.viewer.look(moment)
    }

    /// Whether there is something to show that is known, or known not to be there.
    pub(super) fn is_settled(&self) -> bool {
        !self.viewer.model.awaits_data() && self.viewer.link().state != "syncing"
    }

    /// A key.
    pub(super) fn press(&mut self, key: Key) -> Turn {
        match key {
            Key::Interrupt => return Turn::Quit,
            Key::Suspend => return Turn::Suspend,
            Key::Redraw => return Turn::Redraw,
            _ => {}
        }
        if self.typing.is_some() {
            self.type_filter(key);
            return Turn::Go;
        }
        if self.is_help_open {
            self.is_help_open = false;
            return if key == Key::Char('q') { Turn::Quit } else { Turn::Go };
        }
        match key {
            Key::Char('q') => return Turn::Quit,
            Key::Char('r') => return Turn::Redraw,
            Key::Char('?') => self.is_help_open = true,
            Key::Char('p') => self.viewer.toggle_pause(),
            Key::Char('j') | Key::Down => self.step(Move::By(1)),
            Key::Char('k') | Key::Up => self.step(Move::By(-1)),
            Key::PageDown | Key::Char(' ') => self.step(Move::Screens(1)),
            Key::PageUp => self.step(Move::Screens(-1)),
            Key::Home => self.step(Move::First),
            Key::End => self.step(Move::Last),
            Key::Escape | Key::Backspace => self.back(),
            _ if self.place == Place::Board => self.press_on_board(key),
            _ => {}
        }
        Turn::Go
    }

    fn press_on_board(&mut self, key: Key) {
        match key {
            Key::Enter => self.open_chosen(),
            Key::Char('/') => self.typing = Some(self.query.q.clone()),
            Key::Char('o') => self.sort_by(1),
            Key::Char('O') => self.sort_by(Sort::ALL.len() - 1),
            Key::Char('g') => self.change(|query| query.group = !query.group),
            Key::Char('a') => self.order.forget(),
            Key::Char('s') => self.pin(),
            _ => {}
        }
    }

    fn type_filter(&mut self, key: Key) {
        let Some(text) = &mut self.typing else { return };
        match key {
            Key::Char(char) if text.chars().count() < FILTER_CHARS_MAX => text.push(char),
            Key::Backspace => drop(text.pop()),
            Key::Enter => {
                self.apply_filter();
                self.typing = None;
            }
            Key::Escape => {
                text.clear();
                self.apply_filter();
                self.typing = None;
            }
            _ => {}
        }
    }

    /// What was typed so far: at each look at the clock, not at each key.
    fn apply_filter(&mut self) {
        let Some(text) = self.typing.clone().filter(|text| *text != self.query.q) else { return };
        self.change(|query| query.q = text);
    }

    fn change(&mut self, change: impl FnOnce(&mut BoardQuery)) {
        change(&mut self.query);
        self.query.offset = 0;
        self.board_list.clear();
        self.order.forget();
        self.viewer.look_at(View::Board(self.query.clone()));
    }

    fn sort_by(&mut self, by: usize) {
        let at = Sort::ALL.iter().position(|sort| *sort == self.query.sort).unwrap_or_default();
        let next = Sort::ALL.iter().cycle().nth(at + by).copied().unwrap_or_default();
        self.change(|query| query.sort = next);
    }

    fn pin(&mut self) {
        let Some(key) = self.board_list.key().filter(|key| !key.is_empty()).map(str::to_owned) else { return };
        if let Some(at) = self.query.pins.iter().position(|pin| *pin == key) {
            self.query.pins.remove(at);
        } else if self.query.pins.len() < PINS_MAX {
            self.query.pins.push(key);
        }
        self.order.forget();
        self.viewer.look_at(View::Board(self.query.clone()));
    }

    fn step(&mut self, by: Move) {
        let (total, seen) = (self.total(), self.seen);
        let list = if self.place == Place::Board { &mut self.board_list } else { &mut self.lock_list };
        list.step(by, total, seen);
        self.settle();
    }

    fn back(&mut self) {
        match (&self.place, self.query.q.is_empty()) {
            (Place::Lock(_), _) => self.go(Place::Board),
            (Place::Board, false) => self.change(|query| query.q.clear()),
            (Place::Board, true) => self.board_list.clear(),
        }
    }

    fn open_chosen(&mut self) {
        let Some(key) = self.board_list.key() else { return };
        let of = |board: &Board| {
            let row = board.window.rows.iter().find(|row| row.key == key)?;
            Some(LockQuery { ensemble: row.ensemble.clone(), path: row.path.clone(), ..LockQuery::default() })
        };
        if let Some(query) = self.board().and_then(of) {
            self.go(Place::Lock(query));
        }
    }

    fn go(&mut self, place: Place) {
        self.place = place;
        self.lock_list.clear();
        self.order.forget();
        self.viewer.open(view(&self.place, &self.query));
    }

    fn board(&self) -> Option<&Board> {
        match self.viewer.model.body()? {
            Body::Board(board) => Some(board),
            _ => None,
        }
    }

    fn lock(&self) -> Option<Option<&LockPage>> {
        match self.viewer.model.body()? {
            Body::Lock(page) => Some(page.as_deref()),
            _ => None,
        }
    }

    fn total(&self) -> u32 {
        match self.viewer.model.body() {
            Some(Body::Board(board)) => board.window.total,
            Some(Body::Lock(Some(page))) => page.window.total,
            _ => 0,
        }
    }

    /// Follows the chosen row, and asks for the rows that are seen.
    fn settle(&mut self) {
        let (seen, now_ms) = (self.seen, self.viewer.now_ms());
        match self.viewer.model.body() {
            Some(Body::Board(board)) => {
                let window = &board.window;
                let rows: Vec<(&str, u8)> =
                    window.rows.iter().map(|row| (row.key.as_str(), severity(row.verdict))).collect();
                let order = self.order.arrange(&rows, window.offset, now_ms);
                let keys = order.iter().filter_map(|at| rows.get(*at)).map(|(key, _)| *key);
                self.board_list.settle(keys, window.offset, window.total, seen);
                let (offset, limit) = self.board_list.window(self.query.offset, self.query.limit, window.total, seen);
                if (offset, limit) != (self.query.offset, self.query.limit) {
                    (self.query.offset, self.query.limit) = (offset, limit);
                    self.viewer.look_at(View::Board(self.query.clone()));
                }
            }
            Some(Body::Lock(Some(page))) => {
                let window = &page.window;
                let keys = window.rows.iter().map(|row| row.path.as_str());
                self.lock_list.settle(keys, window.offset, window.total, seen);
                let Place::Lock(query) = &mut self.place else { return };
                let (offset, limit) = self.lock_list.window(query.offset, query.limit, window.total, seen);
                if (offset, limit) != (query.offset, query.limit) {
                    (query.offset, query.limit) = (offset, limit);
                    let view = View::Lock(query.clone());
                    self.viewer.look_at(view);
                }
            }
            _ => {}
        }
    }

    /// The screen: as many lines as it has rows, none wider than it.
    pub(super) fn screen(&mut self) -> Vec<Line> {
        let Size { columns, rows } = self.size;
        if columns < COLUMNS_MIN || rows < ROWS_MIN {
            return vec![Line::of(Tone::Plain, words::TOO_SMALL).fit(columns)];
        }
        let mut lines = vec![self.link_line(), self.title()];
        if self.is_help_open {
            lines.extend(help(columns));
            lines.truncate(rows - 1);
        } else {
            let total = usize::try_from(self.total()).unwrap_or(usize::MAX);
            let list_rows = total.clamp(1, LIST_ROWS_MIN.max((rows - FIXED_LINES) / 2));
            let head = self.head((rows - FIXED_LINES).saturating_sub(list_rows));
            self.seen = u32::try_from((rows - FIXED_LINES).saturating_sub(head.len()).max(1)).unwrap_or(1);
            self.settle();
            lines.extend(head);
            lines.extend(self.list());
        }
        lines.resize_with(rows - 1, Line::default);
        lines.push(self.footer());
        lines.into_iter().map(|line| line.fit(columns)).collect()
    }

    /// All there is, without a screen: what is asked for once.
    pub(super) fn whole(&mut self) -> Vec<Line> {
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
        let total = self.total();
        if total == 0 {
            return String::new();
        }
        let list = if self.place == Place::Board { &self.board_list } else { &self.lock_list };
        let last = list.top().saturating_add(self.seen).min(total);
        format!("  {}", words::rows(list.top().saturating_add(1).min(last), last, total))
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
                super::text::wrapped("", Tone::Plain, &words::no_lock(path), columns, 3)
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

fn view(place: &Place, query: &BoardQuery) -> View {
    match place {
        Place::Board => View::Board(query.clone()),
        Place::Lock(query) => View::Lock(query.clone()),
    }
}

/// Rows change places at once where this changes.
fn severity(verdict: Verdict) -> u8 {
    Verdict::ALL.iter().position(|known| *known == verdict).and_then(|at| u8::try_from(at).ok()).unwrap_or_default()
}

fn help(columns: usize) -> Vec<Line> {
    let mut lines = vec![Line::of(Tone::Head, words::HELP_TITLE)];
    for (key, text) in words::KEYS {
        lines.extend(super::text::wrapped(&format!("  {key:<7}"), Tone::Plain, text, columns, 3));
    }
    lines
}
