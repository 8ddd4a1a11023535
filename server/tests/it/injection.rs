//! No text that a request or a client of ZooKeeper brings becomes markup: every GET route by each parameter, and the forms
//! that show again what was typed. Answers are read by a parser of HTML5, as a browser reads them.

use std::collections::BTreeSet;

use html5ever::tendril::TendrilSink as _;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};
use lockscope_web::{Route, Verb, routes};
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use reqwest::{Client, Url};

use crate::access::form_token;
use crate::harness::{open, queue};
use crate::history::{Recorded, now_ms};
use crate::served::until;

/// Ends whatever text and attribute it may stand in.
const BREAKOUT: &str =
    "x' injected y=\" injected z=\"'\"></textarea></title></select></style></script></noscript>--><b injected id=x>";
/// The same as the name of a znode.
const NODE: &str = "x' injected y=\" injected z=\"'\"><b injected id=x><!--";
/// Parameters of pages that no link, field or description names.
const UNNAMED: [&str; 6] = ["done", "key", "plan", "run", "toml", "explain"];

/// Attributes and elements of a document, each by its name and attributes; with and without scripts, since that changes
/// how `<noscript>` is read.
fn elements(html: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut found = Vec::new();
    for scripting_enabled in [true, false] {
        let tree_builder = TreeBuilderOpts { scripting_enabled, ..TreeBuilderOpts::default() };
        let opts = ParseOpts { tree_builder, ..ParseOpts::default() };
        // Kept to the end: a node that is dropped takes away what is below it.
        let document = parse_document(RcDom::default(), opts).one(html);
        let mut open: Vec<Handle> = vec![document.document.clone()];
        while let Some(node) = open.pop() {
            open.extend(node.children.borrow().iter().cloned());
            if let NodeData::Element { name, attrs, template_contents, .. } = &node.data {
                open.extend(template_contents.borrow().iter().cloned());
                let attrs = attrs.borrow();
                let attrs = attrs.iter().map(|attr| (attr.name.local.to_string(), attr.value.to_string()));
                found.push((name.local.to_string(), attrs.collect()));
            }
        }
    }
    found
}

fn is_injected(html: &str) -> bool {
    let is_ours = |(name, value): &(String, String)| name == "injected" || name == "id" && value == "x";
    elements(html).iter().any(|(_, attrs)| attrs.iter().any(is_ours))
}

/// Names of parameters that links and forms of a page send.
fn sent_by(html: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let base = Url::parse("http://here/").unwrap();
    for (element, attrs) in elements(html) {
        let attr = |name: &str| attrs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        names.extend(attr("name").filter(|_| element != "meta").map(str::to_owned));
        let link = attr("href").and_then(|href| base.join(href).ok());
        names.extend(link.iter().flat_map(|url| url.query_pairs()).map(|(name, _)| name.into_owned()));
    }
    names
}

/// A page of the server, as somebody who is signed in by cookie.
struct Browser<'a> {
    recorded: &'a Recorded,
    client: Client,
}

struct Shown {
    status: u16,
    is_html: bool,
    text: String,
}

