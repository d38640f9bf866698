//! Signatures as feature vectors, for few channels.
//!
//! # Formula
//! `S_m(x)`, all iterated integrals of level m of the piecewise linear path through the points of x: d^m numbers,
//! one per word of m channels. The kernel is `sum over m = 0..level of scale^m <S_m(x), S_m(y)>`: that of `sig` with
//! `order = level` and the linear lift.
//!
//! # Cost
//! About `1.5 T d^level` multiply-adds per series and `d^level` per pair, by Chen's identity in Horner form.
//!
//! # What it shares
//! Features are computed once per set (where they fit 24 MB); inner products per level give every level and scale.
//!
//! # Example
//! ```
//! use varnorm::{Run, SeriesSet, kernel};
//! // One step right, one step up: the area between path and chord is the difference of the words 1,2 and 2,1.
//! let set = SeriesSet::from_equal(vec![0.0, 0.0, 1.0, 0.0, 1.0, 1.0], 3, 2).unwrap();
//! let features = kernel::signature_features(&set, 2, &Run::sequential()).unwrap();
//! assert_eq!(features.row(0), [1.0, 1.0, 0.5, 1.0, 0.0, 0.5]);
//! assert_eq!(kernel::signature_feature_names(2, 2), ["1", "2", "1,1", "1,2", "2,1", "2,2"]);
//! ```

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::kernel::drive::vectors::{self, FeatureMap, Features, Prepared};
use crate::kernel::family::sig::{COMFORTABLE, Finish, LEVELS, size};
use crate::kernel::family::{Family, Shape};
use crate::kernel::features::FeatureVectors;
use crate::kernel::pass::{Pass, Passes, Sets, Tile, Values};
use crate::kernel::points::pack::variation;
use crate::kernel::{KernelInfo, Parameter, ParameterInfo, ParameterRange};
use crate::linalg::matrix::{Matrix, power_of_two};
use crate::run::Run;
use crate::simd::{Isa, Register, Work, dispatch};

/// The truncated signature kernel from signatures as feature vectors; exact for piecewise linear paths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SigExplicit {
    /// The last level.
    pub level: u32,
    /// Factor of the inner product of increments; `auto` is 1 over the number of channels.
    pub scale: Parameter,
}

impl Default for SigExplicit {
    fn default() -> Self {
        Self { level: 3, scale: Parameter::Auto }
    }
}

const LEVEL: ParameterInfo =
    ParameterInfo::whole("level", LEVELS, "3", "last level, 1 to 32; few channels only");
const SCALE: ParameterInfo = ParameterInfo::number(
    "scale",
    ParameterRange::Positive,
    "auto",
    "factor of the inner product of increments; auto: 1 / channels",
);

impl Family for SigExplicit {
    const INFO: KernelInfo = KernelInfo {
        name: "sig_explicit",
        words: "the order in which the channels of two series move, as a list of features (signature)",
        formula: "sum over m = 0..level of scale^m <S_m(x), S_m(y)>, from the d + .. + d^level features S",
        any_lengths: true,
        parameters: &[LEVEL, SCALE],
        example: "sig_explicit:level=2,scale=0.5",
    };

    fn validate(&self) -> Result<()> {
        LEVEL.check(self.level).and(SCALE.check_given(self.scale))
    }

    fn resolve(&self, corpus: &SeriesSet) -> Result<Self> {
        Ok(Self { scale: self.scale.or_else(|| 1.0 / corpus.channels() as f64), ..*self })
    }

    fn plan(&self, _channels: usize, passes: &mut Passes) -> Result<()> {
        join(passes, self.level as usize, self.scale.resolved(SCALE.name)?);
        Ok(())
    }

    fn cost(&self, shape: &Shape) -> f64 {
        let features = feature_count(shape.channels as usize, self.level) as f64;
        (2.0 * shape.steps() + shape.pairs()) * features
    }

    fn features(&self) -> Option<&dyn FeatureVectors> {
        Some(self)
    }
}

impl FeatureVectors for SigExplicit {
    fn width(&self, _steps: usize, channels: usize) -> usize {
        feature_count(channels, self.level).saturating_add(1)
    }

    fn vectors(&self, set: &SeriesSet, run: &Run) -> Result<Matrix> {
        let scale = self.scale.resolved(SCALE.name)?;
        count_features(set.channels(), self.level, MOST_FEATURES)?;
        let map = SignatureMap { levels: self.level as usize, scaled: false };
        Ok(Features::of_set(&map, set, run)?.weighted_levels(scale, set.len()))
    }
}

