//! Hostile pages from outside, over real connections: rebinding, foreign origins, forged forms.

use lockscope_web::listener::Bounds;
use lockscope_web::{Limits, Origin, Origins, Scheme};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::DEADLINE;
use crate::served::Served;

/// A connection that says exactly what it is told to.
struct Raw(TcpStream);

impl Raw {
    async fn to(served: &Served) -> Self {
        Self(TcpStream::connect(served.address).await.unwrap())
    }

    /// The status, the head and the body of the answer.
    async fn ask(&mut self, head: &str, body: &str) -> (u16, String, String) {
        self.0.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).await.unwrap();
        tokio::time::timeout(DEADLINE, self.answer()).await.expect("an answer")
    }

    async fn answer(&mut self) -> (u16, String, String) {
        let mut text = Vec::new();
        let head_ends_at = loop {
            if let Some(at) = text.windows(4).position(|four| four == b"\r\n\r\n") {
                break at;
            }
            assert!(
                self.0.read_buf(&mut text).await.unwrap() > 0,
                "closed within a head: {}",
                String::from_utf8_lossy(&text)
            );
        };
        let head = String::from_utf8(text[..head_ends_at].to_vec()).unwrap().to_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.parse().unwrap());
        while text.len() < head_ends_at + 4 + length {
            assert!(self.0.read_buf(&mut text).await.unwrap() > 0, "closed within a body");
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head, String::from_utf8(text[head_ends_at + 4..].to_vec()).unwrap())
    }
}

fn named() -> Origins {
    Origins::new(
        "127.0.0.1:0".parse().unwrap(),
        Scheme::Either,
        vec![Origin::parse("https://lockscope.example").unwrap()],
    )
}

#[tokio::test]
async fn a_name_that_was_made_to_lead_here_reads_nothing() {
    let served = Served::start(Limits::default()).await;
    let mut raw = Raw::to(&served).await;
    let port = served.address.port();
    for path in [
        "/",
        "/lock?path=/a",
        "/api/v1/status",
        "/api/v1/locks",
        "/api/v1/live",
        "/metrics",
        "/assets/app.js",
        "/nowhere",
    ] {
        for host in
            ["evil.example", &format!("evil.example:{port}"), "localhost.evil.example", "0.0.0.0", "169.254.169.254"]
        {
            let (status, _, body) = raw.ask(&format!("GET {path} HTTP/1.1\r\nHost: {host}"), "").await;
            assert_eq!(status, 421, "{path} at {host}: {body}");
            assert!(body.contains("the setting `origin`"), "{body}");
        }
        for host in ["localhost", "127.0.0.1", "[::1]", &format!("localhost:{port}")] {
            let (status, ..) = raw.ask(&format!("GET {path} HTTP/1.1\r\nHost: {host}"), "").await;
            assert_ne!(status, 421, "{path} at {host}");
        }
    }
    assert_eq!(raw.ask("GET /healthz HTTP/1.1\r\nHost: evil.example", "").await.0, 200, "probes ask by any name");
    assert_eq!(raw.ask("GET /api/v1/status HTTP/1.1", "").await.0, 400);
    assert_eq!(raw.ask("GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\nHost: localhost", "").await.0, 400);
    assert_eq!(raw.ask("GET http://localhost/api/v1/status HTTP/1.1\r\nHost: localhost", "").await.0, 400);
    // The page of a foreign name opens a socket of its own name: Host and Origin agree, and are still not ours.
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    let (status, ..) = raw
        .ask(
            &format!("GET /api/v1/live HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n{upgrade}"),
            "",
        )
        .await;
    assert_eq!(status, 421);
}

