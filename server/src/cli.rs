//! The command line: names and help texts. What the values mean is in `config`.

use std::path::PathBuf;

use app::wire::Duty;
use clap::{Args, Parser, Subcommand};

/// A live lock observatory for Apache ZooKeeper.
#[derive(Clone, Debug, Parser)]
#[command(name = "lockscope", version, about, max_term_width = 120)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Watch an ensemble and serve the dashboard.
    Serve(Settings),
    /// Start a private ZooKeeper with live sample contention and the dashboard; everything is removed at exit.
    Demo(Demo),
    /// Check the configuration that `serve` would use, and say what it comes to.
    CheckConfig(Settings),
    /// Make, list and revoke tokens for scripts; a running server follows within a second.
    Token(Token),
    /// Set, list and remove users who sign in with a password; a running server follows within a second.
    User(User),
}

/// Where people are kept.
#[derive(Clone, Debug, Default, Args)]
pub struct Place {
    /// The data directory of the server [default: $XDG_STATE_HOME/lockscope or ~/.local/state/lockscope].
    #[arg(long, value_name = "DIR", global = true)]
    pub data_dir: Option<String>,
    /// The server's TOML file, which may name the data directory.
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
}

/// What a token or a user may do.
#[derive(Clone, Debug, Args)]
pub struct Given {
    /// What it is called, on every page and in the record.
    #[arg(long, value_name = "NAME")]
    pub name: String,
    /// What it may do: viewer, operator, auditor or admin.
    #[arg(long, value_name = "ROLE", value_parser = role)]
    pub role: Duty,
    /// The only ensemble where it may, repeatable; without any, everywhere.
    #[arg(long, value_name = "NAME")]
    pub ensemble: Vec<String>,
    /// The only path at and below which it may, repeatable; without any, everywhere.
    #[arg(long, value_name = "PATH")]
    pub path: Vec<String>,
}

/// Tokens.
#[derive(Clone, Debug, Args)]
pub struct Token {
    /// What to do.
    #[command(subcommand)]
    pub change: TokenChange,
    /// Where.
    #[command(flatten)]
    pub place: Place,
}

/// What to do with tokens.
#[derive(Clone, Debug, Subcommand)]
pub enum TokenChange {
    /// Make a token and print it, once, as the last line of standard output.
    New {
        /// What it may do.
        #[command(flatten)]
        given: Given,
        /// When it runs out, like 30d or 12h; without it, never.
        #[arg(long, value_name = "TIME")]
        expires: Option<String>,
    },
    /// List tokens: id, name, role, reach and how long they last. Never the tokens themselves.
    List,
    /// Revoke a token; live sockets opened with it close.
    Revoke {
        /// The token of this name.
        #[arg(long, value_name = "NAME", conflicts_with = "id", required_unless_present = "id")]
        name: Option<String>,
        /// The token of this id.
        #[arg(long, value_name = "ID")]
        id: Option<String>,
    },
}

/// Users.
#[derive(Clone, Debug, Args)]
pub struct User {
    /// What to do.
    #[command(subcommand)]
    pub change: UserChange,
    /// Where.
    #[command(flatten)]
    pub place: Place,
}

/// What to do with users.
#[derive(Clone, Debug, Subcommand)]
pub enum UserChange {
    /// Add a user, or give one a new role and password; the password is read from standard input.
    Set {
        /// What they may do.
        #[command(flatten)]
        given: Given,
    },
    /// List users: name, role and reach.
    List,
    /// Remove a user; their sessions and live sockets end.
    Remove {
        /// Who.
        #[arg(long, value_name = "NAME")]
        name: String,
    },
}

fn role(text: &str) -> Result<Duty, String> {
    Duty::ALL.into_iter().find(|duty| duty.name() == text).ok_or_else(|| "use one of viewer, operator, auditor, admin".to_owned())
}

/// Settings as given on the command line; each also as LOCKSCOPE_… in the environment and as a key of the file.
#[derive(Clone, Debug, Default, Args)]
pub struct Settings {
    /// The ensemble: HOST:PORT[,HOST:PORT…][/CHROOT].
    #[arg(long, value_name = "HOST:PORT,…")]
    pub zk: Option<String>,
    /// What the ensemble is called on every page; several are named in the file, with [[ensemble]].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// A path to watch, repeatable; without any, every lock under / is found.
    #[arg(long, value_name = "PATH")]
    pub root: Vec<String>,
    /// Where to serve; port 0 takes a free one [default: 127.0.0.1:3000].
    #[arg(long, value_name = "ADDR:PORT")]
    pub listen: Option<String>,
    /// A TOML file with settings.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where tokens, users and the record of acts are kept [default: $XDG_STATE_HOME/lockscope or ~/.local/state/lockscope].
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<String>,
    /// Give up when ZooKeeper was not reached in this time, like 30s or 500ms; without it, keep trying.
    #[arg(long, value_name = "TIME")]
    pub connect_timeout: Option<String>,
    /// Time-out of the session to ZooKeeper [default: 10000].
    #[arg(long, value_name = "MS")]
    pub session_timeout_ms: Option<String>,
    /// Whether the members are asked who is connected, when sessions run out and who watches what: on or off [default: on].
    #[arg(long, value_name = "on|off")]
    pub evidence: Option<String>,
    /// A member's AdminServer, repeatable; a member without one is asked by four-letter words.
    #[arg(long, value_name = "http://HOST:PORT")]
    pub admin_url: Vec<String>,
    /// A znode below which Lockscope may make ephemerals to compare the clocks; without it, it writes nothing.
    #[arg(long, value_name = "PATH")]
    pub clock_scratch: Option<String>,
}

/// Settings of the demo.
#[derive(Clone, Debug, Args)]
pub struct Demo {
    /// Where to serve; port 0 takes a free one [default: 127.0.0.1:3000].
    #[arg(long, value_name = "ADDR:PORT")]
    pub listen: Option<String>,
}
