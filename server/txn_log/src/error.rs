//! What is wrong with the bytes, and where.

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {offset}: {problem}")]
pub struct ReadError {
    /// Where in the file. If that is compressed: in what it decompresses to, unless the compression itself is damaged.
    pub offset: u64,
    pub problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    #[error("not a transaction log: it begins with {found:#010x} instead of \"ZKLG\"")]
    NotALog {
        /// The first four bytes.
        found: u32,
    },
    #[error("not a snapshot: it begins with {found:#010x} instead of \"ZKSN\"")]
    NotASnapshot {
        /// The first four bytes.
        found: u32,
    },
    /// A reader of bytes takes them as they are; the decoders undo compression.
    #[error("the snapshot is compressed; decompress it first")]
    Compressed,
    #[error("the gzip compression can't be undone: {reason}")]
    BadGzip { reason: &'static str },
    #[error("the snappy compression can't be undone: {reason}")]
    BadSnappy { reason: &'static str },
    #[error("version {found} of the format is not known; known is 2")]
    UnknownVersion { found: i32 },
    #[error("the checksum is {found:#x}, and the bytes make {computed:#x}")]
    Checksum { found: i64, computed: i64 },
    /// Damaged: a torn record is the last thing in a file, and this one is not.
    #[error("the record has no end mark, and more follows")]
    NoEndMark,
    /// Damaged: zeros end a file, and these don't.
    #[error("more follows behind zeros")]
    DataBehindZeros,
    /// Damaged, or no log at all.
    #[error("a length of {found} is not possible")]
    BadLength { found: i32 },
    /// Damaged, or longer than this reader takes.
    #[error("a record of {found} bytes is longer than the {max} that are read")]
    TooLong { found: u64, max: u64 },
    /// The bytes end inside of something.
    #[error("{needed} bytes are needed and {left} are left")]
    Short {
        /// How many the next value takes.
        needed: u64,
        left: u64,
    },
    #[error("a multi inside a multi")]
    NestedMulti,
    #[error("a boolean of {found}")]
    BadBoolean { found: u8 },
    /// Damaged: what ends a snapshot is not all that is there.
    #[error("{left} bytes follow behind the end of the snapshot")]
    DataBehindSnapshot { left: u64 },
    /// The checksum of a snapshot stands before the path "/", and this is another one.
    #[error("the checksum is not followed by the end of the snapshot")]
    NoSeal,
    /// Damaged, or more than this reader takes.
    #[error("more than {max} {what}")]
    TooMany { what: &'static str, max: u64 },
}
