//! The randomised signature: a random controlled differential equation driven by the series.
//!
//! # Formula
//! `Z_t = Z_{t-1} + sum_i tanh(A_i Z_{t-1} + b_i) (x^i_t - x^i_{t-1})` in M dimensions, componentwise tanh,
//! `Z_0 = (1, ..., 1)`; the entries of the `A_i` are normal with the given variance, those of the `b_i` standard normal. The
//! features of a series are the last Z; the value is `<Z(x), Z(y)> / M`. Series may have any lengths.
//!
//! # Cost
//! `T M^2 d` multiply-adds per series, M per pair; memory for M numbers per series.
//!
//! # What it shares
//! The features of a series serve all its pairs; kernels of one seed share its random numbers.
//!
//! # Reference
//! C. Cuchiero, L. Gonon, L. Grigoryeva, J.-P. Ortega, J. Teichmann, Discrete-time signatures and randomness in reservoir
//! computing, 2021.
//!
//! # Example
//! ```
//! use varnorm::{Kernel, Run, SeriesSet, gram, kernel::random_signature};
//! let set = SeriesSet::from_equal(vec![0.0, 1.0, 2.0, 2.0, 2.0, 2.0], 3, 1).unwrap();
//! let features = random_signature(&set, 8, 0.1, 1, &Run::sequential()).unwrap();
//! // A series that does not move stays where it began.
//! assert_eq!(features.row(1), [1.0; 8]);
//! let kernel: Kernel = "sig_random:features=8,variance=0.1,seed=1".parse().unwrap();
//! let k = gram::gram(&kernel, &set, gram::Scaling::Raw, &Run::sequential()).unwrap();
//! assert!((k.matrix.get(0, 1) - features.row(0).iter().sum::<f64>() / 8.0).abs() < 1e-14);
//! ```

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::data::SeriesSet;
use crate::error::Result;
use crate::kernel::family::{Family, Shape};
use crate::kernel::features::{Embedded, FeatureVectors};
use crate::kernel::pass::{Pass, Passes, Sets, Tile, Values};
use crate::kernel::points::pack::{Columns, Of};
use crate::kernel::{KernelInfo, Parameter, ParameterInfo, ParameterRange};
use crate::linalg::matrix::Matrix;
use crate::random::Normal;
use crate::run::Run;
use crate::simd::L;
use crate::simd::{Isa, Register, Work, dispatch, tanh};

/// The randomised signature: the inner product of random features, divided by their number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SigRandom {
    /// Number of features.
    pub features: u32,
    /// Variance of the entries of the random matrices; `auto` is one over the number of features.
    pub variance: Parameter,
    /// Seed of the random matrices.
    pub seed: u64,
}

impl Default for SigRandom {
    fn default() -> Self {
        Self { features: 50, variance: Parameter::Auto, seed: 0 }
    }
}

/// More features would be a mistake: the matrices alone take `8 M^2` bytes per channel.
const FEATURES: ParameterInfo = ParameterInfo::whole(
    "features",
    ParameterRange::Between("", 1.0, 8192.0),
    "50",
    "number of random features",
);
const VARIANCE: ParameterInfo = ParameterInfo::number(
    "variance",
    ParameterRange::NonNegative(""),
    "auto",
    "variance of the entries of the random matrices; auto: 1 / features",
);
const SEED: ParameterInfo =
    ParameterInfo::whole("seed", ParameterRange::Any, "0", "seed of the random matrices");

impl Family for SigRandom {
    const INFO: KernelInfo = KernelInfo {
        name: "sig_random",
        words: "what random networks driven by both series end in (randomised signature)",
        formula: "<Z(x), Z(y)> / features, dZ = sum_i tanh(A_i Z + b_i) dx^i, A and b random",
        any_lengths: true,
        parameters: &[FEATURES, VARIANCE, SEED],
        example: "sig_random:features=8,variance=0.1,seed=0",
    };

    fn validate(&self) -> Result<()> {
        FEATURES.check(self.features).and(VARIANCE.check_given(self.variance))
    }

    fn resolve(&self, _corpus: &SeriesSet) -> Result<Self> {
        Ok(Self { variance: self.variance.or_else(|| 1.0 / f64::from(self.features)), ..*self })
    }

