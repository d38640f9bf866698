//! `varnorm study`: given parameters, searches, kills, pieces, comparisons.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use varnorm::data::{WriteOptions, basic_motions, write};

use super::support::{Folder, bytes};

/// With `uea/Motions`: BasicMotions, every other series, to be quick.
fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("uea/Motions")).unwrap();
    let motions = basic_motions().unwrap();
    for (part, dataset) in [("TRAIN", &motions.train), ("TEST", &motions.test)] {
        let half: Vec<usize> = (0..dataset.series.len()).step_by(2).collect();
        let path = folder.path(&format!("uea/Motions/Motions_{part}.ts"));
        write(&dataset.select(&half), &path, &WriteOptions::default()).unwrap();
    }
    folder.file(
        "grid.json",
        r#"{"folds": 2, "repeats": 3, "alphas": [1e-5, 1e-2], "max_rank": 5, "kernels": {
            "linear": {}, "rbf": {"sigma": [0.5, 1]}, "sig_linear": {"order": [1, 2], "scale": [1]},
            "mine": {"specs": ["flat_poly:p=2", "integral_rbf"]}}}"#,
    );
    folder
}

const SEARCH: &str = "study uea --datasets Motions --grid grid.json";

#[test]
fn a_search_is_the_same_for_any_threads_and_is_shown_in_every_format() {
    let folder = folder();
    let one = folder.line(&format!("{SEARCH} --run one --threads 1 --format json")).code(0);
    let two = folder.line(&format!("{SEARCH} --run two --threads 3 --format json")).code(0);
    assert_eq!(one.out, two.out);
    assert_eq!(bytes(&folder.path("one/units.jsonl")), bytes(&folder.path("two/units.jsonl")));
    let json = one.json();
    for kernel in ["linear", "rbf", "sig_linear", "mine"] {
        for distance in ["conformance", "mahalanobis"] {
            for area in ["roc_auc", "pr_auc"] {
                let found = &json["Motions"][kernel][distance];
                assert!((0.0..=1.0).contains(&found[area].as_f64().unwrap()));
                assert!((0.0..=1.0).contains(&found["envelope"][area].as_f64().unwrap()));
            }
        }
        assert!(json["Motions"][kernel]["nearest"]["roc_auc"].is_number());
    }
    assert!(json["Motions"]["baselines"]["knn"]["roc_auc"].as_f64().unwrap() > 0.5);
    // Units, each with what is left.
    assert!(one.err.contains("[20/20] Motions/knn/"), "{}", one.err);
    assert!(one.err.contains("left)"));

    let text = folder.line("study show one --figures plots").code(0);
    assert!(text.out.starts_with("ROC AUC"), "{}", text.out);
    for letter in [" C ", " C+ ", " M ", " M+ ", " N ", " R "] {
        assert!(text.out.contains(letter), "{}", text.out);
    }
    for name in ["alphas.svg", "ranks.svg", "scatter.svg"] {
        let svg = String::from_utf8(bytes(&folder.path(&format!("plots/{name}")))).unwrap();
        assert!(
            svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains("conformance"),
            "{name}"
        );
    }
    shown_as_a_page(&folder);
    let latex = folder.line("study show one --format latex --rows C,M").code(0);
    assert!(latex.out.contains("\\textbf") && !latex.out.contains("C+"), "{}", latex.out);
    assert!(folder.line("study show one --format markdown").code(0).out.contains("| Motions | C |"));
    let csv = folder.line("study show one --format csv").code(0);
    assert_eq!(csv.rows()[0][..5], ["dataset", "kernel", "method", "roc_auc", "pr_auc"]);
    assert_eq!(csv.rows().len(), 1 + 4 * 6 + 1);
}

/// The same areas as in the other tables, the times of all units, and what moved since another run.
fn shown_as_a_page(folder: &Folder) {
    let ran = folder.line("report one --compare two -o one.html").code(0);
    assert!(ran.err.contains("20 of 20 units are done; the report is in one.html"), "{}", ran.err);
    let html = String::from_utf8(bytes(&folder.path("one.html"))).unwrap();
    assert_eq!(html.matches("<svg").count(), 6, "two norms, three figures each");
    assert!(html.contains("20 units took") && html.contains("0 of 25 means moved"));
    let csv = folder.line("study show one --format csv").code(0);
    for row in &csv.rows()[1..] {
        let area = format!("{:.2}", row[3].parse::<f64>().unwrap());
        let cell = format!(">{}</td>", area.strip_prefix('0').unwrap_or(&area));
        assert!(html.contains(&cell), "{row:?}");
    }
    folder.line("report one grid.json -o x.html").fails("takes no data");
    folder.line("report uea -o x.html").fails("cannot read uea/study.json");
}

