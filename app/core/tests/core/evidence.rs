//! What members tell, joined with the locks: identity, liveness, ends, watches.

use lockscope_core::change::Departure;
use lockscope_core::evidence::{Expiry, Fired, Health, Liveness, MemberAnswer, Watch};
use lockscope_core::lock::{Woken, WokenBasis};
use lockscope_core::observation::Observation;
use lockscope_core::release::{self, Warning};
use lockscope_core::time::TimeMs;
use lockscope_core::verdict::Verdict;
use lockscope_core::znode::SessionId;

use crate::language::Story;
use crate::members::{FIRST, SECOND, TIMEOUT_MS, ask, member, queue};

fn liveness(story: &Story, session: i64) -> Liveness {
    story.observatory.member_evidence().peer(SessionId(session), TimeMs(1_000_000)).liveness
}

#[test]
fn a_listed_client_is_named_with_its_address() {
    let mut story = queue();
    assert_eq!(liveness(&story, 10), Liveness::Unknown);
    ask(&mut story, vec![member("m1", 1_005_000).connected(&[(10, 5), (11, 5), (12, 5)])]);
    assert_eq!(liveness(&story, 10), Liveness::Connected);
    assert_eq!(story.sentence("/l"), "one holds it. 2 wait.");
    let known = story.observatory.member_evidence().session(SessionId(10)).unwrap();
    assert_eq!((known.timeout_ms, known.heard_at), (Some(TIMEOUT_MS), Some(TimeMs(1_005_000))));
    let plan = release::plan(&story.observatory, FIRST, TimeMs(1_005_000)).unwrap();
    assert_eq!((plan.warnings.first(), plan.frees_itself), (Some(&Warning::OwnerConnected), None));
    assert!(!plan.can_revoke);
    assert!(plan.next_sentence.starts_with("two at 10.0.0.11:4000 (fencing token 0x"), "{}", plan.next_sentence);
    // Its client watches its own znode: it listens for being asked to let go.
    ask(&mut story, vec![member("m1", 1_006_000).connected(&[(10, 5)]).watches(&[(FIRST, &[10, 11])])]);
    assert!(release::plan(&story.observatory, FIRST, TimeMs(1_006_000)).unwrap().can_revoke);
    assert!(!release::plan(&story.observatory, SECOND, TimeMs(1_006_000)).unwrap().can_revoke, "it waits");
}

#[test]
fn one_not_heard_of_for_a_third_of_its_time_out_is_silent() {
    let mut story = queue();
    ask(&mut story, vec![member("m1", 1_005_000).connected(&[(10, 2_100), (11, 0)])]);
    assert_eq!(liveness(&story, 10), Liveness::Connected, "clients ping after a third of it");
    ask(&mut story, vec![member("m1", 1_010_000).connected(&[(10, 2_400), (11, 0)])]);
    assert_eq!(liveness(&story, 10), Liveness::Silent);
    assert_eq!(story.lock("/l").assessment.verdict, Verdict::Healthy, "it may be slow only");
}

#[test]
fn a_dead_holder_is_expiring_with_the_end_the_leader_tells() {
    let mut story = queue();
    ask(&mut story, vec![member("m1", 1_005_000).connected(&[(10, 0), (11, 0), (12, 0)])]);
    let dead =
        member("m1", 1_010_000).connected(&[(11, 0), (12, 0)]).sessions(&[(10, 4_000, FIRST), (11, 6_000, SECOND)]);
    ask(&mut story, vec![dead]);
    assert_eq!(liveness(&story, 10), Liveness::Disconnected);
    let runs_out = story.lock("/l").holders[0].peer.as_ref().unwrap().runs_out.unwrap();
    assert_eq!((runs_out.at, runs_out.is_told), (TimeMs(1_014_000), true));
    assert_eq!(story.lock("/l").assessment.verdict, Verdict::Expiring);
    assert_eq!(
        story.sentence("/l"),
        "one is connected to no server; the lock frees itself when its session runs out. 2 wait."
    );
    let plan = release::plan(&story.observatory, FIRST, TimeMs(1_010_000)).unwrap();
    assert_eq!(plan.warnings.first(), Some(&Warning::FreesItself), "waiting would do");
    assert_eq!(plan.frees_itself.map(|frees| (frees.at, frees.is_upper_bound)), Some((TimeMs(1_014_000), false)));
    story.tell(&format!("1014000 - {FIRST}"));
    assert_eq!(story.lock("/l").assessment.verdict, Verdict::Healthy);
}

