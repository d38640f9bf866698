//! Every lemma, proposition, theorem and corollary of sections 2 to 4 of the paper as a test, named after its label.
//!
//! | label in the paper | test |
//! |---|---|
//! | lemma_qfg_equals_fCg | `lemma_qfg_equals_fcg` |
//! | propCalK, and the proposition after it | `prop_cal_k_and_its_inverse` |
//! | TheoremCameronMartinNormDefinitionsCoincide | `theorem_cameron_martin_norm_definitions_coincide` |
//! | theoremInvarianceUnderBoundedOperators | `theorem_invariance_under_bounded_operators` (sample.rs: condition number 1e6) |
//! | theoremEmpiricalBanachVarianceNorm, corrVarNormBanachEmpirical | sample.rs: `theorem_empirical_banach_variance_norm` |
//! | theoremHilbertCameronMartin, theoremCameronMartinEmpiricalMeasure | sample.rs: `theorem_hilbert_cameron_martin` |
//! | defRegularizedVarianceNorm (both views) | theorems.rs: `envelope_is_the_minimum_it_claims_to_be` |
//! | theoremEigenvectorsCovOperator | `theorem_eigenvectors_cov_operator` |
//! | lemmaCovarianceOperatorConvergence | `lemma_covariance_operator_convergence` |
//! | theoremConsistentEstimator | `theorem_consistent_estimator` |
//! | theoremGaussianDistribution | `theorem_gaussian_distribution` |
//! | propEmpiricalVarianceNormSqrt2NEquidistant | `prop_empirical_variance_norm_sqrt_2n_equidistant` |
//! | propMinMaxDifference, corrMinMaxDifferenceVarianceNorm | `prop_min_max_difference` |
//! | lemmaCovarianceConcentration | `lemma_covariance_concentration` |
//! | the last proposition of section 4 (empirical measure) | `prop_min_max_difference_of_the_empirical_norm` |

use varnorm::internal::{as_the_norm_sees, concentration};
use varnorm::law::{Gaussian, NormalNumbers};
use varnorm::norm::{effective_dimension, effective_rank};
use varnorm::sample::{Elements, VarianceNorm};
use varnorm::{Distance, Gram, Matrix, Measure, Norm, Rank, Run, Spectrum};
use varnorm_study::theory::{consistency, equidistance, spread, teaching_law};

const MEAN: Distance = Distance::Mahalanobis {};
const EXACT: Measure = Measure { norm: Norm::Exact, alpha: 0.0, distance: MEAN };

fn law(dimension: usize) -> Gaussian {
    Gaussian::new((0..dimension).map(|j| 1.0 / (1.0 + j as f64)).collect()).unwrap()
}

/// The sample less its mean, and the mean.
fn centred(sample: &Matrix) -> (Matrix, Vec<f64>) {
    let n = sample.rows() as f64;
    let mean: Vec<f64> = (0..sample.columns())
        .map(|c| (0..sample.rows()).map(|r| sample.get(r, c)).sum::<f64>() / n)
        .collect();
    let mut out = sample.clone();
    for r in 0..sample.rows() {
        out.row_mut(r).iter_mut().zip(&mean).for_each(|(v, m)| *v -= m);
    }
    (out, mean)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The covariance form q(f, g) of a centred sample.
fn covariance(sample: &Matrix, f: &[f64], g: &[f64]) -> f64 {
    (0..sample.rows()).map(|r| dot(sample.row(r), f) * dot(sample.row(r), g)).sum::<f64>()
        / sample.rows() as f64
}

fn fit(sample: &Matrix) -> VarianceNorm {
    VarianceNorm::from_vectors(sample, Rank::default(), &Run::sequential()).unwrap()
}

/// The exact variance norm of a vector (a score is that of a difference from the mean).
fn exact_norm(sample: &Matrix, vector: &[f64]) -> f64 {
    let (_, mean) = centred(sample);
    let query: Vec<f64> = vector.iter().zip(&mean).map(|(v, m)| v + m).collect();
    let query = Matrix::from_values(1, query.len(), query).unwrap();
    fit(sample).measure(Elements::Vectors(&query), EXACT, &Run::sequential()).unwrap().scores.values[0]
}

/// `K g` for the covariance operator of a centred sample: `(1/N) sum y_i <y_i, g>`.
fn apply(sample: &Matrix, g: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; g.len()];
    for r in 0..sample.rows() {
        let along = dot(sample.row(r), g) / sample.rows() as f64;
        out.iter_mut().zip(sample.row(r)).for_each(|(o, v)| *o += along * v);
    }
    out
}