#[test]
fn a_killed_run_goes_on_to_the_same_bytes() {
    let folder = folder();
    let whole = folder.line(&format!("{SEARCH} --run whole --format json")).code(0);
    let expected = bytes(&folder.path("whole/units.jsonl"));
    let lines = folder.path("killed/units.jsonl");
    let line = format!("{SEARCH} --run killed --format json --threads 1");
    // Killed again and again, each time a little later than the first new line; then left to finish.
    for round in 0..3 {
        let before = std::fs::metadata(&lines).map_or(0, |m| m.len());
        let mut command = folder.command(line.split_whitespace());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let began = Instant::now();
        while std::fs::metadata(&lines).map_or(0, |m| m.len()) <= before {
            assert!(began.elapsed() < Duration::from_secs(600), "no unit was finished");
            if child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(round));
        // SIGKILL: no chance to tidy up.
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // A line torn in the middle, as a kill while it is written leaves it.
    let mut torn = bytes(&lines);
    let kept = torn.len() - torn.iter().rev().skip(1).position(|b| *b == b'\n').unwrap_or(torn.len() - 1) / 2;
    torn.truncate(kept);
    std::fs::write(&lines, torn).unwrap();
    let again = folder.line(&line).code(0);
    assert_eq!(again.out, whole.out);
    assert_eq!(bytes(&lines), expected);
    assert_eq!(bytes(&folder.path("killed/study.json")), bytes(&folder.path("whole/study.json")));
    // Nothing is left to do: not a unit is told of.
    let shown = folder.line(&line).code(0);
    assert_eq!((shown.out, shown.err.as_str()), (whole.out, ""));
}

#[test]
fn an_interrupted_run_says_what_it_kept() {
    let folder = folder();
    let lines = folder.path("stopped/units.jsonl");
    let line = format!("{SEARCH} --run stopped --threads 1");
    let mut child = folder.command(line.split_whitespace()).stdout(Stdio::null()).spawn().unwrap();
    while std::fs::metadata(&lines).map_or(0, |m| m.len()) == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before a unit was written");
        std::thread::sleep(Duration::from_millis(1));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let ended = child.wait_with_output().unwrap();
    let talk = String::from_utf8(ended.stderr).unwrap();
    let kept = "error: stopped on request; finished units are kept in stopped: the same command goes on from there\n";
    assert_eq!(ended.status.code(), Some(2), "{talk}");
    assert!(talk.ends_with(kept), "{talk}");
}

#[test]
fn pieces_join_to_the_whole() {
    let folder = folder();
    folder.line(&format!("{SEARCH} --run whole")).code(0);
    for piece in 1..=3 {
        folder.line(&format!("{SEARCH} --run piece{piece} --shard {piece}/3")).code(0);
    }
    let two = folder.line("study merge piece1 piece3 -o two").code(0);
    assert!(two.err.contains("13 of 20 units are done"), "{}", two.err);
    folder.line("study merge piece2 piece3 piece1 piece1 -o joined").code(0);
    for name in ["units.jsonl", "study.json"] {
        assert_eq!(
            bytes(&folder.path(&format!("joined/{name}"))),
            bytes(&folder.path(&format!("whole/{name}")))
        );
    }
    let same = folder.line("study compare whole joined").code(0);
    assert!(same.out.starts_with("0 of 25 means moved"), "{}", same.out);
}

#[test]
fn runs_are_compared() {
    let folder = folder();
    folder.line(&format!("{SEARCH} --run joint --kernels rbf,sig_linear")).code(0);
    let other = "--select marginal --compat published --kernels rbf,sig_linear";
    folder.line(&format!("{SEARCH} --run marginal {other}")).code(0);
    let found = folder.line("study compare joint marginal --format json").code(0).json();
    assert_eq!(found["common"], 13);
    assert!(!found["moved"].as_array().unwrap().is_empty());
    let p = found["p_value"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&p));
    let text = folder.line("study compare joint marginal").code(0).out;
    assert!(text.contains("roc_change") && text.contains("Wilcoxon"), "{text}");
}

#[test]
fn scores_made_elsewhere_are_a_column() {
    let folder = folder();
    let motions = basic_motions().unwrap();
    let labels: Vec<String> = motions.test.labels.unwrap().values.into_iter().step_by(2).collect();
    let mut csv = String::from("dataset,class,series,score\n");
    for class in ["Standing", "Running", "Walking", "Badminton"] {
        for (i, label) in labels.iter().enumerate() {
            // Perfect, with scores below zero.
            csv += &format!("Motions,{class},{i},{}\n", if label == class { -7.5 } else { -1.0 });
        }
    }
    folder.file("perfect.csv", &csv);
    let line = format!("{SEARCH} --kernels linear --scores perfect=perfect.csv");
    let found = folder.line(&format!("{line} --format json")).code(0).json();
    assert_eq!(found["Motions"]["baselines"]["perfect"]["roc_auc"], 1.0);
    assert_eq!(found["Motions"]["baselines"]["perfect"]["pr_auc"], 1.0);
    assert!(folder.line(&line).code(0).out.contains(" E "));
    let short: Vec<&str> = csv.lines().take(10).collect();
    folder.file("perfect.csv", short.join("\n"));
    folder.line(&line).fails("9 scores for 20 test series");
    folder.file("perfect.csv", "dataset,class,score\n");
    folder.line(&line).fails("there is no column `series`");
}

