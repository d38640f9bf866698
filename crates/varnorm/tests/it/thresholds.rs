//! Thresholds: every kind through files, what they warn of, and what explanations and diagnostics say.

use crate::common::Numbers;
use varnorm::calibrate::{Calibration, Decision};
use varnorm::law::Gaussian;
use varnorm::{Detector, Distance, Norm, Run, SeriesSet, Settings};

fn gaussian_series(count: usize, dimension: usize, seed: u64) -> SeriesSet {
    let law = Gaussian::new((1..=dimension).map(|j| 1.0 / j as f64).collect()).unwrap();
    SeriesSet::from_equal(law.draw(count, seed).into_values(), 1, dimension).unwrap()
}

fn settings(calibration: &str) -> Settings {
    Settings::default()
        .with_prepare("none".parse().unwrap())
        .with_kernel("flat_linear".parse().unwrap())
        .with_scaling(varnorm::gram::Scaling::Raw)
        .with_distance(Distance::Mahalanobis {})
        .with_calibration(calibration.parse().unwrap())
        .with_decision(Decision::Each)
}

#[test]
fn every_kind_survives_its_file_and_flags_by_its_threshold() {
    let run = Run::sequential();
    let folder = tempfile::tempdir().unwrap();
    let (corpus, fresh) = (gaussian_series(80, 4, 1), gaussian_series(40, 4, 2));
    let mut outliers = gaussian_series(20, 4, 3);
    outliers.values_mut().iter_mut().for_each(|v| *v += 4.0);
    for kind in [
        "quantile",
        "split",
        "cross_fit",
        "leave_one_out",
        "gaussian",
        "supervised:objective=f1",
        "supervised:objective=cost,miss_cost=5",
        "fixed:threshold=2.5",
    ] {
        let settings = settings(kind);
        let detector = match settings.calibration {
            Calibration::Supervised { .. } => settings.fit_with_outliers(&corpus, &outliers, &run).unwrap(),
            _ => settings.fit(&corpus, &run).unwrap(),
        };
        let path = folder.path().join("model");
        detector.save(&path).unwrap();
        let loaded = Detector::load(&path).unwrap();
        assert_eq!(loaded, detector, "{kind}");
        let found = loaded.score(&fresh, &run).unwrap();
        let threshold = found.threshold.unwrap();
        assert!(threshold.is_finite(), "{kind}");
        for finding in &found.findings {
            assert_eq!(finding.novel, Some(finding.score > threshold), "{kind}");
        }
        let target = found.target_false_alarm_rate.unwrap();
        assert!((0.0..=0.5).contains(&target), "{kind}: {target}");
        if let Some(chosen) = detector.chosen() {
            assert_eq!((chosen.threshold, chosen.false_alarm_rate), (threshold, target), "{kind}");
            assert!(chosen.miss_rate < 0.2, "{chosen:?}");
            let caught = loaded.score(&outliers, &run).unwrap().flagged();
            assert!(caught > 15, "{kind}: {caught}");
        }
    }
    let error = settings("supervised").fit(&corpus, &run).unwrap_err().to_string();
    assert!(error.contains("labelled outliers"), "{error}");
}

/// The p-values of the Gaussian kind are those of the law; it warns where the corpus is not Gaussian, and points to
/// the conformal kind; it asks for the Mahalanobis distance.
#[test]
fn the_gaussian_kind_knows_when_it_is_wrong() {
    let run = Run::sequential();
    for norm in [Norm::Envelope, Norm::Tikhonov] {
        let settings = settings("gaussian").with_norm(norm).with_alpha(0.05);
        let good = settings.fit(&gaussian_series(400, 4, 5), &run).unwrap();
        assert!(good.gaussian_check(0.05).unwrap().trusted, "{:?}", good.gaussian_check(0.05));
        assert_eq!(good.warnings(), Vec::<String>::new());
        let threshold = good.threshold(0.05).unwrap();
        assert!((good.p_value(threshold).unwrap() - 0.05).abs() < 1e-9);
        // p-values far below 1 / (n + 1).
        assert!(good.p_value(3.0 * threshold).unwrap() < 1e-6);
        // Heavy tails: each series stretched by its own factor.
        let mut heavy = gaussian_series(400, 4, 6);
        let mut numbers = varnorm::law::NormalNumbers::new(7);
        heavy.values_mut().chunks_mut(4).for_each(|x| {
            let factor = numbers.uniform().powf(-0.6);
            x.iter_mut().for_each(|v| *v *= factor);
        });
        let bad = settings.fit(&heavy, &run).unwrap();
        let warnings = bad.warnings();
        assert!(
            warnings[0].contains("too far from Gaussian") && warnings[0].contains("cross_fit"),
            "{warnings:?}"
        );
    }
    let nearest = settings("gaussian").with_distance(Distance::default());
    assert!(nearest.fit(&gaussian_series(20, 3, 1), &run).unwrap_err().to_string().contains("Mahalanobis"));
}

