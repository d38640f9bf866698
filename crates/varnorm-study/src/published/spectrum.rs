//! The decomposition of the published experiments, which takes singular values for eigenvalues.
//!
//! The two differ where a Gram matrix is not positive semidefinite (clipped kernel values): a negative eigenvalue
//! then counts by its size, and the corpus' coordinate along it has the wrong sign. For reproducing only.

use super::{Spectrum, centre, mean};
use crate::error::Result;
use crate::gram::Gram;
use crate::linalg::eigen;
use crate::linalg::matrix::Matrix;
use crate::run::Run;

/// Singular values at most this large are dropped.
const THRESHOLD: f64 = 1e-10;
/// The variance that is made up where there is none.
const MADE_UP: f64 = 1e-6;
/// A centred Gram matrix whose cells are all this small counts as zero.
const ZERO: f64 = 1e-14;

impl Spectrum {
    /// The published decomposition, with the sign of each eigenvalue; at least one is kept, even where the corpus
    /// has no variance at all.
    pub(crate) fn published(gram: &Gram, max_rank: usize, run: &Run) -> Result<(Self, Vec<f64>)> {
        let n = gram.len();
        let squares: Vec<f64> = (0..n).map(|i| gram.matrix.get(i, i)).collect();
        let row_means: Vec<f64> = (0..n).map(|i| mean(gram.matrix.row(i))).collect();
        let grand_mean = mean(&row_means);
        let mut centred = centre(&gram.matrix, &row_means, grand_mean);
        if centred.values().iter().all(|v| v.abs() <= ZERO) {
            centred = Matrix::zeros(n, n);
            (0..n).for_each(|i| centred.row_mut(i)[i] = MADE_UP);
        }
        let eigen = eigen::leading(&centred, None, run)?;
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|a, b| eigen.values[*b].abs().total_cmp(&eigen.values[*a].abs()));
        let above = order.iter().filter(|i| eigen.values[**i].abs() > THRESHOLD).count();
        order.truncate(above.min(max_rank).max(1));
        let mut coordinates = Matrix::zeros(order.len(), n);
        for (row, from) in order.iter().enumerate() {
            let scale = (n as f64 * eigen.values[*from].abs()).sqrt();
            let cells = coordinates.row_mut(row).iter_mut().zip(eigen.vectors.row(*from));
            cells.for_each(|(c, u)| *c = scale * u);
        }
        let spectrum = Self {
            eigenvalues: order.iter().map(|i| eigen.values[*i].abs()).collect(),
            coordinates,
            row_means,
            grand_mean,
            squares,
            variance: (0..n).map(|i| centred.get(i, i)).sum(),
            threshold: THRESHOLD,
            count: n,
            highest_rank: n - 1,
        };
        Ok((spectrum, order.iter().map(|i| eigen.values[*i].signum()).collect()))
    }
}
