//! Devices that somebody signed in with before: a cookie that only we can have written, for one account. Whoever brings
//! it has a limit of failures of their own, so that nobody who merely knows a name can keep its owner out. It signs
//! nobody in.

use lockscope_runtime::mac::{hmac_hex, is_hmac_hex};

use super::secret::{Digest, Secret};
use super::users::UserRecord;

/// How long a device is known after the last sign-in.
pub const DEVICE_MS_MAX: i64 = 180 * 24 * 60 * 60 * 1_000;
const RANDOM_BYTES: usize = 16;
/// A cookie of ours is never longer.
const COOKIE_BYTES_MAX: usize = 160;

/// What the cookie of a device that signed in now holds: `<device>.<when>.<signature>`.
pub(super) fn issue(user: &UserRecord, now_ms: i64) -> Secret {
    let claim = format!("{}.{now_ms}", hex::encode(rand::random::<[u8; RANDOM_BYTES]>()));
    let signature = hmac_hex(&user.hash(), &signed(user, &claim));
    Secret::new(format!("{claim}.{signature}"))
}

/// The device of a cookie that was written for this account, by its hash.
pub(super) fn recognise(cookie: &Secret, user: &UserRecord, now_ms: i64) -> Option<Digest> {
    let (claim, signature) = Some(cookie.expose()).filter(|text| text.len() <= COOKIE_BYTES_MAX)?.rsplit_once('.')?;
    let at_ms: i64 = claim.rsplit_once('.')?.1.parse().ok()?;
    if !(0..DEVICE_MS_MAX).contains(&now_ms.checked_sub(at_ms)?) {
        return None;
    }
    is_hmac_hex(&user.hash(), &signed(user, claim), signature).then(|| cookie.digest())
}

/// What is signed. The key is the hash of the password, salt included, which nobody has but the users' file: a new
/// password forgets every device, and there is no further secret to keep.
fn signed(user: &UserRecord, claim: &str) -> String {
    format!("lockscope device\n{}\n{claim}", user.name)
}

#[cfg(test)]
mod tests {
    use lockscope_view::Role;

    use super::super::{Grant, list_users, set_user};
    use super::*;

    fn user(dir: &std::path::Path, name: &str, password: &str) -> UserRecord {
        set_user(dir, name, Grant::everywhere(Role::Viewer), &Secret::new(password.to_owned()), 0).unwrap();
        list_users(dir).unwrap().into_iter().find(|user| user.name == name).unwrap()
    }

    #[test]
    fn a_device_is_known_to_its_account_for_its_time_and_until_the_password_changes() {
        let dir = tempfile::tempdir().unwrap();
        let (ann, bob) =
            (user(dir.path(), "ann", "correct horse battery"), user(dir.path(), "bob", "correct horse battery"));
        let cookie = issue(&ann, 1_000);
        assert!(recognise(&cookie, &ann, 1_000).is_some());
        assert!(recognise(&cookie, &ann, DEVICE_MS_MAX).is_some());
        for (who, now_ms) in [
            (&ann, 1_000 + DEVICE_MS_MAX),
            (&ann, 999),
            (&bob, 1_000),
            (&user(dir.path(), "ann", "correct horse battery"), 1_000),
        ] {
            assert!(recognise(&cookie, who, now_ms).is_none());
        }
        assert_ne!(
            recognise(&issue(&ann, 1_000), &ann, 1_000),
            recognise(&cookie, &ann, 1_000),
            "devices are told apart"
        );
    }

    #[test]
    fn what_we_did_not_write_is_no_device() {
        let dir = tempfile::tempdir().unwrap();
        let ann = user(dir.path(), "ann", "correct horse battery");
        let cookie = issue(&ann, 1_000).expose().to_owned();
        let later = cookie.replace(".1000.", ".2000.");
        for text in [
            "",
            ".",
            "..",
            "a.b.c",
            "a.1000.",
            "a.1000.é0",
            &later,
            &cookie[..cookie.len() - 1],
            &cookie[..cookie.len() - 2],
            &"a".repeat(500),
        ] {
            assert!(recognise(&Secret::new(text.to_owned()), &ann, 3_000).is_none(), "{text}");
        }
    }
}
