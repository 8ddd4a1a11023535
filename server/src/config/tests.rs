//! Precedence, and every mistake with its exact sentence.

use std::collections::BTreeMap;

use super::*;

#[derive(Default)]
pub(super) struct Fake {
    pub(super) vars: BTreeMap<&'static str, &'static str>,
    pub(super) text: Option<&'static str>,
}

impl Environment for Fake {
    fn var(&self, name: &str) -> Option<String> {
        self.vars.get(name).map(|value| (*value).to_owned())
    }

    fn file(&self, _path: &Path) -> std::io::Result<String> {
        self.text.map(str::to_owned).ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound))
    }
}

pub(super) fn flags(edit: impl FnOnce(&mut ServeArgs)) -> ServeArgs {
    let mut flags = ServeArgs { zk: Some("a:1".to_owned()), ..ServeArgs::default() };
    edit(&mut flags);
    flags
}

#[track_caller]
pub(super) fn check(edit: impl FnOnce(&mut ServeArgs), sentence: &str) {
    assert_eq!(Config::load(&flags(edit), &Fake::default()).unwrap_err().to_string(), sentence);
}

#[track_caller]
pub(super) fn check_file(text: &'static str, sentence: &str) {
    let flags = ServeArgs { config: Some("x.toml".into()), ..ServeArgs::default() };
    let told = Config::load(&flags, &Fake { text: Some(text), ..Fake::default() }).unwrap_err().to_string();
    assert_eq!(told.replace(&layers::top_keys().join(", "), "KEYS"), sentence);
}

#[test]
fn defaults_need_only_a_zookeeper() {
    let config = Config::load(&flags(|_| ()), &Fake::default()).unwrap();
    let expected = Config {
        ensembles: vec![Ensemble {
            name: "default".to_owned(),
            color: None,
            zk: "a:1".to_owned(),
            roots: vec!["/".to_owned()],
            exclude: Vec::new(),
            znodes_max: lockscope_zookeeper::ZNODES_MAX,
            labels: BTreeMap::new(),
            file: None,
            evidence: true,
            admin_urls: Vec::new(),
            clock_scratch: None,
            identity: Identity::default(),
        }],
        ensembles_dir: None,
        bad_files: Vec::new(),
        listen: "127.0.0.1:3000".parse().unwrap(),
        web: Web::default(),
        data_dir: None,
        history: None,
        connect_timeout: None,
        session_timeout: Duration::from_secs(10),
        locks: Vec::new(),
        lints: Limits::default(),
        lab: None,
        webhook: None,
        second_approver: false,
        payloads: lockscope_web::Payloads::Viewer,
        access: lockscope_access::Settings::default(),
        applications: ApplicationRule::default(),
        metrics: MetricSelection::usual(),
        alerting: Alerting::default(),
        cluster: None,
    };
    assert_eq!(config, expected);
}

#[test]
fn flags_come_before_the_environment_and_that_before_the_file() {
    let text =
        "zk = \"file:1\"\nroot = [\"/f\"]\nlisten = \"127.0.0.1:1\"\nconnect_timeout = 5\nsession_timeout_ms = 700\n";
    let vars = BTreeMap::from([
        ("LOCKSCOPE_CONFIG", "x.toml"),
        ("LOCKSCOPE_ZK", "env:1"),
        ("LOCKSCOPE_ROOT", "/e1, /e2"),
        ("LOCKSCOPE_LISTEN", ""),
    ]);
    let fake = Fake { vars, text: Some(text) };
    let config = Config::load(&flags(|flags| flags.zk = Some("flag:1".to_owned())), &fake).unwrap();
    assert_eq!(
        (config.ensembles[0].zk.as_str(), config.ensembles[0].roots.as_slice()),
        ("flag:1", &["/e1".to_owned(), "/e2".to_owned()][..])
    );
    assert_eq!(
        (config.listen.port(), config.connect_timeout, config.session_timeout.as_millis()),
        (1, Some(Duration::from_secs(5)), 700)
    );
    let config = Config::load(&ServeArgs { root: vec!["/r".to_owned()], ..ServeArgs::default() }, &fake).unwrap();
    assert_eq!(
        (config.ensembles[0].zk.as_str(), config.ensembles[0].roots.as_slice()),
        ("env:1", &["/r".to_owned()][..])
    );
}

