//! A test that is run on the copy, and what cargo says of it.

use std::process::Command;

use super::copy::Copy;

/// All packages that any check is of: with others, the crates that they depend on might be compiled once more.
const PACKAGES: [&str; 6] = ["-p", "core", "-p", "zookeeper", "-p", "audit"];

/// Where a test is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    /// Among the unit tests of the packages.
    Unit,
    /// Among the core's tests from outside.
    Core,
}

/// Tests by a part of their names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Check {
    pub(super) binary: Binary,
    pub(super) filter: &'static str,
}

/// What the tests said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// So many passed.
    Green(usize),
    /// These failed.
    Red(Vec<String>),
}

impl Check {
    /// # Errors
    /// When nothing was tested: it does not compile, or cargo can't be run.
    pub(super) fn run(&self, copy: &Copy) -> Result<Found, String> {
        let target: &[&str] = match self.binary {
            Binary::Unit => &["--lib"],
            Binary::Core => &["--test", "core"],
        };
        let mut cargo = Command::new("cargo");
        cargo.args(["test", "--locked", "--no-fail-fast"]).args(PACKAGES).args(target);
        cargo.args(["--", self.filter]);
        cargo.current_dir(copy.sources()).env("CARGO_TARGET_DIR", copy.target()).env("CARGO_INCREMENTAL", "0");
        let output = cargo.output().map_err(|error| format!("cargo can't be run: {error}"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        read(&said, output.status.success())
            .ok_or_else(|| format!("nothing was tested:\n{}", String::from_utf8_lossy(&output.stderr)))
    }
}

/// None when tests were not run to their end.
fn read(said: &str, is_good: bool) -> Option<Found> {
    let with = |word: &'static str| {
        said.lines().filter_map(move |line| line.strip_prefix("test ")?.strip_suffix(word)).map(str::to_owned)
    };
    let failed: Vec<String> = with(" ... FAILED").collect();
    match (is_good, failed.is_empty()) {
        (true, true) => Some(Found::Green(with(" ... ok").count())),
        (false, false) => Some(Found::Red(failed)),
        (true, false) | (false, true) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_test_that_failed_is_red() {
        let said = "\nrunning 2 tests\ntest a::b ... ok\ntest a::c ... FAILED\n\ntest result: FAILED. 1 passed\n";
        assert_eq!(read(said, false), Some(Found::Red(vec!["a::c".to_owned()])));
        assert_eq!(read("test a::b ... ok\ntest result: ok. 1 passed\n", true), Some(Found::Green(1)));
        assert_eq!(read("running 0 tests\n", true), Some(Found::Green(0)));
        assert_eq!(read("", false), None, "it does not compile");
    }
}
