//! The Volterra reservoir kernel: a geometric sum over the past of two series.
//!
//! # Formula
//! `K(x,y) = 1 + sum_{k=1..T} prod_{t<k} q_{T-t}`, `q_t = lambda^2 / (1 - tau^2 <x_t, y_t>)`, that is
//! `K_t = 1 + q_t K_{t-1}` with `K_0 = 1`. Defined while `tau |x_t| < 1` at every step; anything else is an error,
//! unless `clip` says what to do:
//! - a number c between 0 and 1: a point longer than `c / tau` is shortened to that length (still positive definite);
//! - `published`: as in the published experiments, every value is cut off at `1/(tau sqrt(d)) - 0.1` in size (d
//!   channels: `tau^2 <x_t, y_t>` stays below 1) and the result at `1e5`. For reproducing those experiments only: the
//!   cut at `1e5` is not positive definite.
//!
//! # Cost
//! `T d` multiply-adds per pair and T divisions per pair and kernel.
//!
//! # What it shares
//! The products `<x_t, y_t>` serve all (tau, lambda); the lengths `|x_t|`, where wanted, serve all clips.
//!
//! # Reference
//! L. Gonon, L. Grigoryeva, J.-P. Ortega, Reservoir kernels and Volterra series, 2022.
//!
//! # Example
//! ```
//! use varnorm::{Kernel, Run, SeriesSet, gram};
//! let set = SeriesSet::from_equal(vec![0.0, 1.0], 2, 1).unwrap();
//! let vrk: Kernel = "vrk:tau=0.5,lambda=1".parse().unwrap();
//! let k = gram::gram(&vrk, &set, gram::Scaling::Raw, &Run::sequential()).unwrap();
//! // q_1 = 1, q_2 = 1 / (1 - 1/4).
//! assert!((k.matrix.get(0, 0) - (1.0 + 4.0 / 3.0 * (1.0 + 1.0))).abs() < 1e-15);
//! ```

use std::ops::Range;

use super::Kernel;
use super::columns::{Columns, L, Of};
use super::lanes::{Isa, Work, dispatch};
use super::pairs::Pairs;
use super::pass::{Pass, Tile, Values, require_equal_lengths};
use super::recurrence::{self, Recurrence};
use crate::data::SeriesSet;
use crate::error::{Error, Result};

/// Mantissas above this hand a power of two to the exponent.
const LARGE: f64 = f64::from_bits((1023 + STEP) << 52);
const STEP: u64 = 256;
/// Numbers per lane that are packed at a time: long series of many channels go by in parts.
const PACKED: usize = 1 << 14;
/// The published bound of a value.
const PUBLISHED_LARGEST: f64 = 1e5;

/// What the Volterra reservoir kernel does with points outside its domain `tau |x_t| < 1`.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(untagged, expecting = "a number between 0 and 1, or \"published\"")]
#[non_exhaustive]
pub enum Clip {
    /// A point longer than this share of `1 / tau` is shortened to it.
    Ball(f64),
    /// One of the named ways.
    Named(NamedClip),
}

/// A way to clip that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NamedClip {
    /// As in the published experiments: every value on its own, and the result; not positive definite.
    Published,
}

struct One {
    tau: f64,
    lambda: f64,
    clip: Option<Clip>,
}

/// The walk of all Volterra reservoir kernels. Keeps mantissa and exponent of each.
#[derive(Default)]
pub(crate) struct VrkPass {
    serves: Vec<usize>,
    kernels: Vec<One>,
}

impl VrkPass {
    pub(crate) fn add(&mut self, index: usize, kernel: &Kernel) -> Result<()> {
        if let Kernel::Vrk { tau, lambda, clip } = kernel {
            self.kernels.push(One { tau: tau.resolved("tau")?, lambda: *lambda, clip: *clip });
            self.serves.push(index);
        }
        Ok(())
    }
}

impl Pass for VrkPass {
    fn serves(&self) -> &[usize] {
        &self.serves
    }

    fn check(&self, row_set: &SeriesSet, column_set: &SeriesSet) -> Result<()> {
        require_equal_lengths("the Volterra reservoir kernel", row_set, column_set)?;
        let open = self.kernels.iter().filter(|k| k.clip.is_none());
        let Some(tau) = open.map(|k| k.tau).max_by(f64::total_cmp) else { return Ok(()) };
        in_domain(tau, row_set)?;
        if std::ptr::eq(row_set, column_set) { Ok(()) } else { in_domain(tau, column_set) }
    }

    fn carries_exponents(&self) -> bool {
        true
    }

    fn kept(&self) -> usize {
        2 * self.kernels.len()
    }

    fn walk(&self, tile: &Tile<'_>, _scratch: &mut Vec<f64>, kept: &mut [f64]) {
        recurrence::walk(self, tile, kept);
    }

    fn walk_diagonal(&self, set: &SeriesSet, which: Range<usize>, _scratch: &mut Vec<f64>, kept: &mut [f64]) {
        recurrence::walk_diagonal(self, set, which, kept);
    }

    fn finish(&self, which: usize, kept: &[f64], out: &mut Values<'_>) {
        out.take_planes(which, kept);
    }
}

/// Every point is shorter than `1 / tau`; otherwise an error that names the longest.
fn in_domain(tau: f64, set: &SeriesSet) -> Result<()> {
    let (mut longest, mut place) = (0.0f64, (0, 0));
    for series in 0..set.len() {
        for (step, point) in set.series(series).values().chunks_exact(set.channels()).enumerate() {
            let length = length(point);
            // Also true for an overflow to infinity.
            if length > longest {
                (longest, place) = (length, (series, step));
            }
        }
    }
    if tau * longest < 1.0 {
        return Ok(());
    }
    Err(Error::OutsideDomain { series: place.0, step: place.1, tau, length: longest, below: 1.0 / longest })
}

