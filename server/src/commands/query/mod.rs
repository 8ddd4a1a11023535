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

use crate::cli::{AlertsArgs, ColorChoice, HistoryArgs, LockArgs, LocksArgs, WhoArgs};
use crate::error::RunError;
use crate::stdout;
use client::QueryClient;
use lockscope_runtime::clock::Clock;
use responses::{LockDetail, Status};
use table::Tone;

/// Lists locks.
///
/// # Errors
/// One sentence. That nothing matches is no error.
pub(super) async fn locks(args: &LocksArgs, clock: &Clock) -> Result<(), RunError> {
    let server = QueryClient::new(&args.server)?;
    let status = server.status().await?;
    let text = server.locks(args, &status).await?;
    warn(&status, args.ensemble.as_deref(), args.form.color);
    if args.form.json {
        stdout::print(&words::json(&text));
        return Ok(());
    }
    let has_several = status.ensembles.len() > 1 && args.ensemble.is_none();
    stdout::print(&locks::render(
        &server.read(&text)?,
        args.offset,
        has_several,
        clock.now_ms(),
        terminal::stdout_style(args.form.color),
    ));
    Ok(())
}

/// Shows one lock.
pub(super) async fn lock(args: &LockArgs) -> Result<(), RunError> {
    let server = QueryClient::new(&args.server)?;
    let text = server.lock(&args.path, args.ensemble.as_deref(), args.limit, args.offset).await?;
    let page: LockDetail = server.read(&text)?;
    if args.form.json {
        stdout::print(&words::json(&text));
    } else {
        stdout::print(&lock::render(&page, args.offset, terminal::stdout_style(args.form.color)));
    }
    if responses::is_current(&page.lock.as_of.state) {
        Ok(())
    } else {
        Err(RunError::Answered(crate::error::EXIT_UNSURE))
    }
}

/// Says who holds a lock.
///
/// # Errors
/// One sentence; and the exit code of an answer that is not "somebody does".
pub(super) async fn who(args: &WhoArgs, clock: &Clock) -> Result<(), RunError> {
    let server = QueryClient::new(&args.server)?;
    let text = server.lock(&args.path, args.ensemble.as_deref(), 1, 0).await?;
    let page: LockDetail = server.read(&text)?;
    let time = match page.lock.waiter_count {
        Some(0) => None,
        _ => server.time_to_lock(&args.path, &page.lock.ensemble).await,
    };
    if args.form.json {
        let whole: serde_json::Value = server.read(&text)?;
        stdout::print(&words::json(&who::json(&whole, &page.lock, time).to_string()));
    } else {
        let time = time.and_then(|time| serde_json::from_value(time).ok());
        let shown = terminal::stdout_style(args.form.color);
        stdout::print(&who::render(&page.lock, time.as_ref(), clock.now_ms(), shown));
    }
    who::code(&page.lock).map_or(Ok(()), |code| Err(RunError::Answered(code)))
}

/// Says what is kept of the past.
///
/// # Errors
/// One sentence. That nothing is kept is no error.
pub(super) async fn history(args: &HistoryArgs, clock: &Clock) -> Result<(), RunError> {
    if let Some(question) = &args.question {
        return past::ask(question, clock.now_ms()).await;
    }
    let server = QueryClient::new(&args.server)?;
    let answers = server.histories(args.ensemble.as_deref()).await?;
    if args.form.json {
        let whole = match answers.as_slice() {
            [one] => one.clone(),
            several => format!("[{}]", several.join(",")),
        };
        stdout::print(&words::json(&whole));
        return Ok(());
    }
    let shown = terminal::stdout_style(args.form.color);
    let parts = answers.iter().map(|text| Ok(history::render(&server.read(text)?, shown)));
    stdout::print(&parts.collect::<Result<Vec<_>, RunError>>()?.join("\n"));
    Ok(())
}

/// Says what fires, or when a rule would have fired.
///
/// # Errors
/// One sentence. That nothing fires is no error.
pub(super) async fn alerts(args: &AlertsArgs, clock: &Clock) -> Result<(), RunError> {
    alerts::ask(args, clock.now_ms()).await
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
