//! The identity in a JSON object, of which only the beginning may be here: fields are taken as they come, at any depth,
//! without asking whether the rest is well formed.

/// Begins the label of a Kafka broker, whose payload has a number only.
pub(super) const BROKER: &str = "broker ";
/// Names of fields that identify a client, the most specific first; compared without case, dashes and underscores.
const FIELDS: [&str; 21] = [
    "holder",
    "hostname",
    "host",
    "nodename",
    "address",
    "addr",
    "ip",
    "liveinstance",
    "instanceid",
    "instance",
    "node",
    "server",
    "serverid",
    "workerid",
    "worker",
    "clientid",
    "client",
    "owner",
    "id",
    "brokerid",
    "name",
];
/// Fields that a port belongs to.
const HOSTS: std::ops::Range<usize> = 1..7;

/// The most specific field's value.
pub(super) fn identity(text: &str) -> Option<String> {
    let mut best: Option<(usize, String)> = None;
    let mut port = None;
    for (key, value) in (Fields { rest: text }) {
        let key: String =
            key.chars().filter(char::is_ascii_alphanumeric).map(|char| char.to_ascii_lowercase()).collect();
        if key == "port" && value.bytes().all(|byte| byte.is_ascii_digit()) {
            port.get_or_insert(value);
            continue;
        }
        let Some(rank) = FIELDS.iter().position(|field| *field == key) else { continue };
        if !value.trim().is_empty() && best.as_ref().is_none_or(|(best, _)| rank < *best) {
            best = Some((rank, if key == "brokerid" { format!("{BROKER}{value}") } else { value }));
        }
    }
    let (rank, value) = best?;
    match port.filter(|_| HOSTS.contains(&rank) && !value.contains(':')) {
        Some(port) => Some(format!("{value}:{port}")),
        None => Some(value),
    }
}

/// Fields with a text or a number, in order.
struct Fields<'a> {
    rest: &'a str,
}

impl Iterator for Fields<'_> {
    type Item = (String, String);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (key, rest) = string(self.rest.split_once('"')?.1)?;
            self.rest = rest;
            let Some(value) = rest.trim_start().strip_prefix(':').map(str::trim_start) else { continue };
            if let Some(quoted) = value.strip_prefix('"') {
                let (value, rest) = string(quoted)?;
                self.rest = rest;
                return Some((key, value));
            }
            let length = value.find(|char: char| !(char.is_ascii_digit() || matches!(char, '-' | '.'))).unwrap_or(0);
            self.rest = value.get(length..)?;
            if length > 0 {
                return Some((key, value.get(..length)?.to_owned()));
            }
        }
    }
}

/// A string whose opening quote was taken already, and what follows it; None when its end is not here.
fn string(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    loop {
        match chars.next()? {
            (at, '"') => return Some((out, text.get(at + 1..)?)),
            (_, '\\') => match chars.next()?.1 {
                'u' => {
                    let (at, _) = chars.next()?;
                    let code = u32::from_str_radix(text.get(at..at + 4)?, 16).ok()?;
                    out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                    chars.nth(2)?;
                }
                'n' | 'r' | 't' | 'b' | 'f' => out.push(' '),
                other => out.push(other),
            },
            (_, char) => out.push(char),
        }
    }
}
