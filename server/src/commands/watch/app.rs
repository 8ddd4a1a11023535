//! The program in the terminal as a state: keys and frames in, lines out (`draw`). Pure.

mod draw;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use lockscope_view::{BoardQuery, Body, LockQuery, PINS_MAX, Sort, View, Window};

use super::list::{ListState, RowOrder};
use super::viewer::{Moment, Viewer};

const FILTER_CHARS_MAX: usize = 200;

/// A screen, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// What a key asks of the owner of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Go,
    Redraw,
    /// Stop until the shell continues us.
    Suspend,
    Quit,
}

#[derive(Debug)]
pub(super) struct App {
    pub(super) viewer: Viewer,
    server: String,
    /// The lock on screen; None while the board is.
    lock: Option<LockQuery>,
    query: BoardQuery,
    /// The list on screen.
    list: ListState,
    /// The board's list, while a lock is on screen.
    board_list: ListState,
    order: RowOrder,
    /// The filter while it is typed.
    typing: Option<String>,
    is_help_open: bool,
    size: Size,
    /// Rows of the list on screen, as of the last draw.
    seen: u32,
}

impl App {
    /// On a board, or on a lock with the board behind it.
    pub(super) fn new(server: &str, query: BoardQuery, lock: Option<LockQuery>, size: Size) -> Self {
        Self {
            viewer: Viewer::new(view(lock.as_ref(), &query)),
            server: without_credentials(server),
            lock,
            query,
            list: ListState::default(),
            board_list: ListState::default(),
            order: RowOrder::default(),
            typing: None,
            is_help_open: false,
            size,
            seen: 1,
        }
    }

    /// The screen's size; true where it is another one.
    pub(super) fn resize(&mut self, size: Size) -> bool {
        std::mem::replace(&mut self.size, size) != size
    }

    /// Reads the clock; true when the connection is to be renewed.
    #[must_use]
    pub(super) fn look(&mut self, moment: Moment) -> bool {
        self.apply_filter();
        self.viewer.look(moment)
    }

    /// Whether there is something to show that is known, or known not to be there.
    pub(super) fn is_settled(&self) -> bool {
        !self.viewer.model.awaits_data() && self.viewer.link().state != "syncing"
    }

    pub(super) fn press(&mut self, key: KeyEvent) -> Turn {
        let key = match (key.code, key.modifiers) {
            (KeyCode::Char(char), modifiers) if modifiers.contains(KeyModifiers::CONTROL) => match char {
                // Ctrl-\ is Ctrl-4 to the library.
                'c' | 'd' | '4' => return Turn::Quit,
                'z' => return Turn::Suspend,
                'l' => return Turn::Redraw,
                'j' => KeyCode::Enter,
                'h' => KeyCode::Backspace,
                'n' => KeyCode::Down,
                'p' => KeyCode::Up,
                'f' => KeyCode::PageDown,
                'b' => KeyCode::PageUp,
                _ => return Turn::Go,
            },
            (KeyCode::Char(_), modifiers) if modifiers.contains(KeyModifiers::ALT) => return Turn::Go,
            (code, _) => code,
        };
        if self.typing.is_some() {
            self.type_filter(key);
            return Turn::Go;
        }
        if std::mem::take(&mut self.is_help_open) {
            return if key == KeyCode::Char('q') { Turn::Quit } else { Turn::Go };
        }
        let screen = i64::from(self.seen);
        match key {
            KeyCode::Char('q') => return Turn::Quit,
            KeyCode::Char('r') => return Turn::Redraw,
            KeyCode::Char('?') => self.is_help_open = true,
            KeyCode::Char('p') => self.viewer.toggle_pause(),
            KeyCode::Char('j') | KeyCode::Down => self.step(1),
            KeyCode::Char('k') | KeyCode::Up => self.step(-1),
            KeyCode::PageDown | KeyCode::Char(' ') => self.step(screen),
            KeyCode::PageUp => self.step(-screen),
            KeyCode::Home => self.step(i64::MIN),
            KeyCode::End => self.step(i64::MAX),
            KeyCode::Esc | KeyCode::Backspace => self.back(),
            _ if self.lock.is_some() => {}
            KeyCode::Enter => self.open_chosen(),
            KeyCode::Char('/') => self.typing = Some(self.query.q.clone()),
            KeyCode::Char('o') => self.sort_by(1),
            KeyCode::Char('O') => self.sort_by(Sort::ALL.len() - 1),
            KeyCode::Char('g') => self.change(|query| query.group = !query.group),
            KeyCode::Char('a') => self.order.forget(),
            KeyCode::Char('s') => self.pin(),
            _ => {}
        }
        Turn::Go
    }

