//! Networks, and headers that lie.

use super::*;

fn ip(text: &str) -> Option<IpAddr> {
    Some(text.parse().unwrap())
}

fn proxy() -> Proxy {
    Proxy {
        addresses: ["10.0.0.5", "10.1.0.0/16", "fd00::/8"].map(|text| Net::parse(text).unwrap()).to_vec(),
        header: Some("x-forwarded-user".to_owned()),
        role: Some(Role::Viewer),
        role_header: Some("x-forwarded-groups".to_owned()),
        roles: [("ops".to_owned(), Role::Operator), ("audit".to_owned(), Role::Auditor)].into(),
    }
}

fn headers(pairs: &[(&'static str, &[u8])]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(*name, axum::http::HeaderValue::from_bytes(value).unwrap());
    }
    headers
}

fn told(pairs: &[(&'static str, &[u8])], peer: &str) -> Result<Option<(String, Role)>, Denied> {
    proxy().identify(&headers(pairs), ip(peer)).map(|told| told.map(|(name, grant)| (name, grant.role)))
}

#[test]
fn networks_are_read_and_have_what_is_in_them() {
    for text in ["", "10.0.0", "10.0.0.1/33", "10.0.0.1/8", "::1/129", "10.0.0.0/-1", "10.0.0.0/", "a/8", "10.0.0.5 "] {
        assert_eq!(Net::parse(text), None, "{text}");
    }
    let has = |net: &str, address: &str| Net::parse(net).unwrap().has(address.parse().unwrap());
    assert!(has("10.1.0.0/16", "10.1.255.255") && !has("10.1.0.0/16", "10.2.0.0"));
    assert!(has("10.0.0.5", "::ffff:10.0.0.5") && !has("10.0.0.5", "10.0.0.50"));
    assert!(has("0.0.0.0/0", "9.9.9.9") && !has("0.0.0.0/0", "fd00::1"));
    assert!(has("::/0", "fd00::1") && has("fd00::/8", "fdff::1") && !has("fd00::/8", "fe00::1"));
}

#[test]
fn a_listed_proxy_is_believed_and_nobody_else() {
    let ann: &[(&'static str, &[u8])] = &[("x-forwarded-user", b"ann")];
    assert_eq!(told(ann, "10.0.0.5"), Ok(Some(("ann".to_owned(), Role::Viewer))));
    assert_eq!(told(ann, "::ffff:10.1.2.3"), Ok(Some(("ann".to_owned(), Role::Viewer))));
    for foreign in ["10.0.0.6", "127.0.0.1", "10.2.0.1", "::1", "fe80::1"] {
        assert!(matches!(told(ann, foreign), Err(Denied::Proxy(_))), "{foreign}");
    }
    assert!(proxy().identify(&headers(ann), None).is_err());
    assert_eq!(told(&[], "10.0.0.6"), Ok(None), "who says nothing is only nobody");
}

#[test]
fn what_is_twice_or_no_name_is_refused() {
    let hostile: [&[(&'static str, &[u8])]; 9] = [
        &[("x-forwarded-user", "\u{430}nn".as_bytes())],
        &[("x-forwarded-user", "an\u{200b}n".as_bytes())],
        &[("x-forwarded-user", b"ann"), ("x-forwarded-user", b"root")],
        &[("x-forwarded-user", b"ann, root")],
        &[("x-forwarded-user", b"anonymous")],
        &[("x-forwarded-user", b"a\xff")],
        &[("x-forwarded-user", "a\u{85}b".as_bytes())],
        &[("x-forwarded-user", &[b'a'; 65])],
        &[("x-forwarded-user", b"ann"), ("x-forwarded-groups", b"x"), ("x-forwarded-groups", b"ops")],
    ];
    for pairs in hostile {
        assert!(matches!(told(pairs, "10.0.0.5"), Err(Denied::Proxy(_))), "{pairs:?}");
    }
    assert_eq!(told(&[("x-forwarded-user", b"  ")], "10.0.0.5"), Ok(None));
}

#[test]
fn of_several_groups_the_one_that_may_most_counts() {
    let with = |groups: &'static [u8]| {
        told(&[("x-forwarded-user", b"ann"), ("x-forwarded-groups", groups)], "10.0.0.5").unwrap().unwrap().1
    };
    assert_eq!(with(b"staff"), Role::Viewer);
    assert_eq!(with(b"audit,staff"), Role::Auditor);
    assert_eq!(with(b"audit, ops"), Role::Operator);
    assert_eq!(with(b"OPS"), Role::Viewer, "names are compared as they are");
    let strict = Proxy { role: None, ..proxy() };
    assert!(strict.identify(&headers(&[("x-forwarded-user", b"ann")]), ip("10.0.0.5")).is_err());
    assert!(strict.may(Right::Release) && !Proxy { roles: BTreeMap::new(), ..proxy() }.may(Right::Release));
}

#[test]
fn the_client_is_the_last_address_that_is_no_proxy() {
    let client =
        |value: &'static str, peer: &str| proxy().client(&headers(&[("x-forwarded-for", value.as_bytes())]), ip(peer));
    assert_eq!(client("6.6.6.6, 9.9.9.9", "10.0.0.5"), ip("9.9.9.9"));
    assert_eq!(client("6.6.6.6, 9.9.9.9, 10.1.0.1", "10.0.0.5"), ip("9.9.9.9"));
    assert_eq!(client("6.6.6.6", "8.8.8.8"), ip("8.8.8.8"), "anybody can write a header");
    assert_eq!(client("9.9.9.9, junk", "10.0.0.5"), ip("10.0.0.5"));
    assert_eq!(client("", "10.0.0.5"), ip("10.0.0.5"));
}