    /// Kernels of one seed share a walk.
    fn plan(&self, _channels: usize, passes: &mut Passes) -> Result<()> {
        let variance = self.variance.resolved("variance")?;
        let map = Map { features: self.features, variance, embedded: Embedded::default() };
        passes.join(
            |pass: &RandomPass| pass.seed == self.seed,
            || RandomPass { seed: self.seed, maps: Vec::new() },
            |pass| pass.maps.push(map),
        );
        Ok(())
    }

    fn cost(&self, shape: &Shape) -> f64 {
        let features = f64::from(self.features);
        // Drawing a number takes longer than multiplying by it.
        let flow = features * features * shape.channels * (shape.steps() + 10.0);
        flow + features * shape.pairs()
    }

    fn features(&self) -> Option<&dyn FeatureVectors> {
        Some(self)
    }
}

impl FeatureVectors for SigRandom {
    fn width(&self, _steps: usize, _channels: usize) -> usize {
        self.features as usize
    }

    fn vectors(&self, set: &SeriesSet, run: &Run) -> Result<Matrix> {
        let variance = self.variance.resolved("variance")?;
        let mut all = random_signature(set, self.features, variance, self.seed, run)?;
        let root = f64::from(self.features).sqrt();
        all.values_mut().iter_mut().for_each(|v| *v /= root);
        Ok(all)
    }
}

/// Groups of L series that go through the steps together, at most: a row of a matrix that is in the first-level cache
/// serves all of them. Large matrices come from far away, once per step.
const GROUPS: usize = 8;

/// The randomised signatures of all series, one row of `features` numbers each.
///
/// `variance` is that of the entries of the matrices. One seed means the same numbers on every machine.
pub fn random_signature(
    set: &SeriesSet,
    features: u32,
    variance: f64,
    seed: u64,
    run: &Run,
) -> Result<Matrix> {
    FEATURES.check(features).and(VARIANCE.check(variance))?;
    let field = Field::new(features as usize, variance, set.channels(), Normal::new(seed));
    flow(set, &field, run)
}

/// The features of all series under one field.
fn flow(set: &SeriesSet, field: &Field, run: &Run) -> Result<Matrix> {
    let width = field.features;
    let mut matrix = Matrix::zeros(set.len(), width);
    let groups = set.len().div_ceil(L).div_ceil(run.threads()).clamp(1, GROUPS);
    let tasks: Vec<(usize, &mut [f64])> =
        matrix.values_mut().chunks_mut(groups * L * width).enumerate().collect();
    run.for_each("features", tasks, |(task, out)| {
        let first = task * groups * L;
        let members: Vec<usize> = (first..first + out.len() / width).collect();
        let load = |members: &[usize]| {
            let mut columns = Columns::default();
            columns.load(set, members, Of::Increments);
            columns
        };
        let columns: Vec<Columns> = members.chunks(L).map(load).collect();
        dispatch(Flow { field, columns: &columns, out });
        Ok(())
    })?;
    Ok(matrix)
}

/// The random matrices and vectors: per channel, M rows of M + 1 numbers, the last being that of b.
struct Field {
    features: usize,
    channels: usize,
    rows: Vec<f64>,
}

impl Field {
    /// From standard normal numbers, of which it takes [`Field::size`].
    fn new(features: usize, variance: f64, channels: usize, normal: impl Iterator<Item = f64>) -> Self {
        let deviation = variance.sqrt();
        let scaled = |(at, number)| if at % (features + 1) == features { number } else { deviation * number };
        let rows = normal.take(Self::size(features, channels)).enumerate().map(scaled).collect();
        Self { features, channels, rows }
    }

    fn size(features: usize, channels: usize) -> usize {
        channels * features * (features + 1)
    }
}

/// The features of groups of up to L series, each packed side by side as increments.
struct Flow<'a> {
    field: &'a Field,
    columns: &'a [Columns],
    out: &'a mut [f64],
}

