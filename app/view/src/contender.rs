//! Whether a contender is still what it was, wherever it stands by now.

use crate::Contender;

impl Contender {
    /// Whether another one is the same but for its place in the queue.
    pub fn is_but_moved(&self, other: &Self) -> bool {
        // None may be forgotten.
        let Self {
            path,
            node,
            sequence,
            position: _,
            role,
            access,
            session_id,
            ephemeral,
            client,
            liveness,
            runs_out,
            only_on,
            label,
            data,
            created_at_ms,
            waiting_since_ms,
            waiting_is_lower_bound,
            holding_since_ms,
            holding_is_lower_bound,
            waits_for,
            czxid,
            version,
        } = self;
        *path == other.path
            && *node == other.node
            && *sequence == other.sequence
            && *role == other.role
            && *access == other.access
            && *session_id == other.session_id
            && *ephemeral == other.ephemeral
            && *client == other.client
            && *liveness == other.liveness
            && *runs_out == other.runs_out
            && *only_on == other.only_on
            && *label == other.label
            && *data == other.data
            && *created_at_ms == other.created_at_ms
            && *waiting_since_ms == other.waiting_since_ms
            && *waiting_is_lower_bound == other.waiting_is_lower_bound
            && *holding_since_ms == other.holding_since_ms
            && *holding_is_lower_bound == other.holding_is_lower_bound
            && *waits_for == other.waits_for
            && *czxid == other.czxid
            && *version == other.version
    }
}