/// q(f, g) = f(K g), with K from the library's eigenvalues and coordinates: for functionals that are inner products
/// with corpus elements both sides are known.
#[test]
fn lemma_qfg_equals_fcg() {
    for (count, dimension) in [(20, 5), (8, 15)] {
        let sample = law(dimension).draw(count, 1);
        let (y, _) = centred(&sample);
        let fitted = fit(&sample);
        let (c, values) = (fitted.spectrum().coordinates(), fitted.spectrum().eigenvalues());
        for (p, q) in [(0, 0), (0, 1), (2, 5), (7, 3)] {
            let operator: f64 = (0..values.len()).map(|j| values[j] * c.get(j, p) * c.get(j, q)).sum();
            let form = covariance(&y, y.row(p), y.row(q));
            assert!(
                (operator - form).abs() < 1e-12 * covariance(&y, y.row(p), y.row(p)),
                "{operator} {form}"
            );
        }
    }
}

/// The extended operator is onto the Cameron-Martin space and one-to-one: the norm of K f is that of f in L2(mu).
#[test]
fn prop_cal_k_and_its_inverse() {
    for (count, dimension) in [(30, 6), (7, 20)] {
        let sample = law(dimension).draw(count, 2);
        let (y, _) = centred(&sample);
        let mut numbers = NormalNumbers::new(4);
        for _ in 0..5 {
            let f: Vec<f64> = (0..dimension).map(|_| numbers.next()).collect();
            let (found, expected) = (exact_norm(&sample, &apply(&y, &f)), covariance(&y, &f, &f).sqrt());
            assert!((found / expected - 1.0).abs() < 1e-8, "{found} {expected}");
        }
    }
}

/// |h| = sup f(h) over q(f, f) <= 1: no functional beats it, and f = K^-1 h (up to scale) attains it.
#[test]
fn theorem_cameron_martin_norm_definitions_coincide() {
    let sample = law(5).draw(25, 3);
    let (y, _) = centred(&sample);
    let mut numbers = NormalNumbers::new(5);
    let k: Vec<f64> = (0..5).map(|_| numbers.next()).collect();
    let h = apply(&y, &k);
    let norm = exact_norm(&sample, &h);
    let ratio = |f: &[f64]| dot(f, &h) / covariance(&y, f, f).sqrt();
    assert!((ratio(&k) / norm - 1.0).abs() < 1e-10, "{} {norm}", ratio(&k));
    for _ in 0..2000 {
        let f: Vec<f64> = k.iter().map(|v| v + 0.5 * numbers.next()).collect();
        assert!(ratio(&f) <= norm * (1.0 + 1e-12));
    }
    // Off the space the supremum is infinite: here along a direction without variance.
    let mut flat = sample.clone();
    (0..25).for_each(|r| flat.row_mut(r)[4] = 1.0);
    assert_eq!(exact_norm(&flat, &[0.0, 0.0, 0.0, 0.0, 1.0]), f64::INFINITY);
    assert!(exact_norm(&flat, &[1.0, 0.0, 0.0, 0.0, 0.0]).is_finite());
}

