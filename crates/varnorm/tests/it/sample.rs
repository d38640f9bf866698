//! One law, many ways to give it: every route of [`VarianceNorm`] against the others.

use crate::oracle::norm::mahalanobis;
use varnorm::gram::{Cross, Scaling};
use varnorm::kernel::FlatLinear;
use varnorm::law::{Gaussian, NormalNumbers};
use varnorm::sample::{Elements, VarianceNorm};
use varnorm::{Distance, Gram, Matrix, Measure, Norm, Rank, Run, SeriesSet};

const MEAN: Distance = Distance::Mahalanobis {};
const NEAREST: Distance = Distance::Conformance { neighbour: 1 };

fn draws(count: usize, dimension: usize, seed: u64) -> Matrix {
    Gaussian::new(vec![1.0; dimension]).unwrap().draw(count, seed)
}

/// `a b^T`.
fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let cell = |i: usize, j: usize| a.row(i).iter().zip(b.row(j)).map(|(x, y)| x * y).sum();
    let values = (0..a.rows()).flat_map(|i| (0..b.rows()).map(move |j| cell(i, j))).collect();
    Matrix::from_values(a.rows(), b.rows(), values).unwrap()
}

fn scores(norm: &VarianceNorm, queries: &Matrix, measure: Measure) -> Vec<f64> {
    norm.measure(Elements::Vectors(queries), measure, &Run::sequential()).unwrap().scores.values
}

fn assert_close(a: &[f64], b: &[f64], relative: f64, what: &str) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!(a == b || (a - b).abs() <= relative * b.abs(), "{what}: {a} {b} {:e}", (a / b - 1.0).abs());
    }
}

#[test]
fn vectors_equal_their_gram_matrix() {
    let run = Run::sequential();
    for (count, dimension) in [(40, 3), (40, 12), (12, 12), (10, 30)] {
        let (sample, queries) = (draws(count, dimension, 1), draws(7, dimension, 2));
        let by_vectors = VarianceNorm::from_vectors(&sample, Rank::default(), &run).unwrap();
        let gram = Gram::from_matrix(product(&sample, &sample)).unwrap();
        let by_gram = VarianceNorm::from_gram(&gram, Rank::default(), &run).unwrap();
        let squares = (0..7).map(|q| queries.row(q).iter().map(|v| v * v).sum()).collect();
        let cross = Cross { matrix: product(&queries, &sample), self_values: squares };
        // The kernel route with the linear kernel is a third one.
        let series = |m: &Matrix| SeriesSet::from_equal(m.values().to_vec(), 1, dimension).unwrap();
        let by_kernel = VarianceNorm::from_kernel(
            &FlatLinear {}.into(),
            &series(&sample),
            Scaling::Raw,
            Rank::default(),
            &run,
        )
        .unwrap();
        assert_eq!(by_vectors.spectrum().rank(), by_gram.spectrum().rank());
        for norm in [Norm::Exact, Norm::Tikhonov, Norm::Envelope] {
            for distance in [MEAN, NEAREST, Distance::Conformance { neighbour: 3 }] {
                let measure = Measure { norm, alpha: 0.05, distance };
                let found = scores(&by_vectors, &queries, measure);
                let other = by_gram.measure(Elements::Products(&cross), measure, &run).unwrap();
                assert_close(&found, &other.scores.values, 1e-9, "gram");
                let third = by_kernel.measure(Elements::Series(&series(&queries)), measure, &run).unwrap();
                assert_close(&found, &third.scores.values, 1e-9, "kernel");
            }
        }
        assert!(
            by_gram
                .measure(
                    Elements::Vectors(&queries),
                    Measure { norm: Norm::Exact, alpha: 0.0, distance: MEAN },
                    &run
                )
                .is_err()
        );
    }
}

/// A map with singular values from 1 to 1e-6: products of reflections on both sides of a diagonal.
fn ill_conditioned(dimension: usize, seed: u64) -> Matrix {
    let mut numbers = NormalNumbers::new(seed);
    let mut map = Matrix::zeros(dimension, dimension);
    for i in 0..dimension {
        map.row_mut(i)[i] = 10f64.powf(-6.0 * i as f64 / (dimension - 1) as f64);
    }
    for _ in 0..6 {
        let v: Vec<f64> = (0..dimension).map(|_| numbers.next()).collect();
        let square: f64 = v.iter().map(|x| x * x).sum();
        // From the left: m - 2 v (v^T m) / |v|^2, and from the right the same with another place in the sum.
        let left: Vec<f64> =
            (0..dimension).map(|j| (0..dimension).map(|i| v[i] * map.get(i, j)).sum()).collect();
        for i in 0..dimension {
            for j in 0..dimension {
                map.row_mut(i)[j] -= 2.0 * v[i] * left[j] / square;
            }
        }
        let right: Vec<f64> =
            (0..dimension).map(|i| (0..dimension).map(|j| v[j] * map.get(i, j)).sum()).collect();
        for i in 0..dimension {
            for j in 0..dimension {
                map.row_mut(i)[j] -= 2.0 * right[i] * v[j] / square;
            }
        }
    }
    map
}

