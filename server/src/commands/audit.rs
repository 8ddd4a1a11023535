//! `lockscope audit`: checks or exports the audit log.

use std::path::PathBuf;

use crate::cli::{AuditCommand, DataDirArgs};
use crate::config::{self, ConfigError, ProcessEnvironment};
use crate::error::RunError;
use crate::stdout;
use audit::weave::WeaveError;
use audit::{self, VerifyError, chain};

/// Checks or exports the audit log; a server may go on writing to it.
pub(super) fn run(command: &AuditCommand, data: &DataDirArgs) -> Result<(), RunError> {
    match command {
        AuditCommand::Verify { dirs, .. } if !dirs.is_empty() => verify_several(dirs),
        AuditCommand::Verify { head, .. } => {
            let head = head.as_deref().map(|head| head.trim().to_lowercase());
            if let Some(head) = head.as_deref().filter(|head| !chain::is_hash(head)) {
                let what = format!(
                    "--head {head:?} is not the hash of a record; give its {} hexadecimal digits",
                    chain::HASH_CHARS
                );
                return Err(ConfigError(what).into());
            }
            let (_, whole) = verified(data, head.as_deref())?;
            let anchored =
                whole.anchored.map_or_else(String::new, |id| format!(", the given hash is that of record {id}"));
            stdout::print(&format!("{} records, chain whole, head {}{anchored}", whole.tip.id, whole.tip.hash));
            if let Some(open) = audit::open_words(&whole.requests) {
                stdout::print(&open);
            }
            if whole.torn_bytes > 0 {
                stdout::print(&format!(
                    "then {} bytes of a line that is being written or was cut off by a crash; the next start moves it aside",
                    whole.torn_bytes
                ));
            }
            Ok(())
        }
        AuditCommand::Export => {
            let (dir, whole) = verified(data, None)?;
            match audit::copy_all(&dir, &whole, &mut std::io::stdout().lock()) {
                // A reader that has enough is no failure.
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(RunError::Unavailable(format!(
                    "the audit log could not be written to standard output ({error}); write it to a file"
                ))),
                Ok(()) | Err(_) => Ok(()),
            }
        }
    }
}

/// Several logs, each alone and against what the others saw of it.
fn verify_several(dirs: &[PathBuf]) -> Result<(), RunError> {
    let whole = audit::weave::verify_dirs(dirs).map_err(|error| match error {
        WeaveError::One(error) => exit_of(error),
        WeaveError::Missing { .. } => RunError::Broken(error.to_string()),
    })?;
    for (dir, (log, notes)) in dirs.iter().zip(whole) {
        let (tip, dir) = (log.tip, dir.display());
        stdout::print(&format!(
            "{dir}: {} records, chain whole, head {}, {notes} heads of others seen",
            tip.id, tip.hash
        ));
    }
    stdout::print("every head that one of them saw is in another");
    Ok(())
}

fn exit_of(error: VerifyError) -> RunError {
    match error {
        VerifyError::Line { .. } | VerifyError::Files { .. } => RunError::Broken(error.to_string()),
        VerifyError::None { .. } | VerifyError::Io { .. } => RunError::Unavailable(error.to_string()),
    }
}

fn verified(data: &DataDirArgs, head: Option<&str>) -> Result<(PathBuf, audit::VerifiedLog), RunError> {
    let dir = config::data_dir(data.data_dir.as_deref(), data.config.as_deref(), &ProcessEnvironment)?;
    let whole = audit::verify_dir(&dir, head).map_err(exit_of)?;
    Ok((dir, whole))
}
