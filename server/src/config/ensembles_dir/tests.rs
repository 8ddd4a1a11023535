//! Files of the directory: what each mistake says, and that it takes nobody else down.

use std::path::Path;

use super::super::{Config, ConfigError, ProcessEnvironment};
use crate::cli::ServeArgs;

fn scene(files: &[(&str, &str)]) -> (tempfile::TempDir, ServeArgs) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("ensembles.d")).unwrap();
    std::fs::write(dir.path().join("x.toml"), "").unwrap();
    files.iter().for_each(|(name, text)| write(dir.path(), name, text));
    let flags = ServeArgs { config: Some(dir.path().join("x.toml")), ..ServeArgs::default() };
    (dir, flags)
}

fn write(dir: &Path, name: &str, text: &str) {
    std::fs::write(dir.join("ensembles.d").join(name), text).unwrap();
}

fn load(flags: &ServeArgs) -> Result<Config, ConfigError> {
    Config::load(flags, &ProcessEnvironment)
}

fn names(config: &Config) -> Vec<&str> {
    config.ensembles.iter().map(|ensemble| ensemble.name.as_str()).collect()
}

const A: &str = "[[ensemble]]\nname = \"a\"\nzk = \"a:1\"\nlabels = { env = \"prod\" }\nexclude = [\"/t/**\"]\n";
const B: &str = "[[ensemble]]\nname = \"b\"\nzk = \"b:1\"\n[[ensemble]]\nname = \"b2\"\nzk = \"b:1/2\"\n";

#[test]
fn every_file_has_ensembles_and_what_is_no_such_file_is_passed_over() {
    let (dir, flags) = scene(&[("b.toml", B), ("a.toml", A), (".c.toml", "no"), ("d.toml.orig", "no"), ("e.toml", "")]);
    let config = load(&flags).unwrap();
    assert_eq!(names(&config), ["a", "b", "b2"]);
    let first = &config.ensembles[0];
    assert_eq!((first.labels["env"].as_str(), first.exclude.as_slice()), ("prod", &["/t/**".to_owned()][..]));
    assert_eq!(config.ensembles_dir.as_deref(), Some(dir.path().join("ensembles.d").as_path()));
    let color = config.ensembles[1].color;
    std::fs::remove_file(dir.path().join("ensembles.d/a.toml")).unwrap();
    assert_eq!(load(&flags).unwrap().ensembles[0].color, color, "others' files change no colour");
}

#[test]
fn each_mistake_is_named_with_its_line_at_a_start() {
    let of = |text: &str| {
        let (dir, flags) = scene(&[("a.toml", A), ("bad.toml", text)]);
        load(&flags).unwrap_err().to_string().replace(&format!("{}/ensembles.d/", dir.path().display()), "")
    };
    assert!(of("[[ensemble]\n").starts_with("bad.toml:1: this is not TOML"));
    assert_eq!(
        of("zk = \"x:1\"\n"),
        "bad.toml:1: `zk` has no place in a file of ensembles_dir; write it below [[ensemble]], or into the configuration file"
    );
    assert_eq!(
        of(A),
        "bad.toml:2: `name` in [[ensemble]] 1 \"a\" is taken by another; give each ensemble a name of its own"
    );
    assert_eq!(
        of("[[ensemble]]\nname = \"x\"\nzk = \"x:1\"\nexclude = [\"/**\"]\n"),
        "bad.toml:4: `exclude` in [[ensemble]] 1 \"/**\" leaves out all of the root \"/\"; leave that root out of `root`, or write a pattern for a part of it"
    );
    assert!(of("[[ensemble]]\nname = \"x\"\nzk = \"x:1\"\nlabels = { a = 1 }\n").contains("bad.toml:4: `labels` in"));
    assert!(of("[[ensemble]]\nname = \"x\"\nzk = \"x:1\"\nlabels = { a = \"b c\" }\n").contains("\"b c\""));
    let two = of("[[ensemble]]\nnaem = \"x\"\nzk = \"x\"\n");
    assert_eq!(two.lines().count(), 2, "{two}");
}

#[test]
fn while_the_server_runs_a_mistake_changes_nothing_of_its_file_alone() {
    let (dir, flags) = scene(&[("a.toml", A), ("b.toml", B)]);
    let before = load(&flags).unwrap();
    let again = |before: &Config| Config::load_again(&flags, &ProcessEnvironment, before);
    write(dir.path(), "b.toml", "[[ensemble]]\nname = \"b\"\n");
    write(dir.path(), "c.toml", "[[ensemble]]\nname = \"c\"\nzk = \"c:1\"\n");
    // Who would take the name of one that stays.
    write(dir.path(), "d.toml", "[[ensemble]]\nname = \"b2\"\nzk = \"d:1\"\n");
    let config = again(&before).unwrap();
    assert_eq!(names(&config), ["b", "b2", "a", "c"]);
    assert_eq!(config.ensembles[0], before.ensembles[1]);
    let files: Vec<_> = config.bad_files.iter().map(|bad| bad.file.rsplit('/').next().unwrap()).collect();
    assert_eq!(files, ["b.toml", "d.toml"]);
    assert!(config.bad_files[0].error.contains("b.toml:1: [[ensemble]] 1 has no `zk`"));
    write(dir.path(), "b.toml", "");
    let config = again(&config).unwrap();
    assert_eq!((names(&config), config.bad_files.len()), (vec!["a", "c", "b2"], 0));
    std::fs::remove_dir_all(dir.path().join("ensembles.d")).unwrap();
    let error = again(&config).unwrap_err().to_string();
    assert!(error.starts_with("ensembles_dir ") && error.contains("can't be read"), "{error}");
}

#[test]
fn one_ensemble_of_the_file_and_those_of_the_directory_go_together() {
    let (dir, flags) = scene(&[("b.toml", B)]);
    std::fs::write(dir.path().join("x.toml"), "zk = \"x:1\"\nname = \"x\"\n").unwrap();
    assert_eq!(names(&load(&flags).unwrap()), ["x", "b", "b2"]);
    std::fs::write(dir.path().join("x.toml"), A).unwrap();
    assert_eq!(names(&load(&flags).unwrap()), ["a", "b", "b2"]);
    write(dir.path(), "b.toml", "");
    std::fs::write(dir.path().join("x.toml"), "").unwrap();
    assert!(load(&flags).unwrap_err().to_string().starts_with("no ZooKeeper is named: no file *.toml of "));
}
