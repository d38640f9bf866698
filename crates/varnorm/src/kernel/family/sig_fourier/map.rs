//! [`FourierMap`]: the features of `sig_fourier`, one series after the other, some steps at a time.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::data::SeriesSet;
use crate::kernel::drive::vectors::FeatureMap;
use crate::random::Normal;
use crate::simd::sincos::cosine_and_sine;
use crate::simd::{Isa, MOST_REGISTERS, Register, W, Work, dispatch};

/// How the features of a level are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Tensor products of lifted increments, projected at random: as many features at every level.
    #[default]
    Tensor,
    /// Copies with one frequency per level: `2^m` features each at level m.
    Diagonal,
}

impl Form {
    /// Numbers per feature at a level, counted from 1.
    pub(super) fn components(self, level: usize) -> usize {
        match self {
            Self::Tensor => 1,
            Self::Diagonal => 1usize.checked_shl(level as u32).unwrap_or(usize::MAX),
        }
    }
}

/// What is asked for. Levels of one map are the first levels of any map with more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    pub(crate) form: Form,
    pub(crate) levels: usize,
    pub(crate) features: usize,
    pub(crate) sigma: f64,
    pub(crate) seed: u64,
}

impl Shape {
    /// Frequencies of a level. Half as many as features do for a projection: the projection is most of the error.
    fn frequencies(&self) -> usize {
        match self.form {
            Form::Tensor => self.features.div_ceil(2),
            Form::Diagonal => self.features,
        }
    }
}

/// The random numbers of all levels, ready to be used.
pub(crate) struct FourierMap {
    shape: Shape,
    channels: usize,
    levels: Vec<Level>,
}

/// The random numbers of a level.
struct Level {
    /// Frequencies in turns, channel by channel, with zeros up to whole lanes: `[channel][frequency / W]`.
    frequencies: Vec<Panel>,
    /// The projection, W rows at a time: `[rows / W][column]`, with zeros up to whole lanes.
    projection: Vec<Panel>,
}

/// W numbers.
type Panel = [f64; W];

fn padded(count: usize) -> usize {
    count.next_multiple_of(W)
}

impl FourierMap {
    /// Per level: the frequencies one after the other, then the rows of the projection, each with the factors of all
    /// cosines and of all sines.
    pub(crate) fn new(shape: Shape, channels: usize) -> Self {
        let mut normal = Normal::new(shape.seed);
        let (count, width) = (shape.frequencies(), padded(shape.frequencies()));
        let (unit, weight) = (1.0 / (std::f64::consts::TAU * shape.sigma), 1.0 / (count as f64).sqrt());
        let mut levels = Vec::with_capacity(shape.levels);
        for _ in 0..shape.levels {
            let mut frequencies = vec![Panel::default(); channels * width / W];
            for (at, number) in normal.by_ref().take(count * channels).enumerate() {
                let all = frequencies.as_flattened_mut();
                all[at % channels * width + at / channels] = unit * number;
            }
            let mut projection = Vec::new();
            if shape.form == Form::Tensor {
                projection.resize(padded(shape.features) / W * 2 * width, Panel::default());
                for (at, number) in normal.by_ref().take(shape.features * 2 * count).enumerate() {
                    let (row, column) = (at / (2 * count), at % (2 * count));
                    let column = column / count * width + column % count;
                    projection[row / W * 2 * width + column][row % W] = weight * number;
                }
            }
            levels.push(Level { frequencies, projection });
        }
        Self { shape, channels, levels }
    }
}

impl FeatureMap for FourierMap {
    fn blocks(&self, _channels: usize) -> Vec<usize> {
        (1..=self.shape.levels).map(|m| self.shape.form.components(m) * self.shape.features).collect()
    }

    fn most_bytes(&self) -> usize {
        1 << 30
    }

    fn fill(&self, set: &SeriesSet, which: Range<usize>, out: &mut [&mut [f64]], _exponents: &mut [f64]) {
        let (features, width) = (self.shape.features, padded(self.shape.features));
        let weight = 1.0 / (features as f64).sqrt();
        let mut memory = Memory::new(self);
        for (at, series) in which.enumerate() {
            memory.sums.fill(0.0);
            let values = set.series(series).values();
            let steps = values.len() / self.channels - 1;
            for first in (0..steps).step_by(STEPS) {
                let points = first * self.channels..(steps.min(first + STEPS) + 1) * self.channels;
                dispatch(Steps { map: self, points: &values[points], memory: &mut memory });
            }
            let mut sums = memory.sums.chunks_exact(width);
            for (m, block) in (1..).zip(out.iter_mut()) {
                let components = self.shape.form.components(m);
                let row = &mut block[at * components * features..(at + 1) * components * features];
                for (row, sums) in row.chunks_exact_mut(features).zip(sums.by_ref().take(components)) {
                    row.iter_mut().zip(sums).for_each(|(feature, sum)| *feature = weight * sum);
                }
            }
        }
    }
}

