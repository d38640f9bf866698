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
use super::lanes::{Isa, Work, dispatch};
use super::pass::{Pass, Tile, Values, require_equal_lengths};
use super::product::{inner_products, squares};
use crate::data::SeriesSet;
use crate::error::{Error, Result};

/// Mantissas above this hand a power of two to the exponent.
const LARGE: f64 = f64::from_bits((1023 + STEP) << 52);
const STEP: u64 = 256;
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

    fn walk(&self, tile: &Tile<'_>, scratch: &mut Vec<f64>, kept: &mut [f64]) {
        let (channels, columns) = (tile.row_set.channels(), tile.columns.len());
        let mut points = [vec![0.0; tile.rows.len() * channels], vec![0.0; columns * channels]];
        let steps = tile.row_set.series(tile.rows.start).steps();
        self.advance(steps, tile.pairs(), kept, |step, clip, products| {
            gather(tile.row_set, tile.rows.clone(), step, &mut points[0]);
            gather(tile.column_set, tile.columns.clone(), step, &mut points[1]);
            points.iter_mut().for_each(|points| shorten(clip, channels, points));
            inner_products(&points[0], &points[1], channels, scratch, products, columns);
        });
    }

    fn walk_diagonal(&self, set: &SeriesSet, which: Range<usize>, _scratch: &mut Vec<f64>, kept: &mut [f64]) {
        let mut points = vec![0.0; which.len() * set.channels()];
        let steps = set.series(which.start).steps();
        self.advance(steps, which.len(), kept, |step, clip, products| {
            gather(set, which.clone(), step, &mut points);
            shorten(clip, set.channels(), &mut points);
            squares(&points, set.channels(), products);
        });
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

/// The points of some series at one step, one below the other.
fn gather(set: &SeriesSet, which: Range<usize>, step: usize, out: &mut [f64]) {
    for (i, point) in which.zip(out.chunks_exact_mut(set.channels())) {
        point.copy_from_slice(set.series(i).step(step));
    }
}

/// Brings points into the domain of a kernel of this tau.
fn shorten(clip: Option<(Clip, f64)>, channels: usize, points: &mut [f64]) {
    match clip {
        None => {}
        Some((Clip::Ball(share), tau)) => {
            let radius = share / tau;
            for point in points.chunks_exact_mut(channels) {
                let length = length(point);
                if length > radius {
                    point.iter_mut().for_each(|v| *v *= radius / length);
                }
            }
        }
        Some((Clip::Named(NamedClip::Published), tau)) => {
            let most = (1.0 / (tau * (channels as f64).sqrt()) - 0.1).max(0.0);
            points.iter_mut().for_each(|v| *v = v.clamp(-most, most));
        }
    }
}

impl VrkPass {
    /// All kernels, step by step. `make_products` makes those of a step for points that are clipped as told.
    fn advance(
        &self,
        steps: usize,
        pairs: usize,
        kept: &mut [f64],
        mut make_products: impl FnMut(usize, Option<(Clip, f64)>, &mut [f64]),
    ) {
        for planes in kept.chunks_exact_mut(2 * pairs) {
            planes[..pairs].fill(1.0);
            planes[pairs..].fill(0.0);
        }
        let (mut products, mut ones) = (vec![0.0; pairs], vec![1.0; self.kernels.len() * pairs]);
        for step in 0..steps {
            // Kernels that clip alike share their products.
            let mut made = None;
            let states = kept.chunks_exact_mut(2 * pairs).zip(ones.chunks_exact_mut(pairs));
            for (kernel, (planes, ones)) in self.kernels.iter().zip(states) {
                let clip = kernel.clip.map(|clip| (clip, kernel.tau));
                if made != Some(clip) {
                    made = Some(clip);
                    make_products(step, clip, &mut products);
                }
                let (mantissas, exponents) = planes.split_at_mut(pairs);
                dispatch(Step { kernel, products: &products, ones, mantissas, exponents });
            }
        }
        for (kernel, planes) in self.kernels.iter().zip(kept.chunks_exact_mut(2 * pairs)) {
            if kernel.clip == Some(Clip::Named(NamedClip::Published)) {
                let (mantissas, exponents) = planes.split_at_mut(pairs);
                for (mantissa, exponent) in mantissas.iter_mut().zip(exponents) {
                    let value = *mantissa * crate::matrix::power_of_two(*exponent);
                    (*mantissa, *exponent) = (value.clamp(-PUBLISHED_LARGEST, PUBLISHED_LARGEST), 0.0);
                }
            }
        }
    }
}

/// `K = 1 + q K` for all pairs, with room made in the mantissas.
struct Step<'a> {
    kernel: &'a One,
    products: &'a [f64],
    /// A one for every pair, scaled as its mantissa is.
    ones: &'a mut [f64],
    mantissas: &'a mut [f64],
    exponents: &'a mut [f64],
}

impl Work for Step<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { kernel, products, ones, mantissas, exponents } = self;
        let (tau_square, lambda_square) = (kernel.tau * kernel.tau, kernel.lambda * kernel.lambda);
        let pairs = products.len();
        let (ones, mantissas) = (&mut ones[..pairs], &mut mantissas[..pairs]);
        let mut largest = 0.0f64;
        for i in 0..pairs {
            let q = lambda_square / I::mul_add(-tau_square, products[i], 1.0);
            mantissas[i] = I::mul_add(q, mantissas[i], ones[i]);
            let size = mantissas[i].abs();
            largest = if size > largest { size } else { largest };
        }
        if largest > LARGE {
            for ((mantissa, one), exponent) in mantissas.iter_mut().zip(ones).zip(exponents) {
                if mantissa.abs() > LARGE {
                    *mantissa *= 1.0 / LARGE;
                    *one *= 1.0 / LARGE;
                    *exponent += STEP as f64;
                }
            }
        }
    }
}