#[test]
fn without_the_leaders_word_the_end_is_bounded_by_the_time_out() {
    let mut story = queue();
    ask(&mut story, vec![member("m1", 1_005_000).connected(&[(10, 0), (11, 0)])]);
    ask(&mut story, vec![member("m1", 1_010_000).connected(&[(11, 0)])]);
    let runs_out = story.lock("/l").holders[0].peer.as_ref().unwrap().runs_out.unwrap();
    assert_eq!(
        (runs_out.at, runs_out.is_told),
        (TimeMs(1_018_000), false),
        "not listed at 1,010,000, plus time-out and tick"
    );
}

#[test]
fn an_end_that_passes_becomes_a_finding() {
    let mut story = queue();
    ask(&mut story, vec![member("m1", 1_005_000).connected(&[(10, 0), (11, 0)])]);
    for at in [1_010_000, 1_015_000, 1_020_000] {
        ask(&mut story, vec![member("m1", at).connected(&[(11, 0)]).sessions(&[(10, 1_014_000 - at, FIRST)])]);
        story.tell(&format!("{} tick", at + 900));
        assert_eq!(story.findings("/l").contains("expiry_overdue"), at == 1_020_000, "at {at}");
    }
}

#[test]
fn nobody_is_called_dead_while_a_member_does_not_answer() {
    let mut story = queue();
    ask(&mut story, vec![member("m1", 1_005_000).connected(&[(10, 0)]), member("m2", 1_005_000)]);
    ask(&mut story, vec![member("m1", 1_010_000).connected(&[]), member("m2", 1_010_000)]);
    assert_ne!(liveness(&story, 10), Liveness::Disconnected, "it may be on m2 now");
    assert_eq!(liveness(&story, 11), Liveness::Unknown);
    let mut down = member("m2", 1_015_000);
    down.report.is_down = true;
    ask(&mut story, vec![member("m1", 1_015_000).connected(&[]), down]);
    assert_eq!(liveness(&story, 10), Liveness::Disconnected, "nobody can be connected to a member that is down");
    assert_eq!(liveness(&story, 11), Liveness::Disconnected, "it owned a znode before all were asked");
}

#[test]
fn a_dead_holder_runs_out_visibly_while_a_member_does_not_answer() {
    let mut story = queue();
    // The leader answers, m2 does not. Whoever lives moves its end.
    let leader = |at, left_ms, connected: &[(i64, i64)]| {
        member("m1", at).connected(connected).sessions(&[(10, left_ms, FIRST), (11, 6_000, SECOND)])
    };
    ask(&mut story, vec![leader(1_005_000, 6_000, &[(10, 0), (11, 0)]), member("m2", 1_005_000)]);
    ask(&mut story, vec![leader(1_006_000, 5_000, &[(11, 0)]), member("m2", 1_006_000)]);
    assert_eq!(liveness(&story, 10), Liveness::Unknown, "it may be on m2 now, and has time to say so");
    ask(&mut story, vec![leader(1_010_000, 1_000, &[(11, 0)]), member("m2", 1_010_000)]);
    assert_eq!(liveness(&story, 10), Liveness::Silent, "nothing was heard of it, wherever it is");
    let runs_out = story.lock("/l").holders[0].peer.as_ref().unwrap().runs_out.unwrap();
    assert_eq!((runs_out.at, runs_out.is_told), (TimeMs(1_011_000), true));
    ask(&mut story, vec![leader(1_011_000, 6_000, &[(11, 0)]), member("m2", 1_011_000)]);
    assert_eq!(liveness(&story, 10), Liveness::Unknown, "its end moved: it lives, on m2");
}

