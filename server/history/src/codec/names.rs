//! Names of znodes taken apart: most are some text, a uuid, more text and a sequence number. The uuid is 16 bytes then,
//! and the number the difference to the one before it in its directory.

/// Digits that ZooKeeper prints of a sequence number.
const SEQUENCE_DIGITS: usize = 10;
pub(super) const SEQUENCE_MAX: i64 = 9_999_999_999;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Uuid {
    Absent,
    /// 32 hexadecimal digits.
    Plain,
    Dashed,
}

/// What names of one kind have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Form {
    pub(crate) uuid: Uuid,
    pub(crate) is_numbered: bool,
    /// Before the uuid, or all of the text where there is none.
    pub(crate) prefix: Box<str>,
    /// Between uuid and number.
    pub(crate) middle: Box<str>,
}

/// What is its own in a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Own {
    pub(crate) uuid: [u8; 16],
    pub(crate) number: i64,
}

/// Takes a name apart; None when it has neither uuid nor number.
pub(crate) fn take_apart(name: &str) -> Option<(Form, Own)> {
    let (text, number) = match numbered(name) {
        Some((text, number)) => (text, Some(number)),
        None => (name, None),
    };
    let found = find_uuid(text);
    if number.is_none() && found.is_none() {
        return None;
    }
    let (uuid, bytes, prefix, middle) = match found {
        Some((uuid, bytes, at)) => (uuid, bytes, text.get(..at)?, text.get(at + written_len(uuid)..)?),
        None => (Uuid::Absent, [0; 16], text, ""),
    };
    let form = Form { uuid, is_numbered: number.is_some(), prefix: prefix.into(), middle: middle.into() };
    Some((form, Own { uuid: bytes, number: number.unwrap_or(0) }))
}

pub(super) fn put_together(form: &Form, own: Own) -> String {
    let len = form.prefix.len() + written_len(form.uuid) + form.middle.len() + SEQUENCE_DIGITS;
    let mut name = String::with_capacity(len);
    name.push_str(&form.prefix);
    if form.uuid != Uuid::Absent {
        for (at, byte) in own.uuid.into_iter().enumerate() {
            if form.uuid == Uuid::Dashed && matches!(at, 4 | 6 | 8 | 10) {
                name.push('-');
            }
            name.push(digit(byte >> 4));
            name.push(digit(byte & 15));
        }
    }
    name.push_str(&form.middle);
    if form.is_numbered {
        let mut left = own.number.unsigned_abs();
        let mut digits = [b'0'; SEQUENCE_DIGITS];
        for place in digits.iter_mut().rev() {
            *place = b'0' + (left % 10).to_le_bytes()[0];
            left /= 10;
        }
        name.extend(digits.map(char::from));
    }
    name
}

fn digit(value: u8) -> char {
    char::from(if value < 10 { b'0' + value } else { b'a' + value - 10 })
}

fn written_len(uuid: Uuid) -> usize {
    match uuid {
        Uuid::Absent => 0,
        Uuid::Plain => 32,
        Uuid::Dashed => 36,
    }
}

/// Text and number of a name that ends in ten digits.
fn numbered(name: &str) -> Option<(&str, i64)> {
    let at = name.len().checked_sub(SEQUENCE_DIGITS)?;
    let digits = name.as_bytes().get(at..)?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
    // Only ASCII digits lie behind the cut, so it is a character boundary.
    Some((name.get(..at)?, number))
}

/// The first uuid in a text: how it is written, its bytes, and where it begins.
fn find_uuid(text: &str) -> Option<(Uuid, [u8; 16], usize)> {
    let bytes = text.as_bytes();
    let last = bytes.len().checked_sub(written_len(Uuid::Plain))?;
    let mut at = 0;
    while at <= last {
        let rest = bytes.get(at..)?;
        if let Some(uuid) = dashed(rest) {
            return Some((Uuid::Dashed, uuid, at));
        }
        match plain(rest) {
            Ok(uuid) => return Some((Uuid::Plain, uuid, at)),
            // None can begin before what is no digit.
            Err(skip) => at += skip + 1,
        }
    }
    None
}

/// 32 digits, or the place of the first that is none.
fn plain(text: &[u8]) -> Result<[u8; 16], usize> {
    let mut uuid = [0; 16];
    for (at, value) in uuid.iter_mut().enumerate() {
        let high = text.get(2 * at).copied().and_then(hex).ok_or(2 * at)?;
        let low = text.get(2 * at + 1).copied().and_then(hex).ok_or(2 * at + 1)?;
        *value = high << 4 | low;
    }
    Ok(uuid)
}

fn dashed(text: &[u8]) -> Option<[u8; 16]> {
    let text = text.get(..36)?;
    let mut digits = [0; 32];
    let mut filled = digits.iter_mut();
    for (at, byte) in text.iter().enumerate() {
        match (at, byte) {
            (8 | 13 | 18 | 23, b'-') => {}
            (8 | 13 | 18 | 23, _) | (_, b'-') => return None,
            _ => *filled.next()? = *byte,
        }
    }
    plain(&digits).ok()
}

/// Only small letters: what is written otherwise stays text.
fn hex(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(name: &str, uuid: Uuid, prefix: &str, middle: &str, number: Option<i64>) {
        let (form, own) = take_apart(name).unwrap();
        assert_eq!((form.uuid, &*form.prefix, &*form.middle), (uuid, prefix, middle), "{name}");
        assert_eq!(form.is_numbered.then_some(own.number), number, "{name}");
        assert_eq!(put_together(&form, own), name);
    }

    #[test]
    fn names_of_known_libraries() {
        check("6f1e2d3c00004a4a8b8b0123456789ab__lock__0000000003", Uuid::Plain, "", "__lock__", Some(3));
        check("_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-lock-0000000012", Uuid::Dashed, "_c_", "-lock-", Some(12));
        check("lock-0000000007", Uuid::Absent, "lock-", "", Some(7));
        check("6f1e2d3c00004a4a8b8b0123456789ab", Uuid::Plain, "", "", None);
        check("é-9999999999", Uuid::Absent, "é-", "", Some(SEQUENCE_MAX));
        assert_eq!(take_apart("config.xml"), None);
        assert_eq!(take_apart("6F1E2D3C00004A4A8B8B0123456789AB"), None);
    }

    proptest! {
        #[test]
        fn any_name_comes_back(name in "([a-c0-9é-]{0,6}([0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?[_a-f-]{0,4}[0-9]{0,12})|.{0,60}") {
            if let Some((form, own)) = take_apart(&name) {
                prop_assert_eq!(put_together(&form, own), name);
            }
        }
    }
}
