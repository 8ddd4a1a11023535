//! What `--help` and the manual say of a command beside its options, in two forms.

use std::fmt::Write as _;

use crate::error::{EXIT_CONFIG, EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_MISSING, EXIT_UNAVAILABLE};

/// What a command's page has beside its options.
pub struct HelpPage {
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
    (EXIT_UNAVAILABLE, "a required service or resource is unavailable"),
    (EXIT_INTERNAL, "Lockscope itself failed"),
    (EXIT_INTERRUPTED, "interrupted by a signal"),
];

/// Exit codes of those that ask a server.
const ASKING: [(u8, &str); 2] =
    [(EXIT_MISSING, "there is no such lock"), (77, "authentication failed or permission denied")];

/// Environment of every command that asks.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("LOCKSCOPE_SERVER", "the server, like --server"),
    ("LOCKSCOPE_TOKEN_FILE", "a file with a token, like --token-file"),
    ("LOCKSCOPE_TOKEN", "the token itself, if no file is named"),
    ("LOCKSCOPE_SERVER_CA", "certificate authorities of the server, like --server-ca"),
    ("NO_COLOR", "no colours when set to anything; --color takes precedence"),
    ("CLICOLOR_FORCE", "colours even without a terminal, unless it is 0"),
];

impl HelpPage {
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
    pub(super) fn help(&self, heading: clap::builder::styling::Style) -> String {
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
