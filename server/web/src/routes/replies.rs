//! Answers that several operations have.

use crate::operation::{Content, Reply, shape};
use crate::release_api::{PlanJson, ResultJson};

pub(super) const TABLE: Content = Content::Text(crate::csv::MEDIA_TYPE);

pub(super) const fn json(status: u16, text: &'static str, content: &'static [Content]) -> Reply {
    Reply { status, text, content }
}

pub(super) const fn problem(status: u16, text: &'static str) -> Reply {
    Reply { status, text, content: &[Content::Problem] }
}

pub(super) const NOT_RELEASABLE: Reply =
    problem(409, "It can't be released, or not now: what is there is no contender, or a second person has to approve.");
pub(super) const NO_ZNODE: Reply = problem(404, "No contender is known at that path.");
pub(super) const TOO_MANY: Reply = problem(429, "Too many plans or requests; `Retry-After` says how long to wait.");
pub(super) const NO_PLAN: Reply = problem(404, "There is no such plan.");
pub(super) const NOT_CONFIRMED: Reply = problem(
    422,
    "The body is not what it should be, `confirm` is not the lock's path, or `reason` has not 3 to 500 characters.",
);
pub(super) const NO_RECORD: Reply =
    problem(503, "The record can't be read, or there is none (no data directory); or no answer was ready in time.");

pub(super) const NO_MOMENT: Reply =
    problem(404, "Nothing is kept of that moment; `nearest` has the kept moments before and after it.");
pub(super) const NO_HISTORY: Reply = problem(404, "No such ensemble, or nothing is recorded.");
pub(super) const TOO_LONG: Reply =
    problem(503, "It takes more than 5 s: the sentence names a range that would do; or the history can't be read now.");

pub(super) const NO_PREFERENCES: Reply =
    problem(404, "Nobody is signed in, or this server keeps nothing: the browser keeps them then.");

pub(super) const RESULTS: &[Reply] = &[
    json(
        200,
        "Done, and read back: `released`, or `released_other` when another incarnation of a fixed name went.",
        &[Content::Json(shape::<ResultJson>)],
    ),
    json(
        202,
        "Not settled: `asked` (it was asked to let go), or `unknown` (the reply of ZooKeeper was lost).",
        &[Content::Json(shape::<ResultJson>)],
    ),
    json(
        403,
        "`denied` by ZooKeeper; or, as a problem, the role or scope of who asks does not allow it.",
        &[Content::Json(shape::<ResultJson>), Content::Problem],
    ),
    NO_PLAN,
    json(
        409,
        "Nothing was deleted: `already_gone`, `changed_hands`, `version_moved` or `plan_expired`; or, as a problem, a second person has to approve first.",
        &[Content::Json(shape::<ResultJson>), Content::Problem],
    ),
    NOT_CONFIRMED,
    TOO_MANY,
    json(
        503,
        "Nothing was sent: `refused_audit` (it could not be recorded) or `not_live` (the view is not current); or, as a problem, nothing can be recorded here.",
        &[Content::Json(shape::<ResultJson>), Content::Problem],
    ),
];

pub(super) const PLANS: &[Reply] = &[
    json(200, "The plan.", &[Content::Json(shape::<PlanJson>)]),
    NO_ZNODE,
    NOT_RELEASABLE,
    TOO_MANY,
    problem(503, "The view is not live, or nothing can be recorded here; or no answer was ready in time."),
];

pub(super) const RELEASE_TEXT: &str = "Uses the plan up; sent again with the same plan, it is answered with the outcome it had. Read again and compared before anything is deleted; what can't be shown is not claimed.";
