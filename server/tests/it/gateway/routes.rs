//! Every address that is read, through a replica that watches nothing: the same as at an owner. The routes come from the
//! program itself, so a new one fails here until it answers the same or is named as one that is a server's own.

use std::collections::BTreeSet;

use http::Verb;
use serde_json::Value;

use super::acts::same_token;
use super::{RECORDED, Server, secret, three};
use crate::harness::{Truth, open, queue, zookeeper};
use crate::served::until;

/// What is about the server that is asked: who may look, its own log, sockets and files.
const OWN: &[&str] = &[
    "/healthz",
    "/readyz",
    "/metrics",
    "/api/v1/openapi.json",
    "/api/v1/cluster",
    "/api/v1/cluster/live",
    "/api/v1/live",
    "/api/v1/me",
    "/api/v1/preferences",
    "/api/v1/audit",
    "/api/v1/audit/export",
    "/api/v1/lab/runs",
    "/api/v1/lab/runs/{id}",
    "/release/approve",
    "/audit",
    "/lab",
    "/help",
    "/help/explain",
    "/status",
    "/status/cluster",
    "/sign-in",
    "/sign-in/once",
    "/sign-in/wall",
    "/sign-in/openid",
    "/sign-in/openid/back",
    "/pkg/{name}",
    "/favicon.svg",
    "/favicon-warn.svg",
    "/favicon-odd.svg",
    "/favicon-bad.svg",
    "/favicon-lost.svg",
];
/// What may be asked of a moment as well.
const OF_A_MOMENT: &[&str] = &[
    "/",
    "/lock",
    "/waits",
    "/sessions",
    "/session",
    "/api/v1/locks",
    "/api/v1/lock",
    "/api/v1/waits",
    "/api/v1/sessions",
    "/api/v1/session",
    "/api/v1/orders",
    "/api/v1/time-to-lock",
];

/// How long what two servers found may differ.
const SETTLES_WITHIN: std::time::Duration = std::time::Duration::from_secs(8);

struct Scene {
    session: String,
    incident: String,
    range: (i64, i64),
}

impl Scene {
    fn query(&self, path: &str) -> String {
        let (from, to) = self.range;
        let range = format!("from={from}&to={to}");
        let own = match path {
            "/lock" | "/api/v1/lock" | "/api/v1/time-to-lock" | "/lock/over-time" | "/lock/time-to-lock" => {
                "path=/a/order".to_owned()
            }
            "/session" | "/api/v1/session" | "/session/timeout" => format!("id={}", self.session),
            "/api/v1/history/lock" => format!("path=/a/order&{range}"),
            "/api/v1/incident" | "/incident" => format!("id={}", self.incident),
            "/find" | "/find/answer" => "q=order".to_owned(),
            "/api/v1/history/export" => format!("{range}&format=csv"),
            "/blame" | "/api/v1/history/blame" => format!("{range}&by=lock"),
            "/differs" => range,
            path if path.starts_with("/api/v1/history/") => range,
            _ => String::new(),
        };
        let takes_name = path.starts_with("/api/v1/history")
            || ["/api/v1/orders", "/api/v1/events", "/events", "/incidents", "/api/v1/incidents", "/blame", "/differs"]
                .contains(&path);
        if takes_name { format!("ensemble=default&{own}") } else { own }
    }
}

/// What is of the server that answers.
const OF_A_SERVER: &[&str] = &["seq", "loaded_at_ms", "started_at_ms"];
/// What is of the moment at which it was asked: instants up to when something is known, and how long goes on what goes on.
const OF_NOW: &[&str] = &[
    "age_ms",
    "server_time_ms",
    "known_at_ms",
    "at_ms",
    "from_at_ms",
    "to_at_ms",
    "hold_ms",
    "holding_ms",
    "waiting_ms",
    "oldest_wait_ms",
    "total_wait_ms",
];
/// By how much that may differ between two answers to the same question.
const APART_MS_MAX: i64 = 5_000;

/// An answer: its status, whether it shows the lock, and its body where that is JSON.
#[derive(Debug)]
struct Answered {
    status: u16,
    shows: bool,
    body: Value,
}

impl Answered {
    fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        if (self.status, self.shows) != (other.status, other.shows) {
            found.push(format!("{} {} here, {} {} there", self.status, self.shows, other.status, other.shows));
        }
        differences("", &self.body, &other.body, &mut found);
        found.truncate(8);
        found
    }
}

fn are_of_now(name: &str, here: &Value, there: &Value) -> bool {
    if name == "sentence" {
        // What goes on has lasted for longer when it is asked for later.
        let words = |value: &Value| value.as_str().map(|text| text.replace(|one: char| one.is_ascii_digit(), ""));
        return words(here).is_some() && words(here) == words(there);
    }
    if name == "part" {
        return here.is_f64() && there.is_f64();
    }
    let apart = here.as_i64().zip(there.as_i64()).map(|(here, there)| (here - there).abs());
    OF_NOW.contains(&name) && apart.is_some_and(|apart| apart <= APART_MS_MAX)
}

