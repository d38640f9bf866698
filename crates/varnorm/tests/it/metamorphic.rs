//! What must not matter does not: units, offsets, the order of series and channels, copies, the direction of time.
//!
//! Each test names its exceptions. For the user they are in `docs/preparation.md`.

use crate::common::Numbers;
use varnorm::calibrate::Calibration;
use varnorm::detector::Preset;
use varnorm::kernel::CATALOGUE;
use varnorm::{Kernel, Norm, Run, SeriesSet, Settings};

const CHANNELS: usize = 3;

/// A corpus and queries, the last of which are novel.
fn data() -> (SeriesSet, SeriesSet) {
    let corpus = Numbers(41).walks(24, 12, CHANNELS);
    let mut queries = Numbers(42).walks(6, 12, CHANNELS);
    let mut loud = Numbers(43).walks(3, 12, CHANNELS);
    loud.values_mut().iter_mut().for_each(|v| *v *= 4.0);
    queries.extend(&loud).unwrap();
    (corpus, queries)
}

/// Every kernel of the catalogue with its defaults, and with the parameters of its example.
fn kernels() -> Vec<Kernel> {
    // Novel points may lie outside the domain of `vrk`: with a clip they do not.
    let default = |name| if name == "vrk" { "vrk:clip=0.9" } else { name };
    let specs = CATALOGUE.iter().flat_map(|info| [default(info.name), info.example]);
    specs.map(|spec| spec.parse().unwrap()).collect()
}

fn family(kernel: &Kernel) -> String {
    kernel.to_string().split(':').next().unwrap().to_string()
}

/// Preparations that give the same series in any unit of any channel.
const PER_CHANNEL: &[&str] = &[
    "standard",
    "zscore=channel",
    "zscore=step",
    "zscore=series",
    "zscore=robust",
    "interpolate,zscore=robust,asinh",
    "pool=5,zscore=channel,clip=2,time",
    "resample=8,zscore=channel,lead_lag",
    "zscore=channel,visibility=t",
    "zscore=channel,basepoint,visibility=i",
];
/// Preparations that do so where all channels have one unit.
const COMMON: &[&str] = &["zscore=global", "zscore=series_global"];

fn settings(prepare: &str, kernel: &Kernel) -> Settings {
    Settings::default()
        .with_prepare(prepare.parse().unwrap())
        .with_kernel(kernel.clone())
        .with_calibration(Calibration::None {})
}

fn scores(settings: &Settings, corpus: &SeriesSet, queries: &SeriesSet) -> Vec<f64> {
    let run = Run::sequential();
    let detector = settings.fit(corpus, &run).unwrap_or_else(|e| panic!("{settings:?}: {e}"));
    detector.score(queries, &run).unwrap().findings.iter().map(|f| f.score).collect()
}

fn apart(one: &[f64], other: &[f64]) -> f64 {
    let pair = |(a, b): (&f64, &f64)| match a == b {
        true => 0.0,
        // Scores of the exact norm may be infinite: both or none.
        false if a.is_finite() && b.is_finite() => (a - b).abs() / a.abs().max(b.abs()),
        false => f64::INFINITY,
    };
    one.iter().zip(other).map(pair).fold(0.0, f64::max)
}

fn assert_same(settings: &Settings, what: &str, one: &[f64], other: &[f64]) {
    let apart = apart(one, other);
    assert!(apart < 1e-5, "{:?}: {what}: {apart:e}\n{one:?}\n{other:?}", settings);
}

/// Values times a factor per channel, plus an offset per channel.
fn in_units(set: &SeriesSet, factors: [f64; CHANNELS], offsets: [f64; CHANNELS]) -> SeriesSet {
    let mut set = set.clone();
    for row in set.values_mut().chunks_exact_mut(CHANNELS) {
        for (at, v) in row.iter_mut().enumerate() {
            *v = *v * factors[at] + offsets[at];
        }
    }
    set
}

const NONE: [f64; CHANNELS] = [0.0; CHANNELS];

