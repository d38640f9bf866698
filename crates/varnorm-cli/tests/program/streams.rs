//! What goes to standard output, what to standard error, and what happens when they close.

use std::io::Read;

use super::support::{Folder, Ran};

#[test]
fn results_and_talk_do_not_mix() {
    let folder = Folder::with_model();
    for line in [
        "score walking.model test.ts --format json",
        "inspect walking.model --format json",
        "inspect train.ts --format json",
        "kernels --format json",
        "demo --format json",
        "fit --print-settings",
    ] {
        assert!(folder.line(line).code(0).json().is_object() || line.starts_with("kernels"), "{line}");
    }
    let ran = folder.line("score walking.model test.ts --format csv").code(0);
    assert_eq!(ran.rows().len(), 41);
    assert!(ran.err.contains("0 of 40 flagged"));
}

#[test]
fn quiet_is_quiet_but_for_errors() {
    let folder = Folder::with_motions();
    for line in [
        "fit train.ts -o m --quiet",
        "--quiet score m test.ts",
        "-q inspect m",
        "gram train.ts -o g.npy -q",
        "convert train.ts t.npy --lossy -q",
        "demo -q",
    ] {
        assert_eq!(folder.line(line).code(0).err, "", "{line}");
    }
    folder.line("-q score m missing.ts").fails("cannot read missing.ts");
}

#[test]
fn notes_of_the_readers_are_told() {
    let folder = Folder::new();
    folder.file("x.ts", "@problemName x\n@classLabel true a\n@data\n1,2:a\n2,1:b\n");
    for line in ["inspect x.ts", "convert x.ts y.csv", "gram x.ts", "fit x.ts -o m --calibration none"] {
        let ran = folder.line(line).code(0);
        assert!(ran.err.contains("note: labels that the header does not declare: b"), "{line}: {}", ran.err);
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = Folder::with_model();
    // Larger than any pipe's buffer.
    folder.line("convert train.ts test.ts all.npz").code(0);
    for line in ["gram all.npz", "score walking.model all.npz --format json", "kernels", "demo"] {
        let mut child = folder.command(line.split_whitespace()).spawn().unwrap();
        let mut start = [0; 10];
        if line == "gram all.npz" {
            child.stdout.as_mut().unwrap().read_exact(&mut start).unwrap();
        }
        drop(child.stdout.take());
        let ran = Ran::from(child.wait_with_output().unwrap()).code(0);
        assert!(!ran.err.contains("error"), "{}", ran.err);
    }
}

#[cfg(unix)]
#[test]
fn a_closed_standard_error_is_no_error() {
    let folder = Folder::with_model();
    let mut child = folder.command(["score", "walking.model", "test.ts", "--format", "csv"]).spawn().unwrap();
    drop(child.stderr.take());
    let ran = Ran::from(child.wait_with_output().unwrap()).code(0);
    assert_eq!(ran.rows().len(), 41);
}

#[test]
fn a_full_disk_behind_standard_output_is_an_error() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let folder = Folder::new();
    let ran = Ran::from(folder.command(["kernels"]).stdout(full).output().unwrap());
    ran.fails("cannot write to standard output: No space left on device");
}

#[cfg(unix)]
#[test]
fn a_closed_standard_output_is_an_error_where_a_result_would_be_lost() {
    let folder = Folder::with_model();
    let shell = |rest: &str| {
        let line = format!("'{}' {rest}", env!("CARGO_BIN_EXE_varnorm"));
        let mut shell = std::process::Command::new("sh");
        Ran::from(shell.args(["-c", &line]).current_dir(folder.path(".")).output().unwrap())
    };
    shell("score walking.model test.ts >&-").fails("standard output is closed");
    shell("score walking.model test.ts -o scores.csv >&-").code(0);
    // Whoever throws the result away says so.
    shell("score walking.model test.ts > /dev/null").code(0);
}
