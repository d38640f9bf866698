//! The spectrum of a corpus without one of its series, from that of the whole corpus.
//!
//! With `y = x - m` and N series, the covariance without series i is `N/(N-1) (K - rho y_i y_i^T)`, `rho = 1/(N-1)`. In
//! the eigenvectors of K this is a diagonal matrix less a rank-one one, whose eigenvalues are the roots mu of
//!
//! `1 = rho sum_j z_j^2 / (lambda_j - mu)`, one below each lambda, with `z_j = <y_i, e_j>`,
//!
//! and whose eigenvectors are `z_j / (lambda_j - mu)`: O(N) a root instead of O(N^3) for a decomposition.

use super::{Projection, RELATIVE_THRESHOLD, Rank, Spectrum};
use crate::gram::Gram;
use crate::linalg::matrix::Matrix;
use crate::linalg::product::inner_products;

/// The whole corpus' spectrum, ready to lose any one series.
pub(crate) struct Leaver<'a> {
    gram: &'a Gram,
    spectrum: &'a Spectrum,
    rank: Rank,
    /// The coordinates, one series per row.
    points: Matrix,
    /// The eigenvalues, no two equal: apart by some rounding errors where they were.
    poles: Vec<f64>,
}

/// Eigenvalues nearer to where a cut falls than this share of the largest may fall on its other side in a refit.
const UNCLEAR: f64 = 1e-12;

impl<'a> Leaver<'a> {
    /// `spectrum` holds every eigenpair of the Gram matrix; `rank` is what to keep of them without a series.
    pub(crate) fn new(gram: &'a Gram, spectrum: &'a Spectrum, rank: Rank) -> Self {
        let (m, n) = (spectrum.rank(), spectrum.corpus_len());
        let mut points = Matrix::zeros(n, m);
        for j in 0..m {
            for (p, c) in spectrum.coordinates.row(j).iter().enumerate() {
                points.row_mut(p)[j] = *c;
            }
        }
        let mut poles = spectrum.eigenvalues.clone();
        let apart = 64.0 * f64::EPSILON * poles.first().copied().unwrap_or(0.0);
        for j in (1..m).rev() {
            poles[j - 1] = poles[j - 1].max(poles[j] + apart);
        }
        Self { gram, spectrum, rank, points, poles }
    }

    /// The spectrum of the others, and the series that was left out in their coordinates; `None` where the rank to keep
    /// is not clear, or where there is nothing left. The coordinates of the others are by far the most work: without
    /// `located` they are left zero.
    pub(crate) fn without(&self, left: usize, located: bool) -> Option<(Spectrum, Projection)> {
        let (m, n) = (self.poles.len(), self.spectrum.corpus_len());
        let size = n as f64;
        let secular = Secular::new(&self.poles, self.points.row(left), 1.0 / (size - 1.0))?;
        let grow = size / (size - 1.0);
        let squares: Vec<f64> = others(left, n).map(|p| self.spectrum.squares[p]).collect();
        let most = self.rank.max_rank.unwrap_or(m).min(m);
        let roots: Vec<Root> = (0..m.min(most + 1)).map(|k| secular.root(k)).collect();
        let values: Vec<f64> = roots.iter().map(|root| grow * root.value).collect();
        let largest = *values.first()?;
        let noise = f64::EPSILON * squares.iter().fold(0.0, |m: f64, v| m.max(*v));
        let threshold = self.rank.eigenvalue_threshold.unwrap_or(RELATIVE_THRESHOLD * largest).max(noise);
        let kept = values.iter().take(most).take_while(|v| **v > threshold).count();
        let near = |value: f64, cut: f64| (value - cut).abs() <= UNCLEAR * largest.max(f64::MIN_POSITIVE);
        let cut_by_rank = kept == most && kept < values.len() && values[kept] > threshold;
        if kept == 0
            || values.iter().any(|v| near(*v, threshold))
            || cut_by_rank && near(values[kept - 1], values[kept])
        {
            return None;
        }
        let mut vectors = Matrix::zeros(kept, m);
        let mut along = Vec::with_capacity(kept);
        for (k, root) in roots[..kept].iter().enumerate() {
            along.push(secular.eigenvector(root, vectors.row_mut(k)));
        }
        if along.iter().any(|a| !a.is_finite()) {
            return None;
        }
        let coordinates = match located {
            true => self.locate(left, &vectors, &along),
            false => Matrix::zeros(kept, n - 1),
        };
        let own =
            self.spectrum.squares[left] - 2.0 * self.spectrum.row_means[left] + self.spectrum.grand_mean;
        let projection = Projection {
            coordinates: row_of(along.iter().map(|a| a * grow)),
            squared_norms: vec![(own * grow * grow).max(0.0)],
        };
        Some((self.others(left, values[..kept].to_vec(), coordinates, squares, threshold), projection))
    }

