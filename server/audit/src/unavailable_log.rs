//! An audit log that is not available: every request is answered with the reason.

use futures_util::future::{BoxFuture, ready};
use lockscope_view::AuditPage;

use super::{AuditError, Entry, Export, Journal, PageQuery, Records};

/// No log. Nothing that needs a record can be done.
#[derive(Clone, Debug)]
pub struct UnavailableLog(AuditError);

impl UnavailableLog {
    pub fn without_directory() -> Self {
        Self(AuditError(
            "no audit log is kept here; start Lockscope with --data-dir DIR to allow releases and record them there"
                .to_owned(),
        ))
    }

    pub fn because(error: AuditError) -> Self {
        Self(error)
    }
}

impl Journal for UnavailableLog {
    fn append(&self, _: Entry) -> BoxFuture<'_, Result<u64, AuditError>> {
        Box::pin(ready(Err(self.0.clone())))
    }
}

impl Records for UnavailableLog {
    fn page(&self, _: PageQuery) -> BoxFuture<'_, Result<AuditPage, AuditError>> {
        Box::pin(ready(Err(self.0.clone())))
    }

    fn export(&self) -> BoxFuture<'_, Result<Export, AuditError>> {
        Box::pin(ready(Err(self.0.clone())))
    }
}
