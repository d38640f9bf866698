//! The inverse of the Cholesky factor of a positive definite matrix.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Mat, Par};

use crate::error::{Error, Result};
use crate::linalg::matrix::Matrix;

/// `L^-1` of `A = L L^T`: its rows turn the norm of `A^-1` into a sum of squares. Only the lower triangle of A is read.
pub(crate) fn inverse_factor(matrix: &Matrix) -> Result<Matrix> {
    let n = matrix.rows();
    let failed = |problem: String| Error::Eigen { size: n, problem };
    let mut factor = Mat::<f64>::from_fn(n, n, |i, j| if j <= i { matrix.get(i, j) } else { 0.0 });
    let need = cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default());
    let mut memory = MemBuffer::try_new(need).map_err(|_| failed("out of memory".into()))?;
    let stack = MemStack::new(&mut memory);
    cholesky_in_place(factor.as_mut(), LltRegularization::default(), Par::Seq, stack, Default::default())
        .map_err(|e| failed(format!("the matrix is not positive definite ({e:?})")))?;
    let mut inverse = Mat::<f64>::zeros(n, n);
    invert_lower_triangular(inverse.as_mut(), factor.as_ref(), Par::Seq);
    let mut rows = Matrix::zeros(n, n);
    for i in 0..n {
        for (j, cell) in rows.row_mut(i).iter_mut().enumerate().take(i + 1) {
            *cell = inverse[(i, j)];
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_of_the_image_are_the_norm_of_the_inverse() {
        // A = B B^T + I has A^-1 x known by construction: x = A y.
        let n = 40;
        let b = |i: usize, j: usize| ((i * 7 + j * 3) as f64 * 0.37).sin();
        let mut a = Matrix::zeros(n, n);
        for i in 0..n {
            for j in 0..n {
                let product: f64 = (0..n).map(|k| b(i, k) * b(j, k)).sum();
                a.row_mut(i)[j] = product + f64::from(u8::from(i == j));
            }
        }
        let y: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
        let x: Vec<f64> = (0..n).map(|i| (0..n).map(|j| a.get(i, j) * y[j]).sum()).collect();
        let expected: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
        let factor = inverse_factor(&a).unwrap();
        let image = (0..n).map(|i| (0..n).map(|j| factor.get(i, j) * x[j]).sum::<f64>());
        let found: f64 = image.map(|v| v * v).sum();
        assert!((found - expected).abs() < 1e-9 * expected, "{found} {expected}");
        assert!(inverse_factor(&Matrix::zeros(2, 2)).is_err());
    }
}
