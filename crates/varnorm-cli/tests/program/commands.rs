//! Every command on good data.

use varnorm::data::{ReadOptions, basic_motions, read};
use varnorm::{Detector, Kernel, Run, Settings};

use super::support::{Folder, bytes, waves, wide};

#[test]
fn fitted_and_scored_as_by_the_library() {
    let folder = Folder::with_model();
    let motions = basic_motions().unwrap();
    let run = Run::sequential();
    let walking = motions.train.select(&motions.train.with_label("Walking").unwrap());
    let detector = Settings::default().fit(&walking.series, &run).unwrap();
    // Series that were picked go by their place in the file.
    let places = motions.train.with_label("Walking").unwrap();
    let names = places.iter().map(usize::to_string).collect();
    let detector = detector.with_corpus_names(Some(names));
    assert_eq!(Detector::load(&folder.path("walking.model")).unwrap(), detector);
    let expected = detector.score(&motions.test.series, &run).unwrap();
    for threads in ["1", "2"] {
        let ran = folder
            .run(["score", "walking.model", "test.ts", "--format", "json", "--threads", threads])
            .code(0);
        let json = ran.json();
        let findings = json["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 40);
        for (found, expected) in findings.iter().zip(&expected.findings) {
            assert_eq!(found["score"].as_f64().unwrap().to_bits(), expected.score.to_bits());
            assert_eq!(found["p_value"].as_f64(), expected.p_value);
            assert_eq!(found["novel"].as_bool(), expected.novel);
            assert_eq!(found["nearest"].as_u64().unwrap() as usize, expected.nearest);
            assert_eq!(found["nearest_name"].as_str(), expected.nearest_name.as_deref());
            assert_eq!(found["outside_span"].as_f64(), Some(expected.outside_span));
        }
        assert_eq!(findings[0]["name"], "0");
        assert_eq!(findings[0]["label"], "Standing");
        assert_eq!(json["rule"], "each");
        assert_eq!(json["level"], 0.05);
        let kernel: Kernel = serde_json::from_value(json["model"]["views"][0]["kernel"].clone()).unwrap();
        assert_eq!(&kernel, detector.kernel());
    }
    let csv = folder.line("score walking.model test.ts --format csv").code(0);
    let columns = ["series", "label", "score", "p_value", "novel", "nearest", "outside_span", "seen_by"];
    assert_eq!(csv.rows()[0], columns);
    for (row, expected) in csv.rows()[1..].iter().zip(&expected.findings) {
        assert_eq!(row[2].parse::<f64>().unwrap().to_bits(), expected.score.to_bits());
    }
}

#[test]
fn fit_says_what_it_did() {
    let folder = Folder::with_motions();
    let ran =
        folder.line("fit train.ts --normal Walking -o m --kernel flat_rbf:sigma=30 --level 0.1").code(0);
    let detector = Detector::load(&folder.path("m")).unwrap();
    let threshold = detector.threshold(0.1).unwrap();
    assert_eq!(ran.out, "");
    assert_eq!(
        ran.err,
        format!(
            "fitted on 10 series of 6 channels labelled Walking\n\
             view flat_rbf:sigma=30, prepared by pool=100,zscore=channel,clip=5; rank 9 kept\n\
             calibration leave_one_out: 10 scores, threshold {threshold:.2} at level 0.1\n\
             wrote m\n"
        )
    );
    let all = folder.line("fit train.ts -o m").code(0);
    assert!(all.err.contains("warning: the data have 4 classes (Badminton, Running, Standing, Walking)"));
    let few = folder.line("fit train.ts --normal Walking -o m").code(0);
    assert!(
        few.err.contains("warning: 10 calibration scores cannot give a p-value below 0.091"),
        "{}",
        few.err
    );
    let split = folder.line("fit train.ts -o m --calibration split:holdout=0.25").code(0);
    assert!(split.err.contains("fitted on 30 series of 6 channels (10 held out)"), "{}", split.err);
    let none = folder.line("fit train.ts -o m --calibration none").code(0);
    assert!(none.err.contains("calibration none: scores only"), "{}", none.err);
}

#[test]
fn names_are_kept_in_the_model_and_told_with_findings() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("normal")).unwrap();
    for (i, wave) in waves(6, 20).iter().enumerate() {
        let rows: String = wave.iter().enumerate().map(|(t, v)| format!("{t},{v}\n")).collect();
        folder.file(&format!("normal/wave{i}.csv"), format!("time,x\n{rows}"));
    }
    folder.line("fit normal -o m --calibration cross_fit:folds=3").code(0);
    let ran = folder.line("score m normal --format csv").code(0);
    for (i, row) in ran.rows()[1..].iter().enumerate() {
        assert_eq!((row[0], row[4]), (&format!("wave{i}")[..], &format!("wave{i}")[..]));
    }
    let json = folder.line("score m normal/wave3.csv --format json").code(0).json();
    assert_eq!(json["findings"][0]["nearest_name"], "wave3");
}