#[test]
fn units_do_not_matter_per_channel() {
    let (corpus, queries) = data();
    let compare = |settings: &Settings, factors: [f64; CHANNELS]| {
        let one = scores(settings, &corpus, &queries);
        let other = scores(settings, &in_units(&corpus, factors, NONE), &in_units(&queries, factors, NONE));
        assert_same(settings, &format!("units {factors:?}"), &one, &other);
    };
    let rbf: Kernel = "flat_rbf".parse().unwrap();
    for prepare in PER_CHANNEL {
        for factors in [[1e-9; 3], [1e9; 3], [1e-9, 1.0, 1e9], [1e-6, 1.0, 1.0], [-1.0, 1e-3, 7.0]] {
            compare(&settings(prepare, &rbf), factors);
        }
    }
    for prepare in COMMON {
        compare(&settings(prepare, &rbf), [1e-9; 3]);
        compare(&settings(prepare, &rbf), [1e9; 3]);
    }
    for kernel in kernels() {
        compare(&settings("standard", &kernel), [1e-9, 1.0, 1e9]);
    }
    for norm in [Norm::Envelope, Norm::Tikhonov, Norm::Exact] {
        compare(&settings("standard", &rbf).with_norm(norm), [1e-9, 1.0, 1e9]);
    }
}

/// The default settings as a user has them: p-values and flags too.
#[test]
fn units_do_not_matter_to_the_default_detector() {
    let (corpus, queries) = data();
    let (settings, run) = (Settings::one_view().with_level(0.1), Run::sequential());
    let found = |factors| {
        let detector = settings.fit(&in_units(&corpus, factors, NONE), &run).unwrap();
        let found = detector.score(&in_units(&queries, factors, NONE), &run).unwrap();
        found.findings.iter().map(|f| (f.p_value.unwrap(), f.novel)).collect::<Vec<_>>()
    };
    // Powers of two change no bit.
    let one = found([1.0; CHANNELS]);
    for factors in [[2f64.powi(-40), 1.0, 2f64.powi(40)], [2f64.powi(-300); CHANNELS]] {
        assert_eq!(found(factors), one);
    }
    assert!(one.iter().any(|(_, novel)| *novel == Some(true)));
}

/// What a user gets without a choice, and the other presets: scores, p-values and flags.
///
/// Exception: `auto` and `fast` take one scale for all channels, unless they differ more than fiftyfold. Below that, the unit of
/// one channel alone counts (docs/preparation.md); from there on it does not.
#[test]
fn what_must_not_matter_does_not_matter_to_presets() {
    let (corpus, queries) = data();
    let run = Run::sequential();
    let found = |preset: Preset, corpus: &SeriesSet, queries: &SeriesSet| {
        let detector = Settings::preset(preset).with_level(0.1).fit(corpus, &run).unwrap();
        let found = detector.score(queries, &run).unwrap().findings;
        let verdicts: Vec<_> = found.iter().map(|f| (f.p_value.unwrap(), f.novel.unwrap())).collect();
        (found.iter().map(|f| f.score).collect::<Vec<f64>>(), verdicts)
    };
    for preset in [Preset::Auto, Preset::Fast, Preset::Paper] {
        let settings = Settings::preset(preset);
        let compare = |what: &str, one: &(Vec<f64>, Vec<(f64, bool)>), changed: [&SeriesSet; 2]| {
            let other = found(preset, changed[0], changed[1]);
            assert_same(&settings, what, &one.0, &other.0);
            assert_eq!(one.1, other.1, "{preset}: {what}");
        };
        let changed =
            |factors, offsets| (in_units(&corpus, factors, offsets), in_units(&queries, factors, offsets));
        let one = found(preset, &corpus, &queries);
        assert!(one.1.iter().any(|(_, novel)| *novel), "{preset}");
        for unit in [1e-9, 1e9, 2f64.powi(-300)] {
            let (corpus, queries) = changed([unit; CHANNELS], NONE);
            compare("unit", &one, [&corpus, &queries]);
        }
        let (shifted, new) = changed([1.0; CHANNELS], [100.0, -3.0, 1e4]);
        compare("offsets", &one, [&shifted, &new]);
        let order: Vec<usize> = (0..corpus.len()).map(|i| (i * 7 + 3) % corpus.len()).collect();
        compare("order of the corpus", &one, [&corpus.select(&order), &queries]);
        // Units that differ by more than fifty are each channel's own, whatever they are.
        let (own, new) = changed([1e-4, 1.0, 1e4], NONE);
        let apart = found(preset, &own, &new);
        let (farther, new) = changed([1e-9, 1.0, 1e9], NONE);
        compare("units of channels", &apart, [&farther, &new]);
    }
}