#[test]
fn what_was_known_of_the_dead_stays_when_a_member_falls_silent() {
    let mut story = queue();
    let both = |at| {
        vec![
            member("m1", at).connected(&[(10, 0), (11, 0)]).sessions(&[(10, 6_000, FIRST)]),
            member("m2", at).connected(&[]),
        ]
    };
    ask(&mut story, both(1_000_000));
    let dead = |at: i64| member("m1", at).connected(&[(11, 0)]).sessions(&[(10, 1_011_000 - at, FIRST)]);
    ask(&mut story, vec![dead(1_005_000), member("m2", 1_005_000).connected(&[])]);
    assert_eq!(liveness(&story, 10), Liveness::Disconnected);
    ask(&mut story, vec![dead(1_010_000), member("m2", 1_010_000)]);
    assert_eq!(liveness(&story, 10), Liveness::Silent, "its end did not move since");
    assert!(story.lock("/l").holders[0].peer.as_ref().unwrap().runs_out.is_some());
}

#[test]
fn a_member_that_is_down_stays_so_until_it_is_asked_again() {
    let mut story = queue();
    let down = |at| {
        let mut down = member("m2", at);
        down.report.is_down = true;
        down
    };
    ask(&mut story, vec![member("m1", 1_005_000).connected(&[(10, 0)]), down(1_005_000)]);
    // A batch that is handed on before its answer.
    let mut late = member("m2", 1_010_000);
    late.report.connections = MemberAnswer::NotAsked;
    ask(&mut story, vec![member("m1", 1_010_000).connected(&[]), late]);
    assert_eq!(liveness(&story, 10), Liveness::Disconnected);
}

#[test]
fn one_that_connected_after_the_question_is_not_dead() {
    let mut story = queue();
    let born = member("m1", 1_005_000).connected(&[(11, 0)]).sessions(&[(99, 6_000, "/l/x")]);
    ask(&mut story, vec![born]);
    assert_eq!(liveness(&story, 99), Liveness::Unknown);
    ask(&mut story, vec![member("m1", 1_010_000).connected(&[(11, 0)]).sessions(&[(99, 6_000, "/l/x")])]);
    assert_eq!(liveness(&story, 99), Liveness::Disconnected, "it was there before this question");
}

#[test]
fn evidence_that_grew_old_speaks_of_now_no_longer() {
    let mut story = queue();
    ask(&mut story, vec![member("m1", 1_005_000).connected(&[(10, 0), (11, 0)])]);
    ask(&mut story, vec![member("m1", 1_010_000).connected(&[(11, 0)]).sessions(&[(10, 6_000, FIRST)])]);
    assert_eq!(story.lock("/l").assessment.verdict, Verdict::Expiring);
    story.tell("1026000 tick");
    assert_eq!((liveness(&story, 10), liveness(&story, 11)), (Liveness::Unknown, Liveness::Unknown));
    assert_eq!(story.lock("/l").assessment.verdict, Verdict::Healthy);
}

