//! What is said of made-up incidents.

use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;
use lockscope_view::past::{IncidentRelease, IncidentSignature};

use super::*;

fn incident(worst: Verdict, to: Option<i64>, ended_by: IncidentEnd, client: Option<&str>) -> Incident {
    let root = IncidentRoot {
        lock: "/a".into(),
        session: Some(SessionId(0x2a)),
        label: None,
        host: None,
        held_at: TimeMs(0),
        charged_ms: 0,
    };
    Incident {
        id: "1".to_owned(),
        to_at_ms: to,
        worst,
        locks: vec!["/a".to_owned(), "/b".to_owned()],
        root_lock: "/a".to_owned(),
        root_client: client.map(str::to_owned),
        root_session_id: Some("0x2a".to_owned()),
        root: Some(root_name(&root, client)),
        victims: 3,
        victims_peak: 2,
        waiting_ms: 550_000,
        ended_by,
        is_seen_now: to.is_none().then_some(true),
        ..Incident::default()
    }
}

#[test]
fn one_sentence_says_what_who_how_long_and_how_it_ended() {
    let over = incident(Verdict::Stuck, Some(245_000), IncidentEnd::Released, Some("import-2"));
    assert_eq!(
        sentence(&over, 0),
        "/a and 1 other lock were stuck for 4 min 05 s: import-2 held it while 3 sessions waited, 9 min 10 s in all. It ended when import-2 let go."
    );
    let mut still = incident(Verdict::Deadlocked, None, IncidentEnd::Still, None);
    still.locks.truncate(1);
    still.victims = 0;
    assert_eq!(sentence(&still, 60_000), "/a has been deadlocked for 1 min 00 s: nobody waited for long. It goes on.");
    let mut odd = incident(Verdict::Healthy, Some(245_000), IncidentEnd::Released, Some("import-2"));
    odd.finding = Some("lease_leak".to_owned());
    assert!(
        sentence(&odd, 0)
            .starts_with("/a and 1 other lock were short of leases that were not returned for 4 min 05 s: ")
    );
    still.is_seen_now = Some(false);
    assert!(sentence(&still, 60_000).ends_with("It went on when ZooKeeper was seen last."));
}

#[test]
fn what_it_was_like_before_is_one_sentence() {
    let before = |from_at_ms: i64, lasted_ms: i64, ended_by: IncidentEnd, root: &str| EarlierIncident {
        id: "1".to_owned(),
        from_at_ms,
        lasted_ms,
        ended_by,
        root: Some(root.to_owned()),
    };
    let mut now = incident(Verdict::Stuck, Some(245_000), IncidentEnd::Released, Some("import-2"));
    assert_eq!(again(&now, Some("import-2"), &[]), "");
    now.seen_before = 2;
    let all = [
        before(1_764_041_547_412, 240_000, IncidentEnd::SessionEnded, "import-2"),
        before(1_763_955_147_412, 660_000, IncidentEnd::SessionEnded, "import-2"),
    ];
    let text = again(&now, Some("import-2"), &all);
    assert!(text.starts_with("The 3rd time since 2025-11-24"), "{text}");
    let end = ", each time because of import-2. Before, it lasted 4 min 00 s to 11 min 00 s, and twice ended with its holder's session.";
    assert!(text.ends_with(end), "{text}");
    let mixed = [all[0].clone(), before(1_763_955_147_412, 240_000, IncidentEnd::Forced, "import-7")];
    let end = ". Before, it lasted 4 min 00 s, and once ended with its holder's session, once was released through Lockscope.";
    assert!(again(&now, Some("import-2"), &mixed).ends_with(end), "{}", again(&now, Some("import-2"), &mixed));
    now.seen_before = 30;
    assert!(
        again(&now, Some("import-2"), &all).starts_with("The 31st time; the last of them since 2025-11-24"),
        "{}",
        again(&now, Some("import-2"), &all)
    );
}

#[test]
fn nothing_that_a_client_wrote_is_markup() {
    let mut of = incident(Verdict::Stuck, Some(1), IncidentEnd::Released, Some("[x](http://a/) <script> @channel"));
    of.root_lock = "/a`|<b>\u{202e}\n# x".to_owned();
    of.sentence = sentence(&of, 2);
    let release = IncidentRelease { at_ms: 0, lock: "/a".to_owned(), by: Some("*ada*".to_owned()), record: Some(7) };
    let (again, releases) = (Some("_again_".to_owned()), vec![release]);
    let found = OneIncident { incident: of, again, releases, ..OneIncident::default() };
    let text = markdown(&found, "/incident?id=1");
    assert!(text.contains("＿again＿") && text.contains("＊ada＊ released `/a` at "), "{text}");
    assert!(text.starts_with("# `/a｀｜<b>\u{2425}\u{240a}# x`\n"), "{text}");
    assert!(text.contains("［x］（http：//a/） ＜script＞ ＠channel"), "{text}");
}

fn alike_told(ended_by: IncidentEnd, count: usize, ended_likewise: usize, application: Option<&str>) -> String {
    let signature =
        IncidentSignature { application: application.map(Into::into), ended_by, ..IncidentSignature::default() };
    let is_lower_bound = count > 2;
    alike_sentence(&AlikeIncidents { signature, count, ended_likewise, is_lower_bound, ..AlikeIncidents::default() })
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
