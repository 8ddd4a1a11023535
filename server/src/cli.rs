//! The command line: names and help texts. What the values mean is in `config`.

mod alerts;
mod autopsy;
mod help_page;
mod help_pages;
mod query;
mod watch;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use lockscope_view::Role;

pub use alerts::{AlertChoice, AlertsArgs, AlertsCommand, AlertsTestArgs};
pub use autopsy::AutopsyArgs;
pub use help_page::HelpPage;
pub use help_pages::{PAGES, command, page, parse};
pub use query::{
    AnswerArgs, ColorChoice, CompletionShell, CompletionsArgs, ExportArgs, ExportFormat, HistoryArgs, HistoryCommand,
    IncidentsArgs, LockArgs, LocksArgs, ManArgs, PastArgs, PastRangeArgs, ServerArgs, WhoArgs,
};
pub use watch::WatchArgs;

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
    Serve(ServeArgs),
    /// Start a private ZooKeeper with live sample contention and the dashboard; everything is removed at exit.
    #[cfg(feature = "demo")]
    Demo(DemoArgs),
    /// Rebuild what happened from ZooKeeper's own transaction logs: who held, who waited, what went wrong.
    Autopsy(AutopsyArgs),
    /// Check the configuration that `serve` would use, and print a summary of it.
    CheckConfig(ServeArgs),
    /// Print every setting with its meaning: as a reference, or as an example file.
    Config(ConfigArgs),
    /// Check whether a running server is alive or ready, for containers: exit code 0 or 1, and one line.
    Healthcheck(HealthcheckArgs),
    /// Create, list and revoke API tokens for scripts; a running server follows within a second.
    Token(TokenArgs),
    /// Add, change, list and remove users with a password; a running server follows within a second.
    User(UserArgs),
    /// Verify or export the audit log of a server.
    Audit(AuditArgs),
    /// Run real sessions that contend for a lock with several wait strategies, and print what each costs.
    #[cfg(feature = "lab")]
    Lab(LabArgs),
    /// List locks: verdict, holder, number of waiters and how long they wait.
    Locks(LocksArgs),
    /// Show one lock: holders, the queue in order, findings.
    Lock(LockArgs),
    /// Print the holder of a lock in one line; the exit code says whether it is held.
    Who(WhoArgs),
    /// Watch the live board, or one lock, in the terminal.
    Watch(WatchArgs),
    /// Say what a running server keeps of the past and what is missing in it, who held, and what stood out.
    History(HistoryArgs),
    /// Say what fires, and when a rule would have fired over what was recorded.
    Alerts(AlertsArgs),
    /// Print completions for a shell.
    Completions(CompletionsArgs),
    /// Print the man page of Lockscope or of one command, as roff.
    Man(ManArgs),
}

/// What is printed of the settings.
#[derive(Clone, Debug, Args)]
pub struct ConfigArgs {
    /// What.
    #[command(subcommand)]
    pub document: ConfigDocument,
}

/// What is printed of the settings.
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum ConfigDocument {
    /// Every setting, in Markdown.
    Reference,
    /// A TOML file with every setting, each commented out.
    Example,
}

/// A question to a running server.
#[derive(Clone, Debug, Args)]
pub struct HealthcheckArgs {
    /// The server's address [default: where `serve` with this configuration and environment listens].
    #[arg(long, value_name = "http://HOST:PORT")]
    pub url: Option<String>,
    /// Check readiness instead: every root was read, and the server is not shutting down.
    #[arg(long)]
    pub ready: bool,
    /// The server's TOML file.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// The audit log.
#[derive(Clone, Debug, Args)]
pub struct AuditArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: AuditCommand,
    /// Where.
    #[command(flatten)]
    pub data: DataDirArgs,
}

/// What to do with the audit log.
#[derive(Clone, Debug, Subcommand)]
pub enum AuditCommand {
    /// Check that no record was changed, removed, inserted or cut off; exit code 1 and the position if one was.
    Verify {
        /// A hash from a webhook, an export or an earlier check, which must still be in the audit log.
        #[arg(long, value_name = "HASH", conflicts_with = "dirs")]
        head: Option<String>,
        /// Check as well that the last record of each replica that their database has is in its log; needs --config.
        #[cfg(feature = "postgres")]
        #[arg(long, requires = "config")]
        shared_heads: bool,
        /// The data directories of several replicas.
        #[arg(value_name = "DIR")]
        dirs: Vec<PathBuf>,
    },
    /// Verify the audit log and write it to standard output, one JSON object per line.
    Export,
}