#[test]
fn a_wait_is_confirmed_or_missing_by_the_tables() {
    let mut story = queue();
    let all = [(10, 0), (11, 0), (12, 0)];
    ask(&mut story, vec![member("m1", 1_005_000).connected(&all).watches(&[(FIRST, &[11, 1]), ("/l", &[1])])]);
    let observatory = &story.observatory;
    let (lock, now) = (story.lock("/l"), TimeMs(story.now));
    let mirror = observatory.mirror_of(lock).unwrap();
    let told: Vec<Watch> = lock
        .contenders(mirror)
        .skip(1)
        .map(|contender| {
            lock.confirm(observatory.member_evidence(), now, &contender, &lock.waits_for(mirror, &contender)[0])
        })
        .collect();
    assert_eq!(told, [Watch::Confirmed, Watch::Missing]);
    let woken = lock.woken(observatory.member_evidence(), mirror, now, observatory.session()).unwrap();
    assert_eq!(
        woken,
        Woken { sessions: Some(1), known: WokenBasis::Counted, bytes: Some(32 + FIRST.len() as u64) },
        "we are not counted"
    );
    story.tell("1005900 tick");
    assert!(
        story.findings("/l").starts_with("missing_watch Warning: 1 waiter is connected"),
        "{}",
        story.findings("/l")
    );
    story.tell(&format!("1006000 - {FIRST}"));
    let past = &story.lock("/l").tally.past[0];
    assert_eq!(past.woke, Some(1), "measured for the release that was");
}

#[test]
fn a_watch_set_a_moment_ago_is_not_missing() {
    let mut story = queue();
    story.tell(&format!("1004000 - {FIRST}"));
    ask(&mut story, vec![member("m1", 1_005_000).connected(&[(11, 0), (12, 0)]).watches(&[])]);
    story.tell("1005900 tick");
    assert_eq!(story.findings("/l"), "");
}

#[test]
fn without_tables_the_recipe_tells_whom_a_release_wakes() {
    let story = queue();
    let observatory = &story.observatory;
    let lock = story.lock("/l");
    let woken = lock
        .woken(observatory.member_evidence(), observatory.mirror_of(lock).unwrap(), TimeMs(story.now), None)
        .unwrap();
    assert_eq!((woken.sessions, woken.known), (Some(1), WokenBasis::ByRule));
}

#[test]
fn waiters_without_znodes_come_from_the_tables() {
    let mut story = Story::new(&["/hbase"]);
    story.tell(
        "1000000 sync /hbase\n1000000 node /hbase created=1\n1000000 node /hbase/master owner=a\n1000000 end /hbase",
    );
    let hidden =
        |story: &Story| story.lock("/hbase/master").watchers.iter().map(|(session, _)| session).collect::<Vec<_>>();
    assert_eq!(hidden(&story), []);
    ask(
        &mut story,
        vec![member("m1", 1_005_000).connected(&[(10, 0)]).watches(&[("/hbase/master", &[10, 20, 21, 1])])],
    );
    assert_eq!(hidden(&story), [SessionId(20), SessionId(21)], "neither the holder nor we wait");
    let crowd: Vec<i64> = (20..520).collect();
    ask(&mut story, vec![member("m1", 1_021_000).connected(&[(10, 0)]).watches(&[("/hbase/master", &crowd)])]);
    story.tell("1022000 tick");
    assert_eq!(
        story.findings("/hbase/master"),
        "herd Info: 500 sessions watch one znode: when it goes all of them are woken and try at once, and one gets it."
    );
}

#[test]
fn a_printed_date_is_read_in_any_time_zone() {
    let mut story = queue();
    let now = 1_000_010_000_i64;
    story.tell("1000000000 tick");
    ask(&mut story, vec![member("m1", now - 5_000).connected(&[(10, 0), (11, 0)])]);
    let mut dead = member("m1", now).connected(&[(11, 0)]).sessions(&[(10, 0, FIRST)]);
    if let MemberAnswer::Ok { value, .. } = &mut dead.report.sessions {
        value.expiries.insert(SessionId(10), Expiry::QuarterHour((now + 4_000) % 900_000 / 1_000 * 1_000));
    }
    ask(&mut story, vec![dead]);
    let runs_out = story.lock("/l").holders[0].peer.as_ref().unwrap().runs_out.unwrap();
    assert_eq!(runs_out.at.0, (now + 4_000) / 1_000 * 1_000 + 500, "the middle of the second that is printed");
}

