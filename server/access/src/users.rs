//! Named users: kept with a slow hash of their password.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::grant::{Grant, check_name};
use super::password::{hash_password, is_hash, is_password_of};
use super::secret::Secret;
use super::{AccessError, file, preferences};
use lockscope_audit::Right;
use lockscope_view::SignedBy;

pub const USERS_FILE: &str = "users.json";
pub(super) const USERS_MAX: usize = 1_000;

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserRecord {
    pub name: String,
    #[serde(flatten)]
    pub grant: Grant,
    pub set_at_ms: i64,
    /// Argon2id, in the usual text form.
    hash: String,
}

impl std::fmt::Debug for UserRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserRecord").field("name", &self.name).field("grant", &self.grant).finish_non_exhaustive()
    }
}

impl UserRecord {
    pub(super) fn hash(&self) -> String {
        self.hash.clone()
    }
}

/// Makes a user, or gives one a new password and role. True: there was none of that name.
///
/// # Errors
/// One sentence: a bad name or password, too many, or a directory that can't be written.
pub fn set_user(dir: &Path, name: &str, grant: Grant, password: &Secret, now_ms: i64) -> Result<bool, AccessError> {
    check_name(name)?;
    let fresh = UserRecord { name: name.to_owned(), grant, set_at_ms: now_ms, hash: hash_password(password)? };
    file::edit(dir, USERS_FILE, |records: &mut Vec<UserRecord>| {
        if let Some(record) = records.iter_mut().find(|record| record.name == name) {
            *record = fresh;
            return Ok(false);
        }
        if records.len() >= USERS_MAX {
            return Err(AccessError(format!("{USERS_MAX} users are kept and no more; remove one")));
        }
        records.push(fresh);
        Ok(true)
    })
}

pub fn list_users(dir: &Path) -> Result<Vec<UserRecord>, AccessError> {
    file::read(&dir.join(USERS_FILE))
}

/// Whether somebody has this very password and grant already.
pub fn is_set_so(dir: &Path, name: &str, grant: &Grant, password: &Secret) -> Result<bool, AccessError> {
    let known = list_users(dir)?.into_iter().find(|record| record.name == name && record.grant == *grant);
    Ok(known.is_some_and(|record| is_password_of(password, &record.hash)))
}

/// Forgets a user.
///
/// # Errors
/// When there is none, or the file can't be written.
pub fn remove_user(dir: &Path, name: &str) -> Result<(), AccessError> {
    let missing = || AccessError(format!("there is no user {name:?}; `lockscope user list` lists those that are"));
    if !list_users(dir)?.iter().any(|record| record.name == name) {
        return Err(missing());
    }
    file::edit(dir, USERS_FILE, |records: &mut Vec<UserRecord>| {
        let at = records.iter().position(|record| record.name == name).ok_or_else(missing)?;
        records.remove(at);
        Ok(())
    })?;
    preferences::forget(dir, SignedBy::Password, name);
    Ok(())
}

#[derive(Debug, Default)]
pub(super) struct Users(BTreeMap<String, UserRecord>);

impl Users {
    pub(super) fn replace(&mut self, records: Vec<UserRecord>) {
        let sane = records.into_iter().take(USERS_MAX).filter(|record| is_hash(&record.hash));
        self.0 = sane.map(|record| (record.name.clone(), record)).collect();
    }

    pub(super) fn get(&self, name: &str) -> Option<&UserRecord> {
        self.0.get(name)
    }

    /// Whether a user is still what they were when they signed in.
    pub(super) fn has(&self, record: &UserRecord) -> bool {
        self.0.get(&record.name) == Some(record)
    }

    pub(super) fn any_may(&self, right: Right) -> bool {
        self.0.values().any(|record| lockscope_audit::role_may(record.grant.role, right))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use lockscope_view::Role;

    use super::*;

    #[test]
    fn setting_twice_replaces_and_removing_forgets() {
        let dir = tempfile::tempdir().unwrap();
        let secret = |text: &str| Secret::new(text.to_owned());
        let viewer = Grant::everywhere(Role::Viewer);
        assert!(set_user(dir.path(), "ann", viewer.clone(), &secret("password-canary-1"), 1).unwrap());
        let mut users = Users::default();
        users.replace(list_users(dir.path()).unwrap());
        let before = users.get("ann").unwrap().clone();
        assert!(!users.any_may(Right::Release) && users.has(&before));
        assert!(!set_user(dir.path(), "ann", Grant::everywhere(Role::Admin), &secret("password-canary-2"), 2).unwrap());
        users.replace(list_users(dir.path()).unwrap());
        assert!(users.any_may(Right::Release) && !users.has(&before));
        let text = std::fs::read_to_string(dir.path().join(USERS_FILE)).unwrap();
        assert!(!text.contains("canary") && !format!("{users:?}").contains("argon2"), "{text}");
        remove_user(dir.path(), "ann").unwrap();
        assert!(remove_user(dir.path(), "ann").is_err());
        assert!(list_users(dir.path()).unwrap().is_empty());
    }
}
