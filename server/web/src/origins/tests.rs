//! Hostile origins and hosts, one by one.

use super::*;

/// Origins that must never act at `https://lockscope.example`, nor at this machine's own addresses.
const HOSTILE: [&[u8]; 96] = [
    // Nobody, and nothing that is an origin.
    b"",
    b" ",
    b"null",
    b"NULL",
    b"undefined",
    b"*",
    b"https://*",
    b"https://*.example",
    b"about:blank",
    b"data:text/html,x",
    b"blob:https://lockscope.example/1",
    b"javascript:alert(1)",
    b"file://",
    b"file:///etc/passwd",
    b"file://lockscope.example",
    b"chrome-extension://abcdefghijklmnop",
    b"moz-extension://lockscope.example",
    b"capacitor://localhost",
    b"ionic://localhost",
    b"app://localhost",
    b"tauri://localhost",
    // Another scheme or port.
    b"http://lockscope.example",
    b"http://lockscope.example:443",
    b"ws://lockscope.example",
    b"wss://lockscope.example",
    b"ftp://lockscope.example",
    b"https:lockscope.example",
    b"https:/lockscope.example",
    b"https:///lockscope.example",
    b"https:\\\\lockscope.example",
    b"//lockscope.example",
    b"lockscope.example",
    b"https://lockscope.example:443",
    b"https://lockscope.example:80",
    b"https://lockscope.example:8443",
    b"https://lockscope.example:0443",
    b"https://lockscope.example:65979",
    b"https://lockscope.example:",
    b"https://lockscope.example:443:443",
    b"https://lockscope.example:x",
    // Another host: before, behind, inside.
    b"https://evil.example",
    b"https://example",
    b"https://evillockscope.example",
    b"https://evil-lockscope.example",
    b"https://evil.lockscope.example",
    b"https://lockscope.example.evil.example",
    b"https://lockscope.examples",
    b"https://lockscope.exampl",
    b"https://lockscope.example-evil.example",
    b"https://lockscope-example",
    b"https://lockscopeXexample",
    b"https://xlockscope.example",
    b"https://www.lockscope.example",
    b"https://lockscope.example.",
    b"https://lockscope.example..",
    b"https://.lockscope.example",
    b"https://lockscope..example",
    // More than an origin.
    b"https://lockscope.example/",
    b"https://lockscope.example/path",
    b"https://lockscope.example?x",
    b"https://lockscope.example#x",
    b"https://lockscope.example\\@evil.example",
    b"https://lockscope.example@evil.example",
    b"https://evil.example@lockscope.example",
    b"https://user:pass@lockscope.example",
    b"https://@lockscope.example",
    b"https://lockscope.example%2eevil.example",
    b"https://lockscope%2eexample",
    b"https://lockscope.example%00.evil.example",
    b"https://lockscope.example https://evil.example",
    b"https://evil.example https://lockscope.example",
    b"https://lockscope.example, https://evil.example",
    b"https://lockscope.example,https://lockscope.example",
    b"https://lockscope.example;",
    b" https://lockscope.example",
    b"https://lockscope.example ",
    b"https:// lockscope.example",
    b"https://lockscope.example\t",
    // Letters: case, beyond ASCII, punycode.
    b"HTTPS://lockscope.example",
    b"https://LOCKSCOPE.example",
    b"https://Lockscope.Example",
    "https://l\u{43e}ckscope.example".as_bytes(),
    "https://lockscope\u{3002}example".as_bytes(),
    "https://lockscope.e\u{ff58}ample".as_bytes(),
    "https://lockscope.example\u{200b}".as_bytes(),
    b"https://xn--lckscope-5of.example",
    b"https://lockscope.example\xff",
    b"\xef\xbb\xbfhttps://lockscope.example",
    // This machine, but not the port or the way it is asked at.
    b"http://localhost",
    b"http://localhost:3001",
    b"https://localhost:3000",
    b"http://127.0.0.1:3000",
    b"http://0.0.0.0:3000",
    b"http://2130706433:3000",
    b"http://localhost.:3000",
    b"http://evil.localhost:3000",
];

