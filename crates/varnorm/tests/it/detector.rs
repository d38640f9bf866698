//! The detector as its users meet it: calibration, batches, files.

use crate::common::{Numbers, shared};
use varnorm::calibrate::{Calibration, Decision, holdout};
use varnorm::data::{basic_motions, read_split};
use varnorm::{Detector, Distance, Error, Norm, Run, SeriesSet, Settings};

fn settings() -> Settings {
    Settings::default().with_prepare("none".parse().unwrap())
}

/// Over 200 random splits of one class the share of normal series with p <= 0.1 is 0.1.
fn false_alarm_rate(series: &SeriesSet, calibration: impl Fn(u64) -> Calibration) -> f64 {
    let run = Run::sequential();
    let (mut alarms, mut tests) = (0, 0);
    for seed in 0..200 {
        let (corpus, test) = holdout(series.len(), 0.25, 1000 + seed).unwrap();
        let settings = Settings::default()
            .with_kernel("flat_linear".parse().unwrap())
            .with_calibration(calibration(seed))
            .with_level(0.1)
            .with_decision(Decision::Each);
        let detector = settings.fit(&series.select(&corpus), &run).unwrap();
        let found = detector.score(&series.select(&test), &run).unwrap();
        alarms += found.findings.iter().filter(|f| f.p_value.unwrap() <= 0.1).count();
        assert_eq!(found.flagged(), found.findings.iter().filter(|f| f.p_value.unwrap() <= 0.1).count());
        tests += test.len();
    }
    alarms as f64 / f64::from(u32::try_from(tests).unwrap())
}

#[test]
fn conformal_p_values_are_valid_on_a_real_class() {
    let Some(folder) = shared("uea") else { return };
    let split = read_split(&folder, "FingerMovements").unwrap();
    let class = split.train.with_label("left").unwrap();
    // Pooled to 10 steps, which keeps 200 refits cheap.
    let series = varnorm::Preparation { steps: vec![varnorm::prepare::Step::Pool { max_length: 10 }] }
        .fit(&split.train.select(&class).series)
        .unwrap()
        .1;
    // 119 fitted on, of which 59 held out: (n+1) level = 6 is whole, so the rate is 0.1 exactly in expectation.
    let rate = false_alarm_rate(&series, |seed| Calibration::Split { holdout: 0.496, seed });
    println!("split conformal false-alarm rate at 0.1: {rate:.4}");
    assert!((rate - 0.1).abs() <= 0.02, "{rate}");
    let rate = false_alarm_rate(&series, |seed| Calibration::CrossFit { folds: 5, seed });
    println!("cross-fitted false-alarm rate at 0.1: {rate:.4}");
    assert!((rate - 0.1).abs() <= 0.02, "{rate}");
}

#[test]
fn conformal_p_values_are_valid_on_random_walks() {
    let series = Numbers(11).walks(120, 10, 2);
    let rate = false_alarm_rate(&series, |seed| Calibration::Split { holdout: 0.433, seed });
    assert!((rate - 0.1).abs() <= 0.02, "{rate}");
    let rate = false_alarm_rate(&series, |seed| Calibration::CrossFit { folds: 10, seed });
    assert!(rate <= 0.12, "{rate}");
}

#[test]
fn a_score_does_not_depend_on_the_batch_or_the_threads() {
    let corpus = Numbers(1).walks(40, 15, 3);
    let queries = Numbers(2).walks(1100, 15, 3);
    let detector = settings().fit(&corpus, &Run::sequential()).unwrap();
    let together = detector.score(&queries, &Run::with_threads(3).unwrap()).unwrap();
    for i in [0, 1, 500, 1023, 1024, 1099] {
        let alone = detector.score(&queries.select(&[i]), &Run::sequential()).unwrap();
        assert_eq!(alone.findings[0].score.to_bits(), together.findings[i].score.to_bits());
        assert_eq!(alone.findings[0].nearest, together.findings[i].nearest);
        assert_eq!(alone.findings[0].p_value, together.findings[i].p_value);
    }
    let again = settings().fit(&corpus, &Run::with_threads(4).unwrap()).unwrap();
    assert_eq!(again, detector);
}

