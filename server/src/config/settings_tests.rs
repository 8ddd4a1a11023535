//! The keys against the command line, the loaders, and what is made of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use clap::CommandFactory as _;

use super::reference::VARIABLES;
use super::settings::{EnsembleKeys, Key, Layering, TABLES, TopKeys};
use super::*;
use crate::cli::Cli;

/// A file, and every variable that was asked for.
struct RecordingEnvironment<'a>(&'a str, Mutex<BTreeSet<String>>);

impl Environment for RecordingEnvironment<'_> {
    fn var(&self, name: &str) -> Option<String> {
        self.1.lock().unwrap().insert(name.to_owned());
        None
    }

    fn file(&self, path: &Path) -> std::io::Result<String> {
        if path == Path::new("x.toml") { Ok(self.0.to_owned()) } else { Ok("who:secret".to_owned()) }
    }
}

/// Every key, with the table that it stands in; those of an ensemble are at the top here.
fn rows() -> impl Iterator<Item = (&'static str, &'static Key)> {
    let tables = TABLES.iter().filter(|table| table.name != "ensemble");
    let tables = tables.flat_map(|table| table.keys.iter().copied().flatten().map(|key| (table.name, key)));
    EnsembleKeys::KEYS.iter().chain(TopKeys::KEYS).map(|key| ("", key)).chain(tables)
}

fn load(text: &str) -> Result<Config, ConfigError> {
    let flags = ServeArgs { config: Some("x.toml".into()), ..ServeArgs::default() };
    Config::load(&flags, &RecordingEnvironment(text, Mutex::default()))
}

/// The file with one key, and what has to be there for it to be read.
fn with(table: &str, row: &Key, value: &str) -> (String, usize) {
    let before = match (table, row.name()) {
        ("", "zk") => "",
        ("", _) => "zk = \"a:1\"\n",
        ("lock", _) => "zk = \"a:1\"\n[[lock]]\n",
        ("lints", _) => "zk = \"a:1\"\n[lints]\n",
        ("lab", "ensembles") => "zk = \"a:1\"\n[lab]\n",
        ("lab", _) => "zk = \"a:1\"\n[lab]\nensembles = [\"default\"]\n",
        ("metrics", _) => "zk = \"a:1\"\n[metrics]\n",
        ("cluster", "root") => "zk = \"a:1\"\n[cluster]\n",
        ("cluster", _) => "zk = \"a:1\"\n[cluster]\nroot = \"/lockscope\"\n",
        ("alert", "name") => "zk = \"a:1\"\n[[alert]]\n",
        ("alert", "when") => "zk = \"a:1\"\n[[alert]]\nname = \"a\"\n",
        ("alert", _) => "zk = \"a:1\"\n[[alert]]\nname = \"a\"\nwhen = \"stuck\"\n",
        ("route", "name") => "zk = \"a:1\"\n[[route]]\n",
        ("route", "kind") => "zk = \"a:1\"\n[[route]]\nname = \"a\"\n",
        ("route", "url" | "url_file") => "zk = \"a:1\"\n[[route]]\nname = \"a\"\nkind = \"slack\"\n",
        ("route", _) => "zk = \"a:1\"\n[[route]]\nname = \"a\"\nkind = \"slack\"\nurl = \"https://chat.example/x\"\n",
        (other, _) => panic!("[{other}]"),
    };
    let before = match row.name() {
        "recipe" | "max" => format!("{before}path = \"/a\"\n"),
        key if key.starts_with("oidc_") && key != "oidc_issuer" && cfg!(feature = "oidc") => {
            let id = if key == "oidc_client_id" { "" } else { "oidc_client_id = \"x\"\n" };
            let role = if key == "oidc_role" { "" } else { "oidc_role = \"viewer\"\n" };
            format!("{before}oidc_issuer = \"https://id.example\"\n{id}{role}")
        }
        "proxy_role" | "proxy_roles" | "proxy_header" | "proxy_role_header" => {
            format!("{before}proxy_addresses = [\"10.0.0.1\"]\n")
        }
        "webhook_secret_file" => format!("{before}webhook_url = \"https://h.example\"\n"),
        "tls_key" => format!("{before}tls_cert = \"c\"\n"),
        _ => before.to_owned(),
    };
    (format!("{before}{} = {value}\n", row.name()), before.lines().count() + 1)
}

