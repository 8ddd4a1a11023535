//! The table of operations: one for each route of the API, and no other. A test holds it against the table of routes.

use lockscope_view::{
    AuditPage, Events, Fleet, LockOrders, Person, PlanRequest, Preferences, ReleaseOrder, TimeToLock,
};

use lockscope_view::past::{Blame, Diff, Differs, Holds, Incidents, LockOverTime, Marks, OneIncident};

use super::operation::{Content, Operation, Reply, Shape, Tag, shape};
use super::params;
use super::replies::{
    NO_HISTORY, NO_MOMENT, NO_PLAN, NO_PREFERENCES, NO_RECORD, NOT_CONFIRMED, NOT_RELEASABLE, PLANS, RELEASE_TEXT,
    RESULTS, TOO_LONG, TOO_MANY, json, problem,
};
use crate::api_sessions::{SessionDetail, SessionList, StatusAnswer, WaitsJson};
use crate::api_types::{LockDetail, Locks};
use crate::csv;
use crate::history::HistoryJson;
use crate::release_api::PlanJson;
use crate::route::Verb;

/// The same as a table.
pub(super) const TABLE: Content = Content::Text(csv::MEDIA_TYPE);

/// Something to look at.
pub(super) const fn look(path: &'static str, id: &'static str, tag: Tag, summary: &'static str) -> Operation {
    Operation { verb: Verb::Get, path, id, tag, summary, text: "", params: &[], takes: None, replies: &[] }
}