#[test]
fn a_connect_string_that_is_none() {
    const REMEDY: &str = "write HOST:PORT, several separated by commas, like 127.0.0.1:2181";
    let zk = |value: &str, why: &str| {
        check(|flags| flags.zk = Some(value.to_owned()), &format!("--zk {value:?} {why}; {REMEDY}"))
    };
    zk("", "names no server");
    zk("host", "has the server \"host\" without a port");
    zk("a:1,b", "has the server \"b\" without a port");
    zk(":2181", "has the server \":2181\" without a host");
    zk("a:0", "has the server \"a:0\" with a port that is none");
    zk("a:b", "has the server \"a:b\" with a port that is none");
    check(
        |flags| flags.zk = Some("a:1/x/".to_owned()),
        "--zk \"a:1/x/\" ends in the chroot \"/x/\", which is no path; write it like /app, or leave it out",
    );
    assert_eq!(
        Config::load(&ServeArgs::default(), &Fake::default()).unwrap_err().to_string(),
        "no ZooKeeper is named; give --zk HOST:PORT, set LOCKSCOPE_ZK or write `zk` in the configuration file"
    );
}

#[test]
fn roots_that_can_not_be() {
    let roots = |list: &[&str], sentence: &str| {
        check(|flags| flags.root = list.iter().map(|root| (*root).to_owned()).collect(), sentence)
    };
    roots(&["locks"], "--root \"locks\" does not start with a slash; write /locks");
    roots(&["/locks/"], "--root \"/locks/\" ends with a slash; write /locks");
    roots(
        &["/a//b"],
        "--root \"/a//b\" is no path: a part of it is empty, . or ..; write the path as ZooKeeper lists it",
    );
    roots(&["/a", "/a"], "--root \"/a\" is named twice; name it once");
    roots(
        &["/a/b", "/a"],
        "--root \"/a/b\" lies inside the root \"/a\"; roots must not nest: leave it out, /a is watched with all that is under it",
    );
    assert!(
        Config::load(&flags(|flags| flags.root = vec!["/a".to_owned(), "/a-b".to_owned()]), &Fake::default()).is_ok()
    );
}

#[test]
fn addresses_and_times_that_can_not_be() {
    let listen = |value: &str, rest: &str| {
        check(|flags| flags.listen = Some(value.to_owned()), &format!("--listen {value:?} {rest}"))
    };
    listen("3000", "is not an address to listen on; write ADDR:PORT, like 127.0.0.1:3000, or port 0 for a free one");
    check(
        |flags| flags.connect_timeout = Some("soon".to_owned()),
        "--connect-timeout \"soon\" is not a time; write it like 30s, 500ms or 2m",
    );
    check(
        |flags| flags.session_timeout_ms = Some("5".to_owned()),
        "--session-timeout-ms \"5\" is not a session time-out; write milliseconds from 500 to 3600000, like 10000",
    );
    for sockets in ["0", "many", "40000"] {
        check(
            |flags| flags.sockets_max = Some(sockets.to_owned()),
            &format!(
                "--sockets-max {sockets:?} is not a number of live sockets; write a whole number from 1 to 32768, like 10000"
            ),
        );
    }
}

#[test]
fn files_that_can_not_be() {
    check_file("zk = 1.5", "x.toml:1: `zk` is a float; write it as text in quotes");
    check_file(
        "zk = \"a:1\"\nlistne = 1\nfrobnicate = 2\nlisten = \"x\"\n[lints]\nhred = \"off\"\nherd_waiters = 0\n",
        "x.toml:3: `frobnicate` is no setting; the keys here are KEYS\n\
         x.toml:2: `listne` is no setting; write `listen`\n\
         x.toml:6: `hred` in [lints] is no setting; write `herd`\n\
         x.toml:4: `listen` \"x\" is not an address to listen on; write ADDR:PORT, like 127.0.0.1:3000, or port 0 for a free one\n\
         x.toml:7: `herd_waiters` in [lints] is 0; write a whole number from 1 to 4294967295",
    );
    check_file(
        "zk = \"a:1\"\nroot = []",
        "x.toml:2: `root` is an empty list; name at least one path, or leave it out to find every lock",
    );
    check_file(
        "zk = \"a:1\"\nlisten = \"x\"",
        "x.toml:2: `listen` \"x\" is not an address to listen on; write ADDR:PORT, like 127.0.0.1:3000, or port 0 for a free one",
    );
    let flags = ServeArgs { config: Some("x.toml".into()), ..ServeArgs::default() };
    let sentence = Config::load(&flags, &Fake::default()).unwrap_err().to_string();
    assert!(
        sentence.starts_with("--config x.toml can't be read (")
            && sentence.ends_with("; name a file that can be, or leave --config out"),
        "{sentence}"
    );
    let sentence = Config::load(&flags, &Fake { text: Some("\nzk = ="), ..Fake::default() }).unwrap_err().to_string();
    assert!(sentence.starts_with("x.toml:2: this is not TOML ("), "{sentence}");
}

