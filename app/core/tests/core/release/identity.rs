//! A name that its own owner made anew is another incarnation: only its czxid shows that.

use lockscope_core::release::{Act, Ending, Fact, Input, Naming, Seen, Step, Target, TargetSnapshot};
use lockscope_core::znode::{SessionId, Zxid};

#[test]
fn a_name_that_its_owner_made_anew_is_left_alone() {
    for owner in [None, Some(SessionId(7))] {
        let target = Target { path: "/order/lock".into(), czxid: Zxid(5), owner, version: 0, naming: Naming::Fixed };
        let looked = |czxid| {
            let node = Some(Seen { czxid, owner, version: 0, children: 0 });
            Input::Looked(TargetSnapshot { directory: None, node })
        };
        assert_eq!(Act::new(target.clone()).take(looked(Zxid(5))), Step::Send);
        let Step::End(end) = Act::new(target).take(looked(Zxid(6))) else { panic!("it would be deleted") };
        assert_eq!((end.ending, end.fact), (Ending::ChangedHands, Fact::NothingSent));
    }
}
