//! No circle of files within a crate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::tidy::{all, code_of, report, without_tests};

/// A path like `crate::a::B`, or the place of a module, by its names.
type Names<'a> = Vec<&'a str>;
type Modules<'a> = BTreeMap<Names<'a>, Module<'a>>;

struct Module<'a> {
    file: &'a Path,
    paths: Vec<Names<'a>>,
    /// What its `use` declarations bind, `pub` or not.
    uses: BTreeMap<&'a str, Names<'a>>,
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '*'
}

/// The name that a text begins with, and what follows.
fn name_in(text: &str) -> (&str, &str) {
    let end = if text.starts_with('*') { Some(1) } else { text.find(|letter| !is_name(letter)) };
    text.split_at(end.unwrap_or(text.len()))
}

/// Reads a path or a tree like `a::{b, c::d as e}`: each path, and the name that it binds. Gives what follows.
fn read_tree<'a>(text: &'a str, begun: &[&'a str], found: &mut Vec<(Names<'a>, &'a str)>) -> &'a str {
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = rest.trim_start_matches(|letter| !is_name(letter) && letter != '}');
            if !rest.starts_with(is_name) {
                return rest.strip_prefix('}').unwrap_or(rest);
            }
            rest = read_tree(rest, begun, found);
        }
    }
    let (name, rest) = name_in(text);
    let mut path = begun.to_vec();
    path.extend(Some(name).filter(|name| *name != "self" || begun.is_empty()));
    if let Some(rest) = rest.strip_prefix("::") {
        return read_tree(rest, &path, found);
    }
    let last = path.last().copied().unwrap_or_default();
    let (bound, rest) = rest.strip_prefix(" as ").map_or((last, rest), name_in);
    found.push((path, bound));
    rest
}

/// A file as a module, by its place in the crate.
fn module<'a>(src: &Path, (file, code): &'a (PathBuf, String)) -> (Names<'a>, Module<'a>) {
    let mut name: Names<'_> = file.strip_prefix(src).unwrap().iter().filter_map(|part| part.to_str()).collect();
    let last = name.pop().unwrap().trim_end_matches(".rs");
    name.extend(Some(last).filter(|last| !["lib", "main", "mod"].contains(last)));
    let (mut paths, mut uses, mut rest, mut is_use) = (Vec::new(), BTreeMap::new(), without_tests(code), false);
    while let Some(at) = rest.find(is_name) {
        let is_inside = rest[..at].ends_with(['.', '$']);
        let mut found = Vec::new();
        rest = read_tree(&rest[at..], &[], &mut found);
        let is_next_use = found.iter().any(|(path, _)| *path == ["use"]);
        found.retain(|(path, _)| path.len() > 1 && !is_inside);
        uses.extend(found.iter().filter(|_| is_use).map(|(path, bound)| (*bound, path.clone())));
        paths.extend(found.into_iter().map(|(path, _)| path));
        is_use = is_next_use;
    }
    (name, Module { file, paths, uses })
}

/// Where a path leads: to an item in the module that defines it, or to a module itself. None outside the crate.
fn resolve<'a>(modules: &Modules<'a>, from: &[&'a str], path: &[&'a str]) -> Option<(Names<'a>, Option<&'a str>)> {
    let mut at = from.to_vec();
    for (place, name) in path.iter().enumerate() {
        let inner = [&at[..], &[name]].concat();
        let bound = modules.get(&at)?.uses.get(name).filter(|bound| at != from || bound.as_slice() != path);
        match (*name, bound) {
            ("crate", _) => at.clear(),
            ("self", _) => {}
            ("super", _) => drop(at.pop()?),
            (_, Some(bound)) if place + 1 == path.len() || !modules.contains_key(&inner) => {
                match resolve(modules, &at, bound)? {
                    (module, None) => at = module,
                    item => return Some(item),
                }
            }
            _ if modules.contains_key(&inner) => at = inner,
            _ => return (place > 0).then_some((at, Some(name))),
        }
    }
    Some((at, None))
}

/// The imports left when files that import none of the rest, or that none of the rest imports, are taken away.
fn circles(src: &Path, files: &[(PathBuf, String)]) -> Vec<String> {
    // Backwards: where there is a library, `main.rs` is not its root.
    let modules: Modules<'_> = files.iter().rev().map(|file| module(src, file)).collect();
    let mut imports: BTreeMap<(&Path, &Path), BTreeSet<&str>> = BTreeMap::new();
    for (name, module) in &modules {
        for path in &module.paths {
            let Some((home, Some(item))) = resolve(&modules, name, path) else { continue };
            if !home.starts_with(name) {
                imports.entry((module.file, modules[&home].file)).or_default().insert(item);
            }
        }
    }
    let mut before = 0;
    while before != imports.len() {
        before = imports.len();
        let ends: (BTreeSet<&Path>, BTreeSet<&Path>) = imports.keys().copied().unzip();
        imports.retain(|(file, other), _| ends.1.contains(file) && ends.0.contains(other));
    }
    let line = |((file, other), items): (&(&Path, &Path), &BTreeSet<&str>)| {
        format!("{} imports {items:?} from {}", file.display(), other.display())
    };
    imports.iter().map(line).collect()
}

#[test]
fn planted_circle_is_seen() {
    let found = |b: &str, inner: &str| {
        let lib = "mod a;\nmod b;\npub use b::inner::{B as Renamed, C};\n";
        let files = [
            ("a.rs", "use crate::{\n    b::{self},\n    Renamed,\n};\npub struct A;"),
            ("b/inner.rs", inner),
            ("b/mod.rs", b),
        ];
        let file = |(file, code): (&str, &str)| (Path::new("src").join(file), code.to_owned());
        circles(Path::new("src"), &[&files.map(file)[..], &[file(("lib.rs", lib))]].concat())
    };
    let circle = found("pub mod inner;", "pub struct B;\nfn f() -> super::super::a::A {}");
    let lines = [r#"src/a.rs imports {"B"} from src/b/inner.rs"#, r#"src/b/inner.rs imports {"A"} from src/a.rs"#];
    assert_eq!(circle, lines);
    let room = found("mod inner;\nuse inner::B;\npub struct C;", "pub struct B(super::C);");
    assert_eq!(room, Vec::<String>::new(), "a module may use what is in it");
}

/// No file imports itself, over however many others: an import is a named item, followed to the file that defines it, and
/// what a module takes from modules inside it does not count.
#[test]
fn no_crate_has_a_circle_of_files() {
    let mut crates: BTreeMap<PathBuf, Vec<(PathBuf, String)>> = BTreeMap::new();
    for path in all() {
        if let Some(src) = path.ancestors().find(|folder| folder.ends_with("src")) {
            crates.entry(src.to_owned()).or_default().push((path.clone(), code_of(&path)));
        }
    }
    report(crates.iter().flat_map(|(src, files)| circles(src, files)).collect());
}
