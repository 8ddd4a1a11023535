//! The command line of those who ask a running server, and of what the program says about itself.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use lockscope_view::{Recipe, Sort, Verdict, WINDOW_ROWS_MAX};

/// The server that is asked.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Which server")]
pub struct ServerArgs {
    /// Address of the server.
    #[arg(
        long,
        value_name = "URL",
        env = "LOCKSCOPE_SERVER",
        hide_env_values = true,
        default_value = "http://127.0.0.1:3000"
    )]
    pub server: String,
    /// A file with a token of that server; or the token itself in LOCKSCOPE_TOKEN.
    #[arg(long, value_name = "FILE", env = "LOCKSCOPE_TOKEN_FILE", hide_env_values = true)]
    pub token_file: Option<PathBuf>,
    /// Certificate authorities of the server, in PEM [default: the system's].
    #[arg(long, value_name = "FILE", env = "LOCKSCOPE_SERVER_CA", hide_env_values = true)]
    pub server_ca: Option<PathBuf>,
}

/// How an answer is written, and who is asked.
#[derive(Clone, Debug, Args)]
pub struct AnswerArgs {
    /// Print JSON, as returned by the server's API.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// When to use colours; auto: on terminals, unless NO_COLOR is set.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto, help_heading = "Output")]
    pub color: ColorChoice,
    /// Who is asked.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On terminals.
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

/// Locks, worst first.
#[derive(Clone, Debug, Args)]
pub struct LocksArgs {
    /// Only locks with this text in their path, recipe, or a holder's name or session; `!TEXT` excludes; all words must
    /// match.
    #[arg(value_name = "PATTERN")]
    pub pattern: Vec<String>,
    /// Only locks with this verdict, repeatable.
    #[arg(long, value_name = "VERDICT", value_delimiter = ',', value_parser = PossibleValuesParser::new(Verdict::ALL.map(Verdict::name)))]
    pub verdict: Vec<String>,
    /// Only locks of this recipe.
    #[arg(long, value_name = "RECIPE", value_parser = PossibleValuesParser::new(Recipe::ALL.map(Recipe::name)))]
    pub recipe: Option<String>,
    /// Only locks of this ensemble.
    #[arg(long, value_name = "NAME")]
    pub ensemble: Option<String>,
    /// Sort order: total time waited, longest wait, most waiters, longest hold, or path.
    #[arg(long, value_name = "ORDER", default_value = "damage", value_parser = PossibleValuesParser::new(Sort::ALL.map(Sort::name)))]
    pub sort: String,
    /// Number of rows, at most 500.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=i64::from(WINDOW_ROWS_MAX)))]
    pub limit: u32,
    /// Rows to skip.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub offset: u32,
    /// The answer.
    #[command(flatten)]
    pub answer: AnswerArgs,
}

/// One lock.
#[derive(Clone, Debug, Args)]
pub struct LockArgs {
    /// The lock's path, or that of a znode in it.
    #[arg(value_name = "PATH")]
    pub path: String,
    /// The ensemble, if several have such a lock.
    #[arg(long, value_name = "NAME")]
    pub ensemble: Option<String>,
    /// Holders and waiters to show, at most 500.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=i64::from(WINDOW_ROWS_MAX)))]
    pub limit: u32,
    /// Holders and waiters to skip.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub offset: u32,
    /// The answer.
    #[command(flatten)]
    pub answer: AnswerArgs,
}

/// Who holds a lock.
#[derive(Clone, Debug, Args)]
pub struct WhoArgs {
    /// The lock's path, or that of a znode in it.
    #[arg(value_name = "PATH")]
    pub path: String,
    /// The ensemble, if several have such a lock.
    #[arg(long, value_name = "NAME")]
    pub ensemble: Option<String>,
    /// The answer.
    #[command(flatten)]
    pub answer: AnswerArgs,
}

/// What is kept of the past.
#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct HistoryArgs {
    /// What is asked; without it, what is kept.
    #[command(subcommand)]
    pub question: Option<HistoryCommand>,
    /// The ensemble, if there are several [default: each].
    #[arg(long, value_name = "NAME")]
    pub ensemble: Option<String>,
    /// The answer.
    #[command(flatten)]
    pub answer: AnswerArgs,
}

/// What is asked of the past.
#[derive(Clone, Debug, Subcommand)]
pub enum HistoryCommand {
    /// List who held and who waited, the newest first.
    Holds(PastArgs),
    /// List what stood out: verdicts, findings, deadlocks, outages, gaps, releases.
    Marks(PastArgs),
    /// List incidents: when something was wrong with which locks, because of whom, and how it ended.
    Incidents(IncidentsArgs),
    /// Write who held and who waited as a table, or as a trace that Perfetto opens; or all of it as an SQLite database.
    Export(ExportArgs),
}

/// A stretch of the past.
#[derive(Clone, Debug, Args)]
pub struct PastRangeArgs {
    /// Only this lock.
    #[arg(value_name = "PATH")]
    pub path: Option<String>,
    /// The ensemble, if there are several.
    #[arg(long, value_name = "NAME")]
    pub ensemble: Option<String>,
    /// Where it begins: milliseconds since the epoch, or how long ago, like 90m, 12h or 7d.
    #[arg(long, value_name = "TIME", default_value = "1h")]
    pub from: String,
    /// Where it ends, likewise [default: now].
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
}

/// A list of what was.
#[derive(Clone, Debug, Args)]
pub struct PastArgs {
    /// When.
    #[command(flatten)]
    pub range: PastRangeArgs,
    /// Number of rows, at most 1000.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub limit: u32,
    /// The answer.
    #[command(flatten)]
    pub answer: AnswerArgs,
}

/// Incidents of a stretch of the past.
#[derive(Clone, Debug, Args)]
pub struct IncidentsArgs {
    /// The ensemble, if there are several.
    #[arg(long, value_name = "NAME")]
    pub ensemble: Option<String>,
    /// Where it begins: milliseconds since the epoch, or how long ago, like 90m, 12h or 7d.
    #[arg(long, value_name = "TIME", default_value = "1d")]
    pub from: String,
    /// Where it ends, likewise [default: now].
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// Only those that this lock is part of.
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
    /// Only those that lasted at least so many milliseconds.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub min_ms: u64,
    /// Number of rows, at most 500.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub limit: u32,
    /// The answer.
    #[command(flatten)]
    pub answer: AnswerArgs,
}

/// A file of what was.
#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// When.
    #[command(flatten)]
    pub range: PastRangeArgs,
    /// Format.
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    pub format: ExportFormat,
    /// Write to this new file, not to standard output. An SQLite database needs one.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Who is asked.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A line a contender.
    Csv,
    /// Trace events, for ui.perfetto.dev.
    Perfetto,
    /// A history of its own, with each change: an SQLite database.
    Sqlite,
}

/// Shells that can be taught.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompletionShell {
    /// GNU bash.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
}

/// Completions.
#[derive(Clone, Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: CompletionShell,
}

/// The manual.
#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// The command, like `who` or `audit verify` [default: Lockscope as a whole].
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,
}
