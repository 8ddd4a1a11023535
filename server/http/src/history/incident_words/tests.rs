//! What is said of made-up incidents.

use history::incident::{Incident, IncidentRoot, Run};
use lockscope_core::diagnosis::Verdict;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;
use lockscope_page::verdict_named;

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
        harm: history::derive::Harm::Everybody,
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
        victims: 3,
        victims_peak: 2,
        waiting_ms: 550_000,
        is_lower_bound: false,
        ended_by,
    };
    let worst = verdict_named(history::derive::verdict_name(worst)).unwrap();
    let (root_client, lasted_ms) = (client.map(str::to_owned), to.unwrap_or(60_000));
    let is_seen_now = to.is_none().then_some(true);
    Told { incident, root_client, seen_before: 0, is_seen_now, worst, lasted_ms, sentence: String::new() }
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
    assert!(sentence(&odd).starts_with("/a and 1 other lock were short of leases that were not returned for 4 min 05 s: "));
    still.is_seen_now = Some(false);
    assert!(sentence(&still).ends_with("It went on when ZooKeeper was seen last."));
}

#[test]
fn nothing_that_a_client_wrote_is_markup() {
    let mut of = told(Verdict::Stuck, Some(1), IncidentEnd::Released, Some("[x](http://a/) <script>"));
    of.incident.root.as_mut().unwrap().lock = "/a`|<b>\n# x".into();
    of.sentence = sentence(&of);
    let text = markdown(&of, &[], "/incident?id=1");
    assert!(text.starts_with("# `/a\u{fffd}\u{fffd}<b>\u{fffd}# x`\n"), "{text}");
    assert!(text.contains("\\[x\\](http://a/) \\<script\\>"), "{text}");
}
