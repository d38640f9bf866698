//! Truncated signature kernels: inner products of iterated integrals, up to a level.
//!
//! # Formula
//! `k(x,y) = sum over m = 0..level of scale^m <S_m(x), S_m(y)>` (paper, section 5.1.4) for paths lifted by a static
//! kernel: linear (the path itself) or RBF. Only `z(s,t)`, the inner products of lifted increments, enter: of the
//! increments themselves, or double differences of `exp(-|x_s-y_t|^2 / (2 sigma^2))`. Order 1 uses every increment
//! at most once in a chain; order q up to q times with weights `1/q!`; order = level is exact for piecewise
//! linear paths (and, with the linear lift and few channels, comes from the features of `sig_explicit`). `compat = published` is `1 + scale^level <S_level(x), S_level(y)>`, one level alone.
//!
//! # Cost
//! `T S (d + 2 level)` multiply-adds per pair of order 1, about `T S (d + 3 level order^2)` beyond.
//!
//! # What it shares
//! One walk gives every level and every scale; an RBF lift computes distances once for all sigma. Paths are
//! scaled by powers of two to a length of about 1, and levels are put together with their exponents: no
//! overflow at any length and scale.
//!
//! # Reference
//! Kiraly and Oberhauser, Kernels for sequentially ordered data (2019), algorithms 3 and 6.
//!
//! # Example
//! ```
//! use varnorm::{Kernel, Run, SeriesSet, gram};
//! // Straight lines: <S_m, S_m> = (2 * 3)^m / (m!)^2.
//! let set = SeriesSet::from_equal(vec![0.0, 2.0, 1.0, 4.0], 2, 1).unwrap();
//! let sig: Kernel = "sig:level=2,order=2,scale=1".parse().unwrap();
//! let k = gram::gram(&sig, &set, gram::Scaling::Raw, &Run::sequential()).unwrap();
//! assert!((k.matrix.get(0, 1) - (1.0 + 6.0 + 36.0 / 4.0)).abs() < 1e-14);
//! ```

mod levels;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::kernel::drive::lanes_over_pairs;
use crate::kernel::family::sig::levels::{Shape, Sums};
use crate::kernel::family::{self, Family, sig_explicit};
use crate::kernel::pass::{Pass, Passes, Tile, Values};
use crate::kernel::points::increments::{Increments, block_width, cells, of, split};
use crate::kernel::points::pack::Of;
use crate::kernel::points::window::Pairs;
use crate::kernel::{KernelInfo, Parameter, ParameterInfo, ParameterRange, auto, powers, rbf_factor};
use crate::linalg::matrix::{Scaled, power_of_two};
use crate::simd::aligned::Cells;
use crate::simd::{H, L};

/// The highest level of a truncated signature.
pub(crate) const MOST_LEVELS: u32 = 32;

/// Rows whose increments are made at a time.
const STRIP: usize = 4;

/// The largest exponent of a level that needs no care.
pub(crate) const COMFORTABLE: f64 = 600.0;

/// The truncated signature kernel: the sum over levels m of `scale^m <S_m(x), S_m(y)>`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sig {
    /// The last level, 1 to 32.
    pub level: u32,
    /// Most uses of one increment, 1 to `level`: 1 is fastest, `level` is exact for piecewise linear paths.
    pub order: u32,
    /// The static kernel that lifts the points.
    pub lift: Lift,
    /// Bandwidth of the RBF lift; `auto` is 0.7 times the median distance between corpus points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sigma: Option<Parameter>,
    /// Factor of the lifted kernel; `auto` is 1 over the number of channels (linear) or 4 (RBF).
    pub scale: Parameter,
    /// Only to reproduce published numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compat: Option<Compat>,
}

impl Default for Sig {
    fn default() -> Self {
        let (level, order, lift) = (5, 1, Lift::default());
        Self { level, order, lift, sigma: None, scale: Parameter::Auto, compat: None }
    }
}

/// The last level of a signature, where five are enough.
pub(super) const LEVEL: ParameterInfo = ParameterInfo::whole("level", LEVELS, "5", "last level, 1 to 32");
/// The range of a last level.
pub(super) const LEVELS: ParameterRange = ParameterRange::Between("a level ", 1.0, MOST_LEVELS as f64);
/// The static kernel.
pub(super) const LIFT: ParameterInfo =
    ParameterInfo::word("lift", &["linear", "rbf"], "linear", "static kernel of the points: linear or rbf");
