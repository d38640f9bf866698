//! The global alignment kernel: the sum over all alignments of two series.
//!
//! # Formula
//! `M[s][t] = kappa(x_s, y_t) (M[s-1][t-1] + M[s-1][t] + M[s][t-1])`, `M[0][0] = 1`, and the value is `M[S][T]`, with
//! `kappa = k / (2 - k)` and `k = exp(-|x_s - y_t|^2 / (2 sigma^2))`. With a band b (Sakoe and Chiba) the cells with
//! `|s - t| > max(b, |S - T|)` are zero; positive definiteness is proven for the kernel without a band only.
//! With a floor f, `max(kappa, f)` takes the place of kappa (the published experiments have f = 1e-10).
//! Series may have any lengths. Values of any size are exact: they carry a power of two.
//!
//! # Cost
//! `S T (d + 16)` multiply-adds and `S T` divisions per pair, and four times as many where values are below `2^-1800` times
//! the number of alignments (`2^-840` if points are so far from each other that their kappa is below `2^-999`); memory for one
//! row of M.
//!
//! # What it shares
//! The distances of points are made once per pair, two rows at a time, for all sigma and all bands.
//!
//! # Reference
//! M. Cuturi, Fast global alignment kernels, ICML 2011.
//!
//! # Example
//! ```
//! use varnorm::{Kernel, Run, SeriesSet, gram};
//! let mut set = SeriesSet::new(1).unwrap();
//! set.push(&[1.0, 1.0]).unwrap();
//! set.push(&[1.0, 1.0, 1.0]).unwrap();
//! let gak: Kernel = "gak:sigma=2".parse().unwrap();
//! let k = gram::gram(&gak, &set, gram::Scaling::Raw, &Run::sequential()).unwrap();
//! // Equal points everywhere: the value is the number of alignments.
//! assert_eq!([k.matrix.get(0, 0), k.matrix.get(0, 1), k.matrix.get(1, 1)], [3.0, 5.0, 13.0]);
//! ```

mod careful;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::data::SeriesSet;
use crate::error::Result;
use crate::kernel::drive::lanes_over_pairs::{self, Recurrence};
use crate::kernel::family::gak::careful::careful;
use crate::kernel::family::{Family, Shape};
use crate::kernel::pass::{Pass, Passes, Tile, Values};
use crate::kernel::points::increments::{block_width, split};
use crate::kernel::points::pack::Of;
use crate::kernel::points::window::{Pairs, ROWS};
use crate::kernel::{KernelInfo, Parameter, ParameterInfo, ParameterRange, auto, rbf_factor};
use crate::linalg::matrix::split_power;
use crate::simd::L;
use crate::simd::aligned::Cells;
use crate::simd::{Exponential, Function, Isa, Power, Register, Work, dispatch, map, power_of_two};

/// `log2(1 + sqrt 2)`: the number of alignments grows by this power of two per step of either series.
const GROWTH: f64 = 1.271_553_303_163_612;
/// The fast path is right where its result, without its shifts, is above `2` to this, or to the second where no kappa has been cut
/// off; see [`GakPass::run`].
const SAFE: f64 = -840.0;
const SAFE_WITHOUT_CUTS: f64 = -1800.0;
/// The power of two that the fast path begins with, so that its numbers use all of an `f64`'s range.
const FIRST: f64 = 900.0;
/// Rows between two that take their power of two out: an even number, as rows mostly go by in twos.
const SCALED: usize = 32;

/// The global alignment kernel: the sum over alignments of products of `k / (2 - k)`, k an RBF kernel of points.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gak {
    /// Bandwidth; `auto` is a quarter of the median distance of corpus points times the square root of the mean length.
    pub sigma: Parameter,
    /// Steps that an alignment may leave the diagonal by; without limit when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band: Option<u32>,
    /// `k / (2 - k)` is at least this: 0, or from 1e-100 to 1 (the published experiments have 1e-10).
    #[serde(skip_serializing_if = "is_zero")]
    pub floor: f64,
}

/// Whether a parameter has its default of zero and can be left out.
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

const SIGMA: ParameterInfo = ParameterInfo::number(
    "sigma",
    ParameterRange::Positive,
    "auto",
    "bandwidth; auto: 0.25 times the median distance of corpus points times sqrt(mean length)",
);
const BAND: ParameterInfo =
    ParameterInfo::whole("band", ParameterRange::Any, "none", "steps an alignment may leave the diagonal by")
        .optional();