#[test]
fn theorem_invariance_under_bounded_operators() {
    let sample = law(6).draw(40, 6);
    let mut numbers = NormalNumbers::new(7);
    let map: Vec<Vec<f64>> = (0..6).map(|_| (0..6).map(|_| numbers.next()).collect()).collect();
    let apply = |x: &[f64]| -> Vec<f64> { map.iter().map(|row| dot(row, x)).collect() };
    let mapped: Vec<f64> = (0..40).flat_map(|r| apply(sample.row(r))).collect();
    let mapped = Matrix::from_values(40, 6, mapped).unwrap();
    for _ in 0..10 {
        let x: Vec<f64> = (0..6).map(|_| numbers.next()).collect();
        let (before, after) = (exact_norm(&sample, &x), exact_norm(&mapped, &apply(&x)));
        assert!((after / before - 1.0).abs() < 1e-9, "{before} {after}");
    }
}

/// `e_n = sum_i v_i f_i` are eigenvectors of K of norm sqrt(lambda), orthogonal, and span the space.
#[test]
fn theorem_eigenvectors_cov_operator() {
    let (count, dimension) = (9, 14);
    let sample = law(dimension).draw(count, 8);
    let (y, _) = centred(&sample);
    let products: Vec<f64> =
        (0..count * count).map(|at| dot(sample.row(at / count), sample.row(at % count))).collect();
    let gram = Gram::from_matrix(Matrix::from_values(count, count, products).unwrap()).unwrap();
    let spectrum = Spectrum::new(&gram, Rank::default(), &Run::sequential()).unwrap();
    assert_eq!(spectrum.rank(), count - 1);
    let vectors: Vec<Vec<f64>> = (0..spectrum.rank())
        .map(|m| {
            // v^(m)_i from the coordinates: c_i = sqrt(N lambda) v_i; f_i = y_i / sqrt(N).
            let scale = count as f64 * spectrum.eigenvalues()[m].sqrt();
            let along = |c: usize| {
                (0..count).map(|i| spectrum.coordinates().get(m, i) * y.get(i, c)).sum::<f64>() / scale
            };
            (0..dimension).map(along).collect()
        })
        .collect();
    for (m, e) in vectors.iter().enumerate() {
        let value = spectrum.eigenvalues()[m];
        assert!((dot(e, e) / value - 1.0).abs() < 1e-9, "norm {} of eigenvector {m}", dot(e, e));
        for (a, b) in apply(&y, e).iter().zip(e) {
            assert!((a - value * b).abs() < 1e-10, "eigenvector {m}");
        }
        assert!(vectors[..m].iter().all(|other| dot(e, other).abs() < 1e-10));
    }
    // The span: nothing of a centred element is left outside.
    for i in 0..count {
        let inside: f64 = vectors.iter().map(|e| dot(y.row(i), e).powi(2) / dot(e, e)).sum();
        assert!((inside / dot(y.row(i), y.row(i)) - 1.0).abs() < 1e-9);
    }
}

/// `|K_N - K|_op`, in the law's own eigenvectors, with `K_N = sum lambda_j e_j e_j^T` from the library's decomposition:
/// `e_j = (1 / (N lambda_j)) sum_i <y_i, e_j> y_i`.
fn operator_error(law: &Gaussian, count: usize, seed: u64) -> f64 {
    let sample = law.draw(count, seed);
    let (y, _) = centred(&sample);
    let fitted = fit(&sample);
    let (c, values) = (fitted.spectrum().coordinates(), fitted.spectrum().eigenvalues());
    let d = law.eigenvalues().len();
    let mut difference = Matrix::zeros(d, d);
    (0..d).for_each(|i| difference.row_mut(i)[i] = -law.eigenvalues()[i]);
    for (j, value) in values.iter().enumerate() {
        let mut e = vec![0.0; d];
        for r in 0..count {
            let along = c.get(j, r) / (count as f64 * value);
            e.iter_mut().zip(y.row(r)).for_each(|(e, v)| *e += along * v);
        }
        for i in 0..d {
            difference.row_mut(i).iter_mut().zip(&e).for_each(|(cell, v)| *cell += value * e[i] * v);
        }
    }
    // Power iteration on the square.
    let mut v: Vec<f64> = (0..d).map(|i| 1.0 + 0.1 * i as f64).collect();
    let mut size = 0.0;
    for _ in 0..60 {
        let next: Vec<f64> = (0..d).map(|i| dot(difference.row(i), &v)).collect();
        size = dot(&next, &next).sqrt() / dot(&v, &v).sqrt();
        v = next;
    }
    size
}

