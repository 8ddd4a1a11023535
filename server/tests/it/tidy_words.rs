//! What the page says stands in tables, one an area: a second language is a second table and not a second page. A file
//! that draws has no words but the nodes and attributes of its views, which have neither arguments nor conditions.

use std::fs;

use crate::tidy::{report, under};

/// Classes of elements that read like words.
const CLASSES: [&str; 1] = ["mono nowrap"];

/// A literal of some code.
struct Literal<'a> {
    before: &'a str,
    text: &'a str,
    /// It is in a constant, as the heads of tables are.
    is_const: bool,
}

impl Literal<'_> {
    fn is_format(&self) -> bool {
        self.before.trim_end().ends_with("format!(")
    }

    /// It is a node or an attribute of a view.
    fn is_of_view(&self) -> bool {
        let before = self.before.trim_end();
        let is_behind_tag = before.ends_with('>') && !before.ends_with("=>");
        let is_behind_node = ["}", "\"", "view! {"].iter().any(|end| before.ends_with(end));
        is_behind_tag || is_behind_node || self.before.ends_with('=')
    }

    /// Two words side by side; in a format, a word beside an argument as well.
    fn is_prose(&self) -> bool {
        let text = if self.is_format() { without_names(self.text) } else { self.text.to_owned() };
        let parts: Vec<&str> = text.split_whitespace().map(|part| part.trim_end_matches(PUNCTUATION)).collect();
        let is_argument = |part: &str| self.is_format() && part == "{}";
        let mut pairs = parts.iter().zip(parts.iter().skip(1));
        pairs.any(|(one, next)| match (is_word(one), is_word(next)) {
            (true, true) => true,
            (true, false) => is_argument(next),
            (false, true) => is_argument(one),
            (false, false) => false,
        })
    }
}

const PUNCTUATION: [char; 7] = ['.', ',', ';', ':', '!', '?', '…'];

fn is_word(part: &str) -> bool {
    part.chars().count() > 1 && part.chars().all(|letter| letter.is_alphabetic() || "'’".contains(letter))
}

/// A format with `{}` for each argument.
fn without_names(format: &str) -> String {
    let mut out = String::new();
    let mut is_name = false;
    for letter in format.chars() {
        is_name &= letter != '}';
        if !is_name {
            out.push(letter);
        }
        is_name |= letter == '{';
    }
    out
}

/// All literals of some code. Only what the page's files have is understood: no raw strings.
fn literals(code: &str) -> Vec<Literal<'_>> {
    let mut found = Vec::new();
    let (mut at, mut depth) = (0, 0_i32);
    // How deep the constant stands that this is in.
    let mut in_const = None;
    while let Some(letter) = code[at..].chars().next() {
        let rest = &code[at..];
        let mut length = letter.len_utf8();
        match letter {
            '/' if rest.starts_with("//") => length = rest.find('\n').unwrap_or(rest.len()),
            '\'' if rest.starts_with("'\"'") => length = 3,
            '"' => {
                let end = end_of_literal(&rest[1..]);
                found.push(Literal { before: &code[..at], text: &rest[1..=end], is_const: in_const.is_some() });
                length = end + 2;
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ';' if in_const == Some(depth) => in_const = None,
            'c' if in_const.is_none() && rest.starts_with("const ") && !rest.starts_with("const fn") => {
                in_const = Some(depth);
            }
            _ => {}
        }
        at = (at + length).min(code.len());
    }
    found
}

/// Bytes of a literal before its closing mark.
fn end_of_literal(rest: &str) -> usize {
    let mut is_escaped = false;
    let end = rest.find(|letter| {
        let is_end = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        is_end
    });
    end.unwrap_or(rest.len().saturating_sub(1))
}

/// What a file says that it should have from a table.
fn prose(code: &str) -> Vec<&str> {
    // Attributes tell the compiler something, and tests may say what they like.
    let code = code.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let is_reason = |literal: &Literal<'_>| literal.before.ends_with("reason = ");
    let is_told = |literal: &Literal<'_>| {
        literal.is_prose() && !literal.is_const && !literal.is_of_view() && !CLASSES.contains(&literal.text)
    };
    literals(code).into_iter().filter(|found| is_told(found) && !is_reason(found)).map(|found| found.text).collect()
}

#[test]
fn a_planted_sentence_is_seen() {
    let planted = r#"
        //! "A comment says" what it likes.
        const COLUMNS: [(&str, &str); 1] = [("Held for", "table-number")];
        fn row(held: u32, is_old: bool) -> AnyView {
            let sum = format!("{held} held");
            let path = format!("M{x:.1} {y:.1}V{held}");
            let state = match is_old {
                true => "very old",
                false => if held > 0 { "not so old" } else { "new" },
            };
            view! {
                <p class="row wide" title="Who holds it">"Held by " <b>{sum}</b> " and others" {Some("a few words")}</p>
                {"never \"mind\""} <a href=format!("/lock?path={path}")>{format!("{} of {}", 1, 2)}</a>
            }
        }
        #[cfg(test)]
mod tests { fn of() { "two words"; } }
    "#;
    assert_eq!(prose(planted), ["{held} held", "very old", "not so old", "a few words", "{} of {}"]);
}

#[test]
fn files_that_draw_have_their_words_from_tables() {
    let mut broken = Vec::new();
    let mut drawing = 0;
    for path in under("app/page/src") {
        let code = fs::read_to_string(&path).unwrap();
        let is_table = path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("words.rs"));
        let draws = code.contains("view! {");
        if is_table && draws {
            broken.push(format!("{}: a table of words draws", path.display()));
        }
        if draws && !is_table {
            drawing += 1;
            broken.extend(prose(&code).iter().map(|text| format!("{}: {text:?} belongs in words.rs", path.display())));
        }
    }
    assert!(drawing > 40, "only {drawing} files draw");
    report(broken);
}
