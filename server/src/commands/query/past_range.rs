//! Times of the past, from what was typed.

use crate::cli::PastRangeArgs;
use crate::config;
use crate::error::RunError;

/// What the API takes for a stretch of the past.
pub(super) fn pairs(args: &PastRangeArgs, now_ms: i64) -> Result<Vec<(&'static str, String)>, RunError> {
    let [from, to] = range(&args.from, args.to.as_deref(), now_ms)?;
    let (path, ensemble) = (args.path.clone().unwrap_or_default(), args.ensemble.clone().unwrap_or_default());
    Ok(vec![("path", path), ("ensemble", ensemble), ("from", from), ("to", to)])
}

/// Where a stretch begins and ends, in milliseconds since the epoch; an end that was not named is empty.
pub(super) fn range(from: &str, to: Option<&str>, now_ms: i64) -> Result<[String; 2], RunError> {
    Ok([at("--from", from, now_ms)?, to.map_or(Ok(String::new()), |to| at("--to", to, now_ms))?])
}

/// An instant in milliseconds since the epoch, from one, or from how long ago it was.
fn at(flag: &str, text: &str, now_ms: i64) -> Result<String, RunError> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(text.to_owned());
    }
    let Ok(ago) = config::lifetime(flag, text) else {
        return Err(RunError::wrong(format!(
            "{flag} {text:?} is no time; write how long ago, like 90m, 12h or 7d, or milliseconds since the epoch"
        )));
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
