//! Compact models: as good as all pairs where they are exact, parts that merge, approximations that say how good they are.

use crate::common::{Numbers, assert_close, shared};
use varnorm::calibrate::{Calibration, Decision};
use varnorm::data::read_split;
use varnorm::detector::Fitting;
use varnorm::detector::Space;
use varnorm::gram::{Scaling, gram};
use varnorm::internal::Ranker;
use varnorm::{Detector, Distance, Kernel, Norm, Run, SeriesSet, Settings};

const FEATURE_KERNELS: [&str; 7] = [
    "flat_linear",
    "sig_explicit:level=3,scale=0.5",
    "sig_random:features=12,variance=0.1,seed=3",
    "sig_fourier:level=3,features=16,sigma=2,scale=0.5",
    "sig_fourier:level=2,features=4,form=diagonal,sigma=2,scale=0.5",
    "rocket:features=84",
    "radon:directions=40,thresholds=4",
];

fn settings(space: &str, kernel: &str) -> Settings {
    Settings::default()
        .with_prepare("none".parse().unwrap())
        .with_kernel(kernel.parse().unwrap())
        .with_space(space.parse().unwrap())
        .with_calibration(Calibration::None {})
}

fn measures() -> Vec<(Norm, Distance)> {
    let distances = [
        Distance::Mahalanobis {},
        Distance::Conformance { neighbour: 1 },
        Distance::Conformance { neighbour: 3 },
    ];
    let norms = [Norm::Exact, Norm::Tikhonov, Norm::Envelope];
    norms.into_iter().flat_map(|n| distances.into_iter().map(move |d| (n, d))).collect()
}

/// Scores and neighbours are those of the other model.
fn assert_same(found: &Detector, expected: &Detector, queries: &SeriesSet, relative: f64, what: &str) {
    let run = Run::sequential();
    let (a, b) = (found.score(queries, &run).unwrap(), expected.score(queries, &run).unwrap());
    for (a, b) in a.findings.iter().zip(&b.findings).filter(|(a, b)| a.score != b.score) {
        assert_close(a.score, b.score, relative, what);
        assert!((a.outside_span - b.outside_span).abs() < 1e-6, "{what}: {a:?} {b:?}");
        if let (Some(p), Some(q)) = (a.p_value, b.p_value) {
            assert_close(p, q, 1e-12, what);
        }
    }
}

#[test]
fn the_space_of_features_is_that_of_all_pairs() {
    let run = Run::sequential();
    let (corpus, queries) = (Numbers(1).walks(40, 7, 2), Numbers(2).walks(9, 7, 2));
    for kernel in FEATURE_KERNELS {
        for scaling in [Scaling::Normalized, Scaling::Raw] {
            for (norm, distance) in measures() {
                // It divides by eigenvalues of which centring all pairs has left no digits.
                if norm == Norm::Exact
                    && (kernel.starts_with("sig_random") || kernel.starts_with("sig_fourier"))
                {
                    continue;
                }
                let fit = |space: &str| {
                    let own = settings(space, kernel);
                    own.with_norm(norm)
                        .with_distance(distance)
                        .with_scaling(scaling)
                        .with_alpha(0.05)
                        .fit(&corpus, &run)
                        .unwrap()
                };
                let (compact, exact) = (fit("features"), fit("gram"));
                let what = format!("{kernel} {scaling:?} {norm:?} {distance:?}");
                assert_eq!(compact.spectrum().rank(), exact.spectrum().rank(), "{what}");
                assert_same(&compact, &exact, &queries, 1e-6, &what);
                if matches!(distance, Distance::Conformance { .. }) && norm != Norm::Exact {
                    let nearest = |d: &Detector| -> Vec<usize> {
                        d.score(&queries, &run).unwrap().findings.iter().map(|f| f.nearest).collect()
                    };
                    assert_eq!(nearest(&compact), nearest(&exact), "{what}");
                }
            }
        }
    }
}

#[test]
fn as_many_landmarks_as_series_are_all_pairs() {
    let run = Run::sequential();
    let (corpus, queries) = (Numbers(3).walks(30, 9, 2), Numbers(4).walks(9, 9, 2));
    for kernel in ["flat_rbf:sigma=4", "gak:sigma=5", "sig:level=3,lift=rbf,sigma=3"] {
        for choice in ["pivoted", "uniform"] {
            for (norm, distance) in measures().into_iter().filter(|(norm, _)| *norm != Norm::Exact) {
                let fit = |space: &str| {
                    let own = settings(space, kernel);
                    own.with_norm(norm).with_distance(distance).fit(&corpus, &run).unwrap()
                };
                let compact = fit(&format!("landmarks:count=30,choice={choice}"));
                assert_eq!(compact.landmarks(), Some(30));
                assert!(compact.trace_error() < 1e-12);
                assert_same(&compact, &fit("gram"), &queries, 1e-7, &format!("{kernel} {choice} {norm:?}"));
            }
        }
    }
}

