//! People as the configuration file names them.

use super::tests::{Fake, check_file};
use super::*;

#[test]
fn identities_are_read_from_the_file() {
    let text = "zk = \"a:1\"\nanonymous = \"none\"\nproxy_header = \"X-Forwarded-User\"\nproxy_addresses = [\"10.0.0.5\", \"10.1.0.0/16\"]\n\
                proxy_role_header = \"X-Groups\"\nproxy_role = \"none\"\n[proxy_roles]\nops = \"operator\"\n";
    let flags = ServeArgs { config: Some("x.toml".into()), ..ServeArgs::default() };
    let access = Config::load(&flags, &Fake { text: Some(text), ..Fake::default() }).unwrap().access;
    let proxy = access.proxy.unwrap();
    assert_eq!(
        (access.anonymous, proxy.addresses.len(), proxy.header.as_deref(), proxy.role),
        (Some(false), 2, Some("x-forwarded-user"), None)
    );
    assert_eq!((proxy.role_header.as_deref(), proxy.roles.len()), (Some("x-groups"), 1));
}

#[test]
fn identities_that_can_not_be() {
    check_file(
        "zk = \"a:1\"\nanonymous = \"admin\"",
        "x.toml:2: `anonymous` \"admin\" is neither viewer nor none; write viewer to let everybody look, or none to ask everybody who they are",
    );
    check_file(
        "zk = \"a:1\"\nproxy_header = \"X-User\"",
        "x.toml:2: `proxy_header` is set without `proxy_addresses`; name the addresses of the proxy, like proxy_addresses = [\"10.0.0.5\"]",
    );
    check_file(
        "zk = \"a:1\"\nproxy_header = \"Cookie\"",
        "x.toml:2: `proxy_header` \"Cookie\" means something else already; name a header of its own, like X-Forwarded-User",
    );
    check_file(
        "zk = \"a:1\"\nproxy_addresses = [\"10.0.0.1/8\"]",
        "x.toml:2: `proxy_addresses` \"10.0.0.1/8\" is neither an address nor a network; write it like 10.0.0.5 or 10.1.0.0/16",
    );
    check_file(
        "zk = \"a:1\"\nproxy_role = \"root\"",
        "x.toml:2: `proxy_role` \"root\" is no role; use one of viewer, operator, auditor, admin, or none",
    );
    for (text, ok) in [
        ("30d", true),
        ("12h", true),
        ("90m", true),
        ("30", false),
        ("0d", false),
        ("-1d", false),
        ("4000d", false),
        ("99999999999999999999d", false),
    ] {
        assert_eq!(lifetime("--expires", text).is_ok(), ok, "{text}");
    }
}
