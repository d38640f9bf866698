//! How many coefficients the edges of a Goursat problem need: from the growth of its solution along rows and columns.
//!
//! Along a row, the n-th derivative of the solution is about `c^n / n!`, where c is the inner product of that increment with
//! what the other path has gone so far: a partial sum of z. An edge cut off after N coefficients therefore misses
//! about `c^N / (N!)^2` of the solution; so was it found over rough, smooth and jumping paths of 10 to 400 steps. Beyond a c
//! of [`CERTAIN`], and for paths that go back and forth by much more than they get on, that can be too little: there,
//! orders are raised until two agree.

use super::cells::Cells;
use super::columns::L;
use super::goursat::INVERSE_FACTORIALS;
use super::increments::{Increments, block_width, cells, split};
use super::lanes::{Four, Isa, Work, dispatch_registers};
use super::pairs::{Pairs, ROWS};

/// Numbers of coefficients to choose from.
pub(super) const ORDERS: [usize; 9] = [3, 4, 5, 6, 7, 8, 9, 10, 12];
/// Cells are halved along both sides at most so many times.
const MOST_HALVINGS: u32 = 3;
/// Beyond this growth no plan is of any use. Values are astronomical there, and what counts is that there is one.
const HOPELESS: f64 = 200.0;
/// Up to this growth the estimate is trusted.
pub(super) const CERTAIN: f64 = 1.0;
/// Errors were found to be up to a few times the estimate.
const SAFETY: f64 = 8.0;

/// The part of the largest value on the way that edges of so many coefficients miss.
pub(super) fn tail(growth: f64, order: usize, halvings: u32) -> f64 {
    let growth = growth * 0.5f64.powi(halvings as i32);
    SAFETY * growth.powi(order as i32) * INVERSE_FACTORIALS[order] * INVERSE_FACTORIALS[order]
}

/// Errors add up along both series: for smooth ones, the more the longer they are.
pub(super) fn spread(steps: usize) -> f64 {
    1.0 + steps as f64 / 16.0
}

/// The next more accurate way, if there is one that may be of use.
pub(super) fn stronger((order, halvings): (usize, u32), growth: f64) -> Option<(usize, u32)> {
    if growth > HOPELESS {
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
pub(super) fn plan(growth: f64, tolerance: f64) -> (usize, u32) {
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
    best.unwrap_or(if growth > HOPELESS { (most, 0) } else { (most, MOST_HALVINGS) })
}

/// The largest partial sum of z along any row or column, for every sigma and lane.
pub(super) fn growth(pairs: &mut Pairs<'_>, factors: Option<&[f64]>, scratch: &mut Cells) -> Vec<[f64; L]> {
    let sets = factors.map_or(1, <[f64]>::len);
    let mut largest = vec![[0.0; L]; sets];
    let (rows, columns) = cells(pairs, factors);
    if rows == 0 || columns == 0 {
        return largest;
    }
    let width = block_width::<L>(sets, pairs.x.channels, columns).min(columns);
    let sizes = [sets * width, sets * rows, Increments::<L>::scratch(factors, width, ROWS)];
    let [column_sums, row_sums, buffer] = split(scratch.take(sizes.iter().sum()), sizes);
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
                let z = increments.of_set(set);
                let columns = &mut column_sums[set * width..(set + 1) * width];
                for r in 0..count {
                    let z = &z[r * width..(r + 1) * width];
                    let row = &mut row_sums[set * rows + row + r];
                    dispatch_registers(AddRow { z, columns: &mut *columns, row, largest: &mut largest[set] });
                }
            }
        }
    }
    largest
}

/// Adds a row of z to the partial sums.
struct AddRow<'a> {
    z: &'a [[f64; L]],
    columns: &'a mut [[f64; L]],
    row: &'a mut [f64; L],
    largest: &'a mut [f64; L],
}

impl Work for AddRow<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        for at in 0..L / 4 {
            let row = &mut self.row.as_chunks_mut::<4>().0[at];
            let largest = &mut self.largest.as_chunks_mut::<4>().0[at];
            let (mut sum, mut most) = (I::Four::load(row), I::Four::load(largest));
            for (z, column) in self.z.iter().zip(&mut *self.columns) {
                let (z, column) =
                    (I::Four::load(&z.as_chunks::<4>().0[at]), &mut column.as_chunks_mut::<4>().0[at]);
                let down = I::Four::load(column).add(z);
                sum = sum.add(z);
                down.store(column);
                most = sum.abs().max(most).max(down.abs());
            }
            sum.store(row);
            most.store(largest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_is_the_cheapest_that_is_good_enough() {
        assert_eq!(plan(0.0, 1e-8), (3, 0));
        for (growth, tolerance) in [(0.01, 1e-8), (0.4, 1e-8), (3.0, 1e-12), (30.0, 1e-8), (100.0, 1e-3)] {
            let (order, halvings) = plan(growth, tolerance);
            assert!(tail(growth, order, halvings) <= tolerance, "{growth}");
            let fewer = ORDERS.iter().rev().find(|o| **o < order);
            assert!(fewer.is_none_or(|o| tail(growth, *o, halvings) > tolerance), "{growth}: {order}");
        }
        assert_eq!(plan(100.0, 1e-8), (12, MOST_HALVINGS));
        assert_eq!(plan(f64::INFINITY, 1e-8), (12, 0));
    }
}