/// The part of each series that a span misses, straight from the definition: `k(x,x) - k_x K^-1 k_x`.
#[test]
fn the_trace_error_is_what_the_span_misses() {
    let run = Run::sequential();
    let corpus = Numbers(5).walks(25, 8, 1);
    let kernel: Kernel = "flat_rbf:sigma=3".parse().unwrap();
    let k = gram(&kernel, &corpus, Scaling::Normalized, &run).unwrap().matrix;
    let given = vec![3, 20, 11, 7];
    let space = Space::Landmarks {
        count: None,
        tolerance: None,
        choice: varnorm::detector::Choice::Given,
        seed: 0,
        given: given.clone(),
    };
    let detector = settings("gram", "flat_rbf:sigma=3").with_space(space).fit(&corpus, &run).unwrap();
    // Gram-Schmidt in the landmarks' order.
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for s in &given {
        let mut column: Vec<f64> = (0..25).map(|x| k.get(x, *s)).collect();
        for b in &basis {
            let at = b[*s];
            column.iter_mut().zip(b).for_each(|(c, v)| *c -= at * v);
        }
        let root = column[*s].sqrt();
        basis.push(column.iter().map(|c| c / root).collect());
    }
    let missed: f64 = (0..25).map(|x| 1.0 - basis.iter().map(|b| b[x] * b[x]).sum::<f64>()).sum();
    assert_close(detector.trace_error(), missed / 25.0, 1e-10, "trace error");
}

#[test]
fn a_tolerance_is_met_and_pivots_beat_chance() {
    let run = Run::sequential();
    let mut numbers = Numbers(6);
    // Two groups, one of them small: uniform landmarks miss it.
    let mut corpus = numbers.walks(190, 6, 1);
    let mut far = numbers.walks(10, 6, 1);
    far.values_mut().iter_mut().for_each(|v| *v += 30.0);
    corpus.extend(&far).unwrap();
    let fit = |space: &str| settings(space, "flat_rbf:sigma=4").fit(&corpus, &run).unwrap();
    let close = fit("landmarks:tolerance=0.01");
    assert!(close.trace_error() <= 0.01 && close.landmarks().unwrap() < 200, "{:?}", close.landmarks());
    let fewer = fit(&format!("landmarks:count={}", close.landmarks().unwrap() / 2));
    assert!(fewer.trace_error() > 0.01);
    let mean = |choice: &str| {
        let error = |seed| fit(&format!("landmarks:count=10,choice={choice},seed={seed}")).trace_error();
        (0..10).map(error).sum::<f64>() / 10.0
    };
    let (pivoted, uniform) = (mean("pivoted"), mean("uniform"));
    println!("mean trace error of 10 landmarks: pivoted {pivoted:.4}, uniform {uniform:.4}");
    assert!(pivoted < uniform, "{pivoted} {uniform}");
}

