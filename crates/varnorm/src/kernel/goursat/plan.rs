//! How many coefficients the edges of a Goursat problem need: from the growth of its solution along rows and columns.
//!
//! Along a row, the n-th derivative of the solution is about `c^n / n!`, where c is the inner product of that increment with
//! what the other path has gone so far: a partial sum of z. An edge cut off after N coefficients therefore misses
//! about `c^N / (N!)^2` of the solution. These errors add up: those of smooth paths over all rows and columns with partial sums
//! like the largest, those of paths that go back and forth over all cells with z like it. So the error is at most about
//! `w c^N / (N!)^2` of the largest value on the way, with c the largest partial sum and
//! `w = sum over rows and columns (their largest / c)^4 + sum over cells (z / c)^2 + a tenth of their number of rows and columns`,
//! times what [`safety`] says: `edges_miss_at_most_what_is_estimated` holds pairs of rough, smooth, jumping, oscillating,
//! straight, zigzag and spiky paths to it. Beyond a c of [`CERTAIN`] orders are raised until two agree.

use crate::kernel::goursat::sweeps::INVERSE_FACTORIALS;
use crate::kernel::points::increments::{Increments, block_width, cells, own_cells, split};
use crate::kernel::points::window::{Pairs, ROWS};
use crate::simd::L;
use crate::simd::aligned::Cells;
use crate::simd::{Isa, Register, Work, dispatch};

/// Numbers of coefficients to choose from.
pub(crate) const ORDERS: [usize; 9] = [3, 4, 5, 6, 7, 8, 9, 10, 12];
/// Cells are halved along both sides at most so many times.
const MOST_HALVINGS: u32 = 3;
/// Beyond this growth no plan is of any use. Values are astronomical there, and what counts is that there is one.
const HOPELESS: f64 = 200.0;
/// Up to this growth the estimate is trusted.
pub(crate) const CERTAIN: f64 = 1.0;
/// Not worth a second walk for so much.
pub(crate) const SLACK: f64 = 2.0;

/// How much an estimate is multiplied by: errors were found to be up to 1.5 times it with up to [`PLAIN_ORDER`] coefficients, and
/// up to 1.7 times more for each one more (spiky paths with smooth ones); a plan may be kept that is [`SLACK`] times too weak.
fn safety(order: usize) -> f64 {
    1.5 * SLACK * 1.7f64.powi(order.saturating_sub(PLAIN_ORDER) as i32)
}

const PLAIN_ORDER: usize = 5;

/// How the solution of a pair grows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// The largest partial sum of z along a row or a column.
    pub(crate) largest: f64,
    /// How often it counts.
    pub(crate) weight: f64,
}

impl Growth {
    /// That of the same paths with a scale.
    pub(crate) fn times(self, scale: f64) -> Self {
        Self { largest: self.largest * scale, ..self }
    }
}

/// The part of the largest value on the way that edges of so many coefficients miss.
pub(crate) fn tail(growth: Growth, order: usize, halvings: u32) -> f64 {
    let half = 0.5f64.powi(halvings as i32);
    let weight = safety(order) * growth.weight / half;
    weight
        * (growth.largest * half).powi(order as i32)
        * INVERSE_FACTORIALS[order]
        * INVERSE_FACTORIALS[order]
}

/// The next more accurate way, if there is one that may be of use.
pub(crate) fn stronger((order, halvings): (usize, u32), growth: Growth) -> Option<(usize, u32)> {
    if growth.largest > HOPELESS {
        return None;
    }
    match ORDERS.iter().find(|o| **o > order + 1) {
        Some(order) => Some((*order, halvings)),
        None if halvings < MOST_HALVINGS => Some((8, halvings + 1)),
        None => None,
    }
}

/// The cheapest number of coefficients, and of halvings of every cell, with an error below the tolerance; the most
/// accurate one where none is.
pub(crate) fn plan(growth: Growth, tolerance: f64) -> (usize, u32) {
    let cost = |order: usize, halvings: u32| (order * order) << (2 * halvings);
    let most = ORDERS[ORDERS.len() - 1];
    let mut best = None;
    for halvings in 0..=MOST_HALVINGS {
        let enough = ORDERS.iter().copied().find(|order| tail(growth, *order, halvings) <= tolerance);
        if let Some(order) = enough
            && best.is_none_or(|(o, h)| cost(order, halvings) < cost(o, h))
        {
            best = Some((order, halvings));
        }
        // Halving pays only while many coefficients are needed.
        if enough.is_some_and(|order| order <= 2 * ORDERS[0]) {
            break;
        }
    }
    best.unwrap_or(if growth.largest > HOPELESS { (most, 0) } else { (most, MOST_HALVINGS) })
}

