//! The operation on the cluster.

use lockscope_wire::Cluster;

use super::operation::{Content, Operation, Reply, Tag, shape};
use super::operations::look;
use super::replies::{json, problem};

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
        text: "Without `[cluster]` the state is `off` and there are no replicas. What is about ensembles is of those that may be seen.",
        replies: &[json(200, "The replicas, and where this one stands.", &[Content::Json(shape::<Cluster>)])],
        ..look("/api/v1/cluster", "cluster", Tag::Server, "Which servers watch the same, and who leads")
    },
];
