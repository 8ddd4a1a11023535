//! Whether what is believed may lie inside the end of a session.

use crate::language::Story;

const SEVERAL: &str = "
    10 sync /order
    10 node /order
    10 node /order/lock-0000000001 owner=a
    10 node /order/lock-0000000002 owner=a
    10 node /order/lock-0000000003 owner=b
    10 end /order";

fn several() -> Story {
    let mut story = Story::new(&["/order"]);
    story.tell(SEVERAL);
    story
}

#[test]
fn a_session_that_lost_one_of_several_znodes_may_be_ending_until_it_has_none_or_an_answer_came() {
    let mut story = several();
    let may = |story: &Story| story.observatory.may_be_within_transaction();
    assert!(!may(&story));
    story.tell("20 - /order/lock-0000000003");
    assert!(!may(&story), "b has no other znode");
    story.tell("30 - /order/lock-0000000001");
    assert!(may(&story));
    story.tell("31 - /order/lock-0000000002");
    assert!(!may(&story), "that was all");

    let mut story = several();
    story.tell("30 asked\n31 - /order/lock-0000000001\n32 answered");
    assert!(may(&story), "it was asked before");
    story.tell("33 asked");
    assert!(may(&story));
    let revision = story.observatory.revision();
    story.tell("34 synced 33");
    assert!(!may(&story) && story.observatory.revision() > revision, "whoever waited is told");
}
