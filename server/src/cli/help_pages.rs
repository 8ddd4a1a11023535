//! What `--help` and the manual say of each command beside its options: examples, exit codes, environment. Data.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _, FromArgMatches as _};

use super::Cli;
use super::help_page::HelpPage;
use crate::error::{EXIT_BROKEN, EXIT_DAMAGED, EXIT_MISSING, EXIT_UNSURE};

/// What the first screen begins with.
const FIRST: &[(&str, &str)] = &[
    #[cfg(feature = "demo")]
    ("Try it", "lockscope demo"),
    ("Point it at your ensemble", "lockscope serve --zk HOST:PORT"),
    ("Query it", "lockscope locks, lockscope lock PATH, lockscope who PATH"),
];

/// Commands by what they are for; what is in none comes last.
const GROUPS: [(&str, &[&str]); 3] = [
    ("Run", &["serve", "demo", "lab", "autopsy", "check-config", "config", "healthcheck"]),
    ("Query a running server", &["watch", "locks", "lock", "who", "history", "alerts"]),
    ("Accounts and audit log", &["token", "user", "audit"]),
];
const OTHERS: &str = "This program";

/// Every page.
pub const PAGES: &[HelpPage] = &[
    HelpPage {
        command: "serve",
        examples: &[
            (
                "lockscope serve --zk zk1:2181,zk2:2181,zk3:2181",
                "Find every lock and show them at http://127.0.0.1:3000.",
            ),
            ("lockscope serve --zk zk1:2181 --root /locks --root /election", "Watch only these paths."),
            ("lockscope serve --config /etc/lockscope.toml", "Read settings from a file; flags take precedence."),
        ],
        exits: &[],
        asks: false,
    },
    HelpPage {
        command: "demo",
        examples: &[("lockscope demo", "See locks change within seconds; nothing is left behind.")],
        exits: &[],
        asks: false,
    },
    HelpPage {
        command: "autopsy",
        examples: &[
            ("lockscope autopsy /var/lib/zookeeper", "Read a member's logs, in place or copied; list what went wrong."),
            (
                "lockscope autopsy zk1 zk2 zk3 --root /locks --json",
                "Compare three members, and look at one path only; for scripts.",
            ),
            (
                "lockscope autopsy copy --from 2026-11-22T03:00:00Z --to 2026-11-22T04:00:00Z --serve",
                "One hour of it on a dashboard, at any moment.",
            ),
            (
                "lockscope autopsy copy --root /locks --out incident.db",
                "Write what was rebuilt as one SQLite file, to hand on.",
            ),
        ],
        exits: &[
            (0, "everything was read"),
            (EXIT_DAMAGED, "records are damaged or missing, which are named; the rest was read"),
            (EXIT_MISSING, "there is nothing to read"),
        ],
        asks: false,
    },
    HelpPage {
        command: "check-config",
        examples: &[(
            "lockscope check-config --config /etc/lockscope.toml",
            "Check and print the configuration without serving.",
        )],
        exits: &[],
        asks: false,
    },
    HelpPage {
        command: "config",
        examples: &[
            ("lockscope config example", "An example file with every setting, commented out."),
            ("lockscope config reference", "Every setting with its values, default, flag and variable."),
        ],
        exits: &[],
        asks: false,
    },
    HelpPage {
        command: "healthcheck",
        examples: &[
            ("lockscope healthcheck", "Check whether the server of this configuration is alive; for containers."),
            (
                "lockscope healthcheck --ready",
                "Check whether it is ready: every root was read, and it is not shutting down.",
            ),
        ],
        exits: &[(EXIT_BROKEN, "the server is not alive, or not ready")],
        asks: false,
    },
    HelpPage {
        command: "token",
        examples: &[
            ("lockscope token new --name ci --role viewer --expires 30d", "A read-only token for a script."),
            ("lockscope token list", "List all tokens and their expiry."),
            ("lockscope token revoke --name ci", "Revoke it at once."),
        ],
        exits: &[],
        asks: false,
    },
    HelpPage {
        command: "user",
        examples: &[
            ("lockscope user set --name ada --role operator", "A user who may release locks; prompts for a password."),
            (
                "lockscope user set --name ada --role admin --password-file /run/secrets/ada",
                "The same with a password from a file, which appears in no log.",
            ),
            ("lockscope user remove --name ada", "Remove the user and close their sessions."),
        ],
        exits: &[],
        asks: false,
    },
    HelpPage {
        command: "audit",
        examples: &[
            ("lockscope audit verify", "Verify the whole audit log."),
            #[cfg(feature = "postgres")]
            (
                "lockscope audit verify --config /etc/lockscope.toml --shared-heads a b",
                "Verify copies of the logs of two replicas, and that none was cut.",
            ),
            ("lockscope audit export", "Export it, one JSON object per line."),
        ],
        exits: &[(EXIT_BROKEN, "a record was changed, removed, inserted or cut off")],
        asks: false,
    },
    HelpPage {
        command: "lab",
        examples: &[
            ("lockscope lab", "50 clients, two wait strategies, on a private ZooKeeper."),
            ("lockscope lab --clients 200 --json", "More clients, result as JSON."),
        ],
        exits: &[(EXIT_BROKEN, "two clients held the lock at the same time")],
        asks: false,
    },
    HelpPage {
        command: "locks",
        examples: &[
            ("lockscope locks", "Every lock, most total waiting time first."),
            ("lockscope locks order !test", "Locks that match `order` and not `test`."),
            ("lockscope locks --verdict stuck,deadlocked --sort oldest_wait", "Locks that need attention now."),
            ("lockscope locks --json", "For scripts: the response of the API."),
        ],
        exits: &[(0, "success, even if no lock matches")],
        asks: true,
    },
    HelpPage {
        command: "lock",
        examples: &[
            ("lockscope lock /shop/order", "Holders, the queue in order, findings."),
            ("lockscope lock /shop/order --limit 100", "Show more of a long queue."),
        ],
        exits: &[(EXIT_UNSURE, "the state is unknown: the server is still reading, or has lost ZooKeeper")],
        asks: true,
    },
    HelpPage {
        command: "who",
        examples: &[
            (
                "lockscope who /shop/order",
                "One line: holder, since when, waiters, and how long they still have to wait.",
            ),
            ("lockscope who /shop/order --server https://lockscope.example", "Query another server."),
        ],
        exits: &[
            (0, "somebody holds it"),
            (EXIT_BROKEN, "nobody holds it"),
            (
                EXIT_UNSURE,
                "the state is unknown: the server is still reading, or has lost ZooKeeper; the last known state is printed",
            ),
        ],
        asks: true,
    },
    super::watch::PAGE,
    HelpPage {
        command: "history",
        examples: &[
            ("lockscope history", "From when to when the past is kept, its size, and every gap with its reason."),
            (
                "lockscope history holds /locks/order --from 2h",
                "Who held a lock in the last two hours, and who waited.",
            ),
            (
                "lockscope history marks --from 1d --to 12h",
                "What stood out then: stuck locks, deadlocks, outages, gaps.",
            ),
            (
                "lockscope history incidents --from 7d --min-ms 10000",
                "What was wrong for 10 s or longer in the last week, because of whom, and how it ended.",
            ),
            (
                "lockscope history export --format perfetto",
                "The last hour as a trace, to be opened at ui.perfetto.dev.",
            ),
            (
                "lockscope history export --format sqlite --from 3h --to 1h --out incident.db",
                "Two hours to attach to a ticket: each change, to be rewound elsewhere, and what is derived of them.",
            ),
            ("lockscope history --ensemble prod --json", "For scripts: the response of the API."),
        ],
        exits: &[(0, "success, even if nothing is kept")],
        asks: true,
    },
    HelpPage {
        command: "alerts",
        examples: &[
            ("lockscope alerts", "What fires now."),
            ("lockscope alerts --state all --json", "For scripts: the response of the API."),
            ("lockscope alerts test blocked --from 7d", "When the rule blocked would have fired in the last week."),
            ("lockscope alerts test --file rule.toml", "The same for rules that are not configured yet."),
        ],
        exits: &[],
        asks: true,
    },
    HelpPage {
        command: "completions",
        examples: &[
            ("lockscope completions bash", "Write it to /etc/bash_completion.d/lockscope."),
            ("lockscope completions zsh", "Write it to a file named _lockscope in a folder of $fpath."),
            ("lockscope completions fish", "Write it to ~/.config/fish/completions/lockscope.fish."),
        ],
        exits: &[],
        asks: false,
    },
    HelpPage {
        command: "man",
        examples: &[
            ("lockscope man", "The man page of Lockscope, as roff; read it with `| man -l -`."),
            ("lockscope man who", "The man page of one command."),
        ],
        exits: &[],
        asks: false,
    },
];

