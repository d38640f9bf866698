//! Integral kernels: the integral over time of a static kernel of the two series' points.
//!
//! # Formula
//! `K(x,y) = integral over [0,1] of k(x_t, y_t) dt` by the trapezoid rule on the T points, k RBF
//! `exp(-|x_t-y_t|^2 / (2 sigma^2))` or polynomial `(<x_t,y_t> + c)^p` (paper, definition 5.1). A series of one
//! point has weight 1 there.
//!
//! # Cost
//! `T d` multiply-adds per pair, and T static kernel values per pair and kernel.
//!
//! # What it shares
//! One walk over the points of a pair serves all sigma and all (c, p).
//!
//! # Example
//! ```
//! use varnorm::{Kernel, Run, SeriesSet, gram};
//! let set = SeriesSet::from_equal(vec![0.0, 0.0, 1.0, 3.0], 2, 1).unwrap();
//! let poly: Kernel = "integral_poly:c=1,p=2".parse().unwrap();
//! let k = gram::gram(&poly, &set, gram::Scaling::Raw, &Run::sequential()).unwrap();
//! assert_eq!(k.matrix.get(1, 1), (4.0 + 100.0) / 2.0);
//! ```

use super::lanes::{Isa, W, Work, dispatch, exp};
use super::pass::{Pass, Tile, Values, require_equal_lengths};
use super::{Kernel, powers};
use crate::data::{Series, SeriesSet};
use crate::error::Result;

/// Values of a packed block of steps: it stays in the first-level cache while all rows of a tile pass by.
const PACKED: usize = 1024;

#[derive(Clone, Copy)]
enum Static {
    Rbf { factor: f64 },
    Poly { c: f64, p: u32 },
}

/// The walk of all integral kernels. Keeps one number per kernel: its value.
#[derive(Default)]
pub(crate) struct IntegralPass {
    serves: Vec<usize>,
    statics: Vec<Static>,
}

impl IntegralPass {
    pub(crate) fn add(&mut self, index: usize, kernel: &Kernel) -> Result<()> {
        match kernel {
            Kernel::IntegralRbf { sigma } => {
                self.statics.push(Static::Rbf { factor: super::rbf_factor(sigma.resolved("sigma")?) });
            }
            Kernel::IntegralPoly { c, p } => self.statics.push(Static::Poly { c: c.resolved("c")?, p: *p }),
            _ => return Ok(()),
        }
        self.serves.push(index);
        Ok(())
    }
}

impl Pass for IntegralPass {
    fn serves(&self) -> &[usize] {
        &self.serves
    }

    fn check(&self, row_set: &SeriesSet, column_set: &SeriesSet) -> Result<()> {
        require_equal_lengths("an integral kernel", row_set, column_set)
    }

    fn kept(&self) -> usize {
        self.statics.len()
    }

    fn walk(&self, tile: &Tile<'_>, scratch: &mut Vec<f64>, kept: &mut [f64]) {
        dispatch(Walk { statics: &self.statics, tile, scratch, kept });
    }

    fn finish(&self, which: usize, kept: &[f64], out: &mut Values<'_>) {
        let out = &mut *out.mantissas;
        out.copy_from_slice(&kept[which * out.len()..(which + 1) * out.len()]);
    }
}

struct Walk<'a> {
    statics: &'a [Static],
    tile: &'a Tile<'a>,
    scratch: &'a mut Vec<f64>,
    kept: &'a mut [f64],
}

impl Work for Walk<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { statics, tile, scratch, kept } = self;
        let first = tile.column_set.series(tile.columns.start);
        let (steps, channels) = (first.steps(), first.channels());
        let block = (PACKED / (channels * W)).max(1);
        let pairs = tile.pairs();
        scratch.resize(block * channels * W, 0.0);
        kept.fill(0.0);
        for column in tile.columns.clone().step_by(W) {
            let width = W.min(tile.columns.end - column);
            for start in (0..steps).step_by(block) {
                let end = (start + block).min(steps);
                pack(tile.column_set, column, width, start..end, scratch);
                for (r, row) in tile.rows.clone().enumerate() {
                    let x = tile.row_set.series(row);
                    let at = r * tile.columns.len() + column - tile.columns.start;
                    let cells = |k: usize| k * pairs + at..k * pairs + at + width;
                    walk_block::<I>(statics, x, start..end, steps, scratch, &cells, kept);
                }
            }
        }
    }
}

/// Puts `width` series side by side, one per lane, for some steps; lanes without a series keep old finite values.
#[inline(always)]
fn pack(set: &SeriesSet, first: usize, width: usize, steps: std::ops::Range<usize>, packed: &mut [f64]) {
    for lane in 0..width {
        let series = set.series(first + lane);
        let values = &series.values()[steps.start * series.channels()..steps.end * series.channels()];
        for (cells, value) in packed.chunks_exact_mut(W).zip(values) {
            cells[lane] = *value;
        }
    }
}

/// Adds the steps of one block to the integrals of one row series with W column series.
#[inline(always)]
fn walk_block<I: Isa>(
    statics: &[Static],
    x: Series<'_>,
    steps: std::ops::Range<usize>,
    total: usize,
    packed: &[f64],
    cells: &impl Fn(usize) -> std::ops::Range<usize>,
    kept: &mut [f64],
) {
    let points = packed.as_chunks::<W>().0.chunks_exact(x.channels());
    for (step, y) in steps.zip(points) {
        let weight = trapezoid_weight(step, total);
        let (product, distance) = point_products::<I>(x.step(step), y);
        for (k, kernel) in statics.iter().enumerate() {
            let value = static_value::<I>(*kernel, &product, &distance);
            for (cell, v) in kept[cells(k)].iter_mut().zip(value) {
                *cell = I::mul_add(weight, v, *cell);
            }
        }
    }
}

/// `<x_t, y_t>` and `|x_t - y_t|^2` for W series y at once.
#[inline(always)]
fn point_products<I: Isa>(x: &[f64], y: &[[f64; W]]) -> ([f64; W], [f64; W]) {
    let (mut product, mut distance) = ([0.0; W], [0.0; W]);
    for (x, y) in x.iter().zip(y) {
        for lane in 0..W {
            let difference = x - y[lane];
            product[lane] = I::mul_add(*x, y[lane], product[lane]);
            distance[lane] = I::mul_add(difference, difference, distance[lane]);
        }
    }
    (product, distance)
}

#[inline(always)]
fn static_value<I: Isa>(kernel: Static, product: &[f64; W], distance: &[f64; W]) -> [f64; W] {
    let mut values = [0.0; W];
    match kernel {
        Static::Rbf { factor } => {
            for lane in 0..W {
                values[lane] = factor * distance[lane];
            }
            exp::<I, W>(values)
        }
        Static::Poly { c, p } => {
            for lane in 0..W {
                values[lane] = product[lane] + c;
            }
            powers(values, p)
        }
    }
}

/// Weight of one step in the trapezoid rule over [0,1]; the weights add up to 1.
#[inline(always)]
fn trapezoid_weight(step: usize, steps: usize) -> f64 {
    let ends = step == 0 || step + 1 == steps;
    match steps {
        1 => 1.0,
        _ if ends => 0.5 / (steps - 1) as f64,
        _ => 1.0 / (steps - 1) as f64,
    }
}
