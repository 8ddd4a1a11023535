//! The site's folder: hashed names, compressed twins, manifest. Written next to the old one and swapped in.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};

use crate::page::{GLUE, LOADER, Page};

/// Hex digits of the content's hash in a file's name.
const HASH_DIGITS: usize = 16;
/// Brotli: highest quality for a release (minutes for an unoptimised wasm, so a quick build takes the lowest), largest
/// window.
const BROTLI_QUALITY: u32 = 11;
const BROTLI_QUALITY_QUICK: u32 = 1;
const BROTLI_WINDOW: u32 = 22;

pub(crate) struct Site {
    folder: PathBuf,
    fresh: PathBuf,
    manifest: BTreeMap<String, String>,
    /// The chunks of each part of the page that is not in its first file.
    chunks: BTreeMap<String, Vec<String>>,
    brotli_quality: u32,
}

impl Site {
    pub(crate) fn new(folder: PathBuf, is_quick: bool) -> Result<Self> {
        let brotli_quality = if is_quick { BROTLI_QUALITY_QUICK } else { BROTLI_QUALITY };
        let fresh = folder.with_extension("fresh");
        if fresh.exists() {
            fs::remove_dir_all(&fresh)?;
        }
        fs::create_dir_all(&fresh).with_context(|| format!("can't make {}", fresh.display()))?;
        Ok(Self { folder, fresh, manifest: BTreeMap::new(), chunks: BTreeMap::new(), brotli_quality })
    }

    /// The wasm, its glue and the chunks of the rest. The glue imports its snippets and the loader of chunks by their hashed
    /// names; the loader imports the glue, so the two have one hash.
    pub(crate) fn add_page(&mut self, page: &Page) -> Result<()> {
        let (mut js, mut loader) = (page.js.clone(), page.split.loader.clone());
        for (at, (import, text)) in page.snippets.iter().enumerate() {
            let hashed = self.add_hashed(&format!("snippet{at}.js"), text.as_bytes())?;
            js = js.replace(import, &format!("./{hashed}"));
        }
        let mut chunks = BTreeMap::new();
        for (name, wasm) in &page.split.chunks {
            let hashed = self.add_hashed(&format!("{name}.wasm"), wasm)?;
            loader = loader.replace(&format!("\"./{name}.wasm\""), &format!("\"./{hashed}\""));
            chunks.insert(name, hashed);
        }
        for (part, needed) in &page.split.needed {
            let files = needed.iter().filter_map(|name| chunks.get(name).cloned()).collect();
            self.chunks.insert(part.clone(), files);
        }
        let hash = hash(format!("{js}{loader}").as_bytes());
        let (glue_name, loader_name) = (format!("app.{hash}.js"), format!("loader.{hash}.js"));
        // Only where it is imported from: the wasm knows it by its plain name.
        js = js.replace(&format!("from \"{LOADER}\""), &format!("from \"./{loader_name}\""));
        loader = loader.replace(&format!("from \"{GLUE}\""), &format!("from \"./{glue_name}\""));
        self.write(&glue_name, js.as_bytes())?;
        self.write(&loader_name, loader.as_bytes())?;
        self.manifest.insert("app.js".to_owned(), glue_name);
        self.manifest.insert("loader.js".to_owned(), loader_name);
        self.add_hashed("app.wasm", &page.wasm)?;
        Ok(())
    }

    /// A file whose name changes with its content, so that it may be cached for ever.
    pub(crate) fn add_hashed(&mut self, name: &str, content: &[u8]) -> Result<String> {
        let (stem, extension) = name.rsplit_once('.').context("a file name with an extension")?;
        let hashed = format!("{stem}.{}.{extension}", hash(content));
        self.manifest.insert(name.to_owned(), hashed.clone());
        self.write(&hashed, content)?;
        Ok(hashed)
    }

    /// Files that keep their names.
    pub(crate) fn add_folder(&mut self, folder: &Path) -> Result<()> {
        for entry in fs::read_dir(folder).with_context(|| format!("can't read {}", folder.display()))? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).context("a file name in UTF-8")?.to_owned();
            if path.is_file() && !name.starts_with('.') {
                self.write(&name, &fs::read(&path)?)?;
            }
        }
        Ok(())
    }

    /// Writes the manifest and puts the site in place. One that is there already stays untouched: whoever embeds it
    /// would be compiled again for a newer date.
    pub(crate) fn finish(self) -> Result<()> {
        fs::write(self.fresh.join("manifest.json"), serde_json::to_vec_pretty(&self.manifest)?)?;
        fs::write(self.fresh.join("chunks.json"), serde_json::to_vec_pretty(&self.chunks)?)?;
        if contents(&self.folder).ok() == Some(contents(&self.fresh)?) {
            fs::remove_dir_all(&self.fresh)?;
        } else {
            if self.folder.exists() {
                fs::remove_dir_all(&self.folder)?;
            }
            fs::rename(&self.fresh, &self.folder)?;
        }
        println!("site: {}", self.folder.display());
        Ok(())
    }

    fn write(&self, name: &str, content: &[u8]) -> Result<()> {
        let path = self.fresh.join(name);
        fs::write(&path, content)?;
        let mut brotli = Vec::new();
        brotli::CompressorWriter::new(&mut brotli, 4096, self.brotli_quality, BROTLI_WINDOW).write_all(content)?;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(content)?;
        let gzip = gzip.finish()?;
        println!("  {name}: {} bytes, gzip {}, brotli {}", content.len(), gzip.len(), brotli.len());
        fs::write(self.fresh.join(format!("{name}.br")), brotli)?;
        fs::write(self.fresh.join(format!("{name}.gz")), gzip)?;
        Ok(())
    }
}

fn hash(content: &[u8]) -> String {
    Sha256::digest(content).iter().take(HASH_DIGITS / 2).map(|byte| format!("{byte:02x}")).collect()
}

fn contents(folder: &Path) -> Result<BTreeMap<OsString, Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(|| format!("can't read {}", folder.display()))? {
        let entry = entry?;
        found.insert(entry.file_name(), fs::read(entry.path())?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    /// Which folder is there then.
    fn written(folder: &Path, sheet: &str) -> u64 {
        let mut site = Site::new(folder.to_owned(), true).unwrap();
        site.add_hashed("app.css", sheet.as_bytes()).unwrap();
        site.finish().unwrap();
        fs::metadata(folder).unwrap().ino()
    }

    #[test]
    fn a_site_that_is_there_already_stays_untouched() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("site");
        let first = written(&folder, "a{}");
        assert_eq!(written(&folder, "a{}"), first);
        assert_ne!(written(&folder, "b{}"), first);
        assert_eq!(contents(&folder).unwrap().len(), 5, "a sheet, its two compressed forms, and two lists of names");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing is left beside it");
    }
}
