//! Shares of products at or below evenly spaced thresholds: a histogram by arithmetic, then its cumulated counts.

use crate::simd::{Isa, W};

/// Histograms that take turns, so that equal neighbours do not wait for each other.
const TURNS: usize = 4;
/// A whole number below `2^32` added to it is in the lowest bits of the sum.
const WHOLE: f64 = (1u64 << 52) as f64;

/// Evenly spaced thresholds: threshold k is where `(product - lowest) * factor` is k.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    lowest: f64,
    factor: f64,
}

impl Scale {
    /// So many thresholds over a range with its ends; its middle if it is one.
    pub(super) fn new([low, high]: [f64; 2], count: usize) -> Self {
        // Where all thresholds are one, whatever is above it is above all of them.
        if count == 1 {
            return Self { lowest: low + (high - low) * 0.5, factor: f64::MAX };
        }
        let factor = (count - 1) as f64 / (high - low);
        Self { lowest: low, factor: factor.min(f64::MAX) }
    }

    /// The first threshold that is not below a product, as a whole number; `count` where there is none.
    #[inline(always)]
    fn place(self, product: f64, count: f64) -> f64 {
        let place = (product - self.lowest) * self.factor;
        // Written so that each line is one instruction.
        let place = if place > 0.0 { place } else { 0.0 };
        let place = if place < count { place } else { count };
        place.ceil()
    }
}

/// Counts of a histogram, kept from one direction to the next.
#[derive(Default)]
pub(super) struct Counts(Vec<u32>);

impl Counts {
    /// The share of products, at least one, at or below each threshold.
    #[inline(always)]
    pub(super) fn shares<I: Isa>(&mut self, products: &[f64], scale: Scale, out: &mut [f64]) {
        let (bins, count) = (out.len() + 1, out.len() as f64);
        self.0.clear();
        self.0.resize(bins * TURNS, 0);
        let (cells, rest) = products.as_chunks::<W>();
        for cell in cells {
            let mut places = [0u64; W];
            for lane in 0..W {
                places[lane] = (scale.place(cell[lane], count) + WHOLE).to_bits();
            }
            for lane in 0..W {
                self.0[(places[lane] as u32 as usize) * TURNS + lane % TURNS] += 1;
            }
        }
        for product in rest {
            self.0[scale.place(*product, count) as usize * TURNS] += 1;
        }
        let (mut sum, whole) = (0, products.len() as f64);
        for (out, counts) in out.iter_mut().zip(self.0.as_chunks::<TURNS>().0) {
            sum += counts.iter().sum::<u32>();
            *out = f64::from(sum) / whole;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Work, dispatch};

    struct Shares<'a>(&'a [f64], Scale, &'a mut [f64]);

    impl Work for Shares<'_> {
        #[inline(always)]
        fn run<I: Isa>(self) {
            Counts::default().shares::<I>(self.0, self.1, self.2);
        }
    }

    fn shares(products: &[f64], range: [f64; 2], count: usize) -> Vec<f64> {
        let mut out = vec![0.0; count];
        dispatch(Shares(products, Scale::new(range, count), &mut out));
        out
    }

    #[test]
    fn products_at_a_threshold_are_not_above_it() {
        let products: Vec<f64> = (0..21).map(|i| f64::from(i % 7) - 1.0).collect();
        assert_eq!(shares(&products, [0.0, 4.0], 5), [2, 3, 4, 5, 6].map(|n| f64::from(n) / 7.0));
        assert_eq!(shares(&products, [0.0, 4.0], 1), [4.0 / 7.0]);
        assert_eq!(shares(&products, [3.0, 3.0], 3), [5.0 / 7.0; 3]);
        assert_eq!(shares(&[2.0], [3.0, 3.0], 2), [1.0; 2]);
    }

    #[test]
    fn products_without_bounds_have_a_place() {
        let wild = [f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 0.5, 0.0, f64::MIN_POSITIVE, 2.0, 7.0];
        assert_eq!(shares(&wild, [0.0, 1.0], 2), [3.0 / 9.0, 5.0 / 9.0]);
        assert_eq!(shares(&wild, [0.0, 0.0], 2), [3.0 / 9.0; 2]);
        assert_eq!(shares(&wild, [0.0, 5e-324], 2)[0], 3.0 / 9.0);
    }
}
