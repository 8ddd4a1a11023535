//! Who looks at the page, and what they may do.

use serde::{Deserialize, Serialize};

use super::name::named_enum;

named_enum! {
    /// What an account may do.
    Role {
        /// Looks.
        Viewer = "viewer",
        /// Looks, releases, reads the record, runs the lab.
        Operator = "operator",
        /// Looks and reads the record.
        Auditor = "auditor",
        /// Everything.
        Admin = "admin",
    }
}

named_enum! {
    /// How somebody showed who they are.
    SignedBy {
        /// Not at all.
        Nobody = "nobody",
        /// A bearer token.
        Token = "token",
        /// Name and password.
        Password = "password",
        /// The one-time link that the demo prints.
        Link = "link",
        /// A trusted proxy's header.
        Proxy = "proxy",
        /// OpenID Connect.
        OpenId = "openid",
    }
}

/// Who looks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Person {
    /// Name; `anonymous` for nobody.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// How that is known.
    pub by: SignedBy,
    /// They may plan and order releases, somewhere.
    pub may_release: bool,
    /// They may read the record.
    pub may_audit: bool,
    /// There is a way to sign in here.
    pub can_sign_in: bool,
    /// The past is recorded here, and can be looked at.
    pub keeps_history: bool,
    /// There are several ensembles that they may see something of.
    pub has_fleet: bool,
}
