//! What is written of the table: the reference in Markdown, and the example file.

use super::settings::{EnsembleKeys, Key, TABLES, TakesEffect, TopKeys};

const HEAD: &str = "\
# Configuration

<!-- Made by `lockscope config reference`; a test compares. Change server/src/config/settings.rs instead. -->

A setting may be given as a flag of `lockscope serve`, as a variable of the environment, and as a key of a TOML file that `--config FILE` or
`LOCKSCOPE_CONFIG` names. A flag takes precedence over a variable, a variable over the file, and the file over the default. The
column *also as* names the flag and the variable of each setting that has them. A flag for a list is given several times; in a variable a list is
separated by commas. A variable that is empty counts as not set. `on` and `off` may be written as `true` and `false` in the file.

`lockscope check-config` reads everything as `serve` would, and names file, line, key and remedy of every mistake.
`lockscope config example` prints a file with every setting, commented out; it is [deploy/lockscope.toml](deploy/lockscope.toml) here.

## Reading it again

On SIGHUP (`systemctl reload lockscope`) the file, and the secrets that it names, are read again. A file with a mistake changes nothing: the
previous configuration stays in force, and the log, the status page and `config` in `/api/v1/status` show the error with its line. Of a good file, the
settings marked *reload* take effect at once. The others wait for a restart, and the status page lists those that differ by name. An ensemble
that was added is watched from then on, one that was removed no more, and one that was changed anew; all others go on untouched. A mistake in a file of
`ensembles_dir` is shown in the same way, and changes nothing of the ensembles of that file; all else takes effect. Flags and variables are those that the process was started with. Certificates (`tls_cert`,
`tls_key`), tokens and users are followed without a reload.

## Secrets

Settings that end in `_file`, and `tls_cert` and `tls_key`, name a file. `credential:NAME` means the file of that name in
`$CREDENTIALS_DIRECTORY`, where systemd puts what `LoadCredential=NAME:PATH` or `LoadCredentialEncrypted=` names. Secrets are never flags, and
are never shown. A secret that other users may read is warned of at the start and by `check-config`; a group may read those of root.
";

/// Variables that are no keys, and what they mean.
pub(super) const VARIABLES: [(&str, &str); 9] = [
    ("LOCKSCOPE_CONFIG", "the TOML file; also as the flag `--config`"),
    ("LOCKSCOPE_LOG", "what is logged, like `warn,lockscope=debug`; a restart is needed to change it"),
    ("LOCKSCOPE_ZK_AUTH", "USER:PASSWORD itself, instead of `auth_file`; for one ensemble"),
    ("LOCKSCOPE_ZK_ACT_AUTH", "USER:PASSWORD itself, instead of `act_auth_file`; for one ensemble"),
    ("LOCKSCOPE_WEBHOOK_SECRET", "the secret itself, instead of `webhook_secret_file`"),
    ("LOCKSCOPE_OIDC_CLIENT_SECRET", "the secret itself, instead of `oidc_client_secret_file`"),
    ("CREDENTIALS_DIRECTORY", "set by systemd for `LoadCredential=`; where `credential:NAME` is looked for"),
    ("NOTIFY_SOCKET", "set by systemd for `Type=notify`; where readiness, reloads and shutdown are notified"),
    (
        "WATCHDOG_USEC",
        "set by systemd for `WatchdogSec=`; how often the watchdog must be notified that the model still answers",
    ),
];

/// What is said above the rows of each table, in the order of the tables.
const LEADS: [&str; TABLES.len()] = [
    "At the top for one ensemble; for several (at most 10,000), in an `[[ensemble]]` table each, of this file or of the files in `ensembles_dir`. [Many ensembles](many-ensembles.md) says more.",
    "The recipe of locks whose names are recognised wrongly. At most 1,000 tables.",
    "Which findings are reported, and from which limits on. [Reading the board](reading-the-board.md) explains each.",
    "Without this table the lab is off.",
    "Locks that have series of their own in [Metrics](metrics.md).",
    "Several servers that watch the same; see [Several servers](cluster.md). Without this table nothing is written anywhere.",
    "Rules of [Alerts](alerts.md), at most 64. Without any there are three that make sense everywhere.",
    "Who is told of [alerts](alerts.md), at most 16. Without any, alerts show on the page alone.",
];

/// The reference, in Markdown.
pub fn markdown() -> String {
    let mut out = HEAD.to_owned();
    section(&mut out, "At the top", "", "", &[TopKeys::KEYS]);
    for (table, lead) in TABLES.iter().zip(LEADS) {
        let title = match table.max {
            _ if table.name == "ensemble" => "Ensembles".to_owned(),
            Some(_) => format!("`[[{}]]`", table.name),
            None => format!("`[{}]`", table.name),
        };
        section(&mut out, &title, lead, table.name, table.keys);
    }
    out.push_str("\n## Variables that are no keys\n\n| variable | meaning |\n|---|---|\n");
    VARIABLES.iter().for_each(|(name, meaning)| out.push_str(&format!("| `{name}` | {meaning} |\n")));
    out
}

fn section(out: &mut String, title: &str, lead: &str, table: &str, keys: &[&[Key]]) {
    out.push_str(&format!("\n## {title}\n\n"));
    if !lead.is_empty() {
        out.push_str(&format!("{lead}\n\n"));
    }
    out.push_str("| key | meaning | values | default | also as | changes with a |\n|---|---|---|---|---|---|\n");
    for key in keys.iter().copied().flatten() {
        let ways = [key.flag(), key.variable(table)].into_iter().flatten().map(|way| format!("`{way}`"));
        let ways = ways.collect::<Vec<_>>().join(" ");
        let takes = if key.takes == TakesEffect::Reload { "reload" } else { "restart" };
        let name = format!("`{}`", key.name());
        let cells =
            [&name, key.meaning(), &(key.values)(), key.default, &ways, takes].map(|cell| cell.replace('|', "\\|"));
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
}

/// A file with every setting, each commented out.
pub fn example() -> String {
    let mut out = "\
# Lockscope's settings. All are commented out: remove the number sign of a line to set it.
# Made by `lockscope config example`. See docs/configuration.md; `lockscope check-config --config FILE` checks it.
# What is marked (reload) takes effect on SIGHUP (systemctl reload lockscope), the rest at the next start.

# One ensemble. Several are written as [[ensemble]] tables at the end of this file instead.
"
    .to_owned();
    out.extend(EnsembleKeys::KEYS.iter().map(described));
    out.push_str("\n# Everything else.\n");
    out.extend(TopKeys::KEYS.iter().map(described));
    for table in TABLES {
        match table.max {
            _ if table.name == "ensemble" => out.push_str(
                "\n# Several ensembles, each with a table of its own; any key of the first part may stand in it.\n\
                 #[[ensemble]]\n#name = \"prod-eu\"\n#zk = \"zk1.eu:2181\"\n",
            ),
            Some(_) => out.push_str(&format!("\n#[[{}]]\n", table.name)),
            None => out.push_str(&format!("\n#[{}]\n", table.name)),
        }
        if table.name != "ensemble" {
            out.extend(table.keys.iter().copied().flatten().map(described));
        }
    }
    out
}

/// Its meaning, then the line itself.
fn described(key: &Key) -> String {
    let default = if key.default.is_empty() { String::new() } else { format!("; default: {}", key.default) };
    let reload = if key.takes == TakesEffect::Reload { " (reload)" } else { "" };
    let (meaning, values) = (key.meaning().replace('`', ""), (key.values)());
    format!("# {meaning}{reload}\n#   {values}{default}\n#{} = {}\n", key.name(), key.example)
}