#[test]
fn tables_say_what_locks_are_and_which_findings_are_told() {
    let text = "zk = \"a:1\"\n[[lock]]\npath = \"/x/*\"\nrecipe = \"election\"\n[[lock]]\npath = \"/pool\"\nmax = 3\n[lints]\nherd = \"off\"\nherd_waiters = 20\nmust_be_held = [\"/boss\"]\nlease_leak = false\nforeign_child = true\n";
    let flags = ServeArgs { config: Some("x.toml".into()), ..ServeArgs::default() };
    let config = Config::load(&flags, &Fake { text: Some(text), ..Fake::default() }).unwrap();
    assert_eq!(
        (config.locks.len(), config.locks[1].max, config.lints.off.len(), config.lints.herd_waiters),
        (2, Some(3), 2, 20)
    );
    assert_eq!(config.lints.must_be_held, ["/boss"]);
    let zk = |rest: &str| -> &'static str { format!("zk = \"a:1\"\n{rest}").leak() };
    check_file(
        zk("[[lock]]\nrecipe = \"queue\""),
        "x.toml:2: [[lock]] 1 has no `path`; write the path it is about, like path = \"/x/*\"",
    );
    check_file(
        zk("[[lock]]\npath = \"/x\""),
        "x.toml:2: [[lock]] 1 has no setting for /x; give it a `recipe` or a `max`",
    );
    check_file(
        zk("[[lock]]\npath = \"/x\"\nmax = 0"),
        "x.toml:4: `max` in [[lock]] 1 is 0; write a whole number from 1 to 4294967295",
    );
    check_file(
        zk("[[lock]]\npath = \"/x\"\nrecipe = \"mutex\""),
        "x.toml:4: `recipe` in [[lock]] 1 is \"mutex\"; use one of sequential_mutex, read_write, semaphore, single_node_mutex, election, barrier, double_barrier, queue, membership, none",
    );
    check_file(zk("[lints]\nherd = 3"), "x.toml:3: `herd` in [lints] is 3; write \"on\" or \"off\"");
    check_file(
        zk("[lints]\nmust_be_held = \"/boss\""),
        "x.toml:3: `must_be_held` in [lints] is \"/boss\"; write a list of paths that start with a slash, like must_be_held = [\"/elections/*\"]",
    );
    check_file(
        zk("[lints]\nchurn_attempts = 50"),
        "x.toml:3: `churn_attempts` in [lints] is 50; write a whole number from 1 to 32",
    );
    check_file(
        zk("[lints]\nsequence_percent = 101"),
        "x.toml:3: `sequence_percent` in [lints] is 101; write a whole number from 1 to 100",
    );
    check_file(zk("lints = 3"), "x.toml:2: `lints` is a integer; write it as a table that begins with [lints]");
}

