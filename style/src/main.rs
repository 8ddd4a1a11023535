//! Builds everything the browser gets into `target/site`: wasm and its JavaScript glue, the style sheet, the
//! files of `public/`, compressed twins of all of them, and a manifest of the names.
//!
//! `cargo run -p lockscope-style` builds for release, `cargo run -p lockscope-style -- --dev` quickly.
#![expect(clippy::print_stdout, reason = "a build step tells what it does")]

mod output;
mod page;
mod sheet;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

struct Places {
    workspace: PathBuf,
    target: PathBuf,
}

impl Places {
    fn find() -> Result<Self> {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .context("the style package lies in the workspace")?
            .to_owned();
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| workspace.join("target"), |folder| workspace.join(folder));
        Ok(Self { workspace, target })
    }
}

fn main() -> Result<()> {
    let profile = match std::env::args().nth(1).as_deref() {
        None => page::Profile::Release,
        Some("--dev") => page::Profile::Dev,
        Some(other) => bail!("unknown argument `{other}`: use --dev for a quick build, or nothing"),
    };
    let places = Places::find()?;
    let sheets = sheet::build(&places.workspace)?;
    let page = page::build(&places, profile)?;
    let mut site = output::Site::new(places.target.join("site"), profile == page::Profile::Dev)?;
    site.add_page(&page)?;
    site.add_hashed("app.css", sheets.page.as_bytes())?;
    site.add_hashed("server-pages.css", sheets.server_pages.as_bytes())?;
    site.add_folder(&places.workspace.join("public"))?;
    site.finish()
}
