//! Who a contender says it is, from its payload or its name. Never trusted, always shown as one line of text:
//! characters that steer a terminal or the direction of writing come out as visible escapes.

mod binary;
mod json;

use std::fmt::Write as _;

use super::recipe;

/// Characters of a label that are shown.
pub const LABEL_CHARS_MAX: usize = 80;
/// What Curator's `Revoker` writes into a holder's znode to ask it to let go: the asker's word, no identity.
const REVOKE: &str = "__REVOKE__";

/// Who a contender says it is; where its payload has no identity, its name may. Sentences and findings show it to
/// whoever may not see payloads too, so it is only what looks like an identity.
pub fn label_of(name: &str, payload: &[u8]) -> Option<String> {
    if let Some(text) = plain(payload) {
        return Some(text.to_owned());
    }
    label(payload).filter(|text| is_identity(text)).or_else(|| in_name(name).and_then(|text| shown(&text)))
}

/// The same for those who may see payloads: any text there is.
pub fn text_label_of(name: &str, payload: &[u8]) -> Option<String> {
    label(payload).or_else(|| in_name(name).and_then(|text| shown(&text)))
}

/// A payload that is an identity as it stands, as most are: what takes any payload apart would give the same.
fn plain(payload: &[u8]) -> Option<&str> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:@#".contains(byte);
    let is_one = !payload.is_empty() && payload.len() <= LABEL_CHARS_MAX && payload.iter().all(is_plain);
    let text = std::str::from_utf8(payload).ok().filter(|_| is_one)?;
    (text != REVOKE).then_some(text)
}

/// A label that identifies a client; None for a bare address.
pub fn identity(label: &str) -> Option<String> {
    identifies(label).then(|| label.to_owned())
}

fn identifies(label: &str) -> bool {
    // Mostly a letter beyond F says at once that it is none.
    let may_be_address = || label.bytes().all(|byte| byte.is_ascii_hexdigit() || b".:[]%".contains(&byte));
    let is_address = || label.parse::<std::net::IpAddr>().is_ok() || label.parse::<std::net::SocketAddr>().is_ok();
    label.len() > 1 && !(may_be_address() && is_address())
}

/// A number that contenders have in common whose labels identify the same client, and seldom others; 0 of those whose labels
/// identify none.
pub fn identity_hash(name: &str, payload: &[u8]) -> u16 {
    match plain(payload) {
        Some(text) => hash_of(text),
        None => label_of(name, payload).map_or(0, |label| hash_of(&label)),
    }
}

/// The same of a label.
pub fn hash_of(label: &str) -> u16 {
    if !identifies(label) {
        return 0;
    }
    // FNV-1a.
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = label.bytes().fold(0x811c_9dc5, step);
    ((hash >> 16) as u16 ^ hash as u16).max(1)
}

/// One word, as names of hosts and processes are: no sentence, no setting with its value, no address with a password.
pub fn is_identity(text: &str) -> bool {
    let word = text.strip_prefix(json::BROKER).unwrap_or(text);
    let is_other = |char: char| char.is_whitespace() || "={}\"'`<>&;$*\\".contains(char);
    !word.contains(is_other) && !word.contains("://")
}

/// The identity in a payload, on one line.
pub fn label(payload: &[u8]) -> Option<String> {
    if let Some(text) = binary::java_string(payload) {
        return told(&text);
    }
    match text_of(payload) {
        Some(text) if !text.contains(is_steering) => told(text),
        text => {
            binary::host(payload).and_then(shown).or_else(|| text.filter(|text| is_mostly_text(text)).and_then(shown))
        }
    }
}

/// The identity in a text.
fn told(text: &str) -> Option<String> {
    let text = text.trim();
    match text.as_bytes().first()? {
        _ if text == REVOKE => None,
        b'{' => shown(&json::identity(text).map_or_else(|| text.to_owned(), |found| in_name(&found).unwrap_or(found))),
        // A list of numbers (the npm client's [transaction, time]) names nobody.
        b'[' if !text.contains(char::is_alphabetic) => None,
        _ => shown(unquoted(text)),
    }
}

/// kazoo's semaphore queues up under Python's notation of its identifier: `b'name'`.
fn unquoted(text: &str) -> &str {
    let inner = |quote: char| text.strip_prefix('b')?.strip_prefix(quote)?.strip_suffix(quote);
    inner('\'').or_else(|| inner('"')).unwrap_or(text)
}