    /// The others in new eigenvectors: `x_p - m' = y_p + y_i / (N - 1)`, where m' is their mean.
    fn locate(&self, left: usize, vectors: &Matrix, along: &[f64]) -> Matrix {
        let (kept, n) = (vectors.rows(), self.spectrum.corpus_len());
        let mut cells = vec![0.0; kept * n];
        inner_products(vectors.values(), self.points.values(), vectors.columns(), &mut cells, n);
        let mut coordinates = Matrix::zeros(kept, n - 1);
        for (k, row) in cells.chunks_exact(n).enumerate() {
            let shift = along[k] / (n - 1) as f64;
            let from = row[..left].iter().chain(&row[left + 1..]);
            coordinates.row_mut(k).iter_mut().zip(from).for_each(|(c, v)| *c = v + shift);
        }
        coordinates
    }

    /// The means and the rest that go with new eigenpairs.
    fn others(
        &self,
        left: usize,
        eigenvalues: Vec<f64>,
        coordinates: Matrix,
        squares: Vec<f64>,
        threshold: f64,
    ) -> Spectrum {
        let whole = self.spectrum;
        let n = whole.corpus_len();
        let size = n as f64;
        let row_means: Vec<f64> = others(left, n)
            .map(|p| (size * whole.row_means[p] - self.gram.matrix.get(p, left)) / (size - 1.0))
            .collect();
        let grand_mean = row_means.iter().sum::<f64>() / (size - 1.0);
        let variance = (squares.iter().sum::<f64>() / (size - 1.0) - grand_mean).max(0.0);
        Spectrum {
            eigenvalues,
            coordinates,
            row_means,
            grand_mean,
            squares,
            variance,
            threshold,
            count: n - 1,
            highest_rank: n.saturating_sub(2),
        }
    }
}

fn row_of(values: impl ExactSizeIterator<Item = f64>) -> Matrix {
    let mut row = Matrix::zeros(1, values.len());
    row.row_mut(0).iter_mut().zip(values).for_each(|(cell, value)| *cell = value);
    row
}

fn others(left: usize, n: usize) -> impl Iterator<Item = usize> {
    (0..n).filter(move |p| *p != left)
}

/// `1 - rho sum z_j^2 / (pole_j - mu)`: from plus infinity above a pole down to minus infinity below the next higher.
struct Secular<'a> {
    poles: &'a [f64],
    z: Vec<f64>,
    squares: Vec<f64>,
    rho: f64,
}

/// A root, told by its distance from the nearest pole: near a pole the difference would lose its digits.
struct Root {
    value: f64,
    pole: f64,
    offset: f64,
}

/// Sums that are taken side by side.
const SUMS: usize = 8;

impl<'a> Secular<'a> {
    /// `None` if there is nothing to take off.
    fn new(poles: &'a [f64], z: &[f64], rho: f64) -> Option<Self> {
        let length = z.iter().map(|v| v * v).sum::<f64>().sqrt();
        // A root in every gap needs some of z at every pole; a rounding error of it is enough.
        let least = f64::EPSILON * length;
        let z: Vec<f64> = z.iter().map(|v| if v.abs() < least { least } else { *v }).collect();
        let squares = z.iter().map(|v| v * v).collect();
        (length > 0.0).then_some(Self { poles, z, squares, rho })
    }

