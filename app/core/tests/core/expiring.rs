//! The verdict on a lock whose holder is gone follows what the members say, whenever it is asked for.

use lockscope_core::evidence::Liveness;
use lockscope_core::observation::Observation;
use lockscope_core::release;
use lockscope_core::time::TimeMs;
use lockscope_core::verdict::Verdict;
use lockscope_core::znode::SessionId;

use crate::language::Story;
use crate::members::{FIRST, Member, SECOND, ask, member, queue};

const THIRD: &str = "/l/_c_33333333-3333-3333-3333-333333333333-lock-0000000002";
const LATER: &str = "/l/_c_44444444-4444-4444-4444-444444444444-lock-0000000003";

/// What is shown of the holder and what is said of the lock.
fn holder_and_verdict(story: &Story) -> (Liveness, Verdict) {
    let lock = story.lock("/l");
    let holder = &lock.holders[0];
    let shown = holder.peer.as_ref().unwrap().liveness;
    assert_eq!(shown, story.observatory.member_evidence().peer(holder.owner.unwrap(), holder.since).liveness);
    (shown, lock.assessment.verdict)
}

/// One member's lists of connections; what the first of the leader's table owns runs out at a fixed instant.
fn dead(at: i64, session: i64, path: &str) -> Member {
    member("m1", at).connected(&[(11, 0), (12, 0)]).sessions(&[(session, 1_040_000 - at, path), (11, 6_000, SECOND)])
}

#[test]
fn a_holder_on_no_list_at_all_is_expiring() {
    let mut story = queue();
    ask(&mut story, vec![dead(1_004_000, 10, FIRST)]);
    ask(&mut story, vec![dead(1_005_000, 10, FIRST)]);
    assert_eq!(
        holder_and_verdict(&story),
        (Liveness::Disconnected, Verdict::Expiring),
        "it held before all were asked"
    );
    // Another takes it and dies before the members are asked again.
    story.tell(&format!("1006000 = {LATER} owner=23\n1006000 - {FIRST}\n1006000 - {SECOND}\n1006000 - {THIRD}"));
    assert_eq!(story.lock("/l").holders[0].owner, Some(SessionId(0x23)));
    assert_eq!(holder_and_verdict(&story), (Liveness::Unknown, Verdict::Healthy));
    ask(&mut story, vec![dead(1_010_000, 0x23, LATER)]);
    ask(&mut story, vec![dead(1_011_000, 0x23, LATER)]);
    assert_eq!(holder_and_verdict(&story), (Liveness::Disconnected, Verdict::Expiring));
    story.tell("1027000 tick");
    assert_eq!(holder_and_verdict(&story), (Liveness::Unknown, Verdict::Healthy), "that is too long ago");
}

/// Without the leader's table nobody knows that the session will end.
#[test]
fn no_promise_without_the_leaders_word() {
    let mut story = queue();
    for at in [1_005_000, 1_010_000, 1_015_000] {
        ask(&mut story, vec![member("m1", at).connected(&[(11, 0), (12, 0)])]);
        assert_eq!(holder_and_verdict(&story), (Liveness::Disconnected, Verdict::Healthy));
    }
    assert_eq!(release::plan(&story.observatory, FIRST, TimeMs(1_015_000)).unwrap().frees_itself, None);
    assert_eq!(story.findings("/l"), "", "nor that it ended");
}

#[test]
fn an_answer_that_says_the_same_again_counts_again() {
    let mut story = queue();
    let dead = |at: i64| vec![dead(at, 10, FIRST), member("m2", at).connected(&[])];
    ask(
        &mut story,
        vec![member("m1", 1_005_000).connected(&[(10, 0), (11, 0), (12, 0)]), member("m2", 1_005_000).connected(&[])],
    );
    ask(&mut story, dead(1_010_000));
    assert_eq!(holder_and_verdict(&story), (Liveness::Disconnected, Verdict::Expiring));
    // One member is not asked for a while, and a waiter goes when what all said has grown too old.
    ask(&mut story, vec![dead(1_024_000).remove(0), member("m2", 1_024_000).unasked()]);
    assert_eq!(holder_and_verdict(&story), (Liveness::Disconnected, Verdict::Expiring));
    story.tell(&format!("1026000 tick\n1026000 - {SECOND}"));
    assert_eq!(holder_and_verdict(&story), (Liveness::Silent, Verdict::Healthy), "its end stands still");
    ask(&mut story, dead(1_027_000));
    assert_eq!(holder_and_verdict(&story), (Liveness::Disconnected, Verdict::Expiring));
}

