//! Why a database can't do what it was asked for, in words that say what to do.

use std::error::Error as _;

use tokio_postgres::error::SqlState;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseError {
    /// No connection can be made, or the one there was is lost.
    #[error("PostgreSQL can't be reached: {0}")]
    Unreachable(String),
    /// It is there and does not let us in.
    #[error("PostgreSQL refuses the connection: {0}")]
    Refused(String),
    #[error("the TLS connection to PostgreSQL failed: {0}")]
    Tls(String),
    #[error("PostgreSQL has no room left: {0}")]
    Full(String),
    /// The user may not do that.
    #[error("PostgreSQL denies access: {0}")]
    Denied(String),
    /// It is no database for this program: too old, or of another encoding.
    #[error("this PostgreSQL can't be used: {0}")]
    Unfit(String),
    /// Its tables are of a later version.
    #[error("the tables in PostgreSQL are of version {found}, and this program knows {known}; run the newer program")]
    Newer { found: i32, known: i32 },
    /// No answer within the bound.
    #[error("PostgreSQL did not answer in time")]
    TooLong,
    /// Anything else.
    #[error("PostgreSQL failed: {0}")]
    Failed(String),
}

impl DatabaseError {
    /// Whether neither this connection nor a further try at once is of use. A server that only lets read is included: another
    /// one may be the primary by now.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Refused(_) | Self::Tls(_) | Self::Unfit(_))
    }
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(told) = error.as_db_error() else { return of_connection(&error) };
        let text = format!("{} (SQLSTATE {})", told.message(), told.code().code());
        let code = told.code();
        match code.code().get(..2).unwrap_or_default() {
            _ if *code == SqlState::QUERY_CANCELED || *code == SqlState::LOCK_NOT_AVAILABLE => Self::TooLong,
            _ if *code == SqlState::READ_ONLY_SQL_TRANSACTION => {
                Self::Unreachable(format!("{text}: this server is a standby; name the primary, or all servers"))
            }
            _ if *code == SqlState::INSUFFICIENT_PRIVILEGE => {
                Self::Denied(format!("{text}; grant the user CREATE and TEMPORARY on the database"))
            }
            _ if *code == SqlState::INVALID_PASSWORD => Self::Refused(format!("{text}; check user and password")),
            _ if *code == SqlState::INVALID_CATALOG_NAME => Self::Refused(format!("{text}; create the database")),
            _ if *code == SqlState::TOO_MANY_CONNECTIONS => {
                Self::Refused(format!("{text}; raise max_connections, or let fewer clients connect"))
            }
            "28" => Self::Refused(format!("{text}; check the user, and pg_hba.conf on the server")),
            _ if *code == SqlState::DISK_FULL => Self::Full(text),
            // Connection exceptions, and what a server says that is being stopped or only starts.
            "08" | "57" => Self::Unreachable(text),
            _ => Self::Failed(text),
        }
    }
}

/// What went wrong before a server could say anything.
fn of_connection(error: &tokio_postgres::Error) -> DatabaseError {
    let mut text = error.to_string();
    let mut cause = error.source();
    let is_tls = text.contains("TLS");
    let mut tls = None;
    while let Some(error) = cause {
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let inner = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>());
        tls = tls.or(error.downcast_ref::<rustls::Error>()).or(inner);
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    if is_tls || tls.is_some() {
        return DatabaseError::Tls(format!("{text}; {}", remedy(tls)));
    }
    if error.is_closed() || error.source().is_some_and(|cause| cause.is::<std::io::Error>()) {
        return DatabaseError::Unreachable(text);
    }
    match text {
        text if text.contains("password") => DatabaseError::Refused(format!("{text}; give the URL a password")),
        text if text.contains("connecting") || text.contains("lookup") => DatabaseError::Unreachable(text),
        text => DatabaseError::Failed(text),
    }
}

/// What to do about TLS that can't be agreed on. Plain text is named where the server has nothing else alone.
fn remedy(error: Option<&rustls::Error>) -> &'static str {
    use rustls::CertificateError::{
        BadSignature, Expired, ExpiredContext, NotValidForName, NotValidForNameContext, NotValidYet,
        NotValidYetContext, UnknownIssuer,
    };
    match error {
        None => "turn TLS on at the server, or allow plain text with sslmode=disable",
        // An authority of the same name that is another one leaves a signature that does not fit.
        Some(rustls::Error::InvalidCertificate(UnknownIssuer | BadSignature)) => {
            "name the authority that signed its certificate with sslrootcert=FILE"
        }
        Some(rustls::Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. })) => {
            "name the server as its certificate does, or give it one for this name"
        }
        Some(rustls::Error::InvalidCertificate(
            Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. },
        )) => "renew its certificate, and look at the clocks of both machines",
        Some(_) => "look at the server's certificate and its log",
    }
}
