//! Where the answer goes: is it a terminal, how wide, and are colours wanted there?

use std::io::IsTerminal as _;

use rustix::termios::tcgetwinsize;

use super::table::OutputStyle;
use crate::cli::ColorChoice;

/// Narrower than this is taken for a terminal that does not report its width.
const COLUMNS_MIN: usize = 20;

pub(in crate::commands) fn stdout_style(color: ColorChoice) -> OutputStyle {
    let out = std::io::stdout();
    let is_terminal = out.is_terminal();
    let columns = is_terminal
        .then(|| tcgetwinsize(&out).ok())
        .flatten()
        .map(|size| usize::from(size.ws_col))
        .filter(|columns| *columns >= COLUMNS_MIN);
    OutputStyle { columns, is_colored: is_colored(color, is_terminal, |name| std::env::var(name).ok()) }
}

pub(super) fn stderr_style(color: ColorChoice) -> OutputStyle {
    OutputStyle {
        columns: None,
        is_colored: is_colored(color, std::io::stderr().is_terminal(), |name| std::env::var(name).ok()),
    }
}

/// The flag, then NO_COLOR, then CLICOLOR_FORCE, then what stands there.
fn is_colored(color: ColorChoice, is_terminal: bool, var: impl Fn(&str) -> Option<String>) -> bool {
    let is_set = |name| var(name).is_some_and(|value| !value.is_empty());
    match color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if is_set("NO_COLOR") => false,
        ColorChoice::Auto if is_set("CLICOLOR_FORCE") && var("CLICOLOR_FORCE").as_deref() != Some("0") => true,
        ColorChoice::Auto => {
            is_terminal && var("TERM").as_deref() != Some("dumb") && var("CLICOLOR").as_deref() != Some("0")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flag, whether it is a terminal, what is set, and what comes of it.
    type Case = (ColorChoice, bool, &'static [(&'static str, &'static str)], bool);

    #[test]
    fn colours_come_where_people_expect_them() {
        let cases: [Case; 11] = [
            (ColorChoice::Auto, true, &[], true),
            (ColorChoice::Auto, false, &[], false),
            (ColorChoice::Auto, true, &[("NO_COLOR", "1")], false),
            (ColorChoice::Auto, true, &[("NO_COLOR", "")], true),
            (ColorChoice::Auto, true, &[("TERM", "dumb")], false),
            (ColorChoice::Auto, true, &[("CLICOLOR", "0")], false),
            (ColorChoice::Auto, false, &[("CLICOLOR_FORCE", "1")], true),
            (ColorChoice::Auto, false, &[("CLICOLOR_FORCE", "0")], false),
            (ColorChoice::Auto, false, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
            (ColorChoice::Always, false, &[("NO_COLOR", "1")], true),
            (ColorChoice::Never, true, &[("CLICOLOR_FORCE", "1")], false),
        ];
        for (color, is_terminal, vars, expected) in cases {
            let var = |name: &str| vars.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(is_colored(color, is_terminal, var), expected, "{color:?} {is_terminal} {vars:?}");
        }
    }
}
