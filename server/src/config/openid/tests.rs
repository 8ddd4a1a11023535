//! Every mistake with its sentence.

use crate::cli::ServeArgs;
use crate::config::tests::Fake;
use crate::config::{Config, ConfigError};

fn load(text: &'static str) -> Result<Config, ConfigError> {
    let flags = ServeArgs { zk: Some("a:1".to_owned()), config: Some("x.toml".into()), ..ServeArgs::default() };
    Config::load(&flags, &Fake { text: Some(text), ..Fake::default() })
}

#[track_caller]
fn sentence(text: &'static str, sentence: &str) {
    assert_eq!(load(text).unwrap_err().to_string(), sentence, "{text}");
}

#[cfg(not(feature = "oidc"))]
#[test]
fn a_build_without_it_says_so_for_every_setting() {
    let without =
        "is set, and this binary was built without OpenID Connect; leave it out, or build with `--features oidc`";
    for (key, text) in [
        ("oidc_issuer", "oidc_issuer = 'https://id.example'"),
        ("oidc_client_id", "oidc_client_id = 'x'"),
        ("oidc_client_secret_file", "oidc_client_secret_file = 'x'"),
        ("oidc_redirect", "oidc_redirect = 'x'"),
        ("oidc_name_claim", "oidc_name_claim = 'x'"),
        ("oidc_groups_claim", "oidc_groups_claim = 'x'"),
        ("oidc_role", "oidc_role = 'viewer'"),
    ] {
        sentence(text, &format!("x.toml:1: `{key}` {without}"));
    }
    sentence("[oidc_roles]\na = 'viewer'", &format!("x.toml:1: `oidc_roles` {without}"));
}

#[cfg(feature = "oidc")]
mod with {
    use std::collections::BTreeMap;

    use lockscope_view::Role;

    use super::*;
    use lockscope_access::{OpenId, Secret};

    #[test]
    fn everything_can_be_set_and_little_must() {
        let least = load("oidc_issuer = 'https://id.example/'\noidc_client_id = 'x'\noidc_role = 'viewer'")
            .unwrap()
            .access
            .openid;
        let expected = OpenId {
            issuer: "https://id.example/".to_owned(),
            client_id: "x".to_owned(),
            client_secret: None,
            redirect: None,
            name_claim: None,
            groups_claim: "groups".to_owned(),
            roles: BTreeMap::new(),
            role: Some(Role::Viewer),
        };
        assert_eq!(least, Some(expected.clone()));
        let origin = load(
            "origin = ['https://a.example', 'https://b.example']\noidc_issuer = 'https://id.example/'\noidc_client_id = 'x'\noidc_role = 'viewer'",
        );
        let redirect = Some("https://a.example/sign-in/openid/back".to_owned());
        assert_eq!(origin.unwrap().access.openid, Some(OpenId { redirect, ..expected.clone() }));
        let flags = ServeArgs { zk: Some("a:1".to_owned()), ..ServeArgs::default() };
        let vars = [
            ("LOCKSCOPE_OIDC_ISSUER", "http://127.0.0.1:9"),
            ("LOCKSCOPE_OIDC_CLIENT_ID", "x"),
            ("LOCKSCOPE_OIDC_CLIENT_SECRET", "canary\n"),
            ("LOCKSCOPE_OIDC_NAME_CLAIM", "upn"),
            ("LOCKSCOPE_OIDC_GROUPS_CLAIM", "roles"),
            ("LOCKSCOPE_OIDC_REDIRECT", "http://localhost:1/sign-in/openid/back"),
            ("LOCKSCOPE_OIDC_ROLE", "operator"),
        ];
        let config = Config::load(&flags, &Fake { vars: vars.into(), text: None }).unwrap();
        assert!(!format!("{config:?}").contains("canary"));
        let expected = OpenId {
            issuer: "http://127.0.0.1:9".to_owned(),
            client_secret: Some(Secret::new("canary".to_owned())),
            redirect: Some("http://localhost:1/sign-in/openid/back".to_owned()),
            name_claim: Some("upn".to_owned()),
            groups_claim: "roles".to_owned(),
            role: Some(Role::Operator),
            ..expected
        };
        assert_eq!(config.access.openid, Some(expected));
    }

    #[test]
    fn every_mistake_has_its_sentence() {
        sentence(
            "oidc_client_id = 'x'",
            "x.toml:1: `oidc_client_id` is set without `oidc_issuer`; name the provider, like oidc_issuer = \"https://id.example\"",
        );
        for issuer in
            ["oidc_issuer = 'http://id.example'", "oidc_issuer = 'id.example'", "oidc_issuer = 'https://id.example/?a'"]
        {
            assert!(
                load(issuer)
                    .unwrap_err()
                    .to_string()
                    .ends_with("as the provider writes it itself, like https://id.example"),
                "{issuer}"
            );
        }
        sentence(
            "oidc_issuer = 'https://id.example'",
            "x.toml:1: `oidc_issuer` \"https://id.example\" is set without `oidc_client_id`; name the client id of this server at the provider, like oidc_client_id = \"lockscope\"",
        );
        sentence(
            "oidc_issuer = 'https://id.example'\noidc_client_id = 'x'",
            "x.toml:1: `oidc_issuer` \"https://id.example\" lets nobody in; map groups to roles in [oidc_roles], or give everybody one with oidc_role = \"viewer\"",
        );
        sentence(
            "oidc_issuer = 'https://id.example'\noidc_client_id = 'x'\noidc_redirect = 'https://a.example/'",
            "x.toml:3: `oidc_redirect` \"https://a.example/\" is not where people can come back to; write the dashboard's own with https://, like https://lockscope.example/sign-in/openid/back",
        );
        assert!(load("oidc_issuer = 'https://id.example'\noidc_client_id = 'x'\n[oidc_roles]\na = 'boss'").is_err());
    }
}
