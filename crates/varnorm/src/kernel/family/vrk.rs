//! The Volterra reservoir kernel: a geometric sum over the past of two series.
//!
//! # Formula
//! `K(x,y) = 1 + sum_{k=1..T} prod_{t<k} q_{T-t}`, `q_t = lambda^2 / (1 - tau^2 <x_t, y_t>)`, that is
//! `K_t = 1 + q_t K_{t-1}` with `K_0 = 1`. Defined while `tau |x_t| < 1` at every step; anything else is an error,
//! unless `clip` says what to do:
//! - a number c between 0 and 1: a point longer than `c / tau` is shortened to that length (still positive definite). Where tau
//!   is `auto`, which the corpus cannot leave but a later series can, it is 0.95 unless given;
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

use serde::{Deserialize, Serialize};

use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::kernel::drive::steps::{self, Alter, Block};
use crate::kernel::family::{Family, Shape};
use crate::kernel::pass::{Pass, Passes, Sets, Tile, Values, require_equal_lengths};
use crate::kernel::{KernelInfo, Parameter, ParameterInfo, ParameterKind, ParameterRange};
use crate::linalg::matrix::{power_of_two, split_power};
use crate::run::Run;
use crate::simd::{Function, Isa, MOST_REGISTERS, Register, TOGETHER, W, Work, dispatch, filled, put};

/// Mantissas above this hand a power of two to the exponent.
const LARGE: f64 = f64::from_bits((1023 + STEP) << 52);
const STEP: u64 = 256;
/// The published bound of a value.
const PUBLISHED_LARGEST: f64 = 1e5;

/// The Volterra reservoir kernel: `1 + sum_k prod_{t<k} lambda^2 / (1 - tau^2 <x_{T-t}, y_{T-t}>)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Vrk {
    /// Needs `tau |x_t| < 1` at every step; `auto` is half of the reciprocal of the longest corpus point.
    pub tau: Parameter,
    /// Weight of the past, above 0 and at most 1.
    pub lambda: f64,
    /// What to do with points outside the domain. When left out, an error; with an `auto` tau, 0.95.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<Clip>,
}

impl Default for Vrk {
    fn default() -> Self {
        Self { tau: Parameter::Auto, lambda: 0.9, clip: None }
    }
}

/// What the Volterra reservoir kernel does with points outside its domain `tau |x_t| < 1`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a number between 0 and 1, or \"published\"")]
#[non_exhaustive]
pub enum Clip {
    /// A point longer than this share of `1 / tau` is shortened to it.
    Ball(f64),
    /// One of the named ways.
    Named(NamedClip),
}

/// A way to clip that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NamedClip {
    /// As in the published experiments: every value on its own, and the result; not positive definite.
    Published,
}

const TAU: ParameterInfo = ParameterInfo::number(
    "tau",
    ParameterRange::Positive,
    "auto",
    "needs tau |x_t| < 1; auto: 0.5 / the longest corpus point",
);
/// The clip that goes with an `auto` tau: a series that comes later may be further out than the whole corpus.
const AUTO_CLIP: f64 = 0.95;
const LAMBDA: ParameterInfo = ParameterInfo::number(
    "lambda",
    ParameterRange::Rule("above 0 and at most 1"),
    "0.9",
    "weight of the past, above 0 and at most 1",
);
const CLIP: ParameterInfo = ParameterInfo {
    kind: ParameterKind::NumberOrWord(&["published"]),
    ..ParameterInfo::number(
        "clip",
        ParameterRange::Rule("between 0 and 1, or \"published\""),
        "none",
        "points longer than clip/tau are shortened to it (0 < clip < 1); none: 0.95 where tau is auto, else an error",
    )
    .optional()
};

impl Family for Vrk {
    const INFO: KernelInfo = KernelInfo {
        name: "vrk",
        words: "what an echo of all the past would remember of both series (Volterra reservoir)",
        formula: "1 + sum_k prod_{t<k} lambda^2 / (1 - tau^2 <x_{T-t}, y_{T-t}>)",
        any_lengths: false,
        parameters: &[TAU, LAMBDA, CLIP],
        example: "vrk:tau=0.1,lambda=0.9,clip=0.9",
    };