/// Most features of a kernel: beyond, the kernel trick is cheaper in any case.
const MOST_KERNEL_FEATURES: usize = 1 << 16;
/// So few features that they are cheaper than a recurrence.
const FEW_FEATURES: usize = 1 << 12;
/// Most features that are computed on request.
const MOST_FEATURES: usize = 1 << 24;

/// The number of features, `d + d^2 + .. + d^level`.
fn feature_count(channels: usize, level: u32) -> usize {
    let mut total = 0usize;
    for m in 1..=level {
        total = total.saturating_add(channels.saturating_pow(m));
    }
    total
}

/// The same, or an error that says how to have fewer.
fn count_features(channels: usize, level: u32, most: usize) -> Result<usize> {
    let total = feature_count(channels, level);
    if total <= most {
        return Ok(total);
    }
    Err(Error::bad_param(
        "level",
        level,
        format!(
            "a signature of {channels} channels has more than {most} features up to this level; \
             choose a lower one, or the kernel sig with order = level"
        ),
    ))
}

/// The truncated signature of every series: one row per series, with the `d + d^2 + .. + d^level` features of levels
/// 1 to `level` (level 0, which is always 1, is left out). Their words are [`signature_feature_names`].
pub fn signature_features(set: &SeriesSet, level: u32, run: &Run) -> Result<Matrix> {
    LEVEL.check(level)?;
    let length = count_features(set.channels(), level, MOST_FEATURES)?;
    let map = SignatureMap { levels: level as usize, scaled: false };
    let features = Features::of_set(&map, set, run)?;
    let mut matrix = Matrix::zeros(set.len(), length);
    for i in 0..set.len() {
        let mut row = matrix.row_mut(i);
        for (depth, values) in &features.blocks {
            let (part, rest) = row.split_at_mut(*depth);
            part.copy_from_slice(&values[i * depth..(i + 1) * depth]);
            row = rest;
        }
    }
    Ok(matrix)
}

/// The words of the features: channels counted from 1, as in `1`, `2`, `1,1`, `1,2`, `2,1`, `2,2`.
pub fn signature_feature_names(channels: usize, level: u32) -> Vec<String> {
    let letters: Vec<String> = (1..=channels).map(|c| c.to_string()).collect();
    let (mut names, mut last) = (letters.clone(), letters.clone());
    for _ in 1..level {
        last = last.iter().flat_map(|word| letters.iter().map(move |c| format!("{word},{c}"))).collect();
        names.extend_from_slice(&last);
    }
    names
}

/// The walk of all explicit signature kernels.
#[derive(Default)]
struct ExplicitPass {
    finish: Vec<Finish>,
    map: SignatureMap,
    prepared: Prepared,
}

#[derive(Default)]
struct SignatureMap {
    levels: usize,
    /// Whether paths too long or too short for the range of an `f64` are scaled by a power of two.
    scaled: bool,
}

/// Whether there are few enough features to compute the kernel `sig` from them, with `order = level` and the linear lift: it is the
/// same kernel.
///
/// By channels and level alone, so that the bits of a value do not depend on its company. With so few features an inner
/// product costs less than a recurrence over 30 steps, whatever the level.
pub(super) fn pays(channels: usize, level: u32) -> bool {
    feature_count(channels, level) <= FEW_FEATURES
}

/// All kernels from signatures share one walk, up to the highest level.
pub(super) fn join(passes: &mut Passes, level: usize, scale: f64) {
    let join = |pass: &mut ExplicitPass| {
        pass.map.scaled = true;
        pass.map.levels = pass.map.levels.max(level);
        pass.finish.push(Finish { set: 0, level, scale, single: false });
    };
    passes.join(|_| true, ExplicitPass::default, join);
}

impl Pass for ExplicitPass {
    fn check(&self, sets: Sets<'_>) -> Result<()> {
        count_features(sets.rows().channels(), self.map.levels as u32, MOST_KERNEL_FEATURES).map(|_| ())
    }

    fn carries_exponents(&self) -> bool {
        true
    }

    fn kept(&self) -> usize {
        self.map.levels + 1
    }

    fn prepare(&mut self, sets: Sets<'_>, run: &Run) -> Result<()> {
        self.prepared = Prepared::new(&self.map, sets, run)?;
        Ok(())
    }

