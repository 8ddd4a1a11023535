//! What `--help` and the manual say of each command beside its options: examples, exit codes, environment. Data and its two forms.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _, FromArgMatches as _};

use super::Cli;
use crate::error::{EXIT_BROKEN, EXIT_CONFIG, EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_MISSING, EXIT_UNAVAILABLE, EXIT_UNSURE};

/// What the first screen begins with.
const FIRST: &[(&str, &str)] = &[
    #[cfg(feature = "demo")]
    ("Try it", "lockscope demo"),
    ("Point it at your ensemble", "lockscope serve --zk HOST:PORT"),
    ("Ask it", "lockscope locks, lockscope lock PATH, lockscope who PATH"),
];

/// Commands by what they are for; what is in none comes last.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Run", &["serve", "demo", "check-config", "config", "healthcheck"]),
    ("Ask a running server", &["locks", "lock", "who"]),
    ("People and records", &["token", "user", "audit"]),
    ("Measure", &["lab"]),
];
const OTHERS: &str = "This program";

/// What a command's page has beside its options.
pub struct Page {
    /// The command.
    pub command: &'static str,
    /// What one types, and what for.
    pub examples: &'static [(&'static str, &'static str)],
    /// Exit codes beyond those that all have.
    pub exits: &'static [(u8, &'static str)],
    /// Whether it asks a server.
    pub asks: bool,
}

/// Exit codes of every command.
const EXITS: [(u8, &str); 5] = [
    (0, "done"),
    (EXIT_CONFIG, "the command line or the configuration is wrong"),
    (EXIT_UNAVAILABLE, "something that is needed can't be reached or had"),
    (EXIT_INTERNAL, "Lockscope itself failed"),
    (EXIT_INTERRUPTED, "stopped by a signal before its end"),
];

/// Exit codes of those that ask a server.
const ASKING: [(u8, &str); 2] = [(EXIT_MISSING, "there is no such lock"), (77, "the server does not know you, or you may not")];

/// Environment of every command that asks.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("LOCKSCOPE_SERVER", "the server, like --server"),
    ("LOCKSCOPE_TOKEN_FILE", "a file with a token, like --token-file"),
    ("LOCKSCOPE_TOKEN", "the token itself, when no file is named"),
    ("LOCKSCOPE_SERVER_CA", "who signs the server's certificate, like --server-ca"),
    ("NO_COLOR", "no colours when set, whatever it says; --color goes before it"),
    ("CLICOLOR_FORCE", "colours also where no terminal is, unless it is 0"),
];

