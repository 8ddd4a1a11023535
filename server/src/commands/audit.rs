//! `lockscope audit`: checks or exports the audit log.

use std::path::PathBuf;

#[cfg(feature = "postgres")]
use crate::cli::ServeArgs;
use crate::cli::{AuditCommand, DataDirArgs};
use crate::config::{self, ConfigError, ProcessEnvironment};
#[cfg(feature = "postgres")]
use crate::config::{Config, HistoryPlace};
use crate::error::RunError;
use crate::stdout;
#[cfg(feature = "postgres")]
use lockscope_audit::shared_heads::{KIND, parse};
use lockscope_audit::{self, VerifyError, chain};

/// Checks or exports the audit log; a server may go on writing to it.
pub(super) async fn run(command: &AuditCommand, data: &DataDirArgs) -> Result<(), RunError> {
    match command {
        #[cfg(feature = "postgres")]
        AuditCommand::Verify { head, shared_heads: true, dirs } => {
            // First the heads: a replica may write meanwhile, and its log is never behind them.
            let shared = shared_heads(data).await;
            verify(head.as_deref(), dirs, data)?;
            check(&shared?, dirs, data)
        }
        AuditCommand::Verify { head, dirs, .. } => verify(head.as_deref(), dirs, data),
        AuditCommand::Export => {
            let (dir, whole) = verified(data, None)?;
            match lockscope_audit::copy_all(&dir, &whole, &mut std::io::stdout().lock()) {
                // A reader that has enough is no failure.
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(RunError::Unavailable(format!(
                    "the audit log could not be written to standard output ({error}); write it to a file"
                ))),
                Ok(()) | Err(_) => Ok(()),
            }
        }
    }
}

/// Each chain by itself.
fn verify(head: Option<&str>, dirs: &[PathBuf], data: &DataDirArgs) -> Result<(), RunError> {
    for dir in dirs {
        let tip = lockscope_audit::verify_dir(dir, None).map_err(exit_of)?.tip;
        stdout::print(&format!("{}: {} records, chain whole, head {}", dir.display(), tip.id, tip.hash));
    }
    if !dirs.is_empty() {
        return Ok(());
    }
    let head = head.map(|head| head.trim().to_lowercase());
    if let Some(head) = head.as_deref().filter(|head| !chain::is_hash(head)) {
        let what =
            format!("--head {head:?} is not the hash of a record; give its {} hexadecimal digits", chain::HASH_CHARS);
        return Err(ConfigError(what).into());
    }
    let (_, whole) = verified(data, head.as_deref())?;
    let anchored = whole.anchored.map_or_else(String::new, |id| format!(", the given hash is that of record {id}"));
    stdout::print(&format!("{} records, chain whole, head {}{anchored}", whole.tip.id, whole.tip.hash));
    if let Some(open) = lockscope_audit::open_words(&whole.requests) {
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

/// What the database has of the replicas' logs.
#[cfg(feature = "postgres")]
struct Shared {
    /// The replica whose settings these are.
    own: String,
    heads: Vec<(String, chain::ChainHead)>,
}

#[cfg(feature = "postgres")]
async fn shared_heads(data: &DataDirArgs) -> Result<Shared, RunError> {
    let flags = ServeArgs { config: data.config.clone(), data_dir: data.data_dir.clone(), ..ServeArgs::default() };
    let config = Config::load(&flags, &ProcessEnvironment)?;
    let place = config.history.as_ref().map(|history| &history.place);
    let (Some(cluster), Some(HistoryPlace::Database(target))) = (&config.cluster, place) else {
        return Err(ConfigError(
            "--shared-heads needs [cluster] and history_url in the file: without them replicas share no heads"
                .to_owned(),
        )
        .into());
    };
    let failed = |why: String| RunError::Unavailable(format!("the heads in the database can't be read: {why}"));
    let database = lockscope_postgres::Database::new(target.clone()).map_err(|error| failed(error.to_string()))?;
    let rows = lockscope_cluster::shared_rows::rows_of(&database, cluster.shares_as(), KIND).await;
    let rows = rows.map_err(|error| failed(error.to_string()))?;
    Ok(Shared { own: cluster.id_at(config.listen), heads: rows.iter().filter_map(parse).collect() })
}

/// Whether each head is in one of the logs; of the configured one where none are named.
#[cfg(feature = "postgres")]
fn check(shared: &Shared, dirs: &[PathBuf], data: &DataDirArgs) -> Result<(), RunError> {
    let own = config::data_dir(data.data_dir.as_deref(), data.config.as_deref(), &ProcessEnvironment)?;
    let is_wanted = |(replica, _): &&(String, _)| !dirs.is_empty() || *replica == shared.own;
    let wanted: Vec<_> = shared.heads.iter().filter(is_wanted).collect();
    let dirs = if dirs.is_empty() { std::slice::from_ref(&own) } else { dirs };
    if wanted.is_empty() {
        return Err(RunError::Unavailable("the database has no head of any of these logs".to_owned()));
    }
    for (replica, chain::ChainHead { id, hash }) in wanted {
        let Some(dir) = dirs.iter().find(|dir| lockscope_audit::verify_dir(dir, Some(hash)).is_ok()) else {
            return Err(RunError::Broken(format!(
                "the database has record {id} of {replica} with the hash {hash} as its last one, and none of the logs has that: \
                 that log was cut or written anew, or an older copy of it or other logs were named"
            )));
        };
        stdout::print(&format!(
            "record {id} of {replica}, the last one that the database has, is in {}",
            dir.display()
        ));
    }
    Ok(())
}

fn exit_of(error: VerifyError) -> RunError {
    match error {
        VerifyError::Line { .. } | VerifyError::Files { .. } => RunError::Broken(error.to_string()),
        VerifyError::None { .. } | VerifyError::Io { .. } => RunError::Unavailable(error.to_string()),
    }
}

fn verified(data: &DataDirArgs, head: Option<&str>) -> Result<(PathBuf, lockscope_audit::VerifiedLog), RunError> {
    let dir = config::data_dir(data.data_dir.as_deref(), data.config.as_deref(), &ProcessEnvironment)?;
    let whole = lockscope_audit::verify_dir(&dir, head).map_err(exit_of)?;
    Ok((dir, whole))
}
