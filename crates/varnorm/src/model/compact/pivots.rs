//! Landmarks of a corpus, and the coordinates of all its series in their span.
//!
//! Randomly pivoted Cholesky takes each landmark with a chance in proportion to what the span of those before it misses of
//! a series (Y. Chen, E. Epperly, J. Tropp, R. Webber, Randomly pivoted Cholesky, 2022). Here a block of proposals is drawn
//! at a time and thinned by rejection, which gives the same law with far fewer walks over the corpus (E. Epperly,
//! J. Tropp, R. Webber, Embrace rejection, 2024).

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::map::LandmarkMap;
use super::space::{Choice, Space};
use super::{MOST_DIMENSIONS, Points};
use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::gram::{self, Scaling, self_values};
use crate::kernel::Kernel;
use crate::linalg::matrix::{Matrix, Scaled};
use crate::linalg::product::inner_products;
use crate::random::shuffled;
use crate::run::Run;

/// Proposals of a block.
const BLOCK: usize = 64;
/// A series of which the span misses at most this share (of the largest `k(x,x)`) adds nothing that rounding would not.
const FLOOR: f64 = 1e-11;
/// Rows per task.
const ROWS: usize = 256;

/// Chooses landmarks among prepared series, with the points of all of them.
pub(crate) fn choose(
    space: &Space,
    kernel: &Kernel,
    scaling: Scaling,
    corpus: &SeriesSet,
    contents: &[u64],
    run: &Run,
) -> Result<(LandmarkMap, Points)> {
    let Space::Landmarks { count, tolerance, choice, seed, given } = space else {
        return Err(Error::bad_param("space", space, "has no landmarks"));
    };
    if let Some(bad) = given.iter().find(|place| **place >= corpus.len()) {
        let rule = format!("a landmark must be one of the {} series, numbered from 0", corpus.len());
        return Err(Error::bad_param("given", bad, rule));
    }
    let most = match choice {
        Choice::Given => given.len(),
        _ => count.unwrap_or(MOST_DIMENSIONS).min(corpus.len()),
    };
    if most > MOST_DIMENSIONS {
        let rule = format!("at most {MOST_DIMENSIONS} landmarks are worked with");
        return Err(Error::bad_param("landmarks", most, rule));
    }
    let tolerance = tolerance.unwrap_or(0.0);
    // Without a known number the room for coordinates doubles as they grow.
    let room = if count.is_some() || *choice == Choice::Given { most } else { most.min(2 * BLOCK) };
    let selves = self_values(std::slice::from_ref(kernel), corpus, run)?.pop().unwrap_or_default();
    let mut growing = Growing::new(kernel, scaling, corpus, selves, room, most, run)?;
    match choice {
        Choice::Pivoted => growing.pivot(tolerance, *seed)?,
        Choice::Uniform => growing.take(&shuffled(corpus.len(), *seed)[..], tolerance)?,
        Choice::Given => growing.take(given, 0.0)?,
    }
    growing.finish(contents)
}

/// Landmarks so far.
struct Growing<'a> {
    kernel: &'a Kernel,
    scaling: Scaling,
    corpus: &'a SeriesSet,
    run: &'a Run,
    selves: Vec<Scaled>,
    /// `k(x,x)`, after normalising.
    squares: Vec<f64>,
    /// What the span misses of each series.
    missed: Vec<f64>,
    /// One row per series; columns from the number of landmarks on are zero.
    coordinates: Matrix,
    landmarks: Vec<usize>,
    most: usize,
    floor: f64,
}

impl<'a> Growing<'a> {
    fn new(
        kernel: &'a Kernel,
        scaling: Scaling,
        corpus: &'a SeriesSet,
        selves: Vec<Scaled>,
        room: usize,
        most: usize,
        run: &'a Run,
    ) -> Result<Self> {
        let squares: Vec<f64> = selves.iter().map(|s| scaling.square(*s)).collect();
        if let Some(series) = squares.iter().position(|s| !s.is_finite()) {
            return Err(Error::KernelValue { row: series, column: series, value: squares[series] });
        }
        let floor = FLOOR * squares.iter().fold(0.0, |m: f64, s| m.max(*s));
        let (missed, coordinates) = (squares.clone(), Matrix::zeros(corpus.len(), room));
        let landmarks = Vec::new();
        Ok(Self {
            kernel,
            scaling,
            corpus,
            run,
            selves,
            squares,
            missed,
            coordinates,
            landmarks,
            most,
            floor,
        })
    }