/// A round is taken in a piece at a time; what is shown of a lock follows with its verdict.
#[test]
fn between_the_pieces_of_a_round_a_lock_contradicts_itself_nowhere() {
    let mut story = queue();
    ask(&mut story, vec![member("m1", 1_005_000).connected(&[(10, 0), (11, 0), (12, 0)])]);
    let round = dead(1_010_000, 10, FIRST).round();
    story.observatory.begin(TimeMs(1_010_000), Observation::Evidence(Box::new(round)));
    assert!(story.observatory.has_backlog());
    let lock = story.lock("/l");
    assert_eq!(
        (lock.holders[0].peer.as_ref().unwrap().liveness, lock.assessment.verdict),
        (Liveness::Connected, Verdict::Healthy)
    );
    while story.observatory.has_backlog() {
        story.observatory.go_on();
    }
    assert_eq!(holder_and_verdict(&story), (Liveness::Disconnected, Verdict::Expiring));
}

mod without_a_session {
    use super::*;
    use lockscope_core::evidence::{Health, MemberRole};

    /// When each member is asked; a finding needs two rounds of answers that are all new.
    const ROUNDS: [i64; 6] = [1_005_000, 1_010_000, 1_015_000, 1_020_000, 1_025_000, 1_030_000];

    fn finding(story: &Story) -> String {
        let findings = story.findings("/l");
        let is_it = |line: &&str| line.starts_with("stale_ephemeral");
        findings.lines().find(is_it).unwrap_or_default().to_owned()
    }

    /// The leader, where session 10 owns a znode and is no session.
    fn leader(at: i64) -> Member {
        member("m1", at).connected(&[(11, 0)]).sessions(&[(11, 6_000, SECOND)]).owns(10, FIRST).role(MemberRole::Leader)
    }

    /// A follower: it says what sessions own, and of none when it runs out.
    fn follower(at: i64) -> Member {
        member("m2", at).connected(&[(12, 0)]).sessions(&[]).owns(10, FIRST).owns(11, SECOND).role(MemberRole::Follower)
    }

    /// Time for what is looked at a moment after a round, and for what that plans.
    fn pass(story: &mut Story, at: i64) {
        for ms in [300, 600, 900] {
            story.tell(&format!("{} tick", at + ms));
        }
    }

    fn after(round: impl Fn(i64) -> Vec<Member>) -> String {
        let mut story = queue();
        for at in ROUNDS {
            ask(&mut story, round(at));
            assert_ne!(holder_and_verdict(&story).1, Verdict::Expiring, "nothing says that it runs out");
            pass(&mut story, at);
        }
        finding(&story)
    }

    #[test]
    fn a_znode_that_outlives_its_session_is_found() {
        let found = after(|at| vec![leader(at), follower(at)]);
        assert_eq!(
            found,
            "stale_ephemeral Critical: The znode of one outlived its session, which is in no member's table any more: it will never go by itself (ZOOKEEPER-1208)."
        );
    }

    #[test]
    fn one_round_is_not_enough() {
        let mut story = queue();
        ask(&mut story, vec![leader(1_005_000), follower(1_005_000)]);
        pass(&mut story, 1_005_000);
        for at in [1_006_000, 1_010_000, 1_019_000, 1_020_000, 1_021_000, 1_024_000] {
            story.tell(&format!("{at} tick"));
            assert_eq!(finding(&story), "", "at {at}");
        }
    }

