//! The command line of those who ask a server for its alerts.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::query::AnswerArgs;

/// What fires.
#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct AlertsArgs {
    /// What is asked; without it, what fires.
    #[command(subcommand)]
    pub question: Option<AlertsCommand>,
    /// Which alerts.
    #[arg(long, value_enum, value_name = "STATE", default_value_t = AlertChoice::Firing)]
    pub state: AlertChoice,
    /// The answer.
    #[command(flatten)]
    pub answer: AnswerArgs,
}

/// Which alerts are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AlertChoice {
    /// Those that fire.
    Firing,
    /// Those that are not so for long enough yet.
    Pending,
    /// Those that are over.
    Resolved,
    /// Those that nobody is told of.
    Silenced,
    /// All of them.
    All,
}

/// What is asked of alerts.
#[derive(Clone, Debug, Subcommand)]
pub enum AlertsCommand {
    /// Say when a rule would have fired, over what was recorded.
    Test(AlertsTestArgs),
}

/// A rule, and a stretch of the past.
#[derive(Clone, Debug, Args)]
pub struct AlertsTestArgs {
    /// The name of a rule of that server.
    #[arg(value_name = "RULE", required_unless_present = "file", conflicts_with = "file")]
    pub rule: Option<String>,
    /// A file with [[alert]] tables, as in a configuration file.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The ensemble, if there are several.
    #[arg(long, value_name = "NAME")]
    pub ensemble: Option<String>,
    /// Where it begins: milliseconds since the epoch, or how long ago, like 90m, 12h or 7d.
    #[arg(long, value_name = "TIME", default_value = "24h")]
    pub from: String,
    /// Where it ends, likewise [default: now].
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// The answer.
    #[command(flatten)]
    pub answer: AnswerArgs,
}
