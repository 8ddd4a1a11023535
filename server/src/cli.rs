//! The command line: names and help texts. What the values mean is in `config`.

mod ask;
mod pages;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use lockscope_wire::Role;

pub use ask::{Color, Completions, Form, Lock, Locks, Man, Server, Shell, Who};
pub use pages::{PAGES, Page, command, page, parse};

/// A live lock observatory for Apache ZooKeeper.
#[derive(Clone, Debug, Parser)]
#[command(name = "lockscope", version, max_term_width = 120)]
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
    #[cfg(feature = "demo")]
    Demo(Demo),
    /// Check the configuration that `serve` would use, and say what it comes to.
    CheckConfig(Settings),
    /// Print every setting with its meaning: as a reference, or as a file to begin with.
    Config(Printed),
    /// Ask a running server whether it lives, for containers: exit code 0 or 1, and one line.
    Healthcheck(Healthcheck),
    /// Make, list and revoke tokens for scripts; a running server follows within a second.
    Token(Token),
    /// Set, list and remove users who sign in with a password; a running server follows within a second.
    User(User),
    /// Look after the record of acts that a server keeps.
    Audit(Audit),
    /// Let real sessions contend for a lock in several ways of waiting, and print what each costs.
    #[cfg(feature = "lab")]
    Lab(LabArgs),
    /// List locks: verdict, who holds, how many wait and for how long.
    Locks(Locks),
    /// Show one lock: holders, the queue in order, what is odd about it.
    Lock(Lock),
    /// Say in one line who holds a lock; the exit code tells whether somebody does.
    Who(Who),
    /// Print completions for a shell.
    Completions(Completions),
    /// Print the manual of the whole or of one command, as roff.
    Man(Man),
}

/// What is printed of the settings.
#[derive(Clone, Debug, Args)]
pub struct Printed {
    /// What.
    #[command(subcommand)]
    pub what: What,
}

/// What is printed of the settings.
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum What {
    /// Every setting, in Markdown.
    Reference,
    /// A TOML file with every setting, each commented out.
    Example,
}

