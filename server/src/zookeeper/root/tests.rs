//! Histories of one root without a server.
