//! Lives of tokens, sessions, links and the sockets that hang on them.

use lockscope_access::{
    AGE_MS_MAX, Grant, IDLE_MS_MAX, LINK_MS_MAX, ListenScope, Secret, Settings, new_token, remove_user, revoke_token,
    set_user,
};
use lockscope_view::Role;

use super::{House, PASSWORD, bearer};
use crate::served::{closed, hear};

const SOCKET: &str = "lockscope.v1.json";

#[tokio::test]
async fn a_token_lives_until_it_is_revoked_or_runs_out() {
    let house = House::plain().await;
    assert_eq!(house.me(&[]).await, "anonymous viewer nobody");
    assert!(house.access.is_read_only());
    let token = house.token("ci", Grant::everywhere(Role::Operator), Some(60_000));
    assert_eq!(house.me(&[("authorization", &bearer(&token))]).await, "ci operator token");
    assert_eq!(house.me(&[("authorization", &format!("bEARER {token}"))]).await, "ci operator token");
    assert!(!house.access.is_read_only());
    for wrong in [
        format!("Bearer {token}x"),
        "Bearer".to_owned(),
        format!("Basic {token}"),
        format!("Bearer{token}"),
        String::new(),
    ] {
        assert_eq!(house.me(&[("authorization", &wrong)]).await, "401", "{wrong:?} is never nobody");
    }
    assert_eq!(house.me(&[("authorization", &bearer(&token)), ("authorization", &bearer(&token))]).await, "401");
    house.pass(60_000).await;
    assert_eq!(house.me(&[("authorization", &bearer(&token))]).await, "401");
    assert!(house.access.is_read_only(), "a token that ran out is nobody's");
    let other = house.token("cd", Grant::everywhere(Role::Admin), None);
    assert_eq!(house.me(&[("authorization", &bearer(&other))]).await, "cd admin token");
    revoke_token(&house.path(), "cd").unwrap();
    house.pass(1_000).await;
    assert_eq!(house.me(&[("authorization", &bearer(&other))]).await, "401");
}

#[tokio::test]
async fn who_was_just_added_comes_in_at_once() {
    let house = House::plain().await;
    house.token("first", Grant::everywhere(Role::Viewer), None);
    house.user("ann", Role::Viewer);
    let now_ms = house.clock.now_ms();
    assert_eq!(house.me(&[]).await, "anonymous viewer nobody", "the lists were looked at in this very millisecond");
    let (_, token) = new_token(&house.path(), "second", Grant::everywhere(Role::Operator), now_ms, None).unwrap();
    assert_eq!(house.me(&[("authorization", &bearer(token.expose()))]).await, "second operator token");
    let (_, token) = new_token(&house.path(), "third", Grant::everywhere(Role::Operator), now_ms, None).unwrap();
    let answer = house.ask("POST", "/sign-in", &[], &format!("token={}", token.expose())).await;
    assert_eq!(answer.status, 303, "{}", answer.text);
    set_user(&house.path(), "bob", Grant::everywhere(Role::Operator), &Secret::new(PASSWORD.to_owned()), now_ms)
        .unwrap();
    assert_eq!(house.sign_in("bob", PASSWORD).await.status, 303);
    assert_eq!(house.clock.now_ms(), now_ms);
}

