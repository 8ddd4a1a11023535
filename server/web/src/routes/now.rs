//! Locks, sessions and who waits for whom, as they are now or were at a moment.

use axum::routing::{delete, get, post};
use lockscope_view::{Events, Fleet, LockOrders, OrderSnooze, TimeToLock};

use super::replies::{NO_MOMENT, TABLE, json, problem};
use super::{RELEASE, VIEW, params};
use crate::api_sessions::{SessionDetail, SessionList, StatusAnswer, WaitsJson};
use crate::api_types::{LockDetail, Locks};
use crate::openapi::frames;
use crate::operation::{Content, Operation, Reply, operation, shape};
use crate::orders::snooze::SnoozeOrder;
use crate::route::{Verb, api};
use crate::{api, events, history, live, orders, server_pages};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        summary: "The server's own state",
        params: params::ONLY_AT,
        replies: &[
            json(
                200,
                "The server, its ensembles, their roots, and what members report.",
                &[Content::AtMoment(shape::<StatusAnswer>)],
            ),
            NO_MOMENT,
        ],
        ..operation("status", api(Verb::Get, "/api/v1/status", VIEW, || get(api::status)))
    },
    Operation {
        summary: "Ensembles at a glance, the worst first",
        text: "The worst comes first, then what is not live. An ensemble of which nothing may be seen is left out.",
        params: params::FLEET,
        replies: &[json(200, "A page of ensembles.", &[Content::Json(shape::<Fleet>)])],
        ..operation("fleet", api(Verb::Get, "/api/v1/fleet", VIEW, || get(server_pages::fleet::answer)))
    },
    Operation {
        summary: "Locks, most waiting time first",
        text: "`total` counts all that match; page through them with `offset`.",
        params: params::LOCKS,
        replies: &[json(200, "A page of locks.", &[Content::AtMoment(shape::<Locks>), TABLE]), NO_MOMENT],
        ..operation("locks", api(Verb::Get, "/api/v1/locks", VIEW, || get(api::locks)))
    },
    Operation {
        summary: "One lock with its queue",
        params: params::LOCK,
        replies: &[
            json(200, "The lock.", &[Content::AtMoment(shape::<LockDetail>), TABLE]),
            problem(
                404,
                "No lock is known there, or nothing is kept of that moment (`nearest` has the kept ones before and after it).",
            ),
        ],
        ..operation("lock", api(Verb::Get, "/api/v1/lock", VIEW, || get(api::lock)))
    },
    Operation {
        summary: "Who waits for whom, and deadlocks",
        text: "At most 300 sessions are nodes, those in deadlocks first; `left_out` counts the others. Only those that wait for a lock and those they wait for: standbys of an election, members, and items of a queue do not wait.",
        params: params::ONLY_AT,
        replies: &[json(200, "The graph.", &[Content::AtMoment(shape::<WaitsJson>)]), NO_MOMENT],
        ..operation("waits", api(Verb::Get, "/api/v1/waits", VIEW, || get(api::waits)))
    },
    Operation {
        summary: "In which order locks are taken, and deadlocks that may come",
        text: "Learned of what sessions did: at most 1,024 orders of each ensemble, those of the last 14 days. An order or a warning of which one class may not be seen is left out.",
        params: params::ORDERS,
        replies: &[
            json(200, "The orders, and what to warn of.", &[Content::AtMoment(shape::<LockOrders>)]),
            problem(
                404,
                "No such ensemble, or nothing is kept of that moment (`nearest` has the kept ones before and after it).",
            ),
        ],
        ..operation("orders", api(Verb::Get, "/api/v1/orders", VIEW, || get(orders::show)))
    },
    Operation {
        summary: "How long the waiters of a lock still have to wait",
        text: "The central 80 % of what each wait may still take, by its place, by how long the holder holds, and by this lock's own holds; with how often such times were right, told of recorded waits when each began.",
        params: params::TIME_TO_LOCK,
        replies: &[
            json(200, "How long its waiters still have to wait.", &[Content::Json(shape::<TimeToLock>)]),
            problem(
                404,
                "No lock is known there, or nothing is kept of that moment (`nearest` has the kept ones before and after it).",
            ),
            problem(503, "It takes too long to read what was recorded."),
        ],
        ..operation("time_to_lock", api(Verb::Get, "/api/v1/time-to-lock", VIEW, || get(history::time_to_lock::show)))
    },
    Operation {
        summary: "Sessions that own znodes under the roots",
        params: params::SESSIONS,
        text: "With `group` the answer has groups in place of sessions; `host` and `application` lead to the sessions of one.",
        replies: &[json(200, "A page of sessions.", &[Content::AtMoment(shape::<SessionList>), TABLE]), NO_MOMENT],
        ..operation("sessions", api(Verb::Get, "/api/v1/sessions", VIEW, || get(api::sessions)))
    },
    Operation {
        summary: "One session: what it holds, waits for and did",
        params: params::SESSION,
        replies: &[
            json(200, "The session.", &[Content::AtMoment(shape::<SessionDetail>)]),
            problem(
                404,
                "Nothing is known of it, or nothing is kept of that moment (`nearest` has the kept ones before and after it).",
            ),
        ],
        ..operation("session", api(Verb::Get, "/api/v1/session", VIEW, || get(api::session)))
    },
    Operation {
        summary: "What happened lately",
        text: "Without `after` the newest, else those that came next: ask again with `next_after`. Some 8,000 of each ensemble are kept in memory; what was there when the server first looked is none.",
        params: params::EVENTS,
        replies: &[
            json(200, "What happened, in order.", &[Content::Json(shape::<Events>)]),
            problem(404, "No such ensemble."),
        ],
        ..operation("events", api(Verb::Get, "/api/v1/events", VIEW, || get(events::events)))
    },
    Operation {
        summary: "Silence a warning of lock orders",
        takes: Some(shape::<SnoozeOrder>),
        text: "Recorded in the audit log, and kept over a restart. Only of this warning, and only by whoever may release at all of its classes.",
        replies: &[
            json(201, "The warning is silenced from now on.", &[Content::Json(shape::<OrderSnooze>)]),
            problem(404, "There is no warning of these classes, or nothing is live here."),
            problem(409, "It is snoozed already, or 64 warnings are."),
            problem(422, "The body is not what it should be."),
            problem(503, "It can't be recorded in the audit log, or stored."),
        ],
        ..operation("snoozeOrder", api(Verb::Post, "/api/v1/orders/snooze", RELEASE, || post(orders::snooze::snooze)))
    },
    Operation {
        summary: "End a snooze before its time",
        params: params::ONE_SNOOZE,
        text: "Recorded in the audit log.",
        replies: &[
            json(200, "It has ended.", &[Content::Json(shape::<OrderSnooze>)]),
            problem(404, "There is no such snooze, or it has ended."),
            problem(503, "It can't be recorded in the audit log, or stored."),
        ],
        ..operation(
            "endOrderSnooze",
            api(Verb::Delete, "/api/v1/orders/snooze/{id}", RELEASE, || delete(orders::snooze::end)),
        )
    },
];

/// The same as a stream.
pub(super) const LIVE: &[Operation] = &[Operation {
    summary: "The live socket (WebSocket)",
    text: frames::TEXT,
    replies: &[
        Reply { status: 101, text: "The socket is open; `hello` is the first frame.", content: &[] },
        problem(426, "The connection can't become a WebSocket."),
        problem(503, "Too many sockets are open, or the server is shutting down."),
    ],
    ..operation("live", api(Verb::Get, "/api/v1/live", VIEW, || get(live::live)).polled())
}];
