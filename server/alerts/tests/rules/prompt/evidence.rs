//! What only members can tell.

use lockscope_core::evidence::MemberRole;

use super::{Life, START_MS};
use crate::members::{FIRST, Member, SECOND, member};

/// Session a holds, b and c wait.
pub(super) fn queue(life: &mut Life) {
    life.tree(&format!(
        "/l created=3
        {FIRST} owner=a data=one
        {SECOND} owner=b data=two
        /l/_c_33333333-3333-3333-3333-333333333333-lock-0000000002 owner=c data=three"
    ));
}

pub(super) fn one(at_ms: i64) -> Member {
    member("m1", START_MS + at_ms)
}

/// It is connected, and five seconds later to nobody; its session runs out at 14 s.
pub(super) fn holder_dies(life: &mut Life) {
    life.asked(5_000, vec![one(5_000).connected(&[(10, 0), (11, 0), (12, 0)])]);
    life.asked(10_000, vec![dead(10_000)]);
}

fn dead(at_ms: i64) -> Member {
    let left_ms = 14_000 - at_ms;
    one(at_ms).connected(&[(11, 0), (12, 0)]).sessions(&[(10, left_ms, FIRST), (11, 6_000, SECOND)])
}

/// Its end passes, and it is there all the same: two ticks of the server after that it is overdue.
pub(super) fn overdue(life: &mut Life) -> i64 {
    queue(life);
    holder_dies(life);
    life.asked(15_000, vec![dead(15_000)]);
    18_000
}

/// No table has the holder's session, round after round, for 20 s from a look soon after the first one.
pub(super) fn stale(life: &mut Life) -> i64 {
    queue(life);
    for at_ms in [5_000, 10_000, 15_000, 20_000, 25_000] {
        let leader = one(at_ms).connected(&[(11, 0), (12, 0)]).sessions(&[(11, 6_000, SECOND)]).owns(10, FIRST);
        life.asked(at_ms, vec![leader.role(MemberRole::Leader)]);
    }
    25_000
}

/// One member says of the holder what another does not, twice.
pub(super) fn disagree(life: &mut Life) -> i64 {
    queue(life);
    let both = |at_ms: i64| {
        let all = [(10, 6_000, FIRST), (11, 6_000, SECOND)];
        let second = member("m2", START_MS + at_ms).connected(&[]).sessions(&[(11, 6_000, SECOND)]);
        vec![one(at_ms).connected(&[(10, 0), (11, 0)]).sessions(&all), second]
    };
    life.asked(5_000, both(5_000)).asked(10_000, both(10_000));
    10_000
}

/// A waiter is in no table.
pub(super) fn missing_watch(life: &mut Life) -> i64 {
    queue(life);
    let all = [(10, 0), (11, 0), (12, 0)];
    life.asked(5_000, vec![one(5_000).connected(&all).watches(&[(FIRST, &[11]), ("/l", &[1])])]);
    5_000
}

/// A reader watches the writer that stands behind it.
pub(super) fn inversion(life: &mut Life) -> i64 {
    let reader = "/l/0f1e2d3c00004a4a8b8b0123456789ab__rlock__0000000001";
    let writer = "/l/2f1e2d3c00004a4a8b8b0123456789ab__lock__0000000002";
    life.tree(&format!("/l created=3\n{reader} owner=b data=reader\n{writer} owner=c data=writer"));
    let tables: [(&str, &[i64]); 2] = [(writer, &[11]), (reader, &[12])];
    life.asked(5_000, vec![one(5_000).connected(&[(11, 50), (12, 50)]).watches(&tables)]);
    5_000
}
