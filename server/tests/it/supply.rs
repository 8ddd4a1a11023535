//! What the project is built from: crates of the public registry only, each with a checksum, under licences that
//! `deny.toml` allows. The part of `make supply` that needs no tool and no network.

use std::path::Path;
use std::process::Command;

use spdx::{Expression, Licensee};

use crate::walls;

/// The lock file's own words for a crate of the registry.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)).unwrap()
}

#[test]
fn every_crate_is_of_the_registry_and_has_a_checksum() {
    let lock: toml::Table = read("Cargo.lock").parse().unwrap();
    let packages = lock["package"].as_array().unwrap();
    assert!(packages.len() > 100);
    let is_ours = |package: &toml::Value| {
        package.get("source").is_none()
            && package["name"]
                .as_str()
                .is_some_and(|name| walls::OURS.iter().any(|(ours, _)| *ours == walls::short(name)))
    };
    assert_eq!(packages.iter().filter(|package| is_ours(package)).count(), walls::OURS.len());
    for package in packages.iter().filter(|package| !is_ours(package)) {
        assert_eq!(package.get("source").and_then(toml::Value::as_str), Some(REGISTRY), "{package:?}");
        assert!(package.get("checksum").is_some(), "{package:?}");
    }
}

#[test]
fn every_licence_is_an_allowed_one() {
    let deny: toml::Table = read("deny.toml").parse().unwrap();
    let allowed = deny["licenses"]["allow"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| Licensee::parse(name.as_str().unwrap()).unwrap());
    let allowed: Vec<Licensee> = allowed.collect();
    // As it is built here: no network, and no crates of other systems.
    let asked = [
        "metadata",
        "--format-version",
        "1",
        "--offline",
        "--locked",
        "--filter-platform",
        "x86_64-unknown-linux-gnu",
        "--manifest-path",
    ];
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let told = Command::new(env!("CARGO")).args(asked).arg(manifest).output().unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    let mut refused = Vec::new();
    for package in told["packages"].as_array().unwrap() {
        let licence = package["license"].as_str().unwrap_or_default();
        // Before SPDX had an OR, crates wrote a slash.
        let fits = Expression::parse_mode(licence, spdx::ParseMode::LAX).is_ok_and(|expression| {
            expression.evaluate(|needed| allowed.iter().any(|licensee| licensee.satisfies(needed)))
        });
        if !fits {
            refused.push(format!("{} {}: {licence:?}", package["name"], package["version"]));
        }
    }
    assert!(refused.is_empty(), "licences that deny.toml does not allow: {refused:#?}");
}
