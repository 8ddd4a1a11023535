//! Sample contention on real sessions.
