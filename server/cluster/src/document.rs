//! Small documents that replicas share: each is read, changed and written only if nobody wrote it meanwhile.

use std::time::Duration;

use zookeeper_client::{Acls, Client, CreateMode, Error};

use crate::cluster::Cluster;

/// How long one takes at most, all tries together.
const WITHIN: Duration = Duration::from_secs(3);
/// Tries against others who write at the same moment.
const TRIES_MAX: u32 = 20;
const PAUSE_MS_MAX: u64 = 20;
/// Bytes of one; ZooKeeper takes 1 MB.
pub const DOCUMENT_BYTES_MAX: usize = 256 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document<'a> {
    /// What was released lately.
    Limits,
    /// What the receiver of a route was told.
    Told(&'a str),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    #[error("the cluster can't be reached: {0}")]
    NotConnected(String),
    #[error("ZooKeeper did not answer within {0:?}")]
    Late(Duration),
    /// Others wrote it all the time.
    #[error("other replicas wrote at the same moment, {0} times")]
    Busy(u32),
    #[error("it has {0} bytes, and at most {DOCUMENT_BYTES_MAX} are kept")]
    TooLarge(usize),
    /// Something else.
    #[error("ZooKeeper answered {0}")]
    Refused(String),
}

impl Cluster {
    /// What a document holds; empty where nobody wrote it yet.
    ///
    /// # Errors
    /// When it can't be read now.
    pub async fn read(&self, document: Document<'_>) -> Result<Vec<u8>, DocumentError> {
        let client = self.connected()?;
        let path = self.path_of(document);
        let reading = async {
            match read(&client, &path).await {
                Ok(found) => Ok(found.map(|(data, _)| data).unwrap_or_default()),
                Err(error) => Err(refused(&error)),
            }
        };
        tokio::time::timeout(WITHIN, reading).await.map_err(|_| DocumentError::Late(WITHIN))?
    }

    /// Changes a document as if nobody else did. `change` gets what it holds, and says what comes of it and what is to be
    /// written; None: nothing. It is called again where another replica was first.
    ///
    /// # Errors
    /// When it is not known to have been written.
    pub async fn update<T>(
        &self,
        document: Document<'_>,
        change: impl Fn(&[u8]) -> (T, Option<Vec<u8>>) + Send,
    ) -> Result<T, DocumentError> {
        let client = self.connected()?;
        let path = self.path_of(document);
        let acl = self.acl();
        let updating = async {
            for _ in 0..TRIES_MAX {
                let found = read(&client, &path).await.map_err(|error| refused(&error))?;
                let (made, written) = change(found.as_ref().map_or(&[], |(data, _)| data));
                let Some(written) = written else { return Ok(made) };
                if written.len() > DOCUMENT_BYTES_MAX {
                    return Err(DocumentError::TooLarge(written.len()));
                }
                match write(&client, &path, &written, found.map(|(_, version)| version), Acls::new(&acl)).await {
                    Ok(()) => return Ok(made),
                    Err(Error::BadVersion | Error::NodeExists | Error::NoNode) => {}
                    Err(error) => return Err(refused(&error)),
                }
                tokio::time::sleep(Duration::from_millis(rand::random::<u64>() % PAUSE_MS_MAX)).await;
            }
            Err(DocumentError::Busy(TRIES_MAX))
        };
        tokio::time::timeout(WITHIN, updating).await.map_err(|_| DocumentError::Late(WITHIN))?
    }

    pub(crate) fn connected(&self) -> Result<Client, DocumentError> {
        self.client().ok_or_else(|| DocumentError::NotConnected(self.why()))
    }

    fn path_of(&self, document: Document<'_>) -> String {
        match document {
            Document::Limits => self.paths().limits(),
            Document::Told(route) => self.paths().told(route),
        }
    }
}

pub(crate) fn refused(error: &Error) -> DocumentError {
    match error {
        Error::ConnectionLoss | Error::SessionExpired | Error::ClientClosed => {
            DocumentError::NotConnected(error.to_string())
        }
        error => DocumentError::Refused(error.to_string()),
    }
}

async fn read(client: &Client, path: &str) -> Result<Option<(Vec<u8>, i32)>, Error> {
    match client.get_data(path).await {
        Ok((data, stat)) => Ok(Some((data, stat.version))),
        Err(Error::NoNode) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn write(client: &Client, path: &str, data: &[u8], version: Option<i32>, acls: Acls<'_>) -> Result<(), Error> {
    if let Some(version) = version {
        return client.set_data(path, data, Some(version)).await.map(drop);
    }
    let options = CreateMode::Persistent.with_acls(acls);
    if let Some((directory, _)) = path.rsplit_once('/') {
        client.mkdir(directory, &options).await?;
    }
    client.create(path, data, &options).await.map(drop)
}
