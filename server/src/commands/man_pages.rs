//! What the program says about itself: completions for shells and the manual, made of the very commands that are
//! parsed.

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::cli::{self, CompletionShell, HelpPage};
use crate::config::ConfigError;
use crate::error::RunError;
use crate::stdout;

/// Prints completions.
///
/// # Errors
/// None that somebody waits for: a closed standard output is nobody listening.
pub(super) fn completions(shell: CompletionShell) -> Result<(), RunError> {
    let shell = match shell {
        CompletionShell::Bash => clap_complete::Shell::Bash,
        CompletionShell::Zsh => clap_complete::Shell::Zsh,
        CompletionShell::Fish => clap_complete::Shell::Fish,
    };
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), "lockscope", &mut text);
    stdout::print(&String::from_utf8_lossy(&text));
    Ok(())
}

/// Prints the manual of a command, given as its words; of the whole without any.
///
/// # Errors
/// When there is no such command.
pub(super) fn man(words: &[String]) -> Result<(), RunError> {
    let mut whole = cli::command();
    whole.build();
    let mut found = &whole;
    for word in words {
        let next = found.find_subcommand(word);
        found = next.ok_or_else(|| {
            let known: Vec<&str> =
                found.get_subcommands().map(Command::get_name).filter(|name| *name != "help").collect();
            let remedy =
                if known.is_empty() { "it has none".to_owned() } else { format!("use one of {}", known.join(", ")) };
            ConfigError(format!("`{}` has no command {word:?}; {remedy}", found.get_bin_name().unwrap_or("lockscope")))
        })?;
    }
    let text =
        roff(found, words).map_err(|error| RunError::Internal(format!("the man page can't be written: {error}")))?;
    stdout::print(&plain(&String::from_utf8_lossy(&text)));
    Ok(())
}

/// In the characters that every formatter reads; others by their number.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_ascii() {
            out.push(char);
        } else {
            out.push_str(&format!("\\[u{:04X}]", u32::from(char)));
        }
    }
    out
}

/// A page: clap's own parts, and ours where clap has none.
fn roff(command: &Command, words: &[String]) -> std::io::Result<Vec<u8>> {
    let name = command.get_bin_name().unwrap_or("lockscope").replace(' ', "-");
    let page = Man::new(command.clone()).title(name.to_uppercase()).section("1").manual("Lockscope");
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if command.get_subcommands().next().is_some() {
        page.render_subcommands_section(&mut text)?;
    }
    match words.first() {
        Some(first) => cli::page(first).map_or(Ok(()), |more| rest(more).to_writer(&mut text))?,
        None => every(&mut text)?,
    }
    Ok(text)
}

/// Examples of every command, for the page of the whole.
fn every(text: &mut Vec<u8>) -> std::io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", ["EXAMPLES"]);
    cli::PAGES.iter().for_each(|page| examples(page, &mut roff));
    roff.to_writer(text)
}

fn examples(page: &HelpPage, roff: &mut Roff) {
    for (typed, what) in page.examples {
        roff.control("TP", []).text([bold(*typed)]).text([roman(*what)]);
    }
}

/// Examples, exit codes and environment of a command.
fn rest(page: &HelpPage) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXAMPLES"]);
    examples(page, &mut roff);
    roff.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in page.exits() {
        roff.control("TP", []).text([bold(code.to_string())]).text([roman(meaning)]);
    }
    if !page.environment().is_empty() {
        roff.control("SH", ["ENVIRONMENT"]);
        for (name, meaning) in page.environment() {
            roff.control("TP", []).text([bold(*name)]).text([roman(*meaning)]);
        }
    }
    roff
}