    fn type_filter(&mut self, key: KeyCode) {
        let Some(text) = &mut self.typing else { return };
        match key {
            KeyCode::Char(char) if text.chars().count() < FILTER_CHARS_MAX && !char.is_control() => text.push(char),
            KeyCode::Backspace => drop(text.pop()),
            KeyCode::Enter | KeyCode::Esc => {
                if key == KeyCode::Esc {
                    text.clear();
                }
                self.apply_filter();
                self.typing = None;
            }
            _ => {}
        }
    }

    /// What was typed so far: at each tick, not at each key.
    fn apply_filter(&mut self) {
        let Some(text) = self.typing.clone().filter(|text| *text != self.query.q) else { return };
        self.change(|query| query.q = text);
    }

    fn change(&mut self, change: impl FnOnce(&mut BoardQuery)) {
        change(&mut self.query);
        self.query.offset = 0;
        self.list.clear();
        self.look_again();
    }

    fn look_again(&mut self) {
        self.order.forget();
        self.viewer.look_at(View::Board(self.query.clone()));
    }

    fn sort_by(&mut self, by: usize) {
        let at = Sort::ALL.iter().position(|sort| *sort == self.query.sort).unwrap_or_default();
        let next = Sort::ALL.iter().cycle().nth(at + by).copied().unwrap_or_default();
        self.change(|query| query.sort = next);
    }

    fn pin(&mut self) {
        let Some(key) = self.list.key().filter(|key| !key.is_empty()).map(str::to_owned) else { return };
        if let Some(at) = self.query.pins.iter().position(|pin| *pin == key) {
            self.query.pins.remove(at);
        } else if self.query.pins.len() < PINS_MAX {
            self.query.pins.push(key);
        }
        self.look_again();
    }

    fn step(&mut self, by: i64) {
        self.list.step(by, self.window().total);
        self.settle();
    }

    fn back(&mut self) {
        if self.lock.is_some() {
            self.go(None);
            self.list = std::mem::take(&mut self.board_list);
        } else if self.query.q.is_empty() {
            self.list.clear();
        } else {
            self.change(|query| query.q.clear());
        }
    }

    fn open_chosen(&mut self) {
        let (Some(Body::Board(board)), Some(key)) = (self.viewer.model.body(), self.list.key()) else { return };
        let Some(row) = board.window.rows.iter().find(|row| row.key == key) else { return };
        let query = LockQuery { ensemble: row.ensemble.clone(), path: row.path.clone(), ..LockQuery::default() };
        self.board_list = std::mem::take(&mut self.list);
        self.go(Some(query));
    }

    fn go(&mut self, lock: Option<LockQuery>) {
        self.lock = lock;
        self.order.forget();
        self.viewer.open(view(self.lock.as_ref(), &self.query));
    }

    /// Which rows were sent, of how many.
    fn window(&self) -> Window<()> {
        fn extent<T>(window: &Window<T>) -> Window<()> {
            Window { total: window.total, offset: window.offset, rows: vec![(); window.rows.len()] }
        }
        match self.viewer.model.body() {
            Some(Body::Board(board)) => extent(&board.window),
            Some(Body::Lock(Some(page))) => extent(&page.window),
            _ => Window::default(),
        }
    }

    /// Follows the chosen row, and asks for the rows that are seen.
    fn settle(&mut self) {
        let Window { total, offset, .. } = self.window();
        let keys: Vec<&str> = match self.viewer.model.body() {
            Some(Body::Board(board)) => {
                let order = self.order.arrange(&board.window.rows, offset, self.viewer.now_ms());
                order.iter().filter_map(|at| board.window.rows.get(*at)).map(|row| row.key.as_str()).collect()
            }
            Some(Body::Lock(Some(page))) => page.window.rows.iter().map(|row| row.path.as_str()).collect(),
            _ => return,
        };
        self.list.settle(&keys, offset, total, self.seen);
        let (offset, limit) = match &mut self.lock {
            Some(query) => (&mut query.offset, &mut query.limit),
            None => (&mut self.query.offset, &mut self.query.limit),
        };
        let wanted = self.list.window(*offset, *limit, total, self.seen);
        if wanted != (*offset, *limit) {
            (*offset, *limit) = wanted;
            self.viewer.look_at(view(self.lock.as_ref(), &self.query));
        }
    }
}

/// An address without its scheme, and without a password in it.
fn without_credentials(server: &str) -> String {
    let address = server.split_once("://").map_or(server, |(_, address)| address);
    address.rsplit_once('@').map_or(address, |(_, address)| address).to_owned()
}

fn view(lock: Option<&LockQuery>, query: &BoardQuery) -> View {
    lock.map_or_else(|| View::Board(query.clone()), |lock| View::Lock(lock.clone()))
}
