//! The directory of further ensembles: each file `*.toml` in it has `[[ensemble]]` tables, and nothing else. A file with
//! a mistake is named with its line, and takes no other down: what is in force of it stays.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lockscope_view::EnsembleColor;

use super::ensemble::{self, ENSEMBLES_MAX, Ensemble};
use super::layers::stranger;
use super::table::FileSection;
use super::toml_file::TomlFile;
use super::{ConfigError, Layers};

/// What is read where nothing is said, beside the configuration file.
const USUAL: &str = "ensembles.d";
/// Longest file.
const FILE_BYTES_MAX: usize = 1 << 20;

/// A file that can't be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadFile {
    /// Its path.
    pub file: String,
    /// What is wrong with it: a sentence for each mistake, a line each.
    pub error: String,
}

/// The directory, where there is one. `in_force`: the one that was read before.
pub(super) fn of(layers: &Layers<'_>, in_force: Option<&Path>) -> Result<Option<PathBuf>, ConfigError> {
    if let Some(named) = layers.one("ensembles_dir", None)? {
        return super::check::data_dir(&named).map(Some);
    }
    let Some(usual) = layers.beside_file(USUAL) else { return Ok(None) };
    match layers.environment.dir(&usual) {
        Ok(_) => Ok(Some(usual)),
        Err(error) if error.kind() == ErrorKind::NotFound && in_force != Some(usual.as_path()) => Ok(None),
        Err(error) => Err(unreadable(&usual, &error)),
    }
}

/// Adds the ensembles of every file; gives the files that can't be taken. `in_force`: what is watched already.
pub(super) fn read(
    dir: &Path,
    layers: &Layers<'_>,
    in_force: &[Ensemble],
    ensembles: &mut Vec<Ensemble>,
) -> Result<Vec<BadFile>, ConfigError> {
    let mut files = layers.environment.dir(dir).map_err(|error| unreadable(dir, &error))?;
    files.retain(|path| is_meant(path));
    files.sort_unstable();
    if files.len() > ENSEMBLES_MAX {
        return Err(ConfigError(format!(
            "ensembles_dir {} has {} files *.toml; keep at most {ENSEMBLES_MAX}",
            dir.display(),
            files.len()
        )));
    }
    let mut by_file: HashMap<&str, Vec<&Ensemble>> = HashMap::new();
    for ensemble in in_force {
        if let Some(file) = &ensemble.file {
            by_file.entry(file).or_default().push(ensemble);
        }
    }
    let mut names: HashSet<String> = ensembles.iter().map(|ensemble| ensemble.name.clone()).collect();
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for path in files {
        let name = path.display().to_string();
        match tables(&path, &name, layers) {
            Ok(tables) => good.push((name, tables)),
            Err(ConfigError(error)) => bad.push(BadFile { file: name, error }),
        }
    }
    // What stays goes before what is new: nobody loses an ensemble because another file took its name.
    let stay = |bad: &BadFile, names: &mut HashSet<String>, ensembles: &mut Vec<Ensemble>| {
        let kept = by_file.get(bad.file.as_str()).into_iter().flatten();
        ensembles.extend(kept.filter(|kept| names.insert(kept.name.clone())).map(|kept| Ensemble::clone(kept)));
    };
    bad.iter().for_each(|bad| stay(bad, &mut names, ensembles));
    for (file, tables) in good {
        let is_taken = |(_, ensemble): &&(String, Ensemble)| names.contains(&ensemble.name);
        let wrong = tables.iter().find(is_taken).map(|(from, ensemble)| {
            format!("{from} {:?} is taken by another; give each ensemble a name of its own", ensemble.name)
        });
        let wrong = wrong.or_else(|| {
            (ensembles.len() + tables.len() > ENSEMBLES_MAX)
                .then(|| format!("{file}: there are more than {ENSEMBLES_MAX} ensembles with it; leave some out"))
        });
        match wrong {
            Some(error) => {
                let file = BadFile { file, error };
                stay(&file, &mut names, ensembles);
                bad.push(file);
            }
            None => {
                names.extend(tables.iter().map(|(_, ensemble)| ensemble.name.clone()));
                ensembles.extend(tables.into_iter().map(|(_, ensemble)| ensemble));
            }
        }
    }
    Ok(bad)
}

/// The ensembles of one file, each with where its name is.
fn tables(path: &Path, name: &str, layers: &Layers<'_>) -> Result<Vec<(String, Ensemble)>, ConfigError> {
    let text = layers.environment.file(path).map_err(|error| {
        ConfigError(format!("{name} can't be read ({error}); let this user read it, or take it out of the directory"))
    })?;
    if text.len() > FILE_BYTES_MAX {
        return Err(ConfigError(format!(
            "{name} has {} bytes; write at most {FILE_BYTES_MAX}, and further ensembles into further files",
            text.len()
        )));
    }
    let file = TomlFile::parse(name.to_owned(), &text)?;
    let mut wrong: Vec<String> = Vec::new();
    for entry in file.top().entries().filter(|entry| entry.key != "ensemble") {
        wrong.push(format!(
            "{} has no place in a file of ensembles_dir; write it below [[ensemble]], or into the configuration file",
            entry.from
        ));
    }
    let tables = match file.top().get("ensemble") {
        Some(entry) => entry.sections(ENSEMBLES_MAX)?,
        None => Vec::new(),
    };
    let mut found: Vec<(String, Ensemble)> = Vec::new();
    let mut names = HashSet::new();
    for table in tables {
        let strangers = table.entries().filter_map(|entry| stranger(&entry.key, &entry.from, FileSection::Ensemble));
        wrong.extend(strangers.map(|error| error.0));
        match ensemble::one(&table, color_of(&table.one("name")?.map(|name| name.value).unwrap_or_default()), layers) {
            Ok(ensemble) if !names.insert(ensemble.name.clone()) => {
                wrong.push(ensemble::taken(&table, &ensemble.name).0);
            }
            Ok(ensemble) => {
                let from = table.get("name").map_or_else(|| table.from(), |entry| entry.from);
                found.push((from, Ensemble { file: Some(name.to_owned()), ..ensemble }));
            }
            Err(error) => wrong.push(error.0),
        }
    }
    if wrong.is_empty() { Ok(found) } else { Err(ConfigError(wrong.join("\n"))) }
}

/// Hidden files are others' business: editors', and those of mounted volumes.
fn is_meant(path: &Path) -> bool {
    let is_hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    !is_hidden && path.extension().is_some_and(|extension| extension == "toml")
}

/// A colour that stays the same whatever other files there are.
fn color_of(name: &str) -> EnsembleColor {
    let hash = name.bytes().fold(0_usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(usize::from(byte)));
    let all = EnsembleColor::ALL;
    all.get(hash % all.len()).copied().unwrap_or(EnsembleColor::Blue)
}

fn unreadable(dir: &Path, error: &std::io::Error) -> ConfigError {
    ConfigError(format!(
        "ensembles_dir {} can't be read ({error}); name a directory that this user may read",
        dir.display()
    ))
}

#[cfg(test)]
mod tests;