    fn walk(&self, tile: &Tile<'_>, kept: &mut [f64]) -> Result<()> {
        vectors::walk(&self.map, &self.prepared, tile, kept);
        Ok(())
    }

    fn walk_diagonal(&self, set: &SeriesSet, which: Range<usize>, kept: &mut [f64]) -> Result<()> {
        vectors::walk_diagonal(&self.map, &self.prepared, set, which, kept);
        Ok(())
    }

    fn finish(&self, which: usize, kept: &[f64], out: &mut Values<'_>) {
        let exponents = &kept[self.map.levels * out.mantissas.len()..];
        self.finish[which].apply(kept, Some(exponents), out);
    }
}

impl FeatureMap for SignatureMap {
    fn blocks(&self, channels: usize) -> Vec<usize> {
        (1..=self.levels as u32).map(|m| channels.saturating_pow(m)).collect()
    }

    fn exponents(&self) -> bool {
        self.scaled
    }

    fn fill(&self, set: &SeriesSet, which: Range<usize>, out: &mut [&mut [f64]], exponents: &mut [f64]) {
        let mut memory = Memory::new(&self.blocks(set.channels()));
        let members: Vec<usize> = which.collect();
        for (group, members) in members.chunks(LANES).enumerate() {
            let first = group * LANES;
            let exponents = &mut exponents[first..first + members.len()];
            self.fill_rows(set, members, first, &mut memory, out, exponents);
            let steps = |member: &usize| set.series(*member).steps();
            let unequal = members.iter().any(|member| steps(member) != steps(&members[0]));
            if unequal && memory.signature.as_flattened().iter().any(|value| !value.is_finite()) {
                // An infinity that goes on with steps of zero becomes NaN: each for itself, then.
                for (lane, member) in members.chunks(1).enumerate() {
                    let exponent = &mut exponents[lane..lane + 1];
                    self.fill_rows(set, member, first + lane, &mut memory, out, exponent);
                }
            }
        }
    }
}

impl SignatureMap {
    /// The features of up to [`LANES`] series, in the rows from `first` on.
    fn fill_rows(
        &self,
        set: &SeriesSet,
        members: &[usize],
        first: usize,
        memory: &mut Memory,
        out: &mut [&mut [f64]],
        exponents: &mut [f64],
    ) {
        let depths = &self.blocks(set.channels());
        memory.load(set, members);
        if self.scaled {
            memory.scale(set, members, self.levels, exponents);
        }
        memory.signature.fill([0.0; LANES]);
        dispatch(Signatures { channels: set.channels(), depths, memory: &mut *memory });
        let mut features = &memory.signature[..];
        for (block, depth) in out.iter_mut().zip(depths) {
            let (cells, rest) = features.split_at(*depth);
            take_apart(cells, &mut block[first * depth..(first + members.len()) * depth]);
            features = rest;
        }
    }
}

/// One row per series from cells that have them side by side, a few cells at a time.
fn take_apart(cells: &[Cell], rows: &mut [f64]) {
    const SOME: usize = 64;
    let depth = cells.len();
    for (part, cells) in cells.chunks(SOME).enumerate() {
        for (lane, row) in rows.chunks_exact_mut(depth).enumerate() {
            let row = &mut row[part * SOME..];
            row.iter_mut().zip(cells).for_each(|(value, cell)| *value = cell[lane]);
        }
    }
}

/// Series whose signatures are made side by side: one register. More would not fit the caches with a high level.
const LANES: usize = 4;
/// One number of every series.
type Cell = [f64; LANES];
/// Steps whose changes of the two highest levels are made together: they are the longest, and are read and written once for
/// all.
const STEPS: usize = 4;

/// What signatures are made in.
struct Memory {
    /// The increments, step by step, channel by channel; zeros where a series has ended.
    increments: Vec<Cell>,
    /// Levels 1 to the highest.
    signature: Vec<Cell>,
    /// Two partial products of Horner's scheme.
    partial: [Vec<Cell>; 2],
    /// The factor of a lower level.
    factor: Vec<Cell>,
    /// The factors of the two highest levels, for some steps.
    top_factors: [[Vec<Cell>; 2]; STEPS],
}

