//! A terminal for a program: a pair of pseudo-terminals, and what would be seen on the screen behind it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use tokio::process::Child;
use unicode_width::UnicodeWidthChar as _;

use crate::cli::lockscope;
use crate::harness::{DEADLINE, signal};

/// It becomes nobody's controlling terminal.
const NO_CONTROL: i32 = OpenptFlags::NOCTTY.bits() as i32;

/// A program on a terminal.
pub(super) struct Pty {
    ours: File,
    theirs: File,
    pub(super) program: Child,
    sent: Arc<Mutex<Vec<u8>>>,
}

/// What is seen.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Screen {
    pub(super) lines: Vec<String>,
    /// The program has the other screen.
    pub(super) is_taken: bool,
    pub(super) has_cursor: bool,
    /// Something was written beyond the edge.
    pub(super) is_overrun: bool,
}

impl Screen {
    pub(super) fn has(&self, text: &str) -> bool {
        self.lines.iter().any(|line| line.contains(text))
    }
}

impl Pty {
    /// Runs Lockscope on one.
    pub(super) fn run(args: &[&str], columns: u16, rows: u16) -> Self {
        let pty = Self::unread(args, columns, rows);
        let (mut from, sent) = (pty.ours.try_clone().unwrap(), Arc::clone(&pty.sent));
        std::thread::spawn(move || {
            let mut buffer = [0; 4_096];
            // It ends with an error once nobody has the other side.
            while let Ok(length @ 1..) = from.read(&mut buffer) {
                sent.lock().unwrap().extend_from_slice(&buffer[..length]);
            }
        });
        pty
    }

    /// The same, and nobody reads what the program writes.
    pub(super) fn unread(args: &[&str], columns: u16, rows: u16) -> Self {
        // No program that is run has it too: it would never hang up.
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
        let theirs = File::options().read(true).write(true).custom_flags(NO_CONTROL).open(name).unwrap();
        let ours = File::from(ours);
        set_size(&theirs, columns, rows);
        let other = || Stdio::from(theirs.try_clone().unwrap());
        let mut command = lockscope(args);
        command.env("TERM", "xterm-256color").stdin(other()).stdout(other()).stderr(other());
        let program = command.spawn().unwrap();
        Self { ours, theirs, program, sent: Arc::default() }
    }

    pub(super) fn press(&mut self, keys: &str) {
        self.ours.write_all(keys.as_bytes()).unwrap();
    }

    pub(super) fn resize(&self, columns: u16, rows: u16) {
        set_size(&self.theirs, columns, rows);
        // It is not the terminal of its session, so the system does not tell it.
        self.signal(Signal::WINCH);
    }

    pub(super) fn signal(&self, which: Signal) {
        signal(self.program.id().unwrap(), which);
    }

    /// Whether lines are edited and echoed, as a shell has it.
    pub(super) fn is_as_before(&self) -> bool {
        tcgetattr(self.theirs.as_fd()).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// All that was written.
    pub(super) fn sent(&self) -> Vec<u8> {
        self.sent.lock().unwrap().clone()
    }

    /// What is seen on a screen of this size.
    pub(super) fn screen(&self, columns: usize, rows: usize) -> Screen {
        draw(&String::from_utf8_lossy(&self.sent()), columns, rows)
    }

    /// Waits for something to be seen.
    #[track_caller]
    pub(super) fn until(
        &self,
        columns: usize,
        rows: usize,
        what: impl Fn(&Screen) -> bool,
    ) -> impl Future<Output = Screen> {
        let at = std::panic::Location::caller();
        async move {
            let begin = std::time::Instant::now();
            loop {
                let screen = self.screen(columns, rows);
                if what(&screen) {
                    return screen;
                }
                assert!(begin.elapsed() < DEADLINE, "{at}: {:#?}", screen.lines);
                tokio::time::sleep(crate::harness::STEP).await;
            }
        }
    }

    /// Closes the terminal that nobody reads, and waits for the exit code.
    pub(super) async fn hang_up(self) -> Option<i32> {
        let Self { ours, mut program, .. } = self;
        drop(ours);
        tokio::time::timeout(DEADLINE, program.wait()).await.expect("it ends").unwrap().code()
    }

    /// Its exit code.
    pub(super) async fn end(&mut self) -> Option<i32> {
        tokio::time::timeout(DEADLINE, self.program.wait()).await.expect("it ends").unwrap().code()
    }
}

fn set_size(terminal: &File, columns: u16, rows: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal.as_fd(), size).unwrap();
}

/// The few sequences that Lockscope sends; any other is an error.
fn draw(sent: &str, columns: usize, rows: usize) -> Screen {
    let mut cells = vec![vec![' '; columns]; rows];
    let (mut row, mut column) = (0, 0);
    let (mut is_taken, mut has_cursor, mut is_overrun) = (false, true, false);
    let mut rest = sent.chars();
    while let Some(char) = rest.next() {
        if char != '\u{1b}' {
            match char {
                '\r' => column = 0,
                '\n' => row += 1,
                _ => {
                    let width = char.width().unwrap_or(0);
                    is_overrun |= is_taken && (column + width > columns || row >= rows);
                    if width > 0
                        && let Some(cell) = cells.get_mut(row).and_then(|line| line.get_mut(column))
                    {
                        *cell = char;
                    }
                    if width == 2
                        && let Some(cell) = cells.get_mut(row).and_then(|line| line.get_mut(column + 1))
                    {
                        *cell = '\0';
                    }
                    column += width;
                }
            }
            continue;
        }
        // What comes last may be a part.
        if rest.next() != Some('[') {
            break;
        }
        let mut parameters = String::new();
        let Some(last) = rest.by_ref().find(|char| {
            let is_last = char.is_ascii_alphabetic();
            if !is_last {
                parameters.push(*char);
            }
            is_last
        }) else {
            break;
        };
        match (last, parameters.as_str()) {
            ('H', _) => {
                let (to_row, to_column) = parameters.split_once(';').unwrap();
                (row, column) = (to_row.parse::<usize>().unwrap() - 1, to_column.parse::<usize>().unwrap() - 1);
            }
            ('K', "") => cells.get_mut(row).into_iter().flatten().skip(column).for_each(|cell| *cell = ' '),
            ('J', "") => cells.iter_mut().skip(row).flatten().for_each(|cell| *cell = ' '),
            ('J', "2") => {
                cells.iter_mut().flatten().for_each(|cell| *cell = ' ');
                // Lines of an earlier size don't count.
                is_overrun = false;
            }
            ('h', "?1049") => is_taken = true,
            ('l', "?1049") => is_taken = false,
            ('h', "?25") => has_cursor = true,
            ('l', "?25") => has_cursor = false,
            ('h' | 'l', "?7") | ('m', _) => {}
            other => panic!("{other:?} was sent to the terminal"),
        }
    }
    let line = |cells: &Vec<char>| cells.iter().filter(|char| **char != '\0').collect::<String>().trim_end().to_owned();
    Screen { lines: cells.iter().map(line).collect(), is_taken, has_cursor, is_overrun }
}
