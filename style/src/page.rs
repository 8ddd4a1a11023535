//! The page's wasm and its JavaScript glue: cargo, then wasm-bindgen as a library.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use wasm_bindgen_cli_support::Bindgen;

use crate::Places;

/// How to build.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Small and slow to build.
    Release,
    /// Large and quick to build.
    Dev,
}

/// What wasm-bindgen makes.
pub(crate) struct Page {
    pub(crate) wasm: Vec<u8>,
    pub(crate) js: String,
    /// JavaScript that crates carry inline: the name it is imported by, and its text.
    pub(crate) snippets: Vec<(String, String)>,
}

pub(crate) fn build(places: &Places, profile: Profile) -> Result<Page> {
    let (name, folder) = match profile {
        Profile::Release => ("wasm-release", "wasm-release"),
        Profile::Dev => ("dev", "debug"),
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .current_dir(&places.workspace)
        // Only here is it a cdylib: as one, it is compiled anew whenever the features change.
        .args([
            "rustc",
            "--locked",
            "-p",
            "page",
            "--lib",
            "--crate-type",
            "cdylib",
            "--target",
            "wasm32-unknown-unknown",
        ])
        .args(["--features", "hydrate", "--profile", name])
        .status()
        .context("cargo could not be run")?;
    ensure!(status.success(), "the page did not compile (see above)");
    let input = places.target.join("wasm32-unknown-unknown").join(folder).join("lockscope_page.wasm");
    let mut bindgen = Bindgen::new();
    let release = profile == Profile::Release;
    bindgen.input_path(&input).web(true)?.typescript(false).omit_default_module_path(true);
    bindgen.remove_name_section(release).remove_producers_section(release).keep_debug(!release);
    let mut output = bindgen.generate_output().with_context(|| format!("no bindings for {}", input.display()))?;
    ensure!(
        output.local_modules().is_empty(),
        "the page pulls in JavaScript modules of a crate, which this build step does not place"
    );
    let inline = |(crate_id, texts): (&String, &Vec<String>)| {
        let import = |(at, text): (usize, &String)| (format!("./snippets/{crate_id}/inline{at}.js"), text.clone());
        texts.iter().enumerate().map(import).collect::<Vec<_>>()
    };
    let snippets = output.snippets().iter().flat_map(inline).collect();
    Ok(Page { js: output.js().to_owned(), snippets, wasm: output.wasm_mut().emit_wasm() })
}
