//! From when until when a certificate is valid, read off its DER (X.509, RFC 5280). Pure; reads nothing else of it.

/// Tags that occur on the way.
const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const VERSION: u8 = 0xa0;
const DAY_MS: i64 = 86_400_000;

/// Milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Validity {
    pub(super) from_ms: i64,
    pub(super) until_ms: i64,
}

/// The validity of a certificate; None when these bytes are none.
pub(super) fn validity(certificate: &[u8]) -> Option<Validity> {
    let (certificate, _) = expect(SEQUENCE, certificate)?;
    let (mut fields, _) = expect(SEQUENCE, certificate)?;
    if let Some((_, rest)) = expect(VERSION, fields) {
        fields = rest;
    }
    // Serial number, signature algorithm, issuer.
    for tag in [INTEGER, SEQUENCE, SEQUENCE] {
        (_, fields) = expect(tag, fields)?;
    }
    let (times, _) = expect(SEQUENCE, fields)?;
    let (from_ms, times) = time(times)?;
    let (until_ms, _) = time(times)?;
    Some(Validity { from_ms, until_ms })
}

/// An element with this tag: its content, and what follows it.
fn expect(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (found, content, rest) = element(bytes)?;
    (found == tag).then_some((content, rest))
}

fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, short], rest) = bytes.split_first_chunk::<2>()?;
    let (length, rest) = if short < 0x80 {
        (usize::from(short), rest)
    } else {
        // The length's own length follows; four bytes are more than any certificate needs.
        let (digits, rest) = rest.split_at_checked(usize::from(short & 0x7f)).filter(|(digits, _)| (1..=4).contains(&digits.len()))?;
        (digits.iter().try_fold(0_usize, |length, digit| length.checked_mul(256)?.checked_add(usize::from(*digit)))?, rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`, and what follows it.
fn time(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (tag, content, rest) = element(bytes)?;
    let digits = content.strip_suffix(b"Z")?;
    let mut pairs = digits.chunks(2).map(|pair| match pair {
        [ten @ b'0'..=b'9', one @ b'0'..=b'9'] => Some(i64::from(ten - b'0') * 10 + i64::from(one - b'0')),
        _ => None,
    });
    let mut next = || pairs.next().flatten();
    let year = match tag {
        UTC_TIME => next().map(|year| if year < 50 { 2_000 + year } else { 1_900 + year })?,
        GENERALIZED_TIME => next()? * 100 + next()?,
        _ => return None,
    };
    let (month, day, hour, minute, second) = (next()?, next()?, next()?, next()?, next()?);
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 61;
    (is_date && next().is_none()).then(|| {
        let seconds = hour * 3_600 + minute * 60 + second;
        (days(year, month, day) * DAY_MS + seconds * 1_000, rest)
    })
}

/// Days since the Unix epoch of a day of the Gregorian calendar, counted in years that begin in March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let (century, year_in) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    century * 146_097 + year_in * 365 + year_in / 4 - year_in / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let cases = [((1970, 1, 1), 0), ((2000, 2, 29), 11_016), ((2000, 3, 1), 11_017), ((2100, 3, 1), 47_541), ((1950, 1, 1), -7_305)];
        for ((year, month, day), expected) in cases {
            assert_eq!(days(year, month, day), expected, "{year}-{month}-{day}");
        }
    }

    #[test]
    fn real_certificates_are_read_and_broken_ones_are_not() {
        let key = KeyPair::generate().unwrap();
        for (from, until) in [((1999, 12, 31), (2049, 12, 31)), ((2024, 2, 29), (2050, 1, 1)), ((1960, 5, 6), (4096, 1, 1))] {
            let mut params = CertificateParams::new(vec!["a.example".to_owned(); 9]).unwrap();
            params.not_before = date_time_ymd(from.0, from.1, from.2);
            params.not_after = date_time_ymd(until.0, until.1, until.2);
            let der = params.self_signed(&key).unwrap().der().to_vec();
            let ms = |(year, month, day): (i32, u8, u8)| days(year.into(), month.into(), day.into()) * DAY_MS;
            assert_eq!(validity(&der), Some(Validity { from_ms: ms(from), until_ms: ms(until) }));
            let times_end_at = der.windows(2).rposition(|two| two == b"0Z").unwrap_or(der.len());
            for end in 0..times_end_at.min(der.len()) {
                // Cut short: the outer length no longer fits.
                assert_eq!(validity(&der[..end]), None);
            }
            for at in 0..der.len() {
                let mut flipped = der.clone();
                flipped[at] ^= 0xff;
                // Whatever it says, it ends.
                let _ = validity(&flipped);
            }
        }
    }
}
