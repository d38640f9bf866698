//! In-corpus scores: each series against the others, never its own neighbour and never in its own covariance.
//!
//! Leaving series i out is a rank-one change: with `y = x - m` and N series,
//! `K_i = N/(N-1) (K - y_i y_i^T / (N-1))`. So with `R = (K + a)^-1`, `a = alpha (N-1)/N`, and `H_pq = <y_p, R y_q>`, the
//! squared envelope norm of `x_i - x_k` without i is (Sherman and Morrison)
//!
//! `(N-1)/N (H_ii - 2 H_ik + H_kk + c s^2)`, with `s = H_ii - H_ik` and `c = 1 / (N - 1 - H_ii)`,
//!
//! and that of `x_i - m_i` is `N H_ii c`. The Tikhonov norm needs `B_pq = <y_p, K R^2 y_q>` beside H. One decomposition
//! then gives every score in O(N^2), where refits take N decompositions.
//!
//! The identity is for all eigenvalues; a refit drops those at most `t`, 1e-10 of its largest. That changes a squared
//! norm by at most `t / alpha^2` times the squared length of what is dropped, which is at most alpha times the squared
//! envelope norm. A series for which this is above 5e-8 of its squared score, or whose c is lost to rounding, takes the
//! second way, as everything does with the exact norm, a largest rank or an eigenvalue threshold of the caller's: the
//! spectrum without the series, from that of the whole (`spectrum/without.rs`), O(N^2) times the kept rank over all
//! series. A series without which the rank to keep is not clear is refitted.

use super::{Distance, Measure, Norm, Scores, nth_smallest, scores, scores_by_rank};
use crate::error::{Error, Result};
use crate::gram::Gram;
use crate::linalg::matrix::Matrix;
use crate::linalg::product::inner_products;
use crate::run::Run;
use crate::spectrum::{Leaver, Projection, RELATIVE_THRESHOLD, Rank, Spectrum};

/// The scores of the corpus itself, each series under a model that has never seen it, with the neighbours' indices
/// in the corpus. See the module's text for how.
pub fn leave_one_out(gram: &Gram, rank: Rank, measure: Measure, run: &Run) -> Result<Scores> {
    let n = gram.len();
    if n < 2 {
        return Err(Error::TooFew {
            what: "leave-one-out".into(),
            needed: 2,
            found: n,
            advice: "give more normal series".into(),
        });
    }
    rank.validate()?;
    measure.validate(n - 1)?;
    if n == 2 {
        return Ok(of_two(gram, measure));
    }
    let every = Rank { max_rank: None, eigenvalue_threshold: Some(0.0) };
    let spectrum = Spectrum::new(gram, every, run)?;
    let closed = ClosedForm::new(&spectrum, rank, measure, run)?;
    // The envelope divides the rounding of squared lengths by alpha: only a refit rounds as a refit does.
    let longest = (0..n).map(|i| gram.matrix.get(i, i)).fold(0.0, f64::max);
    let rounds = measure.norm == Norm::Envelope && measure.alpha < 1e-6 * longest;
    let leaver = (!rounds).then(|| Leaver::new(gram, &spectrum, rank));
    let mut cells = vec![(0.0, 0usize); n];
    let tasks: Vec<_> = cells.iter_mut().enumerate().collect();
    run.for_each("leave-one-out", tasks, |(left, cell)| {
        *cell = match closed.as_ref().and_then(|closed| closed.score(left)) {
            Some(found) => found,
            None => match leaver.as_ref().map(|leaver| downdated(leaver, gram, left, rank, measure)) {
                Some(Some(found)) => found?,
                _ => refit(gram, left, rank, measure)?,
            },
        };
        Ok(())
    })?;
    Ok(Scores {
        values: cells.iter().map(|c| c.0).collect(),
        nearest: matches!(measure.distance, Distance::Conformance { .. })
            .then(|| cells.iter().map(|c| c.1).collect()),
    })
}

