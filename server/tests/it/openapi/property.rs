//! A tester that makes requests of all kinds out of the document, good and bad ones, and holds the answers against it.

use super::plant::{Plant, python, repository};

/// The same requests every time.
const SEED: &str = "7";
/// Requests of one kind for one operation.
const EXAMPLES_MAX: &str = "10";

pub(super) async fn nothing_is_found(plant: &Plant, operations: usize) {
    let config = repository().join("server/tests/it/openapi/schemathesis.toml");
    let config = config.display().to_string();
    let (document, authorization) =
        (format!("{}/api/v1/openapi.json", plant.address), format!("Authorization: Bearer {}", plant.token));
    let args = [
        "-m",
        "schemathesis.cli",
        "--config-file",
        &config,
        "run",
        &document,
        "--header",
        &authorization,
        "--seed",
        SEED,
    ];
    let told = python(&[&args[..], &["--max-examples", EXAMPLES_MAX, "--no-color"]].concat(), "").await;
    // It ends well when nothing is found; that it looked at everything, but for where it has the document from, is in
    // what it tells.
    assert!(told.contains(&format!("Tested: {}\n", operations - 1)), "{told}");
}
