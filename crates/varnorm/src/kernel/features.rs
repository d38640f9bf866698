//! [`FeatureVectors`]: vectors whose inner products are a kernel's values, and the walk of kernels that are nothing else.

use std::ops::Range;

use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::kernel::family::Family;
use crate::kernel::pass::{Pass, Sets, Tile, Values};
use crate::linalg::matrix::Matrix;
use crate::linalg::product::{Vectors, inner_products_of, squares};
use crate::run::Run;

/// Vectors of series whose inner products are a kernel's values.
pub(crate) trait FeatureVectors {
    /// How many numbers a vector has, for series of about so many steps.
    fn width(&self, steps: usize, channels: usize) -> usize;

    /// The vectors of all series, one row each, for a kernel that is resolved. A row must have the same bits in whatever set it
    /// is computed.
    fn vectors(&self, set: &SeriesSet, run: &Run) -> Result<Matrix>;
}

/// The vectors of both sets of a walk; those of one set are kept once.
pub(crate) struct Embedded {
    rows: Matrix,
    /// Absent where rows and columns are of one set.
    columns: Option<Matrix>,
}

impl Default for Embedded {
    /// Of no series.
    fn default() -> Self {
        Self { rows: Matrix::zeros(0, 0), columns: None }
    }
}

impl Embedded {
    pub(crate) fn new(sets: Sets<'_>, vectors: impl Fn(&SeriesSet) -> Result<Matrix>) -> Result<Self> {
        let rows = vectors(sets.rows())?;
        let columns = if sets.are_one() { None } else { Some(vectors(sets.columns())?) };
        Ok(Self { rows, columns })
    }

    /// The inner products of a tile.
    pub(crate) fn walk(&self, tile: &Tile<'_>, plane: &mut [f64]) {
        let depth = self.rows.columns();
        let columns = self.columns.as_ref().unwrap_or(&self.rows);
        let rows = &self.rows.values()[tile.rows.start * depth..tile.rows.end * depth];
        let columns = &columns.values()[tile.columns.start * depth..tile.columns.end * depth];
        let (rows, columns) = (Vectors::new(rows, depth), Vectors::new(columns, depth));
        inner_products_of(rows, columns, tile.wanted(0, 0), plane, tile.columns.len());
    }

    /// The inner products of row series with themselves.
    pub(crate) fn walk_diagonal(&self, which: Range<usize>, plane: &mut [f64]) {
        for (cell, at) in plane.iter_mut().zip(which) {
            let row = self.rows.row(at);
            squares(Vectors::new(row, row.len()), std::slice::from_mut(cell));
        }
    }
}

/// The walk of one kernel that is the inner product of its features.
pub(crate) struct InnerProducts<K> {
    kernel: K,
    embedded: Embedded,
}

impl<K> InnerProducts<K> {
    pub(crate) fn new(kernel: K) -> Self {
        Self { kernel, embedded: Embedded::default() }
    }
}

impl<K: Family> Pass for InnerProducts<K> {
    fn prepare(&mut self, sets: Sets<'_>, run: &Run) -> Result<()> {
        let features = self.kernel.features();
        let features = features
            .ok_or_else(|| Error::bad_param("kernel", K::INFO.name, "has neither features nor a walk"))?;
        self.embedded = Embedded::new(sets, |set| features.vectors(set, run))?;
        Ok(())
    }

    fn kept(&self) -> usize {
        1
    }

    fn walk(&self, tile: &Tile<'_>, kept: &mut [f64]) -> Result<()> {
        self.embedded.walk(tile, kept);
        Ok(())
    }

    fn walk_diagonal(&self, _set: &SeriesSet, which: Range<usize>, kept: &mut [f64]) -> Result<()> {
        self.embedded.walk_diagonal(which, kept);
        Ok(())
    }

    fn finish(&self, _which: usize, kept: &[f64], out: &mut Values<'_>) {
        out.mantissas.copy_from_slice(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Kernel, SigFourier};
    use crate::random::Normal;

    /// The values of all pairs of two sets, and of the rows with themselves, by a walk over features.
    fn walked(kernel: impl Family, sets: Sets<'_>, run: &Run) -> (Vec<f64>, Vec<f64>) {
        let mut pass = InnerProducts::new(kernel);
        pass.check(sets).unwrap();
        pass.prepare(sets, run).unwrap();
        let (rows, columns) = (0..sets.rows().len(), 0..sets.columns().len());
        let (mut kept, mut diagonal) = (vec![0.0; rows.len() * columns.len()], vec![0.0; rows.len()]);
        pass.walk_diagonal(sets.rows(), rows.clone(), &mut diagonal).unwrap();
        pass.walk(&Tile { sets, rows, columns, run }, &mut kept).unwrap();
        (kept, diagonal)
    }

    #[test]
    fn a_kernel_is_the_inner_product_of_its_features() {
        let run = Run::sequential();
        let values: Vec<f64> = Normal::new(1).take(9 * 7 * 2).collect();
        let set = SeriesSet::from_equal(values, 7, 2).unwrap();
        let (rows, columns) = (set.select(&[0, 1, 2]), set.select(&[3, 4, 5, 6, 7, 8]));
        let kernel = SigFourier { features: 16, ..SigFourier::default() }.resolve(&set).unwrap();
        let expected =
            crate::gram::gram(&Kernel::from(kernel.clone()), &set, crate::gram::Scaling::Raw, &run);
        let expected = expected.unwrap().matrix;
        let near = |a: f64, b: f64| (a - b).abs() < 1e-13 * b.abs().max(1.0);
        let (whole, diagonal) = walked(kernel.clone(), Sets::One(&set), &run);
        let (part, selves) = walked(kernel, Sets::Two(&rows, &columns), &run);
        for i in 0..9 {
            assert!(near(diagonal[i], expected.get(i, i)));
            assert_eq!(diagonal[i], whole[i * 9 + i]);
            assert!((i..9).all(|j| near(whole[i * 9 + j], expected.get(i, j))));
        }
        for i in 0..3 {
            assert_eq!(selves[i], diagonal[i]);
            assert!((0..6).all(|j| part[i * 6 + j] == whole[i * 9 + 3 + j]));
        }
    }
}
