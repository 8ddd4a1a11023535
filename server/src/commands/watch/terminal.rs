//! The terminal: taken over, drawn on, and given back whatever happens.
//!
//! Drawing never waits for the terminal. A thread writes to it; one that stands still (Ctrl-S, a stuck connection) gets the
//! newest screen once it moves, and meanwhile nothing piles up.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use crossterm::event::Event;
use crossterm::terminal::{disable_raw_mode, enable_raw_mode, is_raw_mode_enabled};
use rustix::termios::tcgetwinsize;
use tokio::sync::mpsc;

use super::app::Size;
use super::text::Line;
use crate::commands::query::table::OutputStyle;
use crate::error::RunError;

/// The other screen, no cursor, no wrapping at the right edge, and a clean page.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l\u{1b}[2J";
/// All of that undone.
const LEAVE: &str = "\u{1b}[0m\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l";
/// How long a terminal that stands still is waited for when it is given back.
const LEAVE_MAX: Duration = Duration::from_millis(500);
const LEAVE_STEP: Duration = Duration::from_millis(10);
/// A screen is believed to have no more than this: what is drawn stays bounded whatever a terminal says of itself.
const COLUMNS_MAX: u16 = 1_000;
const ROWS_MAX: u16 = 500;
/// What a terminal that does not know its size gets.
const COLUMNS: u16 = 80;
const ROWS: u16 = 24;
/// Keys that wait.
const EVENTS_MAX: usize = 16;

/// The terminal, taken over as long as this lives.
pub(super) struct Terminal {
    style: OutputStyle,
    to_write: Sender<Vec<u8>>,
    /// Something was handed over and is not written yet. Nothing more is handed over then.
    is_busy: Arc<AtomicBool>,
    /// What is on the screen, line by line; empty where that is not known.
    shown: Vec<String>,
}

impl Terminal {
    /// Takes it over, once in a process.
    pub(super) fn enter(style: OutputStyle) -> Result<Self, RunError> {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // Before the message: else it would be gone with the other screen.
            if restore() {
                write(LEAVE.as_bytes());
            }
            before(info);
        }));
        let (to_write, handed_over) = std::sync::mpsc::channel::<Vec<u8>>();
        let is_busy = Arc::new(AtomicBool::new(false));
        let is_writing = Arc::clone(&is_busy);
        std::thread::spawn(move || {
            while let Ok(bytes) = handed_over.recv() {
                write(&bytes);
                is_writing.store(false, Ordering::Release);
            }
        });
        let mut terminal = Self { style, to_write, is_busy, shown: Vec::new() };
        terminal.take()?;
        Ok(terminal)
    }

    /// Takes it over once more, after it was given back for a while.
    pub(super) fn take(&mut self) -> Result<(), RunError> {
        // A shell that continued us may have set the terminal; what it was at first is what it gets back.
        restore();
        enable_raw_mode().map_err(|error| {
            RunError::Unavailable(format!(
                "the terminal can't be set ({error}); use --once, or a pipe after the command"
            ))
        })?;
        self.forget();
        Ok(())
    }

    /// Gives it back; what was there before is on it again.
    pub(super) fn leave(&mut self) {
        let mut is_sent = false;
        for _ in 0..LEAVE_MAX.as_millis() / LEAVE_STEP.as_millis() {
            is_sent = is_sent || self.hand_over(LEAVE.as_bytes().to_vec());
            if is_sent && !self.is_busy.load(Ordering::Acquire) {
                break;
            }
            std::thread::sleep(LEAVE_STEP);
        }
        restore();
        self.forget();
    }

    /// Everything is drawn with the next lines.
    pub(super) fn forget(&mut self) {
        self.shown.clear();
    }

    /// Shows these lines: sends those that differ from what is there. False while the terminal takes nothing; then they
    /// are to be shown later.
    #[must_use]
    pub(super) fn show(&mut self, lines: &[Line]) -> bool {
        let fresh: Vec<String> = lines.iter().map(|line| line.render(self.style)).collect();
        let bytes = difference(&self.shown, &fresh);
        let is_shown = bytes.is_empty() || self.hand_over(bytes);
        if is_shown {
            self.shown = fresh;
        }
        is_shown
    }

    fn hand_over(&self, bytes: Vec<u8>) -> bool {
        !self.is_busy.swap(true, Ordering::AcqRel) && self.to_write.send(bytes).is_ok()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if is_taken() {
            self.leave();
        }
    }
}

/// A terminal that is gone ends us by its signal, or by having no size.
fn write(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

/// What turns the lines on a screen into as many others; from nothing that is known, everything is sent.
fn difference(shown: &[String], fresh: &[String]) -> Vec<u8> {
    let mut out = if shown.is_empty() { ENTER.to_owned() } else { String::new() };
    for (at, line) in fresh.iter().enumerate().filter(|(at, line)| shown.get(*at) != Some(line)) {
        out.push_str(&format!("\u{1b}[{};1H{line}\u{1b}[0m\u{1b}[K", at + 1));
    }
    out.into_bytes()
}

/// Whether it is taken over. A panic anywhere gives it back, so that its message is seen.
pub(super) fn is_taken() -> bool {
    is_raw_mode_enabled().unwrap_or(false)
}

/// Gives the terminal its own settings back; false where it has them, or is gone.
fn restore() -> bool {
    is_taken() && disable_raw_mode().is_ok()
}

/// How large it is, within bounds; None once it is gone. The library asks /dev/tty, which may be another one.
pub(super) fn size() -> Option<Size> {
    let size = tcgetwinsize(std::io::stdout()).ok()?;
    let or = |told: u16, otherwise: u16, max: u16| usize::from(if told == 0 { otherwise } else { told.min(max) });
    Some(Size { columns: or(size.ws_col, COLUMNS, COLUMNS_MAX), rows: or(size.ws_row, ROWS, ROWS_MAX) })
}

/// Keys that are typed, and that the size is another one.
pub(super) fn events() -> mpsc::Receiver<Event> {
    let (report, events) = mpsc::channel(EVENTS_MAX);
    std::thread::spawn(move || {
        while let Ok(event) = crossterm::event::read()
            && report.blocking_send(event).is_ok()
        {}
    });
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_differ_are_sent() {
        let lines = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let sent = |old: &[&str], new: &[&str]| String::from_utf8(difference(&lines(old), &lines(new))).unwrap();
        assert_eq!(
            sent(&[], &["a", "b"]),
            format!("{ENTER}\u{1b}[1;1Ha\u{1b}[0m\u{1b}[K\u{1b}[2;1Hb\u{1b}[0m\u{1b}[K")
        );
        assert_eq!(sent(&["a", "b"], &["a", "b"]), "");
        assert_eq!(sent(&["a", "b"], &["a", "c"]), "\u{1b}[2;1Hc\u{1b}[0m\u{1b}[K");
    }
}
