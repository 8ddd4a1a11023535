//! Whether a session's time-out suits its client: a section of the session's page (see `sections`).

mod section;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use section::initial;
pub use section::{SessionTimeoutMarkup, session_timeout_markup};

/// Every half a minute, and where the document had none, as on a way from another page.
pub(crate) fn script() -> String {
    crate::parts::fetched_script(
        "session-timeout /session/timeout ensemble|id|at 3e4 0 !t.firstElementChild 1",
        words::NOT_FETCHED,
    )
}
