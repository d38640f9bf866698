//! `varnorm bench-long`: made recordings, runs that go on, scores made elsewhere, what users get wrong.

use super::support::{Folder, bytes};

/// A wave whose shape changes for a while, as a file of the UCR archive.
fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("archives/UCR")).unwrap();
    let value = |t: usize| {
        let phase = t as f64 * 0.25;
        let shape = if (1500..1540).contains(&t) { (3.0 * phase).sin() } else { phase.sin() };
        shape + 0.01 * ((t * 7919) % 101) as f64 / 101.0
    };
    let text: String = (0..2000).map(|t| format!("{}\n", value(t))).collect();
    std::fs::write(folder.path("archives/UCR/001_UCR_Anomaly_wave_1000_1500_1539.txt"), text).unwrap();
    folder
}

#[test]
fn a_change_of_shape_is_found_and_a_run_goes_on() {
    let folder = folder();
    let run = |format: &str| folder.run(["bench-long", "archives", "-o", "kept", "--format", format]).code(0);
    let first = run("json");
    assert!(
        first.err.contains("[recording 1/1] UCR/001_UCR_Anomaly_wave_1000_1500_1539/varnorm: VUS-PR"),
        "{}",
        first.err
    );
    let found = first.json();
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), 3);
    let methods: Vec<&str> = found.iter().map(|one| one["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["varnorm", "nearest", "pca-residual"]);
    assert_eq!(
        (&found[0]["normal"], &found[0]["points"], &found[0]["anomalous"]),
        (&1000.into(), &1000.into(), &40.into())
    );
    assert_eq!(found[0]["hit"], true);
    assert!(found[0]["vus_pr"].as_f64().unwrap() > 0.8, "{}", found[0]);
    let kept = bytes(&folder.path("kept/outcomes.jsonl"));
    // Nothing is worked out again.
    let again = run("markdown");
    assert!(!again.err.contains("[recording"), "{}", again.err);
    assert!(again.out.contains("| UCR | varnorm | 1 |"), "{}", again.out);
    assert_eq!(kept, bytes(&folder.path("kept/outcomes.jsonl")));
    assert!(run("html").out.contains("<h1>Benchmark of long recordings</h1>"));
    let other = folder.run(["bench-long", "archives", "-o", "kept", "--vus-window", "20"]).code(2);
    assert!(other.err.contains("this benchmark was begun with"), "{}", other.err);
}

#[test]
fn scores_made_elsewhere_stand_beside() {
    let folder = folder();
    let mut text = String::from("recording,point,score\n");
    (0..1000).for_each(|t| {
        let score = if (500..540).contains(&t) { 2 } else { 1 };
        text += &format!("UCR/001_UCR_Anomaly_wave_1000_1500_1539,{t},{score}\n");
    });
    std::fs::write(folder.path("peer.csv"), &text).unwrap();
    let arguments = ["bench-long", "archives", "--methods", "pca-residual", "--scores", "peer=peer.csv"];
    let found = folder.run(arguments.into_iter().chain(["--point-adjusted"])).code(0);
    assert!(found.out.contains("point-adjusted F1 (misleading)"), "{}", found.out);
    let row = found.out.lines().find(|line| line.contains("peer")).unwrap();
    assert!(row.contains("1.000"), "{row}");
    let short: String = text.lines().take(900).map(|line| format!("{line}\n")).collect();
    std::fs::write(folder.path("peer.csv"), short).unwrap();
    let found = folder.run(arguments).code(2);
    assert!(found.err.contains("899 scores for 1000 points of the test part"), "{}", found.err);
}

#[test]
fn what_is_wrong_is_said_before_the_work() {
    let folder = folder();
    for (arguments, said) in [
        (&["bench-long", "nowhere"][..], "nowhere"),
        (&["bench-long", "archives", "--methods", "stumpy"], "is none of varnorm, nearest, pca-residual"),
        (&["bench-long", "archives", "--groups", "SKAB"], "there is no such group"),
        (&["bench-long", "archives", "--scores", "peer"], "write a name and a file"),
        (&["bench-long", "archives", "--cut", "2"], "must be above 0 and at most 1"),
    ] {
        let found = folder.run(arguments.iter().copied()).code(2);
        assert!(found.err.contains(said), "{}", found.err);
        assert!(found.out.is_empty(), "{}", found.out);
    }
}