#[test]
fn settings_come_from_the_file_and_options_override_them() {
    let folder = Folder::new();
    let printed = folder.line("fit --print-settings").code(0);
    let settings: Settings = serde_json::from_str(&printed.out).unwrap();
    assert_eq!(settings, Settings::default());
    folder.file("s.json", r#"{"alpha": 0.5, "distance": {"distance": "mahalanobis"}, "level": 0.2}"#);
    let ran = folder.run([
        "fit",
        "--print-settings",
        "--settings",
        "s.json",
        "--level",
        "0.3",
        "--kernel",
        "flat_poly:p=3",
        "--prepare",
        "none",
        "--norm",
        "tikhonov",
        "--no-normalize",
        "--max-rank",
        "4",
        "--eigenvalue-threshold",
        "0.25",
        "--calibration",
        "split:seed=5",
        "--decision",
        "each",
    ]);
    let json = ran.code(0).json();
    assert_eq!(json["alpha"], 0.5);
    assert_eq!(json["level"], 0.3);
    assert_eq!(json["distance"]["distance"], "mahalanobis");
    assert_eq!(json["kernel"], serde_json::json!({"kernel": "flat_poly", "c": "auto", "p": 3}));
    assert_eq!(json["prepare"], serde_json::json!([]));
    assert_eq!((&json["norm"], &json["scaling"]), (&"tikhonov".into(), &"raw".into()));
    assert_eq!(json["rank"], serde_json::json!({"max_rank": 4, "eigenvalue_threshold": 0.25}));
    assert_eq!(json["calibration"]["seed"], 5);
    assert_eq!(json["decision"], "each");
    let back =
        folder.line("fit --print-settings --settings s.json --neighbour 2 --distance conformance").code(0);
    assert_eq!(back.json()["distance"], serde_json::json!({"distance": "conformance", "neighbour": 2}));
}

#[test]
fn exit_code_1_only_when_asked_for_and_flagged() {
    let folder = Folder::with_model();
    folder.line("score walking.model test.ts --decision each --level 0.1").code(0);
    folder.line("score walking.model test.ts --decision each --level 0.1 --fail-on-novel").code(1);
    // Ten normal series cannot flag anything at the model's own level: to pass would promise too much.
    let ran = folder.line("score walking.model test.ts --fail-on-novel").code(2);
    assert!(ran.err.contains("--fail-on-novel can never fail here"), "{}", ran.err);
    folder.line("score walking.model test.ts --decision each --level 0.1 --fail-on-novel -o f.json").code(1);
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&bytes(&folder.path("f.json"))).unwrap()["rule"],
        "each"
    );
    folder.line("fit train.ts -o none.model --calibration none").code(0);
    folder.line("score none.model test.ts --fail-on-novel").fails("--fail-on-novel needs flags");
    let scores = folder.line("score none.model test.ts --format csv").code(0);
    assert_eq!(scores.rows()[1][3..5], ["", ""]);
    assert!(scores.err.contains("40 series scored (no calibration, no flags)"));
}

#[test]
fn a_batch_too_large_for_benjamini_hochberg_is_explained() {
    let folder = Folder::new();
    let mut batch = waves(30, 20);
    folder.file("normal.csv", wide(&batch));
    batch.push((0..20).map(|t| if t % 2 == 0 { 9.0 } else { -9.0 }).collect());
    folder.file("batch.csv", wide(&batch));
    folder.line("fit normal.csv -o m --kernel flat_rbf --decision benjamini_hochberg").code(0);
    let ran = folder.line("score m batch.csv").code(0);
    assert!(ran.err.contains("0 of 31 flagged (Benjamini-Hochberg, level 0.05)"), "{}", ran.err);
    let hint = "nothing can be flagged unless 20 series score above every normal one: with 30 calibration scores \
                Benjamini-Hochberg over a batch of 31 needs so many at once; use the decision each";
    assert!(ran.err.contains(hint) && ran.out.contains(hint), "{}", ran.err);
    let each = folder.line("score m batch.csv --decision each").code(0);
    assert!(each.out.lines().last().unwrap().contains("yes"));
    assert!(!each.err.contains("can be flagged"));
}