/// Every page.
pub const PAGES: &[Page] = &[
    Page {
        command: "serve",
        examples: &[
            ("lockscope serve --zk zk1:2181,zk2:2181,zk3:2181", "Find every lock and show them at http://127.0.0.1:3000."),
            ("lockscope serve --zk zk1:2181 --root /locks --root /election", "Watch only what lies below these paths."),
            ("lockscope serve --config /etc/lockscope.toml", "Take the settings from a file; flags go before it."),
        ],
        exits: &[],
        asks: false,
    },
    Page { command: "demo", examples: &[("lockscope demo", "See locks move within seconds; nothing stays behind.")], exits: &[], asks: false },
    Page {
        command: "check-config",
        examples: &[("lockscope check-config --config /etc/lockscope.toml", "Say what `serve` would do, without doing it.")],
        exits: &[],
        asks: false,
    },
    Page {
        command: "config",
        examples: &[
            ("lockscope config example", "A file with every setting, commented out, to begin with."),
            ("lockscope config reference", "Every setting with its values, default, flag and variable."),
        ],
        exits: &[],
        asks: false,
    },
    Page {
        command: "healthcheck",
        examples: &[
            ("lockscope healthcheck", "Whether the server of this configuration answers; for containers."),
            ("lockscope healthcheck --ready", "Whether it has read every root and is not shutting down."),
        ],
        exits: &[(EXIT_BROKEN, "it does not answer, or is not ready")],
        asks: false,
    },
    Page {
        command: "token",
        examples: &[
            ("lockscope token new --name ci --role viewer --expires 30d", "A token for a script that looks."),
            ("lockscope token list", "Who has one, and for how long."),
            ("lockscope token revoke --name ci", "Take it away, at once."),
        ],
        exits: &[],
        asks: false,
    },
    Page {
        command: "user",
        examples: &[
            ("lockscope user set --name ada --role operator", "Somebody who may release locks; asks for a password."),
            ("lockscope user set --name ada --role admin --password-file /run/secrets/ada", "The same with a password out of a file, and in no log."),
            ("lockscope user remove --name ada", "Not any more; what they had open ends."),
        ],
        exits: &[],
        asks: false,
    },
    Page {
        command: "audit",
        examples: &[("lockscope audit verify", "Check the whole record."), ("lockscope audit export", "Write it out, one JSON object a line.")],
        exits: &[(EXIT_BROKEN, "a record was changed, taken out, put in or cut off")],
        asks: false,
    },
    Page {
        command: "lab",
        examples: &[
            ("lockscope lab", "50 clients, two ways of waiting, on a private ZooKeeper."),
            ("lockscope lab --clients 200 --json", "More of them, as JSON."),
        ],
        exits: &[(EXIT_BROKEN, "two clients held the lock at a time")],
        asks: false,
    },
    Page {
        command: "locks",
        examples: &[
            ("lockscope locks", "Every lock, those that cost most first."),
            ("lockscope locks order !test", "Those with `order` in them and without `test`."),
            ("lockscope locks --verdict stuck,deadlocked --sort oldest_wait", "What somebody should look at now."),
            ("lockscope locks --json", "For scripts: the answer of the API."),
        ],
        exits: &[(0, "asked and answered, also when no lock matches")],
        asks: true,
    },
    Page {
        command: "lock",
        examples: &[
            ("lockscope lock /shop/order", "Who holds it, who waits in which order, what is odd."),
            ("lockscope lock /shop/order --limit 100", "More of a long queue."),
        ],
        exits: &[(EXIT_UNSURE, "the server does not know: it is still reading, or has lost ZooKeeper")],
        asks: true,
    },
    Page {
        command: "who",
        examples: &[
            ("lockscope who /shop/order", "One line: who holds it, since when, and how many wait."),
            ("lockscope who /shop/order --server https://lockscope.example", "Ask another server."),
        ],
        exits: &[
            (0, "somebody holds it"),
            (EXIT_BROKEN, "nobody holds it"),
            (EXIT_UNSURE, "the server does not know: it is still reading, or has lost ZooKeeper; what it knew last is printed"),
        ],
        asks: true,
    },
    Page {
        command: "completions",
        examples: &[
            ("lockscope completions bash", "Write it to /etc/bash_completion.d/lockscope."),
            ("lockscope completions zsh", "Write it to a file named _lockscope in a folder of $fpath."),
            ("lockscope completions fish", "Write it to ~/.config/fish/completions/lockscope.fish."),
        ],
        exits: &[],
        asks: false,
    },
    Page {
        command: "man",
        examples: &[("lockscope man", "The manual of the whole, as roff; read it with `| man -l -`."), ("lockscope man who", "That of one command.")],
        exits: &[],
        asks: false,
    },
];

impl Page {
    /// Exit codes, each once, in order.
    pub fn exits(&self) -> Vec<(u8, &'static str)> {
        let asking = if self.asks { &ASKING[..] } else { &[] };
        let mut all: Vec<(u8, &'static str)> = self.exits.to_vec();
        for (code, meaning) in asking.iter().chain(&EXITS) {
            if !all.iter().any(|(known, _)| known == code) {
                all.push((*code, meaning));
            }
        }
        all.sort_by_key(|(code, _)| *code);
        all
    }

    /// Environment; settings of `serve` have their own reference.
    pub fn environment(&self) -> &'static [(&'static str, &'static str)] {
        if self.asks { &ENVIRONMENT } else { &[] }
    }

