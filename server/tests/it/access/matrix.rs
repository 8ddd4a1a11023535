//! Every route, by every kind of person. The routes come from the table that the router is made of.

use lockscope_access::{Grant, ListenScope, Settings};
use lockscope_audit::Right;
use lockscope_view::{Problem, Role};
use lockscope_web::{Need, Route, Verb, routes};

use super::{Answer, House, bearer};

/// What a role may, told a second time.
fn may(role: Role, right: Right) -> bool {
    let rights: &[Right] = match role {
        Role::Viewer => &[Right::View],
        Role::Operator => &[Right::View, Right::Release, Right::ReadAudit, Right::RunLab],
        Role::Auditor => &[Right::View, Right::ReadAudit],
        Role::Admin => &[Right::View, Right::Release, Right::ReadAudit, Right::RunLab, Right::Administer],
    };
    rights.contains(&right)
}

async fn ask(house: &House, route: &Route, headers: &[(&str, &str)]) -> Answer {
    let path =
        route.path.replace("{name}", "none.css").replace("{*rest}", "v1/none").replace("{id}", "0000000000000000");
    let method = if route.verb == Verb::Any { "GET" } else { route.verb.name() };
    house.ask(method, &path, headers, "").await
}

/// The gate let it through.
#[track_caller]
fn passed(answer: &Answer, what: &str) {
    let is_refusal = matches!(answer.status, 401 | 403) && answer.header("content-type") == "application/problem+json";
    assert!(
        !is_refusal && !answer.header("location").starts_with("/sign-in") && !answer.text.contains("which may not"),
        "{what}: {}",
        answer.status
    );
    assert!(answer.status < 500 || answer.status == 503, "{what}: {} {}", answer.status, answer.text);
}

/// The gate said to nobody: say who you are.
#[track_caller]
fn unknown(answer: &Answer, route: &Route, what: &str) {
    if route.is_for_people() {
        assert_eq!(answer.status, 303, "{what}");
        assert!(answer.header("location").starts_with("/sign-in"), "{what}");
        return;
    }
    assert_eq!((answer.status, answer.header("content-type")), (401, "application/problem+json"), "{what}");
    assert!(answer.header("www-authenticate").starts_with("Bearer"), "{what}");
}

/// The gate said to somebody: not you.
#[track_caller]
fn forbidden(answer: &Answer, route: &Route, role: Role, what: &str) {
    assert_eq!(answer.status, 403, "{what}");
    assert!(answer.text.contains(&format!("the role {role}, which may not")), "{what}: {}", answer.text);
    if !route.is_for_people() {
        let problem: Problem = serde_json::from_str(&answer.text).unwrap();
        assert_eq!(problem.status, 403, "{what}");
    }
}

#[tokio::test]
async fn every_route_by_every_kind_of_person() {
    let closed = House::new(Settings { anonymous: Some(false), ..Settings::default() }, ListenScope::LOOPBACK).await;
    let scoped = Grant::new(Role::Operator, &["prod".to_owned()], &["/shop".to_owned()]).unwrap();
    let mut people = Vec::new();
    for (name, grant) in
        Role::ALL.into_iter().map(|role| (role.name(), Grant::everywhere(role))).chain([("scoped", scoped)])
    {
        let role = grant.role;
        let token = closed.token(name, grant, None);
        let cookie = closed.ask("POST", "/sign-in", &[], &format!("token={token}")).await.cookie();
        people.push((name, role, vec![("authorization", bearer(&token))]));
        people.push((name, role, vec![("cookie", cookie)]));
    }
    let open = House::plain().await;
    let mut cells = 0;
    for route in routes() {
        let what = format!("{} {}", route.verb.name(), route.path);
        let answer = ask(&closed, route, &[]).await;
        match route.need {
            Need::Open => passed(&answer, &what),
            Need::Of(_) => unknown(&answer, route, &what),
        }
        let answer = ask(&open, route, &[]).await;
        match route.need {
            Need::Of(right) if !may(Role::Viewer, right) => {
                unknown(&answer, route, &what);
                let says_what_helps =
                    route.is_for_people() || answer.text.contains("You are signed out. Sign in as an ");
                assert!(says_what_helps, "{what}: {}", answer.text);
            }
            Need::Open | Need::Of(_) => passed(&answer, &what),
        }
        let wrong = ask(&open, route, &[("authorization", "Bearer lks_000000000000_00")]).await;
        match route.need {
            Need::Open => passed(&wrong, &what),
            Need::Of(_) => assert_eq!(
                (wrong.status, wrong.header("www-authenticate").contains("invalid_token")),
                (401, true),
                "{what}"
            ),
        }
        cells += 3;
        for (name, role, headers) in &people {
            // It would end the session that the next cell needs.
            if route.path == "/sign-out" {
                continue;
            }
            let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let what = format!("{what} by {name} with {}", headers[0].0);
            let answer = ask(&closed, route, &headers).await;
            match route.need {
                Need::Of(right) if !may(*role, right) => forbidden(&answer, route, *role, &what),
                // A part of the record can't be verified, so whoever has a scope gets none.
                Need::Of(_) if *name == "scoped" && route.path == "/api/v1/audit/export" => {
                    assert!(answer.status == 403 && answer.text.contains("exported whole"), "{what}");
                }
                Need::Open | Need::Of(_) => passed(&answer, &what),
            }
            cells += 1;
        }
    }
    assert!(cells >= 300, "{cells} cells");
}

