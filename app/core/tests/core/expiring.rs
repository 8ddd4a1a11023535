//! The verdict on a lock whose holder is gone follows what the members say, whenever it is asked for.

use lockscope_core::evidence::Liveness;
use lockscope_core::observation::Observation;
use lockscope_core::time::TimeMs;
use lockscope_core::verdict::Verdict;
use lockscope_core::znode::SessionId;

use crate::language::Story;
use crate::members::{FIRST, SECOND, ask, member, queue};

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

#[test]
fn a_holder_on_no_list_at_all_is_expiring() {
    let mut story = queue();
    ask(&mut story, vec![member("m1", 1_005_000).connected(&[(11, 0), (12, 0)])]);
    assert_eq!(
        holder_and_verdict(&story),
        (Liveness::Disconnected, Verdict::Expiring),
        "it held before all were asked"
    );
    // Another takes it and dies before the members are asked again.
    story.tell(&format!("1006000 = {LATER} owner=23\n1006000 - {FIRST}\n1006000 - {SECOND}\n1006000 - {THIRD}"));
    assert_eq!(story.lock("/l").holders[0].owner, Some(SessionId(0x23)));
    assert_eq!(holder_and_verdict(&story), (Liveness::Unknown, Verdict::Healthy));
    ask(&mut story, vec![member("m1", 1_010_000).connected(&[(11, 0), (12, 0)])]);
    assert_eq!(holder_and_verdict(&story), (Liveness::Disconnected, Verdict::Expiring));
    story.tell("1026000 tick");
    assert_eq!(holder_and_verdict(&story), (Liveness::Unknown, Verdict::Healthy), "that is too long ago");
}

#[test]
fn an_answer_that_says_the_same_again_counts_again() {
    let mut story = queue();
    let dead = |at: i64| vec![member("m1", at).connected(&[(11, 0), (12, 0)]), member("m2", at).connected(&[])];
    ask(
        &mut story,
        vec![member("m1", 1_005_000).connected(&[(10, 0), (11, 0), (12, 0)]), member("m2", 1_005_000).connected(&[])],
    );
    ask(&mut story, dead(1_010_000));
    assert_eq!(holder_and_verdict(&story), (Liveness::Disconnected, Verdict::Expiring));
    // One member is not asked for a while, and a waiter goes when what all said has grown too old.
    ask(&mut story, vec![member("m1", 1_024_000).connected(&[(11, 0), (12, 0)]), member("m2", 1_024_000).unasked()]);
    assert_eq!(holder_and_verdict(&story), (Liveness::Disconnected, Verdict::Expiring));
    story.tell(&format!("1026000 tick\n1026000 - {SECOND}"));
    assert_eq!(holder_and_verdict(&story), (Liveness::Unknown, Verdict::Healthy));
    ask(&mut story, dead(1_027_000));
    assert_eq!(holder_and_verdict(&story), (Liveness::Disconnected, Verdict::Expiring));
}

/// A round is taken in a piece at a time; what is shown of a lock follows with its verdict.
#[test]
fn between_the_pieces_of_a_round_a_lock_contradicts_itself_nowhere() {
    let mut story = queue();
    ask(&mut story, vec![member("m1", 1_005_000).connected(&[(10, 0), (11, 0), (12, 0)])]);
    let round = member("m1", 1_010_000).connected(&[(11, 0), (12, 0)]).round();
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
