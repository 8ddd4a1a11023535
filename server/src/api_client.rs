//! A running server, asked over its API: bounded in time and size, and every failure one sentence with its remedy.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use lockscope_view::Problem;
use reqwest::{Certificate, Client, Method, RequestBuilder, Response, StatusCode, Url};
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::error::RunError;

const ANSWER_MAX: Duration = Duration::from_secs(20);
/// How long a file may take: a little longer than a server sends one.
const DOWNLOAD_MAX: Duration = Duration::from_secs(700);
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
const REASON_CHARS_MAX: usize = 400;

pub struct ApiClient {
    client: Client,
    base: String,
    token: Option<String>,
}

#[derive(Debug)]
pub enum ApiError {
    Refused {
        status: u16,
        detail: String,
    },
    /// There was no answer that could be read.
    NoAnswer(RunError),
}

impl From<ApiError> for RunError {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::Refused { status, detail } => {
                Self::Unavailable(format!("the server refuses ({status}): {detail}"))
            }
            ApiError::NoAnswer(error) => error,
        }
    }
}

fn unavailable(sentence: String) -> ApiError {
    ApiError::NoAnswer(RunError::Unavailable(sentence))
}

impl ApiClient {
    /// For a server's address; `authorities` is a file with those that sign its certificate, instead of the system's.
    ///
    /// # Errors
    /// An address that is none, a token that would be read on the way, or authorities that can't be used.
    pub fn new(base: &str, token: Option<String>, authorities: Option<&Path>) -> Result<Self, RunError> {
        let bad = |why: &str| {
            RunError::wrong(format!(
                "--server {base:?} {why}; write it like https://lockscope.example or http://127.0.0.1:3000"
            ))
        };
        let url = Url::parse(base).map_err(|_| bad("is no address"))?;
        let is_plain = match url.scheme() {
            "http" => true,
            "https" => false,
            _ => return Err(bad("is neither http nor https")),
        };
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let is_here = host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
        if is_plain && !is_here && token.is_some() {
            return Err(bad("is not encrypted, and anybody on the way could read the token"));
        }
        // A WebSocket is made of an HTTP/1.1 connection.
        let client = Client::builder().http1_only().redirect(reqwest::redirect::Policy::none()).timeout(ANSWER_MAX);
        let client = match authorities {
            Some(file) if !is_plain => client.tls_certs_only(certificates(file)?),
            // Plain HTTP needs no authorities, and a machine may have none.
            _ if is_plain => client.no_proxy().tls_certs_only(std::iter::empty()),
            _ => client,
        };
        let client = client
            .build()
            .map_err(|error| RunError::Unavailable(format!("the server can't be asked ({})", root_cause(&error))))?;
        Ok(Self { client, base: base.trim_end_matches('/').to_owned(), token })
    }

    pub fn base(&self) -> &str {
        &self.base
    }

    pub fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Asks, and reads the answer.
    pub async fn ask<T: serde::de::DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<T, ApiError> {
        self.read(&self.text(method, path, body).await?)
    }

    /// Reads an answer.
    ///
    /// # Errors
    /// When it has another form than ours.
    pub fn read<T: serde::de::DeserializeOwned>(&self, text: &str) -> Result<T, ApiError> {
        serde_json::from_str(text).map_err(|error| {
            unavailable(format!(
                "--server {} sent an unexpected response ({error}); use the same version of Lockscope on both sides",
                self.base
            ))
        })
    }