    /// It lived, and ended while its znode was made.
    #[test]
    fn one_that_was_seen_alive_is_found_as_well() {
        let mut story = queue();
        let alive = member("m1", 1_004_000).connected(&[(10, 0), (11, 0)]).sessions(&[(10, 6_000, FIRST)]);
        ask(&mut story, vec![alive.role(MemberRole::Standalone)]);
        let dying = member("m1", 1_005_000).connected(&[(11, 0)]).sessions(&[(10, 5_000, FIRST)]);
        ask(&mut story, vec![dying.role(MemberRole::Standalone)]);
        assert_eq!(holder_and_verdict(&story).1, Verdict::Expiring);
        for at in &ROUNDS[1..] {
            ask(&mut story, vec![leader(*at).role(MemberRole::Standalone)]);
            assert_ne!(holder_and_verdict(&story).1, Verdict::Expiring);
            pass(&mut story, *at);
        }
        assert!(finding(&story).starts_with("stale_ephemeral Critical"), "{}", story.findings("/l"));
        story.tell(&format!("1031000 - {FIRST}\n1032000 tick"));
        assert_eq!(finding(&story), "");
    }

    type Kind<'a> = (&'a str, &'a dyn Fn(i64) -> Vec<Member>);

    #[test]
    fn silent_where_some_table_has_it_or_is_missing() {
        let local = |at| {
            let mut local = follower(at);
            local.table().local.push(SessionId(10));
            local.table().expiries.insert(SessionId(10), lockscope_core::evidence::Expiry::Running(at));
            local
        };
        let global = |at| {
            let mut global = follower(at);
            global.table().timeouts_ms.insert(SessionId(10), 6_000);
            global
        };
        let mute = |at| {
            let mut mute = follower(at);
            mute.report.sessions = lockscope_core::evidence::MemberAnswer::NotAsked;
            mute
        };
        let kinds: [Kind<'_>; 8] = [
            ("a local session", &|at| vec![leader(at), local(at)]),
            ("on a follower only", &|at| vec![leader(at), global(at)]),
            ("a table is missing", &|at| vec![leader(at), mute(at)]),
            ("a member is missing", &|at| vec![leader(at), member("m2", at)]),
            ("no leader's table", &|at| vec![follower(at)]),
            ("connected", &|at| vec![leader(at), follower(at).connected(&[(10, 0)])]),
            ("the role is not known", &|at| vec![leader(at).health(Health::default())]),
            ("the leader does not have the znode", &|at| {
                vec![
                    member("m1", at).connected(&[]).sessions(&[(11, 6_000, SECOND)]).role(MemberRole::Leader),
                    follower(at),
                ]
            }),
        ];
        for (kind, round) in kinds {
            assert_eq!(after(round), "", "{kind}");
        }
    }

    #[test]
    fn a_session_that_is_being_made_is_no_ghost() {
        let mut story = queue();
        // The tables were asked for before it was there.
        let before =
            |at| member("m1", at).connected(&[(11, 0)]).sessions(&[(11, 6_000, SECOND)]).role(MemberRole::Leader);
        for at in [999_000, 999_500] {
            ask(&mut story, vec![before(at)]);
        }
        story.tell("1016000 tick");
        assert_eq!(finding(&story), "");
    }
}

/// A member that nobody knows of has clients as well: they move their ends.
#[test]
fn one_whose_end_moves_is_not_dead() {
    let mut story = queue();
    for at in (1_005_000..1_060_000).step_by(5_000) {
        let alive = member("m1", at).connected(&[(11, 0)]).sessions(&[(10, 20_000, FIRST), (11, 6_000, SECOND)]);
        ask(&mut story, vec![alive]);
    }
    assert_eq!(holder_and_verdict(&story), (Liveness::Unknown, Verdict::Healthy));
}

/// Its process may go on and serve it.
#[test]
fn a_client_of_a_member_that_left_is_not_dead() {
    let mut story = queue();
    let table = [(10, 6_000, FIRST), (11, 6_000, SECOND)];
    let stays = |at| member("m1", at).connected(&[(11, 0)]).sessions(&table);
    ask(&mut story, vec![stays(1_005_000), member("m2", 1_005_000).connected(&[(10, 0)])]);
    for at in [1_010_000, 1_015_000] {
        ask(&mut story, vec![stays(at)]);
        assert_eq!(holder_and_verdict(&story), (Liveness::Unknown, Verdict::Healthy));
    }
}
