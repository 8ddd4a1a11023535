//! The style sheets, one of every page and one more of those that the server draws alone: our own CSS, one file a concern, and the utilities in use, whose declarations come from
//! tailwind-rs. That crate drops variants and gets many utilities wrong without an error, so only those of an
//! allow-list are taken, each proved against its computed style by a browser test. A class that is neither on
//! the list nor in our CSS fails the build.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use tailwind_rs::TailwindBuilder;

/// Order of the layers; a later one wins.
const LAYERS: &str = "@layer reset, tokens, base, components, utilities;\n";
/// Our own CSS, in the order it is read.
const FOLDER: &str = "style/css";
/// The same of pages that the server draws alone: the first load of a live page goes without it.
const SERVER_PAGES: &str = "style/css-server-pages";
/// One utility a line; `#` starts a comment.
const ALLOW_LIST: &str = "style/utilities.txt";
/// Where classes are used.
const MARKUP: [&str; 2] = ["app/page/src", "server/web/src"];

pub(crate) struct Sheets {
    pub(crate) page: String,
    /// What pages that the server draws alone have besides.
    pub(crate) server_pages: String,
}

pub(crate) fn build(workspace: &Path) -> Result<Sheets> {
    let own = read_all(&workspace.join(FOLDER), "css")?;
    let more = read_all(&workspace.join(SERVER_PAGES), "css")?;
    let allowed = allow_list(&workspace.join(ALLOW_LIST))?;
    let defined: BTreeSet<String> = own.iter().chain(&more).flat_map(|(_, text)| classes_defined(text)).collect();
    let mut used = BTreeSet::new();
    let mut strangers = Vec::new();
    let mut markup = Vec::new();
    for folder in MARKUP {
        markup.extend(read_all(&workspace.join(folder), "rs")?);
    }
    for (path, text) in markup {
        for class in classes_used(&text) {
            if allowed.contains(&class) {
                used.insert(class);
            } else if !defined.contains(&class) {
                strangers.push(format!(
                    "{}: class `{class}` is neither in {FOLDER}, {SERVER_PAGES} nor in {ALLOW_LIST}",
                    path.display()
                ));
            }
        }
        let is_class = |word: &&str| allowed.contains(*word) || defined.contains(*word);
        let handed_on = literals(&text).filter(|literal| literal.split_whitespace().all(|word| is_class(&word)));
        used.extend(
            handed_on.flat_map(str::split_whitespace).filter(|word| allowed.contains(*word)).map(str::to_owned),
        );
    }
    if !strangers.is_empty() {
        bail!("{}", strangers.join("\n"));
    }
    let mut sheet = LAYERS.to_owned();
    own.iter().for_each(|(_, text)| sheet.push_str(text));
    sheet.push_str("@layer utilities {\n");
    for class in used {
        sheet.push_str(&utility(&class)?);
    }
    sheet.push_str("}\n");
    let server_pages: String = more.iter().map(|(_, text)| text.as_str()).collect();
    Ok(Sheets { page: squeeze(&sheet), server_pages: squeeze(&server_pages) })
}

fn utility(class: &str) -> Result<String> {
    let (_, declarations) = TailwindBuilder::default()
        .inline(class)
        .map_err(|error| anyhow!("tailwind-rs does not know `{class}`: {error:?}"))?;
    let selector: String = class
        .chars()
        .flat_map(|char| if char.is_alphanumeric() || "-_".contains(char) { vec![char] } else { vec!['\\', char] })
        .collect();
    Ok(format!(".{selector}{{{}}}\n", declarations.trim()))
}

fn allow_list(path: &Path) -> Result<BTreeSet<String>> {
    let text = fs::read_to_string(path).with_context(|| format!("can't read {}", path.display()))?;
    Ok(text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect())
}

/// Files below a folder, in path order.
fn read_all(folder: &Path, extension: &str) -> Result<Vec<(PathBuf, String)>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("can't read {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                let text = fs::read_to_string(&path).with_context(|| format!("can't read {}", path.display()))?;
                found.push((path, text));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn classes_defined(css: &str) -> Vec<String> {
    let mut classes = Vec::new();
    for (at, _) in css.match_indices('.') {
        let name: String =
            css[at + 1..].chars().take_while(|char| char.is_alphanumeric() || "-_".contains(*char)).collect();
        if name.starts_with(|char: char| char.is_alphabetic()) {
            classes.push(name);
        }
    }
    classes
}

/// Classes in markup: every word of `class="…"` and of `("class", "…")`, and `class:name`.
fn classes_used(markup: &str) -> Vec<String> {
    let mut classes = Vec::new();
    for begin in ["class=\"", "(\"class\", \""] {
        for (at, found) in markup.match_indices(begin) {
            let text = markup[at + found.len()..].split('"').next().unwrap_or_default();
            classes.extend(text.split_whitespace().map(str::to_owned));
        }
    }
    for (at, found) in markup.match_indices("class:") {
        let name: String = markup[at + found.len()..]
            .chars()
            .take_while(|char| char.is_alphanumeric() || "-_".contains(*char))
            .collect();
        if !name.is_empty() && !markup[..at].ends_with(':') {
            classes.push(name);
        }
    }
    classes
}

/// Everything between quotes. What is made of classes alone may be handed on as such; taken for classes by mistake, it
/// costs a rule.
fn literals(source: &str) -> impl Iterator<Item = &str> {
    source.split('"').skip(1).step_by(2).filter(|text| !text.is_empty())
}

/// Without comments and needless white space.
fn squeeze(css: &str) -> String {
    let mut out = String::new();
    let mut rest = css;
    while let Some((before, after)) = rest.split_once("/*") {
        out.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_classes_where_they_are_defined_and_used() {
        assert_eq!(classes_defined(".a-b { color: red; &.is-on { margin: 0.5rem } }"), ["a-b", "is-on"]);
        assert_eq!(classes_used(r#"<p class="a b-[3px]" class:is-on=x></p>"#), ["a", "b-[3px]", "is-on"]);
        assert_eq!(classes_used(r#"Html::of("p", &[("class", "a b"), ("title", "c")], "d")"#), ["a", "b"]);
        assert_eq!(literals(r#"pair("Link", "mono x", "")"#).collect::<Vec<_>>(), ["Link", "mono x"]);
    }

    #[test]
    fn a_utility_becomes_a_rule() {
        assert_eq!(utility("p-4").unwrap(), ".p-4{padding:1rem;}\n");
        assert!(utility("mb-[3px]").unwrap().starts_with(".mb-\\[3px\\]{margin-bottom:3px"));
    }

    #[test]
    fn has_looks_at_children_alone() {
        // What looks deeper is worked out anew for each row that comes, goes or changes; of this one the subject is a cell of a
        // table that is not live.
        const NOT_LIVE: &str = "code, bdi";
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let files = ["css", "css-server-pages"].iter().flat_map(|folder| fs::read_dir(root.join(folder)).unwrap());
        let sheets: Vec<String> = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect();
        let looks = sheets
            .iter()
            .flat_map(|sheet| squeeze(sheet).split(":has(").skip(1).map(str::to_owned).collect::<Vec<_>>());
        let looks: Vec<String> = looks.collect();
        assert!(looks.len() > 5, "the sheets are read");
        for look in looks.iter().filter(|look| !look.starts_with(NOT_LIVE)) {
            assert!(look.starts_with("> ") || look.starts_with("+ "), ":has({}", look.get(..60).unwrap_or(look));
        }
    }

    #[test]
    fn comments_go_and_content_stays() {
        assert_eq!(squeeze("a /* b */ {\n\n  c: d }"), "a  {\nc: d }");
    }
}
