//! Problems of made-up locks, by what the model itself makes of them.

use lockscope_core::evidence::{MemberAnswer, Report, Round, Trouble};
use lockscope_core::finding::Code;
use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_core::verdict::Verdict as CoreVerdict;
use lockscope_core::znode::{Facts, SessionId, Zxid};
use lockscope_view::{Board, BoardQuery, PROBLEMS_MAX, ProblemsLeftOut, Scope, StepAct, Verdict};

use super::{Kind, Origin, shown};
use crate::project::{Acknowledged, AcknowledgedLock, EnsembleInfo, ProjectionContext, board};

const ROOT: RootId = RootId(0);
/// A hold is stuck after 5 minutes while what is usual is not known.
pub(crate) const LATER: TimeMs = TimeMs(400_000);

/// A model of these contenders: path and owner, in order of creation.
pub(crate) fn model(contenders: &[(&str, i64)]) -> Observatory {
    model_after(contenders, &[500, 1_000, 1_500, LATER.0])
}

/// What was read of a contender.
pub(crate) fn facts(number: i64, owner: i64) -> Box<Facts> {
    Box::new(Facts {
        czxid: Zxid(number),
        mzxid: Zxid(number),
        pzxid: Zxid(number),
        ctime_ms: number,
        version: 0,
        cversion: 0,
        children: 0,
        owner: Some(SessionId(owner)),
        payload: Some(format!("client-{owner}").into_bytes().into()),
        payload_bytes: 8,
    })
}

/// The same after these ticks.
pub(crate) fn model_after(contenders: &[(&str, i64)], ticks: &[i64]) -> Observatory {
    let mut observatory = Observatory::new(Settings { roots: vec!["/".into()], ..Settings::default() }, TimeMs(0));
    let mut apply = |at: i64, observation| drop(observatory.apply(TimeMs(at), observation));
    apply(0, Observation::Link { link: Link::Live, session: None, why: "".into() });
    apply(0, Observation::SyncBegan { root: ROOT, why: "test".into() });
    apply(0, Observation::SyncEnded { root: ROOT });
    for (number, (path, owner)) in contenders.iter().enumerate() {
        let number = number as i64 + 1;
        apply(number, Observation::NodeCreated { root: ROOT, path: (*path).into() });
        let facts = facts(number, *owner);
        apply(number, Observation::NodeRead { root: ROOT, path: (*path).into(), facts, unreadable: false });
    }
    for at in ticks {
        apply(*at, Observation::Tick);
    }
    observatory
}

fn look(observatory: &Observatory, scope: &Scope) -> Board {
    look_with(observatory, scope, &Acknowledged::default())
}

fn look_with(observatory: &Observatory, scope: &Scope, acknowledged: &Acknowledged) -> Board {
    let ensemble = EnsembleInfo {
        name: "default".into(),
        connect: "zk:2181".into(),
        color: None,
        has_others: false,
        labels: Default::default(),
        excluded: None,
        proof: Default::default(),
    };
    let look = ProjectionContext { observatory, ensemble: &ensemble, scope, now: LATER };
    board(&[look], &BoardQuery::default(), acknowledged)
}

#[test]
fn a_deadlock_is_one_problem_and_so_is_a_client_that_is_stuck_on_many_locks() {
    let mut contenders = vec![
        ("/a/lock-0000000000", 1),
        ("/b/lock-0000000000", 2),
        ("/a/lock-0000000001", 2),
        ("/b/lock-0000000001", 1),
    ];
    let paths: Vec<String> = (0..6).map(|at| format!("/many/{at}/lock-")).collect();
    let hung: Vec<(String, i64)> =
        paths.iter().flat_map(|path| [(format!("{path}0000000000"), 7), (format!("{path}0000000001"), 8)]).collect();
    contenders.extend(hung.iter().map(|(path, owner)| (path.as_str(), *owner)));
    let observatory = model(&contenders);
    let board = look(&observatory, &Scope::ALL);
    let told: Vec<_> = board.head.problems.iter().map(|problem| (problem.verdict, problem.lock_count)).collect();
    assert_eq!((told, board.head.problem_count), (vec![(Verdict::Deadlocked, 2), (Verdict::Stuck, 6)], 2));
    let [deadlock, stuck] = board.head.problems.as_slice() else { panic!("two: {:?}", board.head.problems) };
    assert_eq!((deadlock.locks.as_slice(), deadlock.waiter_count), (["/a".to_owned(), "/b".to_owned()].as_slice(), 2));
    assert!(deadlock.headline.before.ends_with("client-1 and client-2 have waited for each other for"), "{deadlock:?}");
    let release = StepAct::Release { lock: "/b".to_owned(), znode: "/b/lock-0000000000".to_owned() };
    assert_eq!(deadlock.step.act.as_ref(), Some(&release));
    assert_eq!(stuck.headline.before, "client-7 has held 6 locks for");
    assert!(stuck.key.ends_with("session 0x7"), "it stays the same problem whichever lock it lets go: {}", stuck.key);
    assert_eq!((stuck.headline.after.as_str(), stuck.locks.len()), (". 6 wait.", 4));
    let order: Vec<_> = board.window.rows.iter().take(3).map(|row| row.verdict).collect();
    assert_eq!(order, [Verdict::Deadlocked, Verdict::Deadlocked, Verdict::Stuck], "the list has the worst first, too");
}