#[test]
fn quantile_models_flag_by_score() {
    let folder = Folder::with_motions();
    let fit = folder.line("fit train.ts -o m --calibration quantile --level 0.05").code(0);
    assert!(!fit.err.contains("cannot give a p-value"), "{}", fit.err);
    let ran = folder.line("score m test.ts --level 0.5 --decision each").code(0);
    assert!(ran.err.contains("--decision has no effect"), "{}", ran.err);
    assert!(ran.err.contains("are flagged") && !ran.err.contains("0 of 40"), "{}", ran.err);
}

#[test]
fn a_gram_matrix_is_the_librarys() {
    let folder = Folder::with_motions();
    let ran = folder.line("gram train.ts -o g.npy").code(0);
    assert_eq!(ran.out, "");
    assert!(ran.err.starts_with("kernel flat_rbf:sigma=") && ran.err.ends_with(" values\nwrote g.npy\n"));
    let train = basic_motions().unwrap().train.series;
    let kernel = Kernel::default().resolve(&train).unwrap();
    let run = Run::sequential();
    let raw = varnorm::gram::gram(&kernel, &train, varnorm::gram::Scaling::Raw, &run).unwrap();
    let back = read(&folder.path("g.npy"), &ReadOptions::default()).unwrap().series;
    assert_eq!((back.len(), back.equal_length()), (40, Some(40)));
    assert_eq!(back.values(), raw.matrix.values());
    let printed = folder.line("gram train.ts").code(0);
    let numbers: Vec<f64> = printed.rows().concat().iter().map(|cell| cell.parse().unwrap()).collect();
    assert_eq!(numbers, raw.matrix.values());
}

#[test]
fn gram_options_do_what_they_say() {
    let folder = Folder::with_motions();
    let cells = |line: &str| -> Vec<f64> {
        let ran = folder.line(line).code(0);
        ran.rows().concat().iter().map(|cell| cell.parse().unwrap()).collect()
    };
    // What is learned is learned from the columns: the cross matrix of a set with itself is its Gram matrix.
    let within = cells("gram train.ts --kernel integral_poly --prepare standard --normalize");
    let across = cells("gram train.ts train.ts --kernel integral_poly --prepare standard --normalize");
    assert!(within.iter().zip(&across).all(|(a, b)| (a - b).abs() < 1e-12));
    assert!((0..40).all(|i| within[i * 40 + i] == 1.0));
    let plain = cells("gram test.ts train.ts --kernel integral_rbf");
    let log = cells("gram test.ts train.ts --kernel integral_rbf --log");
    assert!(plain.iter().zip(&log).all(|(value, log)| value.ln() == *log));
    folder
        .line("gram train.ts --kernel flat_linear --log -o g.npy")
        .fails("is negative and has no logarithm; leave the logarithm out");
    folder.line("gram train.ts -o g.txt").fails("a Gram matrix is written as .npy or .csv, not as .txt");
    folder.line("gram train.ts -o g.csv").code(0);
    assert_eq!(folder.names(), ["g.csv", "test.ts", "train.ts"]);
}

#[test]
fn inspect_tells_model_from_data_by_content() {
    let folder = Folder::with_model();
    std::fs::copy(folder.path("walking.model"), folder.path("model")).unwrap();
    let model = folder.line("inspect model --format json").code(0).json();
    assert_eq!(model["kind"], "model");
    assert_eq!(model["corpus"]["series"], 10);
    assert_eq!(model["spectrum"]["rank"], 9);
    assert_eq!(model["spectrum"]["eigenvalues"].as_array().unwrap().len(), 9);
    assert_eq!(model["calibration"]["scores"], 10);
    assert_eq!(model["calibration"]["threshold"], "inf");
    assert_eq!(model["warnings"].as_array().unwrap().len(), 1);
    let settings: Settings = serde_json::from_value(model["settings"].clone()).unwrap();
    let fitted = varnorm::calibrate::Calibration::LeaveOneOut {};
    assert_eq!(settings, Settings::default().with_calibration(fitted));
    let data = folder.line("inspect test.ts --format json").code(0).json();
    assert_eq!((&data["kind"], &data["series"]), (&"data".into(), &40.into()));
    assert_eq!(data["channels"].as_array().unwrap().len(), 6);
    assert_eq!(data["labels"][1], serde_json::json!({"label": "Running", "series": 10}));
    folder.file("notes.md", "not a model");
    folder.line("inspect notes.md").fails("neither a varnorm model nor data of a known format");
    folder.line("inspect nothing").fails("cannot read nothing");
}

