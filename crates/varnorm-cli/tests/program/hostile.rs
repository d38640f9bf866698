//! Files, sizes, signals and clients that once did harm: each gives its answer, or a sentence and exit code 2.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::support::{Folder, bytes, waves, wide};

#[test]
fn control_characters_of_files_do_not_reach_the_terminal() {
    let folder = Folder::with_model();
    folder.file("cell.csv", "a_0,a_1\n1,\u{1b}]0;owned\u{7}\u{1b}[31mred\n");
    folder.file("label.ts", "@problemName x\n@classLabel true a\n@data\n1,2:\u{1b}[2Jb\n3,4:a\n");
    folder.file("name\u{1b}[31m.ts", "@data\nx\n");
    for line in
        ["inspect cell.csv", "inspect label.ts", "score walking.model label.ts", "inspect name\u{1b}[31m.ts"]
    {
        let ran = folder.line(line);
        assert!(!ran.err.is_empty() || ran.code == Some(0), "{line}");
        let clean = |text: &str| !text.chars().any(|c| c.is_control() && c != '\n');
        assert!(clean(&ran.err) && clean(&ran.out), "{line}: {:?} {:?}", ran.err, ran.out);
    }
}

#[test]
fn a_result_does_not_take_the_place_of_its_source() {
    let folder = Folder::with_model();
    let before = bytes(&folder.path("train.ts"));
    std::os::unix::fs::symlink("train.ts", folder.path("link.ts")).unwrap();
    for line in [
        "convert train.ts train.ts",
        "convert train.ts ./train.ts",
        "convert link.ts train.ts",
        "convert test.ts train.ts link.ts",
        "convert test.ts . train.ts",
        "fit train.ts -o train.ts",
        "score walking.model train.ts -o train.ts",
        "score walking.model train.ts --report walking.model",
        "report walking.model train.ts -o train.ts",
    ] {
        folder.line(line).fails("would be overwritten");
        assert_eq!(bytes(&folder.path("train.ts")), before, "{line}");
    }
}

#[test]
fn every_signal_to_stop_leaves_no_file() {
    let folder = Folder::new();
    folder.file("big.csv", wide(&waves(1200, 400)));
    for signal in ["TERM", "HUP", "INT"] {
        let line = "gram big.csv --kernel gak:sigma=50 -o g.npy";
        let mut child = folder.command(line.split_whitespace()).spawn().unwrap();
        let mut talk = BufReader::new(child.stderr.take().unwrap());
        let mut first = String::new();
        talk.read_line(&mut first).unwrap();
        assert!(first.starts_with("kernel gak"), "{first}");
        std::thread::sleep(Duration::from_millis(100));
        let id = child.id().to_string();
        assert!(
            std::process::Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap().success()
        );
        let mut rest = String::new();
        talk.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(2), "{signal}: {rest}");
        assert!(rest.contains("stopped on request"), "{signal}: {rest}");
        assert_eq!(folder.names(), ["big.csv"], "{signal}");
    }
}