impl<'a> Browser<'a> {
    async fn signed_in(recorded: &'a Recorded, token: &str) -> Self {
        let client = Client::builder().redirect(Policy::none()).build().unwrap();
        let request = client.post(recorded.url("/sign-in")).header("origin", recorded.url(""));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let answer = request.body(format!("token={token}")).send().await.unwrap();
        let cookie = answer.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
        let headers = HeaderMap::from_iter([("cookie".parse().unwrap(), cookie.parse().unwrap())]);
        let client = Client::builder().redirect(Policy::none()).default_headers(headers).build().unwrap();
        Self { recorded, client }
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Shown {
        let answer = request.header("origin", self.recorded.url("")).send().await.unwrap();
        let kind = answer.headers().get("content-type").map_or("", |kind| kind.to_str().unwrap()).to_owned();
        let status = answer.status().as_u16();
        Shown { status, is_html: kind.starts_with("text/html"), text: answer.text().await.unwrap_or_default() }
    }

    async fn get(&self, path: &str, pairs: &[(&str, &str)]) -> Shown {
        let url = Url::parse_with_params(&self.recorded.url(path), pairs).unwrap();
        self.send(self.client.get(url)).await
    }

    async fn post(&self, path: &str, pairs: &[(&str, &str)]) -> Shown {
        let mut url = Url::parse("http://here/").unwrap();
        url.query_pairs_mut().extend_pairs(pairs);
        let request = self.client.post(self.recorded.url(path)).body(url.query().unwrap_or_default().to_owned());
        self.send(request.header("content-type", "application/x-www-form-urlencoded")).await
    }
}

/// What a page shows something with.
fn base<'a>(path: &str, lock: &'a str) -> Vec<(&'static str, &'a str)> {
    if path.starts_with("/lock") { vec![("path", lock)] } else { Vec::new() }
}

/// Names of all parameters: those the API describes, and those that pages send.
async fn parameters(browser: &Browser<'_>, pages: &[Route], lock: &str) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = UNNAMED.map(str::to_owned).into();
    let document = browser.recorded.json("/api/v1/openapi.json").await.1;
    for operation in document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values())
    {
        let all = operation["parameters"].as_array().into_iter().flatten();
        names.extend(all.filter_map(|parameter| parameter["name"].as_str()).map(str::to_owned));
    }
    for page in pages {
        let shown = browser.get(page.path, &base(page.path, lock)).await;
        if shown.is_html {
            assert!(!is_injected(&shown.text), "{}: {}", page.path, shown.text);
            names.extend(sent_by(&shown.text));
        }
    }
    names.remove("form_token");
    names
}