    fn validate(&self) -> Result<()> {
        TAU.check_given(self.tau)?;
        if !(self.lambda > 0.0 && self.lambda <= 1.0) {
            return Err(LAMBDA.refused(self.lambda));
        }
        match self.clip {
            Some(Clip::Ball(share)) if !(share > 0.0 && share < 1.0) => Err(CLIP.refused(share)),
            _ => Ok(()),
        }
    }

    fn resolve(&self, corpus: &SeriesSet) -> Result<Self> {
        let clip = match self.tau {
            Parameter::Auto => self.clip.or(Some(Clip::Ball(AUTO_CLIP))),
            Parameter::Value(_) => self.clip,
        };
        Ok(Self { tau: self.tau.or_else(|| scale(corpus)), clip, ..*self })
    }

    /// All reservoir kernels share one walk.
    fn plan(&self, _channels: usize, passes: &mut Passes) -> Result<()> {
        let one = One { tau: self.tau.resolved("tau")?, lambda: self.lambda, clip: self.clip };
        passes.join(|_| true, VrkPass::default, |pass: &mut VrkPass| pass.kernels.push(one));
        Ok(())
    }

    fn cost(&self, shape: &Shape) -> f64 {
        10.0 * shape.steps_of_pairs() * shape.channels
    }
}

/// Half of the reciprocal of the longest corpus point; 1 when all points are zero.
fn scale(corpus: &SeriesSet) -> f64 {
    let points = corpus.values().chunks_exact(corpus.channels());
    let longest = points.map(length).fold(0.0, f64::max);
    let scale = 0.5 / longest;
    if scale > 0.0 && scale.is_finite() { scale } else { 1.0 }
}

struct One {
    tau: f64,
    lambda: f64,
    clip: Option<Clip>,
}

/// The walk of all Volterra reservoir kernels. Keeps mantissa and exponent of each.
#[derive(Default)]
struct VrkPass {
    kernels: Vec<One>,
    /// `<x_t, x_t>` of all row series, one after the other, where these were looked at before.
    own: Option<Vec<f64>>,
}

impl Pass for VrkPass {
    fn check(&self, sets: Sets<'_>) -> Result<()> {
        require_equal_lengths("the Volterra reservoir kernel", sets)
    }

    fn check_values(&self, sets: Sets<'_>) -> Result<()> {
        self.own_products(sets).map(|_| ())
    }

    /// Whether points are in the domain shows when a series meets itself, in a walk. Series of two sets never do: they are
    /// checked here.
    fn prepare(&mut self, sets: Sets<'_>, _run: &Run) -> Result<()> {
        if !sets.are_one() {
            self.own = self.own_products(sets)?;
        }
        Ok(())
    }

    fn carries_exponents(&self) -> bool {
        true
    }

    fn kept(&self) -> usize {
        2 * self.kernels.len()
    }

    fn walk(&self, tile: &Tile<'_>, kept: &mut [f64]) -> Result<()> {
        let channels = tile.row_set().channels();
        let walk =
            |alter: Alter<'_>, each: &mut dyn FnMut(Block<'_>)| steps::walk::<false>(tile, alter, each);
        let in_domain = self.advance(tile.pairs(), channels, kept, walk);
        if in_domain { Ok(()) } else { self.check_values(tile.sets) }
    }

    fn walk_diagonal(&self, set: &SeriesSet, which: Range<usize>, kept: &mut [f64]) -> Result<()> {
        let walk = |alter: Alter<'_>, each: &mut dyn FnMut(Block<'_>)| match (alter, &self.own) {
            (None, Some(own)) => steps::walk_own(own, set.series(0).steps(), which.clone(), each),
            _ => steps::walk_diagonal(set, which.clone(), alter, each),
        };
        let in_domain = self.advance(which.len(), set.channels(), kept, walk);
        if in_domain { Ok(()) } else { self.check_values(Sets::One(set)) }
    }

    fn finish(&self, which: usize, kept: &[f64], out: &mut Values<'_>) {
        out.take_planes(which, kept);
    }
}

