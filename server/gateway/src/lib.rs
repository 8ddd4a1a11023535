//! Views of ensembles that other replicas watch. A replica asks an owner for each view once, whoever looks, and hands it out
//! by the same hub as its own. An owner that is lost is noticed by what it does not answer; then the other one is asked.
//!
//! Pure: `view`, `merge`, `placeholder`, `fleet`, `directory`, `words`. [`Gateway`] is a [`feed::Projection`].

mod composite;
mod connection;
mod directory;
mod fleet;
mod gateway;
mod hand_on;
mod link;
mod merge;
mod placeholder;
mod plan;
mod projection;
mod request;
mod view;
mod words;

pub use connection::{PATH, SILENCE_MAX};
pub use directory::{Directory, Foreign, OwnerAddress};
pub use gateway::{Gateway, GatewayError, GatewaySettings};
pub use hand_on::{HAND_ON_PATH, HandOnError, Pieces};
pub use link::{BYTES_MAX, VIEWS_MAX};
pub use request::{Answer, ReplicaClient};