#[test]
fn batch_rules_flag_as_they_say() {
    let run = Run::sequential();
    let detector = settings("gaussian").fit(&gaussian_series(300, 4, 9), &run).unwrap();
    let mut batch = gaussian_series(60, 4, 10);
    batch.values_mut()[..30 * 4].iter_mut().for_each(|v| *v += 2.5);
    let flags = |decision: Decision| {
        let found = detector.score_at(&batch, 0.1, decision, &run).unwrap();
        let p: Vec<f64> = found.findings.iter().map(|f| f.p_value.unwrap()).collect();
        (found.findings.iter().map(|f| f.novel.unwrap()).collect::<Vec<bool>>(), p)
    };
    let (bh, p) = flags(Decision::BenjaminiHochberg);
    assert_eq!(bh, varnorm::calibrate::benjamini_hochberg(&p, 0.1));
    let (storey, _) = flags(Decision::Storey);
    let (lord, _) = flags(Decision::Lord);
    let count = |flags: &[bool]| flags.iter().filter(|f| **f).count();
    assert!(count(&storey) >= count(&bh) && count(&bh) > 15, "{} {}", count(&storey), count(&bh));
    let mut stream = varnorm::calibrate::Lord::new(0.1);
    assert_eq!(lord, p.iter().map(|p| stream.decide(*p)).collect::<Vec<_>>());
    assert!(count(&lord) > 10);
}

/// Parts of a squared score add up to it, and what was made wrong is what is told.
#[test]
fn explanations_add_up() {
    let run = Run::sequential();
    let corpus = Numbers(3).walks(25, 30, 3);
    let mut queries = Numbers(4).walks(2, 30, 3);
    // Channel 1 of the first query goes wild between steps 12 and 17.
    (12..18).for_each(|t| queries.values_mut()[t * 3 + 1] += 6.0);
    for (norm, distance) in [
        (Norm::Envelope, Distance::default()),
        (Norm::Tikhonov, Distance::Mahalanobis {}),
        (Norm::Envelope, Distance::Mahalanobis {}),
    ] {
        let settings =
            Settings::default().with_norm(norm).with_distance(distance).with_prepare("none".parse().unwrap());
        let detector = settings.fit(&corpus, &run).unwrap();
        let finding = &detector.score(&queries, &run).unwrap().findings[0];
        let found = detector.explain(&queries, 0, 5, &run).unwrap();
        assert_eq!(
            (found.score, found.nearest, found.p_value),
            (finding.score, finding.nearest, finding.p_value)
        );
        let parts = found.directions.iter().map(|d| d.square).sum::<f64>() + found.outside;
        assert!((parts / found.score.powi(2) - 1.0).abs() < 1e-9, "{parts} {}", found.score.powi(2));
        assert_eq!((found.channels.len(), found.segments.len(), found.differences.len()), (3, 5, 15));
        assert_eq!((found.differences[0].channel, found.differences[0].first_step), (1, 12));
        let shares: f64 = found.differences.iter().map(|d| d.share).sum();
        assert!((shares - 1.0).abs() < 1e-12);
        // A replaced channel is a series of its own: scored as such.
        let mut changed = queries.select(&[0]);
        for t in 0..30 {
            changed.values_mut()[t * 3 + 1] = corpus.series(found.nearest).values()[t * 3 + 1];
        }
        let expected = detector.score(&changed, &run).unwrap().findings[0].score;
        assert_eq!(found.channels[1].score, expected);
        if norm == Norm::Envelope {
            let most = |parts: &[varnorm::detector::Replaced]| {
                (0..parts.len()).max_by(|a, b| parts[*a].adds.total_cmp(&parts[*b].adds)).unwrap()
            };
            assert_eq!((most(&found.channels), most(&found.segments)), (1, 2), "{found:?}");
        }
    }
    let detector = settings("none");
    let detector = detector.with_kernel("flat_rbf".parse().unwrap()).fit(&corpus, &run).unwrap();
    assert!(detector.explain(&queries, 2, 5, &run).unwrap_err().to_string().contains("2 series"));
}

#[test]
fn diagnostics_say_what_is_wrong() {
    let run = Run::sequential();
    let find = |corpus: &SeriesSet, settings: Settings| settings.fit(corpus, &run).unwrap().diagnostics();
    let plain =
        |norm, alpha| settings("none").with_norm(norm).with_alpha(alpha).with_distance(Distance::default());
    // Independent vectors without regularisation: equidistant; what is advised helps.
    let wide = gaussian_series(20, 60, 1);
    let found = find(&wide, plain(Norm::Envelope, 1e-9));
    assert!(found.spread.unwrap() < 0.01 && found.advice[0].contains("almost equidistant"), "{found:?}");
    assert!(found.advice[0].contains("use more regularisation"), "{found:?}");
    let better = find(&wide, plain(Norm::Envelope, 0.1));
    assert!(better.spread.unwrap() > 0.4, "{better:?}");
    assert!(better.regularised.effective_dimension < found.regularised.effective_dimension);
    // Duplicates, and vectors of few dimensions.
    let mut twice = gaussian_series(12, 3, 2);
    twice.extend(&twice.select(&[4])).unwrap();
    let found = find(&twice, plain(Norm::Envelope, 0.1));
    assert_eq!(found.duplicates, [(4, 12)]);
    let told = found.advice.join(" ");
    assert!(
        told.contains("equal to others") && told.contains("rank 3 where 13 series could have 12"),
        "{told}"
    );
    assert_eq!(found.outside_others, 0.0);
    // Outside the span of the others: the exact value, by projecting one series on the rest.
    let found = find(&wide, plain(Norm::Tikhonov, 0.1));
    let shares: Vec<f64> = (0..20)
        .map(|left| {
            let others: Vec<usize> = (0..20).filter(|i| *i != left).collect();
            let detector = plain(Norm::Envelope, 0.1).fit(&wide.select(&others), &run).unwrap();
            detector.score(&wide.select(&[left]), &run).unwrap().findings[0].outside_span
        })
        .collect();
    let mut sorted = shares.clone();
    sorted.sort_by(f64::total_cmp);
    assert!((found.outside_others - sorted[10]).abs() < 1e-6, "{} {sorted:?}", found.outside_others);
}