    /// The function at `pole + offset`, times its distances from the two poles next to it: smooth between them.
    fn smoothed(&self, k: usize, pole: f64, offset: f64) -> f64 {
        // Several sums at a time: one would wait for each division in turn.
        let mut sums = [0.0; SUMS];
        let (poles, poles_left) = self.poles.as_chunks::<SUMS>();
        let (squares, squares_left) = self.squares.as_chunks::<SUMS>();
        for (poles, squares) in poles.iter().zip(squares) {
            for lane in 0..SUMS {
                sums[lane] += squares[lane] / ((poles[lane] - pole) - offset);
            }
        }
        let rest: f64 = poles_left.iter().zip(squares_left).map(|(p, s)| s / ((p - pole) - offset)).sum();
        let sum = sums.iter().sum::<f64>() + rest;
        let above = (self.poles[k] - pole) - offset;
        let below = self.poles.get(k + 1).map_or(1.0, |p| offset - (p - pole));
        (1.0 - self.rho * sum) * above * below
    }

    /// The root below pole k.
    fn root(&self, k: usize) -> Root {
        let upper = self.poles[k];
        let length: f64 = self.squares.iter().sum();
        let lower = self.poles.get(k + 1).copied().unwrap_or(upper - self.rho * length);
        let middle = 0.5 * (lower - upper);
        // The function falls: at a negative middle the root lies below it, nearer to the lower pole.
        let nearer_lower = k + 1 < self.poles.len() && self.smoothed(k, upper, middle) < 0.0;
        let pole = if nearer_lower { lower } else { upper };
        let (mut low, mut high) = if nearer_lower { (0.0, upper - lower) } else { (lower - upper, 0.0) };
        // Ridders. The smoothed function is known at the poles, and positive at the far end below the last.
        let square = |j: usize| self.rho * self.squares[j];
        let (mut at_low, mut at_high) = match k + 1 < self.poles.len() {
            true => (square(k + 1) * (upper - lower), -square(k) * (upper - lower)),
            false => (self.smoothed(k, upper, low).max(f64::MIN_POSITIVE), -square(k)),
        };
        let mut offset = f64::NAN;
        for _ in 0..60 {
            let centre = 0.5 * (low + high);
            let at_centre = self.smoothed(k, pole, centre);
            let slope = (at_centre * at_centre - at_low * at_high).sqrt();
            let next = if slope > 0.0 { centre + (centre - low) * at_centre / slope } else { centre };
            if at_centre > 0.0 {
                (low, at_low) = (centre, at_centre)
            } else {
                (high, at_high) = (centre, at_centre)
            };
            if next > low && next < high {
                let value = self.smoothed(k, pole, next);
                if value > 0.0 {
                    (low, at_low) = (next, value)
                } else {
                    (high, at_high) = (next, value)
                };
            }
            let step = next - offset;
            offset = next;
            if step.abs() <= 2.0 * f64::EPSILON * offset.abs()
                || high - low <= 2.0 * f64::EPSILON * offset.abs()
            {
                break;
            }
        }
        Root { value: pole + offset, pole, offset }
    }

    /// The unit eigenvector of a root, and its product with z.
    fn eigenvector(&self, root: &Root, out: &mut [f64]) -> f64 {
        for ((cell, z), p) in out.iter_mut().zip(&self.z).zip(self.poles) {
            *cell = z / ((p - root.pole) - root.offset);
        }
        let length = out.iter().map(|v| v * v).sum::<f64>().sqrt();
        out.iter_mut().for_each(|v| *v /= length);
        out.iter().zip(&self.z).map(|(v, z)| v * z).sum()
    }
}
