//! `lockscope autopsy`: reads transaction logs, prints what went wrong, and shows it.

mod incidents;
mod leftovers;
mod out;
mod text;
mod time;

use std::path::PathBuf;

use incidents::Found;
use lockscope_autopsy::{Autopsy, AutopsyError, Options, Report};
use out::Out;
use tempfile::TempDir;

use super::query::{terminal, words};
use crate::cli::AutopsyArgs;
use crate::config::{self, Config, ConfigError, ProcessEnvironment};
use crate::error::{EXIT_DAMAGED, RunError};
use crate::serve::{self, past::Past};
use crate::stdout;

const ENSEMBLE: &str = "default";

/// Reads, prints, and serves where that is asked for.
///
/// # Errors
/// There is nothing to read, something is damaged, or the history can't be written.
pub(super) async fn run(args: &AutopsyArgs) -> Result<(), RunError> {
    let listen = args.serve.then(|| Config::listen_only(args.listen.as_deref(), &ProcessEnvironment)).transpose()?;
    let out = Out::new(args.out.as_deref(), &args.dir)?;
    let place = Place::new(&out)?;
    let options = Options {
        directories: args.dir.clone(),
        roots: config::roots_only(&args.root)?,
        from_ms: args.from.as_deref().map(|text| time::instant("--from", text)).transpose()?,
        to_ms: args.to.as_deref().map(|text| time::instant("--to", text)).transpose()?,
        audit_log: args.audit_log.clone(),
        store: place.directory.clone(),
        ensemble: ENSEMBLE.to_owned(),
    };
    if let (Some(from_ms), Some(to_ms)) = (options.from_ms, options.to_ms)
        && from_ms >= to_ms
    {
        return Err(ConfigError("--from has to be before --to".to_owned()).into());
    }
    let connect = args.dir.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    let autopsy = tokio::select! {
        done = perform(options, &out) => done?,
        () = serve::signalled() => return Err(RunError::Interrupted),
    };
    let (report, writers) = (autopsy.report.clone(), autopsy.writers.clone());
    let past = Past::new((ENSEMBLE, connect), autopsy);
    let (past, found) = tokio::select! {
        found = tokio::task::spawn_blocking(move || (past.incidents(), past)) => {
            let (found, past) = found.map_err(|error| RunError::Internal(format!("the autopsy failed: {error}")))?;
            (past, Found::new(found?, &writers))
        }
        () = serve::signalled() => return Err(RunError::Interrupted),
    };
    print(args, &report, &found)?;
    let is_whole = report.is_whole();
    if let Some(listen) = listen {
        past.serve(listen).await?;
    }
    if is_whole { Ok(()) } else { Err(RunError::Answered(EXIT_DAMAGED)) }
}

/// Reads, and keeps what came of it where that was named.
async fn perform(options: Options, out: &Out) -> Result<Autopsy, RunError> {
    let performed = tokio::task::spawn_blocking(move || lockscope_autopsy::perform(&options)).await;
    let performed = performed.map_err(|error| RunError::Internal(format!("the autopsy failed: {error}")))?;
    let autopsy = performed.map_err(|error| match error {
        AutopsyError::NothingFound(why) => RunError::Missing(why),
        AutopsyError::Store(why) => RunError::Unavailable(why),
    })?;
    match out {
        Out::File(file) => out::write(&autopsy, file).await?,
        Out::Temporary | Out::Directory(_) => {}
    }
    Ok(autopsy)
}

fn print(args: &AutopsyArgs, report: &Report, found: &Found) -> Result<(), RunError> {
    if args.json {
        let json = serde_json::to_string_pretty(&incidents::whole(report, found))
            .map_err(|error| RunError::Internal(format!("the report can't be written: {error}")))?;
        stdout::print(&words::json(&json));
    } else {
        stdout::print(&text::of(report, found, terminal::stdout_style(args.color)));
    }
    Ok(())
}

/// Where the history is written first: the directory that was named, or a directory that is removed in the end.
struct Place {
    directory: PathBuf,
    _temporary: Option<TempDir>,
}

impl Place {
    fn new(out: &Out) -> Result<Self, RunError> {
        if let Out::Directory(directory) = out {
            return Ok(Self { directory: directory.clone(), _temporary: None });
        }
        leftovers::remove(&std::env::temp_dir());
        let temporary = tempfile::Builder::new().prefix(&leftovers::prefix(std::process::id())).tempdir();
        let temporary = temporary.map_err(|error| {
            RunError::Unavailable(format!(
                "the rebuilt history has no place: {error}; name a directory with --out, or set TMPDIR to a folder that can be written"
            ))
        })?;
        Ok(Self { directory: temporary.path().to_owned(), _temporary: Some(temporary) })
    }
}