/// Each of two series under the model of the other: a single point, without a covariance.
fn of_two(gram: &Gram, measure: Measure) -> Scores {
    let square = gram.matrix.get(0, 0) + gram.matrix.get(1, 1) - 2.0 * gram.matrix.get(0, 1);
    let longest = gram.matrix.get(0, 0).max(gram.matrix.get(1, 1));
    let score = measure.norm.outside(measure.alpha, 1e-10 * longest).add(0.0, square.max(0.0)).sqrt();
    let nearest = matches!(measure.distance, Distance::Conformance { .. }).then(|| vec![1, 0]);
    Scores { values: vec![score; 2], nearest }
}

/// The score under the spectrum without the series, from that of the whole; `None` where that is not clear.
fn downdated(
    leaver: &Leaver<'_>,
    gram: &Gram,
    left: usize,
    rank: Rank,
    measure: Measure,
) -> Option<Result<(f64, usize)>> {
    let to_mean = Measure { distance: Distance::Mahalanobis {}, ..measure };
    let to_nearest = matches!(measure.distance, Distance::Conformance { .. });
    // Off the span of all the others, a series is infinitely far from each of them: the first is as near as any.
    if !to_nearest || measure.norm == Norm::Exact && rank == Rank::default() {
        let (spectrum, projection) = leaver.without(left, false)?;
        let found = score_one(gram, left, &spectrum, Some(&projection), to_mean);
        if !to_nearest || found.as_ref().is_ok_and(|(score, _)| score.is_infinite()) {
            return Some(found.map(|(score, _)| (score, usize::from(to_nearest && left == 0))));
        }
    }
    let (spectrum, projection) = leaver.without(left, true)?;
    Some(score_one(gram, left, &spectrum, Some(&projection), measure))
}

/// The model without one series, made anew.
fn refit(gram: &Gram, left: usize, rank: Rank, measure: Measure) -> Result<(f64, usize)> {
    let others: Vec<usize> = (0..gram.len()).filter(|i| *i != left).collect();
    let spectrum = Spectrum::new(&gram.select(&others), rank, &Run::sequential())?;
    score_one(gram, left, &spectrum, None, measure)
}

/// Score and neighbour of one series under the spectrum of the others.
fn score_one(
    gram: &Gram,
    left: usize,
    spectrum: &Spectrum,
    projection: Option<&Projection>,
    measure: Measure,
) -> Result<(f64, usize)> {
    let alone = Run::sequential();
    let others: Vec<usize> = (0..gram.len()).filter(|i| *i != left).collect();
    let cross = gram.cross(&[left], &others);
    let found = match projection {
        Some(projection) => {
            scores_by_rank(spectrum, &cross, projection, measure, &[spectrum.rank()], &alone)?.pop()
        }
        None => Some(scores(spectrum, &cross, measure, &alone)?),
    };
    let found = found.unwrap_or_default();
    Ok((found.values[0], found.nearest.map_or(0, |nearest| others[nearest[0]])))
}

/// What a squared score may be off by, relative to itself, against a refit.
const AGREEMENT: f64 = 5e-8;
/// `1 - H_ii / (N - 1)` below this has lost too many digits.
const LEAST_GAP: f64 = 1e-5;

/// The products from which every score follows.
struct ClosedForm {
    measure: Measure,
    /// `<y_p, (K + a)^-1 y_q>`.
    resolvent: Matrix,
    /// `<y_p, K (K + a)^-2 y_q>`, for the Tikhonov norm.
    tikhonov: Option<Matrix>,
    /// What dropping small eigenvalues may change a squared norm by, relative to the squared envelope norm.
    dropped: f64,
}

impl ClosedForm {
    /// `None` where the identity does not apply.
    fn new(spectrum: &Spectrum, rank: Rank, measure: Measure, run: &Run) -> Result<Option<Self>> {
        if measure.norm == Norm::Exact || measure.alpha == 0.0 || rank != Rank::default() {
            return Ok(None);
        }
        let n = spectrum.corpus_len();
        let a = measure.alpha * (n - 1) as f64 / n as f64;
        let resolvent = weighted_products(spectrum, |value| 1.0 / (value + a), run)?;
        let tikhonov = match measure.norm {
            Norm::Tikhonov => Some(weighted_products(spectrum, |value| value / (value + a).powi(2), run)?),
            _ => None,
        };
        let largest = spectrum.eigenvalues().first().copied().unwrap_or(0.0) * n as f64 / (n - 1) as f64;
        Ok(Some(Self { measure, resolvent, tikhonov, dropped: RELATIVE_THRESHOLD * largest / measure.alpha }))
    }