#[tokio::test]
async fn what_is_not_in_the_table_is_not_there() {
    let house = House::plain().await;
    for path in [
        "/nothing",
        "/api/v1/nothing",
        "/api",
        "/pkg",
        "/pkg/a/b",
        "/sign-in/",
        "/sign-in/twice",
        "/healthz/",
        "//",
        "/lock/x",
        "/.env",
    ] {
        let answer = house.get(path, &[]).await;
        assert_eq!(answer.status, 404, "{path}");
    }
    let closed = House::new(Settings { anonymous: Some(false), ..Settings::default() }, ListenScope::LOOPBACK).await;
    let answer = closed.get("/nothing", &[]).await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (404, "application/problem+json"),
        "no page is rendered for nobody"
    );
    let routes: Vec<_> = routes().collect();
    for route in routes.iter().filter(|route| route.verb != Verb::Any && !route.path.contains('{')) {
        for method in ["DELETE", "PUT", "PATCH", "OPTIONS", "TRACE"] {
            if routes.iter().any(|other| other.path == route.path && other.verb.name() == method) {
                continue;
            }
            let answer = house.ask(method, route.path, &[], "").await;
            assert_eq!(answer.status, 405, "{method} {}", route.path);
        }
    }
    assert_eq!(house.ask("HEAD", "/api/v1/status", &[], "").await.status, 200);
    assert_eq!(closed.ask("HEAD", "/api/v1/status", &[], "").await.status, 401);
}

#[tokio::test]
async fn pages_lead_to_the_form_and_back() {
    let house = House::new(Settings { anonymous: Some(false), ..Settings::default() }, ListenScope::LOOPBACK).await;
    let token = house.token("ann", Grant::everywhere(Role::Viewer), None);
    let answer = house.get("/lock?path=%2Forder", &[]).await;
    assert_eq!((answer.status, answer.header("location")), (303, "/sign-in?next=%2Flock%3Fpath%3D%252Forder"));
    let form = house.get(answer.header("location"), &[]).await;
    assert!(form.text.contains(r#"name="next" value="/lock?path=%2Forder""#), "{}", form.text);
    let done = house.ask("POST", "/sign-in", &[], &format!("token={token}&next=%2Flock%3Fpath%3D%252Forder")).await;
    assert_eq!((done.status, done.header("location")), (303, "/lock?path=%2Forder"));
    let away = house.ask("POST", "/sign-in", &[], &format!("token={token}&next=%2F%2Fevil.example")).await;
    assert_eq!(away.header("location"), "/");
    // From a link elsewhere the cookie is kept back once; asked again from here it comes.
    let again = house.get("/sign-in?next=%2Fwaits", &[("sec-fetch-site", "cross-site")]).await;
    assert!(again.text.contains(r#"content="0;url=/sign-in?again=1&amp;next=%2Fwaits""#), "{}", again.text);
    let back = house.get("/sign-in?again=1&next=%2Fwaits", &[("cookie", &away.cookie())]).await;
    assert_eq!((back.status, back.header("location")), (303, "/waits"));
    let refused =
        house.ask("POST", "/sign-out", &[("cookie", &away.cookie()), ("sec-fetch-site", "cross-site")], "").await;
    assert_eq!(refused.status, 403, "another site signs nobody out");
}