#[test]
fn every_row_is_read_and_a_mistake_in_it_has_its_line() {
    for (table, row) in rows() {
        // No setting is a date.
        let (text, line) = with(table, row, "1979-05-27");
        let told = load(&text).unwrap_err().to_string();
        let named = format!("x.toml:{line}: `{}`", row.name());
        assert!(told.lines().any(|sentence| sentence.starts_with(&named)), "{text}: {told}");
    }
}

#[test]
fn every_row_of_an_ensemble_may_stand_in_its_table() {
    for row in EnsembleKeys::KEYS {
        let others: String =
            ["name = \"b\"\n", "zk = \"b:1\"\n"].into_iter().filter(|line| !line.starts_with(row.name())).collect();
        let text =
            format!("[[ensemble]]\nname = \"a\"\nzk = \"a:1\"\n[[ensemble]]\n{others}{} = 1979-05-27\n", row.name());
        let told = load(&text).unwrap_err().to_string();
        assert!(
            told.contains(&format!("x.toml:{}: `{}` in [[ensemble]] 2", text.lines().count(), row.name())),
            "{told}"
        );
    }
}

#[test]
fn every_flag_and_every_variable_is_in_the_table_and_the_other_way_round() {
    let serve = Cli::command().find_subcommand("serve").unwrap().clone();
    let flags: BTreeSet<String> =
        serve.get_arguments().filter_map(|flag| flag.get_long().map(|name| format!("--{name}"))).collect();
    let mut told: BTreeSet<String> = rows().filter_map(|(_, row)| row.flag()).collect();
    told.insert("--config".to_owned());
    assert_eq!(flags, told);

    let asked = RecordingEnvironment("", Mutex::default());
    drop(Config::load(
        &ServeArgs {
            zk: Some("a:1".to_owned()),
            webhook_url: Some("https://h.example".to_owned()),
            ..ServeArgs::default()
        },
        &asked,
    ));
    drop(Config::load(&ServeArgs::default(), &asked));
    let asked = asked.1.into_inner().unwrap();
    let others = ["HOME", "XDG_STATE_HOME"].map(str::to_owned);
    let variables = || rows().filter_map(|(table, row)| row.variable(table));
    let told: BTreeSet<String> = variables().chain(VARIABLES.map(|(name, _)| name.to_owned())).chain(others).collect();
    assert!(asked.is_subset(&told), "{:?}", asked.difference(&told).collect::<Vec<_>>());
    let is_oidc = |name: &&String| name.contains("OIDC");
    let elsewhere = ["LOCKSCOPE_LOG", "CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "WATCHDOG_USEC"];
    let missed: Vec<_> = variables().filter(|name| !asked.contains(name) && !is_oidc(&name)).collect();
    assert!(
        missed.iter().all(|name| elsewhere.contains(&name.as_str()) || name == "LOCKSCOPE_PROXY_ROLE_HEADER"),
        "{missed:?}"
    );
}

#[test]
fn no_row_is_there_twice_and_every_lint_has_one() {
    let mut seen = BTreeMap::new();
    for (table, row) in rows() {
        assert!(seen.insert((table, row.name()), ()).is_none(), "{}", row.name());
        assert!(["", "cluster"].contains(&table) || row.ways == Layering::File, "{}", row.name());
    }
    let lints: Vec<_> = rows().filter(|(table, _)| *table == "lints").map(|(_, row)| row.name()).collect();
    for code in lockscope_core::finding::Code::ALL {
        assert!(lints.contains(&code.name()), "{}", code.name());
    }
}

#[test]
fn what_is_committed_is_what_is_made() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    for (file, made, by) in [
        ("configuration.md", reference::markdown(), "reference"),
        ("deploy/lockscope.toml", reference::example(), "example"),
    ] {
        let committed = std::fs::read_to_string(docs.join(file)).unwrap_or_default();
        assert!(committed == made, "docs/{file} is not what `lockscope config {by}` prints; write that to the file");
    }
}

