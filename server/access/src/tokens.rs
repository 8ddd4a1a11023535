//! API tokens: made once, shown once, kept as a hash. A token is `lks_<id>_<secret>`; the id finds the record and is no
//! secret, so that a token can be named in lists and in the record.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::grant::{Grant, check_name};
use super::revocation::{Revocation, RevocationReason, Revoker};
use super::secret::{Digest, Secret};
use super::{AccessError, file, preferences};
use lockscope_audit::Right;
use lockscope_view::SignedBy;

pub const TOKENS_FILE: &str = "tokens.json";
/// Tokens that are kept; one more is refused until another is revoked.
pub(super) const TOKENS_MAX: usize = 1_000;
/// What every token begins with, so that scanners for leaked secrets can know it.
const PREFIX: &str = "lks_";
/// A token is never longer; more is not looked at.
const TOKEN_BYTES_MAX: usize = 128;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// The part of the token that is no secret.
    pub id: String,
    pub name: String,
    #[serde(flatten)]
    pub grant: Grant,
    pub created_at_ms: i64,
    /// When it runs out; None: never.
    pub expires_at_ms: Option<i64>,
    /// Hash of the secret part.
    hash: Digest,
}

impl TokenRecord {
    pub(super) fn hash(&self) -> String {
        self.hash.into()
    }

    fn is_expired(&self, now_ms: i64) -> bool {
        self.expires_at_ms.is_some_and(|at| at <= now_ms)
    }
}

/// Makes a token and keeps its hash. The token itself is nowhere but in the answer.
///
/// # Errors
/// One sentence: a bad or taken name, too many, or a directory that can't be written.
pub fn new_token(
    dir: &Path,
    name: &str,
    grant: Grant,
    now_ms: i64,
    lives_ms: Option<i64>,
) -> Result<(TokenRecord, Secret), AccessError> {
    check_name(name)?;
    let secret = Secret::random();
    let id = hex::encode(rand::random::<[u8; 6]>());
    let token = Secret::new(format!("{PREFIX}{id}_{}", secret.expose()));
    let expires_at_ms = lives_ms.map(|lives| now_ms.saturating_add(lives));
    let record =
        TokenRecord { id, name: name.to_owned(), grant, created_at_ms: now_ms, expires_at_ms, hash: secret.digest() };
    file::edit(dir, TOKENS_FILE, |records: &mut Vec<TokenRecord>| {
        if records.iter().any(|other| other.name == name) {
            return Err(AccessError(format!(
                "there is a token named {name}; revoke it with `lockscope token revoke --name {name}`, or choose another name"
            )));
        }
        if records.len() >= TOKENS_MAX {
            return Err(AccessError(format!("{TOKENS_MAX} tokens are kept and no more; revoke one that is not used")));
        }
        records.push(record.clone());
        Ok(())
    })?;
    Ok((record, token))
}

pub fn list_tokens(dir: &Path) -> Result<Vec<TokenRecord>, AccessError> {
    file::read(&dir.join(TOKENS_FILE))
}

/// Forgets a token by its name or its id, and gives what it was.
///
/// # Errors
/// When there is none, or the file can't be written.
pub fn revoke_token(dir: &Path, named: &str) -> Result<TokenRecord, AccessError> {
    let missing = || AccessError(format!("there is no token {named:?}; `lockscope token list` lists those that are"));
    // Nothing is created only to find that nothing is there.
    if !list_tokens(dir)?.iter().any(|record| record.name == named || record.id == named) {
        return Err(missing());
    }
    file::edit(dir, TOKENS_FILE, |records: &mut Vec<TokenRecord>| {
        let at = records.iter().position(|record| record.name == named || record.id == named).ok_or_else(missing)?;
        Ok(records.remove(at))
    })
    .inspect(|record| preferences::forget(dir, SignedBy::Token, &record.name))
}

#[derive(Debug, Default)]
pub(super) struct Tokens(BTreeMap<String, ActiveToken>);

#[derive(Debug)]
struct ActiveToken {
    record: TokenRecord,
    revoker: Revoker,
}

