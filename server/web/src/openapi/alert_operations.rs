//! The operations on alerts.

use lockscope_view::{Alert, Alerts, Silence};

use super::operation::{Content, Operation, Tag, shape};
use super::operations::{act, look};
use super::params;
use super::replies::{json, problem};
use crate::alerts::api::{AckOrder, SilenceOrder};
use crate::alerts::backtest::{BacktestJson, TestOrder};
use crate::route::Verb;

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
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
        ..look("/api/v1/alerts", "alerts", Tag::Alerts, "What fires, and what did")
    },
    Operation {
        text: "Recorded in the audit log. Whoever may not act everywhere names an ensemble and a path without stars.",
        replies: &[
            json(201, "Nobody is told of them from now on.", &[Content::Json(shape::<Silence>)]),
            problem(404, "Nothing is live here."),
            problem(409, "There are 200 silences already."),
            problem(422, "The body is not what it should be."),
            problem(503, "It can't be recorded in the audit log."),
        ],
        ..act(
            "/api/v1/alerts/silences",
            "silenceAlerts",
            Tag::Alerts,
            "Tell nobody of some alerts for a while",
            shape::<SilenceOrder>,
        )
    },
    Operation {
        verb: Verb::Delete,
        params: params::ONE_SILENCE,
        text: "Recorded in the audit log.",
        replies: &[
            json(200, "It has ended.", &[Content::Json(shape::<Silence>)]),
            problem(404, "There is no such silence, or it has ended."),
            problem(503, "It can't be recorded in the audit log."),
        ],
        ..look("/api/v1/alerts/silences/{id}", "endSilence", Tag::Alerts, "End a silence before its time")
    },
    Operation {
        text: "Recorded in the audit log. Receivers that repeat go on to be told.",
        replies: &[
            json(200, "Everybody sees who looks at it.", &[Content::Json(shape::<Alert>)]),
            problem(404, "There is no such alert, or it is over."),
            problem(422, "The body is not what it should be."),
            problem(503, "It can't be recorded in the audit log."),
        ],
        ..act(
            "/api/v1/alerts/ack",
            "acknowledgeAlert",
            Tag::Alerts,
            "Say that somebody looks at an alert",
            shape::<AckOrder>,
        )
    },
    Operation {
        text: "The same rules over what was recorded, replayed.",
        replies: &[
            json(200, "When it would have fired.", &[Content::Json(shape::<BacktestJson>)]),
            problem(404, "This server keeps no history, or there is no rule of that name."),
            problem(422, "The rule or the range is not what it should be."),
            problem(503, "It takes too long; the answer says which range would do."),
        ],
        ..act("/api/v1/alerts/test", "testAlertRule", Tag::Alerts, "When a rule would have fired", shape::<TestOrder>)
    },
];
