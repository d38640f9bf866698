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

use super::columns::variation;
use super::features::{self, FeatureMap, Features, Prepared};
use super::lanes::{Four, Isa, Work, dispatch};
use super::pass::{Pass, Tile, Values};
use super::signature::{COMFORTABLE, Finish, size};
use super::{Kernel, Lift};
use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, power_of_two};
use crate::run::Run;

/// Most features of a kernel: beyond, the kernel trick is cheaper in any case.
const MOST_KERNEL_FEATURES: usize = 1 << 16;
/// So few features that they are cheaper than a recurrence.
const FEW_FEATURES: usize = 1 << 12;
/// Most features that are computed on request.
const MOST_FEATURES: usize = 1 << 24;

/// The number of features, `d + d^2 + .. + d^level`, or an error that says how to have fewer.
fn count_features(channels: usize, level: u32, most: usize) -> Result<usize> {
    let mut total = 0usize;
    for m in 1..=level {
        total = total.saturating_add(channels.saturating_pow(m));
    }
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
    super::signature_level(level)?;
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
pub(crate) struct ExplicitPass {
    serves: Vec<usize>,
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

/// Whether a kernel has few enough features to be computed from them: `sig` with `order = level` and the linear lift is
/// the same kernel.
///
/// By channels and level alone, so that the bits of a value do not depend on its company. With so few features an inner
/// product costs less than a recurrence over 30 steps, whatever the level.
pub(crate) fn pays(kernel: &Kernel, channels: usize) -> bool {
    match kernel {
        Kernel::SigExplicit { .. } => true,
        Kernel::Sig { level, order, lift: Lift::Linear, compat: None, .. } => {
            level == order && *level > 1 && count_features(channels, *level, FEW_FEATURES).is_ok()
        }
        _ => false,
    }
}

impl ExplicitPass {
    pub(crate) fn add(&mut self, index: usize, kernel: &Kernel) -> Result<()> {
        let (Kernel::SigExplicit { level, scale } | Kernel::Sig { level, scale, .. }) = kernel else {
            return Ok(());
        };
        let level = *level as usize;
        self.map.scaled = true;
        self.map.levels = self.map.levels.max(level);
        self.finish.push(Finish { set: 0, level, scale: scale.resolved("scale")?, single: false });
        self.serves.push(index);
        Ok(())
    }
}

impl Pass for ExplicitPass {
    fn serves(&self) -> &[usize] {
        &self.serves
    }

    fn check(&self, row_set: &SeriesSet, _column_set: &SeriesSet) -> Result<()> {
        count_features(row_set.channels(), self.map.levels as u32, MOST_KERNEL_FEATURES).map(|_| ())
    }

    fn carries_exponents(&self) -> bool {
        true
    }

    fn kept(&self) -> usize {
        self.map.levels + 1
    }

    fn prepare(&mut self, row_set: &SeriesSet, column_set: &SeriesSet, run: &Run) -> Result<()> {
        self.prepared = Prepared::new(&self.map, row_set, column_set, run)?;
        Ok(())
    }

    fn walk(&self, tile: &Tile<'_>, kept: &mut [f64]) {
        features::walk(&self.map, &self.prepared, tile, kept);
    }

    fn walk_diagonal(&self, set: &SeriesSet, which: Range<usize>, kept: &mut [f64]) {
        features::walk_diagonal(&self.map, &self.prepared, set, which, kept);
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
        let channels = set.channels();
        let depths = self.blocks(channels);
        let mut memory = Memory::new(&depths);
        let members: Vec<usize> = which.collect();
        for (group, members) in members.chunks(LANES).enumerate() {
            memory.load(set, members);
            if self.scaled {
                let exponents = &mut exponents[group * LANES..group * LANES + members.len()];
                memory.scale(set, members, self.levels, exponents);
            }
            memory.signature.fill([0.0; LANES]);
            dispatch(Signatures { channels, depths: &depths, memory: &mut memory });
            let mut features = memory.signature.iter();
            for (block, depth) in out.iter_mut().zip(&depths) {
                for (at, cell) in features.by_ref().take(*depth).enumerate() {
                    for (lane, value) in cell[..members.len()].iter().enumerate() {
                        block[(group * LANES + lane) * depth + at] = *value;
                    }
                }
            }
        }
    }
}

/// Series whose signatures are made side by side: one register. More would not fit the caches with a high level.
const LANES: usize = 4;
/// One number of every series.
type Cell = [f64; LANES];
/// Steps whose changes of the highest level are made together: it is the longest, and is read and written once for all.
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
    sum: Vec<Cell>,
    /// The factors of the highest level, for some steps.
    sums: [Vec<Cell>; STEPS],
}

impl Memory {
    fn new(depths: &[usize]) -> Self {
        // The second highest level: factors and partial products have its length at most.
        let longest = depths[..depths.len() - 1].last().copied().unwrap_or(1);
        let zeros = || vec![[0.0; LANES]; longest.max(depths[0])];
        Self {
            increments: Vec::new(),
            signature: vec![[0.0; LANES]; depths.iter().sum()],
            partial: [zeros(), zeros()],
            sum: zeros(),
            sums: std::array::from_fn(|_| zeros()),
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
    /// A step v changes level m by `v^m/m! + S_1 v^(m-1)/(m-1)! + .. + S_(m-1) v`, that is
    /// `(..((v/m + S_1) v/(m-1) + S_2) v/(m-2) .. + S_(m-1)) v`. From the top: lower levels are still the old ones.
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { channels, depths, memory } = self;
        let Memory { increments, signature, partial, sum, sums } = memory;
        let highest = depths.len();
        let (lower, top) = signature.split_at_mut(depths[..highest - 1].iter().sum());
        for steps in increments.chunks(STEPS * channels) {
            for (v, sum_of_top) in steps.chunks_exact(channels).zip(sums.iter_mut()) {
                horner::<I>(highest, v, lower, depths, partial, sum_of_top);
                let mut end = lower.len();
                for m in (1..highest).rev() {
                    let (below, level) = lower[..end].split_at_mut(end - depths[m - 1]);
                    horner::<I>(m, v, below, depths, partial, sum);
                    add_products::<I, 1>([sum], [v], level);
                    end = below.len();
                }
            }
            if steps.len() == STEPS * channels {
                let v = std::array::from_fn(|s| &steps[s * channels..(s + 1) * channels]);
                add_products::<I, STEPS>(std::array::from_fn(|s| &sums[s][..]), v, top);
            } else {
                for (v, sum) in steps.chunks_exact(channels).zip(&*sums) {
                    add_products::<I, 1>([sum], [v], top);
                }
            }
        }
    }
}

/// The factor of v in the change of level m; `below` are the levels below.
#[inline(always)]
fn horner<I: Isa>(
    m: usize,
    v: &[Cell],
    below: &[Cell],
    depths: &[usize],
    partial: &mut [Vec<Cell>; 2],
    out: &mut [Cell],
) {
    if m == 1 {
        out[0] = [1.0; LANES];
        return;
    }
    let [mut partial, mut next] = partial.each_mut().map(|part| &mut part[..]);
    for (cell, v) in partial.iter_mut().zip(v) {
        for lane in 0..LANES {
            cell[lane] = v[lane] / m as f64;
        }
    }
    let mut first = 0;
    for k in 1..m {
        let depth = depths[k - 1];
        let factor = I::Four::splat(1.0 / (m - k) as f64);
        let level = &below[first..first + depth];
        if k + 1 == m {
            for ((cell, old), out) in partial.iter().zip(level).zip(out) {
                I::Four::load(cell).add(I::Four::load(old)).mul(factor).store(out);
            }
            return;
        }
        for ((cell, old), next) in partial.iter().zip(level).zip(next.chunks_exact_mut(v.len())) {
            let sum = I::Four::load(cell).add(I::Four::load(old)).mul(factor);
            for (next, v) in next.iter_mut().zip(v) {
                sum.mul(I::Four::load(v)).store(next);
            }
        }
        std::mem::swap(&mut partial, &mut next);
        first += depth;
    }
}

/// Adds `sum v` to a level, for several steps in turn.
#[inline(always)]
fn add_products<I: Isa, const B: usize>(sums: [&[Cell]; B], v: [&[Cell]; B], level: &mut [Cell]) {
    let channels = v[0].len();
    let depth = level.len() / channels;
    let (sums, v) = (sums.map(|sum| &sum[..depth]), v.map(|v| &v[..channels]));
    for (i, cells) in level.chunks_exact_mut(channels).enumerate() {
        let mut factors = [I::Four::splat(0.0); B];
        for b in 0..B {
            factors[b] = I::Four::load(&sums[b][i]);
        }
        for (c, cell) in cells.iter_mut().enumerate() {
            let mut sum = I::Four::load(cell);
            for b in 0..B {
                sum = factors[b].mul_add(I::Four::load(&v[b][c]), sum);
            }
            sum.store(cell);
        }
    }
}
