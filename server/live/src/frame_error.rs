//! Why a client frame was not understood.

/// A client frame that was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameError {
    /// The subscription it was about, when that could be read.
    pub id: Option<u32>,
    /// One clear sentence.
    pub detail: String,
}
