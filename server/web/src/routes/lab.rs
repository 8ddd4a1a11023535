//! Runs of the lab.

use axum::routing::{delete, get, post};
use lockscope_view::{FaultOrder, LabOrder, LabRun, LabRuns, LabStarted, ThrownFault};

use super::params::{RUN, query};
use super::replies::{TABLE, json, problem};
use super::{LAB, VIEW};
use crate::lab_api;
use crate::operation::{Content, Kind, Operation, Param, Reply, operation, shape};
use crate::route::{Verb, api};

const ONE_RUN: &[Param] = &[RUN];

const LOOK_AT_RUN: &[Param] = &[
    Param { text: "The run's name; with `.csv` behind it the answer is a table.", ..RUN },
    query("format", Kind::OneOf(|| vec!["json", "csv"]), "`csv` for a table, a line for each strategy."),
];

const NO_RUN: Reply = problem(404, "No run of that name is kept.");

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        summary: "Runs of the lab",
        replies: &[json(200, "The runs that are kept, newest first.", &[Content::Json(shape::<LabRuns>)])],
        ..operation("labRuns", api(Verb::Get, "/api/v1/lab/runs", VIEW, || get(lab_api::runs)))
    },
    Operation {
        summary: "Order a run of the lab",
        takes: Some(shape::<LabOrder>),
        text: "How much may be asked for is limited by the server's configuration; the sentence of a 422 names the limit.",
        replies: &[
            json(201, "It begins.", &[Content::Json(shape::<LabStarted>)]),
            problem(409, "The lab is off, or another run is under way."),
            problem(422, "The body is not what it should be, or asks for too much."),
        ],
        ..operation("startLabRun", api(Verb::Post, "/api/v1/lab/runs", LAB, || post(lab_api::start)))
    },
    Operation {
        summary: "One run",
        params: LOOK_AT_RUN,
        replies: &[json(200, "The run, as far as it is.", &[Content::Json(shape::<LabRun>), TABLE]), NO_RUN],
        ..operation("labRun", api(Verb::Get, "/api/v1/lab/runs/{id}", VIEW, || get(lab_api::run)))
    },
    Operation {
        summary: "Stop a run and remove what it made",
        params: ONE_RUN,
        replies: &[
            json(200, "It is over.", &[Content::Json(shape::<LabRun>)]),
            json(202, "It is being cleared.", &[Content::Json(shape::<LabRun>)]),
            NO_RUN,
        ],
        ..operation("stopLabRun", api(Verb::Delete, "/api/v1/lab/runs/{id}", LAB, || delete(lab_api::stop)))
    },
    Operation {
        summary: "Let something go wrong in a run",
        takes: Some(shape::<FaultOrder>),
        params: ONE_RUN,
        replies: &[
            json(200, "Thrown.", &[Content::Json(shape::<ThrownFault>)]),
            NO_RUN,
            problem(409, "It can't be thrown now."),
            problem(422, "The body is not what it should be, or the run has no such lane."),
        ],
        ..operation("throwFault", api(Verb::Post, "/api/v1/lab/runs/{id}/faults", LAB, || post(lab_api::throw)))
    },
];
