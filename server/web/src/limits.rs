//! Limits of what is served.

use super::{CALLER_SOCKETS_MAX, CALLER_VIEWS_MAX, SOCKETS_MAX};

/// An answer that takes longer is given up.
const ANSWER_MS_MAX: u64 = 10_000;

/// Limits a test may want smaller.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time between two heartbeats, at most.
    pub heartbeat_ms: u64,
    /// A frame that can't be sent, or a ping that is not answered, in this time ends the socket with 1013.
    pub send_ms_max: u64,
    /// Size of the kernel-independent write buffer of a socket.
    pub write_buffer_bytes: usize,
    /// Size of the buffer that a socket reads into; what clients say is short.
    pub read_buffer_bytes: usize,
    pub sockets_max: u32,
    /// An answer that takes longer is given up, unless whoever makes it sets a limit of its own.
    pub answer_ms_max: u64,
    pub caller_sockets_max: usize,
    pub caller_views_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            heartbeat_ms: 1_000,
            send_ms_max: 10_000,
            write_buffer_bytes: 2 * 1024,
            read_buffer_bytes: 2 * 1024,
            sockets_max: SOCKETS_MAX,
            answer_ms_max: ANSWER_MS_MAX,
            caller_sockets_max: CALLER_SOCKETS_MAX,
            caller_views_max: CALLER_VIEWS_MAX,
        }
    }
}