#[test]
fn lemma_covariance_operator_convergence() {
    let law = law(8);
    let mean = |count: usize| (0..20).map(|seed| operator_error(&law, count, seed)).sum::<f64>() / 20.0;
    let (few, many) = (mean(50), mean(3200));
    // N^(-1/2): 64 times the sample, an eighth of the error.
    assert!((few / many / 8.0 - 1.0).abs() < 0.25, "{few} {many}");
}

/// Koltchinskii and Lounici's bound, with the constant that Gaussians need in practice.
#[test]
fn lemma_covariance_concentration() {
    let law = law(8);
    let (r, count, t) = (effective_rank(law.eigenvalues()), 200.0f64, 3.0f64);
    let bound =
        [(r / count).sqrt(), r / count, (t / count).sqrt(), t / count].into_iter().fold(0.0, f64::max);
    let errors: Vec<f64> = (0..200).map(|seed| operator_error(&law, 200, 500 + seed)).collect();
    let above = errors.iter().filter(|e| **e > 4.0 * bound).count();
    assert!(above as f64 / 200.0 <= (-t).exp(), "{above} of 200 above 4 x {bound}");
    assert!(errors.iter().any(|e| *e > 0.3 * bound), "the bound would be empty");
}

#[test]
fn theorem_consistent_estimator() {
    let run = Run::with_threads(2).unwrap();
    let law = teaching_law(30).unwrap();
    let found = consistency(&law, 0.01, &[25, 100, 400, 1600], 20, &run).unwrap();
    for (errors, slope) in [(&found.tikhonov, found.tikhonov_slope), (&found.envelope, found.envelope_slope)]
    {
        assert!(errors.windows(2).all(|w| w[1] < w[0]), "{errors:?}");
        // At least as fast as promised, and not faster than a mean can be.
        assert!(slope < -0.25 && slope > -0.8, "{slope}");
    }
}

/// The squared score of a draw from the law itself has the law of the weighted chi-squares.
#[test]
fn theorem_gaussian_distribution() {
    let law = teaching_law(40).unwrap();
    for (norm, alpha) in
        [(Norm::Tikhonov, 0.01), (Norm::Envelope, 0.01), (Norm::Tikhonov, 1.0), (Norm::Exact, 0.0)]
    {
        let chi = law.squared_norm(norm, alpha).unwrap();
        let draws = law.draw(2000, 17);
        let mut p: Vec<f64> =
            (0..2000).map(|r| chi.survival(law.norm(draws.row(r), norm, alpha).unwrap().powi(2))).collect();
        p.sort_by(f64::total_cmp);
        let gap = p.iter().enumerate().map(|(i, p)| (p - i as f64 / 2000.0).abs()).fold(0.0, f64::max);
        // Kolmogorov and Smirnov at one in a thousand.
        assert!(gap < 1.95 / 2000f64.sqrt(), "{norm:?} {alpha}: {gap}");
    }
}

#[test]
fn prop_empirical_variance_norm_sqrt_2n_equidistant() {
    let law = teaching_law(60).unwrap();
    let found = equidistance(&law, 0.01, &[3, 10, 40, 60], &Run::sequential()).unwrap();
    for (at, count) in found.counts.iter().enumerate() {
        let root = (2.0 * *count as f64).sqrt();
        let (low, high) = found.exact[at];
        assert!((low / root - 1.0).abs() < 1e-9 && (high / root - 1.0).abs() < 1e-9, "{count}: {low} {high}");
        let ((low, high), (least, most)) = (found.tikhonov[at], found.bounds[at]);
        assert!(
            least * (1.0 - 1e-9) <= low && high <= most * (1.0 + 1e-9),
            "{count}: {least} {low} {high} {most}"
        );
        // Regularisation tells near from far.
        assert!(*count < 10 || high > 1.2 * low, "{count}: {low} {high}");
    }
}