/// Where people are kept.
#[derive(Clone, Debug, Default, Args)]
pub struct DataDirArgs {
    /// The data directory of the server [default: $XDG_STATE_HOME/lockscope or ~/.local/state/lockscope].
    #[arg(long, value_name = "DIR", global = true)]
    pub data_dir: Option<String>,
    /// The server's TOML file, which may name the data directory.
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
}

/// What a token or a user may do.
#[derive(Clone, Debug, Args)]
pub struct GrantArgs {
    /// The name shown on every page and in the audit log.
    #[arg(long, value_name = "NAME")]
    pub name: String,
    /// The role: viewer, operator, auditor or admin.
    #[arg(long, value_name = "ROLE", value_parser = role)]
    pub role: Role,
    /// Limit the role to this ensemble, repeatable [default: all].
    #[arg(long, value_name = "NAME")]
    pub ensemble: Vec<String>,
    /// Limit the role to this path and everything below it, repeatable [default: all].
    #[arg(long, value_name = "PATH")]
    pub path: Vec<String>,
}

/// Tokens.
#[derive(Clone, Debug, Args)]
pub struct TokenArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: TokenCommand,
    /// Where.
    #[command(flatten)]
    pub data: DataDirArgs,
}

/// What to do with tokens.
#[derive(Clone, Debug, Subcommand)]
pub enum TokenCommand {
    /// Create a token and print it, once, as the last line of standard output.
    New {
        /// What it may do.
        #[command(flatten)]
        grant: GrantArgs,
        /// Lifetime, like 30d or 12h [default: never expires].
        #[arg(long, value_name = "TIME")]
        expires: Option<String>,
    },
    /// List tokens: id, name, role, scope and expiry. Never the tokens themselves.
    List,
    /// Revoke a token; live sockets opened with it are closed.
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
pub struct UserArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: UserCommand,
    /// Where.
    #[command(flatten)]
    pub data: DataDirArgs,
}

/// What to do with users.
#[derive(Clone, Debug, Subcommand)]
pub enum UserCommand {
    /// Add a user, or change a user's role and password; the password is read from standard input or a file.
    Set {
        /// What they may do.
        #[command(flatten)]
        grant: GrantArgs,
        /// The file whose first line is the password, such as a mounted secret.
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
    },
    /// List users: name, role and scope.
    List,
    /// Remove a user; their sessions and live sockets are closed.
    Remove {
        /// Who.
        #[arg(long, value_name = "NAME")]
        name: String,
    },
}

fn role(text: &str) -> Result<Role, String> {
    Role::ALL
        .into_iter()
        .find(|role| role.name() == text)
        .ok_or_else(|| "use one of viewer, operator, auditor, admin".to_owned())
}

