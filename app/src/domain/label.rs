//! Who a contender says it is, from its payload. Never trusted, always shown as text.

/// Characters of a label that are shown.
const LABEL_CHARS_MAX: usize = 80;

/// The payload as one line of text, when it is one.
pub fn label(payload: &[u8]) -> Option<String> {
    let text = match std::str::from_utf8(payload) {
        Ok(text) => text,
        // Only the kept bytes are here: the last character may be cut in the middle.
        Err(error) if error.error_len().is_none() => std::str::from_utf8(payload.get(..error.valid_up_to())?).ok()?,
        Err(_) => return None,
    };
    let text = text.trim();
    let printable = !text.is_empty() && !text.chars().any(|char| char.is_control() && !char.is_whitespace());
    printable.then(|| text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LABEL_CHARS_MAX).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_is_a_label() {
        assert_eq!(label(b"worker-3@app-2").as_deref(), Some("worker-3@app-2"));
        assert_eq!(label(b" a\n b ").as_deref(), Some("a b"));
        assert_eq!(label(b""), None);
        assert_eq!(label(&[0x12, 0x34]), None);
        assert_eq!(label(&[0xff, 0xfe]), None);
        assert_eq!(label("主机é".as_bytes().split_last().unwrap().1).as_deref(), Some("主机"));
    }
}
