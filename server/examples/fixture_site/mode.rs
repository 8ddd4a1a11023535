//! What the made-up site shows.

use anyhow::bail;

/// What the page is to be looked at in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Live,
    /// 10,000 wait for the busy lock, and it changes hands all the time.
    Crowd,
    /// 2,000 locks, of which one changes hands all the time.
    Many,
    /// A crowd, and locks, deadlocks, waits and sessions of which one ends and another begins with each turn: in a minute a
    /// page draws as many rows as in days elsewhere.
    Passing,
    Empty,
    Syncing,
    Stale,
    /// No server was ever reached.
    Unreached,
    /// The roots may not be read, or are not there.
    Denied,
}

impl Mode {
    /// Between two turns, milliseconds; None where nothing changes.
    pub(crate) fn turn_ms(self) -> Option<u64> {
        match self {
            Self::Live => Some(2_000),
            Self::Crowd | Self::Many | Self::Passing => Some(20),
            Self::Empty | Self::Syncing | Self::Stale | Self::Unreached | Self::Denied => None,
        }
    }
}

impl std::str::FromStr for Mode {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> anyhow::Result<Self> {
        match name {
            "live" => Ok(Self::Live),
            "crowd" => Ok(Self::Crowd),
            "many" => Ok(Self::Many),
            "passing" => Ok(Self::Passing),
            "empty" => Ok(Self::Empty),
            "syncing" => Ok(Self::Syncing),
            "stale" => Ok(Self::Stale),
            "unreached" => Ok(Self::Unreached),
            "denied" => Ok(Self::Denied),
            _ => {
                bail!(
                    "`{name}` is not a mode; use live, crowd, many, passing, empty, syncing, stale, unreached or denied"
                )
            }
        }
    }
}
