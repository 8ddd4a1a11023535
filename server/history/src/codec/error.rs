//! Why bytes are no chunk.

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    #[error("the chunk is damaged: its checksum does not fit")]
    Checksum,
    /// It was written by a later version.
    #[error("the chunk is of format {0}, which this version does not read")]
    Version(u8),
    #[error("the chunk ends too early")]
    CutOff,
    #[error("the chunk is malformed: {0}")]
    Malformed(&'static str),
    /// It is encoded as a difference to chunks that were not read before it.
    #[error("a round of the chunk is encoded as a difference to a chunk that was not read before it")]
    NotContinuous,
    /// One observation is larger than is ever kept.
    #[error("an observation is too large to be kept")]
    TooLarge,
}