/// theoremInvarianceUnderBoundedOperators, the hard case: condition number 1e6, of which a covariance has the square.
#[test]
fn theorem_invariance_under_an_ill_conditioned_map() {
    let run = Run::sequential();
    let mut worst = 0.0f64;
    for (dimension, seed) in [(2, 1), (5, 2), (12, 3), (30, 4)] {
        let (sample, queries) = (draws(4 * dimension + 5, dimension, seed), draws(9, dimension, seed + 50));
        let map = ill_conditioned(dimension, seed);
        let (mapped, mapped_queries) = (product(&sample, &map), product(&queries, &map));
        for distance in [MEAN, NEAREST] {
            let exact = Measure { norm: Norm::Exact, alpha: 0.0, distance };
            let before =
                scores(&VarianceNorm::from_vectors(&sample, Rank::default(), &run).unwrap(), &queries, exact);
            let norm = VarianceNorm::from_vectors(&mapped, Rank::default(), &run).unwrap();
            let after = scores(&norm, &mapped_queries, exact);
            assert!(before.iter().all(|s| s.is_finite()));
            assert_close(&after, &before, 1e-6, "vectors");
            let basis = VarianceNorm::from_coordinates(&mapped, Rank::default(), &run).unwrap();
            assert_close(&scores(&basis, &mapped_queries, exact), &before, 1e-6, "coordinates");
            worst = after.iter().zip(&before).map(|(a, b)| (a / b - 1.0).abs()).fold(worst, f64::max);
        }
    }
    println!("largest relative change under maps of condition number 1e6: {worst:e}");
}

/// theoremEmpiricalBanachVarianceNorm and corrVarNormBanachEmpirical: the variance norm on a Banach space from coordinates in any basis.
#[test]
fn theorem_empirical_banach_variance_norm() {
    let run = Run::sequential();
    // Polynomials by their coefficients; the same ones by their values at the nodes of another basis.
    let (coefficients, queries) = (draws(30, 4, 5), draws(6, 4, 6));
    let nodes = [-0.9, -0.2, 0.4, 1.1];
    let values = |m: &Matrix| {
        let at = |r: usize, x: f64| (0..4).map(|k| m.get(r, k) * x.powi(k as i32)).sum();
        let cells = (0..m.rows()).flat_map(|r| nodes.map(|x| at(r, x))).collect();
        Matrix::from_values(m.rows(), 4, cells).unwrap()
    };
    let exact = Measure { norm: Norm::Exact, alpha: 0.0, distance: MEAN };
    let one = VarianceNorm::from_coordinates(&coefficients, Rank::default(), &run).unwrap();
    let other = VarianceNorm::from_coordinates(&values(&coefficients), Rank::default(), &run).unwrap();
    let found = scores(&one, &queries, exact);
    assert_close(&found, &scores(&other, &values(&queries), exact), 1e-9, "basis");
    // The corollary: it is the Mahalanobis distance of the coordinates in R^M.
    let plain = VarianceNorm::from_vectors(&coefficients, Rank::default(), &run).unwrap();
    assert_close(&found, &scores(&plain, &queries, exact), 1e-9, "coordinates");
    // And the formula itself: sqrt(a^T Sigma^-1 a).
    assert_close(&found, &mahalanobis(&coefficients, &queries), 1e-9, "formula");
    // No inner product, no regularised norm.
    let regularised = Measure { norm: Norm::Tikhonov, alpha: 0.1, distance: MEAN };
    let error = one.measure(Elements::Vectors(&queries), regularised, &run).unwrap_err().to_string();
    assert!(error.contains("exact norm only"), "{error}");
}

