//! Every command has its page, and the first screen has every command.

use super::*;

#[test]
fn clap_finds_no_fault() {
    command().debug_assert();
}

#[test]
fn every_command_has_its_page_and_every_example_is_understood() {
    let command = command();
    for one in command.get_subcommands() {
        let page = page(one.get_name()).unwrap_or_else(|| panic!("`{}` has no page; add it to PAGES", one.get_name()));
        assert!(!page.examples.is_empty(), "{}", page.command);
    }
    for page in PAGES {
        assert!(command.find_subcommand(page.command).is_some(), "`{}` is no command", page.command);
        for (typed, what) in page.examples {
            assert!(
                typed.starts_with(&format!("lockscope {}", page.command)) && what.ends_with('.'),
                "{typed}: {what}"
            );
            command.clone().try_get_matches_from(typed.split(' ')).unwrap_or_else(|error| panic!("{typed}: {error}"));
        }
    }
}

#[test]
fn exit_codes_are_told_once_and_in_order() {
    let codes: Vec<u8> = page("who").unwrap().exits().iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, [0, 1, 64, 66, 69, 70, 75, 77, 130]);
    assert_eq!(page("who").unwrap().exits()[0].1, "somebody holds it");
}

#[test]
fn the_first_screen_has_what_people_do_and_every_command_once() {
    let text = command().render_help().to_string();
    assert!(text.starts_with("A live lock observatory for Apache ZooKeeper\n\n"), "{text}");
    assert!(text.lines().count() <= 40, "one screen:\n{text}");
    for (what, typed) in FIRST {
        assert!(text.contains(what) && text.contains(typed), "{text}");
    }
    for one in command().get_subcommands() {
        let rows = text.lines().filter(|line| line.starts_with(&format!("  {} ", one.get_name()))).count();
        assert_eq!(rows, 1, "{}:\n{text}", one.get_name());
    }
}
