//! The decomposition of the published experiments, which takes singular values for eigenvalues.
//!
//! The two differ where a Gram matrix is not positive semidefinite (clipped kernel values): a negative eigenvalue
//! then counts by its size, and the corpus' coordinate along it has the wrong sign. For reproducing only.

use varnorm::internal::Centred;
use varnorm::{Gram, Matrix, Result, Run, Spectrum};

/// Singular values at most this large are dropped.
const THRESHOLD: f64 = 1e-10;
/// The variance that is made up where there is none.
const MADE_UP: f64 = 1e-6;
/// A centred Gram matrix whose cells are all this small counts as zero.
const ZERO: f64 = 1e-14;

/// The published decomposition, and the corpus' coordinates with the signs of the eigenvalues; at least one is kept, even
/// where the corpus has no variance at all.
pub(crate) fn spectrum(gram: &Gram, max_rank: usize, run: &Run) -> Result<(Spectrum, Matrix)> {
    let n = gram.len();
    let mut centred = Centred::new(gram);
    if centred.matrix.values().iter().all(|v| v.abs() <= ZERO) {
        centred.matrix = Matrix::zeros(n, n);
        (0..n).for_each(|i| centred.matrix.row_mut(i)[i] = MADE_UP);
    }
    let eigen = centred.eigenpairs(None, run)?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| eigen.values[*b].abs().total_cmp(&eigen.values[*a].abs()));
    let above = order.iter().filter(|i| eigen.values[**i].abs() > THRESHOLD).count();
    order.truncate(above.min(max_rank).max(1));
    let values = order.iter().map(|i| eigen.values[*i].abs()).collect();
    let vectors: Vec<&[f64]> = order.iter().map(|i| eigen.vectors.row(*i)).collect();
    let variance = centred.trace();
    let spectrum = centred.spectrum(values, &vectors, variance, THRESHOLD);
    let mut signed = spectrum.coordinates().clone();
    for (row, from) in order.iter().enumerate() {
        let sign = eigen.values[*from].signum();
        signed.row_mut(row).iter_mut().for_each(|value| *value *= sign);
    }
    Ok((spectrum, signed))
}
