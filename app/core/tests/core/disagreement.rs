//! Members that tell different things: who is wrong, who only lags, and how far ours is.

use lockscope_core::evidence::{Health, MemberAnswer};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};

use crate::language::Story;
use crate::members::{FIRST, Member, SECOND, ask, member, queue};

#[test]
fn members_that_differ_twice_in_the_same_way_disagree() {
    let mut story = queue();
    let both = |at, on_second: &[(i64, i64, &str)]| {
        let all: Vec<(i64, i64, &str)> = vec![(10, 6_000, FIRST), (11, 6_000, SECOND)];
        vec![
            member("m1", at).connected(&[(10, 0), (11, 0)]).sessions(&all),
            member("m2", at).connected(&[]).sessions(on_second),
        ]
    };
    ask(&mut story, both(1_005_000, &[(11, 6_000, SECOND)]));
    assert!(story.observatory.member_evidence().disputed().is_empty(), "it may be on its way");
    let mut late = both(1_005_500, &[(11, 6_000, SECOND)]);
    late[0].report.sessions = MemberAnswer::NotAsked;
    ask(&mut story, late);
    ask(&mut story, both(1_010_000, &[(11, 6_000, SECOND)]));
    let disputed = &story.observatory.member_evidence().disputed()[FIRST];
    assert_eq!((disputed.session, disputed.on.len(), &*disputed.on[0]), (SessionId(10), 1, "m1"));
    story.tell("1010900 tick");
    assert!(story.findings("/l").contains("members_disagree Critical: Members disagree"), "{}", story.findings("/l"));
    ask(&mut story, both(1_015_000, &[(10, 6_000, FIRST), (11, 6_000, SECOND)]));
    assert!(story.observatory.member_evidence().disputed().is_empty());
}

/// Two members of whom the second lacks `FIRST`, and the last transaction each has applied.
fn differing(at: i64, applied: [i64; 2]) -> Vec<Member> {
    let mut members = vec![
        member("m1", at).connected(&[(10, 0)]).sessions(&[(10, 6_000, FIRST)]),
        member("m2", at).connected(&[]).sessions(&[]),
    ];
    for (member, zxid) in members.iter_mut().zip(applied) {
        member.report.health =
            MemberAnswer::Ok { asked_at: TimeMs(at), value: Health { zxid: Some(Zxid(zxid)), ..Health::default() } };
    }
    members
}

#[test]
fn a_member_that_lags_is_not_called_wrong() {
    let mut story = queue();
    let finding = |story: &mut Story| {
        let at = story.now + 900;
        story.tell(&format!("{at} tick"));
        story.findings("/l").lines().find(|line| line.starts_with("members_disagree")).map(str::to_owned)
    };
    ask(&mut story, differing(1_005_000, [50, 40]));
    ask(&mut story, differing(1_010_000, [60, 45]));
    let text = finding(&mut story).unwrap();
    assert!(
        text.starts_with("members_disagree Warning: m2 lags behind the others: ") && text.contains("is only on m1."),
        "{text}"
    );
    // It passes what the others had at first, and goes on lagging behind what they have now: no excuse any more.
    ask(&mut story, differing(1_015_000, [90, 50]));
    assert!(finding(&mut story).unwrap().contains("Warning"), "its table may be from before that");
    ask(&mut story, differing(1_020_000, [99, 60]));
    assert!(finding(&mut story).unwrap().starts_with("members_disagree Critical: Members disagree"));
    assert_eq!(story.observatory.member_evidence().disputed()[FIRST].late.len(), 0);
}

#[test]
fn a_lone_holder_that_one_member_lacks_is_told() {
    let mut story = Story::new(&["/l"]);
    story.tell(&format!("1000000 sync /l\n1000000 node /l created=1\n1000000 node {FIRST} owner=a data=one\n1000000 end /l\n1001000 tick"));
    assert_eq!(story.findings("/l"), "");
    ask(&mut story, differing(1_005_000, [50, 50]));
    ask(&mut story, differing(1_010_000, [50, 50]));
    story.tell("1010900 tick");
    assert!(story.findings("/l").starts_with("members_disagree Critical"), "{}", story.findings("/l"));
    let mut same = differing(1_015_000, [50, 50]);
    same[1] = member("m2", 1_015_000).connected(&[]).sessions(&[(10, 6_000, FIRST)]);
    ask(&mut story, same);
    story.tell("1015900 tick");
    assert_eq!(story.findings("/l"), "");
}

#[test]
fn we_have_seen_what_our_member_has_applied() {
    let mut story = queue();
    let ours = Some(SessionId(10));
    let seen = |story: &Story, session| story.observatory.member_evidence().zxid_seen_by(session).map(|zxid| zxid.0);
    assert_eq!(seen(&story, ours), None);
    ask(&mut story, differing(1_005_000, [50, 40]));
    assert_eq!((seen(&story, ours), seen(&story, Some(SessionId(11)))), (Some(50), None), "nobody listed 11");
    let mut alone = differing(1_010_000, [60, 0]);
    alone.pop();
    ask(&mut story, alone);
    assert_eq!(seen(&story, None), Some(60), "there is no other member");
}
