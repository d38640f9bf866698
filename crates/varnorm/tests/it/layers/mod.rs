//! The order of the library's modules: each may use those before it in [`ORDER`], and nothing else.

mod code;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use code::{code_of, references};

/// Top-level modules, the lowest first.
const ORDER: &[&str] = &[
    "error",
    "infinite",
    "run",
    "memory",
    "words",
    "random",
    "simd",
    "linalg",
    "data",
    "prepare",
    "kernel",
    "gram",
    "norm",
    "spectrum",
    "score",
    "law",
    "calibrate",
    "sample",
    "diagnostics",
    "metrics",
    "model",
    "describe",
    "detector",
    "long",
    "plot",
    "report",
    "internal",
];

/// Uses against the order that are known: from, to, and why. One that is gone has to be deleted here.
const EXCEPTIONS: &[(&str, &str, &str)] = &[];

/// Who uses whom, with the files that do.
type Uses = BTreeMap<(String, String), BTreeSet<String>>;

/// A file's place in the tree and its text.
type File = (String, String);

/// Every source file below a folder but those of unit tests.
fn files(folder: &Path) -> Vec<File> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
                let place = path.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
                found.push((place, std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    found
}

/// The top-level module of a file: `kernel` of `kernel/gak.rs` and of `kernel.rs`.
fn module(place: &str) -> &str {
    place.split('/').next().unwrap().trim_end_matches(".rs")
}

/// The modules that names at the root come from: `Kernel` from `kernel` by `pub use kernel::Kernel;`.
fn exports(root: &str) -> BTreeMap<String, String> {
    let code = code_of(root);
    let uses = code.split("pub use ").skip(1).filter_map(|part| part.split(';').next()?.split_once("::"));
    uses.flat_map(|(module, names)| {
        let names = names.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty());
        names.map(|name| (name.to_string(), module.trim().to_string()))
    })
    .collect()
}

fn uses(files: &[File]) -> Uses {
    let root = files.iter().find(|(place, _)| place == "lib.rs").map_or("", |(_, text)| text);
    let exports = exports(root);
    let mut uses = Uses::new();
    for (place, text) in files.iter().filter(|(place, _)| place != "lib.rs") {
        for name in references(place, &code_of(text)) {
            let to = exports.get(&name).unwrap_or(&name).clone();
            if to != module(place) {
                uses.entry((module(place).into(), to)).or_default().insert(place.clone());
            }
        }
    }
    uses
}

/// What is wrong with a tree, a sentence each.
fn faults(files: &[File], order: &[&str], exceptions: &[(&str, &str, &str)]) -> Vec<String> {
    let uses = uses(files);
    let rank = |module: &str| order.iter().position(|m| *m == module);
    let excepted = |from: &str, to: &str| exceptions.iter().any(|(f, t, _)| (*f, *t) == (from, to));
    let modules: BTreeSet<&str> =
        files.iter().map(|(place, _)| module(place)).filter(|m| *m != "lib").collect();
    let unknown = modules.iter().filter(|m| rank(m).is_none());
    let mut faults: Vec<String> =
        unknown.map(|m| format!("`{m}` has no place in ORDER; give it one")).collect();
    for ((from, to), places) in &uses {
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        if !modules.contains(to.as_str()) {
            faults.push(format!("{places:?} use `crate::{to}`, which is no module and no export of lib.rs"));
        } else if rank(from).is_some_and(|from| rank(to).is_some_and(|to| from < to)) && !excepted(from, to) {
            faults.push(format!("`{from}` is below `{to}` and uses it in {places:?}"));
        }
    }
    for (from, to, _) in exceptions {
        if !uses.contains_key(&(from.to_string(), to.to_string())) {
            faults.push(format!("`{from}` no longer uses `{to}`; delete the exception"));
        }
    }
    let allowed: Vec<(&str, &str)> = uses.keys().map(|(from, to)| (from.as_str(), to.as_str())).collect();
    faults.extend(cycle(&allowed, excepted).map(|cycle| format!("a cycle: {}", cycle.join(" -> "))));
    faults
}