/// Steps that are worked on together: what they need stays in the second-level cache. A multiple of [`ROWS`].
const STEPS: usize = 10 * ROWS;

/// What features are made in.
struct Memory {
    /// Cosines and sines of some points at one level (`Diagonal`: at every level), then their increments.
    lifted: Vec<f64>,
    /// The projected increments of these steps at one level.
    projected: Vec<f64>,
    /// The sums of the level below, before each of these steps.
    below: Vec<f64>,
    /// The sums over all chains of steps so far: the features of all levels, with zeros up to whole lanes.
    sums: Vec<f64>,
}

impl Memory {
    fn new(map: &FourierMap) -> Self {
        let Shape { form, levels, features, .. } = map.shape;
        let width = padded(features);
        let lifted = 2 * padded(map.shape.frequencies()) * (STEPS + 1);
        let (lifted, steps) = match form {
            Form::Tensor => (lifted, STEPS * width),
            Form::Diagonal => (lifted * levels, 0),
        };
        let components: usize = (1..=levels).map(|m| map.shape.form.components(m)).sum();
        Self {
            lifted: vec![0.0; lifted],
            projected: vec![0.0; steps],
            below: vec![0.0; steps],
            sums: vec![0.0; components * width],
        }
    }
}

/// Some steps of a series: the points, one more than steps.
struct Steps<'a> {
    map: &'a FourierMap,
    points: &'a [f64],
    memory: &'a mut Memory,
}

impl Work for Steps<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { map, points, memory } = self;
        match map.shape.form {
            Form::Tensor => tensor::<I>(map, points, memory),
            Form::Diagonal => diagonal::<I>(map, points, memory),
        }
    }
}

/// Level m gains `u_m(t)` times the sums of level m-1 before step t, feature by feature.
#[inline(always)]
fn tensor<I: Isa>(map: &FourierMap, points: &[f64], memory: &mut Memory) {
    let (width, depth) = (padded(map.shape.features), 2 * padded(map.shape.frequencies()));
    let steps = points.len() / map.channels - 1;
    let Memory { lifted, projected, below, sums } = memory;
    below.fill(1.0);
    for (level, sums) in map.levels.iter().zip(sums.chunks_exact_mut(width)) {
        lift::<I>(level, points, map.channels, &mut lifted[..(steps + 1) * depth]);
        // Rows beyond the last are those of other steps: nobody looks at what they give.
        let rows = &lifted[..steps.next_multiple_of(ROWS) * depth];
        project::<I>(&level.projection, rows, depth, projected, width);
        for (u, below) in projected.chunks_exact(width).zip(below.chunks_exact_mut(width)).take(steps) {
            for ((sum, below), u) in sums.iter_mut().zip(below).zip(u) {
                let old = *sum;
                *sum = I::mul_add(*u, *below, old);
                *below = old;
            }
        }
    }
}

/// Level m gains the tensor product of level m-1 with the increment of the level's own frequency, copy by copy. From the
/// top: lower levels are still those before the step.
#[inline(always)]
fn diagonal<I: Isa>(map: &FourierMap, points: &[f64], memory: &mut Memory) {
    let width = padded(map.shape.features);
    let steps = points.len() / map.channels - 1;
    let each = 2 * width * (STEPS + 1);
    let Memory { lifted, sums, .. } = memory;
    for (level, lifted) in map.levels.iter().zip(lifted.chunks_exact_mut(each)) {
        lift::<I>(level, points, map.channels, &mut lifted[..(steps + 1) * 2 * width]);
    }
    for t in 0..steps {
        for m in (0..map.levels.len()).rev() {
            let increment = &lifted[m * each + t * 2 * width..][..2 * width];
            // Levels 1 to m have 2 + 4 + .. + 2^m = 2^(m+1) - 2 components; this one follows.
            let (lower, level) = sums.split_at_mut(((2 << m) - 2) * width);
            if m == 0 {
                for (sum, u) in level[..2 * width].iter_mut().zip(increment) {
                    *sum += u;
                }
                continue;
            }
            let below = &lower[((1 << m) - 2) * width..];
            let pairs = level[..(2 << m) * width].chunks_exact_mut(2 * width);
            for (sums, below) in pairs.zip(below.chunks_exact(width)) {
                for (sums, u) in sums.chunks_exact_mut(width).zip(increment.chunks_exact(width)) {
                    for ((sum, u), below) in sums.iter_mut().zip(u).zip(below) {
                        *sum = I::mul_add(*u, *below, *sum);
                    }
                }
            }
        }
    }
}

