//! A screen on the wall signs in by a token that may look and nothing else, and again after a restart.

use lockscope_access::{Grant, ListenScope, Settings};
use lockscope_view::Role;

use super::House;

const ADDRESS: &str = "/sign-in/wall";

#[tokio::test]
async fn only_a_token_that_may_look_signs_a_wall_in() {
    let house = House::new(Settings { anonymous: Some(false), ..Settings::default() }, ListenScope::LOOPBACK).await;
    let sent_on = house.get("/wall", &[]).await;
    assert_eq!((sent_on.status, sent_on.header("location")), (303, ADDRESS), "the fragment comes along");
    let page = house.get(ADDRESS, &[]).await;
    assert_eq!(page.status, 200);
    let policy = page.header("content-security-policy");
    let nonce = policy.split("script-src 'nonce-").nth(1).and_then(|rest| rest.split('\'').next()).unwrap();
    assert!(page.text.contains(&format!("<script nonce=\"{nonce}\">")), "{}", page.text);
    assert!(!policy.contains("unsafe") && !page.text.contains("role=\"alert\""), "{policy}");
    assert_ne!(house.get(ADDRESS, &[]).await.header("content-security-policy"), policy, "a nonce is used once");

    let viewer = house.token("wall", Grant::everywhere(Role::Viewer), None);
    let welcome = house.ask("POST", ADDRESS, &[], &format!("token={viewer}")).await;
    assert_eq!((welcome.status, welcome.header("location")), (303, "/wall"));
    assert_eq!(house.me(&[("cookie", &welcome.cookie())]).await, "wall viewer token");

    for role in [Role::Operator, Role::Auditor, Role::Admin] {
        let token = house.token(role.name(), Grant::everywhere(role), None);
        let refused = house.ask("POST", ADDRESS, &[], &format!("token={token}")).await;
        assert_eq!((refused.status, refused.header("set-cookie")), (403, ""), "{role}");
        assert!(refused.text.contains("This token may do more than look"), "{}", refused.text);
        assert!(refused.text.contains("token new --name wall --role viewer") && !refused.text.contains(&token));
    }
    let wrong = house.ask("POST", ADDRESS, &[], "token=lks_none").await;
    assert_eq!(wrong.status, 401);
    assert!(wrong.text.contains("Wrong name, password or token.") && wrong.text.contains("role=\"alert\""));
    let elsewhere = house.ask("POST", ADDRESS, &[("origin", "https://evil.example")], &format!("token={viewer}")).await;
    assert_eq!(elsewhere.status, 403);
}