/// The page of a command.
pub fn page(command: &str) -> Option<&'static HelpPage> {
    PAGES.iter().find(|page| page.command == command)
}

/// The whole command line, with all that is said about it.
pub fn command() -> Command {
    let mut command = Cli::command();
    let heading = *command.get_styles().get_header();
    let template = first_screen(&command);
    command = command.help_template(template);
    for page in PAGES {
        if command.find_subcommand(page.command).is_some() {
            command = command.mut_subcommand(page.command, |command| command.after_long_help(page.help(heading)));
        }
    }
    command
}

/// Reads the command line of this process.
///
/// # Errors
/// What clap says, help and version included.
pub fn parse() -> Result<Cli, clap::Error> {
    let matches = command().try_get_matches()?;
    Cli::from_arg_matches(&matches)
}

/// What one does with it first, then every command by what it is for.
fn first_screen(command: &Command) -> String {
    let (heading, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let mut out = "{about}\n\n".to_owned();
    let width = FIRST.iter().map(|(what, _)| what.len()).max().unwrap_or_default();
    for (what, typed) in FIRST {
        let _ = writeln!(out, "  {what:<width$}  {literal}{typed}{literal:#}");
    }
    out.push_str("\n{usage-heading} {usage}\n");
    let known: Vec<&Command> = command.get_subcommands().filter(|one| !one.is_hide_set()).collect();
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let others: Vec<&str> =
        known.iter().map(|one| one.get_name()).filter(|name| !is_grouped(name)).chain(["help"]).collect();
    let longest = known.iter().map(|one| one.get_name().len()).max().unwrap_or_default();
    for (title, names) in GROUPS.iter().copied().chain([(OTHERS, &others[..])]) {
        if title != OTHERS && !names.iter().any(|name| known.iter().any(|one| one.get_name() == *name)) {
            continue;
        }
        let _ = writeln!(out, "\n{heading}{title}:{heading:#}");
        for name in names {
            let about = match known.iter().find(|one| one.get_name() == *name) {
                Some(one) => one.get_about().map(ToString::to_string).unwrap_or_default(),
                None if *name == "help" => "Print help for a command".to_owned(),
                None => continue,
            };
            let _ = writeln!(out, "  {literal}{name:<longest$}{literal:#}  {about}");
        }
    }
    let _ = write!(
        out,
        "\n{heading}Options:{heading:#}\n{{options}}\n\n`lockscope COMMAND --help` has examples and exit codes; `lockscope man` prints the man page.\n"
    );
    out
}

#[cfg(test)]
mod tests;