#[test]
fn a_dry_run_lists_the_units_and_estimates() {
    let folder = folder();
    let found = folder.line(&format!("{SEARCH} --dry-run")).code(0);
    assert!(found.out.starts_with("Motions/linear/"), "{}", found.out);
    assert_eq!(found.out.lines().filter(|line| line.starts_with("Motions/")).count(), 20);
    assert!(found.out.contains("estimate: Motions rbf: 4 units"), "{}", found.out);
    assert!(found.out.contains("threads; kernel values"), "{}", found.out);
    let grid = folder.line(&format!("{SEARCH} --print-grid")).code(0).json();
    assert_eq!(grid["max_rank"], 5);
    folder.file(
        "grid.toml",
        r#"
            folds = 2
            repeats = 3
            alphas = [1e-5, 1e-2]
            max_rank = 5
            [kernels]
            linear = {}
            rbf = { sigma = [0.5, 1] }
            sig_linear = { order = [1, 2], scale = [1] }
            mine = { specs = ["flat_poly:p=2", "integral_rbf"] }
        "#,
    );
    assert_eq!(
        folder.line("study uea --datasets Motions --grid grid.toml --print-grid").code(0).json(),
        grid
    );
}

#[test]
fn mistakes_are_told() {
    let folder = folder();
    folder.line("study uea --datasets Nothing").fails("there is no Nothing_TRAIN.ts");
    folder
        .line(&format!("{SEARCH} --kernels rbf,tree"))
        .fails("rows of this grid are: linear, mine, rbf, sig_linear");
    folder.line(&format!("{SEARCH} --run x --shard 4/3")).fails("k from 1 to n");
    folder.line(&format!("{SEARCH} --kernels linear --run x")).code(0);
    folder.line(&format!("{SEARCH} --kernels rbf --run x")).fails("another grid");
    folder.line(&format!("{SEARCH} --kernels linear --run x --select marginal")).fails("another --select");
    let lines = folder.path("x/units.jsonl");
    let spoilt = String::from_utf8(bytes(&lines)).unwrap().replacen("{", "(", 1);
    folder.file("x/units.jsonl", spoilt);
    folder.line("study show x").fails("line 1");
    folder.file("bad.json", r#"{"flods": 3}"#);
    folder.line("study uea --datasets Motions --grid bad.json").fails("unknown field `flods`");
    folder.file("bad.toml", "folds = 2\nflods = 3\n");
    folder
        .line("study uea --datasets Motions --grid bad.toml")
        .fails("bad.toml: line 2")
        .fails("unknown field `flods`");
    folder.file("params.json", "{}");
    folder.line("study uea --datasets Motions --published params.json").fails("expected {data set");
}

/// The published numbers, with the program as a user runs it (the library's tests have more data sets); skipped where
/// the reference data are absent.
#[test]
fn published_parameters_give_the_published_numbers() {
    let shared = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let file = shared.join("paper/published.json");
    if !file.exists() {
        println!("skipped: {} is not there", file.display());
        return;
    }
    let folder = Folder::new();
    let (uea, file) = (shared.join("uea"), file.to_str().unwrap().to_string());
    let datasets = "RacketSports";
    let arguments =
        ["study", uea.to_str().unwrap(), "--datasets", datasets, "--published", &file, "--format", "json"];
    let found = folder.run(arguments).code(0).json();
    let published: serde_json::Value = serde_json::from_slice(&bytes(file.as_ref())).unwrap();
    let mut checked = 0;
    for dataset in datasets.split(',') {
        for (row, _) in varnorm_study::ROWS.iter().filter(|(row, _)| !found[dataset][*row].is_null()) {
            for distance in ["conformance", "mahalanobis"] {
                for area in ["roc_auc", "pr_auc"] {
                    let ours = found[dataset][row][distance][area].as_f64().unwrap();
                    let theirs = published[dataset]["kernels"][row][distance][area].as_f64().unwrap();
                    if *row != "sig_random" {
                        assert!(
                            (ours - theirs).abs() < 5e-4,
                            "{dataset} {row} {distance} {area}: {ours} {theirs}"
                        );
                        checked += 1;
                    }
                }
            }
        }
    }
    let rows = varnorm_study::known_rows().count() - 1;
    assert_eq!(checked, rows * 4);
}
