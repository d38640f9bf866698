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

use super::columns::{Columns, L, Of};
use super::features::{self, FeatureMap, Features};
use super::lanes::{Isa, Work, dispatch};
use super::pass::{Pass, Tile, Values};
use super::signature::{COMFORTABLE, Finish, size, variation};
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

    fn feature_map(&self) -> Option<&dyn FeatureMap> {
        Some(&self.map)
    }

    fn walk(&self, tile: &Tile<'_>, scratch: &mut Vec<f64>, kept: &mut [f64]) {
        features::walk(&self.map, tile, scratch, kept);
    }

    fn walk_diagonal(&self, set: &SeriesSet, which: Range<usize>, scratch: &mut Vec<f64>, kept: &mut [f64]) {
        features::walk_diagonal(&self.map, set, which, scratch, kept);
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
        let depths = self.blocks(set.channels());
        let mut columns = Columns::default();
        let mut signature: Vec<[f64; L]> = Vec::new();
        // Two partial products of Horner's scheme, the larger of the second highest level.
        let longest = depths[..depths.len() - 1].last().copied().unwrap_or(1);
        let (mut partial, mut next) = (vec![[0.0; L]; longest], vec![[0.0; L]; longest]);
        let members: Vec<usize> = which.collect();
        for (group, members) in members.chunks(L).enumerate() {
            columns.load(set, members, Of::Increments);
            if self.scaled {
                let exponents = &mut exponents[group * L..group * L + members.len()];
                scale(&mut columns, set, members, self.levels, exponents);
            }
            signature.clear();
            signature.resize(depths.iter().sum(), [0.0; L]);
            let (signature, partial, next) = (&mut signature[..], &mut partial[..], &mut next[..]);
            dispatch(Signatures { columns: &columns, depths: &depths, signature, partial, next });
            let mut features = signature.iter();
            for (block, depth) in out.iter_mut().zip(&depths) {
                for (at, cell) in features.by_ref().take(*depth).enumerate() {
                    for (lane, value) in cell[..members.len()].iter().enumerate() {
                        block[(group * L + lane) * depth + at] = *value;
                    }
                }
            }
        }
    }
}

/// Scales paths whose levels might leave the range of an `f64`.
fn scale(columns: &mut Columns, set: &SeriesSet, members: &[usize], levels: usize, exponents: &mut [f64]) {
    for (lane, (member, exponent)) in members.iter().zip(exponents).enumerate() {
        let own = size(variation(set.series(*member).values(), set.channels()));
        if 2.0 * own.abs() * levels as f64 > COMFORTABLE {
            columns.values.iter_mut().for_each(|cell| cell[lane] *= power_of_two(-own));
            *exponent = own;
        }
    }
}

/// The signatures of L series at once.
struct Signatures<'a> {
    columns: &'a Columns,
    depths: &'a [usize],
    signature: &'a mut [[f64; L]],
    partial: &'a mut [[f64; L]],
    next: &'a mut [[f64; L]],
}

impl Work for Signatures<'_> {
    /// A step v changes level m by `v^m/m! + S_1 v^(m-1)/(m-1)! + .. + S_(m-1) v`, that is
    /// `(..((v/m + S_1) v/(m-1) + S_2) v/(m-2) .. + S_(m-1)) v`. From the top: lower levels are still the old ones.
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { columns, depths, signature, mut partial, mut next } = self;
        let channels = columns.channels;
        for step in 0..columns.steps {
            let v = columns.step(step);
            let mut top = signature.len();
            for m in (1..=depths.len()).rev() {
                let (lower, level) = signature[..top].split_at_mut(top - depths[m - 1]);
                top = lower.len();
                if m == 1 {
                    for c in 0..channels {
                        for lane in 0..L {
                            level[c][lane] += v[c][lane];
                        }
                    }
                    continue;
                }
                for c in 0..channels {
                    for lane in 0..L {
                        partial[c][lane] = v[c][lane] / m as f64;
                    }
                }
                let mut first = 0;
                for k in 1..m {
                    let depth = depths[k - 1];
                    let factor = 1.0 / (m - k) as f64;
                    for i in 0..depth {
                        let mut sum = [0.0; L];
                        for lane in 0..L {
                            sum[lane] = (partial[i][lane] + lower[first + i][lane]) * factor;
                        }
                        for c in 0..channels {
                            if k + 1 == m {
                                let cell = &mut level[i * channels + c];
                                for lane in 0..L {
                                    cell[lane] = I::mul_add(sum[lane], v[c][lane], cell[lane]);
                                }
                            } else {
                                let cell = &mut next[i * channels + c];
                                for lane in 0..L {
                                    cell[lane] = sum[lane] * v[c][lane];
                                }
                            }
                        }
                    }
                    std::mem::swap(&mut partial, &mut next);
                    first += depth;
                }
            }
        }
    }
}