/// Something to do.
pub(super) const fn act(
    path: &'static str,
    id: &'static str,
    tag: Tag,
    summary: &'static str,
    takes: Shape,
) -> Operation {
    Operation { verb: Verb::Post, path, id, tag, summary, text: "", params: &[], takes: Some(takes), replies: &[] }
}

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        text: "Answers to any host name, for probes.",
        replies: &[json(200, "`alive`", &[Content::Text("text/plain; charset=utf-8")])],
        ..look("/healthz", "healthz", Tag::Server, "Whether the process lives")
    },
    Operation {
        text: "Answers to any host name, for probes.",
        replies: &[
            json(200, "`ready`", &[Content::Text("text/plain; charset=utf-8")]),
            problem(503, "A root is still in its first sync, or the server is shutting down."),
        ],
        ..look("/readyz", "readyz", Tag::Server, "Whether every root left its first sync")
    },
    Operation {
        replies: &[json(
            200,
            "Prometheus text format 0.0.4, every name with the prefix `lockscope_`.",
            &[Content::Text("text/plain; version=0.0.4; charset=utf-8")],
        )],
        ..look("/metrics", "metrics", Tag::Server, "Metrics")
    },
    Operation {
        text: "Needs no authentication: it exposes nothing about any lock.",
        replies: &[json(200, "OpenAPI 3.1.", &[Content::Document])],
        ..look("/api/v1/openapi.json", "openapi", Tag::Server, "This document")
    },
    Operation {
        params: params::ONLY_AT,
        replies: &[
            json(
                200,
                "The server, its ensembles, their roots, and what members report.",
                &[Content::AtMoment(shape::<StatusAnswer>)],
            ),
            NO_MOMENT,
        ],
        ..look("/api/v1/status", "status", Tag::Look, "The server's own state")
    },
    Operation {
        text: "The worst comes first, then what is not live. An ensemble of which nothing may be seen is left out.",
        params: params::FLEET,
        replies: &[json(200, "A page of ensembles.", &[Content::Json(shape::<Fleet>)])],
        ..look("/api/v1/fleet", "fleet", Tag::Look, "Ensembles at a glance, the worst first")
    },
    Operation {
        text: "`total` counts all that match; page through them with `offset`.",
        params: params::LOCKS,
        replies: &[json(200, "A page of locks.", &[Content::AtMoment(shape::<Locks>), TABLE]), NO_MOMENT],
        ..look("/api/v1/locks", "locks", Tag::Look, "Locks, most waiting time first")
    },
    Operation {
        params: params::LOCK,
        replies: &[
            json(200, "The lock.", &[Content::AtMoment(shape::<LockDetail>), TABLE]),
            problem(
                404,
                "No lock is known there, or nothing is kept of that moment (`nearest` has the kept ones before and after it).",
            ),
        ],
        ..look("/api/v1/lock", "lock", Tag::Look, "One lock with its queue")
    },
    Operation {
        text: "At most 300 sessions are nodes, those in deadlocks first; `left_out` counts the others. Only those that wait for a lock and those they wait for: standbys of an election, members, and items of a queue do not wait.",
        params: params::ONLY_AT,
        replies: &[json(200, "The graph.", &[Content::AtMoment(shape::<WaitsJson>)]), NO_MOMENT],
        ..look("/api/v1/waits", "waits", Tag::Look, "Who waits for whom, and deadlocks")
    },
    Operation {
        text: "Learned of what sessions did: at most 1,024 orders of each ensemble, those of the last 14 days. An order or a warning of which one class may not be seen is left out.",
        params: params::ORDERS,
        replies: &[
            json(200, "The orders, and what to warn of.", &[Content::AtMoment(shape::<LockOrders>)]),
            problem(
                404,
                "No such ensemble, or nothing is kept of that moment (`nearest` has the kept ones before and after it).",
            ),
        ],
        ..look("/api/v1/orders", "orders", Tag::Look, "In which order locks are taken, and deadlocks that may come")
    },
    Operation {
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
        ..look("/api/v1/time-to-lock", "time_to_lock", Tag::Look, "How long the waiters of a lock still have to wait")
    },
    Operation {
        params: params::SESSIONS,
        text: "With `group` the answer has groups in place of sessions; `host` and `application` lead to the sessions of one.",
        replies: &[json(200, "A page of sessions.", &[Content::AtMoment(shape::<SessionList>), TABLE]), NO_MOMENT],
        ..look("/api/v1/sessions", "sessions", Tag::Look, "Sessions that own znodes under the roots")
    },
    Operation {
        params: params::SESSION,
        replies: &[
            json(200, "The session.", &[Content::AtMoment(shape::<SessionDetail>)]),
            problem(
                404,
                "Nothing is known of it, or nothing is kept of that moment (`nearest` has the kept ones before and after it).",
            ),
        ],
        ..look("/api/v1/session", "session", Tag::Look, "One session: what it holds, waits for and did")
    },
    Operation {
        text: "Without `after` the newest, else those that came next: ask again with `next_after`. Some 8,000 of each ensemble are kept in memory; what was there when the server first looked is none.",
        params: params::EVENTS,
        replies: &[
            json(200, "What happened, in order.", &[Content::Json(shape::<Events>)]),
            problem(404, "No such ensemble."),
        ],
        ..look("/api/v1/events", "events", Tag::Look, "What happened lately")
    },
    Operation {
        text: "What is kept is what was observed: any moment of it can be asked for with `at`.",
        params: params::HISTORY,
        replies: &[
            json(200, "What is kept, what is missing in it, and why.", &[Content::Json(shape::<HistoryJson>)]),
            problem(404, "No such ensemble."),
        ],
        ..look("/api/v1/history", "history", Tag::Look, "What is kept of the past")
    },
    Operation {
        text: "A minute in which nothing happened has no bucket. A verdict is a mark where something is wrong before it or after it.",
        params: params::MARKS,
        replies: &[json(200, "Buckets and marks.", &[Content::Json(shape::<Marks>)]), NO_HISTORY, TOO_LONG],
        ..look("/api/v1/history/marks", "historyMarks", Tag::Look, "How much happened when, and what stands out")
    },
    Operation {
        text: "On a busy lock those that waited for less than 50 ms and held as long as usual are left out beyond 600 a minute; minutes have all.",
        params: params::HOLDS,
        replies: &[json(200, "Lives of contenders.", &[Content::Json(shape::<Holds>)]), NO_HISTORY, TOO_LONG],
        ..look("/api/v1/history/holds", "historyHolds", Tag::Look, "Who held and who waited, newest first")
    },
    Operation {
        text: "Of waits of contenders that left in the range. Every millisecond is charged once: to who held, to nobody (a hand-off), or not known.",
        params: params::BLAME,
        replies: &[json(200, "Who is charged.", &[Content::Json(shape::<Blame>), TABLE]), NO_HISTORY, TOO_LONG],
        ..look("/api/v1/history/blame", "historyBlame", Tag::Look, "Whose fault waits were")
    },
    Operation {
        text: "Runs of unhealthy verdicts, and of findings by which somebody is hurt. Those that overlap in time are one incident where a session that holds one of the locks holds or waits for the other; trouble that comes back within a minute was not over.",
        params: params::INCIDENTS,
        replies: &[json(200, "Incidents.", &[Content::Json(shape::<Incidents>), TABLE]), NO_HISTORY, TOO_LONG],
        ..look("/api/v1/incidents", "incidents", Tag::Look, "When something was wrong, because of whom")
    },
    Operation {
        params: params::INCIDENT,
        replies: &[
            json(
                200,
                "The incident.",
                &[Content::Json(shape::<OneIncident>), Content::Text("text/markdown; charset=utf-8")],
            ),
            problem(
                404,
                "No such ensemble, no history, or no incident of that id, or at that moment, that is kept and may be seen.",
            ),
            TOO_LONG,
        ],
        ..look("/api/v1/incident", "incident", Tag::Look, "One incident, and who held or waited")
    },
    Operation {
        text: "States are compared: who came and went in between is in neither. Of each kind there are at most 1,000 rows.",
        params: params::DIFF,
        replies: &[
            json(200, "What differs.", &[Content::Json(shape::<Diff>)]),
            problem(
                404,
                "No such ensemble, no history, or nothing is kept of one of the moments (`nearest` has the kept ones before and after it).",
            ),
            TOO_LONG,
        ],
        ..look("/api/v1/history/diff", "historyDiff", Tag::Look, "Two moments compared")
    },
    Operation {
        text: "Of waits of contenders that joined in the range, and left. For each dimension, shares among the selected waits are held against shares among the rest.",
        params: params::DIFFERS,
        replies: &[json(200, "How they differ.", &[Content::Json(shape::<Differs>), TABLE]), NO_HISTORY, TOO_LONG],
        ..look("/api/v1/history/differs", "historyDiffers", Tag::Look, "How some waits differ from the rest")
    },
    Operation {
        text: "The newest first. At most 50,000, and 32 MiB of names: beyond that 400 says which range would do. At most 8 such files are made or sent at once, 4 of one person; what is not taken within ten minutes is cut. `format=sqlite` gives an SQLite database of at most 512 MiB, one at a \
               time: changes, gaps and what is derived of them for whoever may see all of the ensemble with payloads and names no `path`, else what is derived alone.",
        params: params::EXPORT,
        replies: &[
            json(200, "A file.", &[TABLE, Content::Trace, Content::Text("application/vnd.sqlite3")]),
            NO_HISTORY,
            TOO_LONG,
        ],
        ..look("/api/v1/history/export", "historyExport", Tag::Look, "Who held and who waited, as a file")
    },
    Operation {
        text: "Percentiles are at most an eighth above the truth.",
        params: params::LOCK_OVER_TIME,
        replies: &[
            json(200, "The lock, point by point.", &[Content::Json(shape::<LockOverTime>)]),
            NO_HISTORY,
            TOO_LONG,
        ],
        ..look("/api/v1/history/lock", "historyLock", Tag::Look, "A lock over time")
    },
    Operation {
        replies: &[json(200, "Who asks, as the server sees them.", &[Content::Json(shape::<Person>)])],
        ..look("/api/v1/me", "me", Tag::Server, "Who I am")
    },
    Operation {
        text: "Kept by name and way of signing in, for nobody else to see. Removed with the account, and when nobody used them for 400 days.",
        replies: &[
            json(200, "What is kept; revision 0 where nothing is.", &[Content::Json(shape::<Preferences>)]),
            NO_PREFERENCES,
        ],
        ..look("/api/v1/preferences", "preferences", Tag::Server, "My pins and saved views")
    },
    Operation {
        verb: Verb::Put,
        text: "All of them, with the `revision` that was read: what another page changed meanwhile is never overwritten.",
        replies: &[
            json(200, "They are kept, under a new revision.", &[Content::Json(shape::<Preferences>)]),
            NO_PREFERENCES,
            problem(409, "They were changed meanwhile: read them again, and change those."),
            problem(422, "The body is not what it should be, or there is too much of it."),
            problem(429, "Too many changes; `Retry-After` says how long to wait."),
            problem(503, "They can't be kept now."),
        ],
        ..act("/api/v1/preferences", "setPreferences", Tag::Server, "Keep pins and saved views", shape::<Preferences>)
    },
    Operation {
        text: super::frames::TEXT,
        replies: &[
            Reply { status: 101, text: "The socket is open; `hello` is the first frame.", content: &[] },
            problem(426, "The connection can't become a WebSocket."),
            problem(503, "Too many sockets are open, or the server is shutting down."),
        ],
        ..look("/api/v1/live", "live", Tag::Live, "The live socket (WebSocket)")
    },
    Operation {
        text: "A plan is good for one request by its planner, within a minute.",
        replies: PLANS,
        ..act("/api/v1/release/plan", "planRelease", Tag::Release, "Plan the release of a znode", shape::<PlanRequest>)
    },
    Operation {
        text: RELEASE_TEXT,
        replies: RESULTS,
        ..act(
            "/api/v1/release/execute",
            "executeRelease",
            Tag::Release,
            "Release what was planned",
            shape::<ReleaseOrder>,
        )
    },
    Operation {
        text: "Only where the plan says `can_revoke`. Uses the plan up.",
        replies: RESULTS,
        ..act(
            "/api/v1/release/revoke",
            "revoke",
            Tag::Release,
            "Ask the holder that was planned for to let go",
            shape::<ReleaseOrder>,
        )
    },
    Operation {
        text: "Where the server requires a second approver; the planner can execute the plan then.",
        replies: &[
            json(200, "The plan, approved.", &[Content::Json(shape::<PlanJson>)]),
            NO_PLAN,
            NOT_RELEASABLE,
            NOT_CONFIRMED,
            TOO_MANY,
            problem(503, "Nothing can be recorded here; or no answer was ready in time."),
        ],
        ..act(
            "/api/v1/release/approve",
            "approveRelease",
            Tag::Release,
            "Approve somebody else's plan",
            shape::<ReleaseOrder>,
        )
    },
    Operation {
        text: "What is inside the scope of whoever asks, newest first. `next_before` leads to older ones.",
        params: params::AUDIT,
        replies: &[json(200, "A page of records.", &[Content::Json(shape::<AuditPage>)]), NO_RECORD],
        ..look("/api/v1/audit", "audit", Tag::Audit, "The audit log")
    },
    Operation {
        text: "All of it or nothing, because a part can't be verified; who has a scope is refused with 403.",
        replies: &[
            json(
                200,
                "A record a line, each with the hash of the one before.",
                &[Content::Text("application/x-ndjson")],
            ),
            NO_RECORD,
        ],
        ..look("/api/v1/audit/export", "exportAudit", Tag::Audit, "The whole audit log")
    },
];