/// While the file itself is written, too: the temporary one is gone.
#[test]
fn a_signal_while_writing_leaves_no_temporary_file() {
    let folder = Folder::new();
    folder.file("big.csv", wide(&waves(1200, 30)));
    for wait in [20, 100, 300] {
        let line = "gram big.csv --kernel flat_linear -o g.csv --threads 1";
        let mut child = folder.command(line.split_whitespace()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        let id = child.id().to_string();
        // It may be over by now.
        let _ =
            std::process::Command::new("kill").args(["-TERM", &id]).stderr(Stdio::null()).status().unwrap();
        child.wait().unwrap();
        let left: Vec<String> = folder.names().into_iter().filter(|name| name.starts_with('.')).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// A file that may not grow (`ulimit -f`, a quota) ended the program by SIGXFSZ and left its temporary file.
#[test]
fn a_file_that_may_not_grow_is_an_error() {
    let folder = Folder::with_model();
    folder.file("old.csv", "an old result\n");
    let before = folder.names();
    let program = env!("CARGO_BIN_EXE_varnorm");
    for line in
        ["convert train.ts old.csv", "fit train.ts --kernel flat_rbf -o new.model", "gram train.ts -o g.npy"]
    {
        let command = format!("ulimit -f 1; exec {program} {line}");
        let ran = std::process::Command::new("sh")
            .args(["-c", &command])
            .current_dir(folder.path("."))
            .output()
            .unwrap();
        super::support::Ran::from(ran).fails("too large");
        assert_eq!(folder.names(), before, "{line}");
    }
    assert_eq!(bytes(&folder.path("old.csv")), b"an old result\n");
}

/// Refusals that said what was wrong, but not what to do.
#[test]
fn refusals_tell_what_to_do() {
    let folder = Folder::with_model();
    folder.file("latin.json", b"{\"preset\": \"\xe9\"}");
    folder.line("fit train.ts --settings latin.json -o x.model").fails("save it in that encoding");
    folder.line("fit train.ts --kernel gak:band=1,band=2 -o x.model").fails("leave one out");
    folder.line("gram train.ts --kernel {").fails("correct it there");
}

#[test]
fn absurd_sizes_are_refused() {
    let folder = Folder::with_model();
    let huge = "9007199254740992";
    folder
        .line("fit train.ts --normal Walking --prepare resample=10000000000000 -o x.model")
        .fails("choose a smaller length");
    let uea = folder.path("uea/Motions");
    std::fs::create_dir_all(&uea).unwrap();
    std::fs::copy(folder.path("train.ts"), uea.join("Motions_TRAIN.ts")).unwrap();
    std::fs::copy(folder.path("test.ts"), uea.join("Motions_TEST.ts")).unwrap();
    let grid = |folds: &str, repeats: &str| {
        format!(
            r#"{{"folds": {folds}, "repeats": {repeats}, "seed": 1, "max_rank": 3, "alphas": [0.1], "time": [false],
            "kernels": {{"own": {{"specs": ["flat_linear"]}}}}}}"#
        )
    };
    folder
        .file("folds.json", grid(huge, "1"))
        .file("repeats.json", grid("2", huge))
        .file("grid.json", grid("2", "1"));
    folder.line("study uea --datasets Motions --grid folds.json").fails("must be at most 10000");
    folder.line("study uea --datasets Motions --grid repeats.json").fails("must be at most 10000");
    folder.file("scores.csv", "dataset,class,series,score\nMotions,Standing,99999999999,1\n");
    folder
        .line("study uea --datasets Motions --grid grid.json --no-baselines --scores a=scores.csv")
        .fails("1 scores for 40 test series");
    folder
        .line("serve walking.model --listen 127.0.0.1:0 --time-limit 1.8e19")
        .fails("at most 604800 seconds");
    let ran = folder
        .command(["serve", "walking.model", "--listen", "127.0.0.1:0"])
        .env("VARNORM_TOKEN", "")
        .output();
    let ran = super::support::Ran::from(ran.unwrap());
    ran.fails("must be 16 or more");
}

/// All scores are one value that is too large for an axis of steps.
#[test]
fn a_report_of_equal_huge_scores_is_drawn() {
    let folder = Folder::new();
    let series: Vec<Vec<f64>> = waves(12, 8);
    let far: Vec<Vec<f64>> = vec![vec![3e20; 8]; 3];
    folder.file("normal.csv", wide(&series)).file("far.csv", wide(&far));
    folder.line("fit normal.csv --kernel flat_linear --no-normalize --prepare none -o m.model").code(0);
    folder.line("report m.model far.csv -o r.html").code(0);
    let page = String::from_utf8(bytes(&folder.path("r.html"))).unwrap();
    assert!(!page.contains("NaN") && page.contains("<svg"));
}

/// What more memory than the process may have would be needed for is refused, not begun.
#[test]
fn too_many_series_for_the_memory_are_refused_with_a_way_out() {
    let folder = Folder::new();
    let rows: String = (0..40_000).map(|i| format!("{i},{i},{},1\n", i % 7)).collect();
    folder.file("many.csv", format!("case_id,x_0,x_1,x_2\n{rows}"));
    let limited = |line: &str| {
        let program = env!("CARGO_BIN_EXE_varnorm");
        let script = format!("ulimit -v 3000000; exec {program} {line} --threads 1");
        let mut shell = std::process::Command::new("sh");
        shell.current_dir(folder.path("")).args(["-c", &script]);
        super::support::Ran::from(shell.output().unwrap())
    };
    limited("gram many.csv --kernel flat_linear -o g.npy").fails("would need about 12.8 GB of memory");
    limited("fit many.csv -o m.model --kernel flat_rbf").fails("--landmarks");
    assert_eq!(folder.names(), ["many.csv"]);
}

/// A label of its own for every series: as good as any other file.
#[test]
fn as_many_labels_as_series_take_no_longer() {
    let folder = Folder::new();
    let lines: String = (0..100_000).map(|i| format!("{i}:id-{i}\n")).collect();
    folder
        .file("labels.ts", format!("@problemName x\n@univariate true\n@classLabel true a b\n@data\n{lines}"));
    let began = Instant::now();
    let ran = folder.line("inspect labels.ts").code(0);
    // Only what is quadratic takes longer, by far.
    assert!(began.elapsed() < Duration::from_secs(300), "{:?}", began.elapsed());
    let note = ran.err.lines().find(|line| line.contains("does not declare")).unwrap();
    assert!(note.len() < 2000 && note.ends_with("and 99980 more"), "{note}");
}