#[test]
fn inspect_finds_missing_and_infinite_values() {
    let folder = Folder::new();
    folder.file("x.csv", "case_id,time,a,b,label\nu,0,1,,p\nu,1,2,5,p\nv,0,inf,6,q\n");
    let data = folder.line("inspect x.csv --format json").code(0).json();
    assert_eq!(
        data["missing"],
        serde_json::json!({"count": 1, "first": {"series": 0, "step": 0, "channel": 1}})
    );
    assert_eq!(data["infinite"]["first"], serde_json::json!({"series": 1, "step": 0, "channel": 0}));
    assert_eq!(data["channels"][0], serde_json::json!({"name": "a", "min": 1.0, "max": 2.0}));
    assert_eq!(data["lengths"], serde_json::json!({"min": 1, "median": 2, "max": 2}));
}

#[test]
fn kernels_are_the_catalogue_and_every_example_runs() {
    let folder = Folder::with_motions();
    let listed = folder.line("kernels --format json").code(0).json();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), varnorm::kernel::CATALOGUE.len());
    for kernel in listed {
        let example = kernel["example"].as_str().unwrap();
        folder.run(["fit", "train.ts", "--kernel", example, "-o", "m"]).code(0);
        folder.run(["fit", "train.ts", "--kernel", kernel["name"].as_str().unwrap(), "-o", "m"]).code(0);
        folder.line("score m test.ts").code(0);
    }
}

#[test]
fn the_demo_is_what_fit_and_score_give() {
    let folder = Folder::with_model();
    let demo = folder.line("demo --format json").code(0).json();
    let walking = &demo["activities"][2];
    assert_eq!(walking["normal"], "Walking");
    let ran = folder.line("score walking.model test.ts --decision each --level 0.1 --format csv").code(0);
    let rows = ran.rows();
    let flagged =
        |normal: bool| rows.iter().filter(|r| r[4] == "yes" && (r[1] == "Walking") == normal).count();
    assert_eq!(walking["novel_flagged"], flagged(false));
    assert_eq!(walking["false_alarms"], flagged(true));
    folder.line("demo --kernel flat_linear --prepare none --norm exact --distance mahalanobis").code(0);
    folder.line("demo --level 2").fails("level = 2");
}

#[test]
fn help_has_an_example_for_every_command() {
    let folder = Folder::new();
    for command in
        ["demo", "fit", "score", "explain", "inspect", "gram", "convert", "kernels", "theory", "merge"]
    {
        let ran = folder.run([command, "--help"]).code(0);
        assert!(ran.out.contains(&format!("Example:\n  varnorm {command}")), "{}", ran.out);
        assert!(ran.out.lines().all(|line| line.chars().count() <= 110), "{}", ran.out);
    }
    folder.line("--version").code(0);
    assert_eq!(folder.line("frobnicate").code, Some(2));
    assert_eq!(folder.line("fit train.ts").code, Some(2));
    assert_eq!(folder.line("score --threads 99999 a b").code, Some(2));
}

#[test]
fn help_states_the_defaults_of_the_settings() {
    let help = Folder::new().line("fit --help").code(0).out;
    let defaults = serde_json::to_value(varnorm::Settings::one_view()).unwrap();
    let preset = serde_json::to_value(varnorm::Settings::default()).unwrap();
    // An option's text may be folded: one line of words.
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let stated = |option: &str| {
        let after = words.split_once(&format!(" {option} ")).unwrap_or_else(|| panic!("{option}: {words}")).1;
        after.split_once("[default: ").unwrap().1.split_once(']').unwrap().0.to_string()
    };
    assert_eq!(stated("--preset"), preset["preset"]);
    assert_eq!(stated("--alpha"), defaults["alpha"]);
    assert_eq!(stated("--level"), defaults["level"].to_string());
    assert_eq!(stated("--norm"), defaults["norm"]);
    assert_eq!(stated("--decision"), defaults["decision"]);
    assert_eq!(stated("--distance"), defaults["distance"]["distance"]);
    assert_eq!(stated("--prepare"), varnorm::Preparation::standard().to_string());
    assert_eq!(stated("--calibration"), defaults["calibration"]["method"]);
}