/// The identity in a name: Solr's `<session>-<node>-n_<sequence>`, kazoo's `<32 hex>-<identifier>`, HBase's
/// `host,port,start`.
fn in_name(name: &str) -> Option<String> {
    if let Some(found) = recipe::solr_node(name).or_else(|| recipe::party_identifier(name)) {
        return Some(found.to_owned());
    }
    let mut parts = name.split(',');
    let (host, port, start) = (parts.next()?, parts.next()?, parts.next()?);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (!host.is_empty() && is_number(port) && is_number(start) && parts.next().is_none())
        .then(|| format!("{host}:{port}"))
}

/// The payload as text; only its first bytes are kept, so the last character may be cut in the middle.
fn text_of(payload: &[u8]) -> Option<&str> {
    match std::str::from_utf8(payload) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => std::str::from_utf8(payload.get(..error.valid_up_to())?).ok(),
        Err(_) => None,
    }
}

/// A control character that is not mere space.
fn is_steering(char: char) -> bool {
    char.is_control() && !char.is_whitespace()
}

fn is_mostly_text(text: &str) -> bool {
    let steering = text.chars().filter(|char| is_steering(*char)).count();
    steering * 8 <= text.chars().count()
}

/// One line, hostile characters escaped, cut to [`LABEL_CHARS_MAX`].
fn shown(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut room = LABEL_CHARS_MAX;
    for char in text.split_whitespace().flat_map(|word| std::iter::once(' ').chain(word.chars())).skip(1) {
        let before = out.len();
        if char.is_control() || is_hidden(char) {
            // Writing to a string can't fail.
            let _ = write!(out, "{}", char.escape_unicode());
        } else {
            out.push(char);
        }
        let written = out.get(before..).map_or(0, |written| written.chars().count());
        if written > room {
            out.truncate(before);
            break;
        }
        room -= written;
    }
    (!out.is_empty()).then_some(out)
}

