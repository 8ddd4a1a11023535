//! Why a live socket ends, and what is said of it.

use axum::extract::ws::close_code;
use lockscope_access::RevocationReason;

pub(super) enum End {
    /// The client closed it, or the line broke.
    Gone,
    Close {
        code: u16,
        reason: &'static str,
    },
}

pub(super) fn going_away() -> End {
    End::Close { code: close_code::AWAY, reason: "the server is shutting down" }
}

pub(super) fn read_anew() -> End {
    End::Close { code: close_code::RESTART, reason: "the configuration was read anew; connect again" }
}

pub(super) fn not_permitted(why: RevocationReason) -> End {
    End::Close { code: close_code::POLICY, reason: why.words() }
}

pub(super) fn too_slow() -> End {
    End::Close {
        code: close_code::AGAIN,
        reason: "too slow: what was sent was not read in time; connect again and resume",
    }
}

pub(super) fn too_long() -> End {
    End::Close { code: close_code::SIZE, reason: "a frame may have at most 65536 bytes; send less" }
}
