//! The address that a request came from.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;

use super::listener::Arrival;

/// Where a request came from on the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) Option<IpAddr>);

impl Peer {
    pub(crate) fn of(extensions: &Extensions) -> Self {
        Self(extensions.get::<Arrival>().map(|arrival| arrival.peer.ip()))
    }
}

impl<S: Sync> FromRequestParts<S> for Peer {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::of(&parts.extensions))
    }
}