impl Memory {
    fn new(depths: &[usize]) -> Self {
        // The third highest level: factors and partial products have its length at most.
        let longest = depths[..depths.len().saturating_sub(2)].last().copied().unwrap_or(1);
        let zeros = || vec![[0.0; LANES]; longest.max(depths[0])];
        Self {
            increments: Vec::new(),
            signature: vec![[0.0; LANES]; depths.iter().sum()],
            partial: [zeros(), zeros()],
            factor: zeros(),
            top_factors: std::array::from_fn(|_| [zeros(), zeros()]),
        }
    }

    fn load(&mut self, set: &SeriesSet, members: &[usize]) {
        let channels = set.channels();
        let most = members.iter().map(|member| set.series(*member).steps()).max().unwrap_or(0);
        self.increments.clear();
        self.increments.resize(most.saturating_sub(1) * channels, [0.0; LANES]);
        for (lane, member) in members.iter().enumerate() {
            let values = set.series(*member).values();
            let changes = values.iter().skip(channels).zip(values).map(|(new, old)| new - old);
            self.increments.iter_mut().zip(changes).for_each(|(cell, change)| cell[lane] = change);
        }
    }

    /// Scales paths whose levels might leave the range of an `f64`.
    fn scale(&mut self, set: &SeriesSet, members: &[usize], levels: usize, exponents: &mut [f64]) {
        for (lane, (member, exponent)) in members.iter().zip(exponents).enumerate() {
            let own = size(variation(set.series(*member).values(), set.channels()));
            if 2.0 * own.abs() * levels as f64 > COMFORTABLE {
                self.increments.iter_mut().for_each(|cell| cell[lane] *= power_of_two(-own));
                *exponent = own;
            }
        }
    }
}

/// The signatures of a few paths.
struct Signatures<'a> {
    channels: usize,
    depths: &'a [usize],
    memory: &'a mut Memory,
}

impl Work for Signatures<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        // With the number of channels known, the shortest loops are none, and increments stay in registers.
        match self.channels {
            2 => self.run_with::<I, 2>(),
            3 => self.run_with::<I, 3>(),
            4 => self.run_with::<I, 4>(),
            5 => self.run_with::<I, 5>(),
            6 => self.run_with::<I, 6>(),
            _ => self.run_with::<I, ANY>(),
        }
    }
}

/// A number of channels that is not known when compiling.
const ANY: usize = 0;

impl Signatures<'_> {
    /// A step v changes level m by `v^m/m! + S_1 v^(m-1)/(m-1)! + .. + S_(m-1) v`, that is
    /// `(..((v/m + S_1) v/(m-1) + S_2) v/(m-2) .. + S_(m-1)) v`. From the top: lower levels are still the old ones.
    #[inline(always)]
    fn run_with<I: Isa, const C: usize>(self) {
        let Self { channels, depths, memory } = self;
        let channels = if C == ANY { channels } else { C };
        let Memory { increments, signature, partial, factor, top_factors } = memory;
        let highest = depths.len();
        if highest == 1 {
            let one = [[1.0; LANES]];
            increments.chunks_exact(channels).for_each(|v| add_product::<I, C>(&one, v, signature));
            return;
        }
        let (lower, top) = signature.split_at_mut(depths[..highest - 1].iter().sum());
        let (lower, second) = lower.split_at_mut(lower.len() - depths[highest - 2]);
        for steps in increments.chunks(STEPS * channels) {
            for (v, [of_top, of_second]) in steps.chunks_exact(channels).zip(top_factors.iter_mut()) {
                horner::<I, C>(highest, highest - 2, v, lower, depths, partial, of_top);
                horner::<I, C>(highest - 1, highest - 2, v, lower, depths, partial, of_second);
                let mut end = lower.len();
                for m in (1..highest - 1).rev() {
                    let (below, level) = lower[..end].split_at_mut(end - depths[m - 1]);
                    horner::<I, C>(m, m - 1, v, below, depths, partial, factor);
                    add_product::<I, C>(factor, v, level);
                    end = below.len();
                }
            }
            if steps.len() == STEPS * channels {
                let v = std::array::from_fn(|s| &steps[s * channels..(s + 1) * channels]);
                let factors = top_factors.each_ref().map(|[top, second]| [&top[..], &second[..]]);
                change_top::<I, STEPS, C>(factors, v, second, top);
            } else {
                for (v, [of_top, of_second]) in steps.chunks_exact(channels).zip(&*top_factors) {
                    change_top::<I, 1, C>([[of_top, of_second]], [v], second, top);
                }
            }
        }
    }
}

