//! The leading eigenpairs of a symmetric positive semidefinite matrix: all of them, or the few that are asked for.
//!
//! Both routes are sequential where the order of operations could change bits; the products of the partial one
//! are spread over threads cell by cell.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, MatRef, Par};

use crate::error::{Error, Result};
use crate::linalg::matrix::Matrix;
use crate::linalg::product::inner_products;
use crate::run::Run;

/// Eigenpairs in descending order.
pub(crate) struct Eigen {
    pub(crate) values: Vec<f64>,
    /// One eigenvector per row.
    pub(crate) vectors: Matrix,
}

/// Below this size the whole decomposition costs no more than a moment.
const SMALL: usize = 600;
/// The partial route is taken when the rank asked for is so many times smaller than the matrix.
const FAR_BELOW: usize = 8;
/// Vectors per Lanczos step: eigenvalues of up to this multiplicity are all found.
const BLOCK: usize = 8;
/// Residuals at which an eigenpair counts as found, relative to the largest eigenvalue.
const TOLERANCE: f64 = 1e-12;

/// The `rank` leading eigenpairs, or all when `rank` is `None`.
pub(crate) fn leading(matrix: &Matrix, rank: Option<usize>, run: &Run) -> Result<Eigen> {
    let n = matrix.rows();
    if let Some(rank) = rank
        && n > SMALL
        && rank * FAR_BELOW <= n
        && let Some(found) = lanczos(matrix, rank, run)?
    {
        return Ok(found);
    }
    run.check()?;
    whole(matrix, rank.unwrap_or(n).min(n))
}

/// The whole decomposition, of which `keep` pairs are returned.
fn whole(matrix: &Matrix, keep: usize) -> Result<Eigen> {
    let n = matrix.rows();
    let failed = |problem: &str| Error::Eigen { size: n, problem: problem.into() };
    let mut values = faer::diag::Diag::<f64>::zeros(n);
    let mut vectors = Mat::<f64>::zeros(n, n);
    let need = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Default::default());
    let mut memory = MemBuffer::try_new(need).map_err(|_| failed("out of memory"))?;
    self_adjoint_evd(
        MatRef::from_row_major_slice(matrix.values(), n, n),
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    )
    .map_err(|e| failed(&format!("{e:?}")))?;
    let mut found = Eigen { values: Vec::with_capacity(keep), vectors: Matrix::zeros(keep, n) };
    for (row, column) in (0..n).rev().take(keep).enumerate() {
        found.values.push(values[column]);
        for (cell, i) in found.vectors.row_mut(row).iter_mut().zip(0..n) {
            *cell = vectors[(i, column)];
        }
    }
    Ok(found)
}

/// Block Lanczos with full reorthogonalisation; `None` when the basis has grown so large that the whole
/// decomposition is the cheaper way.
fn lanczos(matrix: &Matrix, rank: usize, run: &Run) -> Result<Option<Eigen>> {
    let n = matrix.rows();
    let largest = (n / 2).max(rank + 4 * BLOCK);
    let mut basis = Basis { size: n, vectors: Vec::new() };
    let mut block = start_block(n);
    let mut projected: Vec<Vec<f64>> = Vec::new();
    let mut check_at = rank + 4 * BLOCK;
    loop {
        basis.orthonormalize(&mut block);
        if block.is_empty() {
            // The basis spans an invariant subspace: what it does not contain is not worth a guess.
            return Ok(None);
        }
        basis.vectors.extend_from_slice(&block);
        let images = apply(matrix, &block, run)?;
        projected.extend(basis.products(&images).chunks_exact(basis.len()).map(<[f64]>::to_vec));
        if basis.len() >= check_at {
            let small = ritz(&projected)?;
            let mut residual = images.clone();
            basis.remove(&mut residual);
            if converged(&small, rank, &residual, n) {
                return Ok(Some(lift(&basis, &small, rank)));
            }
            check_at = basis.len() + basis.len() / 4;
        }
        if basis.len() > largest {
            return Ok(None);
        }
        block = images;
    }
}

