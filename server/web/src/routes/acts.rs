//! What changes something: releases, silences and acknowledgements; and the log of it.

use axum::routing::{delete, get, post};
use lockscope_view::api::Backtest;
use lockscope_view::{Alert, Alerts, AuditPage, PlanRequest, ReleaseOrder, Silence};

use super::replies::{
    NO_PLAN, NO_RECORD, NOT_CONFIRMED, NOT_RELEASABLE, PLANS, RELEASE_TEXT, RESULTS, TOO_MANY, json, problem,
};
use super::{AUDIT, RELEASE, VIEW, params};
use crate::alerts::api::{AckOrder, SilenceOrder};
use crate::alerts::backtest::TestOrder;
use crate::operation::{Content, Operation, operation, shape};
use crate::release_api::PlanJson;
use crate::route::{Verb, act, api};
use crate::{alerts, audit_api, release_api};

pub(super) const RELEASES: &[Operation] = &[
    Operation {
        summary: "Plan the release of a znode",
        takes: Some(shape::<PlanRequest>),
        text: "A plan is good for one request by its planner, within a minute.",
        replies: PLANS,
        ..operation(
            "planRelease",
            api(Verb::Post, "/api/v1/release/plan", RELEASE, || post(release_api::plan)).secret(),
        )
    },
    Operation {
        summary: "Release what was planned",
        takes: Some(shape::<ReleaseOrder>),
        text: RELEASE_TEXT,
        replies: RESULTS,
        ..operation("executeRelease", act("/api/v1/release/execute", RELEASE, || post(release_api::execute)))
    },
    Operation {
        summary: "Ask the holder that was planned for to let go",
        takes: Some(shape::<ReleaseOrder>),
        text: "Only where the plan says `can_revoke`. Uses the plan up.",
        replies: RESULTS,
        ..operation("revoke", act("/api/v1/release/revoke", RELEASE, || post(release_api::revoke)))
    },
    Operation {
        summary: "Approve somebody else's plan",
        takes: Some(shape::<ReleaseOrder>),
        text: "Where the server requires a second approver; the planner can execute the plan then.",
        replies: &[
            json(200, "The plan, approved.", &[Content::Json(shape::<PlanJson>)]),
            NO_PLAN,
            NOT_RELEASABLE,
            NOT_CONFIRMED,
            TOO_MANY,
            problem(503, "Nothing can be recorded here; or no answer was ready in time."),
        ],
        ..operation(
            "approveRelease",
            api(Verb::Post, "/api/v1/release/approve", RELEASE, || post(release_api::approve)).secret(),
        )
    },
];

pub(super) const ALERTS: &[Operation] = &[
    Operation {
        summary: "What fires, and what did",
        text: "Silences and rules are those that may be seen; receivers are listed for whoever may release.",
        params: params::ALERTS,
        replies: &[
            json(
                200,
                "What fires, worst first; what is pending; what is over, newest first.",
                &[Content::Json(shape::<Alerts>)],
            ),
            problem(404, "Nothing is live here."),
        ],
        ..operation("alerts", api(Verb::Get, "/api/v1/alerts", VIEW, || get(alerts::api::show)).polled())
    },
    Operation {
        summary: "Tell nobody of some alerts for a while",
        takes: Some(shape::<SilenceOrder>),
        text: "Recorded in the audit log. Whoever may not act everywhere names an ensemble and a path without stars.",
        replies: &[
            json(201, "Nobody is told of them from now on.", &[Content::Json(shape::<Silence>)]),
            problem(404, "Nothing is live here."),
            problem(409, "There are 200 silences already."),
            problem(422, "The body is not what it should be."),
            problem(503, "It can't be recorded in the audit log."),
        ],
        ..operation("silenceAlerts", api(Verb::Post, "/api/v1/alerts/silences", RELEASE, || post(alerts::api::silence)))
    },
    Operation {
        summary: "End a silence before its time",
        params: params::ONE_SILENCE,
        text: "Recorded in the audit log.",
        replies: &[
            json(200, "It has ended.", &[Content::Json(shape::<Silence>)]),
            problem(404, "There is no such silence, or it has ended."),
            problem(503, "It can't be recorded in the audit log."),
        ],
        ..operation(
            "endSilence",
            api(Verb::Delete, "/api/v1/alerts/silences/{id}", RELEASE, || delete(alerts::api::end_silence)),
        )
    },
    Operation {
        summary: "Say that somebody looks at an alert",
        takes: Some(shape::<AckOrder>),
        text: "Recorded in the audit log. Receivers that repeat go on to be told.",
        replies: &[
            json(200, "Everybody sees who looks at it.", &[Content::Json(shape::<Alert>)]),
            problem(404, "There is no such alert, or it is over."),
            problem(422, "The body is not what it should be."),
            problem(503, "It can't be recorded in the audit log."),
        ],
        ..operation(
            "acknowledgeAlert",
            api(Verb::Post, "/api/v1/alerts/ack", RELEASE, || post(alerts::api::acknowledge)),
        )
    },
    Operation {
        summary: "When a rule would have fired",
        takes: Some(shape::<TestOrder>),
        text: "The same rules over what was recorded, replayed.",
        replies: &[
            json(200, "When it would have fired.", &[Content::Json(shape::<Backtest>)]),
            problem(404, "This server keeps no history, or there is no rule of that name."),
            problem(422, "The rule or the range is not what it should be."),
            problem(503, "It takes too long; the answer says which range would do."),
        ],
        ..operation("testAlertRule", api(Verb::Post, "/api/v1/alerts/test", VIEW, || post(alerts::backtest::test)))
    },
];

pub(super) const LOG: &[Operation] = &[
    Operation {
        summary: "The audit log",
        text: "What is inside the scope of whoever asks, newest first. `next_before` leads to older ones.",
        params: params::AUDIT,
        replies: &[json(200, "A page of records.", &[Content::Json(shape::<AuditPage>)]), NO_RECORD],
        ..operation("audit", api(Verb::Get, "/api/v1/audit", AUDIT, || get(audit_api::page)))
    },
    Operation {
        summary: "The whole audit log",
        text: "All of it or nothing, because a part can't be verified; who has a scope is refused with 403.",
        replies: &[
            json(
                200,
                "A record a line, each with the hash of the one before.",
                &[Content::Text("application/x-ndjson")],
            ),
            NO_RECORD,
        ],
        ..operation("exportAudit", api(Verb::Get, "/api/v1/audit/export", AUDIT, || get(audit_api::export)))
    },
];
