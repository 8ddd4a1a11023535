//! The operations on warnings of lock orders.

use lockscope_view::OrderSnooze;

use super::operation::{Content, Operation, Tag, shape};
use super::operations::{act, look};
use super::params;
use super::replies::{json, problem};
use crate::orders::snooze::SnoozeOrder;
use crate::route::Verb;

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        text: "Recorded in the audit log, and kept over a restart. Only of this warning, and only by whoever may release at all of its classes.",
        replies: &[
            json(201, "The warning is silenced from now on.", &[Content::Json(shape::<OrderSnooze>)]),
            problem(404, "There is no warning of these classes, or nothing is live here."),
            problem(409, "It is snoozed already, or 64 warnings are."),
            problem(422, "The body is not what it should be."),
            problem(503, "It can't be recorded in the audit log, or stored."),
        ],
        ..act(
            "/api/v1/orders/snooze",
            "snoozeOrder",
            Tag::Look,
            "Silence a warning of lock orders",
            shape::<SnoozeOrder>,
        )
    },
    Operation {
        verb: Verb::Delete,
        params: params::ONE_SNOOZE,
        text: "Recorded in the audit log.",
        replies: &[
            json(200, "It has ended.", &[Content::Json(shape::<OrderSnooze>)]),
            problem(404, "There is no such snooze, or it has ended."),
            problem(503, "It can't be recorded in the audit log, or stored."),
        ],
        ..look("/api/v1/orders/snooze/{id}", "endOrderSnooze", Tag::Look, "End a snooze before its time")
    },
];
