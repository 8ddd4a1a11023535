//! Which servers watch the same: a section of the status page (see `sections`), fetched anew every five seconds.

mod section;
#[cfg(test)]
mod tests;
mod words;

pub use section::cluster_markup;

/// Every five seconds. On a page of the past it stays empty.
pub(crate) fn script() -> String {
    crate::parts::fetched_script(
        "cluster-replicas /status/cluster (?!) 5e3 /[?&]at=/.test(location.search) 1 t.firstElementChild",
        words::NOT_FETCHED,
    )
}