/// A cycle of uses of which none is an exception, if there is one.
fn cycle<'a>(uses: &[(&'a str, &'a str)], excepted: impl Fn(&str, &str) -> bool) -> Option<Vec<&'a str>> {
    let uses: Vec<_> = uses.iter().filter(|(from, to)| !excepted(from, to)).collect();
    // Without what uses nothing else, again and again: only cycles, and what leads to them, remain.
    let mut left: BTreeSet<&str> = uses.iter().map(|(from, _)| *from).collect();
    let next = |left: &BTreeSet<&'a str>, at: &str| {
        uses.iter().find(|(from, to)| *from == at && left.contains(to)).map(|(_, to)| *to)
    };
    while let Some(end) = left.iter().copied().find(|module| next(&left, module).is_none()) {
        left.remove(end);
    }
    let mut path = vec![*left.first()?];
    loop {
        let to = next(&left, path.last()?)?;
        if let Some(start) = path.iter().position(|module| *module == to) {
            path.push(to);
            return Some(path.split_off(start));
        }
        path.push(to);
    }
}

#[test]
fn modules_use_what_is_below_them() {
    let files = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(files.len() > 50, "{} files", files.len());
    let found = uses(&files);
    assert!(found.contains_key(&("detector".into(), "kernel".into())), "nothing is seen: {found:?}");
    let faults = faults(&files, ORDER, EXCEPTIONS);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn tree(files: &[(&str, &str)]) -> Vec<File> {
    files.iter().map(|(place, text)| (place.to_string(), text.to_string())).collect()
}

#[test]
fn a_cycle_is_found_and_told() {
    let files = tree(&[
        ("lib.rs", "pub mod low; pub mod middle; pub mod high; pub use high::{Top, other};"),
        ("low.rs", "use crate::{Top, low::own};"),
        ("middle/mod.rs", "mod part; use crate::low::X;"),
        ("middle/part.rs", "fn f() { super::super::low::g() }"),
        ("high.rs", "use super::middle::Y;"),
    ]);
    let found = faults(&files, &["low", "middle", "high"], &[]);
    assert_eq!(
        found,
        ["`low` is below `high` and uses it in [\"low.rs\"]", "a cycle: high -> middle -> low -> high"]
    );
    let known = [("low", "high", "for now")];
    assert_eq!(faults(&files, &["low", "middle", "high"], &known), [""; 0]);
    let stale = faults(&files, &["low", "middle", "high"], &[known[0], ("low", "middle", "long ago")]);
    assert_eq!(stale, ["`low` no longer uses `middle`; delete the exception"]);
    let unknown = faults(&files, &["low", "high"], &known);
    assert_eq!(unknown, ["`middle` has no place in ORDER; give it one"]);
}

#[test]
fn tests_comments_and_strings_are_no_uses() {
    let files = tree(&[
        ("lib.rs", "pub mod low; pub mod high;"),
        (
            "low.rs",
            r##"//! See [`crate::high`].
/* use crate::high::A; /* nested */ use crate::high::B; */
const WORDS: (&str, &str, char) = ("use crate::high::C; \" crate::high", r#"" crate::high"#, '"');
fn lifetimes<'a>(x: &'a str) -> &'a str { x }
#[cfg(test)]
use crate::high::D;
#[cfg(test)]
mod tests {
    #[test]
    fn braces() { use crate::high::E; let c = '{'; }
}"##,
        ),
        ("high.rs", "use crate::low::F;"),
    ]);
    assert_eq!(faults(&files, &["low", "high"], &[]), [""; 0]);
    let late = tree(&[
        ("lib.rs", ""),
        ("low.rs", "#[cfg(test)]\nmod tests { fn f() {} }\nuse crate::high::A;"),
        ("high.rs", ""),
    ]);
    assert_eq!(faults(&late, &["low", "high"], &[]), ["`low` is below `high` and uses it in [\"low.rs\"]"]);
}
