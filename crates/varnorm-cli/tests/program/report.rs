//! `varnorm report`, and `--report` of other commands.

use super::support::{Folder, bytes};

fn text(folder: &Folder, name: &str) -> String {
    String::from_utf8(bytes(&folder.path(name))).unwrap()
}

#[test]
fn a_report_is_one_file_and_the_same_from_every_command() {
    let folder = Folder::with_model();
    let ran = folder.line("report walking.model test.ts --normal Walking -o r.html --explain 2").code(0);
    assert_eq!(ran.out, "");
    assert!(ran.err.contains("explained, and shaded, are the 2 most novel of 40 series"), "{}", ran.err);
    assert!(ran.err.contains("series flagged; the report is in r.html"), "{}", ran.err);
    let html = text(&folder, "r.html");
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
    folder.line("report walking.model test.ts --normal Walking -o whole.html --threads 1").code(0);
    let scored = folder.line("score walking.model test.ts --report s.html --normal Walking").code(0);
    assert!(scored.err.contains("the report is in s.html"));
    assert_eq!(scored.out, folder.line("score walking.model test.ts").code(0).out);
    assert!(text(&folder, "whole.html") == text(&folder, "s.html"));
    // The data behind it: the findings are those of `score`.
    folder.line("report walking.model test.ts -o r.json --explain 0").code(0);
    let data: serde_json::Value = serde_json::from_str(&text(&folder, "r.json")).unwrap();
    let score = folder.line("score walking.model test.ts --format json").code(0).json();
    assert_eq!(data["scored"], score);
}

#[test]
fn a_model_alone_has_a_report() {
    let folder = Folder::with_model();
    let ran = folder.line("report walking.model -o m.html").code(0);
    assert!(ran.err.contains("the report of the model alone is in m.html"), "{}", ran.err);
    let html = text(&folder, "m.html");
    assert_eq!(html.matches("<h3>").count(), 4, "three pictures, and the place of an opened series");
    assert!(html.contains("aria-labelledby=\"series-heading\" hidden"));
}

#[test]
fn the_demo_has_a_report() {
    let folder = Folder::new();
    let ran = folder.line("demo --report demo.html").code(0);
    assert!(ran.err.contains("the report about Standing taken as normal is in demo.html"), "{}", ran.err);
    assert!(text(&folder, "demo.html").contains("labelled Standing"));
}

#[test]
fn what_cannot_be_reported_is_said() {
    let folder = Folder::with_model();
    folder
        .line("report walking.model test.ts --normal Flying -o r.html")
        .fails("label = Flying: no series has it");
    folder.line("report walking.model test.ts -o no/r.html").fails("cannot write no/r.html");
    folder.line("report none.model test.ts -o r.html").fails("none.model");
    assert!(!folder.path("r.html").exists());
}
