//! Links that may come from hostile clients.

use reqwest::Url;

/// A link that is longer is left out, in bytes: a part of an address leads nowhere.
const LINK_BYTES_MAX: usize = 800;

/// An address that can stand in any target as it is: http or https, and what formats anywhere is percent-encoded.
pub(super) fn link(text: Option<&str>) -> Option<String> {
    let url = Url::parse(text.filter(|text| text.len() <= LINK_BYTES_MAX)?).ok()?;
    // A host may have more in it than names have: `*` and `)` too.
    let is_name = |host: &str| host.chars().all(|char| char.is_ascii_alphanumeric() || "-.:[]".contains(char));
    if !matches!(url.scheme(), "https" | "http") || !url.host_str().is_some_and(is_name) {
        return None;
    }
    let mut out = url.origin().ascii_serialization();
    // What has a user or a password in it does not begin so.
    for char in url.as_str().strip_prefix(&out)?.chars() {
        match char {
            '!' | '\'' | '(' | ')' | '*' | '<' | '>' | '@' | '[' | '\\' | ']' | '^' | '`' | '{' | '|' | '}' | '"' => {
                out.push_str(&format!("%{:02X}", u32::from(char)));
            }
            _ => out.push(char),
        }
    }
    (out.len() <= LINK_BYTES_MAX).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_addresses_of_pages() {
        assert_eq!(link(Some("https://a.example/x?y=(1)|*")).as_deref(), Some("https://a.example/x?y=%281%29%7C%2A"));
        for wrong in [
            "javascript:alert(1)",
            "https://ann:word@a.example/",
            "nothing",
            "data:text/html,x",
            "file:///x",
            "https://a)*b*/",
        ] {
            assert_eq!(link(Some(wrong)), None, "{wrong}");
        }
        assert_eq!(link(Some(&format!("https://a.example/{}", "x".repeat(LINK_BYTES_MAX)))), None);
        assert_eq!(link(Some("http://[::1]:9/[x]?y")).as_deref(), Some("http://[::1]:9/%5Bx%5D?y"));
        assert_eq!(link(None), None);
    }
}
