//! How bytes come in: connections with and without TLS, each bounded in time and size. Knows no route and no view.

mod certificate;
mod connections;
mod stall;
mod tls;
mod validity;

pub use certificate::{EXPIRY_WARNING_DAYS, TlsFault, TlsFiles};
pub use connections::{Arrival, Bounds, Proxies, serve};
pub use tls::{Follower, LOOK_EVERY, Tls, follow};