impl Work for Flow<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { field, columns, out } = self;
        let features = field.features;
        let mut states = vec![[1.0; L]; features * columns.len()];
        let mut changes = vec![[0.0; L]; features * columns.len()];
        // `A_i Z + b_i` of one channel. The tanh has a loop of its own: in one with the sums, half of those were
        // compiled without lanes.
        let mut sums = vec![[0.0; L]; features];
        let mut steps = 0;
        for group in columns {
            steps = steps.max(group.steps);
        }
        for t in 0..steps {
            changes.fill([0.0; L]);
            for channel in 0..field.channels {
                let rows = &field.rows[channel * features * (features + 1)..];
                // Group after group: a group's state stays in the first-level cache while the rows, which are next
                // to it, pass by; the other way round the states of all groups would have to.
                for (group, columns) in columns.iter().enumerate() {
                    // A group that has ended does not move any more.
                    if t < columns.steps {
                        let which = group * features..(group + 1) * features;
                        multiply::<I>(rows, &states[which.clone()], &mut sums);
                        add_change::<I>(&sums, &columns.step(t)[channel], &mut changes[which]);
                    }
                }
            }
            for (z, dz) in states.iter_mut().zip(&changes) {
                for lane in 0..L {
                    z[lane] += dz[lane];
                }
            }
        }
        for (series, out) in out.chunks_exact_mut(features).enumerate() {
            let state = &states[series / L * features..(series / L + 1) * features];
            for (o, z) in out.iter_mut().zip(state) {
                *o = z[series % L];
            }
        }
    }
}

/// Rows of a matrix that are multiplied at a time: with four registers of sums each, a factor each and one of the state
/// they fill the sixteen of AVX2. With AVX-512 there are more, and they are wider.
const ROWS: usize = 3;
const MANY_ROWS: usize = 6;
/// Registers that L lanes take, at most.
const QUARTERS: usize = L / 4;

/// `A Z + b`, a few rows at a time: each value of the state that is loaded serves all of them.
#[inline(always)]
fn multiply<I: Isa>(rows: &[f64], state: &[[f64; L]], sums: &mut [[f64; L]]) {
    let features = state.len();
    let mut j = 0;
    while j < features {
        let (rows, sums) = (&rows[j * (features + 1)..], &mut sums[j..]);
        if I::Register::WIDTH > 4 && sums.len() >= MANY_ROWS {
            multiply_rows::<I, MANY_ROWS>(rows, state, sums);
            j += MANY_ROWS;
        } else if sums.len() >= ROWS {
            multiply_rows::<I, ROWS>(rows, state, sums);
            j += ROWS;
        } else {
            multiply_rows::<I, 1>(rows, state, sums);
            j += 1;
        }
    }
}

/// `a_j Z + b_j` for R rows.
#[inline(always)]
fn multiply_rows<I: Isa, const R: usize>(rows: &[f64], state: &[[f64; L]], out: &mut [[f64; L]]) {
    let width = state.len() + 1;
    let mut sums = [[I::Register::splat(0.0); QUARTERS]; R];
    for r in 0..R {
        sums[r] = [I::Register::splat(rows[r * width + state.len()]); QUARTERS];
    }
    let rows: [&[f64]; R] = std::array::from_fn(|r| &rows[r * width..r * width + state.len()]);
    for (k, z) in state.iter().enumerate() {
        let mut factors = [I::Register::splat(0.0); R];
        for r in 0..R {
            factors[r] = I::Register::splat(rows[r][k]);
        }
        for q in 0..L / I::Register::WIDTH {
            let z = I::Register::load(z, q);
            for r in 0..R {
                sums[r][q] = factors[r].mul_add(z, sums[r][q]);
            }
        }
    }
    for (out, sums) in out.iter_mut().zip(&sums) {
        for q in 0..L / I::Register::WIDTH {
            sums[q].store(out, q);
        }
    }
}

/// Adds `tanh(sum) dx` to every component of the change.
#[inline(always)]
fn add_change<I: Isa>(sums: &[[f64; L]], dx: &[f64; L], changes: &mut [[f64; L]]) {
    for (change, sum) in changes.iter_mut().zip(sums) {
        for lane in 0..L {
            change[lane] = I::mul_add(tanh::<I>(sum[lane]), dx[lane], change[lane]);
        }
    }
}

/// The walk of randomised signatures of one seed: inner products of features, which [`prepare`](Pass::prepare) makes from
/// one run of random numbers.
struct RandomPass {
    seed: u64,
    maps: Vec<Map>,
}