/// `|x_t|`.
pub(super) fn length(point: &[f64]) -> f64 {
    point.iter().map(|v| v * v).sum::<f64>().sqrt()
}

impl Recurrence for VrkPass {
    fn of(&self) -> Of {
        Of::Points
    }

    fn wants_static_values(&self) -> bool {
        false
    }

    fn kept(&self) -> usize {
        2 * self.kernels.len()
    }

    fn run(&self, pairs: &mut Pairs<'_>, scratch: &mut Vec<[f64; L]>, out: &mut [[f64; L]]) {
        // A one for every kernel, scaled as its mantissa is.
        scratch.clear();
        scratch.resize(self.kernels.len(), [1.0; L]);
        let mut wants_lengths = false;
        for (k, kernel) in self.kernels.iter().enumerate() {
            wants_lengths |= matches!(kernel.clip, Some(Clip::Ball(_)));
            out[2 * k] = [1.0; L];
            out[2 * k + 1] = [0.0; L];
        }
        let steps = pairs.y.steps;
        let part = (PACKED / pairs.y.channels).max(1);
        for first in (0..steps).step_by(part) {
            let count = part.min(steps - first);
            pairs.load_steps(first..first + count);
            let (x, y, ones, out) = (&pairs.x, &pairs.y, &mut scratch[..], &mut *out);
            dispatch(Steps { kernels: &self.kernels, wants_lengths, count, x, y, ones, out });
        }
        for (k, kernel) in self.kernels.iter().enumerate() {
            if kernel.clip == Some(Clip::Named(NamedClip::Published)) {
                for lane in 0..L {
                    let value = out[2 * k][lane] * crate::matrix::power_of_two(out[2 * k + 1][lane]);
                    out[2 * k][lane] = value.clamp(-PUBLISHED_LARGEST, PUBLISHED_LARGEST);
                    out[2 * k + 1][lane] = 0.0;
                }
            }
        }
    }
}

/// Some steps of all kernels.
struct Steps<'a> {
    kernels: &'a [One],
    wants_lengths: bool,
    count: usize,
    x: &'a Columns,
    y: &'a Columns,
    /// Per kernel, a one scaled as its mantissa is.
    ones: &'a mut [[f64; L]],
    /// Per kernel, mantissa and exponent.
    out: &'a mut [[f64; L]],
}

impl Work for Steps<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { kernels, wants_lengths, count, x, y, ones, out } = self;
        for t in 0..count {
            let (mut product, mut x_square, mut y_square) = ([0.0; L], [0.0; L], [0.0; L]);
            for (x, y) in x.step(t).iter().zip(y.step(t)) {
                for lane in 0..L {
                    product[lane] = I::mul_add(x[lane], y[lane], product[lane]);
                }
                if wants_lengths {
                    for lane in 0..L {
                        x_square[lane] = I::mul_add(x[lane], x[lane], x_square[lane]);
                        y_square[lane] = I::mul_add(y[lane], y[lane], y_square[lane]);
                    }
                }
            }
            for (k, kernel) in kernels.iter().enumerate() {
                let product = match kernel.clip {
                    None => product,
                    Some(Clip::Ball(share)) => shorten(share / kernel.tau, &product, &x_square, &y_square),
                    Some(Clip::Named(NamedClip::Published)) => cut_product::<I>(kernel.tau, x, y, t),
                };
                let (mantissas, exponents) = out[2 * k..].split_at_mut(1);
                step::<I>(kernel, &product, &mut ones[k], &mut mantissas[0], &mut exponents[0]);
            }
        }
    }
}

/// `K = 1 + q K`, with room made in the mantissa.
#[inline(always)]
fn step<I: Isa>(
    kernel: &One,
    product: &[f64; L],
    one: &mut [f64; L],
    mantissa: &mut [f64; L],
    exponent: &mut [f64; L],
) {
    let (tau_square, lambda_square) = (kernel.tau * kernel.tau, kernel.lambda * kernel.lambda);
    for lane in 0..L {
        let q = lambda_square / I::mul_add(-tau_square, product[lane], 1.0);
        let value = I::mul_add(q, mantissa[lane], one[lane]);
        let large = value.abs() > LARGE;
        mantissa[lane] = if large { value * (1.0 / LARGE) } else { value };
        one[lane] = if large { one[lane] * (1.0 / LARGE) } else { one[lane] };
        exponent[lane] += if large { STEP as f64 } else { 0.0 };
    }
}

/// `<x,y>` of points that are at most `radius` long.
#[inline(always)]
fn shorten(radius: f64, product: &[f64; L], x_square: &[f64; L], y_square: &[f64; L]) -> [f64; L] {
    let mut shortened = [0.0; L];
    for lane in 0..L {
        let (x, y) = (x_square[lane].sqrt(), y_square[lane].sqrt());
        let x = if x > radius { radius / x } else { 1.0 };
        let y = if y > radius { radius / y } else { 1.0 };
        shortened[lane] = product[lane] * (x * y);
    }
    shortened
}

/// `<x_t,y_t>` with every value cut off at `1/(tau sqrt(d)) - 0.1`.
#[inline(always)]
fn cut_product<I: Isa>(tau: f64, x: &Columns, y: &Columns, t: usize) -> [f64; L] {
    let most = (1.0 / (tau * (y.step(t).len() as f64).sqrt()) - 0.1).max(0.0);
    let mut product = [0.0; L];
    for (x, y) in x.step(t).iter().zip(y.step(t)) {
        for lane in 0..L {
            product[lane] = I::mul_add(x[lane].clamp(-most, most), y[lane].clamp(-most, most), product[lane]);
        }
    }
    product
}
