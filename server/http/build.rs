//! Sets where the built page lies for the compiler, so that it can be embedded, and sees to it that the folder
//! exists: without a page the server still compiles, and says at run time what is missing.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-env-changed=CARGO_TARGET_DIR");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map_or_else(PathBuf::new, Path::to_owned);
    let target =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), |folder| workspace.join(folder));
    let site = target.join("site");
    if let Err(error) = fs::create_dir_all(&site) {
        println!("cargo:warning=can't make {}: {error}", site.display());
    }
    println!("cargo:rustc-env=LOCKSCOPE_SITE={}", site.display());
    // The embedding macro misses files that are purely new.
    println!("cargo:rerun-if-changed={}", site.display());
}