/// Where two bodies differ.
fn differences(at: &str, here: &Value, there: &Value, found: &mut Vec<String>) {
    match (here, there) {
        (Value::Object(one), Value::Object(other)) => {
            let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for name in names.into_iter().filter(|name| !OF_A_SERVER.contains(&&***name)) {
                let (one, other) = (&one.get(name), &other.get(name));
                let (one, other) = (one.unwrap_or(&Value::Null), other.unwrap_or(&Value::Null));
                let is_config = at == ".config" && name == "path";
                if !is_config && !are_of_now(name, one, other) {
                    differences(&format!("{at}.{name}"), one, other, found);
                }
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let pairs = one.iter().zip(other).enumerate();
            pairs.for_each(|(place, (one, other))| differences(&format!("{at}[{place}]"), one, other, found));
        }
        _ if here == there => {}
        _ => found.push(format!("{at}: {here} here, {there} there")),
    }
}

async fn get(server: &Server, token: &str, target: &str) -> Answered {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let answer = client.get(format!("{}{target}", server.url)).bearer_auth(token).send().await.unwrap();
    let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
    let shows = text.contains("/a/order") || text.contains("%2Fa%2Forder");
    Answered { status, shows, body: serde_json::from_str(&text).unwrap_or_default() }
}

async fn json(server: &Server, token: &str, target: &str) -> Value {
    let asked = reqwest::Client::new().get(format!("{}{target}", server.url)).bearer_auth(token).send();
    serde_json::from_str(&asked.await.unwrap().text().await.unwrap()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_address_answers_as_at_an_owner() {
    let zookeeper = zookeeper().await;
    let truth = Truth::new(&zookeeper.address()).await;
    for path in ["/a", "/a/order"] {
        truth.make(path).await;
    }
    let client = open(&zookeeper.address()).await;
    let place = tempfile::tempdir().unwrap();
    let rule = format!("{RECORDED}[[alert]]\nname = \"held\"\nwhen = \"held > 1s\"\npath = \"/a/*\"\n");
    let [one, _two, gateway] = three(&zookeeper, &secret(&place), &rule).await;
    let token = same_token(&[&one, &gateway], "operator", "ops").await;
    for _ in 0..3 {
        let held = queue(&client, "/a/order/lock-").await;
        let told = async || json(&one, &token, "/api/v1/lock?path=/a/order").await.to_string();
        until(async || told().await.contains(&held)).await;
        truth.client.delete(&held, None).await.unwrap();
    }
    let _line = (queue(&client, "/a/order/lock-").await, queue(&client, "/a/order/lock-").await);
    let lives = "/api/v1/history/holds?ensemble=default&path=/a/order&limit=100";
    until(async || json(&one, &token, lives).await.to_string().matches("\"how\":\"released\"").count() >= 3).await;
    until(async || json(&gateway, &token, "/api/v1/alerts").await.to_string().contains("/a/order")).await;
    let history = json(&one, &token, "/api/v1/history").await;
    let lock = json(&one, &token, "/api/v1/lock?path=/a/order").await;
    let incidents = json(&one, &token, "/api/v1/incidents?ensemble=default").await;
    let scene = Scene {
        session: lock["holders"][0]["session_id"].as_str().unwrap().to_owned(),
        incident: incidents["incidents"][0]["id"].as_str().unwrap_or("1").to_owned(),
        range: (history["from_at_ms"].as_i64().unwrap(), history["to_at_ms"].as_i64().unwrap()),
    };

    let (mut shown, mut own, mut other) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    let routes: Vec<&str> =
        http::declared().into_iter().filter(|row| row.verb == Verb::Get).map(|row| row.path).collect();
    for path in routes {
        if OWN.contains(&path) {
            own.insert(path);
            continue;
        }
        let query = scene.query(path);
        let at = OF_A_MOMENT.contains(&path).then(|| format!("{query}&at={}", scene.range.1));
        for query in [Some(query), at].into_iter().flatten() {
            let target = format!("{path}?{}", query.trim_start_matches('&'));
            // What two servers find is the same, and not at the same instant.
            let begin = std::time::Instant::now();
            let here = loop {
                let (here, there) = (get(&gateway, &token, &target).await, get(&one, &token, &target).await);
                let found = here.differences(&there);
                if found.is_empty() {
                    break here;
                }
                if begin.elapsed() > SETTLES_WITHIN {
                    other.push(format!("{target}: {found:#?}"));
                    break here;
                }
            };
            let Answered { status, shows, .. } = here;
            assert!(matches!(status, 200 | 303), "{target}: {status}");
            if shows {
                shown.insert(path);
            }
        }
    }
    assert!(other.is_empty(), "not as at an owner:\n{}", other.join("\n"));
    eprintln!("{} addresses show the lock: {shown:?}", shown.len());
    for path in OWN.iter().filter(|path| cfg!(feature = "oidc") || !path.contains("openid")) {
        assert!(own.contains(path), "{path} is no route any more");
    }
    assert!(shown.len() >= 20, "{shown:?}");
}
