//! Asks the provider: no redirects, no proxy of the surroundings, a time-out, and an answer of bounded size.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};
use reqwest::redirect::Policy;
use reqwest::{Client, Request, Url};

use super::fault::{OpenIdFault, whole};
use crate::OpenId;

const ANSWER_BYTES_MAX: usize = 512 * 1024;
const CONNECT_MAX: Duration = Duration::from_secs(3);
const ANSWER_MAX: Duration = Duration::from_secs(4);

#[derive(Clone, Debug)]
pub(super) struct Fetch {
    client: Client,
    is_plain: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct FetchError(String);

impl Fetch {
    pub(super) fn new(issuer: &str) -> Result<Self, OpenIdFault> {
        let is_plain = issuer.starts_with("http://");
        let client =
            Client::builder().no_proxy().redirect(Policy::none()).connect_timeout(CONNECT_MAX).timeout(ANSWER_MAX);
        // Plain HTTP needs no authorities, and a machine may have none.
        let client = if is_plain { client.tls_certs_only(std::iter::empty()) } else { client };
        let client = client.build().map_err(|error| OpenIdFault::provider(&whole(&error)))?;
        Ok(Self { client, is_plain })
    }

    /// Whether an address the provider names may be asked, or people be sent there.
    pub(super) fn may_ask(&self, url: &Url) -> Result<(), OpenIdFault> {
        if OpenId::is_safe(url, self.is_plain) {
            return Ok(());
        }
        Err(OpenIdFault::provider(&format!("it names the address {url}, which is not encrypted")))
    }

    async fn ask(&self, request: HttpRequest) -> Result<HttpResponse, FetchError> {
        let no_answer = |error: reqwest::Error| FetchError(whole(&error.without_url()));
        let request = Request::try_from(request).map_err(no_answer)?;
        self.may_ask(request.url()).map_err(|fault| FetchError(fault.to_string()))?;
        let mut response = self.client.execute(request).await.map_err(no_answer)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(no_answer)? {
            if body.len() + chunk.len() > ANSWER_BYTES_MAX {
                return Err(FetchError(format!("an answer has more than {ANSWER_BYTES_MAX} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        let mut answer = HttpResponse::new(body);
        (*answer.status_mut(), *answer.headers_mut()) = (status, headers);
        Ok(answer)
    }
}

impl<'c> AsyncHttpClient<'c> for Fetch {
    type Error = FetchError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, FetchError>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.ask(request))
    }
}
