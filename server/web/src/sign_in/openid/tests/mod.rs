//! The whole way over real HTTP on loopback: browser, server, provider.

mod provider;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use axum::Router;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use lockscope_view::Role;
use provider::{CLIENT, CLIENT_SECRET, Provider, Sign};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::listener::Bounds;
use crate::{Http, Limits};
use lockscope_access::{Access, ListenScope, OpenId, Secret, Settings};
use lockscope_audit::{AuditError, Entry, Journal};
use lockscope_live::{self, About, Hub, Projector};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::{self, DropGuard};

const NOW_MS: i64 = 1_700_000_000_000;

#[derive(Default)]
struct Kept(Mutex<Vec<String>>);

impl Journal for Kept {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<u64, AuditError>> {
        let mut kept = self.0.lock().unwrap();
        let who =
            entry.actor.map_or_else(|| "nobody".to_owned(), |actor| format!("{}, {}", actor.name, actor.described()));
        kept.push(format!("{} {who}: {}", entry.kind, entry.detail));
        let id = kept.len() as u64;
        async move { Ok(id) }.boxed()
    }
}

#[derive(Clone, Default)]
struct Logs(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Logs {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

struct Answer {
    status: u16,
    to: String,
    cookies: Vec<String>,
    text: String,
}

impl Answer {
    /// A cookie by the end of its name, as a browser would send it.
    fn cookie(&self, name: &str) -> String {
        let mut cookies = self.cookies.iter().map(|cookie| cookie.split(';').next().unwrap());
        cookies.rfind(|cookie| cookie.split('=').next() == Some(name)).unwrap_or_default().to_owned()
    }
}

struct House {
    address: SocketAddr,
    access: Access,
    clock: Clock,
    kept: Arc<Kept>,
    provider: Provider,
    _close: DropGuard,
}

const SESSION: &str = "lockscope";
const WAY: &str = "lockscope-openid";

impl House {
    async fn new() -> Self {
        let provider = Provider::start(NOW_MS / 1_000).await;
        let openid = OpenId {
            issuer: provider.issuer(),
            client_id: CLIENT.to_owned(),
            client_secret: Some(Secret::new(CLIENT_SECRET.to_owned())),
            redirect: None,
            name_claim: None,
            groups_claim: "groups".to_owned(),
            roles: BTreeMap::from([("ops".to_owned(), Role::Operator), ("all".to_owned(), Role::Viewer)]),
            role: None,
        };
        let clock = Clock::manual(NOW_MS);
        let settings = Settings { anonymous: Some(false), openid: Some(openid), ..Settings::default() };
        let access = Access::new(None, settings, ListenScope::LOOPBACK, clock.clone());
        let kept = Arc::new(Kept::default());
        access.record_in(kept.clone());
        let about =
            About { version: String::new(), started_at_ms: NOW_MS, read_only: Arc::new(AtomicBool::new(false)) };
        let hub = Hub::new(
            Arc::new(Projector::new(Vec::new(), about, clock.clone())),
            clock.clone(),
            lockscope_live::random_epoch(),
        );
        let (_, draining) = shutdown::token();
        let (close, closing) = shutdown::token();
        let http = Http::new(hub, draining, Limits::default()).with_access(access.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(crate::listener::serve(listener, None, http.router(Router::new()), Bounds::default(), closing));
        Self { address, access, clock, kept, provider, _close: close }
    }

    async fn get(&self, path: &str, cookie: &str) -> Answer {
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let answer =
            client.get(format!("http://{}{path}", self.address)).header("cookie", cookie).send().await.unwrap();
        let text = |name: &str| {
            answer.headers().get_all(name).iter().map(|value| value.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let (to, cookies) = (text("location").concat(), text("set-cookie"));
        Answer { status: answer.status().as_u16(), to, cookies, text: answer.text().await.unwrap() }
    }

    /// Away, and signed in at the provider: the address to come back to, and the cookie of the way.
    async fn away(&self, groups: &[&str]) -> (String, String) {
        let away = self.get("/sign-in/openid?next=/lock%3Fpath%3D%252Fa", "").await;
        assert_eq!((away.status, away.to.is_empty()), (303, false), "{}", away.text);
        let query = self.provider.authorize(&away.to, "ann", groups);
        (format!("/sign-in/openid/back?{query}"), away.cookie(WAY))
    }

    async fn whole(&self) -> Answer {
        let (back, cookie) = self.away(&["ops", "staff"]).await;
        self.get(&back, &cookie).await
    }

    /// Who the server takes the holder of a cookie for.
    async fn me(&self, cookie: &str) -> String {
        let answer = self.get("/api/v1/me", cookie).await;
        let me: Value = serde_json::from_str(&answer.text).unwrap();
        if answer.status == 200 {
            format!("{} {} {}", me["name"], me["role"], me["by"]).replace('"', "")
        } else {
            answer.status.to_string()
        }
    }

    fn told(&self) -> Vec<String> {
        self.kept.0.lock().unwrap().clone()
    }

    fn last(&self) -> String {
        self.told().last().cloned().unwrap_or_default()
    }
}

#[tokio::test]
async fn who_the_provider_knows_comes_in_by_their_group() {
    let house = House::new().await;
    let page = house.get("/sign-in", "").await.text;
    assert!(page.contains("Sign in with OpenID Connect") && !page.contains("name=\"password\""), "{page}");
    assert!(house.access.has_credentials() && !house.access.is_read_only());
    let answer = house.whole().await;
    // A page, not a redirect: only what is asked from here carries a Strict cookie.
    assert_eq!((answer.status, answer.to.as_str()), (200, ""), "{}", answer.text);
    assert!(answer.text.contains("content=\"0;url=/lock?path=%2Fa\""), "{}", answer.text);
    let session = answer.cookies.iter().find(|cookie| cookie.starts_with("lockscope=")).unwrap();
    assert!(session.contains("; HttpOnly; SameSite=Strict"), "{session}");
    assert!(
        answer.cookies.iter().any(|cookie| cookie.starts_with("lockscope-openid=;") && cookie.ends_with("Max-Age=0")),
        "{:?}",
        answer.cookies
    );
    assert_eq!(house.me(&answer.cookie(SESSION)).await, "ann operator openid");
    assert_eq!(house.last(), "signed_in ann, operator by openid: signed in by openid");
}

#[tokio::test]
async fn the_cookie_of_the_way_is_lax_and_short() {
    let house = House::new().await;
    let away = house.get("/sign-in/openid", "").await;
    assert!(away.cookies[0].ends_with("; Path=/; HttpOnly; SameSite=Lax; Max-Age=600"), "{:?}", away.cookies);
    let (back, cookie) = house.away(&["ops"]).await;
    house.clock.set_ms(NOW_MS + 10 * 60 * 1_000);
    assert_eq!(house.get(&back, &cookie).await.status, 403, "too late");
}

#[tokio::test]
async fn only_who_began_comes_back_and_only_once() {
    let house = House::new().await;
    let (back, cookie) = house.away(&["ops"]).await;
    let (_, other) = house.away(&["ops"]).await;
    let both = format!("{cookie}; {other}");
    let wrong = back.replace("state=", "state=0");
    let tries: [(&str, &str, &str); 6] = [
        ("no cookie", back.as_str(), ""),
        ("another's cookie", &back, &other),
        ("two cookies", &back, &both),
        ("wrong state", &wrong, &cookie),
        ("no state", "/sign-in/openid/back?code=code-canary-0", &cookie),
        ("a link of somebody", "/sign-in/openid/back?error=evil&error_description=call+me&state=x", &cookie),
    ];
    for (why, address, cookie) in tries {
        let answer = house.get(address, cookie).await;
        assert_eq!((answer.status, answer.cookies.len()), (403, 0), "{why}: {}", answer.text);
        assert!(!answer.text.contains("evil") && !answer.text.contains("call me"), "{why}: {}", answer.text);
        assert!(
            house
                .last()
                .starts_with("refused nobody: sign-in of \"somebody by OpenID Connect\" from 127.0.0.1 refused"),
            "{}",
            house.last()
        );
    }
    assert_eq!(house.provider.asked("token"), 0, "no code went out");
    assert_eq!(house.get(&back, &cookie).await.status, 200, "nobody else ended it");
    assert_eq!(house.get(&back, &cookie).await.status, 403, "the second time");
    let (again, cookie) = house.away(&["ops"]).await;
    let used = again
        .split('&')
        .map(|part| if part.contains("code=") { "/sign-in/openid/back?code=code-canary-0" } else { part });
    let answer = house.get(&used.collect::<Vec<_>>().join("&"), &cookie).await;
    assert!(
        answer.status == 403 && answer.text.contains("invalid_grant"),
        "a used code with a new state: {}",
        answer.text
    );
}

#[tokio::test]
async fn what_is_signed_wrongly_is_not_believed() {
    type Case = (&'static str, Sign, fn(&mut Value));
    let house = House::new().await;
    let cases: [Case; 14] = [
        ("nonce mismatch", Sign::Rsa, |claims| claims["nonce"] = json!("0")),
        ("missing nonce", Sign::Rsa, |claims| drop(claims.as_object_mut().unwrap().remove("nonce"))),
        ("must contain", Sign::Rsa, |claims| claims["aud"] = json!(["other"])),
        ("not a trusted audience", Sign::Rsa, |claims| claims["aud"] = json!([CLIENT, "other"])),
        ("another party", Sign::Rsa, |claims| claims["azp"] = json!("other")),
        ("issuer", Sign::Rsa, |claims| claims["iss"] = json!("http://127.0.0.1:1")),
        ("expired", Sign::Rsa, |claims| claims["exp"] = json!(NOW_MS / 1_000 - 1)),
        ("Signature verification failed", Sign::None, |_| ()),
        ("Signature verification failed", Sign::Secret, |_| ()),
        ("Signature verification failed", Sign::Forged, |_| ()),
        ("has no role here", Sign::Rsa, |claims| claims["groups"] = json!(["strangers"])),
        ("has no role here", Sign::Rsa, |claims| drop(claims.as_object_mut().unwrap().remove("groups"))),
        ("holds no name", Sign::Rsa, |claims| claims["preferred_username"] = json!("anonymous")),
        ("holds no name", Sign::Rsa, |claims| claims["preferred_username"] = json!("a\u{202e}b")),
    ];
    for (words, sign, edit) in cases {
        house.provider.behave(|manner| (manner.sign, manner.edit) = (sign, edit));
        // Records of refusals have a maximum a minute.
        house.clock.set_ms(house.clock.now_ms() + 1_000);
        let answer = house.whole().await;
        assert_eq!((answer.status, answer.cookie(SESSION).as_str()), (403, ""), "{words} {sign:?}: {}", answer.text);
        assert!(answer.text.contains(words), "{words} {sign:?}: {}", answer.text);
        assert!(
            house.last().starts_with("refused nobody") && house.last().contains(words),
            "{words}: {}",
            house.last()
        );
    }
    house.provider.behave(|manner| {
        manner.sign = Sign::Rsa;
        manner.edit = |_| ();
    });
    assert_eq!(house.whole().await.status, 200);
}

#[tokio::test]
async fn new_keys_are_asked_for_once_in_a_while() {
    let house = House::new().await;
    assert_eq!(house.whole().await.status, 200);
    assert_eq!((house.provider.asked("discovery"), house.provider.asked("keys")), (1, 1));
    house.provider.behave(|manner| (manner.sign, manner.keys) = (Sign::Ec("ec-1"), vec!["rsa", "ec-1"]));
    assert_eq!(house.whole().await.status, 200, "a key that came up since");
    house.provider.behave(|manner| (manner.sign, manner.keys) = (Sign::Ec("ec-2"), vec!["ec-2"]));
    for _ in 0..5 {
        assert_eq!(house.whole().await.status, 403, "within the same minute");
    }
    assert_eq!((house.provider.asked("discovery"), house.provider.asked("keys")), (1, 2));
    house.clock.set_ms(NOW_MS + 60_000);
    assert_eq!(house.whole().await.status, 200);
    assert_eq!((house.provider.asked("discovery"), house.provider.asked("keys")), (1, 3));
}

#[tokio::test]
async fn what_a_provider_answers_amiss_is_told_cut_and_visible() {
    let house = House::new().await;
    let huge = format!("{{\"error\":\"invalid_grant\",\"error_description\":\"{}\"}}", "x".repeat(600_000));
    let hostile =
        format!("{{\"error\":\"invalid_grant\",\"error_description\":\"<script>\u{202e}{}\"}}", "y".repeat(5_000));
    let cases = [
        (StatusAnd(400, hostile), 403, "invalid_grant"),
        (StatusAnd(400, huge), 502, "more than 524288 bytes"),
        (StatusAnd(302, String::new()), 502, "can&#39;t be used"),
        (StatusAnd(200, "{\"access_token\":\"access-token-canary\"".to_owned()), 502, "no answer with tokens"),
        (
            StatusAnd(200, "{\"access_token\":\"access-token-canary\",\"token_type\":\"Bearer\"}".to_owned()),
            502,
            "no ID token",
        ),
    ];
    for (StatusAnd(status, text), expected, words) in cases {
        house
            .provider
            .behave(|manner| manner.instead = Some((axum::http::StatusCode::from_u16(status).unwrap(), text)));
        let answer = house.whole().await;
        assert!(answer.status == expected && answer.text.contains(words), "{words}: {} {}", answer.status, answer.text);
        assert!(
            !answer.text.contains("<script") && !answer.text.contains('\u{202e}') && answer.text.len() < 8_000,
            "{}",
            answer.text
        );
    }
    let (back, cookie) = house.away(&[]).await;
    let state = back.split('&').find(|part| part.starts_with("state=")).unwrap();
    let answer = house
        .get(&format!("/sign-in/openid/back?error=access_denied&error_description=not+today&{state}"), &cookie)
        .await;
    assert!(
        answer.status == 403 && answer.text.contains("the provider said access_denied (not today)"),
        "{}",
        answer.text
    );
    let (back, cookie) = house.away(&[]).await;
    let answer = house.get(&back.replace(&house.provider.issuer(), "http://other"), &cookie).await;
    assert!(answer.status == 403 && answer.text.contains("another provider answered"), "{}", answer.text);
}

struct StatusAnd(u16, String);

#[tokio::test]
async fn a_provider_that_is_not_there_or_not_encrypted_is_told_and_left_alone() {
    let house = House::new().await;
    house.provider.behave(|manner| manner.token_endpoint = Some("http://id.example/token".to_owned()));
    for _ in 0..3 {
        let answer = house.get("/sign-in/openid", "").await;
        assert!(
            answer.status == 502 && answer.text.contains("http://id.example/token, which is not encrypted"),
            "{}",
            answer.text
        );
    }
    assert_eq!(house.provider.asked("discovery"), 1);
    house.provider.behave(|manner| manner.token_endpoint = None);
    house.clock.set_ms(NOW_MS + 5_000);
    assert_eq!(house.get("/sign-in/openid", "").await.status, 303);
}

#[tokio::test]
async fn nothing_secret_is_told_anywhere() {
    let logs = Logs::default();
    let writer = logs.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let house = House::new().await;
    let good = house.whole().await;
    house.provider.behave(|manner| manner.edit = |claims| claims["nonce"] = json!("nonce-canary"));
    let refused = house.whole().await;
    // A provider that repeats what it was shown.
    let echo = format!("{{\"error\":\"invalid_grant\",\"error_description\":\"no code-canary-2 of {CLIENT_SECRET}\"}}");
    house.provider.behave(|manner| manner.instead = Some((axum::http::StatusCode::BAD_REQUEST, echo)));
    let echoed = house.whole().await.text;
    assert!(echoed.contains("invalid_grant"), "{echoed}");
    let logged = String::from_utf8(logs.0.lock().unwrap().clone()).unwrap();
    // What other crates write on the level TRACE is theirs; the default level is far above.
    let ours: String = logged.lines().filter(|line| line.contains("server::")).collect();
    let told =
        [good.text.clone(), refused.text, echoed, house.told().concat(), ours, format!("{:?}", house.access)].concat();
    for secret in [CLIENT_SECRET, "access-token-canary", "nonce-canary", "code-canary-2"] {
        assert!(!told.contains(secret), "{secret} in {told}");
    }
    for token in house.provider.tokens() {
        assert!(!told.contains(token.split('.').nth(2).unwrap()), "a token in {told}");
    }
    assert!(!told.contains(good.cookie(SESSION).split('=').nth(1).unwrap()));
}
