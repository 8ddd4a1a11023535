//! What is asked of the server itself.

use axum::routing::{get, put};
use lockscope_view::{Cluster, Person, Preferences};

use super::VIEW;
use super::replies::{NO_PREFERENCES, json, problem};
use crate::operation::{Content, Operation, operation, shape};
use crate::route::{Need, Verb, api};
use crate::{cluster, health, me, metrics_api, openapi, preferences_api};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        summary: "Whether the process lives",
        text: "Answers to any host name, for probes.",
        replies: &[json(200, "`alive`", &[Content::Text("text/plain; charset=utf-8")])],
        ..operation("healthz", api(Verb::Get, "/healthz", Need::Open, || get(health::healthz)).probe())
    },
    Operation {
        summary: "Whether every root left its first sync",
        text: "Answers to any host name, for probes.",
        replies: &[
            json(200, "`ready`", &[Content::Text("text/plain; charset=utf-8")]),
            problem(503, "A root is still in its first sync, or the server is shutting down."),
        ],
        ..operation("readyz", api(Verb::Get, "/readyz", Need::Open, || get(health::readyz)).probe())
    },
    Operation {
        summary: "Metrics",
        replies: &[json(
            200,
            "Prometheus text format 0.0.4, every name with the prefix `lockscope_`.",
            &[Content::Text("text/plain; version=0.0.4; charset=utf-8")],
        )],
        ..operation("metrics", api(Verb::Get, "/metrics", VIEW, || get(metrics_api::metrics)))
    },
    Operation {
        summary: "This document",
        text: "Needs no authentication: it exposes nothing about any lock.",
        replies: &[json(200, "OpenAPI 3.1.", &[Content::Document])],
        ..operation("openapi", api(Verb::Get, "/api/v1/openapi.json", Need::Open, || get(openapi::document)))
    },
    Operation {
        summary: "Who I am",
        replies: &[json(200, "Who asks, as the server sees them.", &[Content::Json(shape::<Person>)])],
        ..operation("me", api(Verb::Get, "/api/v1/me", VIEW, || get(me::me)))
    },
    Operation {
        summary: "My pins and saved views",
        text: "Kept by name and way of signing in, for nobody else to see. Removed with the account, and when nobody used them for 400 days.",
        replies: &[
            json(200, "What is kept; revision 0 where nothing is.", &[Content::Json(shape::<Preferences>)]),
            NO_PREFERENCES,
        ],
        ..operation("preferences", api(Verb::Get, "/api/v1/preferences", VIEW, || get(preferences_api::show)))
    },
    Operation {
        summary: "Keep pins and saved views",
        takes: Some(shape::<Preferences>),
        text: "All of them, with the `revision` that was read: what another page changed meanwhile is never overwritten.",
        replies: &[
            json(200, "They are kept, under a new revision.", &[Content::Json(shape::<Preferences>)]),
            NO_PREFERENCES,
            problem(409, "They were changed meanwhile: read them again, and change those."),
            problem(422, "The body is not what it should be, or there is too much of it."),
            problem(429, "Too many changes; `Retry-After` says how long to wait."),
            problem(503, "They can't be kept now."),
        ],
        ..operation("setPreferences", api(Verb::Put, "/api/v1/preferences", VIEW, || put(preferences_api::replace)))
    },
    Operation {
        summary: "Which servers watch the same, and who leads",
        text: "Without `[cluster]` the state is `off` and there are no replicas.",
        replies: &[json(200, "The replicas, and where this one stands.", &[Content::Json(shape::<Cluster>)])],
        ..operation("cluster", api(Verb::Get, "/api/v1/cluster", VIEW, || get(cluster::show)))
    },
];