#[tokio::test]
async fn foreign_pages_open_no_socket() {
    let served =
        Served::start_with(Limits::default(), Bounds::default(), None, |http| http.with_origins(named())).await;
    let own = format!("http://{}", served.address);
    let foreign = [
        "null",
        "http://evil.example",
        "https://evil.example",
        "http://lockscope.example",
        "https://lockscope.example.evil.example",
        "https://evil-lockscope.example",
        "https://lockscope.example:8443",
        "https://lockscope.example.",
        "HTTPS://LOCKSCOPE.EXAMPLE",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "http://localhost:5173",
        "file://",
        "data:",
        "https://user@lockscope.example",
        "https://lockscope.example, https://evil.example",
        "https://xn--lckscope-5of.example",
        "chrome-extension://x",
    ];
    for origin in foreign {
        match served.open(&[("origin", origin)]).await {
            Err(tokio_tungstenite::tungstenite::Error::Http(answer)) => assert_eq!(answer.status(), 403, "{origin}"),
            other => panic!("{origin}: {other:?}"),
        }
    }
    for (headers, opens) in [
        (vec![("origin", own.as_str())], true),
        (vec![("origin", own.as_str()), ("sec-fetch-site", "same-origin"), ("cookie", "a=b")], true),
        (vec![("origin", "https://lockscope.example")], true),
        (vec![], true),
        (vec![("cookie", "a=b")], false),
        (vec![("sec-fetch-site", "cross-site")], false),
        (vec![("sec-fetch-site", "same-site"), ("origin", own.as_str())], false),
        (vec![("sec-fetch-site", "cross-site"), ("origin", own.as_str())], false),
    ] {
        assert_eq!(served.open(&headers).await.is_ok(), opens, "{headers:?}");
    }
}

/// What the guard lets through meets the gate and the routes: nobody is known here.
const LET_THROUGH: [u16; 3] = [401, 404, 405];

#[tokio::test]
async fn forged_requests_do_not_reach_a_route() {
    let served =
        Served::start_with(Limits::default(), Bounds::default(), None, |http| http.with_origins(named())).await;
    let mut raw = Raw::to(&served).await;
    let own = format!("Origin: http://{}\r\n", served.address);
    let (mut cells, mut passed) = (0, 0);
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        for origin in
            ["", &own, "Origin: https://lockscope.example\r\n", "Origin: https://evil.example\r\n", "Origin: null\r\n"]
        {
            for site in ["", "same-origin", "none", "same-site", "cross-site"] {
                for credential in ["", "Cookie: lockscope=1\r\n", "Authorization: Bearer x\r\n"] {
                    for kind in [
                        "application/json",
                        "application/x-www-form-urlencoded",
                        "multipart/form-data; boundary=x",
                        "text/plain",
                        "",
                    ] {
                        let said = if site.is_empty() { String::new() } else { format!("Sec-Fetch-Site: {site}\r\n") };
                        let typed = if kind.is_empty() { String::new() } else { format!("Content-Type: {kind}\r\n") };
                        let head = format!(
                            "{method} /api/v1/release/execute HTTP/1.1\r\nHost: {}\r\n{origin}{said}{credential}{typed}Content-Length: 2",
                            served.address
                        );
                        let (status, _, body) = raw.ask(&head, "{}").await;
                        let ours = !origin.contains("evil")
                            && !origin.contains("null")
                            && ["", "same-origin", "none"].contains(&site);
                        let is_said = !origin.is_empty() || !site.is_empty() || !credential.contains("Cookie");
                        let expected = if !(ours && is_said) {
                            vec![403]
                        } else if kind == "application/json" {
                            LET_THROUGH.to_vec()
                        } else {
                            vec![415]
                        };
                        assert!(expected.contains(&status), "{head}: {status} {body}");
                        cells += 1;
                        passed += u32::from(LET_THROUGH.contains(&status));
                    }
                }
            }
        }
    }
    assert!(cells >= 1_500 && passed > 0, "{cells} cells, {passed} let through");
}

