//! The identities of variance norms (MATH: section 1; paper, sections 2 to 4) as properties of random corpora.

use crate::common::{Numbers, shared};
use crate::oracle::norm::mahalanobis;
use proptest::prelude::*;
use varnorm::gram::{self, Cross, Scaling};
use varnorm::kernel::FlatLinear;
use varnorm::score::{Scores, leave_one_out, scores, scores_by_rank};
use varnorm::{Distance, Gram, Kernel, Matrix, Measure, Norm, Rank, Run, SeriesSet, Spectrum};

const LINEAR: Kernel = Kernel::FlatLinear(FlatLinear {});
const MEAN: Distance = Distance::Mahalanobis {};
const NEAREST: Distance = Distance::Conformance { neighbour: 1 };

fn vectors(count: usize, dimension: usize, seed: u64) -> SeriesSet {
    let mut numbers = Numbers(seed);
    SeriesSet::from_equal((0..count * dimension).map(|_| numbers.normal()).collect(), 1, dimension).unwrap()
}

fn linear(corpus: &SeriesSet, queries: &SeriesSet) -> (Gram, Cross) {
    let run = Run::sequential();
    let gram = gram::gram(&LINEAR, corpus, Scaling::Raw, &run).unwrap();
    let cross = gram::cross(&LINEAR, queries, corpus, &gram.self_values, Scaling::Raw, &run).unwrap();
    (gram, cross)
}

fn measure(corpus: &SeriesSet, queries: &SeriesSet, norm: Norm, alpha: f64, distance: Distance) -> Vec<f64> {
    let (gram, cross) = linear(corpus, queries);
    let spectrum = Spectrum::new(&gram, Rank::default(), &Run::sequential()).unwrap();
    scores(&spectrum, &cross, Measure { norm, alpha, distance }, &Run::sequential()).unwrap().values
}

/// `m` applied to every series (as a vector), plus a shift.
fn mapped(set: &SeriesSet, m: &[f64], shift: f64) -> SeriesSet {
    let d = set.channels();
    let values = set.iter().flat_map(|x| {
        (0..d)
            .map(move |i| (0..d).map(|j| m[i * d + j] * x.values()[j]).sum::<f64>() + shift)
            .collect::<Vec<_>>()
    });
    SeriesSet::from_equal(values.collect(), 1, d).unwrap()
}

fn assert_all_close(a: &[f64], b: &[f64], relative: f64) {
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= relative * b.abs().max(1e-12), "{a} {b}");
    }
}

/// The score of one series under a model of the others, made anew.
fn refitted(gram: &Gram, left: usize, rank: Rank, measure: Measure) -> f64 {
    let others: Vec<usize> = (0..gram.len()).filter(|i| *i != left).collect();
    let spectrum = Spectrum::new(&gram.select(&others), rank, &Run::sequential()).unwrap();
    scores(&spectrum, &gram.cross(&[left], &others), measure, &Run::sequential()).unwrap().values[0]
}

