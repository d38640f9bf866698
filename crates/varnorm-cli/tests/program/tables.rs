//! What people see, word by word. The texts in `expected` were read by a person before they were kept.

use super::support::{Folder, Ran};

/// Compares with a text file; `UPDATE_EXPECTED=1` rewrites it, to be read before it is kept.
#[track_caller]
fn compare(name: &str, ran: &Ran) {
    let path = format!("{}/tests/program/expected/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let found = format!("{}---- standard error ----\n{}", ran.out, ran.err);
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(found, expected, "{name}");
}

#[test]
fn tables() {
    let folder = Folder::with_motions();
    let fit = "fit train.ts --normal Walking --kernel flat_rbf:sigma=30 --level 0.1 -o walking.model";
    folder.line(fit).code(0);
    for (name, line) in [
        ("demo", "demo"),
        ("kernels", "kernels"),
        ("score", "score walking.model test.ts --decision each"),
        ("inspect_model", "inspect walking.model"),
        ("inspect_data", "inspect train.ts"),
        ("explain", "explain walking.model test.ts --series 3 --segments 5"),
    ] {
        compare(name, &folder.line(line).code(0));
    }
}
