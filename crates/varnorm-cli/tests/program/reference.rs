//! `docs/program.md` is what the program says about itself. `UPDATE_EXPECTED=1` writes it.

use std::path::Path;

use super::support::Folder;

const HEAD: &str = "# The program

Written from `varnorm --help` and the help of every command: do not edit.
`UPDATE_EXPECTED=1 cargo test -p varnorm-cli reference` writes it again. The words are those of the [glossary](glossary.md).
";

#[test]
fn the_page_of_the_program_is_its_help() {
    let folder = Folder::new();
    let help = |arguments: &[&str]| folder.run(arguments).code(0).out.trim_end().to_owned();
    let overview = help(&["--help"]);
    let mut page = format!("{HEAD}\n```text\n{overview}\n```\n");
    for path in commands(&overview, &[]) {
        page.push_str(&section(&path, &help));
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/program.md");
    if std::env::var("UPDATE_EXPECTED").is_ok_and(|value| value == "1") {
        std::fs::write(&file, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == page, "docs/program.md is not what the help says; UPDATE_EXPECTED=1 writes it");
}

/// A command and the commands below it.
fn section(path: &[String], help: &dyn Fn(&[&str]) -> String) -> String {
    let mut arguments: Vec<&str> = path.iter().map(String::as_str).collect();
    arguments.push("--help");
    let text = help(&arguments);
    let mut section =
        format!("\n{} varnorm {}\n\n```text\n{text}\n```\n", "#".repeat(path.len() + 1), path.join(" "));
    for below in commands(&text, path) {
        section.push_str(&self::section(&below, help));
    }
    section
}

/// What a help lists under `Commands:`, below a command.
fn commands(help: &str, above: &[String]) -> Vec<Vec<String>> {
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(|name| above.iter().cloned().chain([name.to_owned()]).collect()).collect()
}
