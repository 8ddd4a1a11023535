//! What errors of SQLite mean.

use rusqlite::ErrorCode;

use crate::store::StoreError;

pub(super) fn failed(error: rusqlite::Error) -> StoreError {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full(text),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => StoreError::Denied(text),
        Some(ErrorCode::OperationInterrupted) => StoreError::TooLong,
        // What we write is smaller than any bound.
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::TooBig) => StoreError::Damaged(text),
        Some(_) => StoreError::Failed(text),
        // What is there has another type than was written.
        None => match error {
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..) => StoreError::Damaged(text),
            _ => StoreError::Failed(text),
        },
    }
}
