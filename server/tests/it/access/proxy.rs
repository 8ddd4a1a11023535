//! A proxy's word: believed from listed addresses, and never from others.

use std::collections::BTreeMap;

use lockscope_access::{Grant, ListenScope, Net, Proxy, Settings};
use lockscope_view::Role;

use super::{House, bearer};

fn settings(address: &str) -> Settings {
    let proxy = Proxy {
        addresses: vec![Net::parse(address).unwrap()],
        header: Some("x-forwarded-user".to_owned()),
        role: Some(Role::Viewer),
        role_header: Some("x-forwarded-groups".to_owned()),
        roles: BTreeMap::from([("ops".to_owned(), Role::Operator)]),
    };
    Settings { proxy: Some(proxy), ..Settings::default() }
}

#[tokio::test]
async fn a_listed_proxy_tells_who_it_is_and_where_from() {
    let house = House::new(settings("127.0.0.1"), ListenScope { is_public: true, is_https: true }).await;
    assert!(!house.access.is_read_only(), "a group may release");
    let ann = ("X-Forwarded-User", "ann");
    assert_eq!(house.me(&[ann]).await, "ann viewer proxy");
    assert_eq!(
        house.me(&[("x-FORWARDED-user", "ann"), ("X-Forwarded-Groups", "staff, ops")]).await,
        "ann operator proxy"
    );
    assert_eq!(house.me(&[]).await, "401");
    assert_eq!(house.me(&[("x_forwarded_user", "ann")]).await, "401", "another header");
    assert_eq!(house.me(&[ann, ("X-Forwarded-User", "root")]).await, "403");
    assert_eq!(house.me(&[("X-Forwarded-User", "ann,root")]).await, "403");
    let refused = house
        .ask("POST", "/sign-in", &[("x-forwarded-for", "6.6.6.6, 9.9.9.9")], "name=eve&password=wrong+guess")
        .await;
    assert_eq!(refused.status, 401);
    assert!(house.kept.told()[0].contains("from 9.9.9.9 refused"), "{:?}", house.kept.told());
}

#[tokio::test]
async fn from_elsewhere_the_header_is_refused_by_name_and_lends_nothing() {
    let house = House::new(settings("10.0.0.5"), ListenScope { is_public: true, is_https: true }).await;
    let answer = house.get("/api/v1/me", &[("x-forwarded-user", "root"), ("x-forwarded-groups", "ops")]).await;
    assert_eq!(answer.status, 403);
    assert!(
        answer.text.contains("the header x-forwarded-user came from 127.0.0.1, which is not in `proxy_addresses`"),
        "{}",
        answer.text
    );
    for header in ["X-Forwarded-User", "x-forwarded-USER"] {
        assert_eq!(house.me(&[(header, "root")]).await, "403");
    }
    let token = house.token("ci", Grant::everywhere(Role::Viewer), None);
    assert_eq!(
        house.me(&[("authorization", &bearer(&token)), ("x-forwarded-user", "root")]).await,
        "ci viewer token",
        "a token needs no proxy"
    );
    let _ = house.ask("POST", "/sign-in", &[("x-forwarded-for", "9.9.9.9")], "name=eve&password=wrong+guess").await;
    assert!(house.kept.told()[0].contains("from 127.0.0.1 refused"), "{:?}", house.kept.told());
}