impl ActiveToken {
    /// What it is, where it may be used at an instant.
    fn valid(&self, now_ms: i64) -> Option<&TokenRecord> {
        let is_valid = !self.record.is_expired(now_ms) && self.revoker.revocation().reason().is_none();
        is_valid.then_some(&self.record)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadToken {
    Unknown,
    Expired,
}

impl Tokens {
    /// Takes a fresh list. Tokens that are gone or were changed end; the others go on.
    pub(super) fn replace(&mut self, records: Vec<TokenRecord>) {
        let mut old = std::mem::take(&mut self.0);
        for record in records.into_iter().take(TOKENS_MAX) {
            let kept = old.remove(&record.id).filter(|active| active.record == record);
            let active = kept.unwrap_or_else(|| ActiveToken { record, revoker: Revoker::new() });
            self.0.insert(active.record.id.clone(), active);
        }
        old.values().for_each(|active| active.revoker.revoke(RevocationReason::Revoked));
    }

    pub(super) fn expire(&self, now_ms: i64) {
        self.0
            .values()
            .filter(|active| active.record.is_expired(now_ms))
            .for_each(|active| active.revoker.revoke(RevocationReason::Expired));
    }

    pub(super) fn find(&self, token: &str, now_ms: i64) -> Result<(&TokenRecord, Revocation), BadToken> {
        let parts =
            token.strip_prefix(PREFIX).filter(|_| token.len() <= TOKEN_BYTES_MAX).and_then(|rest| rest.split_once('_'));
        let (id, secret) = parts.ok_or(BadToken::Unknown)?;
        let active = self.0.get(id).ok_or(BadToken::Unknown)?;
        if !active.record.hash.is(&Secret::new(secret.to_owned()).digest()) {
            return Err(BadToken::Unknown);
        }
        if active.record.is_expired(now_ms) {
            return Err(BadToken::Expired);
        }
        Ok((&active.record, active.revoker.revocation()))
    }

    /// Whether a token is still what it was when somebody signed in with it.
    pub(super) fn has(&self, id: &str, now_ms: i64) -> bool {
        self.by_id(id, now_ms).is_some()
    }

    /// The token of an id, where it may be used at an instant.
    pub(super) fn by_id(&self, id: &str, now_ms: i64) -> Option<&TokenRecord> {
        self.0.get(id)?.valid(now_ms)
    }

    pub(super) fn grant_of(&self, name: &str, now_ms: i64) -> Option<&Grant> {
        let active = self.0.values().find(|active| active.record.name == name && !active.record.is_expired(now_ms))?;
        active.valid(now_ms).map(|record| &record.grant)
    }

    pub(super) fn any_may(&self, right: Right, now_ms: i64) -> bool {
        self.0.values().any(|active| {
            !active.record.is_expired(now_ms) && lockscope_audit::role_may(active.record.grant.role, right)
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use lockscope_view::Role;

    use super::*;

    fn loaded(dir: &Path) -> Tokens {
        let mut tokens = Tokens::default();
        tokens.replace(list_tokens(dir).unwrap());
        tokens
    }

    #[test]
    fn a_token_is_kept_as_a_hash_and_found_by_the_whole_of_it_only() {
        let dir = tempfile::tempdir().unwrap();
        let (record, token) = new_token(dir.path(), "ci", Grant::everywhere(Role::Operator), 1_000, Some(500)).unwrap();
        let secret = token.expose().rsplit('_').next().unwrap();
        let text = std::fs::read_to_string(dir.path().join(TOKENS_FILE)).unwrap();
        assert!(text.contains(&record.id) && !text.contains(secret), "{text}");
        let tokens = loaded(dir.path());
        assert_eq!(tokens.find(token.expose(), 1_499).map(|(record, _)| record.name.as_str()), Ok("ci"));
        assert_eq!(tokens.find(token.expose(), 1_500).map(|_| ()), Err(BadToken::Expired));
        let whole = token.expose();
        let wrong = [
            "",
            "lks_",
            &whole[4..],
            &whole[..whole.len() - 1],
            &format!("{whole}0"),
            &whole.to_uppercase(),
            &format!("lks_{}_", record.id),
        ];
        for token in wrong {
            assert_eq!(tokens.find(token, 0).map(|_| ()), Err(BadToken::Unknown), "{token}");
        }
    }

    #[test]
    fn names_are_taken_once_and_revoking_ends_what_listens() {
        let dir = tempfile::tempdir().unwrap();
        assert!(revoke_token(&dir.path().join("none"), "ci").is_err());
        assert!(!dir.path().join("none").exists(), "nothing was to be kept");
        let (first, one) = new_token(dir.path(), "ci", Grant::everywhere(Role::Operator), 0, None).unwrap();
        let (_, two) = new_token(dir.path(), "cd", Grant::everywhere(Role::Viewer), 0, None).unwrap();
        assert!(new_token(dir.path(), "ci", Grant::everywhere(Role::Viewer), 0, None).is_err());
        let mut tokens = loaded(dir.path());
        let revocation = tokens.find(one.expose(), 0).unwrap().1;
        let other = tokens.find(two.expose(), 0).unwrap().1;
        assert!(tokens.any_may(Right::Release, 0));
        assert_eq!(revoke_token(dir.path(), &first.id).unwrap().name, "ci");
        tokens.replace(list_tokens(dir.path()).unwrap());
        assert_eq!((revocation.reason(), other.reason()), (Some(RevocationReason::Revoked), None));
        assert!(!tokens.any_may(Right::Release, 0) && !tokens.has(&first.id, 0));
    }
}
