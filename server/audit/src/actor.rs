//! Somebody who asks for something: a name, a role, and how far it reaches.

use std::net::IpAddr;

use lockscope_view::{Role, SignedBy, Within};

use lockscope_runtime::quota::neighbourhood;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Right {
    /// To look at locks, sessions and waits.
    View,
    Release,
    ReadAudit,
    RunLab,
    /// Everything about the server itself.
    Administer,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Name; never a secret.
    pub name: String,
    pub role: Role,
    pub scope: Within,
    /// How that is known.
    pub by: SignedBy,
    /// Where from; None for the server itself.
    pub address: Option<IpAddr>,
}

/// Shares of a network of which nobody is known: people behind one tunnel or one gateway.
const NETWORK_SHARES: usize = 4;

/// Whose share of the server is used: a person's or script's, else that of the network it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QuotaOwner {
    Named(String),
    /// Nobody in particular, who may stand for many.
    Network(IpAddr),
    /// One of several who have a name or a network in common: a sign-in, or a client behind a proxy.
    Member(Box<Self>, String),
}

impl QuotaOwner {
    /// One of several who have this in common.
    #[must_use]
    pub fn member(&self, which: String) -> Self {
        Self::Member(Box::new(self.group().clone()), which)
    }

    /// What it has in common with others, however many they are: its name or network.
    pub fn group(&self) -> &Self {
        if let Self::Member(group, _) = self { group } else { self }
    }

    /// How many shares of what others use, too: a network of nobody in particular may stand for several people.
    pub fn shares(&self) -> usize {
        if matches!(self.group(), Self::Network(_)) { NETWORK_SHARES } else { 1 }
    }

    /// Who pays for a place: this one, who may have so many, and its group, which may have so many.
    pub fn payers(&self, own_max: usize, group_max: usize) -> impl Iterator<Item = (Self, usize)> {
        let group = Some(self.group()).filter(|group| *group != self);
        std::iter::once((self.clone(), own_max)).chain(group.map(|group| (group.clone(), group_max.max(own_max))))
    }
}

impl Actor {
    /// Whose share is used, as far as the name or the network says.
    pub fn quota_owner(&self) -> QuotaOwner {
        match self.by {
            SignedBy::Nobody => QuotaOwner::Network(neighbourhood(self.address)),
            by => QuotaOwner::Named(format!("{by} {}", self.name)),
        }
    }
}

/// Whether a role has a right, somewhere.
pub fn role_may(role: Role, right: Right) -> bool {
    match (role, right) {
        (_, Right::View)
        | (Role::Admin, _)
        | (Role::Operator, Right::Release | Right::ReadAudit | Right::RunLab)
        | (Role::Auditor, Right::ReadAudit) => true,
        (Role::Viewer | Role::Auditor | Role::Operator, _) => false,
    }
}

/// Of several roles the one that may most.
pub fn highest(roles: impl Iterator<Item = Role>) -> Option<Role> {
    roles.max_by_key(|role| Right::ALL.iter().filter(|right| role_may(*role, **right)).count())
}

impl Right {
    pub const ALL: [Self; 5] = [Self::View, Self::Release, Self::ReadAudit, Self::RunLab, Self::Administer];

    pub fn words(self) -> &'static str {
        match self {
            Self::View => "look at locks",
            Self::Release => "release",
            Self::ReadAudit => "read the audit log",
            Self::RunLab => "run the lab",
            Self::Administer => "administer the server",
        }
    }

    pub fn roles(self) -> Vec<Role> {
        Role::ALL.into_iter().filter(|role| role_may(*role, self)).collect()
    }
}

impl Actor {
    /// Whether the role has a right, somewhere.
    pub fn may(&self, right: Right) -> bool {
        role_may(self.role, right)
    }

    pub fn may_at(&self, right: Right, ensemble: &str, path: &str) -> bool {
        self.may(right) && self.scope.covers(ensemble, path)
    }

    /// Role and way of signing in, for the record.
    pub fn described(&self) -> String {
        format!("{} by {}", self.role, self.by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_pays_with_its_group() {
        let proxy = QuotaOwner::Network([10, 0, 0, 1].into());
        let one = proxy.member("50001".to_owned());
        assert_ne!(one, proxy.member("50002".to_owned()));
        assert_eq!((one.group(), one.shares(), one.member("a".to_owned()).group()), (&proxy, NETWORK_SHARES, &proxy));
        let paid = |owner: &QuotaOwner| owner.payers(2, 5).collect::<Vec<_>>();
        assert_eq!(paid(&one), [(one.clone(), 2), (proxy.clone(), 5)]);
        assert_eq!(paid(&proxy), [(proxy, 2)]);
    }
}
