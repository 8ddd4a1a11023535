//! What is said of made-up incidents.

use lockscope_core::diagnosis::Verdict;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;
use lockscope_history::incident::{Incident, IncidentRoot, Run};
use lockscope_page::verdict_named;

use super::super::incident_acts::Release;
use super::super::incidents::{Listed, table};
use super::*;

fn told(worst: Verdict, to: Option<i64>, ended_by: IncidentEnd, client: Option<&str>) -> Told {
    let run = |lock: &str| Run {
        lock: lock.into(),
        number: 1,
        from: TimeMs(0),
        to: to.map(TimeMs),
        told_at: TimeMs(0),
        worst,
        findings: Default::default(),
        harm: lockscope_history::derive::Harm::Everybody,
        is_cut: false,
    };
    let root = IncidentRoot {
        lock: "/a".into(),
        session: Some(SessionId(0x2a)),
        label: None,
        host: None,
        held_at: TimeMs(0),
        charged_ms: 0,
    };
    let incident = Incident {
        number: 1,
        from: TimeMs(0),
        to: to.map(TimeMs),
        worst,
        findings: Default::default(),
        runs: vec![run("/a"), run("/b")],
        root: Some(root),
        recipe: Some("sequential_mutex".into()),
        shape: lockscope_history::incident::WaitShape::Line,
        victims: 3,
        victims_peak: 2,
        waiting_ms: 550_000,
        is_lower_bound: false,
        ended_by,
        ended_with: None,
    };
    let worst = verdict_named(lockscope_history::derive::verdict_name(worst)).unwrap();
    let (root_client, lasted_ms) = (client.map(str::to_owned), to.unwrap_or(60_000));
    let is_seen_now = to.is_none().then_some(true);
    let (root, forced_by) = (root_client.clone(), None);
    Told {
        incident,
        root_client,
        root,
        forced_by,
        seen_before: 0,
        is_seen_now,
        worst,
        lasted_ms,
        sentence: String::new(),
    }
}

#[test]
fn one_sentence_says_what_who_how_long_and_how_it_ended() {
    let over = told(Verdict::Stuck, Some(245_000), IncidentEnd::Released, Some("import-2"));
    assert_eq!(
        sentence(&over),
        "/a and 1 other lock were stuck for 4 min 05 s: import-2 held it while 3 sessions waited, 9 min 10 s in all. It ended when import-2 let go."
    );
    let mut still = told(Verdict::Deadlocked, None, IncidentEnd::Still, None);
    still.incident.runs.truncate(1);
    still.incident.victims = 0;
    assert_eq!(sentence(&still), "/a has been deadlocked for 1 min 00 s: nobody waited for long. It goes on.");
    let mut odd = told(Verdict::Healthy, Some(245_000), IncidentEnd::Released, Some("import-2"));
    odd.incident.findings = ["lease_leak".into()].into();
    assert!(
        sentence(&odd).starts_with("/a and 1 other lock were short of leases that were not returned for 4 min 05 s: ")
    );
    still.is_seen_now = Some(false);
    assert!(sentence(&still).ends_with("It went on when ZooKeeper was seen last."));
}

#[test]
fn what_it_was_like_before_is_one_sentence() {
    let before = |from_ms: i64, lasted_ms: i64, ended_by: IncidentEnd, root: &str| Before {
        id: "1".to_owned(),
        from_ms,
        lasted_ms,
        ended_by,
        root: Some(root.to_owned()),
    };
    let mut now = told(Verdict::Stuck, Some(245_000), IncidentEnd::Released, Some("import-2"));
    assert_eq!(again(&now, &[]), "");
    now.seen_before = 2;
    let all = [
        before(1_764_041_547_412, 240_000, IncidentEnd::SessionEnded, "import-2"),
        before(1_763_955_147_412, 660_000, IncidentEnd::SessionEnded, "import-2"),
    ];
    let text = again(&now, &all);
    assert!(text.starts_with("The 3rd time since 2025-11-24"), "{text}");
    let end = ", each time because of import-2. Before, it lasted 4 min 00 s to 11 min 00 s, and twice ended with its holder's session.";
    assert!(text.ends_with(end), "{text}");
    let mixed = [all[0].clone(), before(1_763_955_147_412, 240_000, IncidentEnd::Forced, "import-7")];
    let end = ". Before, it lasted 4 min 00 s, and once ended with its holder's session, once was released through Lockscope.";
    assert!(again(&now, &mixed).ends_with(end), "{}", again(&now, &mixed));
    now.seen_before = 30;
    assert!(again(&now, &all).starts_with("The 31st time; the last of them since 2025-11-24"), "{}", again(&now, &all));
}

