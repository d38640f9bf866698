//! `varnorm bench`: real data, runs that were stopped, scores made elsewhere, what users get wrong.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use varnorm::data::{WriteOptions, basic_motions, write};

use super::support::{Folder, bytes};

/// With `uea/Motions`: the BasicMotions that come with the library.
fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("uea/Motions")).unwrap();
    let motions = basic_motions().unwrap();
    for (part, dataset) in [("TRAIN", &motions.train), ("TEST", &motions.test)] {
        let path = folder.path(&format!("uea/Motions/Motions_{part}.ts"));
        write(dataset, &path, &WriteOptions::default()).unwrap();
    }
    folder
}

/// The lines of a run, without what differs from run to run: seconds, and with them the checksums.
fn outcomes(path: &Path) -> Vec<Value> {
    let text = String::from_utf8(bytes(path)).unwrap();
    let line = |line: &str| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        let fields = value.as_object_mut().unwrap();
        for name in ["fit_seconds", "score_seconds", "checksum"] {
            fields.remove(name);
        }
        value
    };
    text.lines().map(line).collect()
}

#[test]
fn the_shared_data_are_judged_in_every_format() {
    let shared = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/uea"));
    if !shared.join("BasicMotions").is_dir() {
        println!("skipped: {} has no BasicMotions", shared.display());
        return;
    }
    let folder = Folder::new();
    let run = |format: &str| {
        let shared = shared.to_str().unwrap();
        let arguments = ["bench", shared, "--datasets", "BasicMotions", "--methods", "auto,nearest"];
        folder.run(arguments.into_iter().chain(["-o", "kept", "--format", format])).code(0)
    };
    let found = run("json");
    assert!(found.err.contains("[set 1/1] BasicMotions/"), "{}", found.err);
    let found = found.json();
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), 4 * 2);
    for one in found {
        assert_eq!((&one["corpus"], &one["normal"], &one["novel"]), (&10.into(), &10.into(), &30.into()));
        // Ten series cannot keep the library's own level.
        assert_eq!(one["level"], 0.1);
        for share in ["roc_auc", "average_precision", "novel_flagged", "normal_flagged"] {
            assert!((0.0..=1.0).contains(&one[share].as_f64().unwrap()), "{one}");
        }
        assert!(one["fit_seconds"].as_f64().unwrap() >= 0.0 && one["score_seconds"].is_number());
    }
    // From what was kept: nothing is worked out again.
    let text = run("text");
    assert_eq!(text.err, "");
    assert!(text.out.starts_with("data set "), "{}", text.out);
    let mean = |method: &str| {
        let areas = found.iter().filter(|one| one["method"] == method);
        let areas: Vec<f64> = areas.map(|one| one["roc_auc"].as_f64().unwrap()).collect();
        let area = format!("{:.3}", areas.iter().sum::<f64>() / areas.len() as f64);
        area.strip_prefix('0').map_or(area.clone(), str::to_string)
    };
    for method in ["auto", "nearest"] {
        let cells = format!("| BasicMotions | {method} | 4 | {} |", mean(method));
        let markdown = run("markdown").out;
        assert!(markdown.contains(&cells), "{cells}\n{markdown}");
    }
    let html = run("html").out;
    assert!(html.contains(&format!("<td class=\"number\">{}</td>", mean("nearest"))), "{html}");
}

#[test]
fn a_run_that_was_stopped_goes_on_to_the_same_lines() {
    let folder = folder();
    let line = "bench uea --methods paper,nearest --threads 1 -o";
    folder.line(&format!("{line} whole")).code(0);
    let whole = outcomes(&folder.path("whole/outcomes.jsonl"));
    assert_eq!(whole.len(), 8);
    let path = folder.path("stopped/outcomes.jsonl");
    let stopped = format!("{line} stopped");
    let mut child = folder.command(stopped.split_whitespace()).stdout(Stdio::null()).spawn().unwrap();
    while std::fs::metadata(&path).map_or(0, |m| m.len()) == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before an outcome was written");
        std::thread::sleep(Duration::from_millis(1));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let ended = child.wait_with_output().unwrap();
    let talk = String::from_utf8(ended.stderr).unwrap();
    // A machine that is fast enough is done before it hears.
    if ended.status.code() != Some(0) {
        let kept = "error: stopped on request; finished outcomes are kept in stopped: the same command goes on from \
                    there\n";
        assert!(talk.ends_with(kept), "{talk}");
    }
    // As a kill leaves it: two lines, and a torn third.
    let lines: Vec<u8> = bytes(&folder.path("whole/outcomes.jsonl"));
    let text = String::from_utf8(lines).unwrap();
    let mut kept: Vec<&str> = text.split_inclusive('\n').take(3).collect();
    kept[2] = &kept[2][..kept[2].len() / 2];
    std::fs::write(&path, kept.concat()).unwrap();
    let again = folder.line(&stopped).code(0);
    assert_eq!(again.err.matches("[set 1/1]").count(), 6, "{}", again.err);
    assert_eq!(outcomes(&path), whole);
    assert!(
        String::from_utf8(bytes(&path)).unwrap().starts_with(&kept[..2].concat()),
        "kept lines stay as they are"
    );
    // A changed digit is noticed; other settings are refused.
    folder.line(&format!("{stopped} --level 0.2")).fails("begun with level 0.05");
    std::fs::write(&path, text.replacen("\"corpus\":10", "\"corpus\":11", 1)).unwrap();
    folder.line(&stopped).fails("line 1: the line does not fit its checksum");
}