const FLOOR: ParameterInfo = ParameterInfo::number(
    "floor",
    ParameterRange::Rule("0, or from 1e-100 to 1"),
    "0",
    "k/(2-k) is at least this; published: 1e-10",
);

impl Family for Gak {
    const INFO: KernelInfo = KernelInfo {
        name: "gak",
        words: "nearness of two series under every way of aligning their times (global alignment)",
        formula: "sum over alignments of prod k/(2-k), k = exp(-|x_s-y_t|^2 / (2 sigma^2))",
        any_lengths: true,
        parameters: &[SIGMA, BAND, FLOOR],
        example: "gak:sigma=3",
    };

    fn validate(&self) -> Result<()> {
        if self.floor != 0.0 && !(1e-100..=1.0).contains(&self.floor) {
            return Err(FLOOR.refused(self.floor));
        }
        SIGMA.check_given(self.sigma)
    }

    fn resolve(&self, corpus: &SeriesSet) -> Result<Self> {
        Ok(Self { sigma: self.sigma.or_else(|| auto::alignment_bandwidth(corpus)), ..*self })
    }

    /// All alignment kernels share one walk.
    fn plan(&self, _channels: usize, passes: &mut Passes) -> Result<()> {
        let factor = -rbf_factor(self.sigma.resolved("sigma")?);
        let one = One { factor, floor: self.floor, band: self.band.map(|b| b as usize) };
        passes.join(|_| true, GakPass::default, |pass: &mut GakPass| pass.kernels.push(one));
        Ok(())
    }

    fn cost(&self, shape: &Shape) -> f64 {
        3.0 * shape.pairs_of_points() * shape.channels
    }
}

/// One kernel.
pub(crate) struct One {
    /// `1 / (2 sigma^2)`.
    pub(crate) factor: f64,
    /// kappa is at least this; 0 for no floor.
    pub(crate) floor: f64,
    band: Option<usize>,
}

impl One {
    /// The half-width of the band of every lane, and the largest; lanes without a pair have none.
    pub(crate) fn band(&self, pairs: &Pairs<'_>) -> Option<([f64; L], usize)> {
        let band = self.band?;
        let (mut widths, mut widest) = ([0.0; L], 0);
        for lane in 0..pairs.count() {
            let width = band.max(pairs.x.lengths[lane].abs_diff(pairs.y.lengths[lane]));
            widths[lane] = width as f64;
            widest = widest.max(width);
        }
        Some((widths, widest))
    }
}

/// The walk of all global alignment kernels. Keeps mantissa and exponent of each.
#[derive(Default)]
struct GakPass {
    kernels: Vec<One>,
}

impl Pass for GakPass {
    fn carries_exponents(&self) -> bool {
        true
    }

    fn kept(&self) -> usize {
        2 * self.kernels.len()
    }

    fn walk(&self, tile: &Tile<'_>, kept: &mut [f64]) -> Result<()> {
        lanes_over_pairs::walk(self, tile, kept);
        Ok(())
    }

    fn walk_diagonal(&self, set: &SeriesSet, which: Range<usize>, kept: &mut [f64]) -> Result<()> {
        lanes_over_pairs::walk_diagonal(self, set, which, kept);
        Ok(())
    }

    fn finish(&self, which: usize, kept: &[f64], out: &mut Values<'_>) {
        out.take_planes(which, kept);
    }
}

impl Recurrence for GakPass {
    fn of(&self) -> Of {
        Of::Points
    }

    fn kept(&self) -> usize {
        2 * self.kernels.len()
    }

