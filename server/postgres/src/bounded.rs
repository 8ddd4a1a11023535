//! Rows of a query as far as they fit: whoever can write a database fills nobody's memory. How long one row may be is a
//! condition of the query, as it comes whole or not at all.

use std::pin::pin;

use futures_util::TryStreamExt as _;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

use crate::error::DatabaseError;

/// Bytes that the rows of one look have together.
pub const READ_BYTES_MAX: usize = 128 << 20;

/// Rows up to the first that makes them more than so many bytes, and whether these are all.
///
/// # Errors
/// The query failed.
pub async fn rows_within(
    client: &Client,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
    bytes_max: usize,
) -> Result<(Vec<Row>, bool), DatabaseError> {
    let mut stream = pin!(client.query_raw(sql, values.iter().copied()).await?);
    let (mut rows, mut bytes) = (Vec::new(), 0);
    while let Some(row) = stream.try_next().await? {
        bytes += row.raw_size_bytes();
        rows.push(row);
        if bytes > bytes_max {
            return Ok((rows, false));
        }
    }
    Ok((rows, true))
}
