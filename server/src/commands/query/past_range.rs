//! Times of the past, from what was typed.

use crate::cli::PastRangeArgs;
use crate::config::{self, ConfigError};
use crate::error::RunError;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Range {
    path: String,
    ensemble: String,
    from: String,
    to: String,
}

impl Range {
    pub(super) fn of(args: &PastRangeArgs, now_ms: i64) -> Result<Self, RunError> {
        let to = args.to.as_deref().map(|to| at("--to", to, now_ms)).transpose()?;
        Ok(Self {
            path: args.path.clone().unwrap_or_default(),
            ensemble: args.ensemble.clone().unwrap_or_default(),
            from: at("--from", &args.from, now_ms)?,
            to: to.unwrap_or_default(),
        })
    }

    pub(super) fn pairs(&self) -> [(&'static str, &str); 4] {
        [("path", &self.path), ("ensemble", &self.ensemble), ("from", &self.from), ("to", &self.to)]
    }
}

/// An instant in milliseconds since the epoch, from one, or from how long ago it was.
pub(super) fn at(flag: &str, text: &str, now_ms: i64) -> Result<String, RunError> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(text.to_owned());
    }
    let Ok(ago) = config::lifetime(flag, text) else {
        return Err(ConfigError(format!(
            "{flag} {text:?} is no time; write how long ago, like 90m, 12h or 7d, or milliseconds since the epoch"
        ))
        .into());
    };
    let ago_ms = i64::try_from(ago.as_millis()).unwrap_or(i64::MAX);
    Ok(now_ms.saturating_sub(ago_ms).max(0).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_an_instant_or_how_long_ago() {
        let ms = |text: &str| at("--from", text, 10_000_000).map_err(|error| error.to_string());
        assert_eq!(ms("90m").as_deref(), Ok("4600000"));
        assert_eq!(ms("7d").as_deref(), Ok("0"), "not before the epoch");
        assert_eq!(ms("1764041547412").as_deref(), Ok("1764041547412"));
        for wrong in ["", "yesterday", "-1", "5 minutes"] {
            assert!(ms(wrong).is_err_and(|why| why.contains("--from") && why.contains("like 90m")), "{wrong}");
        }
    }
}
