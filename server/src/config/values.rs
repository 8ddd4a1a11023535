//! What values may be: each kind accepts what its settings may have, and says what to write instead of anything else.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use axum::http::HeaderName;
use lockscope_access::Net;
use lockscope_alerts::route::RouteKind;
use lockscope_alerts::rule::parse_ms;
use lockscope_cluster::member::is_id;
use lockscope_live::project::ApplicationRule;
use lockscope_view::{EnsembleColor, Role};
use lockscope_web::{Origin as WebOrigin, Payloads as WhoSees, SOCKETS_ALLOWED_MAX};
use lockscope_zookeeper::{Fault, SESSION_TIMEOUT_MIN, check_connect, check_roots};

use super::ConfigError;
use super::given::{Given, Parse, Read, Setting, fault};

/// Longest session time-out that is believed; ZooKeeper's own default maximum is far below.
const SESSION_TIMEOUT_MS_MAX: u64 = 3_600_000;
/// Headers that mean something else already.
const TAKEN: [&str; 8] =
    ["authorization", "cookie", "host", "origin", "content-type", "x-forwarded-for", "sec-fetch-site", "connection"];

/// Makes kinds of values: what one is to the program, what may be written, and what makes it of a text.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $name:ident -> $output:ty, $values:literal, $parse:expr;)+) => {$(
        $(#[doc = $doc])*
        pub(super) enum $name {}

        impl Parse for $name {
            type Output = $output;
            const VALUES: &'static str = $values;

            fn parse(text: &str) -> Result<$output, Fault> {
                let parse: fn(&str) -> Result<$output, Fault> = $parse;
                parse(text)
            }
        }
    )+};
}

