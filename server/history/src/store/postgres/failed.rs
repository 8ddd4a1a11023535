//! What an error of the database means to a recording.

use lockscope_postgres::DatabaseError;

use crate::store::StoreError;

impl From<DatabaseError> for StoreError {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::Full(why) => Self::Full(why),
            DatabaseError::Denied(why) => Self::Denied(why),
            DatabaseError::Newer { .. } => Self::Newer(error.to_string()),
            DatabaseError::TooLong => Self::TooLong,
            DatabaseError::Unreachable(_)
            | DatabaseError::Refused(_)
            | DatabaseError::Tls(_)
            | DatabaseError::Unfit(_)
            | DatabaseError::Failed(_) => Self::Failed(error.to_string()),
        }
    }
}

/// The same of a write: nobody asked a question.
pub(super) fn write_failed(error: DatabaseError) -> StoreError {
    match error {
        DatabaseError::TooLong => StoreError::Failed(DatabaseError::TooLong.to_string()),
        error => error.into(),
    }
}