    /// Score and neighbour of one series without itself; `None` where a refit is needed.
    fn score(&self, left: usize) -> Option<(f64, usize)> {
        let n = self.resolvent.rows();
        let gap = (n - 1) as f64 - self.resolvent.get(left, left);
        if gap < LEAST_GAP * (n - 1) as f64 {
            return None;
        }
        let (square, envelope, at) = match self.measure.distance {
            Distance::Mahalanobis {} => {
                // x_i - m_i = N/(N-1) y_i.
                let scale = (n as f64 / (n - 1) as f64).powi(2);
                (
                    scale * self.squared_norm(left, None, gap),
                    scale * self.squared_envelope(left, None, gap),
                    0,
                )
            }
            Distance::Conformance { neighbour } => {
                let others = (0..n).filter(|k| *k != left);
                let squares: Vec<f64> = others.map(|k| self.squared_norm(left, Some(k), gap)).collect();
                let (square, at) = nth_smallest(&squares, neighbour);
                let at = if at < left { at } else { at + 1 };
                (square, self.squared_envelope(left, Some(at), gap), at)
            }
        };
        let square = square.max(0.0);
        (self.dropped * envelope <= AGREEMENT * square).then_some((square.sqrt(), at))
    }

    /// The squared norm of `y_i - y_k`, or of `y_i` alone, under the covariance without i.
    fn squared_norm(&self, i: usize, k: Option<usize>, gap: f64) -> f64 {
        let Some(tikhonov) = &self.tikhonov else { return self.squared_envelope(i, k, gap) };
        let n = self.resolvent.rows() as f64;
        let (_, s, _) = products(&self.resolvent, i, k);
        let (zz, zy, yy) = products(tikhonov, i, k);
        // <u, K_i u> for u = R_i z, written out.
        let c = 1.0 / gap;
        (n - 1.0) / n * (zz + 2.0 * c * s * zy + c * c * s * s * (yy - (n - 1.0)))
    }

    fn squared_envelope(&self, i: usize, k: Option<usize>, gap: f64) -> f64 {
        let n = self.resolvent.rows() as f64;
        let (whole, s, _) = products(&self.resolvent, i, k);
        (n - 1.0) / n * (whole + s * s / gap)
    }
}

/// `<z, M z>`, `<z, M y_i>` and `<y_i, M y_i>` for `z = y_i - y_k`, or for `z = y_i`.
fn products(m: &Matrix, i: usize, k: Option<usize>) -> (f64, f64, f64) {
    let own = m.get(i, i);
    k.map_or((own, own, own), |k| (own - 2.0 * m.get(i, k) + m.get(k, k), own - m.get(i, k), own))
}

/// `<y_p, w(K) y_q>` for all pairs of corpus series: rows over the threads, every cell in one order.
fn weighted_products(spectrum: &Spectrum, weight: impl Fn(f64) -> f64, run: &Run) -> Result<Matrix> {
    let (n, rank) = (spectrum.corpus_len(), spectrum.rank());
    let mut products = Matrix::zeros(n, n);
    if rank == 0 {
        return Ok(products);
    }
    let mut points = vec![0.0; n * rank];
    for (j, value) in spectrum.eigenvalues().iter().enumerate() {
        let root = weight(*value).sqrt();
        for (p, c) in spectrum.coordinates().row(j).iter().enumerate() {
            points[p * rank + j] = root * c;
        }
    }
    const ROWS: usize = 48;
    let tasks: Vec<_> = points.chunks(ROWS * rank).zip(products.values_mut().chunks_mut(ROWS * n)).collect();
    run.for_each("leave-one-out products", tasks, |(rows, out)| {
        inner_products(rows, &points, rank, out, n);
        Ok(())
    })?;
    Ok(products)
}
