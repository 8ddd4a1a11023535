//! Every cell of method, page, site, mode, credential, form and place, against rules written down a second time.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};

use super::*;

const METHODS: [Method; 7] =
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS];
const ORIGINS: [Option<&str>; 6] = [
    None,
    Some("http://localhost:3000"),
    Some("https://lockscope.example"),
    Some("https://evil.example"),
    Some("null"),
    Some("http://localhost:5173"),
];
const SITES: [Option<&str>; 6] =
    [None, Some("same-origin"), Some("none"), Some("same-site"), Some("cross-site"), Some("nonsense")];
const MODES: [Option<&str>; 5] = [None, Some("navigate"), Some("cors"), Some("no-cors"), Some("websocket")];
const CREDENTIALS: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];
/// Content type, and whether a body comes.
const FORMS: [(Option<&str>, bool); 8] = [
    (None, false),
    (None, true),
    (Some("application/json"), true),
    (Some("Application/JSON; charset=utf-8"), true),
    (Some("application/x-www-form-urlencoded"), true),
    (Some("multipart/form-data; boundary=x"), true),
    (Some("text/plain"), true),
    (Some("text/plain; application/json"), true),
];
const PATHS: [&str; 3] = ["/api/v1/release/plan", "/sign-in", "/metrics"];

#[derive(Clone, Copy, Debug)]
struct Cell {
    method: usize,
    origin: Option<&'static str>,
    site: Option<&'static str>,
    mode: Option<&'static str>,
    cookie: bool,
    bearer: bool,
    form: (Option<&'static str>, bool),
    path: &'static str,
}

impl Cell {
    fn request(&self) -> Request {
        let mut request = Request::new(Body::empty());
        *request.method_mut() = METHODS[self.method].clone();
        *request.uri_mut() = self.path.parse().unwrap();
        let headers = request.headers_mut();
        headers.insert(HOST, HeaderValue::from_static("localhost:3000"));
        for (name, value) in
            [(ORIGIN, self.origin), (FETCH_SITE, self.site), (FETCH_MODE, self.mode), (CONTENT_TYPE, self.form.0)]
        {
            value.map(|value| headers.insert(name, HeaderValue::from_static(value)));
        }
        if self.form.1 {
            headers.insert(CONTENT_LENGTH, HeaderValue::from_static("2"));
        }
        if self.cookie {
            headers.insert(COOKIE, HeaderValue::from_static("lockscope=1"));
        }
        if self.bearer {
            headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer x"));
        }
        request
    }

    /// The rules again: 200 is "goes on".
    fn expected(&self) -> u16 {
        let is_api = self.path == PATHS[0];
        if self.method < 2 {
            let is_page = self.path == PATHS[1];
            return if self.site == Some("cross-site") && self.mode != Some("navigate") && !is_page {
                403
            } else {
                200
            };
        }
        let site_is_ours = [None, Some("same-origin"), Some("none")].contains(&self.site);
        let origin_is_ours = ORIGINS[..3].contains(&self.origin);
        let is_unsaid = self.site.is_none() && self.origin.is_none();
        if !site_is_ours || !origin_is_ours || (is_unsaid && self.cookie) {
            return 403;
        }
        let json = [FORMS[0], FORMS[2], FORMS[3]].contains(&self.form);
        if is_api && !json { 415 } else { 200 }
    }
}

fn cells() -> impl Iterator<Item = Cell> {
    let sizes = [METHODS.len(), ORIGINS.len(), SITES.len(), MODES.len(), CREDENTIALS.len(), FORMS.len(), PATHS.len()];
    (0..sizes.iter().product()).map(move |mut number: usize| {
        let mut at = sizes.map(|size| {
            let index = number % size;
            number /= size;
            index
        });
        let (cookie, bearer) = CREDENTIALS[at[4]];
        at[0] %= METHODS.len();
        Cell {
            method: at[0],
            origin: ORIGINS[at[1]],
            site: SITES[at[2]],
            mode: MODES[at[3]],
            cookie,
            bearer,
            form: FORMS[at[5]],
            path: PATHS[at[6]],
        }
    })
}

#[test]
fn every_cell_is_as_the_rules_say() {
    let origins = Origins::new(
        "127.0.0.1:3000".parse().unwrap(),
        crate::Scheme::Http,
        vec![crate::Origin::parse("https://lockscope.example").unwrap()],
    );
    let (mut cells_seen, mut refused, mut forged) = (0_u32, 0_u32, 0_u32);
    for cell in cells() {
        let told = check(&cell.request(), &origins, None)
            .err()
            .map_or(200, |refused| refused.into_response().status().as_u16());
        assert_eq!(told, cell.expected(), "{cell:?}");
        // What a foreign page makes a browser send: its origin, or a site that is not ours, or nothing but a form.
        let is_foreign = matches!(cell.origin, Some("https://evil.example" | "null" | "http://localhost:5173"))
            || matches!(cell.site, Some("same-site" | "cross-site"));
        if cell.method >= 2 && is_foreign {
            forged += 1;
            assert_ne!(told, 200, "{cell:?}");
        }
        cells_seen += 1;
        refused += u32::from(told != 200);
    }
    assert!(
        cells_seen >= 100_000 && forged >= 50_000 && refused > forged,
        "{cells_seen} cells, {forged} forged, {refused} refused"
    );
}

#[test]
fn two_content_types_or_chunks_without_one_are_no_json() {
    let mut request = Cell {
        method: 2,
        origin: None,
        site: None,
        mode: None,
        cookie: false,
        bearer: true,
        form: FORMS[2],
        path: PATHS[0],
    }
    .request();
    assert!(check(&request, &Origins::loopback(), None).is_ok());
    request.headers_mut().append(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    assert!(check(&request, &Origins::loopback(), None).is_err());
    request.headers_mut().remove(CONTENT_TYPE);
    request.headers_mut().remove(CONTENT_LENGTH);
    assert!(check(&request, &Origins::loopback(), None).is_ok());
    request.headers_mut().insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    assert!(check(&request, &Origins::loopback(), None).is_err());
}

#[test]
fn a_whole_address_is_refused_and_probes_need_no_name() {
    let mut request = Request::new(Body::empty());
    *request.uri_mut() = "http://localhost:3000/api/v1/status".parse().unwrap();
    request.headers_mut().insert(HOST, HeaderValue::from_static("localhost:3000"));
    assert!(check(&request, &Origins::loopback(), None).is_err());
    for (path, passes) in
        [("/healthz", true), ("/readyz", true), ("/healthz/", false), ("/metrics", false), ("/", false)]
    {
        let mut request = Request::new(Body::empty());
        *request.uri_mut() = path.parse().unwrap();
        request.headers_mut().insert(HOST, HeaderValue::from_static("10.1.2.3:3000"));
        assert_eq!(check(&request, &Origins::loopback(), None).is_ok(), passes, "{path}");
    }
}
