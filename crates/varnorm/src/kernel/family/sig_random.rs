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

use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::kernel::pass::{Pass, Sets, Tile, Values};
use crate::kernel::points::pack::{Columns, Of};
use crate::linalg::matrix::Matrix;
use crate::linalg::product::{Vectors, inner_products_of, squares};
use crate::random::Normal;
use crate::run::Run;
use crate::simd::L;
use crate::simd::{Isa, Register, Work, dispatch, tanh};

/// More features than this would be a mistake: the matrices alone take `8 M^2` bytes per channel.
pub(crate) const MOST_FEATURES: u32 = 8192;

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
    validate(features, variance)?;
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

/// An error if either is outside its domain.
pub(crate) fn validate(features: u32, variance: f64) -> Result<()> {
    if !(1..=MOST_FEATURES).contains(&features) {
        return Err(Error::bad_param("features", features, format!("must be from 1 to {MOST_FEATURES}")));
    }
    if !(variance >= 0.0 && variance.is_finite()) {
        return Err(Error::bad_param("variance", variance, "must be zero, a positive number or auto"));
    }
    Ok(())
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
pub(crate) struct RandomPass {
    seed: u64,
    serves: Vec<usize>,
    maps: Vec<Map>,
}

/// One kernel of the pass.
struct Map {
    features: u32,
    variance: f64,
    rows: Matrix,
    /// Absent where rows and columns are of one set.
    columns: Option<Matrix>,
}

/// Adds a kernel to the pass of its seed.
pub(crate) fn add(passes: &mut Vec<RandomPass>, index: usize, features: u32, variance: f64, seed: u64) {
    let at = passes.iter().position(|pass| pass.seed == seed).unwrap_or(passes.len());
    if at == passes.len() {
        passes.push(RandomPass { seed, serves: Vec::new(), maps: Vec::new() });
    }
    passes[at].serves.push(index);
    passes[at].maps.push(Map { features, variance, rows: Matrix::zeros(0, 0), columns: None });
}

impl Pass for RandomPass {
    fn serves(&self) -> &[usize] {
        &self.serves
    }

    fn check(&self, _sets: Sets<'_>) -> Result<()> {
        Ok(())
    }

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
            map.rows = flow(sets.rows(), &field, run)?;
            map.columns = if sets.are_one() { None } else { Some(flow(sets.columns(), &field, run)?) };
        }
        Ok(())
    }

    fn kept(&self) -> usize {
        self.maps.len()
    }

    fn walk(&self, tile: &Tile<'_>, kept: &mut [f64]) -> Result<()> {
        for (map, plane) in self.maps.iter().zip(kept.chunks_exact_mut(tile.pairs())) {
            let depth = map.features as usize;
            let columns = map.columns.as_ref().unwrap_or(&map.rows);
            let rows = &map.rows.values()[tile.rows.start * depth..tile.rows.end * depth];
            let columns = &columns.values()[tile.columns.start * depth..tile.columns.end * depth];
            let (rows, columns) = (Vectors::new(rows, depth), Vectors::new(columns, depth));
            inner_products_of(rows, columns, tile.wanted(0, 0), plane, tile.columns.len());
        }
        Ok(())
    }

    /// Features of the rows with themselves: the columns may be of another set.
    fn walk_diagonal(&self, _set: &SeriesSet, which: Range<usize>, kept: &mut [f64]) -> Result<()> {
        for (map, plane) in self.maps.iter().zip(kept.chunks_exact_mut(which.len())) {
            for (cell, at) in plane.iter_mut().zip(which.clone()) {
                let row = map.rows.row(at);
                squares(Vectors::new(row, row.len()), std::slice::from_mut(cell));
            }
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
