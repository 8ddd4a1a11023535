//! Who may order runs of the lab over HTTP, and what is answered to what can't be. No ZooKeeper answers here.

use std::sync::Arc;

use lockscope_access::{Access, Grant, ListenScope, Settings, new_token};
use lockscope_audit::{AuditLog, Journal};
use lockscope_lab::LabService;
use lockscope_lab::{Lab, LabEnsemble, Limits};
use lockscope_runtime::clock::Clock;
use lockscope_view::{AuditKind, Role};
use lockscope_web::Limits as HttpLimits;
use lockscope_web::listener::Bounds;
use lockscope_zookeeper::Credentials;
use reqwest::Method;
use serde_json::Value;
use tempfile::TempDir;

use crate::access::{Kept, bearer};
use crate::cli::dead_port;
use crate::served::{NOW_MS, Served, until};

const RUNS: &str = "/api/v1/lab/runs";
const ORDER: &str = r#"{"strategies":["predecessor","herd_children"],"clients":5}"#;

/// A server with a lab whose ZooKeeper never answers.
struct Hall {
    served: Served,
    kept: Arc<Kept>,
    people: TempDir,
}

impl Hall {
    async fn open(lab: Lab, journal: Option<Arc<dyn Journal>>) -> Self {
        let (people, kept) = (tempfile::tempdir().unwrap(), Arc::new(Kept::default()));
        let access = Access::new(
            Some(people.path().to_owned()),
            Settings::default(),
            ListenScope::LOOPBACK,
            Clock::manual(NOW_MS),
        );
        let service = LabService::new(lab, journal.unwrap_or_else(|| kept.clone()), Clock::manual(NOW_MS));
        let served = Served::start_with(HttpLimits::default(), Bounds::default(), None, |http| {
            http.with_access(access).with_lab(service)
        })
        .await;
        Self { served, kept, people }
    }

    fn token(&self, name: &str, role: Role, ensembles: &[&str], paths: &[&str]) -> String {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let grant = Grant::new(role, &owned(ensembles), &owned(paths)).unwrap();
        bearer(new_token(self.people.path(), name, grant, NOW_MS, None).unwrap().1.expose())
    }