#[test]
fn admin_servers_and_whether_members_are_asked() {
    const REMEDY: &str = "write http://HOST:PORT, like http://zk1:8080";
    let url = |value: &str, why: &str| {
        check(|flags| flags.admin_url = vec![value.to_owned()], &format!("--admin-url {value:?} {why}; {REMEDY}"))
    };
    url("https://zk1:8080", "asks for TLS, and only http is built in");
    url("zk1:8080", "does not begin with http://");
    url("http://zk1", "names no port");
    url("http://zk1:0", "has a port that is none");
    url("http://a:b@zk1:8080", "has more in it than a host, a port and a path");
    check(
        |flags| flags.admin_url = vec!["http://a:1".to_owned(), "http://a:1".to_owned()],
        "--admin-url \"http://a:1\" is named twice; name it once, one AdminServer for each member",
    );
    check(
        |flags| flags.admin_url = (1..=17).map(|port| format!("http://a:{port}")).collect(),
        "--admin-url \"http://a:17\" is one too many; name at most 16, one for each member",
    );
    check(
        |flags| flags.evidence = Some("no".to_owned()),
        "--evidence \"no\" is neither on nor off; write on, or off to ask the members nothing",
    );
    let text = "zk = \"a:1\"\nevidence = \"off\"\nadmin_url = [\"http://f:1\", \"http://g:1\"]\n";
    let none = ServeArgs { config: Some("x.toml".into()), ..ServeArgs::default() };
    let config = Config::load(&none, &Fake { text: Some(text), ..Fake::default() }).unwrap();
    assert_eq!(
        (config.ensembles[0].evidence, config.ensembles[0].admin_urls.as_slice()),
        (false, &["http://f:1".to_owned(), "http://g:1".to_owned()][..])
    );
    let vars = BTreeMap::from([("LOCKSCOPE_ADMIN_URL", "http://e:1, http://h:1"), ("LOCKSCOPE_EVIDENCE", "on")]);
    let config = Config::load(&none, &Fake { vars, text: Some(text) }).unwrap();
    assert_eq!(
        (config.ensembles[0].evidence, config.ensembles[0].admin_urls.as_slice()),
        (true, &["http://e:1".to_owned(), "http://h:1".to_owned()][..])
    );
}

#[test]
fn how_it_is_served() {
    let text = "zk = \"a:1\"\norigin = [\"https://lockscope.example\"]\ntls_cert = \"c.pem\"\ntls_key = \"k.pem\"\nbehind_tls_proxy = true\n";
    let flags = ServeArgs { config: Some("x.toml".into()), ..ServeArgs::default() };
    let web = Config::load(&flags, &Fake { text: Some(text), ..Fake::default() }).unwrap().web;
    assert_eq!(web.origins.iter().map(ToString::to_string).collect::<Vec<_>>(), ["https://lockscope.example"]);
    assert_eq!((web.tls.map(|files| files.key), web.behind_tls_proxy), (Some("k.pem".into()), true));
    let vars = BTreeMap::from([
        ("LOCKSCOPE_ORIGIN", "https://a.example, https://b.example"),
        ("LOCKSCOPE_BEHIND_TLS_PROXY", "off"),
    ]);
    let web = Config::load(&flags, &Fake { vars, text: Some(text) }).unwrap().web;
    assert_eq!((web.origins.len(), web.behind_tls_proxy), (2, false));
    let set = |edit: fn(&mut ServeArgs), sentence: &str| check(edit, sentence);
    set(
        |safety| safety.origin = vec!["lockscope.example".to_owned()],
        "--origin \"lockscope.example\" is no origin; write scheme, host and port if it is not the usual one, like https://lockscope.example",
    );
    set(
        |safety| safety.origin = vec!["http://lockscope.example".to_owned()],
        "--origin \"http://lockscope.example\" is not encrypted; write https://, and serve TLS by tls_cert and tls_key or by a proxy with behind_tls_proxy",
    );
    set(
        |safety| safety.origin = (0..17).map(|at| format!("https://h{at}.example")).collect(),
        "--origin \"https://h16.example\" is one too many; name at most 16",
    );
    set(
        |safety| safety.tls_cert = Some("c".to_owned()),
        "--tls-cert is set and tls_key is not; name the file with the certificate's key, too",
    );
    set(
        |safety| safety.tls_key = Some("k".to_owned()),
        "--tls-key is set and tls_cert is not; name the file with the certificate, too",
    );
    set(
        |safety| (safety.tls_cert, safety.tls_key) = (Some("c".to_owned()), Some(String::new())),
        "--tls-key \"\" is empty; name a file, or leave it out",
    );
    set(
        |safety| safety.behind_tls_proxy = Some("yes".to_owned()),
        "--behind-tls-proxy \"yes\" is neither on nor off; write on where a proxy before this server encrypts, else leave it out",
    );
}