/// Fits on parts like the first one, in any order, and adds them up.
#[test]
fn parts_merge_into_the_whole() {
    let run = Run::sequential();
    let (corpus, queries) = (Numbers(7).walks(301, 7, 2), Numbers(8).walks(20, 7, 2));
    let parts: Vec<SeriesSet> =
        [0..50, 50..51, 51..200, 200..301].map(|r| corpus.select(&r.collect::<Vec<_>>())).into();
    let cases = FEATURE_KERNELS.iter().map(|k| ("features", *k));
    for (space, kernel) in
        cases.chain([("landmarks:20", "gak:sigma=5"), ("landmarks:20", "flat_rbf:sigma=4")])
    {
        for (norm, distance) in measures() {
            // Its smallest kept eigenvalue is 1e-10 of the largest: the exact norm divides by what rounding has made of it.
            if norm == Norm::Exact && kernel.starts_with("sig_fourier") {
                continue;
            }
            let calibration = Calibration::CrossFit { folds: 5, seed: 2 };
            let settings =
                settings(space, kernel).with_norm(norm).with_distance(distance).with_calibration(calibration);
            let what = format!("{kernel} {norm:?} {distance:?}");
            let template = settings.fit(&corpus, &run).unwrap();
            let fit_like = |part: &SeriesSet| {
                let mut fitting = Fitting::like(&template).unwrap();
                fitting.add(part, &run).unwrap();
                fitting
            };
            let whole = fit_like(&corpus).finish(&run).unwrap();
            let models = || -> Vec<Detector> {
                // A single series has no covariance: it goes with the next part.
                let mut second = fit_like(&parts[1]);
                second.add(&parts[2], &run).unwrap();
                [fit_like(&parts[0]), second, fit_like(&parts[3])].map(|f| f.finish(&run).unwrap()).into()
            };
            let merged = Detector::merge(models(), &run).unwrap();
            assert_eq!(merged.corpus_series(), 301);
            assert_same(&merged, &whole, &queries, 1e-10, &what);
            let scores = |d: &Detector| d.calibrated().unwrap().scores().to_vec();
            for (a, b) in scores(&merged).iter().zip(scores(&whole)).filter(|(a, b)| *a != b) {
                assert_close(*a, b, 1e-10, &format!("{what}: calibration"));
            }
            let mut backwards = models();
            backwards.reverse();
            assert_same(&Detector::merge(backwards, &run).unwrap(), &whole, &queries, 1e-10, &what);
            let mut grown = fit_like(&parts[3]).finish(&run).unwrap();
            for part in [&parts[1], &parts[0], &parts[2]] {
                grown = grown.partial_fit(part, &run).unwrap();
            }
            assert_same(&grown, &whole, &queries, 1e-10, &format!("{what}: partial_fit"));
        }
    }
}

#[test]
fn what_does_not_add_up_is_refused_with_a_reason() {
    let run = Run::sequential();
    let corpus = Numbers(9).walks(40, 6, 1);
    let (first, second) =
        (corpus.select(&(0..20).collect::<Vec<_>>()), corpus.select(&(20..40).collect::<Vec<_>>()));
    let fit = |own: Settings, part: &SeriesSet| own.fit(part, &run).unwrap();
    let merge = |a, b| Detector::merge(vec![a, b], &run).unwrap_err().to_string();
    let own = || settings("features", "flat_linear").with_prepare("zscore=channel".parse().unwrap());
    assert!(merge(fit(own(), &first), fit(own(), &second)).contains("it has a preparation of its own"));
    let own = || settings("landmarks:5", "flat_rbf:sigma=3");
    assert!(merge(fit(own(), &first), fit(own(), &second)).contains("it has landmarks of its own"));
    let gram = || fit(settings("gram", "flat_linear"), &first);
    assert!(merge(gram(), gram()).contains("all pairs of series are needed at once"));
    for (space, kernel, words) in [
        ("features", "gak:sigma=1", "has no features of its own"),
        ("landmarks:0", "gak:sigma=1", "must be at least 1"),
        ("landmarks:tolerance=2", "gak:sigma=1", "must be a share between 0 and 1"),
        ("landmarks", "gak:sigma=1", "say how many"),
        ("nystrom", "gak:sigma=1", "is not a space; choose one of gram, features, landmarks:256"),
    ] {
        let error = match space.parse::<Space>() {
            Ok(space) => settings("gram", kernel).with_space(space).validate().unwrap_err(),
            Err(error) => error,
        };
        assert!(error.to_string().contains(words), "{space}: {error}");
    }
    let split = Calibration::Split { holdout: 0.3, seed: 0 };
    let error = settings("features", "flat_linear").with_calibration(split).validate().unwrap_err();
    assert!(error.to_string().contains("cross_fit, gaussian, fixed or none"), "{error}");
}

#[test]
fn bits_do_not_depend_on_threads_and_files_keep_them() {
    let (corpus, queries) = (Numbers(10).walks(150, 6, 2), Numbers(11).walks(30, 6, 2));
    for (space, kernel) in [("landmarks:24", "gak:sigma=4"), ("features", "sig_explicit:level=3,scale=0.4")] {
        for distance in [Distance::Mahalanobis {}, Distance::default()] {
            let calibration = Calibration::default();
            let settings = settings(space, kernel).with_distance(distance).with_calibration(calibration);
            let one = settings.fit(&corpus, &Run::sequential()).unwrap();
            let many = Run::with_threads(4).unwrap();
            assert_eq!(one, settings.fit(&corpus, &many).unwrap());
            let bytes = one.to_bytes().unwrap();
            let read = Detector::from_bytes(&bytes).unwrap();
            assert_eq!(read, one);
            assert_eq!(
                read.score(&queries, &many).unwrap(),
                one.score(&queries, &Run::sequential()).unwrap()
            );
            for cut in [bytes.len() - 1, bytes.len() / 2] {
                assert!(Detector::from_bytes(&bytes[..cut]).is_err());
            }
        }
    }
}

