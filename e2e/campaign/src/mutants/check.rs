//! A test that is run on the copy, and what cargo says of it.

use std::process::Command;

use super::copy::Copy;

const SMALL: &[&str] = &[
    "-p",
    "lockscope-core",
    "-p",
    "lockscope-zookeeper",
    "-p",
    "lockscope-audit",
    "-p",
    "lockscope-live",
    "-p",
    "lockscope-history",
    "-p",
    "lockscope-alerts",
    "-p",
    "lockscope-view",
];
const WHOLE: &[&str] = &["-p", "lockscope-web", "-p", "lockscope", "--features", "lockscope/oidc"];

/// Where a test is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    /// Among the unit tests of the small packages.
    Unit,
    /// Among the core's tests from outside.
    Core,
    /// Among the tests of the recording from outside.
    History,
    /// Among the tests of alerts.
    Rules,
    /// Among the unit tests of `web`.
    Web,
    /// Among the tests of the whole program, with a real ZooKeeper.
    Server,
}

impl Binary {
    /// Packages are named together, the small ones apart from the whole program: with others, the crates that they
    /// depend on might be compiled once more.
    fn args(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::Unit => (SMALL, &["--lib"]),
            Self::Core => (SMALL, &["--test", "core"]),
            Self::History => (SMALL, &["--test", "it"]),
            Self::Rules => (SMALL, &["--test", "rules"]),
            Self::Web => (WHOLE, &["--lib"]),
            Self::Server => (WHOLE, &["--test", "it"]),
        }
    }
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
        let (packages, target) = self.binary.args();
        let mut cargo = Command::new("cargo");
        cargo.args(["test", "--locked", "--no-fail-fast"]).args(packages).args(target);
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