/// The exceptions: the published offset has a unit, and without a z-score values count as they are. Kernels whose
/// parameters come from the corpus follow one unit of all channels even so.
#[test]
fn where_units_do_matter() {
    let (corpus, queries) = data();
    let rbf: Kernel = "flat_rbf".parse().unwrap();
    let ratio = |settings: &Settings, unit: f64| {
        let factors = [unit; CHANNELS];
        let one = scores(settings, &corpus, &queries);
        apart(&one, &scores(settings, &in_units(&corpus, factors, NONE), &in_units(&queries, factors, NONE)))
    };
    assert!(ratio(&settings("published", &rbf), 1e-6) > 1e-3, "sd + 1e-4");
    assert!(ratio(&settings("none", &"flat_rbf:sigma=3".parse().unwrap()), 1e-3) > 1e-3, "sigma has a unit");
    for name in ["flat_rbf", "integral_rbf", "gak", "vrk:clip=0.9"] {
        for unit in [1e-9, 1e9] {
            let apart = ratio(&settings("none", &name.parse().unwrap()), unit);
            assert!(apart < 1e-5, "{name} {unit}: {apart:e}");
        }
    }
}

#[test]
fn offsets_do_not_matter_after_a_z_score() {
    let (corpus, queries) = data();
    let offsets = [100.0, -3.0, 1e4];
    let ones = [1.0; CHANNELS];
    let compare = |settings: &Settings| {
        let one = scores(settings, &corpus, &queries);
        let other = scores(settings, &in_units(&corpus, ones, offsets), &in_units(&queries, ones, offsets));
        assert_same(settings, "offsets", &one, &other);
    };
    let rbf: Kernel = "flat_rbf".parse().unwrap();
    PER_CHANNEL.iter().chain(COMMON).chain(&["published"]).for_each(|p| compare(&settings(p, &rbf)));
    kernels().iter().for_each(|kernel| compare(&settings("standard", kernel)));
    // Without one, kernels of differences alone.
    for name in ["flat_rbf", "integral_rbf", "gak"] {
        compare(&settings("none", &name.parse().unwrap()));
    }
}

/// Exception: `cross_fit` and `split` deal series to folds by their places, so p-values may move a little. Scores do not.
#[test]
fn the_order_of_series_does_not_matter() {
    let (corpus, queries) = data();
    let order: Vec<usize> = (0..corpus.len()).map(|i| (i * 7 + 3) % corpus.len()).collect();
    let mixed = corpus.select(&order);
    let backwards: Vec<usize> = (0..queries.len()).rev().collect();
    let compare = |settings: &Settings| {
        let one = scores(settings, &corpus, &queries);
        assert_same(settings, "order of the corpus", &one, &scores(settings, &mixed, &queries));
        let mut other = scores(settings, &corpus, &queries.select(&backwards));
        other.reverse();
        assert_eq!(one, other, "{:?}: order of queries", settings);
    };
    kernels().iter().for_each(|kernel| compare(&settings("standard", kernel)));
    let rbf: Kernel = "flat_rbf".parse().unwrap();
    PER_CHANNEL.iter().chain(COMMON).chain(&["published", "none"]).for_each(|p| compare(&settings(p, &rbf)));
    let run = Run::sequential();
    let settings = settings("standard", &rbf).with_calibration(Calibration::LeaveOneOut {});
    let sorted = |corpus: &SeriesSet| {
        let mut all = settings.fit(corpus, &run).unwrap().calibrated().unwrap().scores().to_vec();
        all.sort_by(f64::total_cmp);
        all
    };
    assert_same(&settings, "leave-one-out scores", &sorted(&corpus), &sorted(&mixed));
}

/// Exceptions: the random kernels draw numbers for each channel by its place.
#[test]
fn the_order_of_channels_does_not_matter() {
    let (corpus, queries) = data();
    let turned = |set: &SeriesSet| {
        let mut set = set.clone();
        set.values_mut().chunks_exact_mut(CHANNELS).for_each(|row| row.rotate_left(1));
        set
    };
    let compare = |settings: &Settings| {
        let one = scores(settings, &corpus, &queries);
        assert_same(settings, "channels", &one, &scores(settings, &turned(&corpus), &turned(&queries)));
    };
    let random = |kernel: &&Kernel| {
        !["sig_random", "sig_fourier", "rocket", "radon"].contains(&family(kernel).as_str())
    };
    kernels().iter().filter(random).for_each(|kernel| compare(&settings("standard", kernel)));
    let rbf: Kernel = "flat_rbf".parse().unwrap();
    PER_CHANNEL.iter().chain(COMMON).chain(&["published", "none"]).for_each(|p| compare(&settings(p, &rbf)));
}

