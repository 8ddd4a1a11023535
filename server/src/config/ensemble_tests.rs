//! Several ensembles, and who Lockscope is to each.

use std::collections::BTreeMap;

use lockscope_view::EnsembleColor;

use super::tests::{Fake, check, check_file, flags};
use super::*;

#[test]
fn several_ensembles_each_have_a_name_and_a_colour() {
    let text = "[[ensemble]]\nname = \"prod\"\ncolor = \"red\"\nzk = \"p:1\"\nroot = [\"/locks\"]\n[[ensemble]]\nname = \"test\"\nzk = \"t:1/app\"\nevidence = \"off\"\n";
    let fake = Fake { text: Some(text), ..Fake::default() };
    let config = Config::load(&ServeArgs { config: Some("x.toml".into()), ..ServeArgs::default() }, &fake).unwrap();
    let told: Vec<_> = config
        .ensembles
        .iter()
        .map(|one| (one.name.as_str(), one.color, one.zk.as_str(), one.roots.join(","), one.evidence))
        .collect();
    let (red, teal) = (Some(EnsembleColor::Red), Some(EnsembleColor::Teal));
    assert_eq!(
        told,
        [("prod", red, "p:1", "/locks".to_owned(), true), ("test", teal, "t:1/app", "/".to_owned(), false)]
    );
    let only = Config::load(&flags(|flags| flags.name = Some("staging".to_owned())), &Fake::default()).unwrap();
    assert_eq!((only.ensembles[0].name.as_str(), only.ensembles[0].color), ("staging", Some(EnsembleColor::Blue)));
}

#[test]
fn how_many_znodes_are_read_at_most_is_each_ensembles_own() {
    let text =
        "[[ensemble]]\nname = \"a\"\nzk = \"a:1\"\nznodes_max = 2000\n[[ensemble]]\nname = \"b\"\nzk = \"b:1\"\n";
    let fake = Fake { text: Some(text), ..Fake::default() };
    let config = Config::load(&ServeArgs { config: Some("x.toml".into()), ..ServeArgs::default() }, &fake).unwrap();
    let bounds: Vec<usize> = config.ensembles.iter().map(|one| one.znodes_max).collect();
    assert_eq!(bounds, [2_000, lockscope_zookeeper::ZNODES_MAX]);
    let vars = BTreeMap::from([("LOCKSCOPE_ZNODES_MAX", "1000000")]);
    let only = Config::load(&flags(|_| ()), &Fake { vars, ..Fake::default() }).unwrap();
    assert_eq!(only.ensembles[0].znodes_max, 1_000_000);
    check_file(
        "zk = \"a:1\"\nznodes_max = 10",
        "x.toml:2: `znodes_max` \"10\" is not a number of znodes; write a whole number from 1000 to 50000000",
    );
}

#[test]
fn mistakes_in_ensembles_are_named() {
    check_file(
        "[[ensemble]]\nzk = \"a:1\"",
        "x.toml:1: [[ensemble]] 1 has no `name`; give it one, it is shown with everything of it",
    );
    check_file(
        "[[ensemble]]\nname = \"a\"",
        "x.toml:1: [[ensemble]] 1 has no `zk`; write its connect string, like zk = \"127.0.0.1:2181\"",
    );
    check_file(
        "[[ensemble]]\nname = \"a b\"\nzk = \"a:1\"",
        "x.toml:2: `name` in [[ensemble]] 1 \"a b\" is no name; write 1 to 32 letters, digits, dots, dashes or underscores, like prod-eu",
    );
    check_file(
        "[[ensemble]]\nname = \"a\"\nzk = \"a:1\"\ncolor = \"grey\"",
        "x.toml:4: `color` in [[ensemble]] 1 \"grey\" is none of the colours; use one of blue, teal, violet, amber, pink, red",
    );
    check_file(
        "[[ensemble]]\nname = \"a\"\nzk = \"a:1\"\n[[ensemble]]\nname = \"a\"\nzk = \"b:1\"",
        "x.toml:5: `name` in [[ensemble]] 2 \"a\" is taken by another; give each ensemble a name of its own",
    );
    check_file(
        "zk = \"a:1\"\n[[ensemble]]\nname = \"a\"\nzk = \"b:1\"",
        "x.toml:1: `zk` and the [[ensemble]] tables of x.toml both name what to watch; leave one of them out",
    );
    check_file(
        "[[ensemble]]\nname = \"a\"\nzk = \"a\"",
        "x.toml:3: `zk` in [[ensemble]] 1 \"a\" has the server \"a\" without a port; write HOST:PORT, several separated by commas, like 127.0.0.1:2181",
    );
    check_file(
        "[[ensemble]]\nnaem = \"a\"",
        "x.toml:2: `naem` in [[ensemble]] 1 is no setting; write `name`\n\
         x.toml:1: [[ensemble]] 1 has no `name`; give it one, it is shown with everything of it",
    );
    check_file("ensemble = 1", "x.toml:1: `ensemble` is a integer; write it as tables that begin with [[ensemble]]");
}

#[test]
fn who_it_is_to_zookeeper() {
    const TABLES: &str = "[[ensemble]]\nname = \"p\"\nzk = \"p:1\"\nauth_file = \"f\"\n";
    // The fake's only text is every file's.
    let vars = BTreeMap::from([("LOCKSCOPE_ZK_AUTH", "watcher:CANARY")]);
    let identity =
        Config::load(&flags(|_| ()), &Fake { vars: vars.clone(), text: None }).unwrap().ensembles.remove(0).identity;
    assert_eq!(
        (identity.watching.described(), identity.acting.clone()),
        ("digest as \"watcher\", unencrypted".to_owned(), identity.watching.clone())
    );
    let acting = flags(|flags| flags.act_auth_file = Some("f".to_owned()));
    let identity = Config::load(&acting, &Fake { vars: vars.clone(), text: Some("actor:CANARY\n") })
        .unwrap()
        .ensembles
        .remove(0)
        .identity;
    assert_eq!(
        (identity.watching.described().contains("watcher"), identity.acting.described().contains("actor")),
        (true, true)
    );
    assert!(!format!("{identity:?}").contains("CANARY"));
    let error = Config::load(
        &ServeArgs { config: Some("x.toml".into()), ..ServeArgs::default() },
        &Fake { vars, text: Some(TABLES) },
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "LOCKSCOPE_ZK_AUTH is for one ensemble, and x.toml has [[ensemble]] tables; write `auth_file` in each that needs it"
    );
    check_file(
        TABLES,
        "x.toml:4: `auth_file` in [[ensemble]] 1 \"f\" has more than one line, or control characters; write one line of the form USER:PASSWORD",
    );
    check(
        |flags| flags.sasl_file = Some("s".to_owned()),
        "--sasl-file \"s\" can't be read (entity not found); name a file that this user may read",
    );
    check(|flags| flags.ca_file = Some(String::new()), "--ca-file \"\" is empty; name a file, or leave it out");
}
