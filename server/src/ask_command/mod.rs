//! `lockscope locks`, `lock` and `who`: questions to a running server, answered on standard output. What makes an answer old or
//! not whole is said on standard error, so that a pipe does not swallow it.

mod answers;
mod doubt;
mod lock;
mod locks;
mod nearest;
mod questions;
mod table;
mod terminal;
#[cfg(test)]
mod tests;
mod who;
mod words;

use std::io::Write as _;

use crate::cli::{Color, Lock, Locks, Who};
use crate::error::RunError;
use answers::{LockDetail, Status};
use questions::Server;
use runtime::clock::Clock;
use table::Tone;

/// Lists locks.
///
/// # Errors
/// One sentence. That nothing matches is no error.
pub async fn locks(asked: &Locks, clock: &Clock) -> Result<(), RunError> {
    let server = Server::new(&asked.server)?;
    let status = server.status().await?;
    let text = server.locks(asked, &status).await?;
    warn(&status, asked.ensemble.as_deref(), asked.form.color);
    if asked.form.json {
        say(&words::json(&text));
        return Ok(());
    }
    let has_several = status.ensembles.len() > 1 && asked.ensemble.is_none();
    say(&locks::render(&server.read(&text)?, asked.offset, has_several, clock.now_ms(), terminal::shown(asked.form.color)));
    Ok(())
}

/// Shows one lock.
///
/// # Errors
/// One sentence.
pub async fn lock(asked: &Lock) -> Result<(), RunError> {
    let server = Server::new(&asked.server)?;
    let text = server.lock(&asked.path, asked.ensemble.as_deref(), asked.limit, asked.offset).await?;
    let page: LockDetail = server.read(&text)?;
    if asked.form.json {
        say(&words::json(&text));
    } else {
        say(&lock::render(&page, asked.offset, terminal::shown(asked.form.color)));
    }
    if answers::is_current(&page.lock.as_of.state) { Ok(()) } else { Err(RunError::Answered(crate::error::EXIT_UNSURE)) }
}

/// Says who holds a lock.
///
/// # Errors
/// One sentence; and the exit code of an answer that is not "somebody does".
pub async fn who(asked: &Who, clock: &Clock) -> Result<(), RunError> {
    let server = Server::new(&asked.server)?;
    let text = server.lock(&asked.path, asked.ensemble.as_deref(), 1, 0).await?;
    let page: LockDetail = server.read(&text)?;
    if asked.form.json {
        let whole: serde_json::Value = server.read(&text)?;
        say(&words::json(&who::json(&whole, &page.lock).to_string()));
    } else {
        say(&who::render(&page.lock, clock.now_ms(), terminal::shown(asked.form.color)));
    }
    who::code(&page.lock).map_or(Ok(()), |code| Err(RunError::Answered(code)))
}

/// Says what keeps the answer from being whole and new.
fn warn(status: &Status, ensemble: Option<&str>, color: Color) {
    let told = terminal::told(color);
    for doubt in doubt::doubts(status, ensemble) {
        let tone = if doubt.is_old { Tone::Bad } else { Tone::Odd };
        // A closed standard error is nobody listening.
        let _ = writeln!(std::io::stderr(), "lockscope: {}", told.tone(tone, &doubt.text));
    }
}

/// A reader that has enough is no failure.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let _ = write!(out, "{text}{end}").and_then(|()| out.flush());
}