/// Characters that show nothing, or turn the direction of what follows (Unicode: default ignorable and bidi controls).
pub fn is_hidden(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(payload: &[u8], expect: Option<&str>) {
        assert_eq!(label(payload).as_deref(), expect, "{}", String::from_utf8_lossy(payload));
    }

    #[test]
    fn text_is_a_label() {
        check(b"worker-3@app-2", Some("worker-3@app-2"));
        check(b" a\n b ", Some("a b"));
        check(b"", None);
        check(b" \n ", None);
        check(&[0x12, 0x34], None);
        check(&[0xff, 0xfe], None);
        check("主机é".as_bytes().split_last().unwrap().1, Some("主机"));
        check(b"b'worker-1'", Some("worker-1"));
        check(b"__REVOKE__", None);
        check(b"[12,1700000000000]", None);
    }

    #[test]
    fn plain_labels_are_what_taking_them_apart_gives() {
        let longest = "x".repeat(LABEL_CHARS_MAX);
        for text in ["a", "worker-3@app-2", "10.0.0.9:8080", "::1", "app#7.thread_2", "0", "b", &longest] {
            assert_eq!(plain(text.as_bytes()), Some(text));
            assert_eq!(label(text.as_bytes()).filter(|text| is_identity(text)).as_deref(), Some(text));
        }
        let longer = "x".repeat(LABEL_CHARS_MAX + 1);
        for text in ["", " a", "a b", "__REVOKE__", "{}", "[1]", "b'a'", "a://b", "\u{e9}", "a\u{0}", &longer] {
            assert_eq!(plain(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn the_same_identity_has_the_same_hash() {
        let of = |payload: &str| identity_hash("lock-0000000001", payload.as_bytes());
        assert_eq!([of(" worker-1 "), of("b'worker-1'")], [hash_of("worker-1"); 2]);
        assert_eq!(["10.0.0.9:8080", "10.0.0.9", "::1", "x", "", "two words"].map(of), [0; 6]);
        assert_ne!(of("worker-1"), of("worker-2"));
        assert_eq!(identity_hash("hbase-2.local,16000,1790000000123", b""), hash_of("hbase-2.local:16000"));
    }

    #[test]
    fn json_tells_who() {
        check(br#"{"version":1,"brokerid":1,"timestamp":"1700000000000"}"#, Some("broker 1"));
        check(br#"{"id":"72057655109877762-10.0.0.1:8983_solr-n_0000000003"}"#, Some("10.0.0.1:8983_solr"));
        check(br#"{"core":"c1_shard1_replica_n1","node_name":"10.0.0.1:8983_solr"}"#, Some("10.0.0.1:8983_solr"));
        check(
            br#"{"id":"controller-1","simpleFields":{"LIVE_INSTANCE":"812@host-1","SESSION_ID":"0x1"}}"#,
            Some("812@host-1"),
        );
        check(br#"{"version": 1, "holder": "worker-1", "end": "2026-01-31T23:59:59"}"#, Some("worker-1"));
        check(br#"{"name":"orders","id":"i-7","address":"10.0.0.9","port":8080}"#, Some("10.0.0.9:8080"));
        check(br#"{"a":{"hostName":"h\u0041\"1"}}"#, Some("hA\"1"));
        check(br#"{"x":1}"#, Some(r#"{"x":1}"#));
        check(br#"{"x":1,"host":"cut o"#, Some(r#"{"x":1,"host":"cut o"#));
    }

    #[test]
    fn serialised_heads_tell_who() {
        check(b"\xac\xed\x00\x05t\x00\x06host-1", Some("host-1"));
        check(b"\xac\xed\x00\x05t\x00\xffcut by us", Some("cut by us"));
        check(b"\xac\xed\x00\x05sr\x00\x03abc", None);
        let master =
            b"\xff\x00\x00\x00\x06master\x50BUF\x0a\x12\x0a\x07hbase-1\x10\x80\x7d\x18\x80\x80\x80\x80\x01\x10\x01";
        check(master, Some("hbase-1"));
        check(b"\x0a\x03ns1\x12\x03nn1\x1a\x06host-7\x20\xd4\x3e\x28\xb3\x3f", Some("host-7"));
        check(b"\x0a\x03ns1\x12\x03nn1\x1a\x08nn.local\x20\x50", Some("nn.local"));
        check(b"\x0a\x03ns1\x12\x40nn1", None);
    }

    #[test]
    fn names_tell_who() {
        assert_eq!(
            label_of("72057655109877762-10.0.0.1:8983_solr-n_0000000003", b"").as_deref(),
            Some("10.0.0.1:8983_solr")
        );
        assert_eq!(label_of("hbase-2.local,16000,1790000000123", b"").as_deref(), Some("hbase-2.local:16000"));
        assert_eq!(label_of("lock-0000000003", b"").as_deref(), None);
        assert_eq!(label_of("a,b,c", b"").as_deref(), None);
        assert_eq!(label_of("a,1,2", b"x").as_deref(), Some("x"));
    }

    #[test]
    fn everybody_is_shown_identities_only() {
        let secrets = [
            "db_password=hunter2",
            "postgres://app:hunter2@db/orders",
            "{\"token\":\"hunter2\"}",
            "the code is hunter2",
            "\u{202e}2retnuh",
        ];
        for text in secrets {
            assert_eq!(label_of("lock-0000000003", text.as_bytes()), None, "{text}");
            assert!(text_label_of("lock-0000000003", text.as_bytes()).is_some(), "{text}");
        }
        for text in ["worker-3@app-2", "10.0.0.9:8080", "app#7/thread_2", "主机-1"] {
            assert_eq!(label_of("lock-0000000003", text.as_bytes()).as_deref(), Some(text));
        }
        assert_eq!(label_of("hbase-2.local,16000,1790000000123", b"a secret").as_deref(), Some("hbase-2.local:16000"));
    }

    #[test]
    fn hostile_characters_come_out_as_escapes() {
        check("worker \u{202e}nimda\u{2066}".as_bytes(), Some("worker \\u{202e}nimda\\u{2066}"));
        check(b"red \x1b[31malert", Some("red \\u{1b}[31malert"));
        check("worker\u{0}-1".as_bytes(), Some("worker\\u{0}-1"));
        check("zero\u{200b}width\u{feff}".as_bytes(), Some("zero\\u{200b}width\\u{feff}"));
        check("line\u{2028}para\u{85}end".as_bytes(), Some("line para end"));
        check("{\"host\":\"\\u202ex\\u001b\"}".as_bytes(), Some("\\u{202e}x\\u{1b}"));
        check(b"\xac\xed\x00\x05t\x00\x04\x1b]0;", Some("\\u{1b}]0;"));
        assert_eq!(label_of("\u{202e}h,1,2", b"").as_deref(), Some("\\u{202e}h:1"));
    }

    #[test]
    fn a_label_is_cut_at_a_whole_character() {
        assert_eq!(label("é".repeat(300).as_bytes()).unwrap(), "é".repeat(LABEL_CHARS_MAX));
        let escapes = label("\u{202e}".repeat(100).as_bytes()).unwrap();
        assert_eq!(escapes, "\\u{202e}".repeat(LABEL_CHARS_MAX / 8));
    }
}
