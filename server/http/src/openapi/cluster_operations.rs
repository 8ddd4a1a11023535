//! The operation on the cluster.

use lockscope_wire::Cluster;

use super::operation::{Content, Operation, Reply, Tag, shape};
use super::operations::{act, look};
use super::replies::{json, problem};
use crate::handed_on::HandedOnRequest;
use crate::replica_request::ReplicaRequest;

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        text: "For other replicas alone, which prove to have the cluster's secret; its frames are no part of the API.",
        replies: &[
            Reply { status: 101, text: "The socket is open.", content: &[] },
            problem(403, "Whoever asks has another secret, means another replica, or has another time."),
            problem(404, "Whoever asks is no replica, or none may ask here."),
            problem(426, "The connection can't become a WebSocket."),
            problem(503, "Too many sockets are open, or the server is shutting down."),
        ],
        ..look("/api/v1/cluster/live", "replicaLive", Tag::Server, "The live socket of other replicas (WebSocket)")
    },
    Operation {
        text: "For other replicas alone, which prove to have the cluster's secret over the body that they send. The answer is that of the address that is asked for, which is one of those that only a replica that watches an ensemble can answer, or the audit log; it is proved as well.",
        replies: &[
            Reply { status: 200, text: "What is at the address, or why not, with its own status.", content: &[] },
            problem(400, "That is asked of no other replica."),
            problem(403, "Whoever asks has another secret, means another replica, or has another time."),
            problem(404, "Whoever asks is no replica, or none may ask here."),
            problem(503, "Too much is asked for at once, or the answer is too long."),
        ],
        ..act(
            "/api/v1/cluster/ask",
            "replicaAsk",
            Tag::Server,
            "What a replica asks of another",
            shape::<ReplicaRequest>,
        )
    },
    Operation {
        text: "For other replicas alone, which prove to have the cluster's secret over the body that they send; each request is taken once, and by the process that it was signed for. What is done is one of the acts on releases, or the answer is a file or a page of the past. It comes in pieces, each of them proved; the status of the answer itself is in the first.",
        replies: &[
            json(200, "What came of it, or why not, in pieces.", &[Content::Text(::cluster::PIECES_TYPE)]),
            problem(403, "Whoever asks has another secret, means another replica, or has another time."),
            problem(404, "Whoever asks is no replica, or none may ask here."),
            problem(503, "Too much is asked for."),
        ],
        ..act(
            "/api/v1/cluster/hand-on",
            "replicaHandOn",
            Tag::Server,
            "What a replica hands on to another",
            shape::<HandedOnRequest>,
        )
    },
    Operation {
        text: "Without `[cluster]` the state is `off` and there are no replicas. What is about ensembles is of those that may be seen.",
        replies: &[json(200, "The replicas, and where this one stands.", &[Content::Json(shape::<Cluster>)])],
        ..look("/api/v1/cluster", "cluster", Tag::Server, "Which servers watch the same, and who leads")
    },
];