/// The bandwidth of a static RBF kernel.
pub(super) const SIGMA: ParameterInfo = ParameterInfo::number(
    "sigma",
    ParameterRange::Positive,
    "auto",
    "bandwidth of the rbf lift; auto: median distance of corpus points",
);
/// The same of this kernel, whose `auto` is its own.
const OWN_SIGMA: ParameterInfo = ParameterInfo {
    meaning: "bandwidth of the rbf lift; auto: 0.7 times the median distance of corpus points",
    ..SIGMA
};
/// What `auto` is with the RBF lift: the share of the median distance, and the scale, that find novelty best; see
/// docs/decisions/0009.
const OF_MEDIAN: f64 = 0.7;
const RBF_SCALE: f64 = 4.0;
const ORDER: ParameterInfo = ParameterInfo::whole(
    "order",
    ParameterRange::Rule("from 1 to the level"),
    "1",
    "most uses of one increment, 1 (fastest) to level (exact for piecewise linear paths)",
);
const SCALE: ParameterInfo = ParameterInfo::number(
    "scale",
    ParameterRange::Positive,
    "auto",
    "factor of the lifted kernel; auto: 1 / channels (linear) or 4 (rbf)",
);
const COMPAT: ParameterInfo = ParameterInfo::word(
    "compat",
    &["published"],
    "none",
    "published: 1 + the last level alone, to reproduce published numbers",
)
.optional();

impl Family for Sig {
    const INFO: KernelInfo = KernelInfo {
        name: "sig",
        words: "the order in which the channels of two series move, up to a level (truncated signature)",
        formula: "sum over m = 0..level of scale^m <S_m(x), S_m(y)>",
        any_lengths: true,
        parameters: &[LEVEL, ORDER, LIFT, OWN_SIGMA, SCALE, COMPAT],
        example: "sig:level=4,order=1,lift=rbf,sigma=1.3,scale=0.5",
    };

    fn validate(&self) -> Result<()> {
        LEVEL.check(self.level)?;
        if !(1..=self.level).contains(&self.order) {
            let rule = format!("must be {}, {}", ORDER.range, self.level);
            return Err(Error::bad_param(ORDER.name, self.order, rule));
        }
        validate_lift(self.lift, self.sigma).and(SCALE.check_given(self.scale))
    }

    fn resolve(&self, corpus: &SeriesSet) -> Result<Self> {
        let unit = match self.lift {
            Lift::Linear => 1.0 / corpus.channels() as f64,
            Lift::Rbf => RBF_SCALE,
        };
        let sigma = resolved_bandwidth(self.lift, self.sigma, OF_MEDIAN, corpus);
        Ok(Self { sigma, scale: self.scale.or_else(|| unit), ..*self })
    }

    /// With the linear lift and few channels, from features; otherwise kernels of one lift and one order share a walk.
    fn plan(&self, channels: usize, passes: &mut Passes) -> Result<()> {
        let scale = self.scale.resolved(SCALE.name)?;
        let (level, order) = (self.level as usize, self.order as usize);
        let exact = self.lift == Lift::Linear && self.level == self.order && self.level > 1;
        if exact && self.compat.is_none() && sig_explicit::pays(channels, self.level) {
            sig_explicit::join(passes, level, scale);
            return Ok(());
        }
        let factor = resolved_factor(self.lift, self.sigma)?;
        passes.join(
            |pass: &SignaturePass| {
                pass.terms.order == order && pass.terms.factors.is_some() == factor.is_some()
            },
            || {
                let terms = LevelTerms { levels: 0, order, factors: factor.map(|_| Vec::new()) };
                SignaturePass { finish: Vec::new(), terms }
            },
            |SignaturePass { finish, terms }| {
                let set = set_of_factor(&mut terms.factors, factor);
                terms.levels = terms.levels.max(level);
                finish.push(Finish { set, level, scale, single: self.compat.is_some() });
            },
        );
        Ok(())
    }

    fn cost(&self, shape: &family::Shape) -> f64 {
        let (level, order) = (f64::from(self.level), f64::from(self.order));
        // A lift takes about twenty.
        shape.pairs_of_points() * (shape.channels + 20.0 + 3.0 * level * order * order)
    }
}

