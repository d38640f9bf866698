//! Thresholds, explanations, diagnostics and the theory command.

use varnorm::{Detector, Run};

use super::support::{Folder, waves, wide};

#[test]
fn explain_is_what_the_library_says() {
    let folder = Folder::with_model();
    let json =
        folder.line("explain walking.model test.ts --series 3 --segments 4 --format json").code(0).json();
    let detector = Detector::load(&folder.path("walking.model")).unwrap();
    let test = varnorm::data::basic_motions().unwrap().test;
    let expected = detector.explain(&test.series, 3, 4, &Run::sequential()).unwrap();
    assert_eq!(json["score"].as_f64(), Some(expected.score));
    assert_eq!((json["series"].as_u64(), &json["label"]), (Some(3), &"Standing".into()));
    assert_eq!(json["directions"].as_array().unwrap().len(), 9);
    assert_eq!(json["channels"].as_array().unwrap().len(), 6);
    assert_eq!(json["segments"][3]["end_step"], 100);
    assert_eq!(json["segments"][1]["adds"].as_f64(), Some(expected.segments[1].adds));
    assert_eq!(json["differences"][0]["share"].as_f64(), Some(expected.differences[0].share));
    let scored = folder.line("score walking.model test.ts --format csv").code(0);
    assert_eq!(scored.rows()[4][2].parse::<f64>().unwrap(), expected.score);
    folder
        .line("explain walking.model test.ts --series 40")
        .fails("the data have 40 series, numbered from 0");
    folder.line("explain walking.model test.ts --segments 0").fails("segments = 0");
}

#[test]
fn supervised_and_fixed_thresholds_tell_their_false_alarm_rate() {
    let folder = Folder::with_motions();
    let fit = folder.line("fit train.ts --normal Walking -o m --calibration supervised:objective=f1").code(0);
    assert!(fit.err.contains("30 series with other labels are the outliers"), "{}", fit.err);
    assert!(
        fit.err.contains("% of normal series are above") && fit.err.contains("of 30 outliers are not"),
        "{}",
        fit.err
    );
    let json = folder.line("score m test.ts --format json").code(0).json();
    assert_eq!(json["rule"], "supervised");
    let detector = Detector::load(&folder.path("m")).unwrap();
    assert_eq!(json["threshold"].as_f64(), Some(detector.chosen().unwrap().threshold));
    assert_eq!(json["target_false_alarm_rate"].as_f64(), Some(detector.chosen().unwrap().false_alarm_rate));
    folder.line("fit train.ts -o m --calibration supervised").fails("needs labelled outliers");
    // Outliers of their own.
    let same = folder
        .line("fit train.ts --normal Walking -o m2 --calibration supervised --outliers test.ts")
        .code(0);
    assert!(same.err.contains("of 40 outliers"), "{}", same.err);
    let fixed = folder.line("fit train.ts --normal Walking -o f --calibration fixed:threshold=2.5").code(0);
    assert!(
        fixed.err.contains("threshold 2.500; ")
            && fixed.err.contains("of the cross-fitted normal scores are above"),
        "{}",
        fixed.err
    );
    let scored = folder.line("score f test.ts --decision each").code(0);
    assert!(
        scored.err.contains("--decision has no effect: the model flags by a threshold"),
        "{}",
        scored.err
    );
    assert!(scored.err.contains("scores above 2.500 are flagged"), "{}", scored.err);
}

#[test]
fn the_gaussian_kind_asks_for_mahalanobis_and_is_checked() {
    let folder = Folder::with_motions();
    folder.line("fit train.ts -o m --calibration gaussian").fails("is that of the Mahalanobis distance");
    let fit = folder.line("fit train.ts -o m --calibration gaussian --distance mahalanobis").code(0);
    assert!(fit.err.contains("Gaussian law"), "{}", fit.err);
    let json = folder.line("inspect m --format json").code(0).json();
    let check = &json["gaussian_check"];
    assert_eq!(check["scores"], 40);
    // Four activities in one corpus are not Gaussian.
    assert_eq!(check["trusted"], false);
    assert!(fit.err.contains("use the conformal calibration cross_fit"), "{}", fit.err);
    let scored = folder.line("score m test.ts --format csv --decision storey").code(0);
    assert!(scored.err.contains("(Storey, level 0.05)"), "{}", scored.err);
    let lord = folder.line("score m test.ts --format csv --decision lord").code(0);
    assert!(lord.err.contains("(LORD++, in order, level 0.05)"), "{}", lord.err);
}

#[test]
fn inspect_advises() {
    let folder = Folder::new();
    let mut corpus = waves(12, 20);
    corpus.push(corpus[3].clone());
    folder.file("normal.csv", wide(&corpus));
    folder.line("fit normal.csv -o m --calibration leave_one_out --alpha 1e-8").code(0);
    let json = folder.line("inspect m --format json").code(0).json();
    let found = &json["diagnostics"];
    assert_eq!(found["duplicates"], serde_json::json!([[3, 12]]));
    assert!(found["covariance"]["effective_dimension"].as_f64().unwrap() > 1.0);
    assert!(found["regularised"]["concentration"].as_f64().unwrap() > 0.0);
    let text = folder.line("inspect m").code(0);
    assert!(text.out.contains("equal to others after preparation (series 12 to series 3"), "{}", text.out);
    assert!(
        text.out.contains("neighbours") && text.out.contains("outside the span of the others"),
        "{}",
        text.out
    );
}

#[test]
fn the_theory_command_writes_three_pictures() {
    let folder = Folder::new();
    let ran = folder.line("theory -o pictures --dimension 8 --repeats 3").code(0);
    for words in ["Empirical norms tend to the law's", "epsilon", "sqrt(2N)"] {
        assert!(ran.out.contains(words), "{}", ran.out);
    }
    for name in ["consistency.svg", "spread.svg", "equidistance.svg"] {
        let text = std::fs::read_to_string(folder.path("pictures").join(name)).unwrap();
        assert!(
            text.starts_with("<svg") && text.trim_end().ends_with("</svg>") && text.contains("<polyline")
        );
    }
    let json = folder.line("theory --dimension 8 --repeats 3 --format json --threads 1").code(0).json();
    assert!(json["consistency"]["tikhonov_slope"].as_f64().unwrap() < -0.2);
    // The same numbers for any number of threads.
    let again = folder.line("theory --dimension 8 --repeats 3 --format json --threads 2").code(0).json();
    assert_eq!(json, again);
    folder.line("theory --alpha 0").fails("alpha = 0");
}
