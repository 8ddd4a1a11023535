//! The program in the terminal as a state: keys and frames in, lines out (`draw`). Pure.

mod draw;

use lockscope_view::{Board, BoardQuery, Body, LockPage, LockQuery, PINS_MAX, Sort, Verdict, View};

use super::keys::Key;
use super::list::{ListState, Move, RowOrder};
use super::viewer::{Moment, Viewer};

/// Characters of a filter.
const FILTER_CHARS_MAX: usize = 200;

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
            server: shown(server),
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
}

/// An address as it is shown: without its scheme, and without a password in it.
fn shown(server: &str) -> String {
    let address = server.split_once("://").map_or(server, |(_, address)| address);
    address.rsplit_once('@').map_or(address, |(_, address)| address).to_owned()
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
