//! The documents hold what they promise: links lead somewhere, commands are ones that `lockscope` takes, and settings
//! are ones that it reads.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use lockscope::cli::Cli;
use lockscope::config::{Config, Environment};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every document, by its place from the top of the project.
fn documents() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in ["", "docs"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                found
                    .push((Path::new(folder).join(path.file_name().unwrap()), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// What stands between fences, with the fence's word.
fn fenced(text: &str) -> Vec<(&str, String)> {
    let (mut blocks, mut open): (Vec<(&str, String)>, bool) = (Vec::new(), false);
    for line in text.lines() {
        match (line.strip_prefix("```"), open) {
            (Some(word), false) => {
                blocks.push((word, String::new()));
                open = true;
            }
            (Some(_), true) => open = false,
            (None, true) => {
                let block = &mut blocks.last_mut().unwrap().1;
                block.push_str(line);
                block.push('\n');
            }
            (None, false) => {}
        }
    }
    blocks
}

/// What headings are called in addresses.
fn anchors(text: &str) -> BTreeSet<String> {
    let kept = |c: char| c.is_alphanumeric() || c == '-' || c == '_' || c == ' ';
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    headings
        .map(|heading| heading.to_lowercase().chars().filter(|c| kept(*c)).collect::<String>().replace(' ', "-"))
        .collect()
}

fn links(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut dead = Vec::new();
    for (name, text) in documents() {
        for link in links(&text).into_iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
            let target =
                if file.is_empty() { root().join(&name) } else { root().join(name.parent().unwrap()).join(file) };
            let there = match anchor {
                None => target.exists(),
                Some(anchor) => std::fs::read_to_string(&target).is_ok_and(|text| anchors(&text).contains(anchor)),
            };
            if !there {
                dead.push(format!("{}: {link}", name.display()));
            }
        }
    }
    assert!(dead.is_empty(), "links that lead nowhere: {dead:#?}");
}

#[test]
fn every_document_and_picture_is_linked_from_somewhere() {
    let documents = documents();
    let linked: BTreeSet<PathBuf> = documents
        .iter()
        .flat_map(|(name, text)| {
            links(text).into_iter().map(|link| (name.clone(), link.split('#').next().unwrap().to_owned()))
        })
        .filter_map(|(name, link)| root().join(name.parent().unwrap()).join(link).canonicalize().ok())
        .collect();
    let there = std::fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file());
    let lost: Vec<_> = there.filter(|path| !linked.contains(&path.canonicalize().unwrap())).collect();
    assert!(lost.is_empty(), "nothing links to {lost:#?}");
}

/// A line as a shell would take it apart, up to a pipe, a comment or an end of the command; None where it holds what
/// only a reader can fill in.
fn words(line: &str) -> Option<Vec<String>> {
    let line = line.split(" # ").next()?;
    let line = line.split([';', '|', '>', '&']).next()?.trim();
    let told = line.contains('…') || line.contains("[-") || line.contains('$');
    (!told).then(|| line.split_whitespace().map(|word| word.trim_matches(['\'', '"']).to_owned()).collect())
}

#[test]
fn every_command_is_one_that_lockscope_takes() {
    let mut tried = 0;
    for (name, text) in documents() {
        for (_, block) in fenced(&text).into_iter().filter(|(word, _)| matches!(*word, "" | "sh")) {
            for line in block.replace("\\\n", " ").lines() {
                let Some(words) = words(line) else { continue };
                let Some(at) = words.iter().position(|word| word == "lockscope" || word.ends_with("/lockscope")) else {
                    continue;
                };
                if at != 0 {
                    continue;
                }
                tried += 1;
                if let Err(error) = Cli::try_parse_from(&words) {
                    assert!(!error.use_stderr(), "{}: {line}\n{error}", name.display());
                }
            }
        }
    }
    assert!(tried > 10, "only {tried} commands were found");
}

/// Nothing but one file.
struct Only(String);

impl Environment for Only {
    fn var(&self, name: &str) -> Option<String> {
        (name == "HOME").then(|| "/home/somebody".to_owned())
    }

    fn file(&self, path: &Path) -> std::io::Result<String> {
        // A secret's file of any name holds something.
        Ok(if path == Path::new("lockscope.toml") {
            self.0.clone()
        } else {
            "somebody:something-long-enough-for-every-secret".to_owned()
        })
    }
}

#[test]
fn every_setting_is_one_that_lockscope_reads() {
    let mut tried = 0;
    for (name, text) in documents() {
        for (_, block) in fenced(&text).into_iter().filter(|(word, _)| *word == "toml") {
            let cli = Cli::try_parse_from(["lockscope", "serve", "--config", "lockscope.toml"]).unwrap();
            let lockscope::cli::Command::Serve(flags) = cli.command else { unreachable!("it was asked to serve") };
            // A block is a part of a file.
            let has_ensembles = block.contains("[[ensemble]]");
            let file = if has_ensembles {
                block.clone()
            } else {
                format!("zk = \"127.0.0.1:2181\"\norigin = \"https://lockscope.example\"\n{block}")
            };
            tried += 1;
            // Certificates have to be real ones, which a document can't hold.
            if let Err(error) = Config::load(&flags, &Only(file)).map_err(|error| error.to_string()).map(drop) {
                assert!(error.contains("no certificate"), "{}: {error}\n{block}", name.display());
            }
        }
    }
    assert!(tried > 4, "only {tried} blocks were found");
}
