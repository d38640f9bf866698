//! Corpora that are not clean, fitted tails, and explanations of saturated kernels.

use varnorm::calibrate::{Calibration, Decision, Tail};
use varnorm::data::SeriesSet;
use varnorm::detector::Robust;
use varnorm::law::NormalNumbers;
use varnorm::{Detector, Run, Settings};

const STEPS: usize = 24;

/// Noisy waves, of which the last few have another frequency and are close to each other.
fn corpus(normal: usize, foreign: usize, seed: u64) -> SeriesSet {
    let mut numbers = NormalNumbers::new(seed);
    let mut values = Vec::new();
    for i in 0..normal + foreign {
        let (speed, noise) = if i < normal { (0.5, 0.25) } else { (1.7, 0.05) };
        let phase = if i < normal { 0.3 * numbers.next() } else { 0.0 };
        values.extend((0..STEPS).map(|t| (speed * t as f64 + phase).sin() + noise * numbers.next()));
    }
    SeriesSet::from_equal(values, STEPS, 1).unwrap()
}

fn settings() -> Settings {
    Settings::default().with_kernel("flat_rbf".parse().unwrap())
}

#[test]
fn a_foreign_group_is_named_and_left_out() {
    let run = Run::sequential();
    let mixed = corpus(36, 4, 1);
    let foreign = |detector: &Detector| {
        let suspects = detector.suspects();
        (36..40).filter(|at| suspects.iter().any(|one| one.suspect.series == *at)).count()
    };
    let plain = settings().fit(&mixed, &run).unwrap();
    assert_eq!((foreign(&plain), plain.members().len()), (4, 40));
    assert!(plain.suspects().iter().all(|one| !one.suspect.left_out));
    let words = plain.suspects_in_words().unwrap();
    assert!(words.contains("stand out") && words.contains("39"), "{words}");

    for (robust, kept) in [("trim", 32), ("trim:0.1", 36)] {
        let trimmed = settings().with_robust(robust.parse().unwrap()).fit(&mixed, &run).unwrap();
        assert_eq!((foreign(&trimmed), trimmed.members().len()), (4, kept), "{robust}");
        assert!(trimmed.members().iter().all(|at| *at < 36));
        assert_eq!(trimmed.calibrated().unwrap().scores().len(), kept);
        // New foreign series are found again; the plain model has them as neighbours.
        let new = corpus(0, 5, 77);
        let flagged = |detector: &Detector| detector.score(&new, &run).unwrap().flagged();
        assert_eq!((flagged(&trimmed), flagged(&plain)), (5, 0), "{robust}");
        // The list, and what is shown of it, are in the model file.
        let back = Detector::from_bytes(&trimmed.to_bytes().unwrap()).unwrap();
        assert_eq!(back, trimmed);
        assert_eq!(back.worst_suspect().unwrap().len(), 1);
        assert!(back.suspects_in_words().unwrap().contains(&format!("like the {kept} that were kept")));
    }
}

#[test]
fn trimming_goes_with_every_calibration_of_all_pairs() {
    let run = Run::sequential();
    let mixed = corpus(36, 4, 2);
    for calibration in
        ["leave_one_out", "split:holdout=0.4", "cross_fit:folds=4", "fixed:threshold=3", "none"]
    {
        let settings = settings()
            .with_calibration(calibration.parse().unwrap())
            .with_robust(Robust::Trim { share: Some(0.1) });
        let detector = settings.fit(&mixed, &run).unwrap();
        assert_eq!(detector.suspects().len(), 4, "{calibration}");
        assert!(detector.members().iter().all(|at| *at < 36), "{calibration}");
        let nearest = detector.score(&corpus(5, 0, 9), &run).unwrap();
        assert!(
            nearest.findings.iter().all(|one| detector.members().contains(&one.nearest)),
            "{calibration}"
        );
    }
    let compact =
        settings().with_space("landmarks:8".parse().unwrap()).with_robust(Robust::Trim { share: None });
    assert!(compact.fit(&mixed, &run).unwrap_err().to_string().contains("robust"));
    let few = settings().with_robust(Robust::Trim { share: None }).fit(&corpus(4, 0, 1), &run);
    assert!(few.unwrap_err().to_string().contains("robust trim"));
}