/// A question to a running server.
#[derive(Clone, Debug, Args)]
pub struct Healthcheck {
    /// Where it is [default: where `serve` with this configuration and environment listens].
    #[arg(long, value_name = "http://HOST:PORT")]
    pub url: Option<String>,
    /// Whether it is ready to be asked: every root was read, and it is not shutting down.
    #[arg(long)]
    pub ready: bool,
    /// The server's TOML file.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// The record of acts.
#[derive(Clone, Debug, Args)]
pub struct Audit {
    /// What to do.
    #[command(subcommand)]
    pub command: AuditCommand,
    /// Where.
    #[command(flatten)]
    pub place: Place,
}

/// What to do with the record of acts.
#[derive(Clone, Debug, Subcommand)]
pub enum AuditCommand {
    /// Check that no record was changed, taken out, put in or cut off; exit code 1 and the place when one was.
    Verify {
        /// A hash that was noted elsewhere, which must still be in the record: from a webhook, an export or an earlier check.
        #[arg(long, value_name = "HASH")]
        head: Option<String>,
    },
    /// Write all of it to standard output, one JSON object a line, after checking it.
    Export,
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
    pub role: Role,
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
    /// Add a user, or give one a new role and password; the password is read from standard input or a file.
    Set {
        /// What they may do.
        #[command(flatten)]
        given: Given,
        /// The file whose first line is the password, such as a mounted secret.
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
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

fn role(text: &str) -> Result<Role, String> {
    Role::ALL.into_iter().find(|role| role.name() == text).ok_or_else(|| "use one of viewer, operator, auditor, admin".to_owned())
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
    /// Where every act and refusal is sent as JSON, signed; needs --data-dir and a secret.
    #[arg(long, value_name = "https://…")]
    pub webhook_url: Option<String>,
    /// A file with the secret that signs what is sent; or the secret itself in LOCKSCOPE_WEBHOOK_SECRET.
    #[arg(long, value_name = "FILE")]
    pub webhook_secret_file: Option<String>,
    /// Whether the webhook may be plain http to another machine: on or off [default: off].
    #[arg(long, value_name = "on|off")]
    pub webhook_allow_http: Option<String>,
    /// How this is served and how ZooKeeper is met.
    #[command(flatten)]
    pub safety: Safety,
}

/// Settings of who may come in, and of what Lockscope shows to ZooKeeper. Secrets are never given here, only their files.
#[derive(Clone, Debug, Default, Args)]
pub struct Safety {
    /// An address that the dashboard is used at, repeatable; its pages may act. This machine's own need none.
    #[arg(long, value_name = "https://HOST", help_heading = "Serving")]
    pub origin: Vec<String>,
    /// The server's certificate and its chain, in PEM; read again when the file changes.
    #[arg(long, value_name = "FILE", help_heading = "Serving")]
    pub tls_cert: Option<String>,
    /// The certificate's key, in PEM.
    #[arg(long, value_name = "FILE", help_heading = "Serving")]
    pub tls_key: Option<String>,
    /// A proxy before this server encrypts: plain HTTP may be served beyond this machine.
    #[arg(long, value_name = "on|off", num_args = 0..=1, default_missing_value = "on", help_heading = "Serving")]
    pub behind_tls_proxy: Option<String>,
    /// Somebody else has to approve each release before it is ordered.
    #[arg(long, value_name = "on|off", num_args = 0..=1, default_missing_value = "on", help_heading = "Serving")]
    pub second_approver: Option<String>,
    /// The least role that is shown what znodes carry; viewer where only this machine is served, else operator.
    #[arg(long, value_name = "viewer|operator|nobody", help_heading = "Serving")]
    pub payloads: Option<String>,
    /// USER:PASSWORD for ZooKeeper's digest scheme; also as LOCKSCOPE_ZK_AUTH itself.
    #[arg(long, value_name = "FILE", help_heading = "Identity towards ZooKeeper")]
    pub auth_file: Option<String>,
    /// USER:PASSWORD for SASL (DIGEST-MD5).
    #[arg(long, value_name = "FILE", help_heading = "Identity towards ZooKeeper")]
    pub sasl_file: Option<String>,
    /// Authorities that sign ZooKeeper's certificates, in PEM; with it, ZooKeeper is met by TLS only.
    #[arg(long, value_name = "FILE", help_heading = "Identity towards ZooKeeper")]
    pub ca_file: Option<String>,
    /// Our own certificate towards ZooKeeper, in PEM.
    #[arg(long, value_name = "FILE", help_heading = "Identity towards ZooKeeper")]
    pub cert_file: Option<String>,
    /// Its key, in PEM.
    #[arg(long, value_name = "FILE", help_heading = "Identity towards ZooKeeper")]
    pub key_file: Option<String>,
    /// As --auth-file, for releases only; also as LOCKSCOPE_ZK_ACT_AUTH itself. Without it, they use the watching identity.
    #[arg(long, value_name = "FILE", help_heading = "Identity towards ZooKeeper")]
    pub act_auth_file: Option<String>,
    /// As --sasl-file, for releases only.
    #[arg(long, value_name = "FILE", help_heading = "Identity towards ZooKeeper")]
    pub act_sasl_file: Option<String>,
    /// As --cert-file, for releases only.
    #[arg(long, value_name = "FILE", help_heading = "Identity towards ZooKeeper")]
    pub act_cert_file: Option<String>,
    /// As --key-file, for releases only.
    #[arg(long, value_name = "FILE", help_heading = "Identity towards ZooKeeper")]
    pub act_key_file: Option<String>,
}

/// A run of the lab. Without --zk and --server it gets a private ZooKeeper that is removed at exit.
#[derive(Clone, Debug, Args)]
pub struct LabArgs {
    /// Sessions a strategy, 2 to 500.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub clients: u32,
    /// Ways of waiting, separated by commas: predecessor, herd_children, herd_exists, herd_lowest.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "predecessor,herd_children")]
    pub strategies: Vec<String>,
    /// How often each client gets the lock.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub rounds: u32,
    /// How long a holder holds, ms.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub hold_ms: u32,
    /// How long a client stays away between two rounds, ms on average.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub think_ms: u32,
    /// End after this time, whatever is left.
    #[arg(long, value_name = "MS")]
    pub duration_ms: Option<u32>,
    /// All strategies at once, to see them side by side. They disturb each other then, so their latencies are not compared.
    #[arg(long)]
    pub at_once: bool,
    /// One strategy after the other, as without it.
    #[arg(long, hide = true, conflicts_with = "at_once")]
    pub in_turn: bool,
    /// Decides what is random; the same seed, the same order of things.
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Print the whole run as JSON instead of a table.
    #[arg(long)]
    pub json: bool,
    /// An ensemble without TLS and ACLs to run on, below /lockscope-lab: HOST:PORT[,HOST:PORT…][/CHROOT].
    #[arg(long, value_name = "HOST:PORT,…", conflicts_with = "server")]
    pub zk: Option<String>,
    /// A running server that allows the lab.
    #[arg(long, value_name = "http://HOST:PORT")]
    pub server: Option<String>,
    /// A file with a token of that server (role operator).
    #[arg(long, value_name = "FILE", requires = "server")]
    pub token_file: Option<PathBuf>,
    /// Which of that server's ensembles, where several allow the lab.
    #[arg(long, value_name = "NAME", requires = "server")]
    pub ensemble: Option<String>,
}

/// Settings of the demo.
#[derive(Clone, Debug, Args)]
pub struct Demo {
    /// Where to serve; port 0 takes a free one [default: 127.0.0.1:3000].
    #[arg(long, value_name = "ADDR:PORT")]
    pub listen: Option<String>,
}