/// More of them, at a server on IPv6 loopback.
const HOSTILE_V6: [&str; 10] = [
    "http://::1:3000",
    "http://[::1]",
    "http://[::1]:3001",
    "http://[0:0:0:0:0:0:0:1]:3000",
    "http://[::0001]:3000",
    "http://[::ffff:127.0.0.1]:3000",
    "http://[::1%25lo]:3000",
    "http://[::1]:3000.evil.example",
    "https://[::1]:3000",
    "http://[::1]evil:3000",
];

fn headers(pairs: &[(HeaderName, &[u8])]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        if let Ok(value) = HeaderValue::from_bytes(value) {
            headers.append(name, value);
        }
    }
    headers
}

fn served_as(origin: &str) -> Origins {
    Origins::new("127.0.0.1:3000".parse().unwrap(), Scheme::Http, vec![Origin::parse(origin).unwrap()])
}

#[test]
fn no_hostile_origin_may_act() {
    let allowed = served_as("https://lockscope.example");
    let mut tried = 0;
    let hosts: [(&str, &[&[u8]]); 2] = [("lockscope.example", &HOSTILE), ("localhost:3000", &HOSTILE)];
    for (host, origins) in hosts {
        for origin in origins {
            if HeaderValue::from_bytes(origin).is_err() {
                continue;
            }
            for by_cookie in [true, false] {
                let headers = headers(&[(HOST, host.as_bytes()), (ORIGIN, origin)]);
                let checked = check(&headers, &allowed, None, by_cookie);
                assert!(checked.is_err(), "{:?} at {host}", String::from_utf8_lossy(origin));
                tried += 1;
            }
        }
    }
    let loopback = Origins::loopback();
    for origin in HOSTILE_V6 {
        let headers = headers(&[(HOST, b"[::1]:3000"), (ORIGIN, origin.as_bytes())]);
        assert!(check(&headers, &loopback, None, false).is_err(), "{origin}");
        tried += 1;
    }
    assert!(tried >= 300, "{tried}");
    // Twice is once too often, even the same.
    let twice = headers(&[
        (HOST, b"lockscope.example"),
        (ORIGIN, b"https://lockscope.example"),
        (ORIGIN, b"https://lockscope.example"),
    ]);
    assert!(check(&twice, &allowed, None, false).is_err());
}

#[test]
fn our_own_pages_may_act() {
    let allowed = served_as("https://lockscope.example");
    let cases = [
        ("https://lockscope.example", "lockscope.example"),
        ("https://lockscope.example", "lockscope.example:443"),
        // A proxy may ask us by our own address.
        ("https://lockscope.example", "127.0.0.1:3000"),
        ("http://localhost:3000", "localhost:3000"),
        ("http://127.0.0.1:3000", "127.0.0.1:3000"),
        ("http://[::1]:3000", "[::1]:3000"),
        // A tunnel's port.
        ("http://localhost:8080", "localhost:8080"),
        ("http://localhost", "localhost"),
    ];
    for (origin, host) in cases {
        let headers = headers(&[(HOST, host.as_bytes()), (ORIGIN, origin.as_bytes())]);
        assert!(
            check(&headers, &allowed, None, true).is_ok() && check_host(&headers, &allowed, None).is_ok(),
            "{origin} at {host}"
        );
    }
    let tls = Origins::new("127.0.0.1:3000".parse().unwrap(), Scheme::Https, Vec::new());
    let (plain, encrypted) = (b"http://localhost:3000".as_slice(), b"https://localhost:3000".as_slice());
    assert!(check(&headers(&[(HOST, b"localhost:3000"), (ORIGIN, plain)]), &tls, None, false).is_err());
    assert!(check(&headers(&[(HOST, b"localhost:3000"), (ORIGIN, encrypted)]), &tls, None, false).is_ok());
}

