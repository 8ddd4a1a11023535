//! The guard of the tests: takes out what Lockscope's promise rests on, one thing at a time and in a copy of the sources,
//! and runs a test that must fail then. Knows of the sources the few lines that it replaces, and of each a test by name.
//! `docs/campaign.md` has the last table.

mod check;
mod copy;
mod mutation;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use self::check::{Check, Found};
use self::copy::Copy;
pub use self::mutation::Mutation;

/// How a thing is taken out, and who must notice.
struct Patch {
    name: &'static str,
    /// In a sentence, for the table.
    taken_out: &'static str,
    file: &'static str,
    /// Occurs once in the file.
    text: &'static str,
    replacement: &'static str,
    check: Check,
}

/// What came of one mutation.
#[derive(Clone, Debug)]
pub struct MutationResult {
    name: &'static str,
    taken_out: &'static str,
    result: Result<Vec<String>, String>,
    took: Duration,
}

impl Patch {
    /// The file without the thing; where the sources have moved on, what to bring up to date.
    fn apply(&self, sources: &Path) -> Result<String, String> {
        let before = fs::read_to_string(sources.join(self.file)).map_err(|error| format!("{}: {error}", self.file))?;
        match before.matches(self.text).count() {
            1 => Ok(before.replacen(self.text, self.replacement, 1)),
            count => Err(format!("out of date: {} has this {count} times, and not once: {}", self.file, self.text)),
        }
    }

    /// The tests that turned red.
    fn notice(&self, copy: &Copy) -> Result<Vec<String>, String> {
        let mutated = self.apply(&copy.sources())?;
        let kept = copy.change(self.file, &mutated)?;
        let found = self.check.run(copy);
        copy.change(self.file, &kept)?;
        match found? {
            Found::Red(tests) => Ok(tests),
            Found::Green(_) => Err(format!("survived: {} stays green", self.check.filter)),
        }
    }
}

impl MutationResult {
    pub fn is_red(&self) -> bool {
        self.result.is_ok()
    }
}

/// The root of these sources.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map_or_else(PathBuf::new, Path::to_owned)
}

/// The mutations of these names, in their order; all of them where none is named.
fn named(names: &[String]) -> Result<Vec<Patch>, String> {
    let all = || Mutation::ALL.into_iter().map(Mutation::patch);
    if let Some(name) = names.iter().find(|name| !all().any(|patch| patch.name == **name)) {
        let known: Vec<&str> = all().map(|patch| patch.name).collect();
        return Err(format!("no mutation is called {name}; there are {}", known.join(", ")));
    }
    Ok(all().filter(|patch| names.is_empty() || names.iter().any(|name| *name == patch.name)).collect())
}

/// Runs each check on sources as they are, and then each mutation. `told` hears of each as it ends.
///
/// # Errors
/// When the guard itself can't be run: no mutation has that name, the sources can't be copied, or a check is not green
/// without a mutation.
pub fn run(names: &[String], mut told: impl FnMut(&str)) -> Result<Vec<MutationResult>, String> {
    let patches = named(names)?;
    let copy = Copy::of(&root())?;
    for patch in &patches {
        match patch.check.run(&copy)? {
            Found::Green(0) => return Err(format!("out of date: no test has {} in its name", patch.check.filter)),
            Found::Green(tests) => told(&format!("{:<12} {tests} green as it is", patch.name)),
            Found::Red(tests) => return Err(format!("red without any mutation: {}", tests.join(", "))),
        }
    }
    let rows = patches.iter().map(|patch| {
        let begin = Instant::now();
        let result = patch.notice(&copy);
        let row = MutationResult { name: patch.name, taken_out: patch.taken_out, result, took: begin.elapsed() };
        told(&format!("{:<12} {}", row.name, if row.is_red() { "red" } else { "NOT RED" }));
        row
    });
    Ok(rows.collect())
}

/// The table.
pub fn markdown(rows: &[MutationResult]) -> String {
    let mut table = "| mutation | taken out | what turned red | s |\n|---|---|---|---|\n".to_owned();
    for row in rows {
        let red = match &row.result {
            Ok(tests) => tests.iter().map(|test| format!("`{test}`")).collect::<Vec<_>>().join(", "),
            Err(why) => format!("**nothing**: {why}"),
        };
        table.push_str(&format!("| {} | {} | {red} | {} |\n", row.name, row.taken_out, row.took.as_secs()));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_that_is_replaced_occurs_once_in_the_sources() {
        for mutation in Mutation::ALL {
            let patch = mutation.patch();
            let mutated = patch.apply(&root()).unwrap();
            assert_ne!(mutated, fs::read_to_string(root().join(patch.file)).unwrap(), "{} changes nothing", patch.name);
        }
    }

    #[test]
    fn a_text_that_is_not_there_is_named_with_its_file() {
        let patch = Patch { text: "no such line", ..Mutation::Canary.patch() };
        let why = patch.apply(&root()).unwrap_err();
        assert!(why.contains("no such line") && why.contains(patch.file) && why.contains("0 times"), "{why}");
    }

    #[test]
    fn mutations_are_chosen_by_name() {
        let names = |of: &[&str]| {
            let of: Vec<String> = of.iter().map(|name| (*name).to_owned()).collect();
            named(&of).map(|patches| patches.iter().map(|patch| patch.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["canary", "relist"]), Ok(vec!["relist", "canary"]));
        assert_eq!(names(&[]).unwrap().len(), Mutation::ALL.len());
        assert!(names(&["nothing"]).unwrap_err().contains("canary"));
    }

    #[test]
    fn a_mutation_that_survives_stands_in_the_table() {
        let row = |result| MutationResult { name: "n", taken_out: "t", result, took: Duration::from_secs(3) };
        let rows = [row(Ok(vec!["a::b".to_owned()])), row(Err("survived".to_owned()))];
        assert!(markdown(&rows).ends_with("| n | t | `a::b` | 3 |\n| n | t | **nothing**: survived | 3 |\n"));
    }
}