#[test]
fn planted_outliers_are_found_and_nearest_is_the_planted_twin() {
    let corpus = Numbers(3).walks(60, 20, 2);
    let mut queries = corpus.select(&[17, 42]);
    let mut far = corpus.series(5).values().to_vec();
    far.iter_mut().enumerate().for_each(|(i, v)| *v += if i % 2 == 0 { 8.0 } else { -8.0 });
    queries.push(&far).unwrap();
    for distance in [Distance::default(), Distance::Mahalanobis {}] {
        let detector = settings().with_distance(distance).fit(&corpus, &Run::sequential()).unwrap();
        let found = detector.score(&queries, &Run::sequential()).unwrap().findings;
        assert_eq!((found[0].nearest, found[1].nearest), (17, 42));
        assert!(found[2].p_value.unwrap() < 0.02 && found[2].outside_span > found[0].outside_span);
        assert!(found[0].p_value.unwrap() > 0.1);
    }
    let detector = settings().with_decision(Decision::Each).fit(&corpus, &Run::sequential()).unwrap();
    let flags: Vec<_> =
        detector.score(&queries, &Run::sequential()).unwrap().findings.iter().map(|f| f.novel).collect();
    assert_eq!(flags, [Some(false), Some(false), Some(true)]);
}

#[test]
fn a_split_model_names_its_neighbours_by_their_place_in_the_whole_corpus() {
    let corpus = Numbers(4).walks(30, 8, 2);
    let calibration = Calibration::Split { holdout: 0.5, seed: 3 };
    let detector = settings().with_calibration(calibration).fit(&corpus, &Run::sequential()).unwrap();
    assert_eq!(detector.members().len(), 15);
    for &member in detector.members() {
        let found = detector.score(&corpus.select(&[member]), &Run::sequential()).unwrap();
        assert_eq!(found.findings[0].nearest, member);
    }
}

#[test]
fn models_survive_the_file_and_damage_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let corpus = Numbers(5).walks(12, 6, 2);
    let queries = Numbers(6).walks(5, 6, 2);
    let run = Run::sequential();
    for settings in [
        Settings::one_view().with_level(0.2),
        settings().with_norm(Norm::Exact).with_calibration(Calibration::None {}),
        Settings::default()
            .with_norm(Norm::Exact)
            .with_distance(Distance::Mahalanobis {})
            .with_prepare("pool=3,zscore=step,clip=5,basepoint,time,visibility=t,lead_lag".parse().unwrap())
            .with_calibration(Calibration::Quantile { holdout: 0.4, seed: 1 })
            .with_kernel("integral_poly:p=3".parse().unwrap()),
    ] {
        let names = (0..12).map(|i| format!("recording <{i}> \"quoted\"")).collect();
        let detector = settings.fit(&corpus, &run).unwrap().with_corpus_names(Some(names));
        detector.save(&path).unwrap();
        let first = std::fs::read(&path).unwrap();
        let loaded = Detector::load(&path).unwrap();
        assert_eq!(loaded, detector);
        assert_eq!(loaded.score(&queries, &run).unwrap(), detector.score(&queries, &run).unwrap());
        loaded.save(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), first, "saving is reproducible to the bit");
    }
    let bytes = std::fs::read(&path).unwrap();
    let detector = Detector::load(&path).unwrap();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        std::fs::write(&path, &damaged).unwrap();
        match Detector::load(&path) {
            Err(Error::Model { .. }) => {}
            Err(other) => panic!("byte {at}: {other}"),
            // Padding of the header carries no meaning.
            Ok(loaded) => assert_eq!(loaded, detector, "byte {at} changed and nobody noticed"),
        }
    }
    for length in (0..bytes.len()).step_by(7) {
        std::fs::write(&path, &bytes[..length]).unwrap();
        assert!(matches!(Detector::load(&path), Err(Error::Model { .. })), "cut at {length}");
    }
}

#[test]
fn bad_input_is_told_by_series_step_and_channel() {
    let run = Run::sequential();
    let corpus = Numbers(7).walks(10, 5, 2);
    let detector = settings().fit(&corpus, &run).unwrap();
    let text = |r: varnorm::Result<varnorm::Findings>| r.unwrap_err().to_string();
    let mut missing = corpus.clone();
    missing.values_mut()[3 * 10 + 2 * 2 + 1] = f64::NAN;
    assert!(
        text(detector.score(&missing, &run)).starts_with("series 3, step 2, channel 1: the value is missing")
    );
    let filled = settings().with_prepare("interpolate".parse().unwrap());
    assert!(filled.fit(&missing, &run).is_ok());
    let mut infinite = corpus.clone();
    infinite.values_mut()[9 * 10] = f64::INFINITY;
    assert!(text(detector.score(&infinite, &run)).starts_with("series 9, step 0, channel 0: the value inf"));
    assert!(filled.fit(&infinite, &run).unwrap_err().to_string().starts_with("series 9, step 0, channel 0"));
    let narrow = Numbers(8).walks(2, 5, 1);
    assert!(text(detector.score(&narrow, &run)).contains("1 channels where 2 are expected"));
    let long = Numbers(8).walks(2, 6, 2);
    assert!(text(detector.score(&long, &run)).contains("series 0 has 6 steps where 5 are expected"));
    let one = settings().fit(&corpus.select(&[0]), &run).unwrap_err().to_string();
    assert!(one.contains("needs at least 2 series and got 1"), "{one}");
    let empty = SeriesSet::new(2).unwrap();
    assert!(settings().fit(&empty, &run).is_err());
    assert!(detector.score(&empty, &run).unwrap().is_empty());
    for bad in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(settings().with_level(bad).fit(&corpus, &run).is_err());
        assert!(bad == 1.0 || settings().with_alpha(bad).fit(&corpus, &run).is_err(), "{bad}");
    }
}

