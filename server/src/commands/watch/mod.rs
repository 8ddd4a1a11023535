//! `lockscope watch`: the live board or a lock in the terminal, over the live socket. What is known and how it is shown is
//! pure (`app`, and what it stands on); here it meets the socket, the terminal and the clock.

mod app;
mod board;
mod changes;
mod driver;
mod keys;
mod list;
mod lock;
mod socket;
mod terminal;
#[cfg(test)]
mod tests;
mod text;
mod viewer;
mod words;

use std::io::{IsTerminal as _, Write as _};

use lockscope_view::{BoardQuery, Body, LockQuery, Sort, WINDOW_ROWS_MAX};
use rustix::process::{Signal, getpid, kill_process};
use tokio::signal::unix::{Signal as SignalStream, SignalKind, signal};

use self::app::{App, Size, Turn};
use self::changes::Changes;
use self::driver::{Driver, TICK};
use self::keys::{Key, KeyReader};
use self::terminal::Terminal;
use crate::cli::WatchArgs;
use crate::commands::query::client::QueryClient;
use crate::commands::query::table::OutputStyle;
use crate::commands::query::terminal::stdout_style;
use crate::config::ConfigError;
use crate::error::{EXIT_INTERRUPTED, EXIT_UNSURE, RunError};

/// Columns where nobody says how many there are.
const COLUMNS: usize = 160;
/// Ticks until what is asked for once must be there: ten seconds.
const ONCE_TICKS: u32 = 100;
/// Ages move on with every so many ticks.
const TICKS_AN_AGE: u32 = 5;

/// Watches until somebody quits.
///
/// # Errors
/// One sentence. Of a server that was reached once, none but that it is of another version.
pub(super) async fn run(args: &WatchArgs) -> Result<(), RunError> {
    let client = QueryClient::new(&args.server)?;
    let lock = args.path.as_deref().map(|path| lock_query(path, args.ensemble.as_deref())).transpose()?;
    let sort = Sort::ALL.into_iter().find(|sort| sort.name() == args.sort).unwrap_or_default();
    let ensemble = args.ensemble.clone().filter(|_| lock.is_none()).unwrap_or_default();
    let mut query = BoardQuery { ensemble, q: args.filter.clone().unwrap_or_default(), sort, ..BoardQuery::default() };
    let style = stdout_style(args.color());
    let is_dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
    if !args.once && !is_dumb && std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        let app = App::new(client.base(), query, lock, terminal::size());
        let mut driver = Driver::new(app, client);
        driver.begin().await?;
        return interact(driver, style).await;
    }
    query.limit = WINDOW_ROWS_MAX;
    let size = Size { columns: style.columns.unwrap_or(COLUMNS), rows: usize::MAX };
    let mut driver = Driver::new(App::new(client.base(), query, lock, size), client);
    driver.begin().await?;
    if args.once { once(driver, style).await } else { follow(driver).await }
}

fn lock_query(path: &str, ensemble: Option<&str>) -> Result<LockQuery, RunError> {
    if !path.starts_with('/') {
        return Err(RunError::Config(ConfigError(format!(
            "PATH {path:?} is no path of a lock; write it from the root on, like /locks/order, or use --filter TEXT"
        ))));
    }
    let ensemble = ensemble.unwrap_or_default().to_owned();
    Ok(LockQuery { ensemble, path: path.to_owned(), ..LockQuery::default() })
}

/// On a terminal, until somebody quits.
async fn interact(mut driver: Driver, style: OutputStyle) -> Result<(), RunError> {
    let mut signals = Signals::listen()?;
    let mut terminal = Terminal::enter(style)?;
    let mut input = terminal::input();
    let mut keys = KeyReader::default();
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    let (mut ticks, mut is_due, mut was_waiting) = (0_u32, true, false);
    let mut link = "";
    loop {
        let mut pressed = Vec::new();
        let mut turn = Turn::Go;
        tokio::select! {
            is_handled = driver.handle_next() => {
                is_handled?;
                is_due = true;
            }
            typed = input.recv() => match typed {
                Some(bytes) => pressed = keys.read(&bytes),
                None => return Ok(()),
            },
            signal = signals.next() => match signal {
                Caught::Size => {
                    driver.app.resize(terminal::size());
                    turn = Turn::Redraw;
                }
                Caught::Suspend => turn = Turn::Suspend,
                Caught::Continue => {
                    terminal.take()?;
                    driver.app.resize(terminal::size());
                    turn = Turn::Redraw;
                }
                Caught::End => {
                    terminal.leave();
                    return Err(RunError::Answered(EXIT_INTERRUPTED));
                }
            },
            _ = tick.tick() => {
                ticks = ticks.wrapping_add(1);
                driver.tick();
                if !terminal::is_taken() {
                    return Err(RunError::Internal(words::PART_FAILED.to_owned()));
                }
                // That something is old is said at once, and not with the next age.
                let state = driver.app.viewer.link().state;
                is_due |= std::mem::replace(&mut link, state) != state;
                // An escape that nothing followed for a tick is the key.
                if was_waiting {
                    pressed.extend(keys.settle());
                }
                was_waiting = keys.is_waiting();
                if is_due || ticks.is_multiple_of(TICKS_AN_AGE) {
                    is_due = !terminal.show(&driver.app.screen());
                }
            }
        }
        for key in &pressed {
            turn = press(&mut driver, *key, turn);
        }
        match turn {
            Turn::Go => {}
            Turn::Redraw => terminal.forget(),
            Turn::Suspend => {
                suspend(&mut terminal)?;
                driver.app.resize(terminal::size());
            }
            Turn::Quit => {
                terminal.leave();
                return Ok(());
            }
        }
        if turn != Turn::Go || !pressed.is_empty() {
            driver.flush();
            // What can't be drawn now is drawn with a later tick.
            is_due = !terminal.show(&driver.app.screen());
        }
    }
}

