//! Origins and hosts: which pages may use this server, and by which names it is asked for. Pure; `guard` applies it to
//! requests. The serialisation that browsers send is canonical, so everything is compared byte by byte.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::problem::ErrorResponse;

/// A page's relation to us; sent by the browser, never by the page.
pub(super) const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// What the page wants with the answer.
pub(super) const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
pub const ORIGINS_MAX: usize = 16;
/// Longest name of a host, as in DNS.
const HOST_BYTES_MAX: usize = 253;
const NAMED: &str = "the setting `origin` names the addresses it may be used at";

/// Scheme, host and port of a page, as browsers write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

/// What is wrong with a configured origin, to be read after it, and the remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OriginFault {
    /// Begins with a verb.
    pub why: &'static str,
    /// An order.
    pub remedy: &'static str,
}

/// Which schemes lead to our own addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Http,
    /// TLS ends here.
    Https,
    /// A proxy before us may end TLS, or somebody comes past it.
    Either,
}

/// The pages that may use this server, and the hosts it answers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origins {
    named: Vec<Origin>,
    scheme: Scheme,
    /// Loopback names are ours: set when nobody else can be at them.
    at_loopback: bool,
}

impl Origin {
    /// Reads one as an operator writes it.
    ///
    /// # Errors
    /// What is wrong.
    pub fn parse(text: &str) -> Result<Self, OriginFault> {
        let fault = |why, remedy| Err(OriginFault { why, remedy });
        const WHOLE: &str = "write scheme, host and port if it is not the usual one, like https://lockscope.example";
        if !text.is_ascii() {
            return fault(
                "has letters beyond ASCII",
                "write its host as browsers send it, like https://xn--bcher-kva.example",
            );
        }
        let Some((scheme, authority)) = text.split_once("://") else { return fault("is no origin", WHOLE) };
        let usual = match scheme {
            "https" => "443",
            "http" => "80",
            _ => return fault("is neither https nor http", WHOLE),
        };
        let Some(host) = Host::parse(authority) else {
            return fault("has more than a lower-case host and a port after its scheme", WHOLE);
        };
        if scheme == "http" && !host.is_loopback() {
            return fault(
                "is not encrypted",
                "write https://, and serve TLS by tls_cert and tls_key or by a proxy with behind_tls_proxy",
            );
        }
        match host.port {
            Some(port) if port != usual => Ok(Self(text.to_owned())),
            Some(_) => Ok(Self(format!("{scheme}://{}", host.name))),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// Host and port, as a browser names them in `Host`.
    fn authority(&self) -> &str {
        self.0.split_once("://").map_or("", |(_, authority)| authority)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A host and its port, strictly: lower case, no user, no dot at its end, an IPv6 address in its shortest form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Host<'a> {
    name: &'a str,
    port: Option<&'a str>,
}

impl<'a> Host<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let inner = rest.split(']').next()?;
                let ip: std::net::Ipv6Addr = inner.parse().ok()?;
                if ip.to_string() != inner {
                    return None;
                }
                text.split_at_checked(inner.len() + 2)?
            }
            None => text.find(':').map_or((text, ""), |at| text.split_at(at)),
        };
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => None,
            None => return None,
            Some(port) => Some(port)
                .filter(|port| port.parse::<u16>().is_ok_and(|number| number > 0 && number.to_string() == *port))
                .map(Some)?,
        };
        (name.starts_with('[') || is_name(name)).then_some(Self { name, port })
    }

    fn ip(&self) -> Option<IpAddr> {
        self.name.trim_start_matches('[').trim_end_matches(']').parse().ok()
    }

    fn is_loopback(&self) -> bool {
        self.name == "localhost" || self.ip().is_some_and(|ip| ip.to_canonical().is_loopback())
    }
}

/// Labels of small letters, digits, dashes and underscores. What ends in a number must be an IPv4 address, as browsers
/// have it.
fn is_name(name: &str) -> bool {
    let is_good = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'-' | b'_');
    let labels_are_good =
        name.split('.').all(|label| !label.is_empty() && label.len() <= 63 && label.bytes().all(is_good));
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_numeric = last.bytes().all(|c| c.is_ascii_digit()) || last.starts_with("0x");
    name.len() <= HOST_BYTES_MAX && labels_are_good && (!is_numeric || name.parse::<std::net::Ipv4Addr>().is_ok())
}

pub fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

impl Origins {
    /// Those that were configured, beside our own.
    pub fn new(listen: SocketAddr, scheme: Scheme, named: Vec<Origin>) -> Self {
        Self { named, scheme, at_loopback: is_loopback(listen.ip()) }
    }

    /// What is ours when nothing is said: this machine, unencrypted.
    pub fn loopback() -> Self {
        Self { named: Vec::new(), scheme: Scheme::Http, at_loopback: true }
    }

