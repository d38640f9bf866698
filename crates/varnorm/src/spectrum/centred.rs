//! [`Centred`]: a Gram matrix about its mean, which every decomposition starts from.

use super::Spectrum;
use crate::error::Result;
use crate::gram::Gram;
use crate::linalg::eigen;
use crate::linalg::matrix::Matrix;
use crate::run::Run;

/// The covariance operator of a corpus as a matrix over its series, with what projections need of the Gram matrix.
pub struct Centred {
    /// `A_ij = (B_ij - a_i - a_j + b) / N` (algorithm 1).
    pub matrix: Matrix,
    row_means: Vec<f64>,
    grand_mean: f64,
    pub(super) squares: Vec<f64>,
}

/// Eigenpairs in descending order.
pub struct Eigenpairs {
    /// The eigenvalues.
    pub values: Vec<f64>,
    /// One eigenvector per row.
    pub vectors: Matrix,
}

impl Centred {
    /// Takes the mean off.
    pub fn new(gram: &Gram) -> Self {
        let n = gram.len();
        let squares: Vec<f64> = (0..n).map(|i| gram.matrix.get(i, i)).collect();
        let row_means: Vec<f64> = (0..n).map(|i| mean(gram.matrix.row(i))).collect();
        let grand_mean = mean(&row_means);
        Self { matrix: centre(&gram.matrix, &row_means, grand_mean), row_means, grand_mean, squares }
    }

    /// The trace: the corpus' variance in feature space.
    pub fn trace(&self) -> f64 {
        (0..self.matrix.rows()).map(|i| self.matrix.get(i, i)).sum()
    }

    /// The leading eigenpairs, or all of them.
    pub fn eigenpairs(&self, rank: Option<usize>, run: &Run) -> Result<Eigenpairs> {
        let found = eigen::leading(&self.matrix, rank, run)?;
        Ok(Eigenpairs { values: found.values, vectors: found.vectors })
    }

    /// The spectrum with these eigenvalues and unit vectors (one per eigenvalue).
    pub fn spectrum(
        self,
        eigenvalues: Vec<f64>,
        vectors: &[&[f64]],
        variance: f64,
        threshold: f64,
    ) -> Spectrum {
        let n = self.squares.len();
        let mut coordinates = Matrix::zeros(eigenvalues.len(), n);
        for (j, (value, vector)) in eigenvalues.iter().zip(vectors).enumerate() {
            // <x_n - m, e_j> = sqrt(N lambda_j) U_nj (theorem 3.9).
            let scale = (n as f64 * value).sqrt();
            let row = coordinates.row_mut(j).iter_mut().zip(*vector);
            row.for_each(|(c, u)| *c = scale * u);
        }
        Spectrum {
            eigenvalues,
            coordinates,
            row_means: self.row_means,
            grand_mean: self.grand_mean,
            squares: self.squares,
            variance,
            threshold,
            count: n,
            highest_rank: n - 1,
        }
    }
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// `A_ij = (B_ij - a_i - a_j + b) / N` (algorithm 1).
fn centre(gram: &Matrix, row_means: &[f64], grand_mean: f64) -> Matrix {
    let n = gram.rows();
    let mut centred = Matrix::zeros(n, n);
    for i in 0..n {
        for ((cell, value), j) in centred.row_mut(i).iter_mut().zip(gram.row(i)).zip(0..n) {
            *cell = (value - (row_means[i] + row_means[j]) + grand_mean) / n as f64;
        }
    }
    centred
}
