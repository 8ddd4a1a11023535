//! What is written of the table: the reference in Markdown, and the example file.

use super::table::{FileSection, Setting, TakesEffect};
use super::table_rows::SETTINGS;
use super::variable_rows::VARIABLES;

const HEAD: &str = "\
# Configuration

<!-- Made by `lockscope config reference`; a test compares. Change server/src/config/table_rows.rs instead. -->

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

/// The reference, in Markdown.
pub fn markdown() -> String {
    let mut out = HEAD.to_owned();
    section(&mut out, "At the top", "", |place| matches!(place, FileSection::Top | FileSection::Roles));
    let several = "At the top for one ensemble; for several (at most 10,000), in an `[[ensemble]]` table each, of this file or of the files in `ensembles_dir`. [Many ensembles](many-ensembles.md) says more.";
    section(&mut out, "Ensembles", several, |place| place == FileSection::Ensemble);
    let locks = "The recipe of locks whose names are recognised wrongly. At most 1,000 tables.";
    section(&mut out, "`[[lock]]`", locks, |place| place == FileSection::Lock);
    let lints = "Which findings are reported, and from which limits on. [Reading the board](reading-the-board.md) explains each.";
    section(&mut out, "`[lints]`", lints, |place| place == FileSection::Lints);
    section(&mut out, "`[lab]`", "Without this table the lab is off.", |place| place == FileSection::Lab);
    section(&mut out, "`[metrics]`", "Locks that have series of their own in [Metrics](metrics.md).", |place| {
        place == FileSection::Metrics
    });
    let cluster = "Several servers that watch the same; see [Several servers](cluster.md). Without this table nothing is written anywhere.";
    section(&mut out, "`[cluster]`", cluster, |place| place == FileSection::Cluster);
    let alerts = "Rules of [Alerts](alerts.md), at most 64. Without any there are three that make sense everywhere.";
    section(&mut out, "`[[alert]]`", alerts, |place| place == FileSection::Alert);
    let routes = "Who is told of [alerts](alerts.md), at most 16. Without any, alerts show on the page alone.";
    section(&mut out, "`[[route]]`", routes, |place| place == FileSection::Route);
    out.push_str("\n## Variables that are no keys\n\n| variable | meaning |\n|---|---|\n");
    for row in VARIABLES {
        out.push_str(&format!("| `{}` | {} |\n", row.name, row.meaning));
    }
    out
}

fn section(out: &mut String, title: &str, lead: &str, is_here: impl Fn(FileSection) -> bool) {
    out.push_str(&format!("\n## {title}\n\n"));
    if !lead.is_empty() {
        out.push_str(&format!("{lead}\n\n"));
    }
    out.push_str("| key | meaning | values | default | also as | changes with a |\n|---|---|---|---|---|---|\n");
    for row in SETTINGS.iter().filter(|row| is_here(row.place)) {
        let ways = [row.flag(), row.variable()]
            .into_iter()
            .flatten()
            .map(|way| format!("`{way}`"))
            .collect::<Vec<_>>()
            .join(" ");
        let cells = [&format!("`{}`", row.key), row.meaning, row.values, row.default, &ways, takes(row)]
            .map(|cell| cell.replace('|', "\\|"));
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
}

fn takes(row: &Setting) -> &'static str {
    match row.takes {
        TakesEffect::Reload => "reload",
        TakesEffect::Restart => "restart",
    }
}

/// A file with every setting, each commented out.
pub fn example() -> String {
    let mut out = "\
# Lockscope's settings. All are commented out: remove the number sign of a line to set it.
# Made by `lockscope config example`. See docs/configuration.md; `lockscope check-config --config FILE` checks it.
# What is marked (reload) takes effect on SIGHUP (systemctl reload lockscope), the rest at the next start.
"
    .to_owned();
    let rows = |is_here: &dyn Fn(FileSection) -> bool, out: &mut String| {
        for row in SETTINGS.iter().filter(|row| is_here(row.place)) {
            out.push_str(&described(row));
        }
    };
    out.push_str("\n# One ensemble. Several are written as [[ensemble]] tables at the end of this file instead.\n");
    rows(&|place| place == FileSection::Ensemble, &mut out);
    out.push_str("\n# Everything else.\n");
    rows(&|place| matches!(place, FileSection::Top | FileSection::Roles), &mut out);
    for place in FileSection::TABLES {
        let title = place.table().unwrap_or_default();
        let header = if place.is_list() { format!("[[{title}]]") } else { format!("[{title}]") };
        if place == FileSection::Ensemble {
            out.push_str(&format!("\n# Several ensembles, each with a table of its own; any key of the first part may stand in it.\n#{header}\n"));
            out.push_str("#name = \"prod-eu\"\n#zk = \"zk1.eu:2181\"\n");
            continue;
        }
        out.push_str(&format!("\n#{header}\n"));
        rows(&|other| other == place, &mut out);
    }
    out
}

/// Its meaning, then the line itself.
fn described(row: &Setting) -> String {
    let default = if row.default.is_empty() { String::new() } else { format!("; default: {}", row.default) };
    let reload = if row.takes == TakesEffect::Reload { " (reload)" } else { "" };
    format!("# {}{reload}\n#   {}{default}\n#{} = {}\n", row.meaning.replace('`', ""), row.values, row.key, row.example)
}
