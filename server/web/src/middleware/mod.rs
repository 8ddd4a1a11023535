//! What every request passes on its way in and every answer on its way out.

pub(super) mod authentication;
pub(super) mod compression;
pub(super) mod headers;
pub(super) mod origin;
pub(super) mod panicked;
