//! What was recorded.

use axum::routing::get;
use lockscope_view::api::KeptHistory;
use lockscope_view::past::{Blame, Diff, Differs, Holds, Incidents, LockOverTime, Marks, OneIncident};

use super::replies::{NO_HISTORY, TABLE, TOO_LONG, json, problem};
use super::{VIEW, params};
use crate::history;
use crate::operation::{Content, Operation, operation, shape};
use crate::route::{Verb, api};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        summary: "What is kept of the past",
        text: "What is kept is what was observed: any moment of it can be asked for with `at`.",
        params: params::HISTORY,
        replies: &[
            json(200, "What is kept, what is missing in it, and why.", &[Content::Json(shape::<KeptHistory>)]),
            problem(404, "No such ensemble."),
        ],
        ..operation("history", api(Verb::Get, "/api/v1/history", VIEW, || get(history::show)))
    },
    Operation {
        summary: "How much happened when, and what stands out",
        text: "A minute in which nothing happened has no bucket. A verdict is a mark where something is wrong before it or after it.",
        params: params::MARKS,
        replies: &[json(200, "Buckets and marks.", &[Content::Json(shape::<Marks>)]), NO_HISTORY, TOO_LONG],
        ..operation("historyMarks", api(Verb::Get, "/api/v1/history/marks", VIEW, || get(history::marks::show)))
    },
    Operation {
        summary: "Who held and who waited, newest first",
        text: "On a busy lock those that waited for less than 50 ms and held as long as usual are left out beyond 600 a minute; minutes have all.",
        params: params::HOLDS,
        replies: &[json(200, "Lives of contenders.", &[Content::Json(shape::<Holds>)]), NO_HISTORY, TOO_LONG],
        ..operation("historyHolds", api(Verb::Get, "/api/v1/history/holds", VIEW, || get(history::holds::show)))
    },
    Operation {
        summary: "Whose fault waits were",
        text: "Of waits of contenders that left in the range. Every millisecond is charged once: to who held, to nobody (a hand-off), or not known.",
        params: params::BLAME,
        replies: &[json(200, "Who is charged.", &[Content::Json(shape::<Blame>), TABLE]), NO_HISTORY, TOO_LONG],
        ..operation("historyBlame", api(Verb::Get, "/api/v1/history/blame", VIEW, || get(history::blame::show)))
    },
    Operation {
        summary: "When something was wrong, because of whom",
        text: "Runs of unhealthy verdicts, and of findings by which somebody is hurt. Those that overlap in time are one incident where a session that holds one of the locks holds or waits for the other; trouble that comes back within a minute was not over.",
        params: params::INCIDENTS,
        replies: &[json(200, "Incidents.", &[Content::Json(shape::<Incidents>), TABLE]), NO_HISTORY, TOO_LONG],
        ..operation("incidents", api(Verb::Get, "/api/v1/incidents", VIEW, || get(history::incidents::show)))
    },
    Operation {
        summary: "One incident, and who held or waited",
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
        ..operation("incident", api(Verb::Get, "/api/v1/incident", VIEW, || get(history::one_incident::show_one)))
    },
    Operation {
        summary: "Two moments compared",
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
        ..operation("historyDiff", api(Verb::Get, "/api/v1/history/diff", VIEW, || get(history::diff::show)))
    },
    Operation {
        summary: "How some waits differ from the rest",
        text: "Of waits of contenders that joined in the range, and left. For each dimension, shares among the selected waits are held against shares among the rest.",
        params: params::DIFFERS,
        replies: &[json(200, "How they differ.", &[Content::Json(shape::<Differs>), TABLE]), NO_HISTORY, TOO_LONG],
        ..operation("historyDiffers", api(Verb::Get, "/api/v1/history/differs", VIEW, || get(history::differs::show)))
    },
    Operation {
        summary: "Who held and who waited, as a file",
        text: "The newest first. At most 50,000, and 32 MiB of names: beyond that 400 says which range would do. At most 8 such files are made or sent at once, 4 of one person; what is not taken within ten minutes is cut. `format=sqlite` gives an SQLite database of at most 512 MiB, one at a \
               time: changes, gaps and what is derived of them for whoever may see all of the ensemble with payloads and names no `path`, else what is derived alone.",
        params: params::EXPORT,
        replies: &[
            json(200, "A file.", &[TABLE, Content::Trace, Content::Text("application/vnd.sqlite3")]),
            NO_HISTORY,
            TOO_LONG,
        ],
        ..operation(
            "historyExport",
            api(Verb::Get, "/api/v1/history/export", VIEW, || get(history::export::show)).bounding_itself(),
        )
    },
    Operation {
        summary: "A lock over time",
        text: "Percentiles are at most an eighth above the truth.",
        params: params::LOCK_OVER_TIME,
        replies: &[
            json(200, "The lock, point by point.", &[Content::Json(shape::<LockOverTime>)]),
            NO_HISTORY,
            TOO_LONG,
        ],
        ..operation("historyLock", api(Verb::Get, "/api/v1/history/lock", VIEW, || get(history::over_time::show)))
    },
];
