//! The operations of the lab, in the same table as the others.

use lockscope_view::{FaultOrder, LabOrder, LabRun, LabRuns, LabStarted, ThrownFault};

use super::operation::{Content, Operation, Tag, shape};
use super::operations::{TABLE, act, look};
use super::params;
use super::replies::{NO_RUN, json, problem};
use crate::route::Verb;

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        replies: &[json(200, "The runs that are kept, newest first.", &[Content::Json(shape::<LabRuns>)])],
        ..look("/api/v1/lab/runs", "labRuns", Tag::Lab, "Runs of the lab")
    },
    Operation {
        text: "How much may be asked for is limited by the server's configuration; the sentence of a 422 names the limit.",
        replies: &[
            json(201, "It begins.", &[Content::Json(shape::<LabStarted>)]),
            problem(409, "The lab is off, or another run is under way."),
            problem(422, "The body is not what it should be, or asks for too much."),
        ],
        ..act("/api/v1/lab/runs", "startLabRun", Tag::Lab, "Order a run of the lab", shape::<LabOrder>)
    },
    Operation {
        params: params::LOOK_AT_RUN,
        replies: &[json(200, "The run, as far as it is.", &[Content::Json(shape::<LabRun>), TABLE]), NO_RUN],
        ..look("/api/v1/lab/runs/{id}", "labRun", Tag::Lab, "One run")
    },
    Operation {
        verb: Verb::Delete,
        params: params::ONE_RUN,
        replies: &[
            json(200, "It is over.", &[Content::Json(shape::<LabRun>)]),
            json(202, "It is being cleared.", &[Content::Json(shape::<LabRun>)]),
            NO_RUN,
        ],
        ..look("/api/v1/lab/runs/{id}", "stopLabRun", Tag::Lab, "Stop a run and remove what it made")
    },
    Operation {
        params: params::ONE_RUN,
        replies: &[
            json(200, "Thrown.", &[Content::Json(shape::<ThrownFault>)]),
            NO_RUN,
            problem(409, "It can't be thrown now."),
            problem(422, "The body is not what it should be, or the run has no such lane."),
        ],
        ..act(
            "/api/v1/lab/runs/{id}/faults",
            "throwFault",
            Tag::Lab,
            "Let something go wrong in a run",
            shape::<FaultOrder>,
        )
    },
];