/// Whether the quotient of a product is positive and finite, fused or not.
fn has_quotient(tau: f64, product: f64) -> bool {
    tau * tau * product < 1.0
}

/// Every point is shorter than `1 / tau`, by the squares of series of so many steps; otherwise an error that names the longest.
fn in_domain(tau: f64, squares: &[f64], steps: usize) -> Result<()> {
    let (mut longest, mut at) = (0.0f64, 0);
    for (place, square) in squares.iter().enumerate() {
        // Also true for an overflow to infinity.
        if *square > longest {
            (longest, at) = (*square, place);
        }
    }
    if has_quotient(tau, longest) {
        return Ok(());
    }
    let length = longest.sqrt();
    Err(Error::OutsideDomain { series: at / steps, step: at % steps, tau, length, below: 1.0 / length })
}

/// `|x_t|`.
fn length(point: &[f64]) -> f64 {
    // Four sums side by side, which need not wait for each other.
    let (fours, rest) = point.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for four in fours {
        for lane in 0..4 {
            sums[lane] += four[lane] * four[lane];
        }
    }
    (sums.iter().sum::<f64>() + rest.iter().map(|v| v * v).sum::<f64>()).sqrt()
}

/// Brings points into the domain of a kernel of this tau.
fn shorten(clip: Clip, tau: f64, channels: usize, points: &mut [f64]) {
    match clip {
        Clip::Ball(share) => {
            let radius = share / tau;
            for point in points.chunks_exact_mut(channels) {
                let length = length(point);
                if length > radius {
                    point.iter_mut().for_each(|v| *v *= radius / length);
                }
            }
        }
        Clip::Named(NamedClip::Published) => {
            let most = (1.0 / (tau * (channels as f64).sqrt()) - 0.1).max(0.0);
            points.iter_mut().for_each(|v| *v = v.clamp(-most, most));
        }
    }
}

impl VrkPass {
    /// Says where points are outside the domain; otherwise what it took to see that, of the row series: the diagonal is made of it.
    fn own_products(&self, sets: Sets<'_>) -> Result<Option<Vec<f64>>> {
        let open = self.kernels.iter().filter(|k| k.clip.is_none());
        let Some(tau) = open.map(|k| k.tau).max_by(f64::total_cmp) else { return Ok(None) };
        let in_domain = |set: &SeriesSet| {
            if set.is_empty() {
                return Ok(Vec::new());
            }
            let own = steps::own_products(set);
            in_domain(tau, &own, set.series(0).steps()).map(|()| own)
        };
        let own = in_domain(sets.rows())?;
        if !sets.are_one() {
            in_domain(sets.columns())?;
        }
        Ok(Some(own))
    }

