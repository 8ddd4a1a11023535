//! `lockscope watch`: the live board or a lock in the terminal, over the live socket. What is known and how it is shown is
//! pure (`app`, and what it stands on); here it meets the socket, the terminal and the clock.

mod app;
mod board;
mod changes;
mod driver;
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

use crossterm::event::Event;
use lockscope_view::{BoardQuery, Body, LockQuery, Sort, WINDOW_ROWS_MAX};
use rustix::process::{Signal, getpid, kill_process};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use self::app::{App, Size, Turn};
use self::changes::Changes;
use self::driver::{Driver, Happening};
use self::terminal::Terminal;
use crate::cli::WatchArgs;
use crate::commands::query::client::QueryClient;
use crate::commands::query::table::OutputStyle;
use crate::commands::query::terminal::stdout_style;
use crate::error::{EXIT_INTERRUPTED, EXIT_MISSING, EXIT_UNSURE, RunError};

/// Columns where nobody says how many there are.
const COLUMNS: usize = 160;
/// Ticks until what is asked for once must be there: ten seconds.
const ONCE_TICKS: u32 = 100;
/// Ages move on with every so many ticks.
const TICKS_AN_AGE: u32 = 5;
/// Those that stop, continue or end us.
const SIGNALS: [Signal; 6] = [Signal::TSTP, Signal::CONT, Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT];

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
    let is_terminal = !args.once && !is_dumb && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let mut size = Size { columns: style.columns.unwrap_or(COLUMNS), rows: usize::MAX };
    if is_terminal {
        size = terminal::size().unwrap_or(size);
    } else {
        query.limit = WINDOW_ROWS_MAX;
    }
    let mut driver = Driver::new(App::new(client.base(), query, lock, size), client);
    driver.begin().await?;
    match (is_terminal, args.once) {
        (true, _) => interact(driver, style).await,
        (false, true) => once(driver, style).await,
        (false, false) => follow(driver).await,
    }
}

fn lock_query(path: &str, ensemble: Option<&str>) -> Result<LockQuery, RunError> {
    if !path.starts_with('/') {
        return Err(RunError::wrong(format!(
            "PATH {path:?} is no path of a lock; write it from the root on, like /locks/order, or use --filter TEXT"
        )));
    }
    let ensemble = ensemble.unwrap_or_default().to_owned();
    Ok(LockQuery { ensemble, path: path.to_owned(), ..LockQuery::default() })
}

/// On a terminal, until somebody quits.
async fn interact(mut driver: Driver, style: OutputStyle) -> Result<(), RunError> {
    let mut signals = catch_signals()?;
    let mut terminal = Terminal::enter(style)?;
    let mut events = terminal::events();
    let (mut ticks, mut is_due, mut link) = (0_u32, true, "");
    loop {
        let (mut turn, mut is_to_draw) = (Turn::Go, false);
        tokio::select! {
            happening = driver.next() => match happening? {
                Happening::Event => is_due = true,
                Happening::Tick => {
                    if !terminal::is_taken() {
                        return Err(RunError::Internal(words::PART_FAILED.to_owned()));
                    }
                    ticks = ticks.wrapping_add(1);
                    // That something is old is said at once, and not with the next age.
                    let state = driver.app.viewer.link().state;
                    is_due |= std::mem::replace(&mut link, state) != state;
                    is_to_draw = is_due || ticks.is_multiple_of(TICKS_AN_AGE);
                }
            },
            event = events.recv() => match event {
                Some(Event::Key(key)) => (turn, is_to_draw) = (driver.app.press(key), true),
                Some(_) => {}
                None => return Ok(()),
            },
            signal = signals.recv() => match signal {
                Some(Signal::TSTP) => turn = Turn::Suspend,
                Some(Signal::CONT) => {
                    terminal.take()?;
                    turn = Turn::Redraw;
                }
                _ => return Err(RunError::Answered(EXIT_INTERRUPTED)),
            },
        }
        match turn {
            Turn::Go => {}
            Turn::Redraw => terminal.forget(),
            Turn::Suspend => suspend(&mut terminal)?,
            Turn::Quit => return Ok(()),
        }
        // A terminal without a size is gone.
        let Some(size) = terminal::size() else { return Ok(()) };
        if driver.app.resize(size) {
            terminal.forget();
            is_to_draw = true;
        }
        if is_to_draw || turn != Turn::Go {
            driver.flush();
            // What can't be drawn now is drawn with a later tick.
            is_due = !terminal.show(&driver.app.screen());
        }
    }
}

/// Stops until the shell continues us.
fn suspend(terminal: &mut Terminal) -> Result<(), RunError> {
    terminal.leave();
    // Returns once we are continued. We may always signal ourselves.
    let _ = kill_process(getpid(), Signal::STOP);
    terminal.take()
}

fn catch_signals() -> Result<mpsc::Receiver<Signal>, RunError> {
    let (report, caught) = mpsc::channel(SIGNALS.len());
    for which in SIGNALS {
        let mut stream = signal(SignalKind::from_raw(which.as_raw()))
            .map_err(|error| RunError::Internal(format!("signals can't be received ({error})")))?;
        let report = report.clone();
        tokio::spawn(async move { while stream.recv().await.is_some() && report.send(which).await.is_ok() {} });
    }
    Ok(caught)
}

/// What is there now, and the exit code that says how far it may be trusted.
async fn once(mut driver: Driver, style: OutputStyle) -> Result<(), RunError> {
    let mut ticks = 0;
    while ticks < ONCE_TICKS && !driver.app.is_settled() {
        ticks += u32::from(driver.next().await? == Happening::Tick);
        check_refusal(&driver)?;
    }
    let is_missing = match driver.app.viewer.model.body() {
        None => return Err(RunError::Unavailable(words::nothing_came(driver.base()))),
        Some(body) => matches!(body, Body::Lock(None)),
    };
    let lines: Vec<String> = driver.app.whole().iter().map(|line| line.render(style)).collect();
    crate::stdout::print(&lines.join("\n"));
    match (driver.app.viewer.link().is_live(), is_missing) {
        (false, _) => Err(RunError::Answered(EXIT_UNSURE)),
        (true, true) => Err(RunError::Answered(EXIT_MISSING)),
        (true, false) => Ok(()),
    }
}

/// A line for each change, until nobody reads on.
async fn follow(mut driver: Driver) -> Result<(), RunError> {
    let mut changes = Changes::default();
    loop {
        driver.next().await?;
        check_refusal(&driver)?;
        let viewer = &driver.app.viewer;
        let Some(body) = viewer.model.body() else { continue };
        let (now_ms, (word, text)) = (viewer.now_ms(), viewer.link_words());
        let mut out = std::io::stdout().lock();
        for line in changes.link(&word, &text, now_ms).into_iter().chain(changes.of(body, now_ms)) {
            if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
                return Ok(());
            }
        }
    }
}

fn check_refusal(driver: &Driver) -> Result<(), RunError> {
    let refusal = driver.app.viewer.model.refusal();
    refusal.map_or(Ok(()), |refusal| Err(RunError::wrong(text::clean(refusal))))
}
