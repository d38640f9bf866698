//! Detectors of several views: comparable scores, their combination, the model file, parts.

use varnorm::calibrate::Calibration;
use varnorm::detector::{Combination, View};
use varnorm::detector::{Fitting, Preset, Views};
use varnorm::{Detector, Run, SeriesSet, Settings};

use crate::common::Numbers;

fn views(kernels: &[&str]) -> Vec<View> {
    kernels.iter().map(|kernel| View::new(kernel.parse().unwrap())).collect()
}

fn two() -> Settings {
    Settings::default().with_views(views(&["flat_rbf", "gak"]))
}

fn corpus() -> SeriesSet {
    Numbers(5).walks(24, 12, 2)
}

/// The median and the standard deviation of logarithms, written down once more.
fn comparable(score: f64, normal: &[f64]) -> f64 {
    let mut sorted = normal.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let median = 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]);
    let logs: Vec<f64> = sorted.iter().map(|s| (s / median).ln()).collect();
    let mean = logs.iter().sum::<f64>() / n as f64;
    let deviation = (logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / (n - 1) as f64).sqrt();
    (score / median).ln() / (deviation + 0.05)
}

#[test]
fn views_are_made_comparable_and_combined() {
    let (run, corpus, queries) = (Run::sequential(), corpus(), Numbers(6).walks(7, 12, 2));
    let found = two().fit(&corpus, &run).unwrap().score(&queries, &run).unwrap();
    let alone: Vec<(Vec<f64>, Vec<f64>)> = ["flat_rbf", "gak"]
        .iter()
        .map(|kernel| {
            let settings = Settings::default().with_views(views(&[kernel]));
            let scores = settings.fit(&corpus, &run).unwrap().score(&queries, &run).unwrap().scores();
            (scores, settings.leave_one_out(&corpus, &run).unwrap())
        })
        .collect();
    for (q, finding) in found.findings.iter().enumerate() {
        let expected: Vec<f64> = alone.iter().map(|(scores, normal)| comparable(scores[q], normal)).collect();
        assert_eq!(finding.views.iter().map(|v| v.view.as_str()).collect::<Vec<_>>(), ["flat_rbf", "gak"]);
        for (view, z) in finding.views.iter().zip(&expected) {
            assert!((view.score - z).abs() < 1e-9, "{} {z}", view.score);
        }
        assert!((finding.score - 0.5 * (expected[0] + expected[1])).abs() < 1e-9);
    }
}

#[test]
fn calibration_scores_are_those_of_series_left_out() {
    let (run, corpus) = (Run::sequential(), corpus());
    let detector = two().fit(&corpus, &run).unwrap();
    assert_eq!(detector.settings().calibration, Calibration::LeaveOneOut {});
    let mut expected = two().leave_one_out(&corpus, &run).unwrap();
    expected.sort_by(f64::total_cmp);
    assert_eq!(detector.calibrated().unwrap().scores(), expected);
    assert_eq!(detector.leave_one_out_scores(&run).unwrap(), expected);
}

#[test]
fn one_view_scores_as_it_is() {
    let (run, corpus) = (Run::sequential(), corpus());
    let listed = Settings::default().with_views(views(&["flat_rbf"])).fit(&corpus, &run).unwrap();
    let plain = Settings::default().with_kernel("flat_rbf".parse().unwrap()).fit(&corpus, &run).unwrap();
    assert_eq!(listed, plain);
    assert!(listed.score(&corpus, &run).unwrap().findings.iter().all(|f| f.views.is_empty()));
}

#[test]
fn models_of_several_views_are_saved_and_load_the_same() {
    let (run, corpus, queries) = (Run::sequential(), corpus(), Numbers(7).walks(5, 12, 2));
    for settings in [
        two(),
        two().with_combination(Combination::Max).with_calibration("cross_fit:folds=3".parse().unwrap()),
        two().with_calibration(Calibration::None {}),
        two().with_calibration("split".parse().unwrap()),
    ] {
        let detector = settings.fit(&corpus, &run).unwrap();
        let bytes = detector.to_bytes().unwrap();
        let loaded = Detector::from_bytes(&bytes).unwrap();
        assert_eq!(loaded, detector);
        assert_eq!(loaded.to_bytes().unwrap(), bytes);
        assert_eq!(loaded.score(&queries, &run).unwrap(), detector.score(&queries, &run).unwrap());
    }
}