    /// All kernels, block by block. `walk` hands over the products of points that are altered as told. Returns whether all of them
    /// are in the domain; a pair with another one has no value, and gets NaN.
    fn advance(
        &self,
        pairs: usize,
        channels: usize,
        kept: &mut [f64],
        walk: impl Fn(Alter<'_>, &mut dyn FnMut(Block<'_>)),
    ) -> bool {
        let mut in_domain = true;
        for planes in kept.chunks_exact_mut(2 * pairs) {
            planes[..pairs].fill(1.0);
            planes[pairs..].fill(0.0);
        }
        // Kernels that clip alike share their products.
        let alike = |a: &One, b: &One| a.clip == b.clip && (a.clip.is_none() || a.tau == b.tau);
        let mut states = kept.chunks_exact_mut(2 * pairs);
        for kernels in self.kernels.chunk_by(alike) {
            let (tau, mut ones) = (kernels[0].tau, vec![1.0; kernels.len() * pairs]);
            let mut states: Vec<&mut [f64]> = states.by_ref().take(kernels.len()).collect();
            let mut advance = |block: Block<'_>| {
                for (k, (kernel, planes)) in kernels.iter().zip(&mut states).enumerate() {
                    let (mantissas, exponents) = planes.split_at_mut(pairs);
                    let ones = &mut ones[k * pairs..(k + 1) * pairs];
                    let in_domain = &mut in_domain;
                    dispatch(Advance { kernel, block: &block, ones, mantissas, exponents, in_domain });
                }
            };
            match kernels[0].clip {
                None => walk(None, &mut advance),
                Some(clip) => {
                    let alter = |points: &mut [f64]| shorten(clip, tau, channels, points);
                    walk(Some(&alter), &mut advance);
                }
            }
        }
        for (kernel, planes) in self.kernels.iter().zip(kept.chunks_exact_mut(2 * pairs)) {
            settle(planes.split_at_mut(pairs));
            if kernel.clip == Some(Clip::Named(NamedClip::Published)) {
                let (mantissas, exponents) = planes.split_at_mut(pairs);
                for (mantissa, exponent) in mantissas.iter_mut().zip(exponents) {
                    let value = *mantissa * power_of_two(*exponent);
                    (*mantissa, *exponent) = (value.clamp(-PUBLISHED_LARGEST, PUBLISHED_LARGEST), 0.0);
                }
            }
        }
        in_domain
    }
}

/// q as a function of products, with `-tau^2` and `lambda^2`.
struct Quotient<F>([F; 2]);

impl<F: Register> Function<F> for Quotient<F> {
    #[inline(always)]
    fn of<const K: usize>(&self, mut x: [F; K]) -> [F; K] {
        for k in 0..K {
            x[k] = self.0[0].mul_add(x[k], F::splat(1.0));
        }
        for k in 0..K {
            x[k] = self.0[1].div(x[k]);
        }
        x
    }
}

/// `K = 1 + q K` for some pairs and steps, with room made in the mantissas.
struct Advance<'a> {
    kernel: &'a One,
    block: &'a Block<'a>,
    /// A one for every pair, scaled as its mantissa is.
    ones: &'a mut [f64],
    mantissas: &'a mut [f64],
    exponents: &'a mut [f64],
    /// Set to false where a product is outside the domain.
    in_domain: &'a mut bool,
}

impl Work for Advance<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { kernel, block, ones, mantissas, exponents, in_domain } = self;
        let quotient =
            Quotient([-kernel.tau * kernel.tau, kernel.lambda * kernel.lambda].map(I::Register::splat));
        let (large, unit) = (I::Register::splat(LARGE), I::Register::splat(1.0));
        let registers = W / I::Register::WIDTH;
        for (pairs, steps) in block.rows() {
            let (mantissas, ones) = (&mut mantissas[pairs.clone()], &mut ones[pairs.clone()]);
            let exponents = &mut exponents[pairs];
            let (mut values, mut scaled) = (filled(mantissas, 1.0), filled(ones, 1.0));
            let (mut value, mut one) = ([unit; MOST_REGISTERS], [unit; MOST_REGISTERS]);
            // Of all products so far.
            let mut most = I::Register::splat(0.0);
            for i in 0..registers {
                (value[i], one[i]) = (I::Register::load(&values, i), I::Register::load(&scaled, i));
            }
            // Some steps at a time: fused, 1 - tau^2 <x, y> is above 2^-106 wherever it is above 0, so that a value grows by less than
            // 2^106 in one.
            let (steps_of_row, mut steps) = (steps, steps);
            while !steps.is_empty() {
                let (mut largest, mut done) = (unit, 1);
                if steps.len() * registers >= TOGETHER {
                    let mut some = [unit; TOGETHER];
                    for k in 0..TOGETHER {
                        some[k] = I::Register::load(&steps[k / registers], k % registers);
                        most = some[k].max(most);
                    }
                    let some = quotient.of(some);
                    for k in 0..TOGETHER {
                        let i = k % registers;
                        value[i] = some[k].mul_add(value[i], one[i]);
                    }
                    done = TOGETHER / registers;
                } else {
                    for i in 0..registers {
                        let product = I::Register::load(&steps[0], i);
                        most = product.max(most);
                        let [quotient] = quotient.of([product]);
                        value[i] = quotient.mul_add(value[i], one[i]);
                    }
                }
                steps = &steps[done..];
                for i in 0..registers {
                    largest = value[i].abs().max(largest);
                }
                if largest.any_above(large) {
                    for i in 0..registers {
                        value[i].store(&mut values, i);
                        one[i].store(&mut scaled, i);
                    }
                    make_room(&mut values, &mut scaled, exponents);
                    for i in 0..registers {
                        (value[i], one[i]) = (I::Register::load(&values, i), I::Register::load(&scaled, i));
                    }
                }
            }
            for i in 0..registers {
                value[i].store(&mut values, i);
                one[i].store(&mut scaled, i);
            }
            if !unit.all_above(most.mul(I::Register::splat(kernel.tau * kernel.tau))) {
                *in_domain = false;
                refuse(kernel.tau, steps_of_row, &mut values);
            }
            put(&values, mantissas);
            put(&scaled, ones);
        }
    }
}

