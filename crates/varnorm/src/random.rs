//! Random numbers and shuffles of a seed: the same on every machine, for ever.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Standard normal numbers by Marsaglia's polar method: only `+ - * / sqrt`, which every machine rounds alike.
pub(crate) struct Normal {
    generator: ChaCha8Rng,
    spare: Option<f64>,
}

impl Normal {
    pub(crate) fn new(seed: u64) -> Self {
        Self { generator: ChaCha8Rng::seed_from_u64(seed), spare: None }
    }

    /// Uniform in [-1, 1).
    fn uniform(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

impl Iterator for Normal {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        if self.spare.is_some() {
            return self.spare.take();
        }
        loop {
            let (u, v) = (self.uniform(), self.uniform());
            let square = u * u + v * v;
            if square < 1.0 && square > 0.0 {
                let factor = (-2.0 * logarithm(square) / square).sqrt();
                self.spare = Some(v * factor);
                return Some(u * factor);
            }
        }
    }
}

/// Uniform choices.
pub(crate) struct Uniform(ChaCha8Rng);

impl Uniform {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// One of `0..n`; 0 where there is none.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % (n as u64).max(1)) as usize
    }

    /// The whole part of `(most + 1)^u` for a uniform u in [0, 1): from 1 to `most`, small numbers more often.
    pub(crate) fn whole_power(&mut self, most: usize) -> usize {
        let uniform = (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let exponent = uniform * logarithm(most as f64 + 1.0);
        (2..=most).take_while(|k| logarithm(*k as f64) <= exponent).last().unwrap_or(1)
    }

    /// So many of `0..n`, without repetition, in ascending order.
    pub(crate) fn subset(&mut self, n: usize, size: usize) -> Vec<usize> {
        let mut items: Vec<usize> = (0..n).collect();
        let size = size.min(n);
        for i in 0..size {
            items.swap(i, i + self.below(n - i));
        }
        items.truncate(size);
        items.sort_unstable();
        items
    }
}

/// The natural logarithm of a normal positive number, from arithmetic alone; absolute error about 1e-16.
fn logarithm(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as f64 - 1023.0;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1.0;
    }
    // ln m = 2 artanh(u), |u| <= 0.172: the series ends below 1e-18.
    let u = (mantissa - 1.0) / (mantissa + 1.0);
    let square = u * u;
    let mut sum = 0.0;
    for k in (0..12).rev() {
        sum = sum * square + 1.0 / f64::from(2 * k + 1);
    }
    exponent * std::f64::consts::LN_2 + 2.0 * u * sum
}

/// `0..n` in the random order of a seed.
pub(crate) fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    shuffle(&mut order, &mut ChaCha8Rng::seed_from_u64(seed));
    order
}

/// Fisher and Yates' shuffle.
pub fn shuffle(items: &mut [usize], generator: &mut ChaCha8Rng) {
    for i in (1..items.len()).rev() {
        items.swap(i, (generator.next_u64() % (i as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_means_these_numbers() {
        let numbers: Vec<f64> = Normal::new(7).take(2).collect();
        assert_eq!(numbers, [-0.312_907_562_149_297_4, -0.303_586_949_763_329_56]);
    }

    #[test]
    fn uniform_choices_have_their_chances() {
        let (mut numbers, mut sizes, mut members) = (Uniform::new(3), [0.0; 4], [0.0; 5]);
        for _ in 0..30_000 {
            let size = numbers.whole_power(3);
            sizes[size] += 1.0 / 30_000.0;
            let subset = numbers.subset(5, size);
            assert!(subset.len() == size && subset.is_sorted_by(|a, b| a < b));
            subset.iter().for_each(|m| members[*m] += 1.0 / 30_000.0);
        }
        let chance = |k: usize| if k == 0 { 0.0 } else { (1.0 + 1.0 / k as f64).ln() / 4f64.ln() };
        assert!((0..4).all(|k| (sizes[k] - chance(k)).abs() < 0.01), "{sizes:?}");
        let mean = (1..4).map(|k| k as f64 * chance(k)).sum::<f64>() / 5.0;
        assert!(members.iter().all(|share| (share - mean).abs() < 0.01), "{members:?}");
        assert_eq!((numbers.subset(0, 3), numbers.whole_power(1), numbers.below(0)), (vec![], 1, 0));
    }

    #[test]
    fn numbers_are_standard_normal() {
        let numbers: Vec<f64> = Normal::new(1).take(100_000).collect();
        let moment = |p: i32| numbers.iter().map(|v| v.powi(p)).sum::<f64>() / numbers.len() as f64;
        assert!(moment(1).abs() < 0.02 && (moment(2) - 1.0).abs() < 0.02 && (moment(4) - 3.0).abs() < 0.15);
    }

    #[test]
    fn the_logarithm_agrees_with_the_standard_library() {
        for i in 1..5000 {
            let x = f64::from(i) / 5000.0;
            assert!((logarithm(x) - x.ln()).abs() <= 4e-16 * x.ln().abs().max(0.1), "{x}");
        }
    }
}