/// Increments of the lifted points: rows of all cosines and all sines. The last row is of no use.
#[inline(always)]
fn lift<I: Isa>(level: &Level, points: &[f64], channels: usize, out: &mut [f64]) {
    let panels = level.frequencies.len() / channels;
    let width = panels * W;
    for (point, row) in points.chunks_exact(channels).zip(out.chunks_exact_mut(2 * width)) {
        let (cosines, sines) = row.split_at_mut(width);
        let (cosines, sines) = (cosines.as_chunks_mut::<W>().0, sines.as_chunks_mut::<W>().0);
        for (at, (cosines, sines)) in cosines.iter_mut().zip(sines).enumerate() {
            let mut sums = [I::Register::splat(0.0); MOST_REGISTERS];
            for (value, frequencies) in point.iter().zip(level.frequencies.chunks_exact(panels)) {
                let (value, frequencies) = (I::Register::splat(*value), &frequencies[at]);
                for i in 0..W / I::Register::WIDTH {
                    sums[i] = value.mul_add(I::Register::load(frequencies, i), sums[i]);
                }
            }
            let mut turns = [0.0; W];
            for i in 0..W / I::Register::WIDTH {
                sums[i].store(&mut turns, i);
            }
            (*cosines, *sines) = cosine_and_sine::<I>(turns);
        }
    }
    let rows = out.len() / (2 * width);
    for row in 1..rows {
        let (before, after) = out[(row - 1) * 2 * width..].split_at_mut(2 * width);
        for (value, next) in before.iter_mut().zip(after) {
            *value = *next - *value;
        }
    }
}

/// Rows that are projected at a time: with two registers of sums each, two of the projection and one of the row they fill
/// the sixteen that there are.
const ROWS: usize = 6;

/// The projections of rows of `depth` numbers, in whole groups of rows. Each is one sum, term by term, whatever its company.
#[inline(always)]
fn project<I: Isa>(projection: &[Panel], rows: &[f64], depth: usize, out: &mut [f64], width: usize) {
    for (at, panel) in projection.chunks_exact(depth).enumerate() {
        for (rows, out) in rows.chunks_exact(ROWS * depth).zip(out.chunks_exact_mut(ROWS * width)) {
            project_rows::<I>(panel, rows, &mut out[at * W..], width);
        }
    }
}