/// Says every value in one way, at whatever step room was made in it: blocks of steps are not always the same.
fn settle((mantissas, exponents): (&mut [f64], &mut [f64])) {
    for (mantissa, exponent) in mantissas.iter_mut().zip(exponents).filter(|(_, exponent)| **exponent != 0.0)
    {
        let (one, own) = split_power(*mantissa);
        let whole = own + *exponent;
        let small = whole <= STEP as f64;
        (*mantissa, *exponent) = if small { (one * power_of_two(whole), 0.0) } else { (one, whole) };
    }
}

/// There are no values for pairs with a product outside the domain.
#[cold]
fn refuse(tau: f64, products: &[[f64; W]], values: &mut [f64; W]) {
    for (lane, value) in values.iter_mut().enumerate() {
        if !products.iter().all(|step| has_quotient(tau, step[lane])) {
            *value = f64::NAN;
        }
    }
}

/// Hands a power of two of large values to their exponents.
#[cold]
fn make_room(values: &mut [f64], ones: &mut [f64], exponents: &mut [f64]) {
    for ((value, one), exponent) in values.iter_mut().zip(ones).zip(exponents) {
        while value.abs() > LARGE && value.is_finite() {
            *value *= 1.0 / LARGE;
            *one *= 1.0 / LARGE;
            *exponent += STEP as f64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_said_in_one_way() {
        let ways = [(300.0, 0.0), (300.0 - 256.0, 256.0), (300.0 - 512.0, 512.0)];
        for (low, high) in ways {
            // Above what needs an exponent, and below.
            let (mut mantissas, mut exponents) =
                ([1.5 * 2f64.powf(low), 1.25 * 2f64.powf(low - 100.0)], [high; 2]);
            settle((&mut mantissas, &mut exponents));
            if high > 0.0 {
                assert_eq!((mantissas[0], exponents[0]), (1.5, 300.0));
            }
            assert_eq!((mantissas[1], exponents[1]), (1.25 * 2f64.powf(200.0), 0.0));
        }
    }

    #[test]
    fn there_is_room_after_several_large_steps() {
        let sizes = [1.0, 300.0, 600.0, -1000.0, 200.0];
        let mut values = sizes.map(|size: f64| size.signum() * 2f64.powf(size.abs()));
        let (mut ones, mut exponents) = ([1.0; 5], [0.0; 5]);
        make_room(&mut values, &mut ones, &mut exponents);
        for i in 0..5 {
            assert!(values[i].abs() <= LARGE);
            assert_eq!(values[i].abs().log2() + exponents[i], sizes[i].abs());
            assert_eq!(ones[i].log2() + exponents[i], 0.0);
        }
        let mut lost = [f64::INFINITY];
        make_room(&mut lost, &mut [1.0], &mut [0.0]);
        assert_eq!(lost, [f64::INFINITY]);
    }
}