/// Each of six locks of one client, held and waited for.
fn hung() -> Observatory {
    let paths: Vec<(String, i64)> =
        (0..12).map(|at| (format!("/many/{}/lock-{:010}", at / 2, at % 2), 7 + at % 2)).collect();
    model(&paths.iter().map(|(path, owner)| (path.as_str(), *owner)).collect::<Vec<_>>())
}

#[test]
fn who_looks_at_any_lock_of_a_problem_is_named_and_who_looks_elsewhere_is_not() {
    let observatory = hung();
    let acknowledged = |path: &str, by: &str, since_ms| AcknowledgedLock {
        ensemble: "default".into(),
        path: path.into(),
        by: by.into(),
        since_ms,
    };
    let looks = |of: Vec<AcknowledgedLock>, scope: &Scope| {
        let board = look_with(&observatory, scope, &Acknowledged::of(of));
        board.head.problems.into_iter().map(|problem| problem.looked_after).collect::<Vec<_>>()
    };
    // The last of its locks is none of the four that are named.
    let both = || vec![acknowledged("/many/5", "ada", 900), acknowledged("/many/2", "bob", 950)];
    let all = looks(both(), &Scope::ALL);
    let [Some(by)] = all.as_slice() else { panic!("one problem, looked at: {all:?}") };
    assert_eq!((by.before.as_str(), by.since_ms, by.after.as_str()), ("ada has looked at it for", Some(900), "."));
    assert_eq!(looks(vec![acknowledged("/other", "ada", 900)], &Scope::ALL), [None]);
    let bounded = Scope::new(lockscope_view::Within::new(&[], &["/many/2".to_owned()]), true);
    let seen: Vec<_> = looks(both(), &bounded).into_iter().flatten().map(|by| by.before).collect();
    assert_eq!(seen, ["bob has looked at it for"], "ada looks at a lock that may not be seen");
}

#[test]
fn a_flood_of_deadlocks_hides_no_stuck_lock() {
    let mut paths: Vec<(String, i64)> = Vec::new();
    for pair in 0..12 {
        let (one, other) = (100 + 2 * pair, 101 + 2 * pair);
        let (a, b) = (format!("/flood/{pair:02}/a/lock-000000000"), format!("/flood/{pair:02}/b/lock-000000000"));
        paths.extend([
            (format!("{a}0"), one),
            (format!("{b}0"), other),
            (format!("{a}1"), other),
            (format!("{b}1"), one),
        ]);
    }
    paths.extend([("/orders/lock-0000000000".to_owned(), 7), ("/orders/lock-0000000001".to_owned(), 8)]);
    let contenders: Vec<(&str, i64)> = paths.iter().map(|(path, owner)| (path.as_str(), *owner)).collect();
    let board = look(&model(&contenders), &Scope::ALL);
    let told: Vec<_> = board.head.problems.iter().map(|problem| problem.verdict).collect();
    let flood = [Verdict::Deadlocked; 7];
    assert_eq!((&told[..7], &told[7..]), (flood.as_slice(), [Verdict::Stuck].as_slice()));
    assert_eq!(board.head.problems[7].locks, ["/orders"]);
    let left_out = ProblemsLeftOut { verdict: Verdict::Deadlocked, finding: None, count: 5 };
    assert_eq!((board.head.problem_count, board.head.problems_left_out), (13, vec![left_out]));
}

#[test]
fn nobody_takes_every_line_and_each_kind_has_one() {
    let (deadlocked, stuck, slow) =
        (Kind::Verdict(CoreVerdict::Deadlocked), Kind::Verdict(CoreVerdict::Stuck), Kind::Verdict(CoreVerdict::Slow));
    let (loud, other) = (Origin::Host("10.0.0.1"), |number| Origin::Session(SessionId(number)));
    let few = vec![(deadlocked, loud); PROBLEMS_MAX];
    assert_eq!(shown(&few).len(), PROBLEMS_MAX, "what has room is shown");
    // Twenty deadlocks and twenty stuck locks of one host, worse than those of others.
    let mut all = vec![(deadlocked, loud); 20];
    all.push((deadlocked, other(1)));
    all.extend(vec![(stuck, loud); 20]);
    all.extend([(stuck, other(2)), (slow, other(3)), (slow, other(4))]);
    assert_eq!(shown(&all).into_iter().collect::<Vec<_>>(), [0, 1, 20, 21, 22, 41, 42, 43]);
    let strangers: Vec<_> = (0..20).map(|number| (deadlocked, other(number))).chain([(slow, loud)]).collect();
    assert_eq!(shown(&strangers).into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 20], "the worst first");
    let codes = Code::ALL.iter().map(|code| (Kind::Finding(*code), loud));
    assert_eq!(shown(&codes.collect::<Vec<_>>()).len(), PROBLEMS_MAX, "more kinds than lines");
}