#[inline(always)]
fn project_rows<I: Isa>(panel: &[Panel], rows: &[f64], out: &mut [f64], width: usize) {
    let depth = panel.len();
    let row = |r: usize| &rows[r * depth..(r + 1) * depth];
    let mut sums = [[I::Register::splat(0.0); MOST_REGISTERS]; ROWS];
    // Side by side: looked up by their index, the numbers would be checked one by one.
    let first = row(0).iter().zip(row(1)).zip(row(2));
    let second = row(3).iter().zip(row(4)).zip(row(5));
    for ((factors, ((a, b), c)), ((d, e), f)) in panel.iter().zip(first).zip(second) {
        let values = [*a, *b, *c, *d, *e, *f];
        for i in 0..W / I::Register::WIDTH {
            let factor = I::Register::load(factors, i);
            for r in 0..ROWS {
                sums[r][i] = I::Register::splat(values[r]).mul_add(factor, sums[r][i]);
            }
        }
    }
    for r in 0..ROWS {
        let out = &mut out[r * width..].as_chunks_mut::<W>().0[0];
        for i in 0..W / I::Register::WIDTH {
            sums[r][i].store(out, i);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::kernel::drive::vectors::Features;
    use crate::run::Run;

    fn features(shape: Shape, set: &SeriesSet) -> Vec<(usize, Vec<f64>)> {
        Features::of_set(&FourierMap::new(shape, set.channels()), set, &Run::sequential()).unwrap().blocks
    }

    /// The increments that every level works with, by the definition: `[level][step][frequency] -> (cosine, sine)` or, when
    /// projected, `[level][step][feature] -> (feature, unused)`.
    fn increments(shape: Shape, x: crate::data::Series<'_>) -> Vec<Vec<Vec<[f64; 2]>>> {
        let (channels, count) = (x.step(0).len(), shape.frequencies());
        let mut normal = Normal::new(shape.seed);
        let mut draw = |count: usize| normal.by_ref().take(count).collect::<Vec<f64>>();
        let level = |_| {
            let frequencies = draw(count * channels);
            let lifted = |t: usize| {
                let angle =
                    |w: &[f64]| w.iter().zip(x.step(t)).map(|(w, x)| w * x / shape.sigma).sum::<f64>();
                frequencies.chunks(channels).map(|w| [angle(w).cos(), angle(w).sin()]).collect::<Vec<_>>()
            };
            let change = |t: usize| {
                let (new, old) = (lifted(t), lifted(t - 1));
                new.iter().zip(&old).map(|(n, o)| [n[0] - o[0], n[1] - o[1]]).collect::<Vec<_>>()
            };
            let changes: Vec<Vec<[f64; 2]>> = (1..x.steps()).map(change).collect();
            if shape.form == Form::Diagonal {
                return changes;
            }
            let matrix = draw(shape.features * 2 * count);
            let project = |change: &Vec<[f64; 2]>| {
                let row = |p: &[f64]| {
                    let both = change.iter().enumerate().map(|(f, c)| p[f] * c[0] + p[count + f] * c[1]);
                    [both.sum::<f64>() / (count as f64).sqrt(), 0.0]
                };
                matrix.chunks(2 * count).map(row).collect()
            };
            changes.iter().map(project).collect()
        };
        (0..shape.levels).map(level).collect()
    }

    /// The sum over chains of steps from `first` on, of component `word` (one letter per level, the first level first).
    fn chains(all: &[Vec<Vec<[f64; 2]>>], first: usize, at: usize, word: &[usize]) -> f64 {
        let Some((letter, rest)) = word.split_first() else { return 1.0 };
        let steps = first..all[0].len();
        steps.map(|t| all[0][t][at][*letter] * chains(&all[1..], t + 1, at, rest)).sum()
    }

    #[test]
    fn features_equal_the_sums_over_chains() {
        for (form, count, channels, steps) in
            [(Form::Tensor, 5, 2, 9), (Form::Tensor, 17, 1, 4), (Form::Diagonal, 9, 3, 8)]
        {
            let shape = Shape { form, levels: 4, features: count, sigma: 1.7, seed: 5 };
            let values: Vec<f64> = Normal::new(1).take(3 * steps * channels).collect();
            let set = SeriesSet::from_equal(values, steps, channels).unwrap();
            let found = features(shape, &set);
            for i in 0..set.len() {
                let all = increments(shape, set.series(i));
                for (m, (depth, values)) in (1..).zip(&found) {
                    assert_eq!(*depth, shape.form.components(m) * count);
                    for (at, value) in values[i * depth..(i + 1) * depth].iter().enumerate() {
                        // Components are counted with the last level's letter changing fastest.
                        let letter = |p: usize| (at / count) >> (m - 1 - p) & 1;
                        let word: Vec<usize> = (0..m).map(letter).collect();
                        let expected = chains(&all, 0, at % count, &word) / (count as f64).sqrt();
                        assert!(
                            (value - expected).abs() < 1e-13,
                            "{form:?} {i} {m} {at}: {value} {expected}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn long_series_are_cut_without_a_seam_and_level_one_sees_the_ends() {
        for form in [Form::Tensor, Form::Diagonal] {
            let shape = Shape { form, levels: 3, features: 12, sigma: 2.0, seed: 1 };
            let values: Vec<f64> = Normal::new(2).take(2 * (3 * STEPS + 5)).collect();
            // A step that is no step: what is cut elsewhere must not change.
            let mut stalled = values[..2].to_vec();
            stalled.extend_from_slice(&values);
            let ends = [&values[..2], &values[values.len() - 2..]].concat();
            let mut set = SeriesSet::new(2).unwrap();
            [&values, &stalled, &ends].into_iter().for_each(|values| set.push(values).unwrap());
            let found = features(shape, &set);
            for (m, (depth, values)) in found.iter().enumerate() {
                for at in 0..*depth {
                    let size = 1e-13 * 10f64.powi(2 * m as i32);
                    assert!((values[at] - values[depth + at]).abs() < size, "{form:?} {m}");
                    if m == 0 {
                        assert!((values[at] - values[2 * depth + at]).abs() < 1e-13, "{form:?}");
                    }
                }
            }
        }
    }
}