#[test]
fn a_webhook_needs_an_address_a_secret_and_a_log() {
    let with = |edit: fn(&mut ServeArgs), secret: &'static str| {
        let settings = flags(|flags| {
            flags.webhook_url = Some("https://hooks.example/canary".to_owned());
            flags.data_dir = Some("/d".to_owned());
            edit(flags);
        });
        Config::load(&settings, &Fake { vars: BTreeMap::from([("LOCKSCOPE_WEBHOOK_SECRET", secret)]), text: None })
    };
    let config = with(|_| (), "0123456789abcdef").unwrap();
    assert_eq!(config.webhook.as_ref().map(Webhook::shown), Some("https://hooks.example".to_owned()));
    assert!(!format!("{config:?}").contains("canary") && !format!("{config:?}").contains("0123456789abcdef"));
    let fails = |edit, secret, sentence: &str| assert_eq!(with(edit, secret).unwrap_err().to_string(), sentence);
    fails(
        |_| (),
        "",
        "--webhook-url needs a secret that signs what is sent; give it with --webhook-secret-file or LOCKSCOPE_WEBHOOK_SECRET",
    );
    fails(
        |_| (),
        "short",
        "LOCKSCOPE_WEBHOOK_SECRET has fewer than 16 bytes, which can be guessed; make one with `openssl rand -hex 32`",
    );
    fails(
        |flags| flags.data_dir = None,
        "0123456789abcdef",
        "--webhook-url needs the audit log that it sends; name a directory for it with --data-dir",
    );
    fails(
        |flags| flags.webhook_url = Some("http://hooks.example/canary".to_owned()),
        "0123456789abcdef",
        "--webhook-url would send the audit log in the clear to another machine; use https://, or allow it with --webhook-allow-http on",
    );
    fails(
        |flags| (flags.webhook_url, flags.webhook_secret_file) = (None, Some("/s".to_owned())),
        "",
        "--webhook-secret-file names a secret, but no webhook; name one with --webhook-url, or leave it out",
    );
    fails(
        |flags| flags.webhook_secret_file = Some("/s".to_owned()),
        "",
        "--webhook-secret-file \"/s\" can't be read (entity not found); name a file that can be",
    );
}

#[test]
fn data_is_kept_where_it_was_said_or_where_programs_keep_it() {
    let dir = |vars: &[(&'static str, &'static str)], text, flag: Option<&str>| {
        let environment = Fake { vars: vars.iter().copied().collect(), text: Some(text) };
        data_dir(flag, Some(Path::new("x.toml")), &environment).map(|dir| dir.display().to_string())
    };
    let home = ("HOME", "/home/a");
    assert_eq!(dir(&[home], "", None).unwrap(), "/home/a/.local/state/lockscope");
    assert_eq!(dir(&[home, ("XDG_STATE_HOME", "/s")], "", None).unwrap(), "/s/lockscope");
    assert_eq!(dir(&[home, ("XDG_STATE_HOME", "s")], "", None).unwrap(), "/home/a/.local/state/lockscope");
    assert_eq!(dir(&[home], "data_dir = \"/f\"", None).unwrap(), "/f");
    assert_eq!(dir(&[home, ("LOCKSCOPE_DATA_DIR", "/e")], "data_dir = \"/f\"", None).unwrap(), "/e");
    assert_eq!(dir(&[home, ("LOCKSCOPE_DATA_DIR", "/e")], "", Some("/g")).unwrap(), "/g");
    assert_eq!(
        dir(&[], "", None).unwrap_err().to_string(),
        "there is no place to keep data: neither --data-dir nor HOME is set; name a directory with --data-dir DIR"
    );
}

#[test]
fn a_pattern_of_application_names_has_one_group_that_is_the_application() {
    let with = |pattern: &'static str| {
        let vars = BTreeMap::from([("LOCKSCOPE_APPLICATION_PATTERN", pattern)]);
        Config::load(&flags(|_| ()), &Fake { vars, text: None })
    };
    assert_eq!(with("^eu/([a-z]+)").unwrap().applications.pattern(), "^eu/([a-z]+)");
    const REMEDY: &str = "write one with the application in brackets, like \"^([a-z]+)-[0-9]+@\", or leave it out";
    for (pattern, why) in [
        ("^[a-z]+", "has no group in brackets"),
        ("(a)(b)", "has several groups, and none is named application"),
        ("(a", "is not a regular expression (unclosed group)"),
        ("((?:\\w{200}){200})", "takes too much memory"),
    ] {
        let told = with(pattern).unwrap_err().to_string();
        assert_eq!(told, format!("LOCKSCOPE_APPLICATION_PATTERN {pattern:?} {why}; {REMEDY}"));
    }
    assert_eq!(
        Config::load(
            &ServeArgs { config: Some("x.toml".into()), ..ServeArgs::default() },
            &Fake { text: Some("zk = \"a:1\"\napplication_pattern = \"\"\n"), ..Fake::default() }
        )
        .unwrap()
        .applications
        .pattern(),
        ""
    );
}