/// Fixed, shapeless start vectors, so that a result never depends on chance.
fn start_block(n: usize) -> Vec<f64> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    (0..BLOCK * n).map(|_| next()).collect()
}

/// The matrix times each vector: cell by cell in one order, strips of cells over the threads.
fn apply(matrix: &Matrix, vectors: &[f64], run: &Run) -> Result<Vec<f64>> {
    let n = matrix.rows();
    let count = vectors.len() / n;
    let height = n.div_ceil(4 * run.threads()).max(12);
    let mut by_cell = vec![0.0; n * count];
    let tasks: Vec<(&[f64], &mut [f64])> =
        matrix.values().chunks(height * n).zip(by_cell.chunks_mut(height * count)).collect();
    run.for_each("eigenvectors", tasks, |(rows, out)| {
        inner_products(rows, vectors, n, out, count);
        Ok(())
    })?;
    Ok((0..count).flat_map(|v| (0..n).map(move |i| (i, v))).map(|(i, v)| by_cell[i * count + v]).collect())
}

/// Orthonormal vectors, one after the other.
struct Basis {
    size: usize,
    vectors: Vec<f64>,
}

impl Basis {
    fn len(&self) -> usize {
        self.vectors.len() / self.size
    }

    /// `<v, q>` for every vector v of the block and q of the basis, v by v.
    fn products(&self, block: &[f64]) -> Vec<f64> {
        let count = self.len();
        let mut out = vec![0.0; block.len() / self.size * count];
        if count > 0 {
            inner_products(block, &self.vectors, self.size, &mut out, count);
        }
        out
    }

    /// Takes the part in the span of the basis out of every vector; twice, which is enough.
    fn remove(&self, block: &mut [f64]) {
        if self.vectors.is_empty() {
            return;
        }
        for _ in 0..2 {
            let products = self.products(block);
            for (vector, products) in block.chunks_exact_mut(self.size).zip(products.chunks_exact(self.len()))
            {
                for (q, c) in self.vectors.chunks_exact(self.size).zip(products) {
                    add_scaled(vector, -c, q);
                }
            }
        }
    }

    /// Makes the block orthonormal and orthogonal to the basis; vectors with nothing new in them are left out.
    fn orthonormalize(&self, block: &mut Vec<f64>) {
        let before: Vec<f64> = block.chunks_exact(self.size).map(norm).collect();
        self.remove(block);
        let mut kept = Self { size: self.size, vectors: Vec::new() };
        for (vector, before) in block.chunks_exact(self.size).zip(before) {
            let mut vector = vector.to_vec();
            kept.remove(&mut vector);
            let length = norm(&vector);
            if length > 1e-12 * before {
                vector.iter_mut().for_each(|v| *v /= length);
                // Dividing by a small length has magnified what was left of the basis.
                self.remove(&mut vector);
                let length = norm(&vector);
                vector.iter_mut().for_each(|v| *v /= length);
                kept.vectors.extend(vector);
            }
        }
        *block = kept.vectors;
    }
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|v| v * v).sum::<f64>().sqrt()
}

fn add_scaled(vector: &mut [f64], factor: f64, other: &[f64]) {
    vector.iter_mut().zip(other).for_each(|(v, o)| *v += factor * o);
}

/// The eigenpairs of the matrix projected on the basis, of which the lower triangle is given.
fn ritz(projected: &[Vec<f64>]) -> Result<Eigen> {
    let m = projected.len();
    let mut small = Matrix::zeros(m, m);
    for (i, row) in projected.iter().enumerate() {
        for (j, value) in row.iter().enumerate().take(i + 1) {
            small.row_mut(i)[j] = *value;
            small.row_mut(j)[i] = *value;
        }
    }
    whole(&small, m)
}

/// Whether the first `rank` Ritz pairs are eigenpairs: `A q = Q T + R e^T`, so the residual of a Ritz pair is R
/// times the last cells of its small vector.
fn converged(small: &Eigen, rank: usize, residual: &[f64], n: usize) -> bool {
    let lengths: Vec<f64> = residual.chunks_exact(n).map(norm).collect();
    let (m, last) = (small.values.len(), lengths.len());
    let limit = TOLERANCE * small.values[0].abs();
    m > rank
        && (0..rank).all(|k| {
            let tail = &small.vectors.row(k)[m - last..];
            tail.iter().zip(&lengths).map(|(s, r)| s.abs() * r).sum::<f64>() <= limit
        })
}

