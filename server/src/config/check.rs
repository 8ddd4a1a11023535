//! What each setting may be, and the sentence that names the setting. Pure. What can be observed, the observer knows.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use lockscope_core::evidence::MEMBERS_MAX;

use super::{ConfigError, SettingValue};
use lockscope_live::project::ApplicationRule;
use lockscope_web::{Payloads, SOCKETS_ALLOWED_MAX};
use lockscope_zookeeper::members::check_admin_url;
use lockscope_zookeeper::{EXCLUSIONS_MAX, SESSION_TIMEOUT_MIN, check_connect, check_exclusion, check_roots};

/// Longest session time-out that is believed; ZooKeeper's own default maximum is far below.
const SESSION_TIMEOUT_MS_MAX: u64 = 3_600_000;
/// Below, next to nothing would be read; above, a model takes more memory than a machine of today has.
const ZNODES_ALLOWED: std::ops::RangeInclusive<usize> = 1_000..=50_000_000;

pub(super) fn wrong<T>(setting: &SettingValue, why: &str, remedy: &str) -> Result<T, ConfigError> {
    Err(ConfigError(format!("{} {:?} {why}; {remedy}", setting.from, setting.value)))
}

pub(super) fn connect(setting: &SettingValue) -> Result<(), ConfigError> {
    check_connect(&setting.value).or_else(|fault| wrong(setting, &fault.why, &fault.remedy))
}

pub(super) fn roots(settings: &[SettingValue]) -> Result<(), ConfigError> {
    let roots: Vec<&str> = settings.iter().map(|setting| setting.value.as_str()).collect();
    check_roots(&roots)
        .or_else(|(at, fault)| settings.get(at).map_or(Ok(()), |setting| wrong(setting, &fault.why, &fault.remedy)))
}

pub(super) fn exclusions(settings: &[SettingValue], roots: &[SettingValue]) -> Result<(), ConfigError> {
    let roots: Vec<&str> = roots.iter().map(|root| root.value.as_str()).collect();
    for (at, setting) in settings.iter().enumerate() {
        check_exclusion(&setting.value, &roots).or_else(|fault| wrong(setting, &fault.why, &fault.remedy))?;
        if at >= EXCLUSIONS_MAX {
            let remedy = format!("write at most {EXCLUSIONS_MAX}, with stars for what they share");
            return wrong(setting, "is one too many", &remedy);
        }
    }
    Ok(())
}

pub(super) fn listen(setting: &SettingValue) -> Result<SocketAddr, ConfigError> {
    let numeric = setting
        .value
        .strip_prefix("localhost:")
        .map_or_else(|| setting.value.clone(), |port| format!("127.0.0.1:{port}"));
    let Ok(address) = numeric.parse::<SocketAddr>() else {
        return wrong(
            setting,
            "is not an address to listen on",
            "write ADDR:PORT, like 127.0.0.1:3000, or port 0 for a free one",
        );
    };
    Ok(address)
}

pub(super) fn data_dir(setting: &SettingValue) -> Result<PathBuf, ConfigError> {
    if setting.value.is_empty() {
        wrong(setting, "is empty", "name a directory, or leave it out")
    } else {
        Ok(PathBuf::from(&setting.value))
    }
}

pub(super) fn file(setting: &SettingValue) -> Result<PathBuf, ConfigError> {
    if setting.value.is_empty() {
        wrong(setting, "is empty", "name a file, or leave it out")
    } else {
        Ok(PathBuf::from(&setting.value))
    }
}

/// A time that may be long.
pub(super) fn lifetime(setting: &SettingValue) -> Result<Duration, ConfigError> {
    const DAYS_MAX: u64 = 3_650;
    let text = setting.value.trim();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let minutes = match unit {
        "m" => Some(1),
        "h" => Some(60),
        "d" => Some(24 * 60),
        _ => None,
    };
    let minutes = minutes.zip(number.parse::<u64>().ok()).and_then(|(factor, number)| number.checked_mul(factor));
    let Some(minutes) = minutes.filter(|minutes| (1..=DAYS_MAX * 24 * 60).contains(minutes)) else {
        return wrong(setting, "is no lifetime", &format!("write it like 30d, 12h or 90m, at most {DAYS_MAX}d"));
    };
    Ok(Duration::from_secs(minutes * 60))
}

pub(super) fn time(setting: &SettingValue) -> Result<Duration, ConfigError> {
    let text = setting.value.trim();
    let number_ends_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(number_ends_at);
    let factor_ms = match unit {
        "ms" => Some(1),
        "s" | "" => Some(1_000),
        "m" => Some(60_000),
        _ => None,
    };
    let ms = factor_ms
        .zip(number.parse::<u64>().ok())
        .and_then(|(factor, number)| number.checked_mul(factor))
        .filter(|ms| *ms > 0);
    let Some(ms) = ms else { return wrong(setting, "is not a time", "write it like 30s, 500ms or 2m") };
    Ok(Duration::from_millis(ms))
}

