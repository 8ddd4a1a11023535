//! What differs between two moments.

use lockscope_core::differences::Differences;
use lockscope_core::znode::SessionId;

use crate::language::Story;

const ORDER: &str = "
    10 sync /r
    10 node /r
    10 node /r/order created=2
    10 node /r/order/lock-0000000001 owner=a ctime=5 data=worker-1
    10 node /r/order/lock-0000000002 owner=b ctime=7
    10 end /r";

#[test]
fn who_came_and_went_and_who_holds_now() {
    let mut story = Story::new(&["/r"]);
    story.tell(ORDER);
    let before = story.observatory.clone();
    let all = |_: &str| true;
    let none = Differences::between(&before, &story.observatory, all);
    assert_eq!(none, Differences { is_complete: true, ..Differences::default() });
    story.tell(
        "20 - /r/order/lock-0000000001
         30 + /r/order/lock-0000000003
         31 = /r/order/lock-0000000003 owner=c",
    );
    let differences = Differences::between(&before, &story.observatory, all);
    let nodes = |rows: &[lockscope_core::differences::Membership]| -> Vec<String> {
        rows.iter().map(|row| row.node.to_string()).collect()
    };
    assert_eq!(nodes(&differences.joined), ["lock-0000000003"]);
    assert_eq!(nodes(&differences.left), ["lock-0000000001"]);
    assert_eq!(differences.left[0].label.as_deref(), Some("worker-1"));
    let [change] = &differences.holder_changed[..] else { panic!("{differences:?}") };
    assert_eq!(
        (nodes(&change.before), nodes(&change.after)),
        (nodes(&differences.left), vec!["lock-0000000002".into()])
    );
    let sessions = |rows: &[SessionId]| rows.len();
    assert_eq!((sessions(&differences.sessions_new), sessions(&differences.sessions_gone)), (1, 1));
    // The other way round what came has gone.
    let back = Differences::between(&story.observatory, &before, all);
    assert_eq!((&back.joined, &back.left), (&differences.left, &differences.joined));
    assert_eq!((&back.sessions_new, &back.sessions_gone), (&differences.sessions_gone, &differences.sessions_new));
    let unseen = Differences::between(&before, &story.observatory, |_| false);
    assert_eq!(unseen, none, "nothing of what may not be seen");
}

#[test]
fn a_lock_that_is_gone_has_lost_everybody_and_its_findings() {
    let mut story = Story::new(&["/r"]);
    story.tell(ORDER);
    let before = story.observatory.clone();
    story.tell("20 - /r/order/lock-0000000001\n20 - /r/order/lock-0000000002\n21 - /r/order\n7200000 tick");
    let differences = Differences::between(&before, &story.observatory, |_| true);
    assert_eq!((differences.left.len(), differences.joined.len()), (2, 0));
    assert_eq!((differences.holder_changed.len(), differences.sessions_gone.len()), (1, 2));
}