/// One kernel of the pass.
struct Map {
    features: u32,
    variance: f64,
    embedded: Embedded,
}

impl Pass for RandomPass {
    fn prepare(&mut self, sets: Sets<'_>, run: &Run) -> Result<()> {
        let channels = sets.rows().channels();
        // Every field begins with the same numbers of the seed. A single one need not keep them.
        let most =
            self.maps.iter().map(|map| Field::size(map.features as usize, channels)).max().unwrap_or(0);
        let shared = if self.maps.len() > 1 { most } else { 0 };
        let numbers: Vec<f64> = Normal::new(self.seed).take(shared).collect();
        for map in &mut self.maps {
            let features = map.features as usize;
            let field = match shared {
                0 => Field::new(features, map.variance, channels, Normal::new(self.seed)),
                _ => Field::new(features, map.variance, channels, numbers.iter().copied()),
            };
            map.embedded = Embedded::new(sets, |set| flow(set, &field, run))?;
        }
        Ok(())
    }

    fn kept(&self) -> usize {
        self.maps.len()
    }

    fn walk(&self, tile: &Tile<'_>, kept: &mut [f64]) -> Result<()> {
        for (map, plane) in self.maps.iter().zip(kept.chunks_exact_mut(tile.pairs())) {
            map.embedded.walk(tile, plane);
        }
        Ok(())
    }

    fn walk_diagonal(&self, _set: &SeriesSet, which: Range<usize>, kept: &mut [f64]) -> Result<()> {
        for (map, plane) in self.maps.iter().zip(kept.chunks_exact_mut(which.len())) {
            map.embedded.walk_diagonal(which.clone(), plane);
        }
        Ok(())
    }

    fn finish(&self, which: usize, kept: &[f64], out: &mut Values<'_>) {
        let features = f64::from(self.maps[which].features);
        let pairs = out.mantissas.len();
        for (o, product) in out.mantissas.iter_mut().zip(&kept[which * pairs..(which + 1) * pairs]) {
            *o = product / features;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_are_scaled_and_vectors_are_not() {
        let field = Field::new(2, 4.0, 1, Normal::new(7));
        assert_eq!(field.rows.len(), 6);
        let plain: Vec<f64> = Normal::new(7).take(6).collect();
        assert_eq!(field.rows[0], 2.0 * plain[0]);
        assert_eq!(field.rows[2], plain[2]);
    }

    #[test]
    fn queries_of_an_empty_corpus_have_self_values() {
        let queries = SeriesSet::from_equal(vec![0.0, 1.0, 3.0], 3, 1).unwrap();
        let kernel: crate::Kernel = "sig_random:features=4,variance=0.1".parse().unwrap();
        let (scaling, run) = (crate::gram::Scaling::Normalized, Run::sequential());
        let empty = SeriesSet::new(1).unwrap();
        let found = crate::gram::cross(&kernel, &queries, &empty, &[], scaling, &run).unwrap();
        assert_eq!((found.self_values, found.matrix.columns()), (vec![1.0], 0));
    }

    #[test]
    fn features_equal_the_naive_recursion() {
        let (steps, channels, features) = (7, 3, 5);
        let values: Vec<f64> = Normal::new(3).take(19 * steps * channels).collect();
        let set = SeriesSet::from_equal(values, steps, channels).unwrap();
        let found = random_signature(&set, features as u32, 0.3, 11, &Run::sequential()).unwrap();
        let field = Field::new(features, 0.3, channels, Normal::new(11));
        for i in 0..set.len() {
            let x = set.series(i);
            let mut z = vec![1.0; features];
            for t in 1..steps {
                let mut next = z.clone();
                for c in 0..channels {
                    for j in 0..features {
                        let row = &field.rows[(c * features + j) * (features + 1)..][..features + 1];
                        let sum: f64 = row[features] + z.iter().zip(row).map(|(z, a)| z * a).sum::<f64>();
                        next[j] += sum.tanh() * (x.step(t)[c] - x.step(t - 1)[c]);
                    }
                }
                z = next;
            }
            for (f, e) in found.row(i).iter().zip(&z) {
                assert!((f - e).abs() < 1e-13, "{i}: {f} {e}");
            }
        }
    }
}
