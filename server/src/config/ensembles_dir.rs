//! The directory of further ensembles: each file `*.toml` in it has `[[ensemble]]` tables, and nothing else. A file with
//! a mistake is named with its line, and takes no other down: what is in force of it stays.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lockscope_view::EnsembleColor;

use super::ConfigError;
use super::ensemble::{Ensemble, name_from, read_table, refuse_name};
use super::given::Given;
use super::layers::{Layers, read_text};
use super::settings::ENSEMBLES_MAX;

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
pub(super) fn find(layers: &Layers<'_>, in_force: Option<&Path>) -> Result<Option<PathBuf>, ConfigError> {
    if let Some(named) = layers.settings.top.ensembles_dir.read()? {
        return Ok(Some(named));
    }
    let Some(usual) = layers.file.as_ref().and_then(|file| Some(file.parent()?.join(USUAL))) else { return Ok(None) };
    match layers.environment.dir(&usual) {
        Ok(_) => Ok(Some(usual)),
        Err(error) if error.kind() == ErrorKind::NotFound && in_force != Some(usual.as_path()) => Ok(None),
        Err(error) => refuse_dir(&usual, &error),
    }
}

/// Adds the ensembles of every file; gives the files that can't be taken. `in_force`: what is watched already.
pub(super) fn read(
    dir: &Path,
    layers: &Layers<'_>,
    in_force: &[Ensemble],
    ensembles: &mut Vec<Ensemble>,
) -> Result<Vec<BadFile>, ConfigError> {
    let mut files = layers.environment.dir(dir).or_else(|error| refuse_dir(dir, &error))?;
    files.retain(|path| is_meant(path));
    files.sort_unstable();
    if files.len() > ENSEMBLES_MAX {
        let (dir, count) = (dir.display(), files.len());
        return refuse!("ensembles_dir {dir} has {count} files *.toml; keep at most {ENSEMBLES_MAX}");
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
        match read_file(&path, &name, layers) {
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
fn read_file(path: &Path, name: &str, layers: &Layers<'_>) -> Result<Vec<(String, Ensemble)>, ConfigError> {
    let text = layers.environment.file(path).map_err(|error| {
        mistake!("{name} can't be read ({error}); let this user read it, or take it out of the directory")
    })?;
    if text.len() > FILE_BYTES_MAX {
        return refuse!(
            "{name} has {} bytes; write at most {FILE_BYTES_MAX}, and further ensembles into further files",
            text.len()
        );
    }
    let (settings, mut errors) = read_text(name, &text, true)?;
    let tables = settings.ensemble.transpose()?.map(|tables| tables.keys).unwrap_or_default();
    let (mut found, mut names) = (Vec::new(), HashSet::new());
    for table in &tables {
        let color = color_of(&table.keys.name.given.as_ref().map_or_else(|| Ok(String::new()), Given::text)?);
        let ensemble = read_table(layers, table, color);
        match ensemble
            .and_then(|one| if names.insert(one.name.clone()) { Ok(one) } else { refuse_name(table, &one.name) })
        {
            Ok(ensemble) => {
                found.push((name_from(table).to_owned(), Ensemble { file: Some(name.to_owned()), ..ensemble }))
            }
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(found) } else { Err(ConfigError::all(errors)) }
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

fn refuse_dir<T>(dir: &Path, error: &std::io::Error) -> Result<T, ConfigError> {
    refuse!("ensembles_dir {} can't be read ({error}); name a directory that this user may read", dir.display())
}

#[cfg(test)]
mod tests;