/// The growth of every lane under every sigma: a cell of the largest, and one of weights.
pub(crate) fn growth(
    pairs: &mut Pairs<'_>,
    factors: Option<&[f64]>,
    scratch: &mut Cells,
) -> Vec<[[f64; L]; 2]> {
    let sets = factors.map_or(1, <[f64]>::len);
    let (rows, columns) = cells(pairs, factors);
    if rows == 0 || columns == 0 {
        return vec![[[0.0; L], [1.0; L]]; sets];
    }
    let width = block_width::<L>(2 * sets, pairs, columns, factors).min(columns);
    let sizes =
        [sets * width, sets * columns, sets * rows * PER_ROW, Increments::<L>::scratch(factors, width, ROWS)];
    let [column_sums, column_most, row_sums, buffer] = split(scratch.take(sizes.iter().sum()), sizes);
    column_most.fill([0.0; L]);
    row_sums.fill([0.0; L]);
    let mut increments = Increments::new(factors, 0, [1.0; L], width, ROWS, buffer);
    for start in (0..columns).step_by(width) {
        column_sums.fill([0.0; L]);
        let width = width.min(columns - start);
        increments.begin(pairs, start..start + width);
        for row in (0..rows).step_by(ROWS) {
            let count = ROWS.min(rows - row);
            increments.advance(pairs, row, count);
            for set in 0..sets {
                let z = increments.of_set(pairs, set);
                let sums = &mut column_sums[set * width..(set + 1) * width];
                let most = &mut column_most[set * columns + start..][..width];
                for (r, z) in z.chunks_exact(width).enumerate() {
                    let row = &mut row_sums.as_chunks_mut::<PER_ROW>().0[set * rows + row + r];
                    dispatch(AddRow { z, sums: &mut *sums, most: &mut *most, row });
                }
            }
        }
    }
    let own = own_cells(pairs, factors);
    let of_set = |set: usize| {
        let row_sums = &row_sums.as_chunks::<PER_ROW>().0[set * rows..(set + 1) * rows];
        weigh(&column_most[set * columns..(set + 1) * columns], row_sums, &own)
    };
    (0..sets).map(of_set).collect()
}

/// Cells per row: the sum of z so far, the largest, the sum of squares.
const PER_ROW: usize = 3;

/// Largest sums whose squares an `f64` holds with room to spare.
const PLAIN: std::ops::Range<f64> = 1e-100..1e100;

/// The largest of all, and their weights, for pairs of so many rows and columns. What a lane's own cells are followed by adds
/// zeros, so that it does not depend on its company.
fn weigh(columns: &[[f64; L]], rows: &[[[f64; L]; PER_ROW]], own: &[[usize; 2]; L]) -> [[f64; L]; 2] {
    let (mut largest, mut weights) = ([0.0f64; L], [0.0; L]);
    for most in columns.iter().chain(rows.iter().map(|[_, most, _]| most)) {
        for lane in 0..L {
            largest[lane] = largest[lane].max(most[lane]);
        }
    }
    let inverse = largest.map(|largest| if PLAIN.contains(&largest) { 1.0 / largest } else { 0.0 });
    for most in columns.iter().chain(rows.iter().map(|[_, most, _]| most)) {
        for lane in 0..L {
            weights[lane] += (most[lane] * inverse[lane]).powi(4);
        }
    }
    for [_, _, squares] in rows {
        for lane in 0..L {
            weights[lane] += squares[lane] * inverse[lane] * inverse[lane];
        }
    }
    for lane in 0..L {
        let [height, width] = own[lane].map(|count| count as f64);
        if !PLAIN.contains(&largest[lane]) {
            // The most that it can be: no z is above twice the largest sum.
            weights[lane] = height + width + 4.0 * height * width;
        }
        weights[lane] += 0.1 * (height + width);
    }
    [largest, weights]
}

/// Adds a row of z to the partial sums.
struct AddRow<'a> {
    z: &'a [[f64; L]],
    sums: &'a mut [[f64; L]],
    most: &'a mut [[f64; L]],
    row: &'a mut [[f64; L]; PER_ROW],
}

