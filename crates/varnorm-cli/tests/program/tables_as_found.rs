//! Tables as people have them: what the program says about them, asks for, and takes as an answer.

use super::support::Folder;

/// A recording of three sensors without a header, with this many steps.
fn bare(steps: usize) -> String {
    (0..steps).map(|i| format!("{}.5,{}.25,0.{i}\n", i % 7, i % 5)).collect()
}

#[test]
fn recordings_without_a_header_are_asked_about_and_read_as_answered() {
    let folder = Folder::new();
    for i in 0..4 {
        folder.file(&format!("r{i}.csv"), bare(12));
    }
    let fails = folder
        .line("fit r0.csv r1.csv r2.csv r3.csv -o m.model")
        .fails("one recording of 12 steps x 3 channels (`--csv-layout recording`)");
    assert!(fails.err.contains("12 series of 3 steps, one per row (`--csv-layout wide`)"), "{}", fails.err);
    let told = folder.line("inspect r0.csv r1.csv r2.csv r3.csv --csv-layout recording").code(0).out;
    assert!(told.contains("4 files, each one recording of 12 steps x 3 channels"), "{told}");
}

#[test]
fn inspect_says_how_files_were_read() {
    let folder = Folder::new();
    for i in 0..3 {
        let rows: String = (0..20).map(|s| format!("{},{};{s},5\n", s / 100, 10 * (s % 10))).collect();
        folder.file(&format!("a{i}.csv"), format!("Zeit [s];Druck [bar]\n{}", rows.replace(",0;", ",00;")));
    }
    let told = folder.line("inspect a0.csv a1.csv a2.csv --ignore 1").code(0).out;
    assert!(told.contains("3 files, each one recording of 20 steps x 1 channel (Druck)"), "{told}");
}

#[test]
fn results_are_not_written_under_a_name_that_means_something_else() {
    let folder = Folder::new();
    folder.file("x.csv", "time,p\n0,1\n1,2\n");
    folder.line("score m.model x.csv -o scores.parquet").fails("results are not written as .parquet");
}

#[test]
fn shells_and_manuals_know_the_commands() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.line(&format!("completions {shell}")).code(0).out;
        assert!(script.contains("csv-layout"), "{shell}");
    }
    assert!(folder.line("man").code(0).out.contains("varnorm"));
    assert!(folder.line("man score").code(0).out.contains("fail\\-on\\-novel"));
    folder.line("man nothing").fails("there is no command nothing");
}