    /// Asks, and gives the answer as it came.
    pub async fn text(&self, method: Method, path: &str, body: Option<String>) -> Result<String, ApiError> {
        let mut request = self.request(method, path);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body);
        }
        let answer = request.send().await.map_err(|error| self.no_answer(&error))?;
        let answer = self.accepted(answer).await?;
        String::from_utf8(self.whole(answer).await?).map_err(|_| {
            unavailable(format!("--server {} sent a response that is not text; is it Lockscope?", self.base))
        })
    }

    /// Asks, and writes the answer to a new file that only its user may read. What is not whole is removed.
    ///
    /// # Errors
    /// See [`ApiError`]; a file that is there, or can't be written.
    pub async fn download(&self, path: &str, to: &Path) -> Result<(), ApiError> {
        let shown = to.display();
        let bad = |error: std::io::Error| {
            ApiError::NoAnswer(RunError::wrong(format!(
                "--out {shown} can't be written ({error}); name a new file, where there is room"
            )))
        };
        let request = self.request(Method::GET, path).timeout(DOWNLOAD_MAX);
        let answer = request.send().await.map_err(|error| self.no_answer(&error))?;
        let mut answer = self.accepted(answer).await?;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to).map_err(bad)?;
        let written = loop {
            match answer.chunk().await {
                Ok(Some(chunk)) => {
                    if let Err(error) = file.write_all(&chunk) {
                        break Err(bad(error));
                    }
                }
                Ok(None) => break file.sync_all().map_err(bad),
                Err(error) => break Err(self.no_answer(&error)),
            }
        };
        if written.is_err() {
            // What went wrong is said already.
            let _ = std::fs::remove_file(to);
        }
        written
    }

    /// Opens a WebSocket of a subprotocol: with the same address, token, authorities and refusals as every other request.
    /// It does not end by itself.
    ///
    /// # Errors
    /// See [`ApiError`]; a server that answers with anything but a WebSocket of this subprotocol.
    pub async fn socket(&self, path: &str, subprotocol: &str) -> Result<reqwest::Upgraded, ApiError> {
        let key = generate_key();
        let request = self
            .request(Method::GET, path)
            .header("connection", "Upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-version", "13")
            .header("sec-websocket-key", &key)
            .header("sec-websocket-protocol", subprotocol);
        let answer = request.send().await.map_err(|error| self.no_answer(&error))?;
        if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
            self.accepted(answer).await?;
            return Err(self.no_socket());
        }
        let has = |name: &str, value: &str| {
            answer.headers().get(name).is_some_and(|found| found.as_bytes() == value.as_bytes())
        };
        if !has("sec-websocket-accept", &derive_accept_key(key.as_bytes()))
            || !has("sec-websocket-protocol", subprotocol)
        {
            return Err(self.no_socket());
        }
        answer.upgrade().await.map_err(|error| self.no_answer(&error))
    }

    fn no_socket(&self) -> ApiError {
        unavailable(format!(
            "--server {} opens no live socket; is it Lockscope, and do proxies before it pass WebSockets on?",
            self.base
        ))
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.base));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    async fn accepted(&self, answer: Response) -> Result<Response, ApiError> {
        let status = answer.status();
        if status.is_redirection() {
            let to = answer.headers().get("location").and_then(|to| to.to_str().ok()).unwrap_or("elsewhere");
            let to: String = lockscope_view::visible(to).chars().take(REASON_CHARS_MAX).collect();
            return Err(unavailable(format!(
                "--server {} redirects to {to}; name Lockscope's own address with --server",
                self.base
            )));
        }
        if status.is_success() {
            return Ok(answer);
        }
        let bytes = self.whole(answer).await?;
        let told = serde_json::from_slice(&bytes)
            .map_or_else(|_| "without a reason; is it Lockscope?".to_owned(), |problem: Problem| problem.detail);
        let detail = lockscope_view::visible(&told).chars().take(REASON_CHARS_MAX).collect();
        Err(ApiError::Refused { status: status.as_u16(), detail })
    }

    async fn whole(&self, mut answer: Response) -> Result<Vec<u8>, ApiError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|error| self.no_answer(&error))? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > ANSWER_BYTES_MAX {
                return Err(unavailable(format!(
                    "--server {} sent more than {ANSWER_BYTES_MAX} bytes; is it Lockscope?",
                    self.base
                )));
            }
        }
        Ok(bytes)
    }

    fn no_answer(&self, error: &reqwest::Error) -> ApiError {
        let why = root_cause(error);
        let remedy = if error.is_timeout() {
            "check its load and its network"
        } else if why.contains("certificate") {
            "name the authorities of its certificate with --server-ca FILE"
        } else {
            "check that it runs, and where with --server"
        };
        unavailable(format!("--server {} can't be asked ({why}); {remedy}", self.base))
    }
}

fn certificates(file: &Path) -> Result<Vec<Certificate>, RunError> {
    let shown = file.display();
    let text = std::fs::read(file).map_err(|error| {
        RunError::wrong(format!("--server-ca {shown} can't be read ({error}); name a file that this user may read"))
    })?;
    let found = Certificate::from_pem_bundle(&text).ok().filter(|found| !found.is_empty());
    found.ok_or_else(|| {
        RunError::wrong(format!(
            "--server-ca {shown} has no certificate; name a file with PEM, beginning with -----BEGIN CERTIFICATE-----"
        ))
    })
}

/// The token in a file.
///
/// # Errors
/// When the file can't be read or has none.
pub fn token_in(file: &Path) -> Result<String, RunError> {
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| {
        RunError::wrong(format!(
            "--token-file {} can't be read ({error}); name a file that this user may read",
            file.display()
        ))
    })?;
    checked(&text).ok_or_else(|| {
        RunError::wrong(format!(
            "--token-file {} has no token; write what `lockscope token new` printed into it",
            file.display()
        ))
    })
}

pub fn checked(text: &str) -> Option<String> {
    let token = text.trim();
    (!token.is_empty() && !token.contains(|char: char| char.is_whitespace() || char.is_control()))
        .then(|| token.to_owned())
}

/// What caused an error in the first place.
pub(crate) fn root_cause(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), root_cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_sent_where_it_could_be_read() {
        let token = || Some("lks_1".to_owned());
        for good in ["http://127.0.0.1:3000", "http://localhost:3000/", "http://[::1]:3000"] {
            assert!(ApiClient::new(good, token(), None).is_ok(), "{good}");
        }
        assert!(ApiClient::new("http://lab.example", None, None).is_ok());
        for (bad, why) in [
            ("http://lab.example", "is not encrypted"),
            ("ftp://a", "is neither http nor https"),
            ("lab", "is no address"),
        ] {
            let error = ApiClient::new(bad, token(), None).err().unwrap().to_string();
            assert!(error.contains(why) && !error.contains("lks_1"), "{error}");
        }
    }

    #[test]
    fn authorities_that_are_none_are_named() {
        let error =
            ApiClient::new("https://a", None, Some(Path::new("/nonexistent/ca.pem"))).err().unwrap().to_string();
        assert!(error.starts_with("--server-ca /nonexistent/ca.pem can't be read ("), "{error}");
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = ApiClient::new("https://a", None, Some(file.path())).err().unwrap().to_string();
        assert!(error.contains("has no certificate; name a file with PEM"), "{error}");
    }

    #[test]
    fn a_token_is_one_word() {
        assert_eq!(checked(" lks_1\n").as_deref(), Some("lks_1"));
        for bad in ["", " \n", "a b", "a\u{1}b"] {
            assert_eq!(checked(bad), None, "{bad:?}");
        }
    }
}
