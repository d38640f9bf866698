//! [`Map`]: from prepared series to points.

use super::{Points, features};
use crate::data::SeriesSet;
use crate::error::Result;
use crate::gram::{self, Scaling};
use crate::kernel::Kernel;
use crate::linalg::matrix::{Matrix, Scaled};
use crate::linalg::product::inner_products;
use crate::run::Run;

/// Series whose points are made at a time.
const CHUNK: usize = 4096;
/// Series per task.
const ROWS: usize = 256;

/// What the coordinates of a point are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Map {
    /// Those in the span of landmarks.
    Landmarks(LandmarkMap),
    /// The kernel's own features.
    Features,
}

/// The span of landmarks, with an orthonormal basis: `f(x) = L^-1 (k(x, s_1), .., k(x, s_m))`, where `L L^T` is the
/// landmarks' Gram matrix, so that `<f(x), f(y)>` is the inner product of the projections on the span.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LandmarkMap {
    /// Prepared.
    pub(crate) series: SeriesSet,
    /// `k(s,s)` before normalising.
    pub(crate) self_values: Vec<Scaled>,
    /// What each contains, as a number.
    pub(crate) contents: Vec<u64>,
    /// `L^-1`, lower triangular.
    pub(crate) inverse: Matrix,
}

impl LandmarkMap {
    /// From the lower triangular factor of the landmarks' Gram matrix.
    pub(crate) fn new(
        series: SeriesSet,
        self_values: Vec<Scaled>,
        contents: Vec<u64>,
        factor: &Matrix,
    ) -> Self {
        Self { series, self_values, contents, inverse: inverse(factor) }
    }
}

/// The inverse of a lower triangular matrix, row by row.
fn inverse(factor: &Matrix) -> Matrix {
    let m = factor.rows();
    let mut out = Matrix::zeros(m, m);
    for i in 0..m {
        let mut row = vec![0.0; m];
        row[i] = 1.0;
        for j in 0..i {
            let l = factor.get(i, j);
            row[..=j].iter_mut().zip(&out.row(j)[..=j]).for_each(|(cell, below)| *cell -= l * below);
        }
        let pivot = factor.get(i, i);
        out.row_mut(i).iter_mut().zip(row).for_each(|(cell, value)| *cell = value / pivot);
    }
    out
}

impl Map {
    /// What the landmarks contain, if there are any.
    pub(crate) fn landmark_contents(&self) -> &[u64] {
        match self {
            Self::Landmarks(map) => &map.contents,
            Self::Features => &[],
        }
    }

    /// The points of prepared series.
    pub(crate) fn points(
        &self,
        kernel: &Kernel,
        scaling: Scaling,
        set: &SeriesSet,
        run: &Run,
    ) -> Result<Points> {
        match self {
            Self::Features => features::points(kernel, scaling, set, run),
            Self::Landmarks(map) => {
                let m = map.series.len();
                let mut all = Points { coordinates: Matrix::zeros(0, m), squares: Vec::new() };
                let places: Vec<usize> = (0..set.len()).collect();
                for chunk in places.chunks(CHUNK) {
                    let some = set.select(chunk);
                    let cross = gram::cross(kernel, &some, &map.series, &map.self_values, scaling, run)
                        .map_err(|e| e.renumbered(chunk, &[]))?;
                    let mut coordinates = Matrix::zeros(some.len(), m);
                    let parts = cross.matrix.values().chunks(ROWS * m);
                    let tasks: Vec<_> = parts.zip(coordinates.values_mut().chunks_mut(ROWS * m)).collect();
                    run.for_each("coordinates", tasks, |(values, out)| {
                        inner_products(values, map.inverse.values(), m, out, m);
                        Ok(())
                    })?;
                    all.coordinates.append(coordinates);
                    all.squares.extend(cross.self_values);
                }
                Ok(all)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_times_its_inverse_is_one() {
        let values = vec![2.0, 0.0, 0.0, 0.5, 1.5, 0.0, -1.0, 0.25, 0.125];
        let factor = Matrix::from_values(3, 3, values).unwrap();
        let inverse = inverse(&factor);
        for i in 0..3 {
            for j in 0..3 {
                let cell: f64 = (0..3).map(|k| factor.get(i, k) * inverse.get(k, j)).sum();
                assert!((cell - f64::from(u8::from(i == j))).abs() < 1e-14);
            }
        }
    }
}