#[test]
fn the_example_parses_as_it_is_and_with_each_line_and_with_all() {
    let text = reference::example();
    assert!(text.parse::<toml::Table>().unwrap().is_empty());
    let is_setting = |line: &str| line.starts_with('#') && !line.starts_with("# ");
    let lines: Vec<&str> = text.lines().collect();
    let known = |text: &str| {
        let (_, unknown) = layers::read_text("x.toml", text, false).unwrap();
        assert!(unknown.is_empty(), "{unknown:?}");
    };
    let (mut header, mut all) = (None, String::new());
    for line in lines.iter().filter(|line| is_setting(line)) {
        let bare = &line[1..];
        all.push_str(bare);
        all.push('\n');
        if bare.starts_with('[') {
            header = Some(bare);
            known(bare);
        } else {
            known(&format!("{}\n{bare}\n", header.unwrap_or_default()));
        }
    }
    known(&all);
    let with_zk = |line: &str| load(&format!("zk = \"a:1\"\n{line}\n"));
    for row in TopKeys::KEYS.iter().filter(|row| !row.name().starts_with("oidc_") && row.name() != "proxy_roles") {
        let told = with_zk(&format!("{} = {}", row.name(), row.example)).map_err(|error| error.to_string());
        let needs_others = told.as_ref().is_err_and(|told| {
            [
                "is set without",
                "is set and",
                "needs a secret",
                "names a secret, but no webhook",
                "CREDENTIALS_DIRECTORY",
                "needs the audit log",
                "can't be read (entity not found)",
            ]
            .iter()
            .any(|part| told.contains(part))
        });
        assert!(told.is_ok() || needs_others, "{}: {told:?}", row.name());
    }
}

#[test]
fn a_default_that_is_a_value_is_what_holds_without_it() {
    // A history has a place; one that has a name has a colour as well.
    let load = |text: &str| load(&format!("data_dir = \"/d\"\n{text}"));
    let is_value = |row: &Key| !row.default.is_empty() && !row.default.contains(' ') && row.name() != "name";
    let mut compared = 0;
    for (table, row) in rows().filter(|(_, row)| is_value(row)) {
        let written = [row.default.to_owned(), format!("{:?}", row.default)];
        let written = written.iter().find_map(|value| load(&with(table, row, value).0).ok());
        let (text, line) = with(table, row, "");
        let unset = text.lines().take(line - 1).map(|line| format!("{line}\n")).collect::<String>();
        let (Some(written), Ok(unset)) = (written, load(&unset)) else { continue };
        assert_eq!(format!("{written:?}"), format!("{unset:?}"), "{}", row.name());
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn credentials_are_where_systemd_puts_them() {
    struct Unit(Option<&'static str>);
    impl Environment for Unit {
        fn var(&self, name: &str) -> Option<String> {
            (name == "CREDENTIALS_DIRECTORY").then(|| self.0.map(str::to_owned)).flatten()
        }
        fn file(&self, path: &Path) -> std::io::Result<String> {
            assert_eq!(path, Path::new("/run/credentials/lockscope.service/zk-auth"));
            Ok("watcher:secret\n".to_owned())
        }
    }
    let named = |name: &str| {
        let mut flags = ServeArgs { zk: Some("a:1".to_owned()), ..ServeArgs::default() };
        flags.auth_file = Some(name.to_owned());
        flags
    };
    let unit = Unit(Some("/run/credentials/lockscope.service"));
    let config = Config::load(&named("credential:zk-auth"), &unit).unwrap();
    assert_eq!(config.ensembles[0].identity.watching.described(), "digest as \"watcher\", unencrypted");
    assert_eq!(
        Config::load(&named("credential:zk-auth"), &Unit(None)).unwrap_err().to_string(),
        "--auth-file \"credential:zk-auth\" is for a service of systemd's, and CREDENTIALS_DIRECTORY is not set; add LoadCredential=zk-auth:PATH to the \
         unit, or name a file by its path"
    );
    for bad in ["credential:", "credential:../x", "credential:.x", "credential:a/b"] {
        assert!(Config::load(&named(bad), &unit).unwrap_err().to_string().contains("names no credential"), "{bad}");
    }
}
