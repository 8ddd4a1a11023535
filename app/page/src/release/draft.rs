//! What was typed into the dialog when the sign-in ended, kept by this tab until whoever typed it is back. Browser only.

use leptos::prelude::window;
use web_sys::Storage;

/// Before the address of the page in the name of what is kept.
const KEY: &str = "lockscope.release ";
/// Between path and reason: no path in ZooKeeper has it.
const BETWEEN: char = '\0';

/// Keeps what was typed for a znode. The lock's path is typed anew: that is what it is for.
pub(super) fn keep(path: &str, reason: &str) {
    if let Some(storage) = storage() {
        // A full storage keeps nothing; then it is typed again.
        let _ = storage.set_item(&key(), &format!("{path}{BETWEEN}{reason}"));
    }
}

/// Takes what was kept for this page: the znode and the reason.
pub(super) fn take() -> Option<(String, String)> {
    let (storage, key) = (storage()?, key());
    let kept = storage.get_item(&key).ok()??;
    // Whatever happens to it now, it comes once.
    let _ = storage.remove_item(&key);
    kept.split_once(BETWEEN).map(|(path, reason)| (path.to_owned(), reason.to_owned()))
}

/// The address for signing in that leads back to this page.
pub(super) fn sign_in_url() -> String {
    format!("/sign-in?next={}", String::from(js_sys::encode_uri_component(&here())))
}

fn storage() -> Option<Storage> {
    window().session_storage().ok().flatten()
}

fn key() -> String {
    format!("{KEY}{}", here())
}

/// The address of this page, without what its hash says.
pub(super) fn here() -> String {
    let location = window().location();
    location.pathname().unwrap_or_default() + &location.search().unwrap_or_default()
}