/// Curves on [0, 1] with two channels, sampled on a grid.
fn curves(count: usize, grid: &[f64], seed: u64) -> Matrix {
    let mut numbers = NormalNumbers::new(seed);
    let mut values = Vec::new();
    for _ in 0..count {
        let a: Vec<f64> = (0..6).map(|_| numbers.next()).collect();
        for t in grid {
            values.push(a[0] + a[1] * (3.0 * t).sin() + 0.5 * a[2] * t * t);
            values.push(a[3] * (2.0 * t).cos() + a[4] * t + 0.3 * a[5] * (5.0 * t).sin());
        }
    }
    Matrix::from_values(count, 2 * grid.len(), values).unwrap()
}

#[test]
fn refining_the_grid_changes_nothing_beyond_the_quadrature_error() {
    let run = Run::sequential();
    let uniform = |steps: usize| (0..=steps).map(|t| t as f64 / steps as f64).collect::<Vec<f64>>();
    let found = |grid: &[f64]| {
        let norm = VarianceNorm::from_functions(&curves(25, grid, 1), grid, Rank::default(), &run).unwrap();
        let queries = curves(5, grid, 2);
        let mut all = Vec::new();
        for (norm_kind, distance) in [(Norm::Tikhonov, MEAN), (Norm::Envelope, NEAREST)] {
            all.extend(scores(&norm, &queries, Measure { norm: norm_kind, alpha: 0.05, distance }));
        }
        all
    };
    let finest = found(&uniform(3200));
    let error =
        |scores: Vec<f64>| scores.iter().zip(&finest).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
    let errors = [50, 100, 200].map(|steps| error(found(&uniform(steps))));
    // The trapezoidal rule: half the step, a quarter of the error.
    assert!(errors[0] < 2e-3 && errors[1] < 0.3 * errors[0] && errors[2] < 0.3 * errors[1], "{errors:?}");
    // An uneven grid is weighted for what it is.
    let uneven: Vec<f64> = uniform(200).iter().map(|t| t * t * (3.0 - 2.0 * t)).collect();
    let uneven_error = error(found(&uneven));
    assert!(uneven_error < 1e-3, "{uneven_error}");
    for bad in [vec![0.0], vec![0.0, 0.0], vec![1.0, 0.0]] {
        assert!(
            VarianceNorm::from_functions(&curves(5, &[0.0, 1.0], 1), &bad, Rank::default(), &run).is_err()
        );
    }
}

/// theoremHilbertCameronMartin and theoremCameronMartinEmpiricalMeasure: the norm is finite on the span of the centred sample and infinite off it, and
/// says how far off.
#[test]
fn theorem_hilbert_cameron_martin() {
    let run = Run::sequential();
    let (count, dimension) = (6, 10);
    let sample = draws(count, dimension, 8);
    let norm = VarianceNorm::from_vectors(&sample, Rank::default(), &run).unwrap();
    let mut numbers = NormalNumbers::new(3);
    let weights: Vec<f64> = (0..count).map(|_| numbers.next()).collect();
    let total: f64 = weights.iter().sum();
    // An affine combination lies on the span around the mean; a small step in a random direction leaves it.
    let inside: Vec<f64> =
        (0..dimension).map(|c| (0..count).map(|r| weights[r] / total * sample.get(r, c)).sum()).collect();
    // There it is sqrt(N) times the length of the shortest weights: K^(1/2) maps them onto the space.
    let shares: Vec<f64> = weights.iter().map(|w| w / total - 1.0 / count as f64).collect();
    let expected = (count as f64 * shares.iter().map(|w| w * w).sum::<f64>()).sqrt();
    let exact = Measure { norm: Norm::Exact, alpha: 0.0, distance: MEAN };
    let query = Matrix::from_values(1, dimension, inside.clone()).unwrap();
    assert_close(&scores(&norm, &query, exact), &[expected], 1e-9, "inside");
    for (step, off) in [(0.0, false), (1e-12, false), (1e-2, true), (1.0, true)] {
        let direction: Vec<f64> = (0..dimension).map(|_| numbers.next()).collect();
        let query: Vec<f64> = inside.iter().zip(&direction).map(|(x, d)| x + step * d).collect();
        let query = Matrix::from_values(1, dimension, query).unwrap();
        for distance in [MEAN, NEAREST] {
            let exact = Measure { norm: Norm::Exact, alpha: 0.0, distance };
            let found = norm.measure(Elements::Vectors(&query), exact, &run).unwrap();
            assert_eq!(found.scores.values[0].is_infinite(), off, "step {step}: {found:?}");
            assert_eq!(found.off_span[0] > norm.tolerance(), off);
            let length = step * direction.iter().map(|d| d * d).sum::<f64>().sqrt();
            assert!(found.off_span[0] <= length + 1e-6 && (!off || found.off_span[0] > 0.1 * length));
        }
    }
}
