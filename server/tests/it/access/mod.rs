//! Who may come in and what they may, over real HTTP and real sockets. The clock is ours.

mod canary;
mod commands;
mod forms;
mod guessing;
mod life;
mod matrix;
mod preferences;
mod proxy;
mod scope;
mod wall;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use lockscope_access::{Access, Grant, ListenScope, Secret, Settings, new_token, set_user};
use lockscope_audit::{AuditError, Entry, Journal};
use lockscope_runtime::clock::Clock;
use lockscope_view::Role;
use lockscope_web::{Limits, pages};
use reqwest::header::HeaderMap;
use tempfile::TempDir;

use crate::served::{NOW_MS, Served};

pub(crate) const PASSWORD: &str = "correct horse battery staple";

/// Keeps what was recorded.
#[derive(Default)]
pub(crate) struct Kept(pub(crate) Mutex<Vec<Entry>>);

impl Journal for Kept {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<u64, AuditError>> {
        let mut entries = self.0.lock().unwrap();
        entries.push(entry);
        let id = entries.len() as u64;
        async move { Ok(id) }.boxed()
    }
}

impl Kept {
    /// Kinds and details, in order.
    pub(crate) fn told(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|entry| format!("{}: {}", entry.kind, entry.detail)).collect()
    }
}

/// A server with people of its own.
pub(crate) struct House {
    pub(crate) served: Served,
    pub(crate) access: Access,
    pub(crate) clock: Clock,
    pub(crate) kept: Arc<Kept>,
    dir: TempDir,
}

/// One answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The session's cookie, as a browser would send it.
    pub(crate) fn cookie(&self) -> String {
        self.header("set-cookie").split(';').next().unwrap().to_owned()
    }
}

impl House {
    pub(crate) async fn new(settings: Settings, reach: ListenScope) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(NOW_MS);
        let access = Access::new(Some(dir.path().to_owned()), settings, reach, clock.clone());
        let kept = Arc::new(Kept::default());
        access.record_in(kept.clone());
        let served = Served::start_for(Limits::default(), access.clone(), pages).await;
        Self { served, access, clock, kept, dir }
    }

    /// On loopback, with nothing set.
    pub(crate) async fn plain() -> Self {
        Self::new(Settings::default(), ListenScope::LOOPBACK).await
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    /// Moves the clock on, and does what the server does every second.
    pub(crate) async fn pass(&self, ms: i64) {
        self.clock.set_ms(self.clock.now_ms() + ms);
        self.access.tend().await;
    }

    pub(crate) fn token(&self, name: &str, grant: Grant, lives_ms: Option<i64>) -> String {
        let (_, token) = new_token(&self.path(), name, grant, self.clock.now_ms(), lives_ms).unwrap();
        self.clock.set_ms(self.clock.now_ms() + 1_000);
        token.expose().to_owned()
    }

    pub(crate) fn user(&self, name: &str, role: Role) {
        set_user(&self.path(), name, Grant::everywhere(role), &Secret::new(PASSWORD.to_owned()), self.clock.now_ms())
            .unwrap();
        self.clock.set_ms(self.clock.now_ms() + 1_000);
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let mut request = client.request(method.parse().unwrap(), format!("http://{}{path}", self.served.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if !body.is_empty() {
            request = request.body(body.to_owned());
            if !headers.iter().any(|(name, _)| *name == "content-type") {
                request = request.header("content-type", "application/x-www-form-urlencoded");
            }
        }
        // What a browser would say of its own form, and what a script may as well.
        if method != "GET" && !headers.iter().any(|(name, _)| *name == "origin") {
            request = request.header("origin", format!("http://{}", self.served.address));
        }
        let answer = request.send().await.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        Answer { status, headers, text: answer.text().await.unwrap() }
    }

    pub(crate) async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask("GET", path, headers, "").await
    }

    pub(crate) async fn sign_in(&self, name: &str, password: &str) -> Answer {
        self.ask("POST", "/sign-in", &[], &format!("name={name}&password={}", password.replace(' ', "+"))).await
    }

    /// Signs out as a browser does: by the form of a page.
    pub(crate) async fn sign_out(&self, cookie: &str) -> Answer {
        let page = self.get("/sign-in", &[("cookie", cookie)]).await;
        let body = format!("form_token={}", form_token(&page.text, "/sign-out"));
        self.ask("POST", "/sign-out", &[("cookie", cookie)], &body).await
    }

    /// Who the server takes somebody for: name and role, or the status of a refusal.
    pub(crate) async fn me(&self, headers: &[(&str, &str)]) -> String {
        let answer = self.get("/api/v1/me", headers).await;
        if answer.status != 200 {
            return answer.status.to_string();
        }
        let me: serde_json::Value = serde_json::from_str(&answer.text).unwrap();
        format!("{} {} {}", me["name"].as_str().unwrap(), me["role"].as_str().unwrap(), me["by"].as_str().unwrap())
    }
}

/// The token of a page's form.
pub(crate) fn form_token(page: &str, action: &str) -> String {
    let form = page.split_once(&format!("action=\"{action}\"")).unwrap().1;
    let field = form.split_once("name=\"form_token\"").unwrap().1;
    field.split_once("value=\"").unwrap().1.split('"').next().unwrap().to_owned()
}

/// The header of a token.
pub(crate) fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}
