//! Whether we may delete children of a directory, by its ACL and by who the server says we are.

use std::net::IpAddr;

use ipnet::IpNet;
use zookeeper_client::{Acl, AuthUser, Client, Error, Permission};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletePermission {
    Granted,
    Missing,
    /// It could not be read, or does not show it.
    Unread,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Right {
    pub may: DeletePermission,
    pub sentence: String,
}

impl Right {
    pub(super) fn unread(why: &str) -> Self {
        Self { may: DeletePermission::Unread, sentence: format!("Whether we may delete it could not be read: {why}.") }
    }
}

/// Reads the ACL of a directory, and whom the server takes us for.
pub(super) async fn read(client: &Client, directory: &str) -> Right {
    let (acl, users) = (client.get_acl(directory), client.list_auth_users());
    let acl = match acl.await {
        Ok((acl, _)) => acl,
        Err(Error::NoAuth) => return Right::unread("our identity may not read the ACL of the lock's directory"),
        Err(Error::NoNode) => return Right::unread("the lock's directory is gone"),
        Err(error) => return Right::unread(&error.to_string()),
    };
    // Servers before 3.7 don't report who we are.
    let users = users.await.ok();
    judge(directory, &acl, users.as_deref())
}

fn judge(directory: &str, acl: &[Acl], users: Option<&[AuthUser]>) -> Right {
    let right = |may, sentence: String| Right { may, sentence };
    if users.is_some_and(|users| users.iter().any(|user| user.scheme() == "super")) {
        return right(
            DeletePermission::Granted,
            "We are signed in as ZooKeeper's super user, who may delete anything.".to_owned(),
        );
    }
    let granting: Vec<&Acl> = acl.iter().filter(|entry| entry.permission().has(Permission::DELETE)).collect();
    let is_us = |entry: &&&Acl| {
        let id = (entry.scheme(), entry.id());
        id == ("world", "anyone") || users.is_some_and(|users| users.iter().any(|user| is_user(user, id)))
    };
    if let Some(entry) = granting.iter().find(is_us) {
        return right(
            DeletePermission::Granted,
            format!("The ACL of {directory} grants DELETE to {}:{}.", entry.scheme(), public(entry.id())),
        );
    }
    let names = users.map(|users| {
        users.iter().map(|user| format!("{}:{}", user.scheme(), user.user())).collect::<Vec<_>>().join(", ")
    });
    match names {
        None if !granting.is_empty() => {
            Right::unread("this server does not report whom it takes us for (it is older than 3.7)")
        }
        names => {
            let names = names.filter(|names| !names.is_empty()).unwrap_or_else(|| "nobody".to_owned());
            let why = format!("Cannot delete: the ACL of {directory} grants us no DELETE right (we are {names}).");
            right(DeletePermission::Missing, why)
        }
    }
}

/// Whether an entry of an ACL means a user that the server names.
fn is_user(user: &AuthUser, (scheme, id): (&str, &str)) -> bool {
    if scheme != user.scheme() {
        return false;
    }
    match scheme {
        // The server reports the name without the hash of the password.
        "digest" => id.split(':').next() == Some(user.user()),
        "ip" => is_in(user.user(), id),
        _ => id == user.user(),
    }
}

/// `10.0.0.0/8`, or one address.
fn is_in(address: &str, network: &str) -> bool {
    let network = network.parse::<IpNet>().or_else(|_| network.parse::<IpAddr>().map(IpNet::from));
    address.parse::<IpAddr>().ok().zip(network.ok()).is_some_and(|(address, network)| network.contains(&address))
}

/// The hash of a password stays out of what is shown.
fn public(id: &str) -> &str {
    id.split(':').next().unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_acl_is_read_as_the_server_reads_it() {
        let delete = |scheme, id| Acl::new(Permission::DELETE, zookeeper_client::AuthId::new(scheme, id));
        let users = [AuthUser::new("ip", "10.1.2.3"), AuthUser::new("digest", "ops")];
        let check = |acl: &[Acl], users: Option<&[AuthUser]>| judge("/order", acl, users).may;
        assert_eq!(check(&[delete("world", "anyone")], None), DeletePermission::Granted);
        assert_eq!(check(&[delete("digest", "ops:hash")], Some(&users)), DeletePermission::Granted);
        assert_eq!(check(&[delete("digest", "app:hash")], Some(&users)), DeletePermission::Missing);
        assert_eq!(check(&[delete("digest", "app:hash")], None), DeletePermission::Unread);
        assert_eq!(check(&[], None), DeletePermission::Missing);
        assert_eq!(check(&[delete("ip", "10.1.0.0/16")], Some(&users)), DeletePermission::Granted);
        assert_eq!(check(&[delete("ip", "10.2.0.0/16")], Some(&users)), DeletePermission::Missing);
        assert_eq!(check(&[delete("ip", "0.0.0.0/0")], Some(&users)), DeletePermission::Granted);
        assert_eq!(
            check(&[Acl::new(Permission::READ, zookeeper_client::AuthId::anyone())], Some(&users)),
            DeletePermission::Missing
        );
        assert_eq!(check(&[], Some(&[AuthUser::new("super", "")])), DeletePermission::Granted);
        assert!(!judge("/order", &[delete("digest", "ops:hash")], Some(&users)).sentence.contains("hash"));
    }
}
