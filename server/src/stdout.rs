//! What a command prints.

use std::io::Write as _;

/// Prints a text and ends its line. Whoever closed standard output does not want to read on, which is no error.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let _ = write!(out, "{text}{end}").and_then(|()| out.flush());
}
