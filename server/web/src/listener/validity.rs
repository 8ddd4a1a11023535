//! From when until when a certificate is valid.

use x509_parser::prelude::{FromDer as _, X509Certificate};

/// Milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Validity {
    pub(super) from_ms: i64,
    pub(super) until_ms: i64,
}

/// The validity of a certificate; None when these bytes are none.
pub(super) fn validity(certificate: &[u8]) -> Option<Validity> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    let validity = certificate.validity();
    Some(Validity {
        from_ms: validity.not_before.timestamp() * 1_000,
        until_ms: validity.not_after.timestamp() * 1_000,
    })
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    #[test]
    fn real_certificates_are_read_and_broken_ones_are_not() {
        let key = KeyPair::generate().unwrap();
        for (from, until) in
            [((1999, 12, 31), (2049, 12, 31)), ((2024, 2, 29), (2050, 1, 1)), ((1960, 5, 6), (4096, 1, 1))]
        {
            let mut params = CertificateParams::new(vec!["a.example".to_owned(); 9]).unwrap();
            params.not_before = date_time_ymd(from.0, from.1, from.2);
            params.not_after = date_time_ymd(until.0, until.1, until.2);
            let der = params.self_signed(&key).unwrap().der().to_vec();
            let ms = |(year, month, day)| date_time_ymd(year, month, day).unix_timestamp() * 1_000;
            assert_eq!(validity(&der), Some(Validity { from_ms: ms(from), until_ms: ms(until) }));
            for end in 0..der.len() {
                assert_eq!(validity(&der[..end]), None, "cut short at {end}");
            }
            for at in 0..der.len() {
                let mut flipped = der.clone();
                flipped[at] ^= 0xff;
                // No panic and no endless loop, whatever the result.
                let _ = validity(&flipped);
            }
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        let key = KeyPair::generate().unwrap();
        let cases = [
            ((1970, 1, 1), 0),
            ((2000, 2, 29), 11_016),
            ((2000, 3, 1), 11_017),
            ((2100, 3, 1), 47_541),
            ((1950, 1, 1), -7_305),
        ];
        for ((year, month, day), days) in cases {
            let mut params = CertificateParams::default();
            params.not_before = date_time_ymd(year, month, day);
            let der = params.self_signed(&key).unwrap().der().to_vec();
            assert_eq!(
                validity(&der).map(|validity| validity.from_ms),
                Some(days * 86_400_000),
                "{year}-{month}-{day}"
            );
        }
    }
}
