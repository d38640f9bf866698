//! Flat kernels: a static kernel on the flattened series in R^(T d).
//!
//! # Formula
//! linear `<x,y>`, RBF `exp(-|x-y|^2 / (2 sigma^2))`, polynomial `(<x,y> + c)^p` (paper, section 5.1.1).
//!
//! # Cost
//! `T d` multiply-adds per pair: one matrix product.
//!
//! # What it shares
//! `<x,y>` gives linear and polynomial for all (c, p); `|x-y|^2 = |x|^2 + |y|^2 - 2<x,y>` gives RBF for all sigma.
//! Where that difference has lost more than three digits it is computed again, directly.
//!
//! # Example
//! ```
//! use varnorm::{Kernel, Run, SeriesSet, gram};
//! let set = SeriesSet::from_equal(vec![0.0, 0.0, 3.0, 4.0], 2, 1).unwrap();
//! let rbf: Kernel = "flat_rbf:sigma=5".parse().unwrap();
//! let k = gram::gram(&rbf, &set, gram::Scaling::Raw, &Run::sequential()).unwrap();
//! assert!((k.matrix.get(0, 1) - (-0.5f64).exp()).abs() < 1e-15);
//! ```

use std::ops::Range;

use super::lanes::{Isa, W, Work, dispatch, exp};
use super::pass::{Pass, Tile, Values, require_equal_lengths};
use super::product::{ROWS, inner_products};
use super::{Kernel, powers};
use crate::data::SeriesSet;
use crate::error::Result;
use crate::run::Run;

/// Below this share of `|x|^2 + |y|^2` the squared distance is computed again from the differences.
const CANCELLED: f64 = 1e-3;

enum Finish {
    Linear,
    Rbf { factor: f64 },
    Poly { c: f64, p: u32 },
}

/// The walk of all flat kernels. Keeps `<x,y>`, and `|x-y|^2` where an RBF kernel wants it.
#[derive(Default)]
pub(crate) struct FlatPass {
    serves: Vec<usize>,
    finish: Vec<Finish>,
    wants_distance: bool,
    /// `|x|^2` of every row series, where a distance is wanted.
    row_squares: Vec<f64>,
    /// `|y|^2` of every column series, likewise.
    column_squares: Vec<f64>,
}

impl FlatPass {
    pub(crate) fn add(&mut self, index: usize, kernel: &Kernel) -> Result<()> {
        self.finish.push(match kernel {
            Kernel::FlatRbf { sigma } => {
                self.wants_distance = true;
                Finish::Rbf { factor: super::rbf_factor(sigma.resolved("sigma")?) }
            }
            Kernel::FlatPoly { c, p } => Finish::Poly { c: c.resolved("c")?, p: *p },
            _ => Finish::Linear,
        });
        self.serves.push(index);
        Ok(())
    }
}

impl Pass for FlatPass {
    fn serves(&self) -> &[usize] {
        &self.serves
    }

    fn check(&self, row_set: &SeriesSet, column_set: &SeriesSet) -> Result<()> {
        require_equal_lengths("a flat kernel", row_set, column_set)
    }

    fn kept(&self) -> usize {
        1 + usize::from(self.wants_distance)
    }

    fn walk(&self, tile: &Tile<'_>, scratch: &mut Vec<f64>, kept: &mut [f64]) {
        let depth = tile.row_set.series(tile.rows.start).values().len();
        let rows = &tile.row_set.values()[tile.rows.start * depth..tile.rows.end * depth];
        let columns = &tile.column_set.values()[tile.columns.start * depth..tile.columns.end * depth];
        let (products, distances) = kept.split_at_mut(tile.pairs());
        inner_products(rows, columns, depth, scratch, products, tile.columns.len());
        if self.wants_distance {
            let row_squares = &self.row_squares[tile.rows.clone()];
            let column_squares = &self.column_squares[tile.columns.clone()];
            dispatch(Distances { rows, columns, depth, row_squares, column_squares, products, distances });
        }
    }

    fn prepare(&mut self, row_set: &SeriesSet, column_set: &SeriesSet, _run: &Run) -> Result<()> {
        if self.wants_distance {
            self.row_squares = squares(row_set);
            self.column_squares = squares(column_set);
        }
        Ok(())
    }

