//! Who acts: identities, their roles and visibility scopes. The vocabulary that access control and the audit log share.

mod actor;
mod same_person;

pub use actor::{Actor, QuotaOwner, Right, Scope, highest, role_may};
pub use same_person::{is_clear_name, is_same_person, person_key};