#[test]
fn a_degenerate_corpus_warns_and_its_scores_mean_what_it_says() {
    let run = Run::sequential();
    let corpus = SeriesSet::from_equal([1.0, 2.0, 3.0].repeat(25), 3, 1).unwrap();
    let mut queries = corpus.select(&[0]);
    queries.push(&[1.0, 2.0, 4.0]).unwrap();
    for (norm, meaning, same, other) in [
        (Norm::Envelope, "plain distance in feature space over sqrt(alpha)", 0.0, None),
        (Norm::Tikhonov, "every score is 0", 0.0, Some(0.0)),
        (Norm::Exact, "0 for the same series and infinite for any other", 0.0, Some(f64::INFINITY)),
    ] {
        let detector = settings().with_norm(norm).fit(&corpus, &run).unwrap();
        assert_eq!(detector.spectrum().rank(), 0);
        let warnings = detector.warnings();
        assert!(warnings[0].contains("rank 0") && warnings[0].contains(meaning), "{warnings:?}");
        let scores = detector.score(&queries, &run).unwrap().scores();
        assert_eq!(scores[0], same, "{norm:?}");
        let alpha = varnorm::detector::ModelSummary::new(&detector).views.first().alpha;
        // sigma = 1 where all distances are zero: k = exp(-1/2), |y-x|^2 = 2 - 2k.
        let distance = ((2.0 - 2.0 * (-0.5f64).exp()) / alpha).sqrt();
        assert!(
            (scores[1] - other.unwrap_or(distance)).abs() < 1e-12 || scores[1] == other.unwrap_or(0.0),
            "{norm:?}"
        );
    }
}

#[test]
fn a_small_corpus_is_told_what_its_p_values_cannot_do() {
    let motions = basic_motions().unwrap();
    let walking = motions.train.select(&motions.train.with_label("Walking").unwrap()).series;
    let detector = Settings::one_view().fit(&walking, &Run::sequential()).unwrap();
    let warnings = detector.warnings();
    assert!(warnings[0].contains("below 0.091") && warnings[0].contains("at least 19"), "{warnings:?}");
}

/// Under the exact norm every series off the span scores infinity, and so may the threshold that outliers choose.
#[test]
fn a_threshold_without_end_is_saved_and_loaded() {
    let motions = basic_motions().unwrap();
    let run = Run::sequential();
    let standing = motions.train.with_label("Standing").unwrap();
    let others: Vec<usize> = (0..motions.train.series.len()).filter(|i| !standing.contains(i)).collect();
    for distance in [Distance::default(), Distance::Mahalanobis {}] {
        let settings = Settings::default()
            .with_norm(Norm::Exact)
            .with_distance(distance)
            .with_calibration("supervised".parse().unwrap());
        let normal = motions.train.series.select(&standing);
        let outliers = motions.train.series.select(&others);
        let detector = settings.fit_with_outliers(&normal, &outliers, &run).unwrap();
        let bytes = detector.to_bytes().unwrap();
        assert_eq!(Detector::from_bytes(&bytes).unwrap(), detector);
    }
}

#[test]
fn a_model_that_could_not_be_read_replaces_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.model");
    let run = Run::sequential();
    let motions = basic_motions().unwrap();
    Settings::one_view().fit(&motions.train.series, &run).unwrap().save(&path).unwrap();
    let good = std::fs::read(&path).unwrap();
    let infinite = Settings::default().with_norm(Norm::Exact).with_alpha(f64::INFINITY);
    assert!(infinite.fit(&motions.train.series, &run).unwrap_err().to_string().contains("alpha"));
    // So small that the variance is no number: whatever is fitted, the good model stays or is replaced by a good one.
    let tiny: Vec<f64> = (0..40).map(|i| f64::from(i % 7) * 1e-160).collect();
    let tiny = varnorm::SeriesSet::from_equal(tiny, 4, 1).unwrap();
    let linear =
        Settings::default().with_kernel("flat_linear".parse().unwrap()).with_prepare("none".parse().unwrap());
    if let Ok(detector) = linear.fit(&tiny, &run) {
        match detector.save(&path) {
            Ok(()) => assert_eq!(Detector::load(&path).unwrap(), detector),
            Err(error) => {
                assert!(error.to_string().contains("nothing was written"), "{error}");
                assert_eq!(std::fs::read(&path).unwrap(), good);
            }
        }
    }
}
