//! What a client sent, or why it was not understood.

use lockscope_view::ClientFrame;

#[derive(Clone, Debug, PartialEq)]
pub struct ClientMessage {
    pub frame: ClientFrame,
    /// The moment that its view is of, as it was written; None: it is live. Scripts alone name one: pages of the past are
    /// documents.
    pub at: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameError {
    /// The subscription it was about, when that could be read.
    pub id: Option<u32>,
    /// One clear sentence.
    pub detail: String,
}
