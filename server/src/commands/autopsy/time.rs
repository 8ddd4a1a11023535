//! Instants on the command line: RFC 3339, or milliseconds since the epoch. Pure.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::config::ConfigError;

/// Reads one.
///
/// # Errors
/// It is neither.
pub(super) fn instant(flag: &str, text: &str) -> Result<i64, ConfigError> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let read = if is_number { text.parse().ok() } else { rfc_3339(text) };
    read.ok_or_else(|| {
        ConfigError(format!(
            "{flag} {text:?} is no time; write one like 2026-11-22T03:12:00Z, or milliseconds since the epoch"
        ))
    })
}

/// A space may stand for the `T`, as RFC 3339 lets applications choose. A time without a zone would be read otherwise
/// elsewhere, so there has to be one.
fn rfc_3339(text: &str) -> Option<i64> {
    let at = OffsetDateTime::parse(&text.replacen(' ', "T", 1), &Rfc3339).ok()?;
    i64::try_from(at.unix_timestamp_nanos().div_euclid(1_000_000)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_rfc_3339_or_a_number() {
        let ms = |text: &str| instant("--from", text).map_err(|error| error.to_string());
        assert_eq!(ms("1764041547412"), Ok(1_764_041_547_412));
        assert_eq!(ms("1970-01-01T00:00:00Z"), Ok(0));
        assert_eq!(ms("2025-11-25T03:32:27.412Z"), Ok(1_764_041_547_412));
        assert_eq!(ms("2025-11-25T04:32:27.4125+01:00"), Ok(1_764_041_547_412));
        assert_eq!(ms("2025-11-24 22:02:27.412-05:30"), Ok(1_764_041_547_412));
        assert_eq!(ms("2024-02-29T12:00:00z"), Ok(1_709_208_000_000));
        for wrong in [
            "",
            "yesterday",
            "-1",
            "2025-11-25",
            "2025-11-25T03:32:27",
            "2025-02-29T00:00:00Z",
            "2025-11-25T24:00:00Z",
            "2025-11-25T03:32:27.Z",
            "2025-1é-25T03:32:27Z",
        ] {
            assert!(ms(wrong).is_err_and(|why| why.contains("--from") && why.contains("like 2026-")), "{wrong}");
        }
    }
}
