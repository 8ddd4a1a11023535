//! Tables, and how those of an earlier version become those of this one: forward only, one after another, never while
//! another does the same.

use tokio_postgres::{Client, GenericClient};

use crate::error::DatabaseError;

/// The lock of whoever changes tables, in the database.
const LOCK: i64 = 0x4c6b_5363_6f70_6501;

/// The tables of one part of the program.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    /// The part, by a name that stays.
    pub part: &'static str,
    /// Steps from nothing to the present version; each is run once, and stays as it is for ever.
    pub steps: &'static [&'static str],
}

impl Tables {
    /// The present version.
    pub fn known(&self) -> i32 {
        i32::try_from(self.steps.len()).unwrap_or(i32::MAX)
    }

    /// Brings the tables to the present version, all or nothing; makes what is missing.
    ///
    /// # Errors
    /// They are of a later version, or can't be changed.
    pub async fn migrate(&self, client: &mut Client) -> Result<(), DatabaseError> {
        // Most of the time there is nothing to do, and nobody has to wait.
        if self.version(client).await? == Some(self.known()) {
            return Ok(());
        }
        let transaction = client.transaction().await?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        // Where somebody made it for us, we need not be allowed to.
        let sql = "SELECT to_regnamespace('lockscope') IS NULL";
        if transaction.query_one(sql, &[]).await?.try_get(0)? {
            transaction.batch_execute("CREATE SCHEMA lockscope").await?;
        }
        let make = "CREATE TABLE IF NOT EXISTS lockscope.version (part text PRIMARY KEY, version int NOT NULL)";
        transaction.batch_execute(make).await?;
        let version = self.version(&transaction).await?.unwrap_or(0);
        for (at, step) in self.steps.iter().enumerate().skip(usize::try_from(version).unwrap_or(0)) {
            transaction.batch_execute(step).await?;
            let number = i32::try_from(at + 1).unwrap_or(i32::MAX);
            let sql = "INSERT INTO lockscope.version VALUES ($1, $2) ON CONFLICT (part) DO UPDATE SET version = $2";
            transaction.execute(sql, &[&self.part, &number]).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// The version of the tables; None where there are none.
    ///
    /// # Errors
    /// They are of a later version, or the database can't be asked.
    pub async fn version(&self, client: &impl GenericClient) -> Result<Option<i32>, DatabaseError> {
        let row = client.query_one("SELECT to_regclass('lockscope.version') IS NOT NULL", &[]).await?;
        if !row.try_get::<_, bool>(0)? {
            return Ok(None);
        }
        let sql = "SELECT version FROM lockscope.version WHERE part = $1";
        let row = client.query_opt(sql, &[&self.part]).await?;
        match row.map(|row| row.try_get(0)).transpose()? {
            Some(found) if found > self.known() => Err(DatabaseError::Newer { found, known: self.known() }),
            version => Ok(version),
        }
    }
}