    /// As the end of `--help`.
    fn help(&self, heading: clap::builder::styling::Style) -> String {
        let mut out = String::new();
        // Writing to a String can't fail.
        let _ = writeln!(out, "{heading}Examples:{heading:#}");
        for (typed, what) in self.examples {
            let _ = writeln!(out, "  {typed}\n      {what}");
        }
        let _ = writeln!(out, "\n{heading}Exit codes:{heading:#}");
        for (code, meaning) in self.exits() {
            let _ = writeln!(out, "  {code:>3}  {meaning}");
        }
        if !self.environment().is_empty() {
            let _ = writeln!(out, "\n{heading}Environment:{heading:#}");
            for (name, meaning) in self.environment() {
                let _ = writeln!(out, "  {name:<20}  {meaning}");
            }
        }
        out.trim_end().to_owned()
    }
}

/// The page of a command.
pub fn page(command: &str) -> Option<&'static Page> {
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
    let others: Vec<&str> = known.iter().map(|one| one.get_name()).filter(|name| !is_grouped(name)).chain(["help"]).collect();
    let longest = known.iter().map(|one| one.get_name().len()).max().unwrap_or_default();
    for (title, names) in GROUPS.iter().copied().chain([(OTHERS, &others[..])]) {
        if title != OTHERS && !names.iter().any(|name| known.iter().any(|one| one.get_name() == *name)) {
            continue;
        }
        let _ = writeln!(out, "\n{heading}{title}:{heading:#}");
        for name in names {
            let about = match known.iter().find(|one| one.get_name() == *name) {
                Some(one) => one.get_about().map(ToString::to_string).unwrap_or_default(),
                None if *name == "help" => "Say more about a command".to_owned(),
                None => continue,
            };
            let _ = writeln!(out, "  {literal}{name:<longest$}{literal:#}  {about}");
        }
    }
    let _ = write!(
        out,
        "\n{heading}Options:{heading:#}\n{{options}}\n\n`lockscope COMMAND --help` has examples and exit codes; `lockscope man` is the manual.\n"
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_finds_no_fault() {
        command().debug_assert();
    }

    #[test]
    fn every_command_has_its_page_and_every_example_is_understood() {
        let command = command();
        for one in command.get_subcommands() {
            let page = page(one.get_name()).unwrap_or_else(|| panic!("`{}` has no page; add it to PAGES", one.get_name()));
            assert!(!page.examples.is_empty(), "{}", page.command);
        }
        for page in PAGES {
            assert!(command.find_subcommand(page.command).is_some(), "`{}` is no command", page.command);
            for (typed, what) in page.examples {
                assert!(typed.starts_with(&format!("lockscope {}", page.command)) && what.ends_with('.'), "{typed}: {what}");
                command.clone().try_get_matches_from(typed.split(' ')).unwrap_or_else(|error| panic!("{typed}: {error}"));
            }
        }
    }

    #[test]
    fn exit_codes_are_told_once_and_in_order() {
        let codes: Vec<u8> = page("who").unwrap().exits().iter().map(|(code, _)| *code).collect();
        assert_eq!(codes, [0, 1, 64, 66, 69, 70, 75, 77, 130]);
        assert_eq!(page("who").unwrap().exits()[0].1, "somebody holds it");
    }

    #[test]
    fn the_first_screen_has_what_people_do_and_every_command_once() {
        let text = command().render_help().to_string();
        assert!(text.starts_with("A live lock observatory for Apache ZooKeeper\n\n"), "{text}");
        assert!(text.lines().count() <= 40, "one screen:\n{text}");
        for (what, typed) in FIRST {
            assert!(text.contains(what) && text.contains(typed), "{text}");
        }
        for one in command().get_subcommands() {
            let rows = text.lines().filter(|line| line.starts_with(&format!("  {} ", one.get_name()))).count();
            assert_eq!(rows, 1, "{}:\n{text}", one.get_name());
        }
    }
}