#[test]
fn a_damaged_model_of_several_views_is_refused_with_a_sentence() {
    let bytes = two().fit(&corpus(), &Run::sequential()).unwrap().to_bytes().unwrap();
    for cut in (0..bytes.len()).step_by(bytes.len() / 97) {
        assert!(Detector::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    for at in (0..bytes.len()).step_by(bytes.len() / 211) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let problem = Detector::from_bytes(&flipped).expect_err("a flipped bit");
        assert!(problem.len() > 10, "{problem}");
    }
    let text = String::from_utf8_lossy(&bytes).replace(r#"\"format\":2"#, r#"\"format\":9"#);
    assert!(text.contains(r#"\"format\":9"#));
    let mut other = bytes.clone();
    let at = bytes.windows(12).position(|w| w == br#"\"format\":2"#).unwrap();
    other[at + 11] = b'9';
    assert!(Detector::from_bytes(&other).unwrap_err().contains("version is 9"));
}

#[test]
fn settings_of_one_view_several_and_presets_have_one_json_each() {
    for settings in [Settings::default(), Settings::preset(Preset::Fast), Settings::one_view(), two()] {
        let json = serde_json::to_string(&settings).unwrap();
        assert_eq!(serde_json::from_str::<Settings>(&json).unwrap(), settings, "{json}");
    }
    let level: Settings = serde_json::from_str(r#"{"level":0.1}"#).unwrap();
    assert_eq!((level.views, level.level), (Views::Preset(Preset::Auto), 0.1));
    for wrong in [
        r#"{"preset":"auto","alpha":0.1}"#,
        r#"{"views":[],"kernel":{"kernel":"gak"}}"#,
        r#"{"preset":"auto","views":[]}"#,
    ] {
        let problem = serde_json::from_str::<Settings>(wrong).unwrap_err().to_string();
        assert!(problem.contains("exclude each other"), "{problem}");
    }
    assert!(Settings::default().with_views(Vec::new()).validate().is_err());
    let mixed = vec![
        View::default(),
        Settings::default().with_space("landmarks:4".parse().unwrap()).given()[0].clone(),
    ];
    assert!(Settings::default().with_views(mixed).validate().unwrap_err().to_string().contains("all pairs"));
}

#[test]
fn compact_views_merge_part_by_part() {
    let (run, corpus, queries) = (Run::sequential(), Numbers(8).walks(60, 10, 2), Numbers(9).walks(6, 10, 2));
    let compact = |kernel: &str| {
        let settings = Settings::default().with_kernel(kernel.parse().unwrap());
        settings.with_space("landmarks:12".parse().unwrap()).given()[0].clone()
    };
    let settings = Settings::default().with_views(vec![compact("flat_rbf:sigma=3"), compact("gak:sigma=5")]);
    let first: Vec<usize> = (0..30).collect();
    let rest: Vec<usize> = (30..60).collect();
    let mut fitting = Fitting::new(&settings).unwrap();
    fitting.add(&corpus.select(&first), &run).unwrap();
    let part = fitting.finish(&run).unwrap();
    let mut other = Fitting::like(&part).unwrap();
    other.add(&corpus.select(&rest), &run).unwrap();
    let merged = Detector::merge(vec![part.clone(), other.finish(&run).unwrap()], &run).unwrap();
    let grown = part.partial_fit(&corpus.select(&rest), &run).unwrap();
    assert_eq!(merged.corpus_series(), 60);
    let (merged, grown) = (merged.score(&queries, &run).unwrap(), grown.score(&queries, &run).unwrap());
    for (a, b) in merged.findings.iter().zip(&grown.findings) {
        assert!((a.score - b.score).abs() < 1e-8 && a.views.len() == 2, "{} {}", a.score, b.score);
    }
}

#[test]
fn an_explanation_is_about_the_view_in_which_a_series_stands_out() {
    let (run, corpus, queries) = (Run::sequential(), corpus(), Numbers(6).walks(3, 12, 2));
    let detector = two().fit(&corpus, &run).unwrap();
    let found = detector.explain(&queries, 1, 4, &run).unwrap();
    let strongest = found.views.iter().max_by(|a, b| a.score.total_cmp(&b.score)).unwrap();
    assert_eq!(found.explained_view.as_deref(), Some(strongest.view.as_str()));
    assert_eq!(found.score, detector.score(&queries, &run).unwrap().findings[1].score);
    assert_eq!((found.channels.len(), found.segments.len()), (2, 4));
}

#[test]
fn two_to_nine_series_fit_by_default_and_say_what_they_can_support() {
    let run = Run::sequential();
    for count in 2..=9 {
        let corpus = Numbers(count as u64).walks(count, 12, 2);
        let detector = Settings::one_view().fit(&corpus, &run).unwrap();
        assert_eq!(detector.calibrated().unwrap().scores().len(), count);
        assert!(detector.warnings().iter().any(|w| w.contains("nothing will ever be flagged")), "{count}");
        assert!(detector.score(&corpus, &run).unwrap().scores().iter().all(|s| s.is_finite()));
    }
}
