//! Who may do what: identities, roles, scopes. Knows no route and no ZooKeeper.

mod actor;

pub use actor::{Actor, Right, Scope};
