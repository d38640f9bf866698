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

use super::features::{self, FeatureMap, Features, Prepared};
use super::lanes::{Four, Isa, Work, dispatch};
use super::pass::{Pass, Tile, Values};
use super::signature::{COMFORTABLE, Finish, MOST_LEVELS, size, variation};
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

    fn walk(&self, tile: &Tile<'_>, scratch: &mut Vec<f64>, kept: &mut [f64]) {
        features::walk(&self.map, &self.prepared, tile, scratch, kept);
    }

    fn walk_diagonal(&self, set: &SeriesSet, which: Range<usize>, scratch: &mut Vec<f64>, kept: &mut [f64]) {
        features::walk_diagonal(&self.map, &self.prepared, set, which, scratch, kept);
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
        let mut increments = Vec::new();
        for (at, member) in which.enumerate() {
            let values = set.series(member).values();
            increments.clear();
            increments
                .extend(values[channels.min(values.len())..].iter().zip(values).map(|(new, old)| new - old));
            if self.scaled {
                let own = size(variation(values, channels));
                if 2.0 * own.abs() * self.levels as f64 > COMFORTABLE {
                    increments.iter_mut().for_each(|v| *v *= power_of_two(-own));
                    exponents[at] = own;
                }
            }
            memory.signature.fill(0.0);
            dispatch(Signature { increments: &increments, channels, depths: &depths, memory: &mut memory });
            let mut first = 0;
            for (block, depth) in out.iter_mut().zip(&depths) {
                in_order(
                    &memory.signature[first..first + depth],
                    channels,
                    &mut block[at * depth..(at + 1) * depth],
                );
                first += depth;
            }
        }
    }
}

/// Steps whose changes of the highest level are made together: it is the longest, and is read and written once for all.
const STEPS: usize = 4;
/// Numbers of the highest level's factors that are worked on at a time, to stay in the first-level cache.
const STRETCH: usize = 256;

/// What a signature is made in. The words of a level are kept with the last letter as the slowest: all words with one last
/// letter lie side by side, in the order of the level below, and lanes run along them.
struct Memory {
    /// Levels 1 to the highest.
    signature: Vec<f64>,
    /// Two partial products of Horner's scheme.
    partial: [Vec<f64>; 2],
    /// The factor of a lower level.
    sum: Vec<f64>,
    /// The factors of the highest level, for some steps.
    sums: [Vec<f64>; STEPS],
}

impl Memory {
    fn new(depths: &[usize]) -> Self {
        // The second highest level: factors and partial products have its length at most.
        let longest = depths[..depths.len() - 1].last().copied().unwrap_or(1);
        let zeros = || vec![0.0; longest.max(depths[0])];
        Self {
            signature: vec![0.0; depths.iter().sum()],
            partial: [zeros(), zeros()],
            sum: zeros(),
            sums: std::array::from_fn(|_| zeros()),
        }
    }
}

/// Turns words with the last letter as the slowest into those with the first as the slowest.
fn in_order(from: &[f64], channels: usize, to: &mut [f64]) {
    // Counts words up in one order, letter by letter, while keeping the place in the other.
    let mut letters = [0usize; MOST_LEVELS as usize];
    let mut place = 0;
    for cell in to {
        *cell = from[place];
        // The last letter runs fastest in the new order and has the largest stride in the old one.
        let (mut stride, mut letter) = (from.len() / channels, 0);
        loop {
            if stride == 0 {
                return;
            }
            letters[letter] += 1;
            place += stride;
            if letters[letter] < channels {
                break;
            }
            place -= channels * stride;
            letters[letter] = 0;
            letter += 1;
            stride /= channels;
        }
    }
}

/// The signature of one path.
struct Signature<'a> {
    increments: &'a [f64],
    channels: usize,
    depths: &'a [usize],
    memory: &'a mut Memory,
}

impl Work for Signature<'_> {
    /// A step v changes level m by `v^m/m! + S_1 v^(m-1)/(m-1)! + .. + S_(m-1) v`, that is
    /// `(..((v/m + S_1) v/(m-1) + S_2) v/(m-2) .. + S_(m-1)) v`. From the top: lower levels are still the old ones.
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { increments, channels, depths, memory } = self;
        let Memory { signature, partial, sum, sums } = memory;
        let highest = depths.len();
        let (lower, top) = signature.split_at_mut(depths[..highest - 1].iter().sum());
        for steps in increments.chunks(STEPS * channels) {
            for (v, sum_of_top) in steps.chunks_exact(channels).zip(sums.iter_mut()) {
                horner(highest, v, lower, depths, partial, sum_of_top);
                let mut end = lower.len();
                for m in (1..highest).rev() {
                    let (below, level) = lower[..end].split_at_mut(end - depths[m - 1]);
                    horner(m, v, below, depths, partial, sum);
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
fn horner(
    m: usize,
    v: &[f64],
    below: &[f64],
    depths: &[usize],
    partial: &mut [Vec<f64>; 2],
    out: &mut [f64],
) {
    if m == 1 {
        out[0] = 1.0;
        return;
    }
    let [mut partial, mut next] = partial.each_mut().map(|part| &mut part[..]);
    for c in 0..v.len() {
        partial[c] = v[c] / m as f64;
    }
    let mut first = 0;
    for k in 1..m {
        let depth = depths[k - 1];
        let factor = 1.0 / (m - k) as f64;
        let level = &below[first..first + depth];
        let sums = &mut partial[..depth];
        if k + 1 == m {
            let out = &mut out[..depth];
            for i in 0..depth {
                out[i] = (sums[i] + level[i]) * factor;
            }
            return;
        }
        for i in 0..depth {
            sums[i] = (sums[i] + level[i]) * factor;
        }
        for (c, v) in v.iter().enumerate() {
            let next = &mut next[c * depth..(c + 1) * depth];
            for i in 0..depth {
                next[i] = sums[i] * v;
            }
        }
        std::mem::swap(&mut partial, &mut next);
        first += depth;
    }
}

/// Adds `sum v` to a level, for several steps in turn.
#[inline(always)]
fn add_products<I: Isa, const B: usize>(sums: [&[f64]; B], v: [&[f64]; B], level: &mut [f64]) {
    let depth = level.len() / v[0].len();
    for start in (0..depth).step_by(STRETCH) {
        let stretch = start..depth.min(start + STRETCH);
        for (c, row) in level.chunks_exact_mut(depth).enumerate() {
            let (cells, cells_left) = row[stretch.clone()].as_chunks_mut::<4>();
            let whole = cells.len();
            let mut parts = [(&[] as &[[f64; 4]], &[] as &[f64]); B];
            let mut factors = [I::Four::splat(0.0); B];
            for b in 0..B {
                parts[b] = sums[b][stretch.clone()].as_chunks::<4>();
                parts[b].0 = &parts[b].0[..whole];
                factors[b] = I::Four::splat(v[b][c]);
            }
            for i in 0..whole {
                let mut cell = I::Four::load(&cells[i]);
                for b in 0..B {
                    cell = factors[b].mul_add(I::Four::load(&parts[b].0[i]), cell);
                }
                cell.store(&mut cells[i]);
            }
            for (i, cell) in cells_left.iter_mut().enumerate() {
                for b in 0..B {
                    *cell = I::mul_add(v[b][c], parts[b].1[i], *cell);
                }
            }
        }
    }
}