#[test]
fn nothing_that_a_client_wrote_is_markup() {
    let mut of = told(Verdict::Stuck, Some(1), IncidentEnd::Released, Some("[x](http://a/) <script> @channel"));
    of.incident.root.as_mut().unwrap().lock = "/a`|<b>\u{202e}\n# x".into();
    of.sentence = sentence(&of);
    let release = Release { at_ms: 0, lock: "/a".to_owned(), by: Some("*ada*".to_owned()), record: Some(7) };
    let found = Found {
        ensemble: "default".to_owned(),
        told: of,
        lives: Vec::new(),
        left_out: 0,
        earlier: Vec::new(),
        again: "_again_".to_owned(),
        alike: None,
        releases: vec![release],
        alerts: Vec::new(),
        now_ms: 2,
    };
    let text = markdown(&found, "/incident?id=1");
    assert!(text.contains("＿again＿") && text.contains("＊ada＊ released `/a` at "), "{text}");
    assert!(text.starts_with("# `/a｀｜<b>\u{2425}\u{240a}# x`\n"), "{text}");
    assert!(text.contains("［x］（http：//a/） ＜script＞ ＠channel"), "{text}");
}

#[test]
fn as_a_table_they_have_all_fields_and_no_cell_is_a_formula() {
    let told = told(Verdict::Stuck, Some(245_000), IncidentEnd::Released, Some("=HYPERLINK(\"x\"),1"));
    let list = Listed {
        ensemble: String::new(),
        told: vec![told],
        left_out: 3,
        coverage: lockscope_view::past::Coverage::default(),
    };
    let table = table(list);
    assert_eq!(table.file_name, "lockscope-incidents-1-to-1-of-4.csv");
    let (head, row) = table.text.split_once("\r\n").unwrap();
    assert!(head.starts_with("id,from_at_ms,to_at_ms,lasted_ms,worst,findings,locks,root_lock,root_client,"), "{head}");
    let expected =
        "1,0,245000,245000,stuck,,\"/a\n/b\",/a,\"'=HYPERLINK(\"\"x\"\"),1\",,0x2a,3,2,550000,false,released,,,0,\r\n";
    assert_eq!(row, expected);
}

fn alike_told(ended_by: IncidentEnd, count: usize, ended_likewise: usize, application: Option<&str>) -> String {
    let signature = Signature {
        recipe: None,
        worst: Verdict::Stuck,
        findings: Default::default(),
        shape: lockscope_history::incident::WaitShape::Line,
        locks: 1,
        application: application.map(Into::into),
        ended_by,
    };
    let alike = Alike { incidents: Vec::new(), count, ended_likewise, is_lower_bound: count > 2 };
    alike_sentence(&signature, &alike)
}

#[test]
fn those_alike_are_told_with_how_many_because_of_what_and_how_they_ended() {
    let text = alike_told(IncidentEnd::Released, 3, 1, Some("import"));
    let expected = "In the 30 days before, at least 3 incidents looked like this because of import. 1 of them ended as this one did.";
    assert_eq!(text, expected);
    let all = "In the 30 days before, 1 incident looked like this. It ended as this one did.";
    assert_eq!(alike_told(IncidentEnd::Forced, 1, 1, None), all);
    assert!(alike_told(IncidentEnd::Forced, 2, 0, None).ends_with("None of them ended as this one did."));
    // While it goes on it has no end to compare with.
    assert!(alike_told(IncidentEnd::Still, 2, 0, None).ends_with("2 incidents looked like this."));
}