impl Work for AddRow<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { z, sums, most, row } = self;
        let load = I::Register::load::<L>;
        for at in 0..L / I::Register::WIDTH {
            let [mut sum, mut largest, mut squares] =
                [load(&row[0], at), load(&row[1], at), load(&row[2], at)];
            for ((z, column), most) in z.iter().zip(&mut *sums).zip(&mut *most) {
                let z = load(z, at);
                let down = load(column, at).add(z);
                down.store(column, at);
                down.abs().max(load(most, at)).store(most, at);
                sum = sum.add(z);
                largest = sum.abs().max(largest);
                squares = z.mul_add(z, squares);
            }
            sum.store(&mut row[0], at);
            largest.store(&mut row[1], at);
            squares.store(&mut row[2], at);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::data::SeriesSet;
    use crate::kernel::goursat::search::{Job, Way, solve};
    use crate::kernel::points::pack::Of;
    use crate::random::Normal;

    #[test]
    fn the_plan_is_the_cheapest_that_is_good_enough() {
        let growth = |largest| Growth { largest, weight: 10.0 };
        assert_eq!(plan(growth(0.0), 1e-8), (3, 0));
        for (largest, tolerance) in [(0.01, 1e-8), (0.4, 1e-8), (3.0, 1e-12), (10.0, 1e-6), (30.0, 1e-3)] {
            let growth = growth(largest);
            let (order, halvings) = plan(growth, tolerance);
            assert!(tail(growth, order, halvings) <= tolerance, "{largest}");
            let fewer = ORDERS.iter().rev().find(|o| **o < order);
            assert!(fewer.is_none_or(|o| tail(growth, *o, halvings) > tolerance), "{largest}: {order}");
        }
        assert_eq!(plan(growth(100.0), 1e-8), (12, MOST_HALVINGS));
        assert_eq!(plan(growth(f64::INFINITY), 1e-8), (12, 0));
    }

    /// Rough, smooth, jumping, oscillating, straight, zigzag, spiky and widening paths.
    pub(in crate::kernel) fn paths(kind: usize, count: usize, steps: usize, channels: usize) -> SeriesSet {
        let mut numbers = Normal::new(14 + kind as u64);
        let mut next = || numbers.next().unwrap();
        let mut values = Vec::new();
        for _ in 0..count {
            let (speed, phase) = (1.0 + 3.0 * next().abs(), 6.0 * next());
            let (mut point, mut last) = (vec![0.0; channels], vec![0.0; channels]);
            for t in 0..steps {
                for c in 0..channels {
                    let turn = phase + c as f64 + speed * std::f64::consts::TAU * t as f64 / steps as f64;
                    let step = match kind {
                        0 => next(),
                        1 => turn.cos() * (1.0 + c as f64),
                        2 => next() * if next() > 1.3 { 3.0 } else { 0.1 },
                        3 => next() - 0.9 * last[c],
                        4 => 1.0 + 0.01 * next(),
                        5 => 0.02 * next() + if t % 2 == 0 { 1.0 } else { -1.0 },
                        6 => [0.3 * next(), 10.0, -10.0][[0, 1, 2][(t % 17).saturating_sub(14)]],
                        _ => (t as f64 + 1.0) * if t % 2 == 0 { 1.0 } else { -0.9 },
                    };
                    (point[c], last[c]) = (point[c] + step, step);
                }
                values.extend_from_slice(&point);
            }
        }
        SeriesSet::from_equal(values, steps, channels).unwrap()
    }

    #[test]
    fn edges_miss_at_most_what_is_estimated() {
        let (mut seen, mut worst) = (0, 0.0f64);
        for (steps, channels) in [(4, 1), (12, 2), (70, 3), (200, 5)] {
            for kinds in 0..64 {
                let mut set = paths(kinds / 8, 1, steps, channels);
                set.extend(&paths(kinds % 8, L, steps, channels)).unwrap();
                let mut pairs = Pairs::new(&set, &set, Of::Increments);
                pairs.set(&[0; L], &(1..=L).collect::<Vec<_>>());
                let mut scratch = Cells::default();
                let [largest, weights] = growth(&mut pairs, None, &mut scratch)[0];
                for wanted in [0.1, 0.5] {
                    let factor = wanted / largest[0];
                    let job = |order, halvings: u32| {
                        let (way, lanes) = (Way::Edges(order, halvings), [true; L]);
                        Job {
                            kernel: 0,
                            set: 0,
                            scale: factor,
                            way,
                            tolerance: 0.0,
                            lanes,
                            wide: false,
                            again: false,
                        }
                    };
                    let orders = [3, 4, 5, 6, 7, 8];
                    let jobs: Vec<Job> =
                        orders.iter().map(|order| job(*order, 0)).chain([job(12, 1)]).collect();
                    let found = solve(&jobs, &mut pairs, None, &mut scratch);
                    let exact = &found[orders.len()];
                    for lane in 0..L {
                        let growth = Growth { largest: factor * largest[lane], weight: weights[lane] };
                        let size = exact.largest[lane].exp2();
                        for (order, found) in orders.iter().zip(&found) {
                            let error = (found.mantissas[lane] - exact.mantissas[lane]).abs() / size;
                            // Rounding adds up over all cells.
                            if growth.largest > CERTAIN || error < 1e-11 {
                                continue;
                            }
                            worst = worst.max(error / tail(growth, *order, 0));
                            seen += 1;
                            assert!(
                                error <= tail(growth, *order, 0) / SLACK,
                                "{kinds} {steps} {order}: {error:e} {growth:?}"
                            );
                        }
                    }
                }
            }
        }
        println!("{seen} errors of up to {worst:.2} times the estimate with its safety");
        assert!(seen > 10_000);
    }
}