#[test]
fn counters_of_fired_watches_are_told_as_differences() {
    let mut story = queue();
    let fired = |at, changes, watches| {
        let mut member = member("m1", at);
        let health = Health { deleted: Fired { changes, watches }, ..Health::default() };
        member.report.health = MemberAnswer::Ok { asked_at: TimeMs(at), value: health };
        vec![member]
    };
    let lately = |story: &Story| {
        story
            .observatory
            .member_evidence()
            .members()
            .next()
            .unwrap()
            .1
            .lately
            .map(|lately| (lately.over_ms, lately.deleted))
    };
    ask(&mut story, fired(1_005_000, 10, 400));
    assert_eq!(lately(&story), None);
    ask(&mut story, fired(1_010_000, 12, 500));
    assert_eq!(lately(&story), Some((5_000, Fired { changes: 2, watches: 100 })));
    ask(&mut story, fired(1_015_000, 1, 1));
    assert_eq!(lately(&story), None, "the member was restarted");
}

#[test]
fn a_clock_an_hour_off_changes_no_wait() {
    let mut story = Story::new(&["/l"]);
    let hour = 3_600_000;
    story.tell("9000000 tick");
    let read =
        Observation::ClockRead { sent_at: TimeMs(9_000_000), told_at: TimeMs(9_000_002), ctime_ms: 9_000_001 - hour };
    story.observatory.apply(TimeMs(9_000_002), read);
    story.tell(&format!(
        "9001000 sync /l\n9001000 node /l created=2\n9001000 node /l/lock-0000000000 owner=a ctime={}\n9001000 node /l/lock-0000000001 owner=b ctime={}\n9001000 end /l",
        8_990_000 - hour,
        8_995_000 - hour
    ));
    let offset = story.observatory.offset();
    assert_eq!(offset.error_ms(), Some(3));
    let Some(lockscope_core::lock::Since::Created(ctime_ms)) = story.lock("/l").standing.oldest else { panic!("read") };
    assert!((offset.to_ours(ctime_ms).0 - 8_995_000).abs() <= 2, "it waits for six seconds, not for an hour");
}

#[test]
fn an_end_told_long_ago_is_not_told_of_one_that_dies_later() {
    let mut story = queue();
    let all = [(10, 0), (11, 0)];
    ask(&mut story, vec![member("m1", 1_005_000).connected(&all).sessions(&[(10, 6_000, FIRST)])]);
    for round in 1..=8 {
        ask(&mut story, vec![member("m1", 1_005_000 + round * 5_000).connected(&all)]);
    }
    ask(&mut story, vec![member("m1", 1_050_000).connected(&[(11, 0)])]);
    let runs_out = story.lock("/l").holders[0].peer.as_ref().unwrap().runs_out.unwrap();
    assert_eq!(
        (runs_out.at, runs_out.is_told),
        (TimeMs(1_058_000), false),
        "by its time-out, for nobody told its end lately"
    );
}

#[test]
fn a_silent_holder_whose_znode_goes_when_its_session_was_to_end_did_not_release() {
    // Sessions end on a tick, here of 2 s, and the end may be told to the second only.
    for (gone_at, how) in
        [(1_015_000, Departure::SessionEnded), (1_012_100, Departure::SessionEnded), (1_011_900, Departure::Deleted)]
    {
        let mut story = queue();
        let silent = member("m1", 1_009_000)
            .connected(&[(10, 3_000), (11, 0), (12, 0)])
            .sessions(&[(10, 6_000, FIRST), (11, 6_000, SECOND)]);
        ask(&mut story, vec![silent]);
        assert_eq!(liveness(&story, 10), Liveness::Silent);
        story.tell(&format!("{gone_at} - {FIRST}\n{} tick", gone_at + 60));
        assert_eq!(story.lock("/l").tally.past[0].how, how, "gone at {gone_at}");
    }
}