/// An error where a bandwidth does not go with the lift, or is outside its range.
pub(super) fn validate_lift(lift: Lift, sigma: Option<Parameter>) -> Result<()> {
    match (lift, sigma) {
        (Lift::Linear, Some(_)) => {
            Err(Error::bad_param(SIGMA.name, "given", "belongs to lift=rbf; the linear lift has none"))
        }
        (_, sigma) => SIGMA.check_given(sigma.unwrap_or_default()),
    }
}

/// The bandwidth of an RBF lift, a share of the median distance of points where it is `auto`; none for the linear one.
pub(super) fn resolved_bandwidth(
    lift: Lift,
    sigma: Option<Parameter>,
    share: f64,
    corpus: &SeriesSet,
) -> Option<Parameter> {
    let resolved = || sigma.unwrap_or_default().or_else(|| share * auto::median_distance_of_points(corpus));
    (lift == Lift::Rbf).then(resolved)
}

/// `-1 / (2 sigma^2)` of an RBF lift; none for the linear one.
pub(super) fn resolved_factor(lift: Lift, sigma: Option<Parameter>) -> Result<Option<f64>> {
    let resolved = || sigma.unwrap_or_default().resolved(SIGMA.name).map(rbf_factor);
    (lift == Lift::Rbf).then(resolved).transpose()
}

/// Which of a walk's bandwidths has this factor; it is added where it is new. 0 for the linear lift.
pub(super) fn set_of_factor(factors: &mut Option<Vec<f64>>, factor: Option<f64>) -> usize {
    let (Some(factors), Some(factor)) = (factors, factor) else { return 0 };
    let set = factors.iter().position(|f| *f == factor).unwrap_or(factors.len());
    if set == factors.len() {
        factors.push(factor);
    }
    set
}

/// The static kernel that lifts the points of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lift {
    /// The path itself.
    #[default]
    Linear,
    /// `exp(-|x-y|^2 / (2 sigma^2))`.
    Rbf,
}

/// Departures from the definition that reproduce published numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compat {
    /// The last level alone, and 1.
    Published,
}

/// How a kernel value is made of level terms.
pub(crate) struct Finish {
    /// Which set of level terms (one per sigma).
    pub(crate) set: usize,
    pub(crate) level: usize,
    pub(crate) scale: f64,
    /// Whether the levels between 0 and the last are left out.
    pub(crate) single: bool,
}

/// The walk of signature kernels of one lift and one order.
struct SignaturePass {
    finish: Vec<Finish>,
    terms: LevelTerms,
}

/// The level terms of pairs of series.
struct LevelTerms {
    levels: usize,
    order: usize,
    /// `-1 / (2 sigma^2)` per bandwidth of an RBF lift; none for the linear one.
    factors: Option<Vec<f64>>,
}

impl Pass for SignaturePass {
    fn carries_exponents(&self) -> bool {
        true
    }

    fn kept(&self) -> usize {
        lanes_over_pairs::Recurrence::kept(&self.terms)
    }

    fn walk(&self, tile: &Tile<'_>, kept: &mut [f64]) -> Result<()> {
        lanes_over_pairs::walk(&self.terms, tile, kept);
        Ok(())
    }

    fn walk_diagonal(&self, set: &SeriesSet, which: std::ops::Range<usize>, kept: &mut [f64]) -> Result<()> {
        lanes_over_pairs::walk_diagonal(&self.terms, set, which, kept);
        Ok(())
    }

    fn finish(&self, which: usize, kept: &[f64], out: &mut Values<'_>) {
        let finish = &self.finish[which];
        let pairs = out.mantissas.len();
        let terms = &kept[finish.set * self.terms.levels * pairs..];
        let exponents = match self.terms.factors {
            None => Some(&kept[self.terms.levels * pairs..]),
            Some(_) => None,
        };
        finish.apply(terms, exponents, out);
    }
}

impl Finish {
    /// The values of some pairs from planes of level terms; level m counts `2^(m exponent)` times.
    pub(crate) fn apply(&self, planes: &[f64], exponents: Option<&[f64]>, out: &mut Values<'_>) {
        let pairs = out.mantissas.len();
        let mut terms = [0.0; MOST_LEVELS as usize];
        let terms = &mut terms[..self.level];
        for pair in 0..pairs {
            let used = if self.single { self.level - 1..self.level } else { 0..self.level };
            for m in used {
                terms[m] = planes[m * pairs + pair];
            }
            let value = combine(terms, self.scale, exponents.map_or(0.0, |e| e[pair]));
            out.mantissas[pair] = value.mantissa;
            out.exponents[pair] = value.exponent;
        }
    }
}