kinds! {
    /// Text; who uses it checks it.
    Text -> String, "", |text| Ok(text.to_owned());
    /// Whether something is on; see [`Setting::is_on`].
    Switch -> bool, "on, off", |text| match text {
        "on" | "true" => Ok(true),
        "off" | "false" => Ok(false),
        _ => fault("is neither on nor off", "write on or off"),
    };
    /// The path of a file, or `credential:NAME`.
    FileName -> String, "a file or credential:NAME",
        |text| text_if(!text.is_empty(), text, "is empty", "name a file, or leave it out");
    Directory -> PathBuf, "a directory",
        |text| text_if(!text.is_empty(), text, "is empty", "name a directory, or leave it out").map(PathBuf::from);
    Connect -> String, "HOST:PORT[,HOST:PORT…][/CHROOT]", |text| check_connect(text).map(|()| text.to_owned());
    ZnodePath -> String, "a path",
        |text| check_roots(&[text]).map(|()| text.to_owned()).map_err(|(_, fault)| fault);
    Listen -> SocketAddr, "ADDR:PORT; port 0 takes a free one", |text| {
        let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        let remedy = "write ADDR:PORT, like 127.0.0.1:3000, or port 0 for a free one";
        numeric.as_deref().unwrap_or(text).parse().or_else(|_| fault("is not an address to listen on", remedy))
    };
    Timeout -> Duration, "a time like 30s, 500ms, 2m", |text| {
        let ms = scaled(split_unit(text), &[("ms", 1), ("s", 1_000), ("", 1_000), ("m", 60_000)]).filter(|ms| *ms > 0);
        some_or(ms.map(Duration::from_millis), "is not a time", "write it like 30s, 500ms or 2m")
    };
    Lifetime -> Duration, "", |text| {
        let minutes = scaled(split_unit(text), &[("m", 1), ("h", 60), ("d", 1_440)]);
        let lifetime = minutes.filter(|minutes| (1..=3_650 * 1_440).contains(minutes)).map(|m| Duration::from_secs(m * 60));
        some_or(lifetime, "is no lifetime", "write it like 30d, 12h or 90m, at most 3650d")
    };
    /// Less would not hold two checkpoints of a large ensemble.
    HistoryBytes -> u64, "a size like 4GB, 500MB", |text| {
        let (number, unit) = split_unit(text);
        let units = [("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000)];
        let bytes = scaled((number, unit.trim_start()), &units).filter(|bytes| *bytes >= 16 << 20);
        some_or(bytes, "is no size", "write it like 4GB or 500MB, at least 17MB")
    };
    SessionTimeout -> Duration, "500 to 3600000", |text| {
        let ms = text.trim().parse().ok().map(Duration::from_millis);
        let max = Duration::from_millis(SESSION_TIMEOUT_MS_MAX);
        let remedy = format!("write milliseconds from {} to {}, like 10000", SESSION_TIMEOUT_MIN.as_millis(), max.as_millis());
        some_or(ms.filter(|ms| (SESSION_TIMEOUT_MIN..=max).contains(ms)), "is not a session time-out", remedy)
    };
    Sockets -> u32, "1 to 32768", |text| {
        let remedy = format!("write a whole number from 1 to {SOCKETS_ALLOWED_MAX}, like 10000");
        some_or(number(text, 1, SOCKETS_ALLOWED_MAX), "is not a number of live sockets", remedy)
    };
    /// Below, next to nothing would be read; above, a model takes more memory than a machine of today has.
    Znodes -> usize, "a whole number from 1000 to 50000000", |text| {
        let znodes = number(text, 1_000, 50_000_000);
        some_or(znodes, "is not a number of znodes", "write a whole number from 1000 to 50000000")
    };
    Payloads -> WhoSees, "viewer, operator, nobody", |text| {
        let who = WhoSees::ALL.into_iter().find(|who| who.name() == text);
        some_or(who, "is not a known value", "write viewer, operator or nobody")
    };
    Color -> EnsembleColor, "blue, teal, violet, amber, pink, red", |text| {
        let color = EnsembleColor::ALL.into_iter().find(|color| color.name() == text);
        some_or(color, "is none of the colours", "use one of blue, teal, violet, amber, pink, red")
    };
    ReceiverKind -> RouteKind, "alertmanager, pagerduty, slack, teams, feishu, dingtalk, wecom, webhook", |text| {
        let kind = RouteKind::ALL.into_iter().find(|kind| kind.name() == text);
        some_or(kind, "is no kind of receiver", format!("use one of {}", ReceiverKind::VALUES))
    };
    Application -> ApplicationRule,
        "a regular expression with one group, or one named application; at most 500 characters", |text| {
        let remedy = "write one with the application in brackets, like \"^([a-z]+)-[0-9]+@\", or leave it out";
        ApplicationRule::parse(text).or_else(|why| fault(why, remedy))
    };
    Origin -> WebOrigin, "addresses like https://lockscope.example, at most 16",
        |text| WebOrigin::parse(text).or_else(|wrong| fault(wrong.why, wrong.remedy));
    Network -> Net, "addresses and networks, at most 64",
        |text| some_or(Net::parse(text), "is neither an address nor a network", "write it like 10.0.0.5 or 10.1.0.0/16");
    /// Whether who is not authenticated is a viewer.
    Anonymous -> bool, "viewer, none", |text| match text {
        "viewer" => Ok(true),
        "none" => Ok(false),
        _ => fault(
            "is neither viewer nor none",
            "write viewer to let everybody look, or none to ask everybody who they are",
        ),
    };
    /// In small letters.
    Header -> String, "a header's name", |text| match HeaderName::from_bytes(text.as_bytes()) {
        Ok(name) if TAKEN.contains(&name.as_str()) => {
            fault("means something else already", "name a header of its own, like X-Forwarded-User")
        }
        Ok(name) => Ok(name.as_str().to_owned()),
        Err(_) => fault("is no header", "write its name, like X-Forwarded-User"),
    };
    Grant -> Option<Role>, "viewer, operator, auditor, admin, none", |text| {
        let role = Role::ALL.into_iter().find(|role| role.name() == text);
        let grant = (role.is_some() || text == "none").then_some(role);
        some_or(grant, "is no role", "use one of viewer, operator, auditor, admin, or none")
    };
    /// What the provider of OpenID Connect calls something.
    Claim -> String, "a claim", |text| {
        let is_good = !text.trim().is_empty() && !text.contains(char::is_control);
        text_if(is_good, text, "is no name", "write it as the provider does, or leave it out")
    };
    /// It stands on every row.
    EnsembleName -> String, "1 to 32 letters, digits, dots, dashes, underscores", |text| {
        let is_good = is_word(text, char::is_alphanumeric, "-_.") && text.chars().count() <= 32;
        text_if(is_good, text, "is no name", "write 1 to 32 letters, digits, dots, dashes or underscores, like prod-eu")
    };
    AlertName -> String, "1 to 64 letters, digits, dots, dashes, underscores", |text| {
        let is_good = is_word(text, |c| c.is_ascii_alphanumeric(), "-_.") && text.len() <= 64;
        let remedy = "write 1 to 64 letters, digits, dots, dashes or underscores, like orders-stuck";
        text_if(is_good, text, "is no name", remedy)
    };
    Pattern -> String, "a path; * is any part of one name, ** any names", |text| {
        let is_path = text.starts_with('/') || text.starts_with("**");
        let is_good = is_path && text.len() <= 512 && text.matches('*').count() <= 8;
        let remedy = "write a path that starts with a slash, like \"/orders/*\"; * is any part of one name, ** any names";
        text_if(is_good, text, "is no pattern of paths", remedy)
    };
    /// For how long something is so before it fires, ms.
    FiresAfter -> i64, "a time like 30s, 5m, 2h; at most 7d",
        |text| some_or(parse_ms(text.trim()), "is not a time", "write it like 30s, 5m or 2h");
    /// After how long receivers are told again, ms.
    Repeat -> i64, "a time of a minute or more", |text| {
        let ms = parse_ms(text.trim()).filter(|ms| *ms >= 60_000);
        some_or(ms, "is not a time of a minute or more", "write it like 5m or 4h")
    };
    ReplicaId -> String, "1 to 64 letters, digits, dots, dashes, underscores, colons", |text| {
        let remedy = "write 1 to 64 letters, digits, dots, dashes, underscores or colons, like lockscope-0";
        text_if(is_id(text), text, "is no id", remedy)
    };
    ReplicaAddress -> String, "an http:// or https:// address", |text| {
        let is_served = |url: reqwest::Url| matches!(url.scheme(), "http" | "https") && url.username().is_empty();
        let is_good = text.chars().count() <= 256 && reqwest::Url::parse(text).is_ok_and(is_served);
        let remedy = "write it like https://lockscope-0.example:3000";
        text_if(is_good, text, "is no address of a server", remedy).map(|text| text.trim_end_matches('/').to_owned())
    };
}

/// A whole number of the file.
pub(super) enum Number<const MIN: u32, const MAX: u32> {}

impl<const MIN: u32, const MAX: u32> Read for Number<MIN, MAX> {
    type Output = u32;

    fn values() -> String {
        format!("{MIN} to {MAX}")
    }

    fn read(given: &Given) -> Result<u32, ConfigError> {
        let number = given.value.as_integer().and_then(|number| u32::try_from(number).ok());
        match number.filter(|number| (MIN..=MAX).contains(number)) {
            Some(number) => Ok(number),
            None => refuse!("{} is {}; write a whole number from {MIN} to {MAX}", given.from, given.shown()),
        }
    }
}

impl Setting<Switch> {
    /// Whether it is on; None where it was not set. `remedy`: what to write instead of anything else.
    pub(super) fn is_on(&self, remedy: &str) -> Result<Option<bool>, ConfigError> {
        self.check(|word| Switch::parse(word).map_err(|wrong| Fault { remedy: remedy.to_owned(), ..wrong }))
    }
}

/// Whether `text` is made of what `is_good` and of these marks, and not empty.
pub(super) fn is_word(text: &str, is_good: impl Fn(char) -> bool, marks: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| is_good(c) || marks.contains(c))
}

fn text_if(is_good: bool, text: &str, why: &str, remedy: &str) -> Result<String, Fault> {
    some_or(is_good.then(|| text.to_owned()), why, remedy)
}

fn some_or<T>(value: Option<T>, why: &str, remedy: impl Into<String>) -> Result<T, Fault> {
    value.map_or_else(|| fault(why, remedy), Ok)
}

fn number<T: FromStr + PartialOrd>(text: &str, min: T, max: T) -> Option<T> {
    text.trim().parse().ok().filter(|number| (min..=max).contains(number))
}

fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// A number with one of these units, as so many of the smallest.
fn scaled((number, unit): (&str, &str), units: &[(&str, u64)]) -> Option<u64> {
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}
