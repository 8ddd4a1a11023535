//! Secrets that are looked for everywhere they must not be.

use std::io::Write;
use std::sync::{Arc, Mutex};

use lockscope_access::Grant;
use lockscope_audit::REFUSALS_A_MINUTE_MAX;
use lockscope_view::Role;
use tracing_subscriber::fmt::MakeWriter;

use super::{House, PASSWORD, bearer};
use crate::served::hear;

/// Everything that is logged.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn no_secret_is_in_logs_answers_frames_records_or_debug_forms() {
    let lines = Lines::default();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(lines.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let house = House::plain().await;
    house.user("ann", Role::Operator);
    let token = house.token("ci", Grant::everywhere(Role::Admin), None);
    let link = house.access.one_time_link("demo", Role::Operator);
    let key = link.split_once('=').unwrap().1.to_owned();
    let guess = "canary-guess-0123456789";
    let mut seen = String::new();
    let mut secrets = vec![
        token.clone(),
        token.rsplit('_').next().unwrap().to_owned(),
        key.clone(),
        PASSWORD.to_owned(),
        PASSWORD.replace(' ', "+"),
        guess.to_owned(),
    ];

    let forms = [
        ("/sign-in", format!("name=ann&password={guess}")),
        ("/sign-in", format!("name=eve&password={guess}&password={guess}")),
        ("/sign-in", format!("token=lks_{guess}")),
        ("/sign-in", format!("password={guess}")),
        ("/sign-in", format!("name=ann&password={guess}%FF")),
        ("/sign-in/once", format!("key={guess}")),
        ("/sign-in", format!("token={token}")),
        ("/sign-in", format!("name=ann&password={}", PASSWORD.replace(' ', "+"))),
        ("/sign-in/once", format!("key={key}")),
    ];
    for (path, body) in &forms {
        let answer = house.ask("POST", path, &[], body).await;
        if answer.status == 303 {
            secrets.push(answer.cookie().split_once('=').unwrap().1.to_owned());
        }
        seen.push_str(&answer.text);
    }
    let cookie = format!("lockscope={}", secrets.last().unwrap());
    for headers in [
        vec![("authorization", bearer(&token))],
        vec![("authorization", bearer(guess))],
        vec![("authorization", format!("Basic {guess}"))],
        vec![("cookie", cookie.clone())],
    ] {
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        for path in
            ["/api/v1/me", "/api/v1/status", "/api/v1/nothing", "/metrics", "/", "/sign-in", "/sign-in?next=/lock"]
        {
            let answer = house.get(path, &headers).await;
            seen.push_str(&format!("{:?}{}", answer.headers, answer.text));
        }
    }
    let mut client = house
        .served
        .open(&[
            ("sec-websocket-protocol", "lockscope.v1.json"),
            ("sec-fetch-site", "same-origin"),
            ("cookie", &cookie),
        ])
        .await
        .unwrap();
    seen.push_str(&hear(&mut client, "hello").await.to_string());
    let _ = house.sign_out(&cookie).await;
    house.pass(60_000).await;
    let records = house.kept.0.lock().unwrap();
    assert!(records.len() >= 8 && records.len() < REFUSALS_A_MINUTE_MAX as usize, "{records:?}");
    seen.push_str(&format!("{records:?}{:?}", house.access));
    drop(records);
    for file in ["tokens.json", "users.json"] {
        seen.push_str(&std::fs::read_to_string(house.path().join(file)).unwrap());
    }
    let logged = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    for (at, secret) in secrets.iter().enumerate() {
        assert!(!seen.contains(secret), "secret {at} is in an answer, a record, a file or a debug form");
        assert!(
            !logged.contains(secret),
            "secret {at} is in the log: {}",
            logged.lines().find(|line| line.contains(secret)).unwrap()
        );
    }
    assert_eq!(secrets.len(), 9, "three signed in");
}

#[test]
fn a_panic_that_prints_a_secret_prints_none() {
    let secret = lockscope_access::Secret::new("canary-in-a-panic".to_owned());
    let caught = std::panic::catch_unwind(|| panic!("{secret:?}")).unwrap_err();
    assert!(!caught.downcast_ref::<String>().unwrap().contains("canary"));
}