/// The bound holds with a constant that does not depend on the spectrum, in the plain norm and the regularised one.
#[test]
fn prop_min_max_difference() {
    let (count, delta, trials) = (50, 0.05, 200);
    for (at, values) in
        [vec![1.0; 3], vec![1.0; 60], (1..=40).map(|j| 1.0 / f64::from(j * j)).collect()].iter().enumerate()
    {
        let law = Gaussian::new(values.clone()).unwrap();
        for alpha in [0.0, 0.1] {
            // The plain norm has eigenvalues K; the regularised one K_alpha.
            let seen =
                if alpha == 0.0 { values.clone() } else { as_the_norm_sees(values, Norm::Tikhonov, alpha) };
            let expected = 2.0 * seen.iter().sum::<f64>();
            let bound = concentration(count, delta, &seen);
            let spreads = (0..trials).map(|trial| {
                let draws = law.draw(count + 1, 100 * at as u64 + trial);
                let square = |i: usize| {
                    let z: Vec<f64> = draws.row(0).iter().zip(draws.row(i)).map(|(a, b)| a - b).collect();
                    if alpha == 0.0 {
                        dot(&z, &z)
                    } else {
                        law.norm(&z, Norm::Tikhonov, alpha).unwrap().powi(2)
                    }
                };
                let squares: Vec<f64> = (1..=count).map(square).collect();
                (squares.iter().copied().fold(0.0, f64::max)
                    - squares.iter().copied().fold(f64::INFINITY, f64::min))
                    / expected
            });
            let spreads: Vec<f64> = spreads.collect();
            let above = spreads.iter().filter(|s| **s > 4.0 * bound).count() as f64;
            assert!(
                above / trials as f64 <= delta,
                "spectrum {at}, alpha {alpha}: {above} above 4 x {bound}"
            );
            let mean = spreads.iter().sum::<f64>() / trials as f64;
            assert!(
                mean > 0.1 * bound,
                "spectrum {at}, alpha {alpha}: the bound {bound} is empty against {mean}"
            );
        }
    }
    let flat = vec![2.0; 7];
    assert!((effective_dimension(&flat) - 7.0).abs() < 1e-12 && (effective_rank(&flat) - 7.0).abs() < 1e-12);
    let uneven = [4.0, 2.0, 2.0];
    assert!((effective_dimension(&uneven) - 64.0 / 24.0).abs() < 1e-12 && effective_rank(&uneven) == 2.0);
    assert!(
        (concentration(50, 0.05, &flat) - (2000f64.ln() / 7.0).sqrt().max(2000f64.ln() / 7.0)).abs() < 1e-12
    );
}

/// In the sample's own norm the spread is that of the law's, but for an error that falls with N; more regularisation,
/// more spread.
#[test]
fn prop_min_max_difference_of_the_empirical_norm() {
    let law = teaching_law(30).unwrap();
    let run = Run::with_threads(2).unwrap();
    let alphas = [1e-3, 1e-2, 1e-1, 1.0];
    let gap = |count: usize| {
        let found = spread(&law, &alphas, count, 60, &run).unwrap();
        for (at, bound) in found.bound.iter().enumerate() {
            assert!(found.population[at] < 4.0 * bound, "{found:?}");
        }
        assert!(found.population.windows(2).all(|w| w[1] > w[0]), "{:?}", found.population);
        assert!(found.effective_dimension.windows(2).all(|w| w[1] < w[0]));
        found.difference[1]
    };
    let (few, many) = (gap(30), gap(480));
    // Of order sqrt(log N / N): 16 times the sample, about a quarter.
    assert!(many < 0.45 * few, "{few} {many}");
}
