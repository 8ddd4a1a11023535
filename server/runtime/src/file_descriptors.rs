//! How many files and connections this process may have open. Shells and many container runtimes allow 1,024 until a
//! program asks for more.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit to what is needed, as far as the hard limit goes.
///
/// # Errors
/// How many may be open, where that is fewer.
pub fn make_room(needed: u64) -> Result<(), u64> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let most = limit.maximum.map_or(needed, |maximum| maximum.min(needed));
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum: limit.maximum });
    match raised {
        Ok(()) if most >= needed => Ok(()),
        Ok(()) => Err(most),
        Err(_) => Err(limit.current.unwrap_or(needed)),
    }
}