#[test]
fn scores_made_elsewhere_are_a_method() {
    let folder = folder();
    let labels = basic_motions().unwrap().test.labels.unwrap().values;
    let mut csv = String::from("dataset,class,series,score\n");
    for class in ["Standing", "Running", "Walking"] {
        for (i, label) in labels.iter().enumerate() {
            // Perfect, with scores below zero.
            csv += &format!("Motions,{class},{i},{}\n", if label == class { -7.5 } else { -1.0 });
        }
    }
    folder.file("perfect.csv", &csv);
    let line = "bench uea --methods nearest --scores perfect=perfect.csv -o kept";
    let found = folder.line(line).code(0);
    let row = found.out.lines().find(|line| line.contains("perfect")).unwrap().to_string();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[..4], ["Motions", "perfect", "3", "1.000"], "{row}");
    assert!(cells.ends_with(&["1.000", "-", "-", "-", "-", "-"]), "areas only: {row}");
    assert!(found.out.contains("note: Motions/Badminton/perfect: the file of scores has none of this class"));
    // The file is read anew each time: other scores are other areas.
    folder.file("perfect.csv", csv.replace("-7.5", "7.5"));
    let again = folder.line(line).code(0);
    assert!(
        again.out.lines().any(|line| line.contains("perfect") && line.contains(" .000 ")),
        "{}",
        again.out
    );
    assert!(!again.err.contains("/nearest: ROC"), "{}", again.err);
    folder.file("perfect.csv", "dataset,class,series,score\nMotions,Walking,0,1\n");
    folder.line(line).fails("1 scores for 40 test series");
    folder.line("bench uea --scores perfect.csv").fails("write a name and a file");
    folder.line("bench uea --scores nearest=perfect.csv").fails("is the name of two columns");
}

#[test]
fn what_is_wrong_is_said_before_the_work() {
    let folder = folder();
    folder.line("bench uea --methods auto,nearst").fails("is none of auto, fast, paper, nearest");
    folder.line("bench uea --datasets Motion").fails("there is no such data set in uea; it has Motions");
    folder.line("bench uea --datasets Motions,Motions").fails("is named twice");
    folder.line("bench uea/Motions").fails("there is no data set here");
    folder.line("bench nowhere").fails("cannot read nowhere");
    folder.line("bench uea --level 1.5").fails("level");
    assert_eq!(folder.names(), ["uea"]);
    let help = folder.line("bench --help").code(0).out;
    let level = varnorm::Settings::default().level;
    assert!(help.contains("[default: auto, fast, paper, nearest]"), "{help}");
    assert!(help.contains(&format!("[default: {level}]")), "{help}");
}

/// What a method cannot do on a class is told; the rest of the benchmark goes on.
#[test]
fn a_class_that_cannot_be_judged_is_noted() {
    let folder = folder();
    let motions = basic_motions().unwrap();
    let labels = &motions.test.labels.as_ref().unwrap().values;
    let others: Vec<usize> = (0..labels.len()).filter(|i| labels[*i] != "Walking").collect();
    let path = folder.path("uea/Motions/Motions_TEST.ts");
    write(&motions.test.select(&others), &path, &WriteOptions::default()).unwrap();
    let found = folder.line("bench uea --methods nearest").code(0);
    let note = "note: Motions/Walking/nearest: 0 of 30 test series are of this class; areas need both kinds";
    assert!(found.out.contains(note), "{}", found.out);
    assert!(found.out.contains("nearest        3"), "{}", found.out);
}
