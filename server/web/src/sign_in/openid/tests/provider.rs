//! A little OpenID provider on loopback. It checks what providers check (client, code, redirect, PKCE) and signs with
//! keys of its own; whether we check what it signs, the tests find out by having it sign what it should not.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair};
use axum::extract::{Form, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub(super) const CLIENT: &str = "lockscope";
pub(super) const CLIENT_SECRET: &str = "client-secret-canary";

/// How a token is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Rsa,
    /// Under this name of a key.
    Ec(&'static str),
    /// Not at all.
    None,
    /// By the secret that both sides know.
    Secret,
    /// By a key that is not the one it names.
    Forged,
}

/// How it behaves.
pub(super) struct Manner {
    pub(super) sign: Sign,
    /// Names of keys it shows.
    pub(super) keys: Vec<&'static str>,
    /// What is done to the claims before they are signed.
    pub(super) edit: fn(&mut Value),
    /// What it answers for a code instead.
    pub(super) instead: Option<(StatusCode, String)>,
    /// Where it says that tokens are to be had, instead.
    pub(super) token_endpoint: Option<String>,
    pub(super) now_s: i64,
}

struct Given {
    query: BTreeMap<String, String>,
    claims: Value,
}

struct Inside {
    manner: Manner,
    codes: BTreeMap<String, Given>,
    asked: BTreeMap<&'static str, u32>,
    /// Every token that went out.
    tokens: Vec<String>,
}

struct Desk {
    address: SocketAddr,
    rsa: RsaKeyPair,
    /// Somebody else's.
    forged: RsaKeyPair,
    ec: EcdsaKeyPair,
    inside: Mutex<Inside>,
}

#[derive(Clone)]
pub(super) struct Provider(Arc<Desk>);

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Provider {
    pub(super) async fn start(now_s: i64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let manner =
            Manner { sign: Sign::Rsa, keys: vec!["rsa"], edit: |_| (), instead: None, token_endpoint: None, now_s };
        let provider = Self(Arc::new(Desk {
            address: listener.local_addr().unwrap(),
            rsa: RsaKeyPair::generate(KeySize::Rsa2048).unwrap(),
            // Made now: it takes longer than an answer may.
            forged: RsaKeyPair::generate(KeySize::Rsa2048).unwrap(),
            ec: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap(),
            inside: Mutex::new(Inside { manner, codes: BTreeMap::new(), asked: BTreeMap::new(), tokens: Vec::new() }),
        }));
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(discovery))
            .route("/keys", get(keys))
            .route("/token", post(token))
            .with_state(provider.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        provider
    }

    pub(super) fn issuer(&self) -> String {
        format!("http://{}", self.0.address)
    }

    pub(super) fn behave(&self, change: impl FnOnce(&mut Manner)) {
        change(&mut self.0.inside.lock().unwrap().manner);
    }

    /// How often something was asked.
    pub(super) fn asked(&self, what: &str) -> u32 {
        self.0.inside.lock().unwrap().asked.get(what).copied().unwrap_or(0)
    }

    pub(super) fn tokens(&self) -> Vec<String> {
        self.0.inside.lock().unwrap().tokens.clone()
    }

    /// Somebody signs in there: the query of the address they are sent back to.
    pub(super) fn authorize(&self, to: &str, name: &str, groups: &[&str]) -> String {
        let url = reqwest::Url::parse(to).unwrap();
        assert!(to.starts_with(&format!("{}/authorize?", self.issuer())), "{to}");
        let query: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
        let is = |key: &str, value: &str| assert_eq!(query.get(key).map(String::as_str), Some(value), "{key} in {to}");
        is("response_type", "code");
        is("client_id", CLIENT);
        is("code_challenge_method", "S256");
        assert!(query["scope"].split(' ').any(|scope| scope == "openid"), "{to}");
        assert!(
            query["state"].len() >= 32 && query["nonce"].len() >= 32 && query["code_challenge"].len() == 43,
            "{to}"
        );
        let mut inside = self.0.inside.lock().unwrap();
        let now_s = inside.manner.now_s;
        let claims = json!({
            "iss": self.issuer(), "aud": [CLIENT], "sub": format!("sub-{name}"), "nonce": query["nonce"], "iat": now_s, "exp": now_s + 300,
            "preferred_username": name, "groups": groups,
        });
        let issued = inside.asked.entry("authorize").or_default();
        *issued += 1;
        let code = format!("code-canary-{}", *issued - 1);
        let back = format!("code={code}&state={}&iss={}", query["state"], self.issuer());
        inside.codes.insert(code, Given { query, claims });
        back
    }

    fn count(&self, what: &'static str) {
        *self.0.inside.lock().unwrap().asked.entry(what).or_default() += 1;
    }

    fn signed(&self, sign: Sign, claims: &Value) -> String {
        let (alg, kid) = match sign {
            Sign::Rsa | Sign::Forged => ("RS256", "rsa"),
            Sign::Ec(kid) => ("ES256", kid),
            Sign::None => ("none", ""),
            Sign::Secret => ("HS256", ""),
        };
        let header = if kid.is_empty() {
            json!({"alg": alg, "typ": "JWT"})
        } else {
            json!({"alg": alg, "typ": "JWT", "kid": kid})
        };
        let text = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
        let random = SystemRandom::new();
        let by_rsa = |key: &RsaKeyPair| {
            let mut signature = vec![0; key.public_modulus_len()];
            key.sign(&RSA_PKCS1_SHA256, &random, text.as_bytes(), &mut signature).unwrap();
            signature
        };
        let signature = match sign {
            Sign::Rsa => by_rsa(&self.0.rsa),
            Sign::Forged => by_rsa(&self.0.forged),
            Sign::Ec(_) => self.0.ec.sign(&random, text.as_bytes()).unwrap().as_ref().to_vec(),
            Sign::None => Vec::new(),
            Sign::Secret => hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, CLIENT_SECRET.as_bytes()), text.as_bytes())
                .as_ref()
                .to_vec(),
        };
        format!("{text}.{}", encode(signature))
    }

    fn key(&self, kid: &str) -> Value {
        if kid == "rsa" {
            // PKCS #1: a sequence of a number of 257 bytes, the first of them 0, and the exponent 65537.
            let der = self.0.rsa.public_key().as_ref().to_vec();
            assert_eq!(&der[der.len() - 5..], [2, 3, 1, 0, 1]);
            return json!({"kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid, "n": encode(&der[9..9 + 256]), "e": "AQAB"});
        }
        // One byte for the form, then both coordinates.
        let point = self.0.ec.public_key().as_ref().to_vec();
        json!({"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": kid, "x": encode(&point[1..33]), "y": encode(&point[33..65])})
    }
}

async fn discovery(State(provider): State<Provider>) -> Json<Value> {
    provider.count("discovery");
    let issuer = provider.issuer();
    let token_endpoint =
        provider.0.inside.lock().unwrap().manner.token_endpoint.clone().unwrap_or_else(|| format!("{issuer}/token"));
    Json(json!({
        "issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"), "token_endpoint": token_endpoint,
        "jwks_uri": format!("{issuer}/keys"), "response_types_supported": ["code"], "subject_types_supported": ["public"],
        // What it says of algorithms is no reason to believe them.
        "id_token_signing_alg_values_supported": ["RS256", "ES256", "HS256", "none"],
    }))
}