    /// `M[s][t] 2^-(shift(s) + shift(t))` is at most 4 everywhere, and so is what any cell contributes to the last one relative to
    /// its own size. The fast path begins with `2^900`, and takes the shift of columns in every one and that of rows in every
    /// [`SCALED`]-th, so that its numbers are up to `2^945`. Without all that, a cell lost to underflow changes the result by less
    /// than `2^-1920`, a kappa cut off at `2^-1000` by less than `2^-994`, and there are fewer than `2^40` cells: a result above
    /// [`SAFE`] is right to rounding whatever happened on the way, and one above [`SAFE_WITHOUT_CUTS`] where no point is too far from
    /// any other. Others are computed again with an exponent in every cell.
    fn run(&self, pairs: &mut Pairs<'_>, scratch: &mut Cells, out: &mut [[f64; L]]) {
        let (height, steps) = (pairs.x.steps, pairs.y.steps);
        let weights = weights(steps);
        let shortest = pairs.x.lengths[..pairs.count()].iter().copied().min().unwrap_or(0);
        // Columns go by in blocks that stay in the first-level cache; those of a band are few already.
        let bands = self.kernels.iter().any(|kernel| kernel.band.is_some());
        let width =
            if bands { steps } else { block_width::<L>(self.kernels.len(), pairs, steps, None).min(steps) };
        let kernels = self.kernels.len();
        let sizes = [ROWS * width, kernels * width, kernels * height, ROWS * width];
        let [strip, rows, edges, kappas] = split(scratch.take(sizes.iter().sum()), sizes);
        edges.fill([0.0; L]);
        for start in (0..steps).step_by(width) {
            let columns = start..steps.min(start + width);
            rows.fill([0.0; L]);
            // The cell left of and above the first: the beginning of all alignments, or in the block before.
            let beginning = power_of_two(FIRST);
            let mut corners = vec![[if start == 0 { beginning } else { 0.0 }; L]; kernels];
            for first in (0..height).step_by(ROWS) {
                if first > 0 && first.is_multiple_of(SCALED) {
                    let factor = power_of_two(shift(first - SCALED) - shift(first));
                    for cell in rows.iter_mut().chain(&mut corners) {
                        *cell = cell.map(|value| factor * value);
                    }
                }
                let count = ROWS.min(height - first);
                let made = pairs.strip::<true, L>(0, first..first + count, columns.clone(), strip);
                let distances = pairs.cells(&made, strip);
                // Series of unequal lengths may end after any row: then rows go one by one.
                let step = if first + count > shortest && shortest < height { 1 } else { count };
                for (k, kernel) in self.kernels.iter().enumerate() {
                    let row = &mut rows[k * width..k * width + columns.len()];
                    let edges = &mut edges[k * height..(k + 1) * height];
                    let band = kernel.band(pairs);
                    let step = if band.is_some() { 1 } else { step };
                    for r in (0..count).step_by(step) {
                        let s = first + r;
                        let strip = &distances[r * columns.len()..(r + step) * columns.len()];
                        let kappas = &mut kappas[..strip.len()];
                        let (weights, row) = (&weights[columns.clone()], &mut *row);
                        if let Some(band) = &band {
                            dispatch(AdvanceInBand { kernel, s, band, strip, weights, row, kappas });
                        } else {
                            let (corner, edges) = (&mut corners[k], &mut edges[s..s + step]);
                            let row = &mut *row;
                            dispatch(Advance { kernel, strip, weights, corner, edges, row, kappas });
                        }
                        if s + step >= shortest {
                            take_finished(pairs, s + step - 1, columns.start, row, &mut out[2 * k]);
                        }
                    }
                }
            }
        }
        for (k, kernel) in self.kernels.iter().enumerate() {
            let mut unsure = Vec::new();
            for lane in 0..pairs.count() {
                let (x, y) = (pairs.x.lengths[lane], pairs.y.lengths[lane]);
                let (mantissa, own) = split_power(out[2 * k][lane]);
                let exponent = own + shift((x - 1) / SCALED * SCALED) + shift(y) - FIRST;
                (out[2 * k][lane], out[2 * k + 1][lane]) = (mantissa, exponent);
                // Whichever of the two is the row series.
                let size = if own == 0.0 && mantissa < 1.0 {
                    f64::NEG_INFINITY
                } else {
                    exponent - shift(x) - shift(y)
                };
                let near = || kernel.factor * std::f64::consts::LOG2_E * pairs.farthest(lane) < 999.0;
                if !(size > SAFE || size > SAFE_WITHOUT_CUTS && near()) {
                    unsure.push(lane);
                }
            }
            if !unsure.is_empty() {
                let (mantissas, exponents) = careful(kernel, pairs);
                for lane in unsure {
                    out[2 * k][lane] = mantissas[lane];
                    out[2 * k + 1][lane] = exponents[lane];
                }
            }
        }
    }
}

/// The power of two taken out of row or column n of M.
fn shift(n: usize) -> f64 {
    (n as f64 * GROWTH).floor()
}

/// By how much each column is smaller than the one before: `1/2` or `1/4`.
fn weights(steps: usize) -> Vec<f64> {
    (0..steps).map(|n| if shift(n + 1) - shift(n) > 1.0 { 0.25 } else { 0.5 }).collect()
}