pub(super) fn session_timeout(setting: &SettingValue) -> Result<Duration, ConfigError> {
    let max = Duration::from_millis(SESSION_TIMEOUT_MS_MAX);
    match setting.value.trim().parse().map(Duration::from_millis) {
        Ok(timeout) if (SESSION_TIMEOUT_MIN..=max).contains(&timeout) => Ok(timeout),
        Ok(_) | Err(_) => wrong(
            setting,
            "is not a session time-out",
            &format!("write milliseconds from {} to {}, like 10000", SESSION_TIMEOUT_MIN.as_millis(), max.as_millis()),
        ),
    }
}

pub(super) fn sockets_max(setting: &SettingValue) -> Result<u32, ConfigError> {
    match setting.value.trim().parse() {
        Ok(sockets) if (1..=SOCKETS_ALLOWED_MAX).contains(&sockets) => Ok(sockets),
        Ok(_) | Err(_) => {
            let remedy = format!("write a whole number from 1 to {SOCKETS_ALLOWED_MAX}, like 10000");
            wrong(setting, "is not a number of live sockets", &remedy)
        }
    }
}

pub(super) fn znodes_max(setting: &SettingValue) -> Result<usize, ConfigError> {
    match setting.value.trim().parse() {
        Ok(znodes) if ZNODES_ALLOWED.contains(&znodes) => Ok(znodes),
        Ok(_) | Err(_) => {
            let remedy = format!("write a whole number from {} to {}", ZNODES_ALLOWED.start(), ZNODES_ALLOWED.end());
            wrong(setting, "is not a number of znodes", &remedy)
        }
    }
}

/// `remedy`: what to write instead.
pub(super) fn switch(setting: &SettingValue, remedy: &str) -> Result<bool, ConfigError> {
    match setting.value.as_str() {
        "on" | "true" => Ok(true),
        "off" | "false" => Ok(false),
        _ => wrong(setting, "is neither on nor off", remedy),
    }
}

pub(super) fn payloads(setting: &SettingValue) -> Result<Payloads, ConfigError> {
    let found = Payloads::ALL.into_iter().find(|who| who.name() == setting.value);
    found.map_or_else(|| wrong(setting, "is not a known value", "write viewer, operator or nobody"), Ok)
}

pub(super) fn application_pattern(setting: &SettingValue) -> Result<ApplicationRule, ConfigError> {
    let remedy = "write one with the application in brackets, like \"^([a-z]+)-[0-9]+@\", or leave it out";
    ApplicationRule::parse(&setting.value).or_else(|why| wrong(setting, &why, remedy))
}

pub(super) fn admin_urls(settings: &[SettingValue]) -> Result<(), ConfigError> {
    for (at, setting) in settings.iter().enumerate() {
        check_admin_url(&setting.value).or_else(|fault| wrong(setting, &fault.why, &fault.remedy))?;
        if settings.iter().take(at).any(|other| other.value == setting.value) {
            return wrong(setting, "is named twice", "name it once, one AdminServer for each member");
        }
        if at >= MEMBERS_MAX {
            return wrong(setting, "is one too many", &format!("name at most {MEMBERS_MAX}, one for each member"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::tests::{Fake, flags};
    use super::super::{Config, ServeArgs};

    #[test]
    fn a_pattern_of_application_names_has_one_group_that_is_the_application() {
        let with = |pattern: &'static str| {
            let vars = BTreeMap::from([("LOCKSCOPE_APPLICATION_PATTERN", pattern)]);
            Config::load(&flags(|_| ()), &Fake { vars, text: None })
        };
        assert_eq!(with("^eu/([a-z]+)").unwrap().applications.pattern(), "^eu/([a-z]+)");
        const REMEDY: &str = "write one with the application in brackets, like \"^([a-z]+)-[0-9]+@\", or leave it out";
        for (pattern, why) in [
            ("^[a-z]+", "has no group in brackets"),
            ("(a)(b)", "has several groups, and none is named application"),
            ("(a", "is not a regular expression (unclosed group)"),
            ("((?:\\w{200}){200})", "takes too much memory"),
        ] {
            let told = with(pattern).unwrap_err().to_string();
            assert_eq!(told, format!("LOCKSCOPE_APPLICATION_PATTERN {pattern:?} {why}; {REMEDY}"));
        }
        assert_eq!(
            Config::load(
                &ServeArgs { config: Some("x.toml".into()), ..ServeArgs::default() },
                &Fake { text: Some("zk = \"a:1\"\napplication_pattern = \"\"\n"), ..Fake::default() }
            )
            .unwrap()
            .applications
            .pattern(),
            ""
        );
    }
}