async fn keys(State(provider): State<Provider>) -> Json<Value> {
    provider.count("keys");
    let kids = provider.0.inside.lock().unwrap().manner.keys.clone();
    Json(json!({"keys": kids.into_iter().map(|kid| provider.key(kid)).collect::<Vec<_>>()}))
}

async fn token(
    State(provider): State<Provider>,
    headers: HeaderMap,
    Form(form): Form<BTreeMap<String, String>>,
) -> Response {
    provider.count("token");
    let refuse = |error: &str| {
        (StatusCode::BAD_REQUEST, Json(json!({"error": error, "error_description": "no such code"}))).into_response()
    };
    let mut inside = provider.0.inside.lock().unwrap();
    if let Some((status, text)) = inside.manner.instead.clone() {
        return (status, [("content-type", "application/json"), ("location", "http://127.0.0.1:1/")], text)
            .into_response();
    }
    let known = format!("Basic {}", STANDARD.encode(format!("{CLIENT}:{CLIENT_SECRET}")));
    if headers.get("authorization").is_none_or(|given| given.as_bytes() != known.as_bytes()) {
        return refuse("invalid_client");
    }
    let Some(given) = form.get("code").and_then(|code| inside.codes.remove(code)) else {
        return refuse("invalid_grant");
    };
    let challenge = encode(digest(&SHA256, form["code_verifier"].as_bytes()));
    if challenge != given.query["code_challenge"] || form["redirect_uri"] != given.query["redirect_uri"] {
        return refuse("invalid_grant");
    }
    let mut claims = given.claims;
    (inside.manner.edit)(&mut claims);
    let token = provider.signed(inside.manner.sign, &claims);
    inside.tokens.push(token.clone());
    Json(json!({"access_token": "access-token-canary", "token_type": "Bearer", "id_token": token})).into_response()
}
