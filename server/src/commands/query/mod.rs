//! `lockscope locks`, `lock`, `who`, `history` and `alerts`: questions to a running server, answered on standard output. What makes an
//! answer old or not whole is said on standard error, so that a pipe does not swallow it.

mod alerts;
pub(super) mod client;
mod history;
pub(super) mod incidents;
mod lock;
mod locks;
mod past;
mod past_range;
mod responses;
mod staleness;
mod suggest;
pub(super) mod table;
pub(super) mod terminal;
#[cfg(test)]
mod tests;
mod who;
pub(super) mod words;

use std::io::Write as _;

use crate::cli::{AnswerArgs, ColorChoice, HistoryArgs, LockArgs, LocksArgs, WhoArgs};
use crate::error::{EXIT_UNSURE, RunError};
use crate::stdout;
pub(super) use alerts::alerts;
use client::QueryClient;
use lockscope_runtime::clock::Clock;
use responses::{LockDetail, Status};
use table::{OutputStyle, Tone};

/// Lists locks.
///
/// # Errors
/// One sentence. That nothing matches is no error.
pub(super) async fn locks(args: &LocksArgs, clock: &Clock) -> Result<(), RunError> {
    let server = QueryClient::new(&args.answer.server)?;
    let status = server.status().await?;
    let text = server.locks(args, &status).await?;
    warn(&status, args.ensemble.as_deref(), args.answer.color);
    let has_several = status.ensembles.len() > 1 && args.ensemble.is_none();
    print(&args.answer, &text, |shown| {
        Ok(locks::render(&server.read(&text)?, args.offset, has_several, clock.now_ms(), shown))
    })
}

/// Shows one lock.
pub(super) async fn lock(args: &LockArgs) -> Result<(), RunError> {
    let server = QueryClient::new(&args.answer.server)?;
    let text = server.lock(&args.path, args.ensemble.as_deref(), args.limit, args.offset).await?;
    let page: LockDetail = server.read(&text)?;
    print(&args.answer, &text, |shown| Ok(lock::render(&page, args.offset, shown)))?;
    if responses::is_current(&page.lock.as_of.state) { Ok(()) } else { Err(RunError::Answered(EXIT_UNSURE)) }
}

/// Says who holds a lock.
///
/// # Errors
/// One sentence; and the exit code of an answer that is not "somebody does".
pub(super) async fn who(args: &WhoArgs, clock: &Clock) -> Result<(), RunError> {
    let server = QueryClient::new(&args.answer.server)?;
    let text = server.lock(&args.path, args.ensemble.as_deref(), 1, 0).await?;
    let LockDetail { lock, .. } = server.read(&text)?;
    let time = match lock.waiter_count {
        Some(0) => None,
        _ => server.time_to_lock(&args.path, &lock.ensemble).await,
    };
    let json = who::json(&server.read(&text)?, &lock, time.clone()).to_string();
    print(&args.answer, &json, |shown| {
        let time = time.and_then(|time| serde_json::from_value(time).ok());
        Ok(who::render(&lock, time.as_ref(), clock.now_ms(), shown))
    })?;
    who::code(&lock).map_or(Ok(()), |code| Err(RunError::Answered(code)))
}

/// Says what is kept of the past.
///
/// # Errors
/// One sentence. That nothing is kept is no error.
pub(super) async fn history(args: &HistoryArgs, clock: &Clock) -> Result<(), RunError> {
    if let Some(question) = &args.question {
        return past::ask(question, clock.now_ms()).await;
    }
    let server = QueryClient::new(&args.answer.server)?;
    let answers = server.histories(args.ensemble.as_deref()).await?;
    let json = match answers.as_slice() {
        [one] => one.clone(),
        several => format!("[{}]", several.join(",")),
    };
    print(&args.answer, &json, |shown| {
        let parts = answers.iter().map(|text| Ok(history::render(&server.read(text)?, shown)));
        Ok(parts.collect::<Result<Vec<_>, RunError>>()?.join("\n"))
    })
}

/// Prints an answer: as JSON, or as it is rendered for people.
fn print(
    asked: &AnswerArgs,
    json: &str,
    render: impl FnOnce(OutputStyle) -> Result<String, RunError>,
) -> Result<(), RunError> {
    stdout::print(&if asked.json { words::json(json) } else { render(terminal::stdout_style(asked.color))? });
    Ok(())
}

/// Says what keeps the answer from being whole and new.
fn warn(status: &Status, ensemble: Option<&str>, color: ColorChoice) {
    let told = terminal::stderr_style(color);
    for note in staleness::notes(status, ensemble) {
        let tone = if note.is_old { Tone::Bad } else { Tone::Odd };
        // A closed standard error is nobody listening.
        let _ = writeln!(std::io::stderr(), "lockscope: {}", told.tone(tone, &note.text));
    }
}
