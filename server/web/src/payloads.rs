//! Who is shown what znodes carry: it may be more than an identity. Labels are shown to all.

use lockscope_view::Role;

/// The least role that is shown payloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Payloads {
    /// Everybody who may look.
    #[default]
    Viewer,
    /// Operators, and admins with them; an auditor looks as a viewer does.
    Operator,
    Nobody,
}

impl Payloads {
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Operator, Self::Nobody];

    pub fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Nobody => "nobody",
        }
    }

    /// Where nothing is said: whoever reaches this machine alone may read its ZooKeeper as well.
    pub fn default_for(is_public: bool) -> Self {
        if is_public { Self::Operator } else { Self::Viewer }
    }

    pub fn are_for(self, role: Role) -> bool {
        match (self, role) {
            (Self::Viewer, _) | (Self::Operator, Role::Operator | Role::Admin) => true,
            (Self::Operator, Role::Viewer | Role::Auditor) | (Self::Nobody, _) => false,
        }
    }
}