/// Horner's scheme for the change of level m up to where level k has been added, over m - k. `below` are the levels up to k.
#[inline(always)]
fn horner<I: Isa, const C: usize>(
    m: usize,
    k: usize,
    v: &[Cell],
    below: &[Cell],
    depths: &[usize],
    partial: &mut [Vec<Cell>; 2],
    out: &mut [Cell],
) {
    let v = &v[..if C == ANY { v.len() } else { C }];
    if k == 0 {
        out[0] = [1.0 / m as f64; LANES];
        return;
    }
    let [mut partial, mut next] = partial.each_mut().map(|part| &mut part[..]);
    for (cell, v) in partial.iter_mut().zip(v) {
        for lane in 0..LANES {
            cell[lane] = v[lane] / m as f64;
        }
    }
    let mut first = 0;
    for level in 1..=k {
        let depth = depths[level - 1];
        let factor = I::Four::splat(1.0 / (m - level) as f64);
        let old = &below[first..first + depth];
        if level == k {
            for ((cell, old), out) in partial.iter().zip(old).zip(out) {
                I::Four::load(cell, 0).add(I::Four::load(old, 0)).mul(factor).store(out, 0);
            }
            return;
        }
        for ((cell, old), next) in partial.iter().zip(old).zip(next.chunks_exact_mut(v.len())) {
            let sum = I::Four::load(cell, 0).add(I::Four::load(old, 0)).mul(factor);
            for (next, v) in next.iter_mut().zip(v) {
                sum.mul(I::Four::load(v, 0)).store(next, 0);
            }
        }
        std::mem::swap(&mut partial, &mut next);
        first += depth;
    }
}

/// Adds `factor v` to a level.
#[inline(always)]
fn add_product<I: Isa, const C: usize>(factor: &[Cell], v: &[Cell], level: &mut [Cell]) {
    let v = &v[..if C == ANY { v.len() } else { C }];
    for (factor, cells) in factor.iter().zip(level.chunks_exact_mut(v.len())) {
        let factor = I::Four::load(factor, 0);
        for (cell, v) in cells.iter_mut().zip(v) {
            factor.mul_add(I::Four::load(v, 0), I::Four::load(cell, 0)).store(cell, 0);
        }
    }
}

/// Changes the two highest levels by B steps, one after the other: `factors` of a step are those of the highest level, still
/// to be multiplied by v twice, and of the second highest.
#[inline(always)]
fn change_top<I: Isa, const B: usize, const C: usize>(
    factors: [[&[Cell]; 2]; B],
    v: [&[Cell]; B],
    second: &mut [Cell],
    top: &mut [Cell],
) {
    let channels = if C == ANY { v[0].len() } else { C };
    let (depth, v) = (second.len() / channels, v.map(|v| &v[..channels]));
    let factors = factors.map(|factors| factors.map(|factor| &factor[..depth]));
    let groups = second.chunks_exact_mut(channels).zip(top.chunks_exact_mut(channels * channels));
    for (i, (second, top)) in groups.enumerate() {
        for (c, (cell, top)) in second.iter_mut().zip(top.chunks_exact_mut(channels)).enumerate() {
            let mut value = I::Four::load(cell, 0);
            let mut of_top = [value; B];
            for b in 0..B {
                let ([for_top, for_second], v) = (factors[b], I::Four::load(&v[b][c], 0));
                of_top[b] = I::Four::load(&for_top[i], 0).mul_add(v, value);
                value = I::Four::load(&for_second[i], 0).mul_add(v, value);
            }
            value.store(cell, 0);
            for (c, cell) in top.iter_mut().enumerate() {
                let mut value = I::Four::load(cell, 0);
                for b in 0..B {
                    value = of_top[b].mul_add(I::Four::load(&v[b][c], 0), value);
                }
                value.store(cell, 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_too_large_are_infinite_in_any_company() {
        let long: Vec<f64> = (0..40).map(|i| f64::from(i * i % 7)).collect();
        let huge = [0.0, 0.0, 1e200, 2e200, 3e200, -1e200];
        let mut set = SeriesSet::new(2).unwrap();
        set.push(&huge).unwrap();
        set.push(&long).unwrap();
        let features = |set: &SeriesSet| signature_features(set, 3, &Run::sequential()).unwrap();
        let together = features(&set);
        assert!(together.row(0).iter().any(|value| value.is_infinite()));
        for i in 0..2 {
            let alone = features(&set.select(&[i]));
            let bits = |row: &[f64]| row.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(alone.row(0)), bits(together.row(i)));
        }
    }
}
