//! Where the recordings of a server are, opened: files in a directory, or a database.

use std::sync::Arc;
use std::time::Duration;

use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{Store, StoreError};

use crate::config::HistoryPlace;

#[cfg(feature = "postgres")]
use lockscope_history::store::postgres::{PostgresHistory, PostgresStore};

pub(crate) type OpenStore = Arc<dyn Store>;

#[derive(Clone, Debug)]
pub(crate) enum OpenPlace {
    Directory(Arc<std::path::Path>),
    /// A database, with the connections that all ensembles share.
    #[cfg(feature = "postgres")]
    Database(PostgresHistory),
}

impl OpenPlace {
    /// Opens nothing yet. `silence`: after so long without a word another server may write a recording; None: the
    /// database's own bound.
    #[cfg_attr(not(feature = "postgres"), expect(unused_variables, reason = "files have one writer"))]
    pub(crate) fn of(place: &HistoryPlace, silence: Option<Duration>) -> Result<Self, StoreError> {
        match place {
            HistoryPlace::Directory(dir) => Ok(Self::Directory(dir.as_path().into())),
            #[cfg(feature = "postgres")]
            HistoryPlace::Database(target) => {
                let target = match silence {
                    Some(silence) => target.clone().with_silence(silence),
                    None => target.clone(),
                };
                PostgresHistory::new(target).map(Self::Database)
            }
        }
    }

    /// Looks whether it can be used, without changing it, where that is not known before it is. Blocking.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        match self {
            Self::Directory(_) => Ok(()),
            #[cfg(feature = "postgres")]
            Self::Database(history) => history.check(),
        }
    }

    /// Opens the recording of an ensemble to write it. Blocking.
    ///
    /// # Errors
    /// It can't be used, or another server writes it.
    pub(crate) fn open(&self, ensemble: &str) -> Result<OpenStore, StoreError> {
        match self {
            Self::Directory(dir) => Ok(Arc::new(SqliteStore::open(dir, ensemble)?)),
            #[cfg(feature = "postgres")]
            Self::Database(history) => Ok(Arc::new(PostgresStore::open(history, ensemble)?)),
        }
    }

    /// Whether several servers may have it, of which one writes.
    pub(crate) fn is_shared(&self) -> bool {
        !matches!(self, Self::Directory(_))
    }

    /// Opens the recording of an ensemble that another server writes, to read it; None where that can't be. Blocking.
    #[cfg_attr(not(feature = "postgres"), expect(unused_variables, reason = "files have one reader and writer"))]
    pub(crate) fn open_to_read(&self, ensemble: &str) -> Result<Option<OpenStore>, StoreError> {
        match self {
            Self::Directory(_) => Ok(None),
            #[cfg(feature = "postgres")]
            Self::Database(history) => Ok(Some(Arc::new(PostgresStore::open_to_read(history, ensemble)?))),
        }
    }
}