#[test]
fn who_stands_by_for_a_leader_is_no_damage() {
    let observatory = model(&[("/election/n_0000000000", 1), ("/election/n_0000000001", 2), ("/q/lock-0000000000", 3)]);
    let board = look(&observatory, &Scope::ALL);
    assert_eq!((board.head.problem_count, board.head.totals.waiters, board.head.totals.contended), (0, 0, 0));
    let election = board.window.rows.iter().find(|row| row.path == "/election").expect("an election");
    assert_eq!((election.waiter_count, election.oldest_wait_at_ms), (Some(1), None));
    assert_eq!(election.total_wait_ms(LATER.0), Some(0));
    assert!(election.sentence.ends_with("1 standby."), "{}", election.sentence);
}

#[test]
fn a_circle_that_may_not_be_seen_names_nobody() {
    let observatory = model(&[
        ("/open/a/lock-0000000000", 1),
        ("/closed/b/lock-0000000000", 2),
        ("/open/a/lock-0000000001", 2),
        ("/closed/b/lock-0000000001", 1),
    ]);
    let board = look(&observatory, &Scope::new(lockscope_view::Within::new(&[], &["/open".to_owned()]), true));
    let [problem] = board.head.problems.as_slice() else { panic!("one: {:?}", board.head.problems) };
    let text = format!("{problem:?}");
    assert!(!text.contains("closed") && !text.contains("client-"), "{text}");
    assert_eq!(problem.step.act, None, "what would be released is not said");
}

#[test]
fn a_wait_from_before_the_start_is_told() {
    let now = TimeMs(7_200_000);
    let mut observatory = Observatory::new(Settings { roots: vec!["/".into()], ..Settings::default() }, now);
    let mut apply = |observation| drop(observatory.apply(now, observation));
    apply(Observation::Link { link: Link::Live, session: None, why: "".into() });
    apply(Observation::SyncBegan { root: ROOT, why: "test".into() });
    for (path, number) in [("/order/lock-0000000000", 1), ("/order/lock-0000000001", 2)] {
        let facts = facts(number, number);
        apply(Observation::SyncNode { root: ROOT, path: path.into(), facts, unreadable: false });
    }
    apply(Observation::SyncEnded { root: ROOT });
    let board = look(&observatory, &Scope::ALL);
    let headline = &board.head.problems[0].headline;
    assert_eq!((&*headline.before, headline.since_ms), ("The first in line has waited for", Some(2)));
    assert_eq!(headline.after, "; since when client-1 holds it is not known. 1 waits.");
}

#[test]
fn board_says_where_no_member_tells_who_is_connected() {
    let lacking = |answers: Vec<MemberAnswer<Vec<_>>>| {
        let mut observatory = model(&[("/a/lock-0000000001", 1)]);
        let report = |(number, connections)| Report {
            member: format!("m{number}").into(),
            number: None,
            by: "four-letter words".into(),
            is_down: false,
            connections,
            sessions: MemberAnswer::NotAsked,
            watches: MemberAnswer::NotAsked,
            health: MemberAnswer::NotAsked,
        };
        let reports = answers.into_iter().enumerate().map(report).collect();
        drop(observatory.apply(LATER, Observation::Evidence(Box::new(Round { reports }))));
        look(&observatory, &Scope::ALL).head.ensembles_without_evidence
    };
    let refused = |trouble| MemberAnswer::None { trouble, remedy: "".into() };
    assert_eq!(lacking(vec![refused(Trouble::Denied), refused(Trouble::Off)]), 1);
    // Nobody was asked yet, one tells, one did not answer this time.
    assert_eq!(lacking(Vec::new()), 0);
    assert_eq!(lacking(vec![MemberAnswer::NotAsked]), 0);
    let answered = MemberAnswer::Ok { asked_at: LATER, value: Vec::new() };
    assert_eq!(lacking(vec![refused(Trouble::Denied), answered]), 0);
    assert_eq!(lacking(vec![refused(Trouble::Denied), refused(Trouble::Broken)]), 0);
}