/// Takes the last cell of those lanes whose row series ends here and whose column series ends in the block from `start` on.
fn take_finished(pairs: &Pairs<'_>, s: usize, start: usize, row: &[[f64; L]], out: &mut [f64; L]) {
    for lane in 0..pairs.count() {
        if pairs.x.lengths[lane] == s + 1
            && let Some(cell) = (pairs.y.lengths[lane] - 1).checked_sub(start).and_then(|t| row.get(t))
        {
            out[lane] = cell[lane];
        }
    }
}

/// Local kernels of some cells: `kappa = 1 / (2 exp(z) - 1)`, z = factor * distance; at least the floor.
#[inline(always)]
fn locals<I: Isa>(kernel: &One, distances: &[[f64; L]], kappas: &mut [[f64; L]]) {
    map(&Kappa::<I::Register>(Power::exp(kernel.factor)), distances, kappas);
    if kernel.floor > 0.0 {
        let floor = I::Register::splat(kernel.floor);
        for cell in kappas {
            for at in 0..L / I::Register::WIDTH {
                I::Register::load(cell, at).max(floor).store(cell, at);
            }
        }
    }
}

/// kappa as a function of distances.
struct Kappa<F>(Power<F>);

impl<F: Exponential> Function<F> for Kappa<F> {
    #[inline(always)]
    fn of<const K: usize>(&self, x: [F; K]) -> [F; K] {
        self.0.kappas(x)
    }
}

/// Makes rows of M in a block of columns from the row before them, in place.
struct Advance<'a> {
    kernel: &'a One,
    strip: &'a [[f64; L]],
    /// Of the columns of the block.
    weights: &'a [f64],
    /// The cell before the first of the row above; of the last row, afterwards.
    corner: &'a mut [f64; L],
    /// The cell before the first of each row; the last of it, afterwards.
    edges: &'a mut [[f64; L]],
    row: &'a mut [[f64; L]],
    /// As many cells as all rows, content undefined.
    kappas: &'a mut [[f64; L]],
}

/// Registers of lanes that [`Advance`] works on at a time: with two rows, there are four chains that do not wait for each other.
const PAIR: usize = 2;

impl Work for Advance<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        locals::<I>(self.kernel, self.strip, self.kappas);
        match self.edges.len() {
            ROWS => self.rows::<I, ROWS>(),
            _ => self.rows::<I, 1>(),
        }
    }
}

impl Advance<'_> {
    #[inline(always)]
    fn rows<I: Isa, const R: usize>(self) {
        let Self { weights, corner, edges, row, kappas, .. } = self;
        let width = row.len();
        let (edges, weights) = (&mut edges[..R], &weights[..width]);
        let mut rows = [&kappas[..width]; R];
        for r in 1..R {
            rows[r] = &kappas[r * width..][..width];
        }
        for chunk in 0..L / (PAIR * I::Register::WIDTH) {
            let load = |cell: &[f64; L]| {
                let at = chunk * PAIR;
                [I::Register::load(cell, at), I::Register::load(cell, at + 1)]
            };
            let mut corners = load(corner);
            let mut left = [corners; R];
            for r in 0..R {
                left[r] = load(&edges[r]);
            }
            for v in 0..PAIR {
                left[R - 1][v].store(corner, chunk * PAIR + v);
            }
            for t in 0..width {
                let mut above = load(&row[t]);
                let mut diagonal = std::mem::replace(&mut corners, above);
                let weight = I::Register::splat(weights[t]);
                for r in 0..R {
                    let (kappas, before) = (load(&rows[r][t]), left[r]);
                    for v in 0..PAIR {
                        // Powers of two are exact factors, so that rows and columns can change places without changing bits.
                        let sides = weight.mul_add(left[r][v], above[v]);
                        left[r][v] = kappas[v].mul(weight.mul_add(diagonal[v], sides));
                    }
                    (above, diagonal) = (left[r], before);
                }
                for v in 0..PAIR {
                    above[v].store(&mut row[t], chunk * PAIR + v);
                }
            }
            for r in 0..R {
                for v in 0..PAIR {
                    left[r][v].store(&mut edges[r], chunk * PAIR + v);
                }
            }
        }
    }
}

/// The same within a band.
struct AdvanceInBand<'a> {
    kernel: &'a One,
    s: usize,
    band: &'a ([f64; L], usize),
    strip: &'a [[f64; L]],
    weights: &'a [f64],
    row: &'a mut [[f64; L]],
    /// As many cells as the row, content undefined.
    kappas: &'a mut [[f64; L]],
}