#[tokio::test]
async fn a_session_lives_while_it_is_used_and_twelve_hours_at_most() {
    let house = House::plain().await;
    house.user("ann", Role::Operator);
    let answer = house.sign_in("ann", PASSWORD).await;
    assert_eq!((answer.status, answer.header("location")), (303, "/"));
    let set = answer.header("set-cookie");
    assert!(
        set.starts_with("lockscope=") && set.contains("; Path=/; HttpOnly; SameSite=Strict") && !set.contains("Secure"),
        "{set}"
    );
    let cookie = answer.cookie();
    let me = || async { house.me(&[("cookie", &cookie)]).await };
    house.pass(IDLE_MS_MAX - 1).await;
    assert_eq!(me().await, "ann operator password");
    house.pass(IDLE_MS_MAX - 1).await;
    assert_eq!(me().await, "ann operator password", "each request counts");
    house.pass(IDLE_MS_MAX).await;
    assert_eq!(me().await, "anonymous viewer nobody");
    let answer = house.sign_in("ann", PASSWORD).await;
    let second = answer.cookie();
    assert_ne!(second, cookie, "each sign-in has an id of its own");
    let steps = AGE_MS_MAX / (IDLE_MS_MAX / 2);
    for _ in 0..steps - 1 {
        house.pass(IDLE_MS_MAX / 2).await;
        assert_eq!(house.me(&[("cookie", &second)]).await, "ann operator password");
    }
    house.pass(IDLE_MS_MAX / 2).await;
    assert_eq!(house.me(&[("cookie", &second)]).await, "anonymous viewer nobody");
    let told = house.kept.told();
    assert_eq!(told.iter().filter(|told| told.starts_with("signed_in")).count(), 2, "{told:?}");
    assert!(
        told.iter().any(|told| told.contains("after 30 minutes"))
            && told.iter().any(|told| told.contains("after 12 hours")),
        "{told:?}"
    );
}

#[tokio::test]
async fn signing_in_again_ends_what_was_before_and_two_cookies_are_none() {
    let house = House::plain().await;
    house.user("ann", Role::Operator);
    let first = house.sign_in("ann", PASSWORD).await.cookie();
    let body = format!("name=ann&password={}", PASSWORD.replace(' ', "+"));
    let second = house.ask("POST", "/sign-in", &[("cookie", &first)], &body).await.cookie();
    assert_eq!(house.me(&[("cookie", &first)]).await, "anonymous viewer nobody");
    assert_eq!(house.me(&[("cookie", &second)]).await, "ann operator password");
    assert_eq!(house.me(&[("cookie", &format!("{second}; {first}"))]).await, "anonymous viewer nobody");
    assert_eq!(house.me(&[("cookie", &format!("a=b; {second}; c"))]).await, "ann operator password");
    let token = house.token("ci", Grant::everywhere(Role::Auditor), None);
    assert_eq!(
        house.me(&[("cookie", &second), ("authorization", &bearer(&token))]).await,
        "ci auditor token",
        "a token comes first"
    );
    assert_eq!(house.me(&[("cookie", &second), ("authorization", "Bearer x")]).await, "401");
}

#[tokio::test]
async fn beyond_this_machine_cookies_are_secure_and_nobody_is_anonymous() {
    let house = House::new(Settings::default(), ListenScope { is_public: true, is_https: true }).await;
    house.user("ann", Role::Viewer);
    assert_eq!(house.me(&[]).await, "401");
    let answer = house.sign_in("ann", PASSWORD).await;
    let set = answer.header("set-cookie").to_owned();
    assert!(
        set.starts_with("__Host-lockscope=") && set.ends_with("; Path=/; HttpOnly; SameSite=Strict; Secure"),
        "{set}"
    );
    assert_eq!(house.me(&[("cookie", &answer.cookie())]).await, "ann viewer password");
    let plain = answer.cookie().replace("__Host-", "");
    assert_eq!(house.me(&[("cookie", &plain)]).await, "401", "the plain name is not taken here");
}

#[tokio::test]
async fn sockets_end_with_what_let_them_in() {
    let house = House::new(Settings { anonymous: Some(false), ..Settings::default() }, ListenScope::LOOPBACK).await;
    house.user("ann", Role::Operator);
    house.user("bob", Role::Operator);
    let token = house.token("ci", Grant::everywhere(Role::Viewer), Some(600_000));
    assert!(house.served.open(&[("sec-websocket-protocol", SOCKET)]).await.is_err(), "nobody listens unknown");
    let mut clients = Vec::new();
    let ann = house.sign_in("ann", PASSWORD).await.cookie();
    let bob = house.sign_in("bob", PASSWORD).await.cookie();
    let by_token = bearer(&token);
    for (name, value) in [("cookie", &ann), ("cookie", &ann), ("cookie", &bob), ("authorization", &by_token)] {
        let mut client = house
            .served
            .open(&[("sec-websocket-protocol", SOCKET), ("sec-fetch-site", "same-origin"), (name, value)])
            .await
            .unwrap();
        hear(&mut client, "hello").await;
        clients.push(client);
    }
    let out = house.sign_out(&ann).await;
    assert_eq!((out.status, out.header("location")), (303, "/"));
    assert!(out.header("set-cookie").starts_with("lockscope=;") && out.header("set-cookie").contains("Max-Age=0"));
    for client in &mut clients[..2] {
        assert_eq!(closed(client).await, (1008, "signed out".to_owned()));
    }
    assert_eq!(house.me(&[("cookie", &ann)]).await, "401");
    remove_user(&house.path(), "bob").unwrap();
    house.pass(1_000).await;
    assert_eq!(closed(&mut clients[2]).await, (1008, "the user was removed or changed; sign in again".to_owned()));
    revoke_token(&house.path(), "ci").unwrap();
    house.pass(1_000).await;
    assert_eq!(closed(&mut clients[3]).await, (1008, "the token was revoked".to_owned()));
}

