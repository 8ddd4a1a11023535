//! The operation on the cluster.

use lockscope_view::Cluster;

use super::operation::{Content, Operation, Tag, shape};
use super::operations::look;
use super::replies::json;

pub(super) const OPERATIONS: &[Operation] = &[Operation {
    text: "Without `[cluster]` the state is `off` and there are no replicas.",
    replies: &[json(200, "The replicas, and where this one stands.", &[Content::Json(shape::<Cluster>)])],
    ..look("/api/v1/cluster", "cluster", Tag::Server, "Which servers watch the same, and who leads")
}];
