//! How far the log was delivered, on disk.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{AuditError, files};

const CURSOR: &str = "audit.webhook";

#[derive(Serialize, Deserialize)]
struct Cursor {
    id: u64,
}

/// The number of the last record that was delivered, or need not be.
pub(super) fn read(dir: &Path) -> Result<Option<u64>, AuditError> {
    let path = dir.join(CURSOR);
    let read = files::read(&path).map_err(|error| files::failed("followed", &path, &error))?;
    let Some(text) = read else { return Ok(None) };
    serde_json::from_slice::<Cursor>(&text).map(|cursor| Some(cursor.id)).map_err(|_| {
        let path = path.display();
        AuditError(format!(
            "{path} does not hold a number; write {{\"id\":N}} with the last record that was delivered, or remove it to begin with new ones"
        ))
    })
}

pub(super) fn write(dir: &Path, id: u64) -> Result<(), AuditError> {
    let text = format!("{{\"id\":{id}}}\n");
    files::replace(dir, CURSOR, text.as_bytes()).map_err(|error| files::failed("followed", &dir.join(CURSOR), &error))
}