#[tokio::test]
async fn a_silent_socket_keeps_no_session_alive() {
    let house = House::plain().await;
    house.user("ann", Role::Operator);
    let cookie = house.sign_in("ann", PASSWORD).await.cookie();
    let mut client = house
        .served
        .open(&[("sec-websocket-protocol", SOCKET), ("sec-fetch-site", "same-origin"), ("cookie", &cookie)])
        .await
        .unwrap();
    hear(&mut client, "hello").await;
    house.pass(IDLE_MS_MAX - 1).await;
    // A browser connects again by itself; that is nobody at the keyboard.
    let mut again = house
        .served
        .open(&[("sec-websocket-protocol", SOCKET), ("sec-fetch-site", "same-origin"), ("cookie", &cookie)])
        .await
        .unwrap();
    hear(&mut again, "hello").await;
    house.pass(1).await;
    for client in [&mut client, &mut again] {
        assert_eq!(
            closed(client).await,
            (1008, "signed out after 30 minutes without a request; sign in again".to_owned())
        );
    }
}

#[tokio::test]
async fn a_token_that_signed_in_takes_its_session_with_it() {
    let house = House::plain().await;
    let token = house.token("ci", Grant::everywhere(Role::Operator), None);
    let cookie = house.ask("POST", "/sign-in", &[], &format!("token={token}")).await.cookie();
    assert_eq!(house.me(&[("cookie", &cookie)]).await, "ci operator token");
    revoke_token(&house.path(), "ci").unwrap();
    house.pass(1_000).await;
    assert_eq!(house.me(&[("cookie", &cookie)]).await, "anonymous viewer nobody");
}

#[tokio::test]
async fn a_one_time_link_waits_for_its_button_and_works_once() {
    let house = House::plain().await;
    let link = house.access.one_time_link("demo", Role::Operator);
    assert!(!house.access.is_read_only());
    let key = link.split_once("?key=").unwrap().1;
    for _ in 0..3 {
        let page = house.get(&link, &[]).await;
        assert!(
            page.status == 200 && page.header("set-cookie").is_empty() && page.text.contains("Open the dashboard"),
            "a preview uses nothing up"
        );
        assert!(page.text.contains("You will be signed in as <strong>demo</strong>, operator"), "{}", page.text);
    }
    let answer = house.ask("POST", "/sign-in/once", &[], &format!("key={key}")).await;
    assert_eq!((answer.status, answer.header("location")), (303, "/"));
    assert_eq!(house.me(&[("cookie", &answer.cookie())]).await, "demo operator link");
    assert!(!house.access.is_read_only(), "who came in by it may release");
    assert_eq!(house.ask("POST", "/sign-in/once", &[], &format!("key={key}")).await.status, 401);
    let used = house.get(&link, &[]).await;
    assert!(used.text.contains("was used already") && !used.text.contains("Open the dashboard"), "{}", used.text);
    let late = house.access.one_time_link("demo", Role::Operator);
    house.pass(LINK_MS_MAX).await;
    let answer = house.ask("POST", "/sign-in/once", &[], &format!("key={}", late.split_once('=').unwrap().1)).await;
    assert_eq!(answer.status, 401);
}