/// Corpora that a random one is not: equal series, few directions, equal eigenvalues, a fast falling spectrum.
#[test]
fn leave_one_out_of_awkward_corpora_is_a_model_without_the_series() {
    let few = vectors(60, 3, 1);
    let twice = few.select(&(0..60).map(|i| i / 2).collect::<Vec<_>>());
    let cross: Vec<f64> = (0..24)
        .flat_map(|i| {
            (0..12).map(move |j| f64::from(u8::from(j == i / 2)) * if i % 2 == 0 { 1.0 } else { -1.0 })
        })
        .collect();
    let cross = SeriesSet::from_equal(cross, 1, 12).unwrap();
    let steep: Vec<f64> = (0..80)
        .flat_map(|i| {
            vectors(1, 40, 90 + i)
                .series(0)
                .values()
                .iter()
                .enumerate()
                .map(|(j, v)| v * 0.7f64.powi(j as i32))
                .collect::<Vec<_>>()
        })
        .collect();
    let steep = SeriesSet::from_equal(steep, 1, 40).unwrap();
    for (at, corpus) in [few, twice, cross, steep].iter().enumerate() {
        let gram = linear(corpus, corpus).0;
        for rank in [Rank::default(), Rank::at_most(3), Rank::at_most(30).above(1e-4)] {
            for (norm, alpha) in [(Norm::Envelope, 0.1), (Norm::Tikhonov, 0.1), (Norm::Exact, 0.0)] {
                for distance in [MEAN, NEAREST] {
                    let m = Measure { norm, alpha, distance };
                    let found = leave_one_out(&gram, rank, m, &Run::sequential()).unwrap().values;
                    for left in (0..corpus.len()).step_by(7) {
                        let (found, one) = (found[left], refitted(&gram, left, rank, m));
                        let equal = found == one || (found - one).abs() < 1e-7 * one.max(1.0);
                        assert!(equal, "corpus {at} {rank:?} {m:?} {left}: {found} {one}");
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Proposition 4.1: linearly independent corpus points are at distance sqrt(2N) of each other.
    #[test]
    fn corpus_pairs_are_at_distance_sqrt_2n(n in 3usize..25, extra in 0usize..20, seed in 0u64..1000) {
        let corpus = vectors(n, n + extra, seed);
        let run = Run::sequential();
        let (gram, cross) = linear(&corpus, &corpus);
        let spectrum = Spectrum::new(&gram, Rank::default(), &run).unwrap();
        prop_assert_eq!(spectrum.rank(), n - 1);
        for neighbour in 2..=n {
            let m = Measure { norm: Norm::Exact, alpha: 0.0, distance: Distance::Conformance { neighbour } };
            for s in scores(&spectrum, &cross, m, &run).unwrap().values {
                prop_assert!((s - (2.0 * n as f64).sqrt()).abs() < 1e-6 * s, "{} {}", s, n);
            }
        }
        // The two-sided bound with regularisation, for the nearest and the furthest of the others.
        let alpha = 0.3 * spectrum.eigenvalues()[0];
        let shrink = |value: &f64| (2.0 * n as f64).sqrt() * value / (value + alpha);
        let (low, high) = (shrink(&spectrum.eigenvalues()[n - 2]), shrink(&spectrum.eigenvalues()[0]));
        for neighbour in [2, n] {
            let m = Measure { norm: Norm::Tikhonov, alpha, distance: Distance::Conformance { neighbour } };
            for s in scores(&spectrum, &cross, m, &run).unwrap().values {
                prop_assert!(low * (1.0 - 1e-9) <= s && s <= high * (1.0 + 1e-9), "{} {} {}", low, s, high);
            }
        }
    }

    /// The exact norm does not change under an invertible affine map of the data.
    #[test]
    fn exact_norm_is_invariant_under_invertible_maps(d in 1usize..7, extra in 3usize..30, seed in 0u64..1000) {
        let (corpus, queries) = (vectors(d + extra, d, seed), vectors(9, d, seed + 5000));
        let mut numbers = Numbers(seed + 1);
        // Diagonally dominant, so invertible; condition numbers stay moderate.
        let m: Vec<f64> = (0..d * d).map(|i| numbers.normal() + if i % (d + 1) == 0 { 6.0 } else { 0.0 }).collect();
        for distance in [MEAN, NEAREST, Distance::Conformance { neighbour: 2 }] {
            let before = measure(&corpus, &queries, Norm::Exact, 0.0, distance);
            let after = measure(&mapped(&corpus, &m, 2.0), &mapped(&queries, &m, 2.0), Norm::Exact, 0.0, distance);
            prop_assert!(before.iter().all(|s| s.is_finite()));
            assert_all_close(&after, &before, 1e-7);
        }
    }

    /// In R^d the exact Mahalanobis score is the textbook one.
    #[test]
    fn exact_norm_is_the_textbook_mahalanobis_distance(n in 4usize..30, seed in 0u64..1000) {
        let corpus = vectors(n, 2, seed);
        let queries = vectors(5, 2, seed + 9000);
        let [sample, asked] = [&corpus, &queries]
            .map(|set| Matrix::from_values(set.len(), 2, set.values().to_vec()).unwrap());
        let expected = mahalanobis(&sample, &asked);
        assert_all_close(&measure(&corpus, &queries, Norm::Exact, 0.0, MEAN), &expected, 1e-8);
    }

    /// tikhonov <= envelope <= exact, and the envelope rises to the exact norm as alpha falls, also to infinity.
    #[test]
    fn envelope_rises_to_the_exact_norm(n in 5usize..20, d in 2usize..30, seed in 0u64..1000) {
        let (corpus, queries) = (vectors(n, d, seed), vectors(6, d, seed + 7000));
        for distance in [MEAN, NEAREST] {
            let exact = measure(&corpus, &queries, Norm::Exact, 0.0, distance);
            let mut last = vec![0.0; 6];
            for alpha in [1.0, 1e-1, 1e-2, 1e-4, 1e-6] {
                let envelope = measure(&corpus, &queries, Norm::Envelope, alpha, distance);
                let tikhonov = measure(&corpus, &queries, Norm::Tikhonov, alpha, distance);
                for q in 0..6 {
                    prop_assert!(tikhonov[q] <= envelope[q] * (1.0 + 1e-9));
                    prop_assert!(envelope[q] <= exact[q] * (1.0 + 1e-6), "{} {}", envelope[q], exact[q]);
                    prop_assert!(envelope[q] >= last[q] * (1.0 - 1e-9));
                }
                last = envelope;
            }
            let (gram, cross) = linear(&corpus, &queries);
            let spectrum = Spectrum::new(&gram, Rank::default(), &Run::sequential()).unwrap();
            let projection = spectrum.project(&cross, &Run::sequential()).unwrap();
            // No weight 1/(lambda + alpha) is further from 1/lambda than that of the smallest eigenvalue.
            let least = spectrum.eigenvalues()[spectrum.rank() - 1];
            let share = (least / (least + 1e-6)).sqrt();
            let small = measure(&corpus, &queries, Norm::Envelope, 1e-10, distance);
            for q in 0..6 {
                let inside: f64 = projection.coordinates.row(q).iter().map(|p| p * p).sum();
                let outside = (projection.squared_norms[q] - inside).max(0.0).sqrt();
                if exact[q].is_finite() {
                    prop_assert!(last[q] >= exact[q] * (share - 1e-6), "{} {} {}", last[q], exact[q], share);
                } else {
                    // Off the span it is at least |x_perp| / sqrt(alpha): without bound.
                    prop_assert!(d >= n && small[q] >= 1e5 * outside * (1.0 - 1e-6), "{} {}", outside, small[q]);
                    prop_assert!(outside > 0.0);
                }
            }
        }
    }

    /// The envelope is the least of |x-h|^2/alpha + |h|^2_H over h in the Cameron-Martin space.
    #[test]
    fn envelope_is_the_minimum_it_claims_to_be(n in 4usize..12, d in 2usize..15, seed in 0u64..1000) {
        let (corpus, query) = (vectors(n, d, seed), vectors(1, d, seed + 3000));
        let (gram, cross) = linear(&corpus, &query);
        let run = Run::sequential();
        let spectrum = Spectrum::new(&gram, Rank::default(), &run).unwrap();
        let projection = spectrum.project(&cross, &run).unwrap();
        let (alpha, p) = (0.2, projection.coordinates.row(0));
        let outside = (projection.squared_norms[0] - p.iter().map(|v| v * v).sum::<f64>()).max(0.0);
        let value = |h: &[f64]| {
            let near: f64 = p.iter().zip(h).map(|(p, h)| (p - h).powi(2)).sum::<f64>() + outside;
            near / alpha + h.iter().zip(spectrum.eigenvalues()).map(|(h, l)| h * h / l).sum::<f64>()
        };
        let score = scores(&spectrum, &cross, Measure { norm: Norm::Envelope, alpha, distance: MEAN }, &run).unwrap().values[0];
        let best: Vec<f64> = p.iter().zip(spectrum.eigenvalues()).map(|(p, l)| p * l / (l + alpha)).collect();
        prop_assert!((value(&best) - score * score).abs() < 1e-9 * score * score);
        let mut numbers = Numbers(seed);
        for _ in 0..20 {
            let other: Vec<f64> = best.iter().map(|h| h + 0.1 * numbers.normal()).collect();
            prop_assert!(value(&other) >= score * score * (1.0 - 1e-12));
        }
    }

    /// Theorem 3.9: coordinates are orthogonal, their mean square is the eigenvalue, and the eigenvalues add up to
    /// the total variance; so the corpus' mean squared exact score is its rank.
    #[test]
    fn coordinates_carry_the_eigenvalues(n in 3usize..30, d in 1usize..30, seed in 0u64..1000) {
        let corpus = vectors(n, d, seed);
        let (gram, cross) = linear(&corpus, &corpus);
        let run = Run::sequential();
        let spectrum = Spectrum::new(&gram, Rank::default(), &run).unwrap();
        let (c, l) = (spectrum.coordinates(), spectrum.eigenvalues());
        prop_assert_eq!(spectrum.rank(), d.min(n - 1));
        for i in 0..spectrum.rank() {
            for j in 0..spectrum.rank() {
                let inner: f64 = c.row(i).iter().zip(c.row(j)).map(|(a, b)| a * b).sum::<f64>() / n as f64;
                let expected = if i == j { l[i] } else { 0.0 };
                prop_assert!((inner - expected).abs() < 1e-10 * l[0]);
            }
        }
        prop_assert!((l.iter().sum::<f64>() - spectrum.variance()).abs() < 1e-10 * spectrum.variance());
        let projected = spectrum.project(&cross, &run).unwrap().coordinates;
        for j in 0..spectrum.rank() {
            for i in 0..n {
                prop_assert!((projected.get(i, j) - c.get(j, i)).abs() < 1e-7 * l[0].sqrt());
            }
        }
        let m = Measure { norm: Norm::Exact, alpha: 0.0, distance: MEAN };
        let squares: f64 = scores(&spectrum, &cross, m, &run).unwrap().values.iter().map(|s| s * s).sum();
        prop_assert!((squares / n as f64 - spectrum.rank() as f64).abs() < 1e-6);
    }

    /// Every rank from one decomposition equals a decomposition cut at that rank.
    #[test]
    fn running_sums_equal_a_cut_decomposition(n in 4usize..20, d in 3usize..20, seed in 0u64..1000) {
        let (corpus, queries) = (vectors(n, d, seed), vectors(5, d, seed + 1));
        let (gram, cross) = linear(&corpus, &queries);
        let run = Run::sequential();
        let whole = Spectrum::new(&gram, Rank::default(), &run).unwrap();
        let projection = whole.project(&cross, &run).unwrap();
        let ranks: Vec<usize> = (1..=whole.rank()).collect();
        for norm in [Norm::Exact, Norm::Tikhonov, Norm::Envelope] {
            for distance in [MEAN, NEAREST, Distance::Conformance { neighbour: 3 }] {
                let m = Measure { norm, alpha: 0.1, distance };
                let by_rank = scores_by_rank(&whole, &cross, &projection, m, &ranks, &run).unwrap();
                for (rank, found) in ranks.iter().zip(by_rank) {
                    let cut = Spectrum::new(&gram, Rank::at_most(*rank), &run).unwrap();
                    let expected: Scores = scores(&cut, &cross, m, &run).unwrap();
                    prop_assert_eq!(&found.nearest, &expected.nearest);
                    for (f, e) in found.values.iter().zip(&expected.values) {
                        prop_assert!(f == e || (f - e).abs() < 1e-9 * e, "{} {}", f, e);
                    }
                }
            }
        }
    }

    /// In-corpus scores are those of a model that has never seen the series.
    #[test]
    fn leave_one_out_is_a_model_without_the_series(n in 4usize..12, d in 2usize..9, seed in 0u64..1000) {
        let corpus = vectors(n, d, seed);
        let (gram, _) = linear(&corpus, &corpus);
        for (norm, alpha, distance) in [
            (Norm::Envelope, 0.05, MEAN), (Norm::Envelope, 0.05, NEAREST), (Norm::Tikhonov, 0.2, MEAN),
            (Norm::Tikhonov, 0.2, Distance::Conformance { neighbour: 2 }), (Norm::Envelope, 1e-9, NEAREST),
            (Norm::Exact, 0.0, NEAREST), (Norm::Exact, 0.0, MEAN),
        ] {
            for rank in [Rank::default(), Rank::at_most(2), Rank::default().above(0.5)] {
                let m = Measure { norm, alpha, distance };
                let found = leave_one_out(&gram, rank, m, &Run::with_threads(2).unwrap()).unwrap();
                for left in 0..n {
                    let one = refitted(&gram, left, rank, m);
                    // What leave_one_out promises; a large exact norm comes from a tiny eigenvalue, which has lost digits.
                    let promised = 2.5e-8 + if norm == Norm::Exact { 1e-14 * one * one } else { 0.0 };
                    let equal = found.values[left] == one || (found.values[left] - one).abs() < promised * one;
                    prop_assert!(equal, "{:?} {:?} {} {}", rank, m, found.values[left], one);
                    prop_assert!(found.nearest.as_ref().is_none_or(|nearest| nearest[left] != left));
                }
            }
        }
    }
}

/// MATH, section 1: on RacketSports with a flat RBF kernel the paper's Mahalanobis norm is worse than chance, since
/// far outliers project to nothing, and the envelope is not.
#[test]
fn envelope_sees_what_the_paper_norm_forgets() {
    let Some(folder) = shared("uea") else { return };
    let split = varnorm::data::read_split(&folder, "RacketSports").unwrap();
    let run = Run::sequential();
    let labels = &split.test.labels.as_ref().unwrap().values;
    let mean_auc = |norm: Norm| {
        let classes = &split.train.labels.as_ref().unwrap().declared;
        let aucs = classes.iter().map(|class| {
            let corpus = split.train.select(&split.train.with_label(class).unwrap()).series;
            let (fitted, corpus) = varnorm::Preparation::published().fit(&corpus).unwrap();
            let queries = fitted.apply(&split.test.series).unwrap();
            let sigma = ((corpus.channels() * corpus.equal_length().unwrap()) as f64).sqrt();
            let kernel: Kernel = format!("flat_rbf:sigma={sigma}").parse().unwrap();
            let gram = gram::gram(&kernel, &corpus, Scaling::Normalized, &run).unwrap();
            let cross = gram::cross(&kernel, &queries, &corpus, &gram.self_values, Scaling::Normalized, &run)
                .unwrap();
            let spectrum = Spectrum::new(&gram, Rank::default(), &run).unwrap();
            let m = Measure { norm, alpha: 1e-2, distance: MEAN };
            let found = scores(&spectrum, &cross, m, &run).unwrap().values;
            let novel: Vec<bool> = labels.iter().map(|l| l != class).collect();
            varnorm::metrics::roc_auc(&found, &novel)
        });
        aucs.sum::<f64>() / classes.len() as f64
    };
    let (tikhonov, envelope) = (mean_auc(Norm::Tikhonov), mean_auc(Norm::Envelope));
    println!("RacketSports, flat RBF, Mahalanobis: tikhonov {tikhonov:.3}, envelope {envelope:.3}");
    assert!(tikhonov < 0.3 && envelope > 0.75, "{tikhonov} {envelope}");
}
