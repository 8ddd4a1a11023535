//! Sets where the built page lies for the compiler, so that it can be embedded, and sees to it that the folder
//! exists: without a page the server still compiles, and says at run time what is missing.
//!
//! What is embedded has each file once, in its smallest form: plain, gzip and brotli together would be 3 MB more. Builds with
//! debug assertions read the folder that the page was built into.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() {
    println!("cargo:rerun-if-env-changed=CARGO_TARGET_DIR");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map_or_else(PathBuf::new, Path::to_owned);
    let target =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), |folder| workspace.join(folder));
    let site = target.join("site");
    if let Err(error) = fs::create_dir_all(&site) {
        println!("cargo:warning=can't make {}: {error}", site.display());
    }
    // The embedding macro misses files that are purely new.
    println!("cargo:rerun-if-changed={}", site.display());
    let is_embedded = env::var_os("CARGO_CFG_DEBUG_ASSERTIONS").is_none();
    let packed = env::var_os("OUT_DIR").filter(|_| is_embedded).map(|folder| Path::new(&folder).join("site"));
    let used = match packed.map(|packed| pack(&site, &packed).map(|()| packed)) {
        Some(Ok(packed)) => packed,
        Some(Err(error)) => {
            println!("cargo:warning=the page is embedded in all its forms: {error}");
            site
        }
        None => site,
    };
    println!("cargo:rustc-env=LOCKSCOPE_SITE={}", used.display());
}

/// Copies what a brotli twin does not stand for: the twins, and files that have none.
fn pack(site: &Path, packed: &Path) -> io::Result<()> {
    if packed.exists() {
        fs::remove_dir_all(packed)?;
    }
    fs::create_dir_all(packed)?;
    for entry in fs::read_dir(site)? {
        let path = entry?.path();
        let (Some(name), extension) = (path.file_name(), path.extension().and_then(OsStr::to_str)) else { continue };
        let twin = |suffix: &str| path.with_file_name(format!("{}.{suffix}", name.display())).exists();
        let is_wanted = extension == Some("br") || (extension != Some("gz") && !twin("br"));
        if is_wanted {
            fs::copy(&path, packed.join(name))?;
        }
    }
    Ok(())
}