fn lift(basis: &Basis, small: &Eigen, rank: usize) -> Eigen {
    let mut vectors = Matrix::zeros(rank, basis.size);
    for k in 0..rank {
        for (q, s) in basis.vectors.chunks_exact(basis.size).zip(small.vectors.row(k)) {
            add_scaled(vectors.row_mut(k), *s, q);
        }
    }
    Eigen { values: small.values[..rank].to_vec(), vectors }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Q diag(values) Q^T with Q a product of reflections.
    fn with_spectrum(values: &[f64]) -> Matrix {
        let n = values.len();
        let mut matrix = Matrix::zeros(n, n);
        (0..n).for_each(|i| matrix.row_mut(i)[i] = values[i]);
        for seed in 1..4u32 {
            let mut v: Vec<f64> =
                (0..n).map(|i| f64::from(seed) + (i as f64 * f64::from(seed) * 0.7).sin()).collect();
            let length = norm(&v);
            v.iter_mut().for_each(|x| *x /= length);
            let av: Vec<f64> =
                (0..n).map(|i| matrix.row(i).iter().zip(&v).map(|(a, b)| a * b).sum()).collect();
            let vav: f64 = av.iter().zip(&v).map(|(a, b)| a * b).sum();
            for i in 0..n {
                for j in 0..n {
                    matrix.row_mut(i)[j] += 4.0 * vav * v[i] * v[j] - 2.0 * (v[i] * av[j] + av[i] * v[j]);
                }
            }
        }
        matrix
    }

    fn assert_eigenpairs(matrix: &Matrix, found: &Eigen, expected: &[f64]) {
        for (k, expected) in expected.iter().enumerate() {
            assert!((found.values[k] - expected).abs() < 1e-12, "{k}: {} {expected}", found.values[k]);
            let v = found.vectors.row(k);
            let residual: f64 = (0..matrix.rows())
                .map(|i| {
                    (matrix.row(i).iter().zip(v).map(|(a, b)| a * b).sum::<f64>() - found.values[k] * v[i])
                        .powi(2)
                })
                .sum();
            assert!(residual.sqrt() < 1e-11, "{k}: {residual}");
        }
    }

    #[test]
    fn the_partial_route_finds_what_the_whole_one_finds() {
        let run = Run::sequential();
        for decay in [0.9f64, 0.99] {
            let values: Vec<f64> = (0..700).map(|i| decay.powi(i)).collect();
            let matrix = with_spectrum(&values);
            let found = lanczos(&matrix, 20, &run).unwrap().expect("converges");
            assert_eigenpairs(&matrix, &found, &values[..20]);
            assert_eigenpairs(&matrix, &whole(&matrix, 20).unwrap(), &values[..20]);
        }
    }

    #[test]
    fn multiple_eigenvalues_are_all_found() {
        let values: Vec<f64> = (0..640).map(|i| 0.5f64.powi(i / 5)).collect();
        let matrix = with_spectrum(&values);
        let found = leading(&matrix, Some(15), &Run::sequential()).unwrap();
        assert_eigenpairs(&matrix, &found, &values[..15]);
    }

    #[test]
    fn a_flat_spectrum_falls_back_to_the_whole_decomposition() {
        let mut values = vec![1.0; 640];
        values[639] = 0.0;
        let matrix = with_spectrum(&values);
        let found = leading(&matrix, Some(10), &Run::sequential()).unwrap();
        assert_eigenpairs(&matrix, &found, &values[..10]);
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let values: Vec<f64> = (0..700).map(|i| 0.95f64.powi(i)).collect();
        let matrix = with_spectrum(&values);
        let one = leading(&matrix, Some(12), &Run::sequential()).unwrap();
        let three = leading(&matrix, Some(12), &Run::with_threads(3).unwrap()).unwrap();
        assert_eq!(one.values, three.values);
        assert_eq!(one.vectors, three.vectors);
    }
}