    /// Whether answers may say that everything here is encrypted.
    pub(super) fn is_encrypted(&self) -> bool {
        self.scheme != Scheme::Http
    }

    /// Whether we answer to a host: our own on loopback (a tunnel's port may be another), the address the connection
    /// came in at, or a configured one. A foreign name that was made to lead here is none of them.
    fn answers_to(&self, host: &str, local: Option<SocketAddr>) -> bool {
        let Some(parsed) = Host::parse(host) else { return false };
        self.is_own(parsed, local)
            || self.named.iter().any(|origin| origin.authority() == host || usual_port_of(origin, host))
    }

    fn is_own(&self, host: Host<'_>, local: Option<SocketAddr>) -> bool {
        if self.at_loopback && host.is_loopback() {
            return true;
        }
        local.is_some_and(|local| {
            let usual = if self.scheme == Scheme::Https { "443" } else { "80" };
            host.ip() == Some(local.ip().to_canonical()) && host.port.unwrap_or(usual) == local.port().to_string()
        })
    }

    /// Whether a page may send requests that change something: a configured one, or one of the very host it asked.
    fn allows(&self, origin: &str, host: &str, local: Option<SocketAddr>) -> bool {
        if self.named.iter().any(|named| named.0 == origin) {
            return true;
        }
        let Some((scheme, authority)) = origin.split_once("://") else { return false };
        let fits = match self.scheme {
            Scheme::Http => scheme == "http",
            Scheme::Https => scheme == "https",
            Scheme::Either => matches!(scheme, "http" | "https"),
        };
        fits && authority == host && Host::parse(host).is_some_and(|host| self.is_own(host, local))
    }
}

/// A proxy may write the port that browsers leave out.
fn usual_port_of(origin: &Origin, host: &str) -> bool {
    let port = if origin.0.starts_with("https:") { ":443" } else { ":80" };
    host.strip_suffix(port) == Some(origin.authority())
}

/// Checks by which name we are asked: against pages whose own name was made to lead here (DNS rebinding).
pub(super) fn check_host(
    headers: &HeaderMap,
    allowed: &Origins,
    local: Option<SocketAddr>,
) -> Result<(), ErrorResponse> {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Err(ErrorResponse::bad_request(
            "a request has exactly one Host header; send the host and port that was connected to",
        ));
    };
    if text(host).is_some_and(|host| allowed.answers_to(host, local)) {
        return Ok(());
    }
    let detail = format!("this server is not {}; {NAMED}, like https://lockscope.example", shown(host));
    Err(ErrorResponse::new(StatusCode::MISDIRECTED_REQUEST, detail))
}

/// Checks whether the page that sent a request may change something. Browsers name it in `Origin`; where they do not,
/// `Sec-Fetch-Site` says so. Scripts send neither; a caller with a cookie is in a browser and must send one.
pub(super) fn check(
    headers: &HeaderMap,
    allowed: &Origins,
    local: Option<SocketAddr>,
    by_cookie: bool,
) -> Result<(), ErrorResponse> {
    let site = single(headers, &FETCH_SITE)?;
    let origin = single(headers, &ORIGIN)?;
    if let Some(site) = site
        && !matches!(text(site), Some("same-origin" | "none"))
    {
        return Err(forbidden(format!(
            "a request of another site ({}) may not send requests here; open the dashboard at its own address",
            shown(site)
        )));
    }
    let Some(origin) = origin else {
        return match (site, by_cookie) {
            (None, true) => Err(forbidden(
                "a request with a cookie must say which page sent it, in Origin or Sec-Fetch-Site; use a newer browser, or a token instead of a cookie",
            )),
            _ => Ok(()),
        };
    };
    let host = headers.get(HOST).and_then(text).unwrap_or_default();
    if text(origin).is_some_and(|origin| allowed.allows(origin, host, local)) {
        return Ok(());
    }
    Err(forbidden(format!(
        "a page of {} may not send requests here; open the dashboard at the address it is served from; {NAMED}",
        shown(origin)
    )))
}

/// The one header of this name, if any.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a HeaderValue>, ErrorResponse> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (first, None) => Ok(first),
        (_, Some(_)) => Err(ErrorResponse::bad_request(format!("the header {name} came more than once; send it once"))),
    }
}

pub(super) fn forbidden(detail: impl Into<String>) -> ErrorResponse {
    ErrorResponse::new(StatusCode::FORBIDDEN, detail)
}

fn text(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok()
}

/// A header as it may be echoed.
fn shown(value: &HeaderValue) -> String {
    super::problem::echo(&String::from_utf8_lossy(value.as_bytes()))
}

#[cfg(test)]
mod tests;