/// `1 + sum of (scale 2^exponent)^m terms[m-1]`.
fn combine(terms: &[f64], scale: f64, exponent: f64) -> Scaled {
    let base = scale * power_of_two(exponent);
    let [power] = powers([base], terms.len() as u32);
    if power > 1e-250 && power < 1e250 {
        let sum = terms.iter().rev().fold(0.0, |sum, term| (sum + term) * base);
        if sum.is_finite() {
            return (1.0 + sum).into();
        }
    }
    combine_wide(terms, scale, exponent)
}

/// The same where powers leave the range of an `f64`: every level with its exponent, relative to the largest.
fn combine_wide(terms: &[f64], scale: f64, exponent: f64) -> Scaled {
    let scale_exponent = size(scale);
    let (scale, exponent) = (times_power(scale, -scale_exponent), exponent + scale_exponent);
    let mut levels = [(0.0, 0.0); MOST_LEVELS as usize];
    let (mut power, mut top) = (1.0, 0.0f64);
    for (m, term) in terms.iter().enumerate() {
        power *= scale;
        levels[m] = (term * power, (m + 1) as f64 * exponent);
        if *term != 0.0 {
            top = top.max(size(levels[m].0) + levels[m].1);
        }
    }
    let mut mantissa = times_power(1.0, -top);
    // A level of zero has no say in the largest exponent, and its own may be beyond any power.
    for (value, exponent) in levels[..terms.len()].iter().filter(|level| level.0 != 0.0) {
        mantissa += times_power(*value, exponent - top);
    }
    Scaled { mantissa, exponent: top }
}

/// `value * 2^exponent`, also where the power alone is out of range.
fn times_power(value: f64, exponent: f64) -> f64 {
    let half = (0.5 * exponent).trunc();
    value * power_of_two(half) * power_of_two(exponent - half)
}

/// A whole number with `|value| < 2^size`, by less than a factor 2; 0 for zero.
#[inline(always)]
pub(crate) fn size(value: f64) -> f64 {
    let bits = (value.to_bits() >> 52) & 0x7ff;
    if value == 0.0 { 0.0 } else { bits as f64 - 1022.0 }
}

impl lanes_over_pairs::Recurrence for LevelTerms {
    fn of(&self) -> Of {
        of(self.factors.as_deref())
    }

    fn kept(&self) -> usize {
        // The linear lift keeps the exponent that its paths were scaled by.
        self.factors.as_ref().map_or(self.levels + 1, |f| f.len() * self.levels)
    }

    fn run(&self, pairs: &mut Pairs<'_>, scratch: &mut Cells, out: &mut [[f64; L]]) {
        out.fill([0.0; L]);
        let mut units = [1.0; L];
        if self.factors.is_none() {
            let [x, y] = pairs.variations();
            for lane in 0..pairs.count() {
                let exponent = size(x[lane]) + size(y[lane]);
                // Powers of two are exact: where no level can leave the range of an f64 there is no need for them.
                if exponent.abs() * self.levels as f64 > COMFORTABLE {
                    units[lane] = power_of_two(-exponent);
                    out[self.levels][lane] = exponent;
                }
            }
        }
        let factors = self.factors.as_deref();
        let (rows, columns) = cells(pairs, factors);
        if rows == 0 || columns == 0 {
            return;
        }
        let mut shape = Shape { levels: self.levels, order: self.order, width: 0 };
        let width = block_width::<H>(shape.per_column(), pairs, columns, factors).min(columns);
        shape.width = width;
        // Rows that one half of the lanes goes through before the other does.
        let band = pairs.in_bands(width, STRIP);
        let sets = factors.map_or(1, <[f64]>::len);
        let sizes = [
            sets * shape.per_column() * width,
            sets * shape.per_row() * rows,
            shape.between(STRIP),
            Increments::<H>::scratch(factors, width, STRIP),
        ];
        let of_half = sizes.iter().sum::<usize>();
        let scratch = scratch.take(of_half).as_flattened_mut().as_chunks_mut::<H>().0;
        // Half of the lanes after the other: so blocks can be twice as wide, and one half may be idle.
        let halves = units.as_chunks::<H>().0.iter().take(pairs.count().div_ceil(H)).enumerate();
        let mut halves: Vec<Half<'_>> = halves
            .zip(scratch.chunks_exact_mut(of_half))
            .map(|((half, unit), scratch)| {
                let [columns, rows, between, buffer] = split(scratch, sizes);
                rows.fill([0.0; H]);
                let increments = Increments::new(factors, half, *unit, width, STRIP, buffer);
                Half { columns, rows, between, increments }
            })
            .collect();
        for start in (0..columns).step_by(width) {
            shape.width = width.min(columns - start);
            for half in &mut halves {
                half.columns.fill([0.0; H]);
                half.increments.begin(pairs, start..start + shape.width);
            }
            for first in (0..rows).step_by(band) {
                for half in &mut halves {
                    half.add(pairs, shape, sets, rows, first..rows.min(first.saturating_add(band)));
                }
            }
            let cells = shape.per_column() * shape.width;
            for (at, half) in halves.iter().enumerate() {
                for set in 0..sets {
                    let sums = &half.columns[set * cells..(set + 1) * cells];
                    shape.add_up(sums, at, &mut out[set * self.levels..(set + 1) * self.levels]);
                }
            }
        }
    }
}

