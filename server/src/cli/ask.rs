//! The command line of those who ask a running server, and of what the program says about itself.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use lockscope_wire::{Recipe, Sort, Verdict, WINDOW_ROWS_MAX};

/// The server that is asked.
#[derive(Clone, Debug, Args)]
pub struct Server {
    /// The server to ask.
    #[arg(
        long,
        value_name = "URL",
        env = "LOCKSCOPE_SERVER",
        hide_env_values = true,
        default_value = "http://127.0.0.1:3000",
        help_heading = "Which server"
    )]
    pub server: String,
    /// A file with a token of that server; or the token itself in LOCKSCOPE_TOKEN.
    #[arg(long, value_name = "FILE", env = "LOCKSCOPE_TOKEN_FILE", hide_env_values = true, help_heading = "Which server")]
    pub token_file: Option<PathBuf>,
    /// Who signs its certificate, in PEM; without it, the system's authorities.
    #[arg(long, value_name = "FILE", env = "LOCKSCOPE_SERVER_CA", hide_env_values = true, help_heading = "Which server")]
    pub server_ca: Option<PathBuf>,
}

/// How an answer is written.
#[derive(Clone, Debug, Args)]
pub struct Form {
    /// Print JSON, as the server's API answers.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Whether to use colours; auto: on terminals, unless NO_COLOR is set.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto, help_heading = "Output")]
    pub color: Color,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On terminals.
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

/// Locks, worst first.
#[derive(Clone, Debug, Args)]
pub struct Locks {
    /// Only locks with this text in their path, recipe, or a holder's name or session; `!TEXT` leaves out; several words all have to fit.
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
    /// What comes first: the most time waited in all, the longest wait, the most waiters, the longest hold; or by path.
    #[arg(long, value_name = "ORDER", default_value = "damage", value_parser = PossibleValuesParser::new(Sort::ALL.map(Sort::name)))]
    pub sort: String,
    /// Rows, at most 500.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=i64::from(WINDOW_ROWS_MAX)))]
    pub limit: u32,
    /// Rows to leave out before the first.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub offset: u32,
    /// How it is written.
    #[command(flatten)]
    pub form: Form,
    /// Who is asked.
    #[command(flatten)]
    pub server: Server,
}

/// One lock.
#[derive(Clone, Debug, Args)]
pub struct Lock {
    /// The lock's path, or that of a znode in it.
    #[arg(value_name = "PATH")]
    pub path: String,
    /// Where, if several ensembles have such a lock.
    #[arg(long, value_name = "NAME")]
    pub ensemble: Option<String>,
    /// Holders and waiters to show, at most 500.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=i64::from(WINDOW_ROWS_MAX)))]
    pub limit: u32,
    /// Holders and waiters to leave out before the first.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub offset: u32,
    /// How it is written.
    #[command(flatten)]
    pub form: Form,
    /// Who is asked.
    #[command(flatten)]
    pub server: Server,
}

/// Who holds a lock.
#[derive(Clone, Debug, Args)]
pub struct Who {
    /// The lock's path, or that of a znode in it.
    #[arg(value_name = "PATH")]
    pub path: String,
    /// Where, if several ensembles have such a lock.
    #[arg(long, value_name = "NAME")]
    pub ensemble: Option<String>,
    /// How it is written.
    #[command(flatten)]
    pub form: Form,
    /// Who is asked.
    #[command(flatten)]
    pub server: Server,
}

/// Shells that can be taught.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// GNU bash.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
}

/// Completions.
#[derive(Clone, Debug, Args)]
pub struct Completions {
    /// For which shell.
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// The manual.
#[derive(Clone, Debug, Args)]
pub struct Man {
    /// Of which command, like `who` or `audit verify`; without any, of the whole.
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,
}