    async fn ask(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, Value) {
        let mut request = reqwest::Client::new().request(method, format!("http://{}{path}", self.served.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if !body.is_empty() {
            request = request.header("content-type", "application/json").body(body.to_owned());
        }
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        if status >= 400 {
            assert_eq!(answer.headers()["content-type"], "application/problem+json");
        }
        (status, answer.json().await.unwrap())
    }

    async fn check(&self, method: Method, path: &str, token: &str, body: &str, status: u16, part: &str) {
        let (found, answer) = self.ask(method.clone(), path, &[("authorization", token)], body).await;
        assert!(
            found == status && answer["detail"].as_str().is_some_and(|detail| detail.contains(part)),
            "{method} {path} {body}: {found} {answer}"
        );
    }
}

fn place() -> LabEnsemble {
    let connect = format!("127.0.0.1:{}", dead_port());
    LabEnsemble {
        ensemble: "prod".to_owned(),
        connect,
        credentials: Credentials::default(),
        root: "/lockscope-lab".to_owned(),
    }
}

fn lab() -> Lab {
    Lab::new(vec![place()], Limits { clients_max: 20, ..Limits::default() }, None, Clock::system())
}

#[tokio::test]
async fn who_may_not_is_told_so_and_nothing_begins() {
    let hall = Hall::open(lab(), None).await;
    let viewer = hall.token("viewer", Role::Viewer, &[], &[]);
    let auditor = hall.token("auditor", Role::Auditor, &[], &[]);
    for token in [&viewer, &auditor] {
        hall.check(Method::POST, RUNS, token, ORDER, 403, "which may not run the lab; that needs operator or admin")
            .await;
        hall.check(Method::DELETE, &format!("{RUNS}/x"), token, "", 403, "which may not run the lab").await;
        hall.check(
            Method::POST,
            &format!("{RUNS}/x/faults"),
            token,
            r#"{"fault":"kill"}"#,
            403,
            "which may not run the lab",
        )
        .await;
    }
    let (status, runs) = hall.ask(Method::GET, RUNS, &[("authorization", &viewer)], "").await;
    assert_eq!(
        (status, &runs["ensembles"][0], &runs["clients_max"], &runs["runs"]),
        (200, &"prod".into(), &20.into(), &Value::Array(Vec::new()))
    );
    let elsewhere = hall.token("elsewhere", Role::Operator, &["prod"], &["/shop"]);
    hall.check(Method::POST, RUNS, &elsewhere, ORDER, 403, "may not run the lab: it is out of their scope").await;
    let other = hall.token("other", Role::Operator, &["test"], &[]);
    let named = r#"{"ensemble":"prod","strategies":["predecessor"],"clients":5}"#;
    hall.check(Method::POST, RUNS, &other, named, 403, "out of their scope").await;
    for token in [&elsewhere, &other] {
        let (_, runs) = hall.ask(Method::GET, RUNS, &[("authorization", token)], "").await;
        assert_eq!(runs["ensembles"], Value::Array(Vec::new()), "where it is out of scope there is no lab");
    }
    let told = hall.kept.told();
    assert!(told.len() == 2 && told.iter().all(|told| told.starts_with("refused: ")), "{told:?}");
    let admin = hall.token("admin", Role::Admin, &[], &[]);
    let foreign = [("authorization", admin.as_str()), ("origin", "https://evil.example")];
    assert_eq!(hall.ask(Method::POST, RUNS, &foreign, ORDER).await.0, 403, "a page of another site orders nothing");
    assert_eq!(hall.ask(Method::DELETE, &format!("{RUNS}/x"), &foreign, "").await.0, 403);
    assert_eq!(hall.ask(Method::POST, RUNS, &[], ORDER).await.0, 401, "nor does nobody");
}

#[tokio::test]
async fn every_bad_order_has_its_sentence() {
    let hall = Hall::open(lab(), None).await;
    let operator = hall.token("operator", Role::Operator, &[], &[]);
    let bodies = [
        ("", 415, "application/json"),
        ("{", 422, "the body can't be read"),
        ("{}", 422, "missing field `strategies`"),
        (r#"{"strategies":["predecessor"],"clients":"5"}"#, 422, "clients: invalid type: string \"5\", expected u32"),
        (r#"{"strategies":["predecessor"],"clients":-5}"#, 422, "clients: invalid value"),
        (
            r#"{"strategies":["herd"],"clients":5}"#,
            422,
            "strategies[0]: unknown variant `herd`, expected one of `predecessor`",
        ),
        (r#"{"strategies":["predecessor"],"clients":5,"clinets":6}"#, 422, "unknown field `clinets`, expected one of"),
        (r#"{"strategies":["predecessor"],"clients":21}"#, 422, "20"),
        (r#"{"strategies":["predecessor"],"clients":1}"#, 422, "clients"),
        (r#"{"strategies":[],"clients":5}"#, 422, "strategies"),
        (r#"{"strategies":["predecessor","predecessor"],"clients":5}"#, 422, "predecessor"),
        (r#"{"strategies":["predecessor"],"clients":5,"rounds":100000}"#, 422, "rounds"),
        (r#"{"ensemble":"nowhere","strategies":["predecessor"],"clients":5}"#, 422, "nowhere"),
    ];
    for (body, status, part) in bodies {
        hall.check(Method::POST, RUNS, &operator, body, status, part).await;
    }
    let unknown = format!("{RUNS}/0123456789abcdef");
    for (method, path, body) in [
        (Method::GET, unknown.clone(), ""),
        (Method::GET, format!("{unknown}.csv"), ""),
        (Method::DELETE, unknown.clone(), ""),
        (Method::POST, format!("{unknown}/faults"), r#"{"fault":"kill"}"#),
    ] {
        hall.check(method, &path, &operator, body, 404, "there is no run 0123456789abcdef").await;
    }
    hall.check(
        Method::POST,
        &format!("{unknown}/faults"),
        &operator,
        r#"{"fault":"fire"}"#,
        422,
        "fault: unknown variant `fire`",
    )
    .await;
    hall.check(Method::GET, &format!("{unknown}?format=xml"), &operator, "", 400, "use json or csv").await;
    hall.check(Method::GET, &format!("{unknown}?from=1"), &operator, "", 400, "`from` is not a parameter").await;
    hall.check(Method::GET, &format!("{RUNS}?q=1"), &operator, "", 400, "it takes none").await;
    hall.check(Method::PUT, RUNS, &operator, "", 405, "use GET or POST").await;
    hall.check(Method::POST, &unknown, &operator, "", 405, "DELETE").await;
    assert_eq!(hall.kept.told(), Vec::<String>::new(), "nothing of it was an act");
}

#[tokio::test]
async fn a_lab_that_is_off_says_how_to_allow_it() {
    let hall = Hall::open(Lab::off(), None).await;
    let operator = hall.token("operator", Role::Operator, &[], &[]);
    hall.check(
        Method::POST,
        RUNS,
        &operator,
        ORDER,
        409,
        "the lab is off; allow it for an ensemble with `[lab]` in the configuration",
    )
    .await;
    let (_, runs) = hall.ask(Method::GET, RUNS, &[("authorization", &operator)], "").await;
    assert_eq!(runs["ensembles"], Value::Array(Vec::new()));
}

#[tokio::test]
async fn without_a_record_nothing_begins() {
    let hall = Hall::open(lab(), Some(Arc::new(AuditLog::default()))).await;
    let operator = hall.token("operator", Role::Operator, &[], &[]);
    hall.check(Method::POST, RUNS, &operator, ORDER, 503, "nothing was started: the record of it can't be written")
        .await;
    let (_, runs) = hall.ask(Method::GET, RUNS, &[("authorization", &operator)], "").await;
    assert_eq!(runs["runs"], Value::Array(Vec::new()));
}

#[tokio::test]
async fn a_run_that_is_stopped_is_on_record_twice() {
    let hall = Hall::open(lab(), None).await;
    let operator = hall.token("operator", Role::Operator, &[], &[]);
    let (status, started) = hall.ask(Method::POST, RUNS, &[("authorization", &operator)], ORDER).await;
    assert_eq!(status, 201, "{started}");
    let run = format!("{RUNS}/{}", started["id"].as_str().unwrap());
    hall.check(Method::POST, RUNS, &operator, ORDER, 409, "is under way and there is one at a time").await;
    let elsewhere = hall.token("elsewhere", Role::Operator, &["prod"], &["/shop"]);
    hall.check(Method::GET, &run, &elsewhere, "", 404, "there is no run").await;
    hall.check(Method::DELETE, &run, &elsewhere, "", 404, "there is no run").await;
    let (status, stopped) = hall.ask(Method::DELETE, &run, &[("authorization", &operator)], "").await;
    assert!(status == 200 || status == 202, "{status} {stopped}");
    until(async || hall.kept.0.lock().unwrap().len() == 2).await;
    let entries = hall.kept.0.lock().unwrap();
    let [begun, ended] = entries.as_slice() else { panic!("{entries:?}") };
    assert_eq!(
        (begun.kind, begun.ensemble.as_deref(), begun.path.as_deref()),
        (AuditKind::LabStarted, Some("prod"), Some("/lockscope-lab"))
    );
    assert_eq!(begun.actor.as_ref().map(|actor| actor.name.as_str()), Some("operator"));
    assert!(
        begun.detail.starts_with("predecessor, herd_children, one after the other: 5 clients each, 1 times"),
        "{}",
        begun.detail
    );
    assert_eq!((ended.kind, ended.intent, ended.actor.is_none()), (AuditKind::LabEnded, Some(1), true));
    assert!(matches!(ended.outcome, Some("stopped" | "failed")), "{ended:?}");
}