/// What half of the lanes keep while blocks of columns go by.
struct Half<'a> {
    columns: &'a mut [[f64; H]],
    rows: &'a mut [[f64; H]],
    between: &'a mut [[f64; H]],
    increments: Increments<'a, H>,
}

impl Half<'_> {
    /// Adds the cells of some rows (of `height`) and the block of columns at hand.
    fn add(&mut self, pairs: &mut Pairs<'_>, shape: Shape, sets: usize, height: usize, rows: Range<usize>) {
        let (column_cells, row_cells) = (shape.per_column() * shape.width, shape.per_row() * height);
        for row in rows.clone().step_by(STRIP) {
            let count = STRIP.min(rows.end - row);
            self.increments.advance(pairs, row, count);
            for set in 0..sets {
                let z = self.increments.of_set(pairs, set);
                let first = set * row_cells + row * shape.per_row();
                let mut sums = Sums {
                    columns: &mut self.columns[set * column_cells..(set + 1) * column_cells],
                    rows: &mut self.rows[first..first + count * shape.per_row()],
                    between: &mut *self.between,
                };
                sums.add(shape, z);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::{Scaling, gram};
    use crate::kernel::Kernel;
    use crate::random::Normal;
    use crate::run::Run;

    /// Several windows of static values one below the other, and lanes that end anywhere in them.
    #[test]
    fn long_series_of_many_channels_have_their_own_bits() {
        let (channels, run) = (24, Run::sequential());
        let mut numbers = Normal::new(5);
        let mut set = SeriesSet::new(channels).unwrap();
        for steps in [1, 2, 600, 900] {
            let values = numbers.by_ref().take(steps * channels).map(|number| 0.02 * number).collect();
            set.extend(&SeriesSet::from_equal(values, steps, channels).unwrap()).unwrap();
        }
        for spec in
            ["level=1", "level=7", "level=9", "level=4,lift=rbf,sigma=1", "level=2,order=2,lift=rbf,sigma=1"]
        {
            let kernel: Kernel = format!("sig:{spec},scale=0.5").parse().unwrap();
            let all = gram(&kernel, &set, Scaling::Raw, &run).unwrap().matrix;
            for i in 0..set.len() {
                for j in i + 1..set.len() {
                    let two = gram(&kernel, &set.select(&[i, j]), Scaling::Raw, &run).unwrap().matrix;
                    assert_eq!(all.get(i, j), two.get(0, 1), "{spec} {i} {j}");
                }
            }
            if spec == "level=1" {
                let (x, y) = (set.series(2), set.series(3));
                let way = |s: crate::data::Series<'_>, c: usize| s.step(s.steps() - 1)[c] - s.step(0)[c];
                let product: f64 = (0..channels).map(|c| way(x, c) * way(y, c)).sum();
                assert!((all.get(2, 3) - 1.0 - 0.5 * product).abs() < 1e-12);
            }
        }
    }
}