/// What a key asks for; to end, and to stop, outweigh what comes behind them.
fn press(driver: &mut Driver, key: Key, before: Turn) -> Turn {
    if matches!(before, Turn::Quit | Turn::Suspend) {
        return before;
    }
    match driver.app.press(key) {
        Turn::Go => before,
        turn => turn,
    }
}

/// Stops until the shell continues us.
fn suspend(terminal: &mut Terminal) -> Result<(), RunError> {
    terminal.leave();
    // Returns once we are continued. We may always signal ourselves.
    let _ = kill_process(getpid(), Signal::STOP);
    terminal.take()
}

/// What is there now, and the exit code that says how far it may be trusted.
async fn once(mut driver: Driver, style: OutputStyle) -> Result<(), RunError> {
    let mut tick = tokio::time::interval(TICK);
    let mut ticks = 0;
    while ticks < ONCE_TICKS && !driver.app.is_settled() {
        tokio::select! {
            is_handled = driver.handle_next() => is_handled?,
            _ = tick.tick() => {
                ticks += 1;
                driver.tick();
            }
        }
        if let Some(refusal) = driver.app.viewer.model.refusal() {
            return Err(RunError::Config(ConfigError(text::clean(refusal))));
        }
    }
    let is_missing = matches!(driver.app.viewer.model.body(), Some(Body::Lock(None)));
    if driver.app.viewer.model.body().is_none() {
        return Err(RunError::Unavailable(words::nothing_came(driver.base())));
    }
    let lines: Vec<String> = driver.app.whole().iter().map(|line| line.render(style)).collect();
    crate::stdout::print(&lines.join("\n"));
    if !driver.app.viewer.link().is_live() {
        return Err(RunError::Answered(EXIT_UNSURE));
    }
    if is_missing { Err(RunError::Answered(crate::error::EXIT_MISSING)) } else { Ok(()) }
}

/// A line for each change, until nobody reads on.
async fn follow(mut driver: Driver) -> Result<(), RunError> {
    let mut changes = Changes::default();
    let mut tick = tokio::time::interval(TICK);
    loop {
        tokio::select! {
            is_handled = driver.handle_next() => is_handled?,
            _ = tick.tick() => driver.tick(),
        }
        if let Some(refusal) = driver.app.viewer.model.refusal() {
            return Err(RunError::Config(ConfigError(text::clean(refusal))));
        }
        let viewer = &driver.app.viewer;
        let now_ms = viewer.now_ms();
        let (word, said) = viewer.link_words();
        let mut lines: Vec<String> = Vec::new();
        if let Some(body) = viewer.model.body() {
            lines.extend(changes.link(&word, &text::clean(&said), now_ms));
            lines.extend(changes.of(body, now_ms));
        }
        let mut out = std::io::stdout().lock();
        for line in lines {
            if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
                return Ok(());
            }
        }
    }
}

/// What the system tells us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caught {
    Size,
    Suspend,
    Continue,
    End,
}

struct Signals {
    size: SignalStream,
    suspend: SignalStream,
    proceed: SignalStream,
    ends: [SignalStream; 4],
}

impl Signals {
    fn listen() -> Result<Self, RunError> {
        let on =
            |kind| signal(kind).map_err(|error| RunError::Internal(format!("signals can't be received ({error})")));
        Ok(Self {
            size: on(SignalKind::window_change())?,
            suspend: on(SignalKind::from_raw(Signal::TSTP.as_raw()))?,
            proceed: on(SignalKind::from_raw(Signal::CONT.as_raw()))?,
            ends: [
                on(SignalKind::interrupt())?,
                on(SignalKind::terminate())?,
                on(SignalKind::hangup())?,
                on(SignalKind::quit())?,
            ],
        })
    }

    async fn next(&mut self) -> Caught {
        let [interrupt, terminate, hangup, quit] = &mut self.ends;
        tokio::select! {
            _ = self.size.recv() => Caught::Size,
            _ = self.suspend.recv() => Caught::Suspend,
            _ = self.proceed.recv() => Caught::Continue,
            _ = interrupt.recv() => Caught::End,
            _ = terminate.recv() => Caught::End,
            _ = hangup.recv() => Caught::End,
            _ = quit.recv() => Caught::End,
        }
    }
}
