//! Forms that act carry a token of the sign-in and of their own address: markup that somebody brought into a page has none.

use axum::http::HeaderMap;
use lockscope_access::{FormKey, Grant, ListenScope, Net, Proxy, Settings};
use lockscope_view::Role;
use lockscope_web::{Route, Verb, routes};

use super::{Answer, House, PASSWORD, form_token};

const REFUSED: &str = "the form does not belong to your present sign-in";

fn acting() -> impl Iterator<Item = &'static Route> {
    let acts =
        |route: &&Route| route.verb == Verb::Post && route.is_for_people() && !route.path.starts_with("/sign-in");
    routes().filter(acts)
}

async fn key(house: &House, cookie: &str) -> FormKey {
    let headers = HeaderMap::from_iter([("cookie".parse().unwrap(), cookie.parse().unwrap())]);
    house.access.resolve(&headers, None).await.unwrap().forms
}

async fn send(house: &House, path: &str, headers: &[(&str, &str)], token: &str) -> Answer {
    house.ask("POST", path, headers, &format!("plan_id=1&run=1&form_token={token}")).await
}

#[tokio::test]
async fn no_form_acts_without_its_token() {
    let house = House::plain().await;
    house.user("ann", Role::Admin);
    house.user("bob", Role::Admin);
    let (ann, bob) = (house.sign_in("ann", PASSWORD).await.cookie(), house.sign_in("bob", PASSWORD).await.cookie());
    let (of_ann, of_bob) = (key(&house, &ann).await, key(&house, &bob).await);
    let cookie = [("cookie", ann.as_str())];
    let mut forms = 0;
    for route in acting() {
        for wrong in [String::new(), of_bob.token(route.path), of_ann.token("/another")] {
            let answer = send(&house, route.path, &cookie, &wrong).await;
            assert!(answer.status == 403 && answer.text.contains(REFUSED), "{}: {}", route.path, answer.text);
        }
        forms += 1;
    }
    assert!(forms >= 7, "{forms} forms");
    assert_eq!(house.me(&cookie).await, "ann admin password", "nobody was signed out");
    // In their order of the table, in which signing out is the last.
    for route in acting() {
        let answer = send(&house, route.path, &cookie, &of_ann.token(route.path)).await;
        assert!(!answer.text.contains(REFUSED), "{}: {}", route.path, answer.text);
    }
    assert_eq!(house.me(&cookie).await, "anonymous viewer nobody");
}

#[tokio::test]
async fn pages_carry_the_tokens_of_their_forms() {
    let house = House::plain().await;
    house.user("ann", Role::Operator);
    for page in ["/", "/help", "/sign-in"] {
        let cookie = house.sign_in("ann", PASSWORD).await.cookie();
        let of_ann = key(&house, &cookie).await;
        let html = house.get(page, &[("cookie", &cookie)]).await.text;
        let token = form_token(&html, "/sign-out");
        assert!(of_ann.allows("/sign-out", &token), "{page}");
        // The browser draws this form as well.
        let in_head = "name=\"form_token\" data-form=\"/sign-out\" content=\"";
        let in_head = html.split_once(in_head).map(|(_, rest)| rest.split('"').next().unwrap());
        assert!(page == "/sign-in" || in_head.is_some_and(|token| of_ann.allows("/sign-out", token)), "{page}: {html}");
        assert_eq!(send(&house, "/sign-out", &[("cookie", &cookie)], &token).await.status, 303, "{page}");
    }
    assert!(!house.get("/", &[]).await.text.contains("data-form="), "nobody acts who is not signed in");
}

#[tokio::test]
async fn whom_no_browser_signs_in_needs_none() {
    let house = House::plain().await;
    let token = super::bearer(&house.token("ci", Grant::everywhere(Role::Admin), None));
    for route in acting() {
        for headers in [&[("authorization", token.as_str())][..], &[]] {
            let answer = send(&house, route.path, headers, "").await;
            assert!(!answer.text.contains(REFUSED), "{}: {}", route.path, answer.text);
        }
    }
}

#[tokio::test]
async fn people_of_a_proxy_need_theirs() {
    let proxy = Proxy {
        addresses: vec![Net::parse("127.0.0.1").unwrap()],
        header: Some("x-user".to_owned()),
        role: Some(Role::Admin),
        ..Proxy::default()
    };
    let house = House::new(Settings { proxy: Some(proxy), ..Settings::default() }, ListenScope::LOOPBACK).await;
    let headers = HeaderMap::from_iter([("x-user".parse().unwrap(), "ann".parse().unwrap())]);
    let of_ann = house.access.resolve(&headers, Some([127, 0, 0, 1].into())).await.unwrap().forms;
    let send = async |user: &str| send(&house, "/alerts/ack", &[("x-user", user)], &of_ann.token("/alerts/ack")).await;
    assert!(send("bob").await.text.contains(REFUSED));
    assert!(!send("ann").await.text.contains(REFUSED));
}

#[tokio::test]
async fn the_sign_in_page_always_says_what_to_do() {
    let demo = || Settings { is_demo: true, ..Settings::default() };
    let public = ListenScope { is_public: true, is_https: true };
    let house = House::new(demo(), ListenScope::LOOPBACK).await;
    let page = house.get("/sign-in?next=%2Faudit", &[]).await.text;
    assert!(page.contains("Try as operator") && page.contains("name=\"next\" value=\"/audit\""), "{page}");
    assert!(!page.contains("read-only") && !house.access.is_read_only(), "{page}");
    let tried = house.ask("POST", "/sign-in/once", &[], "next=%2Faudit").await;
    assert_eq!((tried.status, tried.header("location")), (303, "/audit"));
    assert_eq!(house.me(&[("cookie", &tried.cookie())]).await, "demo operator link");
    let house = House::new(demo(), public).await;
    let page = house.get("/sign-in", &[]).await.text;
    assert!(page.contains("<code>lockscope demo</code> printed") && !page.contains("Try as"), "{page}");
    assert_eq!(house.ask("POST", "/sign-in/once", &[], "next=%2F").await.status, 401, "others may reach it");
    // No demo: nobody is let in by a button.
    let house = House::plain().await;
    let page = house.get("/sign-in", &[]).await.text;
    assert!(page.contains("lockscope user set") && !page.contains("Try as operator"), "{page}");
    assert_eq!(house.ask("POST", "/sign-in/once", &[], "next=%2F").await.status, 401);
    let proxy = Proxy { header: Some("x-user".to_owned()), role: Some(Role::Operator), ..Proxy::default() };
    let house = House::new(Settings { proxy: Some(proxy), ..Settings::default() }, ListenScope::LOOPBACK).await;
    let page = house.get("/sign-in", &[]).await.text;
    assert!(page.contains("Nobody can sign in here yet") && page.contains("lockscope user set"), "{page}");
}