/// A corpus twice over has the same mean, covariance and medians. Exceptions: z-scores by standard deviations change a
/// little (they divide by N-1), `rocket` draws other series to learn from, the outer quantiles of `radon` lie between other
/// values, and calibrated p-values are wrong, which the advice on duplicates says.
#[test]
fn a_corpus_twice_over_gives_the_same_scores() {
    let (corpus, queries) = data();
    let mut twice = corpus.clone();
    twice.extend(&corpus).unwrap();
    for prepare in ["none", "zscore=robust", "zscore=series"] {
        for kernel in kernels() {
            // Points of `none` are not in the domain of these parameters.
            if prepare == "none" && family(&kernel) == "vrk"
                || ["rocket", "radon"].contains(&family(&kernel).as_str())
            {
                continue;
            }
            let settings = settings(prepare, &kernel);
            let one = scores(&settings, &corpus, &queries);
            assert_same(&settings, "twice", &one, &scores(&settings, &twice, &queries));
        }
    }
}

/// Kernels of points at one time, of alignments and of whole signatures do not see the direction of time, where all
/// series are turned. Exceptions: `vrk` forgets the past, the random kernels start or look somewhere, and `auto` scales of
/// signature kernels are measured from the first step.
#[test]
fn the_direction_of_time_does_not_matter_to_symmetric_kernels() {
    let (corpus, queries) = data();
    let turned = |set: &SeriesSet| {
        let mut all = SeriesSet::new(CHANNELS).unwrap();
        for series in set.iter() {
            let rows: Vec<f64> = series.values().chunks_exact(CHANNELS).rev().flatten().copied().collect();
            all.push(&rows).unwrap();
        }
        all
    };
    let seen = ["vrk", "sig_random", "sig_fourier", "rocket", "radon"];
    for info in CATALOGUE.iter().filter(|info| !seen.contains(&info.name)) {
        let mut specs = vec![info.example];
        if !info.name.starts_with("sig") {
            specs.push(info.name);
        }
        for spec in specs {
            for prepare in ["zscore=channel", "zscore=step", "zscore=series", "zscore=robust,clip=5"] {
                let settings = settings(prepare, &spec.parse().unwrap());
                let one = scores(&settings, &corpus, &queries);
                assert_same(&settings, "time", &one, &scores(&settings, &turned(&corpus), &turned(&queries)));
            }
        }
    }
    let kernel: Kernel = "vrk:tau=0.1,lambda=0.9,clip=0.9".parse().unwrap();
    let settings = settings("standard", &kernel);
    let (one, other) =
        (scores(&settings, &corpus, &queries), scores(&settings, &turned(&corpus), &turned(&queries)));
    assert!(apart(&one, &other) > 1e-4, "a reservoir sees the direction");
}

/// A channel that is dead in the corpus: told, and not ignored in what comes later.
#[test]
fn a_constant_channel_is_told_and_leaving_it_is_seen() {
    let (corpus, queries) = data();
    let dead = |set: &SeriesSet, value: f64| {
        let mut set = set.clone();
        set.values_mut().iter_mut().skip(1).step_by(CHANNELS).for_each(|v| *v = value);
        set
    };
    let run = Run::sequential();
    for value in [0.0, 0.1, 1e-12, -1e12] {
        let detector = Settings::one_view().fit(&dead(&corpus, value), &run).unwrap();
        let warnings = detector.warnings().join("\n");
        assert!(warnings.contains("channel 1 is constant in the corpus"), "{warnings}");
        let still = detector.score(&dead(&queries, value), &run).unwrap().findings;
        let moved = detector.score(&dead(&queries, value + value.abs().max(1e-9)), &run).unwrap().findings;
        assert!(still.iter().zip(&moved).take(6).all(|(s, m)| m.score > 1.05 * s.score), "{value}");
    }
}
