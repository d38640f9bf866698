//! Counting steps above bounds: a few bounds at a time, each with a counter in a register.

use crate::simd::{Isa, Register, W};

/// Bounds compared at a time: with a counter each and one of the values they fit the sixteen registers of AVX2.
const BOUNDS: usize = 6;

/// Numbers that a buffer of so many values takes for [`shares`].
pub(crate) fn room(count: usize) -> usize {
    count.next_multiple_of(W)
}

/// The share of the first `count` values, at least 1, that are above each bound. The buffer has [`room`] for them;
/// what comes after them is overwritten.
#[inline(always)]
pub(crate) fn shares<I: Isa>(values: &mut [f64], count: usize, bounds: &[f64], out: &mut [f64]) {
    // Numbers that no bound counts.
    values[count..room(count)].fill(f64::NEG_INFINITY);
    let cells = values[..room(count)].as_chunks::<W>().0;
    let (whole, mut at) = (count as f64, 0);
    while at < bounds.len() {
        let (bounds, out) = (&bounds[at..], &mut out[at..]);
        at += match bounds.len() {
            BOUNDS.. => some::<I, BOUNDS>(cells, bounds, whole, out),
            3.. => some::<I, 3>(cells, bounds, whole, out),
            _ => some::<I, 1>(cells, bounds, whole, out),
        };
    }
}

/// The same for the first B bounds; returns B.
#[inline(always)]
fn some<I: Isa, const B: usize>(cells: &[[f64; W]], bounds: &[f64], whole: f64, out: &mut [f64]) -> usize {
    let mut limits = [I::Register::splat(0.0); B];
    let mut counters = [I::Register::splat(0.0); B];
    for b in 0..B {
        limits[b] = I::Register::splat(bounds[b]);
    }
    for cell in cells {
        for q in 0..W / I::Register::WIDTH {
            let values = I::Register::load(cell, q);
            for b in 0..B {
                counters[b] = counters[b].count_above(values, limits[b]);
            }
        }
    }
    for b in 0..B {
        out[b] = counters[b].counted() / whole;
    }
    B
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Work, dispatch};

    struct Above<'a>(&'a mut [f64], usize, &'a [f64], &'a mut [f64]);

    impl Work for Above<'_> {
        #[inline(always)]
        fn run<I: Isa>(self) {
            shares::<I>(self.0, self.1, self.2, self.3);
        }
    }

    #[test]
    fn shares_are_those_of_a_naive_count_for_any_sizes() {
        for count in [1, 7, 8, 9, 31] {
            for number in [1, 2, 3, 5, 6, 7, 10, 20] {
                let values: Vec<f64> = (0..count).map(|i| f64::from((i * 5) % 7)).collect();
                let bounds: Vec<f64> = (0..number).map(|i| f64::from(i) * 0.5 - 1.0).collect();
                let mut buffer = values.clone();
                buffer.resize(room(values.len()), f64::NAN);
                let mut above = vec![0.0; bounds.len()];
                dispatch(Above(&mut buffer, values.len(), &bounds, &mut above));
                for (b, bound) in bounds.iter().enumerate() {
                    let naive = values.iter().filter(|v| *v > bound).count() as f64 / values.len() as f64;
                    assert_eq!(above[b], naive, "{count} {number} {b}");
                }
            }
        }
    }
}
