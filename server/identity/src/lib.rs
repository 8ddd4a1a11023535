//! Who acts: identities, their roles and visibility scopes. The vocabulary that access control and the audit log share.

mod actor;
mod person_name;

pub use actor::{Actor, QuotaOwner, Right, Scope, highest, role_may};
pub use person_name::{is_clear_name, is_same_person, person_key};