    /// Whether there are enough.
    fn done(&self, tolerance: f64) -> bool {
        let (missed, whole): (f64, f64) = (self.missed.iter().sum(), self.squares.iter().sum());
        self.landmarks.len() >= self.most
            || missed <= tolerance * whole
            || self.missed.iter().all(|m| *m <= self.floor)
    }

    /// Takes series as landmarks in the order given, but those that are in the span already.
    fn take(&mut self, order: &[usize], tolerance: f64) -> Result<()> {
        let mut order = order;
        while !order.is_empty() && !self.done(tolerance) {
            let room = BLOCK.min(self.most - self.landmarks.len()).min(order.len());
            let (proposals, rest) = order.split_at(room);
            let chances = vec![0.0; proposals.len()];
            self.add(proposals, &chances)?;
            order = rest;
        }
        Ok(())
    }

    /// Randomly pivoted Cholesky.
    fn pivot(&mut self, tolerance: f64, seed: u64) -> Result<()> {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let mut uniform = || (generator.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        while !self.done(tolerance) {
            let mut sums = Vec::with_capacity(self.missed.len());
            let mut sum = 0.0;
            for missed in &self.missed {
                sum += missed;
                sums.push(sum);
            }
            let last = sums.len() - 1;
            let draw = |u: f64| sums.partition_point(|s| *s <= u * sum).min(last);
            let proposals: Vec<usize> = (0..BLOCK).map(|_| draw(uniform())).collect();
            let chances: Vec<f64> = (0..BLOCK).map(|_| uniform()).collect();
            self.add(&proposals, &chances)?;
        }
        Ok(())
    }

    /// Goes through proposals in order and takes each of which the span, grown by those before it, still misses more than
    /// its chance times what it missed when it was drawn.
    fn add(&mut self, proposals: &[usize], chances: &[f64]) -> Result<()> {
        let mut left = self.products_missed(proposals)?;
        let count = proposals.len();
        let mut taken = Vec::new();
        for (i, (proposal, chance)) in proposals.iter().zip(chances).enumerate() {
            let own = left.get(i, i);
            if taken.len() + self.landmarks.len() == self.most {
                break;
            }
            if own <= self.floor || own <= chance * self.missed[*proposal] {
                continue;
            }
            let column: Vec<f64> = (0..count).map(|j| left.get(j, i) / own.sqrt()).collect();
            for j in 0..count {
                let row = left.row_mut(j).iter_mut().zip(&column);
                row.for_each(|(cell, c)| *cell -= column[j] * c);
            }
            taken.push(*proposal);
        }
        if taken.is_empty() {
            // Rounding alone is left of them: they are in the span.
            proposals.iter().for_each(|p| self.missed[*p] = 0.0);
            return Ok(());
        }
        self.extend(&taken)
    }

    /// `<x, y>` of the parts of some series that the span misses.
    fn products_missed(&self, which: &[usize]) -> Result<Matrix> {
        let (some, depth) = (self.corpus.select(which), self.coordinates.columns());
        let selves: Vec<Scaled> = which.iter().map(|p| self.selves[*p]).collect();
        let mut left = gram::cross(self.kernel, &some, &some, &selves, self.scaling, self.run)
            .map_err(|e| e.renumbered(which, which))?
            .matrix;
        let rows: Vec<f64> = which.iter().flat_map(|p| self.coordinates.row(*p)).copied().collect();
        let mut inside = vec![0.0; left.values().len()];
        inner_products(&rows, &rows, depth, &mut inside, which.len());
        left.values_mut().iter_mut().zip(inside).for_each(|(cell, i)| *cell -= i);
        Ok(left)
    }

    /// Makes series landmarks: the coordinates of all series grow by theirs.
    fn extend(&mut self, taken: &[usize]) -> Result<()> {
        self.grow(self.landmarks.len() + taken.len());
        let (first, depth) = (self.landmarks.len(), self.coordinates.columns());
        let some = self.corpus.select(taken);
        let selves: Vec<Scaled> = taken.iter().map(|p| self.selves[*p]).collect();
        let cross = gram::cross(self.kernel, self.corpus, &some, &selves, self.scaling, self.run)
            .map_err(|e| e.renumbered(&[], taken))?;
        let before: Vec<f64> = taken.iter().flat_map(|p| self.coordinates.row(*p)).copied().collect();
        // The factor of the new landmarks' products, less what the old span has of them.
        let mut factor = self.products_missed(taken)?;
        cholesky(&mut factor, self.floor);
        let width = taken.len();
        let tasks: Vec<_> = self
            .coordinates
            .values_mut()
            .chunks_mut(ROWS * depth)
            .zip(self.missed.chunks_mut(ROWS))
            .zip(cross.matrix.values().chunks(ROWS * width))
            .collect();
        self.run.for_each("landmarks", tasks, |((rows, missed), values)| {
            let mut inside = vec![0.0; values.len()];
            inner_products(rows, &before, depth, &mut inside, width);
            for (i, row) in rows.chunks_exact_mut(depth).enumerate() {
                let new = &mut row[first..first + width];
                for j in 0..width {
                    let known: f64 = (0..j).map(|k| factor.get(j, k) * new[k]).sum();
                    new[j] = (values[i * width + j] - inside[i * width + j] - known) / factor.get(j, j);
                }
                missed[i] = (missed[i] - new.iter().map(|c| c * c).sum::<f64>()).max(0.0);
            }
            Ok(())
        })?;
        taken.iter().for_each(|p| self.missed[*p] = 0.0);
        self.landmarks.extend_from_slice(taken);
        Ok(())
    }

    /// Makes room for so many coordinates.
    fn grow(&mut self, columns: usize) {
        let old = self.coordinates.columns();
        if columns > old {
            let new = (2 * old).max(columns).min(self.most);
            self.coordinates = with_columns(&self.coordinates, new);
        }
    }

    fn finish(self, contents: &[u64]) -> Result<(LandmarkMap, Points)> {
        let m = self.landmarks.len();
        if m == 0 {
            let rule = "every series has length zero under this kernel; choose another one";
            return Err(Error::bad_param("landmarks", 0, rule));
        }
        let coordinates = if self.coordinates.columns() == m {
            self.coordinates
        } else {
            with_columns(&self.coordinates, m)
        };
        let mut factor = Matrix::zeros(m, m);
        for (i, place) in self.landmarks.iter().enumerate() {
            factor.row_mut(i)[..=i].copy_from_slice(&coordinates.row(*place)[..=i]);
        }
        let selves = self.landmarks.iter().map(|p| self.selves[*p]).collect();
        let contents = self.landmarks.iter().map(|p| contents[*p]).collect();
        let map = LandmarkMap::new(self.corpus.select(&self.landmarks), selves, contents, &factor);
        Ok((map, Points { coordinates, squares: self.squares }))
    }
}

/// The same rows, with fewer columns, or with more that are zero.
fn with_columns(matrix: &Matrix, columns: usize) -> Matrix {
    let mut out = Matrix::zeros(matrix.rows(), columns);
    let shared = columns.min(matrix.columns());
    for i in 0..matrix.rows() {
        out.row_mut(i)[..shared].copy_from_slice(&matrix.row(i)[..shared]);
    }
    out
}

/// The lower triangular factor, in place. Pivots were accepted above the floor; rounding must not take them below.
fn cholesky(matrix: &mut Matrix, floor: f64) {
    for i in 0..matrix.rows() {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| matrix.get(i, k) * matrix.get(j, k)).sum();
            let left = matrix.get(i, j) - known;
            let cell = if i == j { left.max(0.5 * floor).sqrt() } else { left / matrix.get(j, j) };
            matrix.row_mut(i)[j] = cell;
        }
    }
}