impl Work for AdvanceInBand<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { kernel, s, band: (widths, widest), strip, weights, row, kappas } = self;
        let start = s.saturating_sub(*widest).min(row.len());
        let end = row.len().min(s + widest + 1).max(start);
        locals::<I>(kernel, &strip[start..end], &mut kappas[start..end]);
        let mut corner = [if s == 0 { power_of_two(FIRST) } else { 0.0 }; L];
        if start > 0 {
            corner = row[start - 1];
            row[start - 1] = [0.0; L];
        }
        let mut left = [0.0; L];
        for t in start..end {
            let (above, weight, apart) = (row[t], weights[t], s.abs_diff(t) as f64);
            for lane in 0..L {
                let sides = I::mul_add(weight, left[lane], above[lane]);
                let value = kappas[t][lane] * I::mul_add(weight, corner[lane], sides);
                left[lane] = if apart <= widths[lane] { value } else { 0.0 };
            }
            row[t] = left;
            corner = above;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::{Scaling, grams};
    use crate::kernel::Kernel;
    use crate::run::Run;

    struct Locals<'a>(&'a [f64], &'a mut [f64]);

    impl Work for Locals<'_> {
        #[inline(always)]
        fn run<I: Isa>(self) {
            let kernel = One { factor: 1.0, floor: 0.0, band: None };
            locals::<I>(&kernel, self.0.as_chunks().0, self.1.as_chunks_mut().0);
        }
    }

    #[test]
    fn the_local_kernel_follows_its_definition() {
        let distances: Vec<f64> =
            (0..6400).map(|i| f64::from(i) * 0.1).chain((0..320).map(|i| 0.7f64.powi(i))).collect();
        let mut found = vec![0.0; distances.len()];
        dispatch(Locals(&distances, &mut found));
        assert_eq!(found[0], 1.0);
        for (z, found) in distances.iter().zip(&found) {
            let expected = (-z).exp() / (2.0 - (-z).exp());
            // The part that is reduced by multiples of ln 2 loses digits as z grows.
            assert!((found / expected - 1.0).abs() < 4e-16 * (2.0 + z), "{z}: {found} {expected}");
        }
    }

    /// The definition in logarithms.
    fn log_gak(x: &[f64], y: &[f64], channels: usize, sigma: f64, band: Option<usize>) -> f64 {
        let (x, y): (Vec<_>, Vec<_>) = (x.chunks(channels).collect(), y.chunks(channels).collect());
        let width = band.map_or(usize::MAX, |b| b.max(x.len().abs_diff(y.len())));
        let mut row = vec![f64::NEG_INFINITY; y.len() + 1];
        row[0] = 0.0;
        for (s, x) in x.iter().enumerate() {
            let mut corner = std::mem::replace(&mut row[0], f64::NEG_INFINITY);
            for (t, y) in y.iter().enumerate() {
                let z = x.iter().zip(*y).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() / (2.0 * sigma * sigma);
                let log_kappa = -z - (2.0 - (-z).exp()).ln();
                let terms = [corner, row[t + 1], row[t]];
                let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                corner = row[t + 1];
                row[t + 1] = match most > f64::NEG_INFINITY && s.abs_diff(t) <= width {
                    true => log_kappa + most + terms.iter().map(|v| (v - most).exp()).sum::<f64>().ln(),
                    false => f64::NEG_INFINITY,
                };
            }
        }
        row[y.len()]
    }

    fn walk(steps: usize, channels: usize, scale: f64, seed: u64) -> Vec<f64> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut point = vec![0.0; channels];
        let mut values = Vec::new();
        for _ in 0..steps {
            for p in &mut point {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                *p += ((state >> 11) as f64 / (1u64 << 53) as f64 - 0.5) * scale;
            }
            values.extend_from_slice(&point);
        }
        values
    }

    fn check(series: &[Vec<f64>], channels: usize, specs: &[(f64, Option<u32>)]) {
        let mut set = SeriesSet::new(channels).unwrap();
        series.iter().for_each(|s| set.push(s).unwrap());
        let kernels: Vec<Kernel> = specs
            .iter()
            .map(|&(sigma, band)| Gak { sigma: Parameter::Value(sigma), band, floor: 0.0 }.into())
            .collect();
        let found = grams(&kernels, &set, Scaling::Log, &Run::sequential()).unwrap();
        for ((sigma, band), gram) in specs.iter().zip(&found) {
            for i in 0..series.len() {
                for j in i..series.len() {
                    let expected =
                        log_gak(&series[i], &series[j], channels, *sigma, band.map(|b| b as usize));
                    let value = gram.matrix.get(i, j);
                    assert!(
                        (value - expected).abs() <= 1e-10 * expected.abs().max(1.0),
                        "sigma {sigma} band {band:?} {i} {j}: {value} for {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn equals_the_sum_in_logarithms_at_any_scale() {
        let specs = [(0.01, None), (0.3, None), (1.0, Some(4)), (10.0, None), (100.0, Some(0))];
        for (steps, scale) in [(1, 1.0), (2, 1e3), (50, 1e-3), (50, 1.0), (50, 30.0), (50, 1e3)] {
            let series: Vec<Vec<f64>> = (0..5).map(|i| walk(steps + i, 2, scale, i as u64 + 1)).collect();
            check(&series, 2, &specs);
        }
    }

    #[test]
    fn long_series_neither_overflow_nor_vanish() {
        let series = [walk(2000, 1, 0.5, 1), walk(1990, 1, 0.5, 2)];
        check(&series, 1, &[(0.2, None), (50.0, None), (3.0, Some(20))]);
    }

    #[test]
    fn values_of_any_size_are_right_with_and_without_points_far_away() {
        // Values fall through every bound of the fast path; one point may be so far that its kappa is cut off, or nearly so.
        for z in (0..40).map(|k| 0.3 * f64::from(k)) {
            for far in [0.0f64, 600.0, 691.0, 695.0, 2000.0] {
                let mut other = vec![(2.0 * z).sqrt(); 100];
                if far > 0.0 {
                    other[37] = (2.0 * far).sqrt();
                }
                check(&[vec![0.0; 97], other], 1, &[(1.0, None)]);
            }
        }
    }

    #[test]
    fn values_fit_an_f64_wherever_they_can() {
        let kernel: Kernel = "gak:sigma=1".parse().unwrap();
        // kappa is 1/2 between the two, and 1 within: the number of alignments, which no f64 holds.
        for steps in [1, 2, 300, 700, 1000, 1100] {
            let values = [0.0, 0.900_517].map(|v| vec![v; steps]).concat();
            let set = SeriesSet::from_equal(values, steps, 1).unwrap();
            let halves = [0, 1].map(|which| set.select(&[which]));
            let run = Run::sequential();
            let selves =
                crate::gram::self_values(std::slice::from_ref(&kernel), &halves[1], &run).unwrap().remove(0);
            let value = |scaling| {
                let cross = crate::gram::cross(&kernel, &halves[0], &halves[1], &selves, scaling, &run);
                cross.unwrap().matrix.get(0, 0)
            };
            let (raw, log) = (value(Scaling::Raw), value(Scaling::Log));
            assert!((raw.ln() - log).abs() < 1e-12 * log.abs().max(1.0), "{steps}: {raw} {log}");
            let twice = set.select(&[1, 1]);
            let of = |scaling| grams(std::slice::from_ref(&kernel), &twice, scaling, &run);
            assert_eq!(of(Scaling::Normalized).unwrap()[0].matrix.get(0, 1), 1.0);
            assert_eq!(of(Scaling::LogNormalized).unwrap()[0].matrix.get(0, 1), 0.0);
            if steps == 1 {
                assert_eq!(of(Scaling::Log).unwrap()[0].matrix.get(0, 1), 0.0);
            }
        }
    }

    #[test]
    fn an_alignment_that_wins_late_is_not_lost() {
        // Far apart for a while, then equal: the paths that waste no step there must survive as tiny numbers.
        let apart = |level: f64, steps: usize| -> Vec<f64> {
            (0..steps).map(|s| if s < steps / 3 { level } else { 0.0 }).collect()
        };
        let late = |level: f64, steps: usize| -> Vec<f64> {
            (0..steps).map(|s| if s < steps / 2 { 0.0 } else { level }).collect()
        };
        for level in [1.0, 5.0, 20.0, 45.0, 300.0] {
            let series =
                [apart(level, 90), apart(-level, 80), late(level, 70), late(-level, 91), vec![0.0; 60]];
            check(&series, 1, &[(1.0, None), (0.7, Some(10)), (8.0, None)]);
        }
    }
}