#[test]
fn the_parser_sees_what_a_browser_sees() {
    for escaped in
        ["<textarea>&lt;/textarea>&lt;b id=x></textarea>", "<p title='\"><b id=x>'>", "<title><b id=x></title>"]
    {
        assert!(!is_injected(escaped), "{escaped}");
    }
    for context in
        ["<textarea>", "<title>", "<select><option>", "<style>", "<script>", "<noscript>", "<p a=\"", "<p a='"]
    {
        assert!(is_injected(&format!("{context}{BREAKOUT}")), "{context}");
    }
    assert_eq!(
        sent_by("<a href='/lock?path=1&at=2'>a</a><input name=q>").into_iter().collect::<Vec<_>>(),
        ["at", "path", "q"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_parameter_becomes_markup() {
    let recorded = Recorded::start("").await;
    let token = recorded.token("operator", "/").await;
    let lock = format!("/a/{NODE}");
    recorded.truth.make(&lock).await;
    let client = open(&recorded.zookeeper.address()).await;
    let (_held, _waits) =
        (queue(&client, &format!("{lock}/lock-")).await, queue(&client, &format!("{lock}/lock-")).await);
    until(async || recorded.json("/api/v1/locks").await.1.to_string().contains("injected")).await;
    recorded.until_kept(now_ms()).await;
    let browser = Browser::signed_in(&recorded, &token).await;
    let gets: Vec<Route> = routes().filter(|route| route.verb == Verb::Get).copied().collect();
    // Scripts ask for parts of pages beside the API.
    let is_shown = |route: &Route| !route.path.starts_with("/api") && !route.path.contains('{');
    let (shown, data): (Vec<Route>, Vec<Route>) = gets.iter().copied().partition(is_shown);
    let names = parameters(&browser, &shown, &lock).await;
    assert!(names.len() >= 40 && names.contains("toml") && names.contains("hours"), "{names:?}");
    let (mut pages, mut asked) = (0, 0);
    for route in &shown {
        for name in &names {
            for value in [BREAKOUT, &format!("/{BREAKOUT}")] {
                let mut pairs = base(route.path, &lock);
                pairs.retain(|(known, _)| known != name);
                pairs.push((name.as_str(), value));
                let answer = browser.get(route.path, &pairs).await;
                assert!(
                    !answer.is_html || !is_injected(&answer.text),
                    "{} {name}={value}: {}",
                    route.path,
                    answer.text
                );
                (pages, asked) = (pages + u32::from(answer.is_html && answer.status == 200), asked + 1);
                if answer.status == 400 && answer.text.contains("is not a parameter") {
                    break;
                }
            }
        }
    }
    assert!(pages >= 100, "{pages} pages of {asked} answers");
    // Data are no pages, whatever is asked.
    for route in data {
        let segment = "%3C%2Ftitle%3E%3Cb%20id%3Dx%3E";
        let path =
            ["{name}", "{*rest}", "{id}"].iter().fold(route.path.to_owned(), |path, part| path.replace(part, segment));
        let answer = browser.get(&path, &[("path", BREAKOUT), ("ensemble", BREAKOUT)]).await;
        assert!(!answer.is_html || !is_injected(&answer.text), "{path}: {}", answer.text);
    }
    for path in ["/nothing/%3C%2Ftitle%3E%3Cb%20id%3Dx%3E", "/lock/%22%3E%3Cb%20id%3Dx%3E"] {
        let answer = browser.get(path, &[("x", BREAKOUT)]).await;
        assert!(answer.is_html && !is_injected(&answer.text), "{path}: {}", answer.text);
    }
    // A bearer of a token needs none of the forms'.
    let headers =
        HeaderMap::from_iter([("authorization".parse().unwrap(), format!("Bearer {token}").parse().unwrap())]);
    let client = Client::builder().redirect(Policy::none()).default_headers(headers).build().unwrap();
    let script = Browser { recorded: &recorded, client };
    let fields = [
        "name",
        "password",
        "token",
        "next",
        "key",
        "reason",
        "rule",
        "path",
        "id",
        "clients",
        "strategies",
        "run",
        "plan_id",
    ];
    for route in routes().filter(|route| route.verb == Verb::Post && route.is_for_people()) {
        let answer = script.post(route.path, &fields.map(|name| (name, BREAKOUT))).await;
        assert!(!answer.is_html || !is_injected(&answer.text), "{}: {}", route.path, answer.text);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_of_other_markup_silences_nothing() {
    let recorded = Recorded::start("").await;
    let token = recorded.token("operator", "/").await;
    let browser = Browser::signed_in(&recorded, &token).await;
    let silences = async || recorded.json("/api/v1/alerts").await.1["silences"].as_array().unwrap().len();
    let mut fields = vec![("ensemble", "default"), ("path", "/a"), ("for_ms", "60000"), ("reason", "injected")];
    assert_eq!(browser.post("/alerts/silences", &fields).await.status, 403);
    // The token of the form that it is put into.
    let page = browser.get("/alerts", &[]).await.text;
    let of_another = form_token(&page, "/sign-out");
    fields.push(("form_token", &of_another));
    assert_eq!((browser.post("/alerts/silences", &fields).await.status, silences().await), (403, 0));
    // A script with a bearer token is no browser that sends cookies by itself.
    let request = reqwest::Client::builder().redirect(Policy::none()).build().unwrap();
    let request = request.post(recorded.url("/alerts/silences")).bearer_auth(&token);
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    let done = request.body("ensemble=default&path=/a&for_ms=60000&reason=mended").send().await.unwrap();
    assert_eq!((done.status().as_u16(), silences().await), (303, 1));
    // The form of the page ends it.
    let page = browser.get("/alerts", &[]).await.text;
    let (id, token) = (
        recorded.json("/api/v1/alerts").await.1["silences"][0]["id"].to_string(),
        form_token(&page, "/alerts/silences/end"),
    );
    let ended = browser.post("/alerts/silences/end", &[("id", &id), ("form_token", &token)]).await;
    assert_eq!((ended.status, silences().await), (303, 0));
}