/// Settings as given on the command line; each also as LOCKSCOPE_… in the environment and as a key of the file. Secrets
/// are never given here, only their files.
#[derive(Clone, Debug, Default, Args, serde::Serialize)]
pub struct ServeArgs {
    /// The ensemble: HOST:PORT[,HOST:PORT…][/CHROOT].
    #[arg(long, value_name = "HOST:PORT,…")]
    pub zk: Option<String>,
    /// The ensemble's name on every page; several ensembles are configured in the file, with [[ensemble]].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// A path to watch, repeatable [default: /, which finds every lock].
    #[arg(long, value_name = "PATH")]
    pub root: Vec<String>,
    /// Address to listen on; port 0 picks a free one [default: 127.0.0.1:3000].
    #[arg(long, value_name = "ADDR:PORT")]
    pub listen: Option<String>,
    /// A TOML file with settings.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Directory of tokens, users and the audit log [default: $XDG_STATE_HOME/lockscope or ~/.local/state/lockscope].
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<String>,
    /// Exit if ZooKeeper was not reached within this time, like 30s or 500ms [default: keep trying].
    #[arg(long, value_name = "TIME")]
    pub connect_timeout: Option<String>,
    /// Session timeout towards ZooKeeper [default: 10000].
    #[arg(long, value_name = "MS")]
    pub session_timeout_ms: Option<String>,
    /// Whether to query the members for connections, session expiry and watches: on or off [default: on].
    #[arg(long, value_name = "on|off")]
    pub evidence: Option<String>,
    /// A member's AdminServer, repeatable; a member without one is queried with four-letter words.
    #[arg(long, value_name = "http://HOST:PORT")]
    pub admin_url: Vec<String>,
    /// A znode below which Lockscope may write an ephemeral, to prove the quorum and to compare clocks; without it, nothing
    /// is written.
    #[arg(long, value_name = "PATH")]
    pub clock_scratch: Option<String>,
    /// URL to which every release, lab run, revocation and refusal is sent as signed JSON; needs --data-dir and a
    /// secret.
    #[arg(long, value_name = "https://…")]
    pub webhook_url: Option<String>,
    /// A file with the secret that signs webhook requests; or the secret itself in LOCKSCOPE_WEBHOOK_SECRET.
    #[arg(long, value_name = "FILE")]
    pub webhook_secret_file: Option<String>,
    /// Whether the webhook may use plain HTTP to another machine: on or off [default: off].
    #[arg(long, value_name = "on|off")]
    pub webhook_allow_http: Option<String>,
    /// An origin from which the dashboard may be used, repeatable. This machine's own need no entry.
    #[arg(long, value_name = "https://HOST", help_heading = "Serving")]
    pub origin: Vec<String>,
    /// The server's certificate and its chain, in PEM; reloaded when the file changes.
    #[arg(long, value_name = "FILE", help_heading = "Serving")]
    pub tls_cert: Option<String>,
    /// The certificate's key, in PEM.
    #[arg(long, value_name = "FILE", help_heading = "Serving")]
    pub tls_key: Option<String>,
    /// A proxy in front of this server terminates TLS: plain HTTP may be served beyond this machine.
    #[arg(long, value_name = "on|off", num_args = 0..=1, default_missing_value = "on", help_heading = "Serving")]
    pub behind_tls_proxy: Option<String>,
    /// Live sockets (open pages and scripts that follow) at once [default: 4096].
    #[arg(long, value_name = "COUNT", help_heading = "Serving")]
    pub sockets_max: Option<String>,
    /// Each release needs the approval of a second person.
    #[arg(long, value_name = "on|off", num_args = 0..=1, default_missing_value = "on", help_heading = "Serving")]
    pub second_approver: Option<String>,
    /// The lowest role that sees znode payloads [default: viewer if only this machine is served, else operator].
    #[arg(long, value_name = "viewer|operator|nobody", help_heading = "Serving")]
    pub payloads: Option<String>,
    /// USER:PASSWORD for ZooKeeper's digest scheme; also as LOCKSCOPE_ZK_AUTH itself.
    #[arg(long, value_name = "FILE", help_heading = "Identity towards ZooKeeper")]
    pub auth_file: Option<String>,
    /// USER:PASSWORD for SASL (DIGEST-MD5).
    #[arg(long, value_name = "FILE", help_heading = "Identity towards ZooKeeper")]
    pub sasl_file: Option<String>,
    /// Certificate authorities of ZooKeeper, in PEM; with it, connections to ZooKeeper use TLS only.
    #[arg(long, value_name = "FILE", help_heading = "Identity towards ZooKeeper")]
    pub ca_file: Option<String>,
    /// Client certificate towards ZooKeeper, in PEM.
    #[arg(long, value_name = "FILE", help_heading = "Identity towards ZooKeeper")]
    pub cert_file: Option<String>,
    /// Its key, in PEM.
    #[arg(long, value_name = "FILE", help_heading = "Identity towards ZooKeeper")]
    pub key_file: Option<String>,
    /// As --auth-file, for releases only; also as LOCKSCOPE_ZK_ACT_AUTH itself. Without it, releases use the watching
    /// identity.
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

/// A run of the lab. Without --zk and --server it uses a private ZooKeeper that is removed at exit.
#[derive(Clone, Debug, Args)]
pub struct LabArgs {
    /// Sessions per strategy, 2 to 500.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub clients: u32,
    /// Wait strategies, separated by commas: predecessor, herd_children, herd_exists, herd_lowest.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "predecessor,herd_children")]
    pub strategies: Vec<String>,
    /// How often each client acquires the lock.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub rounds: u32,
    /// How long a holder keeps the lock, ms.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub hold_ms: u32,
    /// Pause of a client between two rounds, ms on average.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub think_ms: u32,
    /// Stop after this time, even if rounds are left.
    #[arg(long, value_name = "MS")]
    pub duration_ms: Option<u32>,
    /// Run all strategies at once, side by side. They disturb each other then, so their latencies are not compared.
    #[arg(long)]
    pub at_once: bool,
    /// One strategy after the other, which is the default.
    #[arg(long, hide = true, conflicts_with = "at_once")]
    pub in_turn: bool,
    /// Seed of the random choices; the same seed gives the same sequence.
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
pub struct DemoArgs {
    /// Address to listen on; port 0 picks a free one [default: 127.0.0.1:3000].
    #[arg(long, value_name = "ADDR:PORT")]
    pub listen: Option<String>,
}