    fn walk_diagonal(&self, set: &SeriesSet, which: Range<usize>, scratch: &mut Vec<f64>, kept: &mut [f64]) {
        // A panel of rows with itself: its diagonal has the bits of any other tile. Distances from itself are zero.
        let mut square = [0.0; ROWS * ROWS];
        for start in which.clone().step_by(ROWS) {
            let count = ROWS.min(which.end - start);
            let depth = set.series(start).values().len();
            let rows = &set.values()[start * depth..(start + count) * depth];
            inner_products(rows, rows, depth, scratch, &mut square, ROWS);
            for i in 0..count {
                kept[start - which.start + i] = square[i * ROWS + i];
            }
        }
        kept[which.len()..].fill(0.0);
    }

    fn finish(&self, which: usize, kept: &[f64], out: &mut Values<'_>) {
        let out = &mut *out.mantissas;
        let (products, distances) = kept.split_at(out.len());
        match self.finish[which] {
            Finish::Linear => out.copy_from_slice(products),
            Finish::Rbf { factor } => dispatch(Rbf { factor, distances, out }),
            Finish::Poly { c, p } => {
                for (o, product) in out.iter_mut().zip(products) {
                    [*o] = powers([product + c], p);
                }
            }
        }
    }
}

struct Distances<'a> {
    rows: &'a [f64],
    columns: &'a [f64],
    depth: usize,
    row_squares: &'a [f64],
    column_squares: &'a [f64],
    products: &'a [f64],
    distances: &'a mut [f64],
}

impl Work for Distances<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let columns = self.column_squares.len();
        for (i, x2) in self.row_squares.iter().enumerate() {
            let x = &self.rows[i * self.depth..(i + 1) * self.depth];
            for (j, y2) in self.column_squares.iter().enumerate() {
                let sum = x2 + y2;
                let mut distance = 2.0f64.mul_add(-self.products[i * columns + j], sum);
                // Also false when the sum is infinite or NaN: the direct form overflows later.
                let trusted = distance > CANCELLED * sum;
                if !trusted {
                    let y = &self.columns[j * self.depth..(j + 1) * self.depth];
                    distance = squared_distance::<I>(x, y);
                }
                self.distances[i * columns + j] = distance;
            }
        }
    }
}

// No closures and no adapters below: they would be compiled without the instruction set.

fn squares(set: &SeriesSet) -> Vec<f64> {
    let mut squares = vec![0.0; set.len()];
    dispatch(Squares { set, squares: &mut squares });
    squares
}

struct Squares<'a> {
    set: &'a SeriesSet,
    squares: &'a mut [f64],
}

impl Work for Squares<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let zero = vec![0.0; self.set.series(0).values().len()];
        for (square, x) in self.squares.iter_mut().zip(self.set.iter()) {
            *square = squared_distance::<I>(x.values(), &zero);
        }
    }
}

/// `|x - y|^2` in a fixed order: W partial sums, then their sum.
#[inline(always)]
fn squared_distance<I: Isa>(x: &[f64], y: &[f64]) -> f64 {
    let ((xs, x_rest), (ys, y_rest)) = (x.as_chunks::<W>(), y.as_chunks::<W>());
    let mut lanes = [0.0; W];
    for (x, y) in xs.iter().zip(ys) {
        for lane in 0..W {
            let difference = x[lane] - y[lane];
            lanes[lane] = I::mul_add(difference, difference, lanes[lane]);
        }
    }
    let mut sum = 0.0;
    for (a, b) in x_rest.iter().zip(y_rest) {
        sum += (a - b) * (a - b);
    }
    for lane in lanes {
        sum += lane;
    }
    sum
}

struct Rbf<'a> {
    factor: f64,
    distances: &'a [f64],
    out: &'a mut [f64],
}

impl Work for Rbf<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (outs, out_rest) = self.out.as_chunks_mut::<W>();
        let (distances, distance_rest) = self.distances.as_chunks::<W>();
        for (out, distances) in outs.iter_mut().zip(distances) {
            *out = rbf_lanes::<I>(self.factor, distances);
        }
        let mut last = [0.0; W];
        last[..distance_rest.len()].copy_from_slice(distance_rest);
        out_rest.copy_from_slice(&rbf_lanes::<I>(self.factor, &last)[..out_rest.len()]);
    }
}

#[inline(always)]
fn rbf_lanes<I: Isa>(factor: f64, distances: &[f64; W]) -> [f64; W] {
    let mut exponents = [0.0; W];
    for lane in 0..W {
        exponents[lane] = factor * distances[lane];
    }
    exp::<I, W>(exponents)
}