#[tokio::test]
async fn foreign_pages_read_nothing_but_links_lead_here() {
    let served = Served::start(Limits::default()).await;
    let mut raw = Raw::to(&served).await;
    for (path, site, mode, status) in [
        ("/api/v1/status", "cross-site", "cors", 403),
        ("/api/v1/status", "cross-site", "no-cors", 403),
        ("/api/v1/status", "cross-site", "navigate", 200),
        ("/api/v1/status", "same-origin", "cors", 200),
        ("/api/v1/status", "none", "navigate", 200),
        ("/metrics", "cross-site", "no-cors", 403),
        ("/healthz", "cross-site", "no-cors", 200),
    ] {
        let head =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: {site}\r\nSec-Fetch-Mode: {mode}");
        assert_eq!(raw.ask(&head, "").await.0, status, "{head}");
    }
    let (_, metrics, text) = raw.ask("GET /metrics HTTP/1.1\r\nHost: localhost", "").await;
    assert!(text.contains("lockscope_requests_guarded_total 3\n"), "{metrics} {text}");
}

#[tokio::test]
async fn every_answer_carries_its_headers() {
    let tls_before =
        Served::start_with(Limits::default(), Bounds::default(), None, |http| http.with_origins(named())).await;
    let mut raw = Raw::to(&tls_before).await;
    for (line, host, status) in [
        ("GET /api/v1/status", "lockscope.example", 200),
        ("GET /api/v1/nothing", "lockscope.example", 404),
        ("GET /healthz", "lockscope.example", 200),
        ("POST /api/v1/status", "lockscope.example", 405),
        ("GET /", "evil.example", 421),
    ] {
        let (told, head, _) = raw.ask(&format!("{line} HTTP/1.1\r\nHost: {host}"), "").await;
        assert_eq!(told, status, "{line}");
        for header in [
            "x-content-type-options: nosniff",
            "referrer-policy: same-origin",
            "cross-origin-opener-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
            "content-security-policy: default-src 'none'; frame-ancestors 'none'",
            "x-frame-options: deny",
            "x-permitted-cross-domain-policies: none",
            "origin-agent-cluster: ?1",
            "cache-control: no-store",
            "strict-transport-security: max-age=31536000",
        ] {
            assert!(head.lines().any(|line| line == header), "{line}: {header} is not in {head}");
        }
        assert!(head.contains("permissions-policy: ") && head.contains("camera=()"), "{head}");
        assert!(!head.contains("access-control-") && !head.contains("\r\nserver:"), "{head}");
    }
    let (_, head, _) = raw.ask("GET /healthz HTTP/1.1\r\nHost: localhost:3000", "").await;
    assert!(!head.contains("strict-transport-security"), "localhost is everybody's: {head}");
}

#[tokio::test]
async fn problems_tell_back_what_came_in_safely() {
    let served = Served::start(Limits::default()).await;
    let mut raw = Raw::to(&served).await;
    let long = "x".repeat(8_000);
    for path in [
        format!("/api/v1/{long}"),
        format!("/api/v1/lock?path=/{long}"),
        format!("/api/v1/lock?path={long}"),
        format!("/api/v1/status?{long}=1"),
        "/api/v1/lock?path=/%E2%80%AEgnp.exe%1B%5B31m%00".to_owned(),
        "/api/v1/locks?sort=%E2%80%AE%1B%5B31m".to_owned(),
        "/api/v1/session?id=%E2%80%8B%07".to_owned(),
    ] {
        let (status, head, body) = raw.ask(&format!("GET {path} HTTP/1.1\r\nHost: localhost"), "").await;
        assert!(matches!(status, 400 | 404) && head.contains("application/problem+json"), "{path}: {status}");
        assert!(body.len() < 700, "{} bytes for {path}", body.len());
        let detail = serde_json::from_str::<serde_json::Value>(&body).unwrap()["detail"].as_str().unwrap().to_owned();
        assert!(!detail.contains(['\u{202e}', '\u{1b}', '\0', '\u{200b}', '\u{7}']), "{detail:?}");
    }
}
