//! The page's wasm and its JavaScript glue: cargo, then the splitter and wasm-bindgen as libraries.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, anyhow, ensure};
use wasm_bindgen_cli_support::Bindgen;
use wasm_encoder::{RawSection, SectionId};
use wasm_split_cli_support::{Options, transform};
use wasmparser::Parser;

use crate::Places;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    Release,
    Dev,
}

/// By what name the glue imports the loader of the chunks, and the loader the glue.
pub(crate) const LOADER: &str = "./loader.js";
pub(crate) const GLUE: &str = "./app.js";

/// What the splitter and wasm-bindgen make.
pub(crate) struct Page {
    pub(crate) wasm: Vec<u8>,
    pub(crate) js: String,
    /// JavaScript that crates carry inline: the name it is imported by, and its text.
    pub(crate) snippets: Vec<(String, String)>,
    pub(crate) split: Split,
}

/// The code that is not in the first file (`page::split`).
pub(crate) struct Split {
    /// JavaScript that fetches chunks; it names them as they are named here.
    pub(crate) loader: String,
    /// Each without its ending.
    pub(crate) chunks: BTreeMap<String, Vec<u8>>,
    /// The chunks that each split point needs.
    pub(crate) needed: BTreeMap<String, Vec<String>>,
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
            "lockscope-page",
            "--lib",
            "--crate-type",
            "cdylib",
            "--target",
            "wasm32-unknown-unknown",
        ])
        .args(["--features", "hydrate", "--profile", name])
        // Where in the code what is referred to: the splitter follows it.
        .args(["--", "-Clink-args=--emit-relocs"])
        .status()
        .context("cargo could not be run")?;
    ensure!(status.success(), "the page did not compile (see above)");
    let input = places.target.join("wasm32-unknown-unknown").join(folder).join("lockscope_page.wasm");
    let (main, split) = split(&input, &places.target.join("split"))?;
    let mut bindgen = Bindgen::new();
    let release = profile == Profile::Release;
    bindgen.input_bytes("lockscope_page", main).web(true)?.typescript(false).omit_default_module_path(true);
    // Chunks share the table of functions, which is dropped otherwise.
    bindgen.keep_lld_exports(true);
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
    Ok(Page { js: output.js().to_owned(), snippets, wasm: output.wasm_mut().emit_wasm(), split })
}

/// The first file's code, without bindings, and the rest.
fn split(input: &Path, folder: &Path) -> Result<(Vec<u8>, Split)> {
    let whole = fs::read(input).with_context(|| format!("can't read {}", input.display()))?;
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let main = folder.join("main.wasm");
    let mut options = Options::new(&whole);
    options.output_dir = folder;
    options.main_out_path = &main;
    options.link_name = LOADER;
    options.main_module = GLUE;
    let made = transform(options).map_err(|error| anyhow!("the page could not be split: {error:#}"))?;
    let mut chunks = BTreeMap::new();
    for path in made.split_modules {
        let name = path.file_stem().and_then(|name| name.to_str()).context("a chunk's name in UTF-8")?;
        chunks.insert(name.to_owned(), without_names(&fs::read(&path)?)?);
    }
    let loader = fs::read_to_string(folder.join(LOADER))?;
    Ok((fs::read(&main)?, Split { loader, chunks, needed: made.prefetch_map.into_iter().collect() }))
}

/// A module without what is there for people and tools: names are two fifths of a chunk.
fn without_names(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut module = wasm_encoder::Module::new();
    for payload in Parser::new(0).parse_all(wasm) {
        if let Some((id, range)) = payload?.as_section().filter(|(id, _)| *id != SectionId::Custom as u8) {
            let range = usize::try_from(range.start)?..usize::try_from(range.end)?;
            let data = wasm.get(range).context("a section lies within its module")?;
            module.section(&RawSection { id, data });
        }
    }
    Ok(module.finish())
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{CodeSection, CustomSection, Function, FunctionSection, Module, TypeSection};

    use super::*;

    fn module(name: Option<&str>) -> Vec<u8> {
        let (mut types, mut functions, mut code) = (TypeSection::new(), FunctionSection::new(), CodeSection::new());
        types.ty().function([], []);
        functions.function(0);
        let mut body = Function::new([]);
        body.instructions().end();
        code.function(&body);
        let mut module = Module::new();
        module.section(&types).section(&functions).section(&code);
        if let Some(name) = name {
            module.section(&CustomSection { name: "name".into(), data: name.as_bytes().into() });
        }
        module.finish()
    }

    #[test]
    fn a_chunk_keeps_its_code_and_loses_its_names() {
        assert_eq!(without_names(&module(Some("who reads this"))).unwrap(), module(None));
        assert!(without_names(b"no module").is_err());
    }
}