#[test]
fn settings_without_trim_or_tail_have_the_json_they_had() {
    let json = serde_json::to_value(settings()).unwrap();
    assert!(json.get("robust").is_none() && json.get("tail").is_none());
    let chosen = settings().with_robust(Robust::Trim { share: Some(0.1) }).with_tail(Tail::Gpd);
    let json = serde_json::to_value(&chosen).unwrap();
    assert_eq!(json["robust"], serde_json::json!({"method": "trim", "share": 0.1}));
    assert_eq!(serde_json::from_value::<Settings>(json).unwrap(), chosen);
    let words = serde_json::json!({"robust": "trim:0.1", "tail": "gpd", "kernel": "flat_rbf"});
    let read = Settings::from_choices(words.as_object().unwrap().clone()).unwrap();
    assert_eq!((read.robust, read.tail), (chosen.robust, chosen.tail));
}

#[test]
fn a_fitted_tail_gives_small_p_values_and_says_what_it_assumes() {
    let run = Run::sequential();
    let (normal, novel) = (corpus(40, 0, 3), corpus(0, 6, 4));
    let plain = settings().fit(&normal, &run).unwrap();
    let tailed = settings().with_tail(Tail::Gpd).fit(&normal, &run).unwrap();
    let p = |detector: &Detector| detector.score(&novel, &run).unwrap().findings[0].p_value.unwrap();
    assert_eq!(p(&plain), 1.0 / 41.0);
    assert!(p(&tailed) < 1e-3 && p(&tailed) > 0.0, "{}", p(&tailed));
    // Benjamini-Hochberg over a batch that is too large for 40 scores can flag.
    let mut batch = corpus(60, 0, 5);
    novel.iter().for_each(|series| batch.push(series.values()).unwrap());
    let flagged = |detector: &Detector| {
        detector.score_at(&batch, 0.05, Decision::BenjaminiHochberg, &run).unwrap().flagged()
    };
    assert!(flagged(&plain) == 0 && flagged(&tailed) >= 6, "{} {}", flagged(&plain), flagged(&tailed));
    assert!(tailed.tail_check().is_some() && tailed.smallest_p_value().is_none());
    assert_eq!(Detector::from_bytes(&tailed.to_bytes().unwrap()).unwrap(), tailed);
    for calibration in ["none", "fixed:threshold=2", "quantile"] {
        let calibration: Calibration = calibration.parse().unwrap();
        let wrong = settings().with_calibration(calibration).with_tail(Tail::Gpd);
        assert!(wrong.fit(&normal, &run).unwrap_err().to_string().contains("tail"), "{calibration}");
    }
}

#[test]
fn a_saturated_kernel_is_explained_by_what_single_parts_do_to_a_normal_series() {
    let run = Run::sequential();
    // So narrow a kernel gives every other series the value 0: nothing that is replaced matters.
    let narrow = Settings::default().with_kernel("flat_rbf:sigma=0.05".parse().unwrap());
    let detector = narrow.fit(&corpus(12, 0, 6), &run).unwrap();
    let mut series = corpus(1, 0, 8).values().to_vec();
    series[6..9].iter_mut().for_each(|v| *v += 6.0);
    let found = detector.explain(&SeriesSet::from_equal(series, STEPS, 1).unwrap(), 0, 8, &run).unwrap();
    assert!(found.inserted);
    assert!(found.segments.iter().all(|part| part.adds.is_finite()));
    assert!(found.segments.iter().any(|part| part.adds > 0.0), "{:?}", found.segments);
    let wide =
        Settings::default().with_kernel("flat_rbf".parse().unwrap()).fit(&corpus(12, 0, 6), &run).unwrap();
    assert!(!wide.explain(&corpus(0, 1, 8), 0, 8, &run).unwrap().inserted);
}
