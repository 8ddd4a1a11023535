//! The terminal: taken over, drawn on, and given back whatever happens. Driven with termios and a handful of escape
//! sequences that every terminal of the last forty years knows, so it needs no library.
//!
//! Whoever draws never waits for the terminal: one that stands still (Ctrl-S, a stuck connection) is drawn anew once it
//! moves, and meanwhile nothing piles up.

use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Once};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
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
const COLUMNS_MAX: usize = 1_000;
const ROWS_MAX: usize = 500;
/// What a terminal that does not know its size gets.
const SIZE: Size = Size { columns: 80, rows: 24 };
/// Pieces of input that wait.
const INPUT_MAX: usize = 16;
const INPUT_BYTES: usize = 1_024;

/// The terminal's own settings, while it is taken over. A panic may happen on any thread and has to find them.
static SAVED: Mutex<Option<Termios>> = Mutex::new(None);
static HOOK: Once = Once::new();

/// The terminal, taken over as long as this lives.
pub(super) struct Terminal {
    style: OutputStyle,
    to_draw: SyncSender<Vec<u8>>,
    handed_over: u64,
    written: Arc<AtomicU64>,
    /// What is on the screen, line by line; None where that is not known.
    shown: Option<Vec<String>>,
}

impl Terminal {
    /// Takes it over.
    ///
    /// # Errors
    /// A terminal that can't be set.
    pub(super) fn enter(style: OutputStyle) -> Result<Self, RunError> {
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                // Before the message: else it would be gone with the other screen.
                if restore() {
                    let _ = std::io::stdout().write_all(LEAVE.as_bytes());
                    let _ = std::io::stdout().flush();
                }
                before(info);
            }));
        });
        let (to_draw, drawn) = sync_channel::<Vec<u8>>(1);
        let written = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&written);
        std::thread::spawn(move || {
            while let Ok(bytes) = drawn.recv() {
                let mut out = std::io::stdout().lock();
                // A terminal that is gone ends us by its signal, or by the end of its input.
                let _ = out.write_all(&bytes).and_then(|()| out.flush());
                count.fetch_add(1, Ordering::Release);
            }
        });
        let mut terminal = Self { style, to_draw, handed_over: 0, written, shown: None };
        terminal.take()?;
        Ok(terminal)
    }

    /// Takes it over once more, after it was given back for a while.
    ///
    /// # Errors
    /// A terminal that can't be set.
    pub(super) fn take(&mut self) -> Result<(), RunError> {
        set_raw().map_err(|error| {
            RunError::Unavailable(format!(
                "the terminal can't be set ({error}); use --once, or a pipe after the command"
            ))
        })?;
        self.shown = None;
        Ok(())
    }

    /// Gives it back; what was there before is on it again.
    pub(super) fn leave(&mut self) {
        let mut waited = Duration::ZERO;
        let mut is_sent = false;
        while waited < LEAVE_MAX {
            is_sent = is_sent || self.hand_over(LEAVE.as_bytes().to_vec());
            if is_sent && self.written.load(Ordering::Acquire) >= self.handed_over {
                break;
            }
            std::thread::sleep(LEAVE_STEP);
            waited += LEAVE_STEP;
        }
        restore();
        self.shown = None;
    }

    /// Everything is drawn with the next lines.
    pub(super) fn forget(&mut self) {
        self.shown = None;
    }

    /// Shows these lines: sends those that differ from what is there. False while the terminal takes nothing; then they
    /// are to be shown later.
    #[must_use]
    pub(super) fn show(&mut self, lines: &[Line]) -> bool {
        let fresh: Vec<String> = lines.iter().map(|line| line.render(self.style)).collect();
        let bytes = difference(self.shown.as_deref(), &fresh);
        if bytes.is_empty() {
            return true;
        }
        let is_taken = self.hand_over(bytes);
        if is_taken {
            self.shown = Some(fresh);
        }
        is_taken
    }

    fn hand_over(&mut self, bytes: Vec<u8>) -> bool {
        match self.to_draw.try_send(bytes) {
            Ok(()) => {
                self.handed_over += 1;
                true
            }
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => false,
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if is_taken() {
            self.leave();
        }
    }
}

/// What turns the lines on a screen into others; from nothing that is known, everything is sent.
fn difference(shown: Option<&[String]>, fresh: &[String]) -> Vec<u8> {
    let mut out = String::new();
    if shown.is_none() {
        out.push_str(ENTER);
    }
    let old = shown.unwrap_or_default();
    for (at, line) in fresh.iter().enumerate() {
        if shown.is_none() || old.get(at) != Some(line) {
            out.push_str(&format!("\u{1b}[{};1H{line}\u{1b}[0m\u{1b}[K", at + 1));
        }
    }
    if old.len() > fresh.len() {
        out.push_str(&format!("\u{1b}[{};1H\u{1b}[J", fresh.len() + 1));
    }
    out.into_bytes()
}

/// Whether it is taken over. A panic anywhere gives it back, so that its message is seen.
pub(super) fn is_taken() -> bool {
    SAVED.lock().is_some()
}

fn set_raw() -> std::io::Result<()> {
    let stdin = std::io::stdin();
    let mut saved = SAVED.lock();
    let now = tcgetattr(stdin.as_fd())?;
    let mut raw = now.clone();
    raw.make_raw();
    tcsetattr(stdin.as_fd(), OptionalActions::Now, &raw)?;
    // A shell that continued us may have set the terminal; what it was at first is what it gets back.
    saved.get_or_insert(now);
    Ok(())
}

/// Gives the terminal its own settings back; false where it has them.
fn restore() -> bool {
    let saved = SAVED.lock().take();
    // A terminal that is gone needs none.
    saved.is_some_and(|saved| tcsetattr(std::io::stdin().as_fd(), OptionalActions::Now, &saved).is_ok())
}

/// How large it is, within bounds.
pub(super) fn size() -> Size {
    let Ok(size) = tcgetwinsize(std::io::stdout()) else { return SIZE };
    let or = |told: u16, otherwise: usize, max: usize| if told == 0 { otherwise } else { usize::from(told).min(max) };
    Size { columns: or(size.ws_col, SIZE.columns, COLUMNS_MAX), rows: or(size.ws_row, SIZE.rows, ROWS_MAX) }
}

/// What is typed, piece by piece; it ends with the terminal.
pub(super) fn input() -> mpsc::Receiver<Vec<u8>> {
    let (report, typed) = mpsc::channel(INPUT_MAX);
    std::thread::spawn(move || {
        let mut buffer = [0; INPUT_BYTES];
        loop {
            match std::io::stdin().read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => {
                    let piece = buffer.get(..length).unwrap_or_default().to_vec();
                    if report.blocking_send(piece).is_err() {
                        break;
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
    });
    typed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn only_lines_that_differ_are_sent() {
        let told = |old: Option<&[String]>, new: &[&str]| String::from_utf8(difference(old, &lines(new))).unwrap();
        assert_eq!(
            told(None, &["a", "b"]),
            format!("{ENTER}\u{1b}[1;1Ha\u{1b}[0m\u{1b}[K\u{1b}[2;1Hb\u{1b}[0m\u{1b}[K")
        );
        let old = lines(&["a", "b"]);
        assert_eq!(told(Some(&old), &["a", "b"]), "");
        assert_eq!(told(Some(&old), &["a", "c"]), "\u{1b}[2;1Hc\u{1b}[0m\u{1b}[K");
        assert_eq!(told(Some(&old), &["a"]), "\u{1b}[2;1H\u{1b}[J");
    }
}