#[test]
fn p_values_of_compact_models_keep_their_promise() {
    let run = Run::sequential();
    for (space, kernel) in [("landmarks:40", "flat_rbf"), ("features", "flat_linear")] {
        for distance in [Distance::Mahalanobis {}, Distance::default()] {
            let (mut alarms, mut tests) = (0usize, 0usize);
            for seed in 0..6 {
                let corpus = Numbers(100 + seed).walks(600, 10, 2);
                let test = Numbers(200 + seed).walks(400, 10, 2);
                let own = settings(space, kernel).with_calibration(Calibration::default());
                let own = own.with_distance(distance).with_level(0.1).with_decision(Decision::Each);
                let found = own.fit(&corpus, &run).unwrap().score(&test, &run).unwrap();
                alarms += found.flagged();
                tests += found.len();
            }
            let rate = alarms as f64 / tests as f64;
            println!("{space} {kernel} {distance:?}: false alarms at level 0.1: {rate:.4}");
            assert!((rate - 0.1).abs() < 0.03, "{space} {distance:?}: {rate}");
        }
    }
}

/// ROC-AUC with a quarter of the series as landmarks, one class against the rest, less that of all pairs: by set, kernel
/// and distance.
fn differences(name: &str, kernels: &[&str]) -> Vec<(Distance, f64)> {
    let Some(folder) = shared("uea") else { return Vec::new() };
    let run = Run::with_threads(2).unwrap();
    let split = read_split(&folder, name).unwrap();
    let mut labels = split.train.labels.clone().unwrap().values;
    labels.sort_unstable();
    labels.dedup();
    let mut found = Vec::new();
    for kernel in kernels {
        for distance in [Distance::Mahalanobis {}, Distance::default()] {
            let (mut exact, mut compact) = (0.0, 0.0);
            for label in &labels {
                let corpus = split.train.select(&split.train.with_label(label).unwrap()).series;
                let truth = &split.test.labels.as_ref().unwrap().values;
                let normal: Vec<bool> = truth.iter().map(|l| l == label).collect();
                let area = |space: Space| {
                    let prepare = varnorm::Preparation::standard();
                    let own = settings("gram", kernel)
                        .with_alpha(0.1)
                        .with_prepare(prepare)
                        .with_distance(distance)
                        .with_space(space);
                    let scores =
                        own.fit(&corpus, &run).unwrap().score(&split.test.series, &run).unwrap().scores();
                    Ranker::default().separation(&scores, &normal).roc_auc
                };
                exact += area(Space::Gram {}) / labels.len() as f64;
                compact += area(Space::landmarks(corpus.len().div_ceil(4))) / labels.len() as f64;
            }
            println!("{name} {kernel} {distance:?}: all pairs {exact:.4}, landmarks {compact:.4}");
            found.push((distance, compact - exact));
        }
    }
    found
}

#[test]
fn a_quarter_of_the_series_as_landmarks_is_enough_on_real_data() {
    let mut all = differences("JapaneseVowels", &["gak", "sig:level=4,lift=rbf"]);
    for name in ["RacketSports", "Epilepsy", "BasicMotions", "NATOPS", "FingerMovements"] {
        all.extend(differences(name, &["flat_linear", "flat_rbf", "integral_rbf", "gak"]));
    }
    if all.is_empty() {
        return;
    }
    let mean = |some: &[f64]| some.iter().sum::<f64>() / some.len() as f64;
    let nearest: Vec<f64> =
        all.iter().filter(|(d, _)| *d == Distance::default()).map(|(_, x)| x.abs()).collect();
    let all: Vec<f64> = all.iter().map(|(_, x)| *x).collect();
    let absolute: Vec<f64> = all.iter().map(|x| x.abs()).collect();
    println!(
        "mean difference {:+.4}, mean absolute difference {:.4}, of the distance to the nearest {:.4}",
        mean(&all),
        mean(&absolute),
        mean(&nearest)
    );
    assert!(mean(&all).abs() < 0.01 && mean(&nearest) < 0.01);
}
