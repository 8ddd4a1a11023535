//! The record over HTTP.

use std::sync::Arc;

use lockscope_access::{Access, Grant, ListenScope, Settings, new_token};
use lockscope_audit::{AuditLog, Log};
use lockscope_runtime::clock::Clock;
use lockscope_view::Role;
use lockscope_web::listener::Bounds;
use lockscope_web::{Http, Limits};
use serde_json::Value;
use tempfile::TempDir;

use super::{append, open};
use crate::served::{NOW_MS, Served};

/// A server with an auditor.
struct Audited {
    served: Served,
    token: String,
    _people: TempDir,
}

impl Audited {
    async fn start(with: impl FnOnce(Http) -> Http) -> Self {
        let people = tempfile::tempdir().unwrap();
        let (_, token) = new_token(people.path(), "auditor", Grant::everywhere(Role::Auditor), NOW_MS, None).unwrap();
        let access = Access::new(
            Some(people.path().to_owned()),
            Settings::default(),
            ListenScope::LOOPBACK,
            Clock::manual(NOW_MS),
        );
        let served =
            Served::start_with(Limits::default(), Bounds::default(), None, |http| with(http.with_access(access))).await;
        Self { served, token: token.expose().to_owned(), _people: people }
    }

    async fn ask(&self, path: &str) -> reqwest::Response {
        let request =
            reqwest::Client::new().get(format!("http://{}{path}", self.served.address)).bearer_auth(&self.token);
        request.send().await.unwrap()
    }

    async fn get(&self, path: &str) -> (u16, String, String) {
        let answer = self.ask(path).await;
        let kind =
            answer.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned()).unwrap_or_default();
        (answer.status().as_u16(), kind, answer.text().await.unwrap())
    }
}

async fn serve(log: Arc<Log>) -> Audited {
    Audited::start(|http| http.with_records(log)).await
}

#[tokio::test]
async fn a_page_has_the_newest_first_and_says_how_to_go_on() {
    let place = tempfile::tempdir().unwrap();
    let log = Arc::new(open(place.path()).await);
    for number in 0..5 {
        append(&log, format!("act {number}")).await;
    }
    let served = serve(log.clone()).await;
    let (status, kind, text) =
        served.get("/api/v1/audit?limit=2&kind=release_intent&lock=/locks/a&actor=lockscope&after=").await;
    assert_eq!((status, kind.as_str()), (400, "application/problem+json"), "{text}");
    let (status, _, text) =
        served.get("/api/v1/audit?limit=2&kind=release_intent&lock=%2Flocks%2Fa&actor=lockscope").await;
    assert_eq!(status, 200, "{text}");
    let page: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&page["total"], &page["next_before"], &page["trouble"]), (&6.into(), &5.into(), &"".into()));
    assert_eq!(page["file"], place.path().join("audit.log").display().to_string());
    let details: Vec<&str> =
        page["records"].as_array().unwrap().iter().map(|record| record["detail"].as_str().unwrap()).collect();
    assert_eq!(details, ["act 4", "act 3"]);
    assert_eq!(page["records"][0]["hash"], log.tip().hash);
    let (_, _, text) = served.get("/api/v1/audit?before=5&limit=500").await;
    let page: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((page["records"].as_array().unwrap().len(), &page["next_before"]), (4, &Value::Null));
}

#[tokio::test]
async fn mistakes_are_told() {
    let place = tempfile::tempdir().unwrap();
    let served = serve(Arc::new(open(place.path()).await)).await;
    let cases = [
        ("?limit=0", "`0` is not a value of `limit`; use a number from 1 to 500"),
        ("?limit=501", "`501` is not a value of `limit`; use a number from 1 to 500"),
        ("?before=x", "`x` is not a value of `before`; use the number of a record"),
        ("?kind=deleted", "`deleted` is not a value of `kind`; use one of started, signed_in, signed_out, refused"),
        ("?page=2", "`page` is not a parameter of /api/v1/audit; it takes after, before, limit, actor, kind and lock"),
        ("?replica=all", "`replica` is not a parameter of /api/v1/audit"),
    ];
    for (query, sentence) in cases {
        let (status, _, text) = served.get(&format!("/api/v1/audit{query}")).await;
        assert!(status == 400 && text.contains(sentence), "{query}: {text}");
    }
}

#[tokio::test]
async fn an_export_is_the_file() {
    let place = tempfile::tempdir().unwrap();
    let log = Arc::new(open(place.path()).await);
    for number in 0..300 {
        append(&log, format!("act {number} {}", "x".repeat(1_000))).await;
    }
    let served = serve(log).await;
    let answer = served.ask("/api/v1/audit/export").await;
    assert_eq!(answer.headers()["content-type"], "application/x-ndjson");
    assert_eq!(answer.headers()["content-disposition"], "attachment; filename=\"lockscope-audit.ndjson\"");
    assert_eq!(answer.headers()["cache-control"], "no-store");
    let file = std::fs::read(place.path().join("audit.log")).unwrap();
    assert_eq!(answer.content_length(), Some(file.len() as u64));
    assert_eq!(answer.bytes().await.unwrap(), file);
}

#[tokio::test]
async fn without_a_log_it_says_why() {
    let served = Audited::start(|http| http).await;
    let closed = AuditLog::unavailable(lockscope_audit::AuditError("the disk is gone; bring it back".to_owned()));
    let broken = Audited::start(|http| http.with_records(Arc::new(closed))).await;
    for path in ["/api/v1/audit", "/api/v1/audit/export"] {
        let (status, _, text) = served.get(path).await;
        assert!(
            status == 503 && text.contains("no audit log is kept here; start Lockscope with --data-dir DIR"),
            "{text}"
        );
        let (status, _, text) = broken.get(path).await;
        assert!(status == 503 && text.contains("the disk is gone; bring it back"), "{text}");
    }
    assert_eq!(served.get("/api/v1/locks").await.0, 200);
}