#[test]
fn we_answer_to_our_own_names_only() {
    let answers = |allowed: &Origins, host: &str, local: Option<&str>| {
        check_host(&headers(&[(HOST, host.as_bytes())]), allowed, local.map(|local| local.parse().unwrap())).is_ok()
    };
    let loopback = served_as("https://lockscope.example:8443");
    for host in [
        "localhost",
        "localhost:1",
        "127.0.0.1:3000",
        "127.1.2.3",
        "[::1]:3000",
        "[::ffff:127.0.0.1]",
        "lockscope.example:8443",
    ] {
        assert!(answers(&loopback, host, None) || host.contains("ffff"), "{host}");
    }
    let foreign = [
        "evil.example",
        "evil.example:3000",
        "lockscope.example",
        "lockscope.example:443",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "localhost.",
        "LOCALHOST",
        "localhost:0",
        "localhost:03000",
        "localhost:99999",
        "localhost:3000:1",
        "0.0.0.0:3000",
        "10.0.0.1:3000",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "[::]:3000",
        "[::2]",
        "::1",
        "[::1",
        "[::1]x",
        "[0::1]",
        "user@localhost",
        "localhost/evil",
        "localhost#",
        "local host",
        "",
        ":3000",
        "l\u{43e}calhost",
        "127.0.0.1:",
        "[::1%1]:3000",
        "-",
    ];
    for host in foreign {
        assert!(!answers(&loopback, host, None), "{host}");
    }
    // Beyond loopback: what was configured, and the very address the connection came to; never a name.
    let public = Origins::new(
        "0.0.0.0:443".parse().unwrap(),
        Scheme::Https,
        vec![Origin::parse("https://lockscope.example").unwrap()],
    );
    let local = Some("10.0.0.5:443");
    for host in ["lockscope.example", "lockscope.example:443", "10.0.0.5", "10.0.0.5:443"] {
        assert!(answers(&public, host, local), "{host}");
    }
    for host in ["localhost", "127.0.0.1", "10.0.0.6", "10.0.0.5:80", "evil.example", "lockscope.example:80"] {
        assert!(!answers(&public, host, local), "{host}");
    }
    assert!(check_host(&headers(&[(HOST, b"localhost"), (HOST, b"localhost")]), &loopback, None).is_err());
    assert!(check_host(&headers(&[]), &loopback, None).is_err());
}

#[test]
fn what_was_sent_is_told_back_safely() {
    let headers = headers(&[(HOST, b"\xe2\x80\xaemoc.live\x1b")]);
    let headers = if headers.is_empty() { self::headers(&[(HOST, "\u{202e}moc.live".as_bytes())]) } else { headers };
    let refused = format!("{:?}", check_host(&headers, &Origins::loopback(), None).unwrap_err());
    assert!(
        !refused.contains('\u{202e}') && refused.contains("moc.live") && refused.contains("the setting `origin`"),
        "{refused}"
    );
}

#[test]
fn a_configured_origin_is_exact() {
    for (text, expected) in [
        ("https://lockscope.example", "https://lockscope.example"),
        ("https://lockscope.example:443", "https://lockscope.example"),
        ("https://lockscope.example:8443", "https://lockscope.example:8443"),
        ("http://localhost:8080", "http://localhost:8080"),
        ("http://127.0.0.1:80", "http://127.0.0.1"),
        ("https://[2001:db8::1]:3000", "https://[2001:db8::1]:3000"),
        ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
    ] {
        assert_eq!(Origin::parse(text).map(|origin| origin.to_string()), Ok(expected.to_owned()));
    }
    for (text, why) in [
        ("lockscope.example", "is no origin"),
        ("*", "is no origin"),
        ("ftp://lockscope.example", "is neither https nor http"),
        ("https://lockscope.example/", "has more than a lower-case host and a port after its scheme"),
        ("https://*.example", "has more than a lower-case host and a port after its scheme"),
        ("https://Lockscope.example", "has more than a lower-case host and a port after its scheme"),
        ("https://me@lockscope.example", "has more than a lower-case host and a port after its scheme"),
        ("https://b\u{fc}cher.example", "has letters beyond ASCII"),
        ("http://lockscope.example", "is not encrypted"),
    ] {
        assert_eq!(Origin::parse(text).unwrap_err().why, why, "{text}");
    }
}
