//! The command line of `lockscope autopsy`.

use std::path::PathBuf;

use clap::Args;

use super::ColorChoice;

/// What is read, and what becomes of it.
#[derive(Clone, Debug, Args)]
pub struct AutopsyArgs {
    /// ZooKeeper's data directory (dataDir, or dataLogDir) or its version-2, in place or copied; never written to. Several
    /// are members of one ensemble, and are compared.
    #[arg(value_name = "DIR", required = true)]
    pub dir: Vec<PathBuf>,
    /// A path to look at, repeatable [default: /, which finds every lock].
    #[arg(long, value_name = "PATH")]
    pub root: Vec<String>,
    /// Only from then on: like 2026-11-22T03:12:00Z, or milliseconds since the epoch.
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// Only up to then.
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// A new file that ends in .db for the history that is rebuilt, as `history export --format sqlite` writes it; any other
    /// name is that of a new or empty directory, which `serve` with `history_dir` shows [default: it is removed].
    #[arg(long, value_name = "FILE.db|DIR")]
    pub out: Option<PathBuf>,
    /// ZooKeeper's audit log (audit.enable=true), which says by session who wrote, and from where.
    #[arg(long, value_name = "FILE")]
    pub audit_log: Option<PathBuf>,
    /// Print JSON.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// When to use colours; auto: on terminals, unless NO_COLOR is set.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto, help_heading = "Output")]
    pub color: ColorChoice,
    /// Show the dashboard on it, at any moment; read-only, on this machine only.
    #[arg(long)]
    pub serve: bool,
    /// Address to listen on; port 0 picks a free one [default: 127.0.0.1:3000].
    #[arg(long, value_name = "ADDR:PORT", requires = "serve")]
    pub listen: Option<String>,
}
