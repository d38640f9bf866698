//! The cumulant generating function `K(s) = -1/2 sum m_j ln(1 - 2 w_j s)` and its derivatives, for complex s.
//!
//! Thousands of weights over many decades: those for which `2 w |s|` is small enter through power sums, prepared once
//! per law, so that the cost of an evaluation is that of the weights that matter at this s.

use faer::c64;

/// `2 w |s|` below this goes through power sums.
const SMALL: f64 = 0.125;
/// Powers kept: `SMALL^POWERS` is below rounding.
const POWERS: usize = 18;

/// Weights (descending, the largest is 1) with their power sums.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cumulants {
    weights: Vec<f64>,
    multiplicities: Vec<f64>,
    /// Row j: `sum_{i >= j} m_i (2 w_i)^k` for k = 1..=POWERS. One row more than weights: the last is zero.
    tails: Vec<[f64; POWERS]>,
}

/// `K`, `K'` and `K''` at one point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Derivatives {
    pub(crate) value: c64,
    pub(crate) first: c64,
    pub(crate) second: c64,
}

impl Cumulants {
    /// From pairs of weight and multiplicity, descending.
    pub(crate) fn new(terms: &[(f64, f64)]) -> Self {
        let mut tails = vec![[0.0; POWERS]; terms.len() + 1];
        for (j, (weight, multiplicity)) in terms.iter().enumerate().rev() {
            let mut row = tails[j + 1];
            let mut power = 1.0;
            for cell in &mut row {
                power *= 2.0 * weight;
                *cell += multiplicity * power;
            }
            tails[j] = row;
        }
        let (weights, multiplicities) = terms.iter().copied().unzip();
        Self { weights, multiplicities, tails }
    }

    pub(crate) fn mean(&self) -> f64 {
        0.5 * self.tails[0][0]
    }

    pub(crate) fn variance(&self) -> f64 {
        0.5 * self.tails[0][1]
    }

    /// The largest weight's branch point: K is finite on the real line below it.
    pub(crate) fn branch_point(&self) -> f64 {
        0.5
    }

    /// The distance from s to the nearest branch point `1 / (2 w_j)`.
    pub(crate) fn nearest_branch_point(&self, s: c64) -> f64 {
        let at = self.weights.partition_point(|w| 0.5 / w < s.re);
        let near = [at.checked_sub(1), Some(at)].into_iter().flatten().filter_map(|j| self.weights.get(j));
        near.map(|w| (c64::new(0.5 / w, 0.0) - s).norm()).fold(f64::INFINITY, f64::min)
    }

    /// `K` alone, at half the cost: two factors share a logarithm.
    pub(crate) fn value(&self, s: c64) -> c64 {
        let cut = self.cut(s);
        let factor = |weight: f64| c64::new(1.0, 0.0) - s * (2.0 * weight);
        let mut sum = self.small(s, &self.tails[cut]).value;
        let mut pairs = self.weights[..cut].chunks_exact(2).zip(self.multiplicities.chunks_exact(2));
        for (weights, multiplicities) in &mut pairs {
            if multiplicities[0] == multiplicities[1] && s.norm() < 1e100 {
                // Each angle is in (-pi, 0], their sum in (-2 pi, 0].
                let mut logarithm = (factor(weights[0]) * factor(weights[1])).ln();
                if logarithm.im > 0.0 {
                    logarithm.im -= 2.0 * std::f64::consts::PI;
                }
                sum -= logarithm * (0.5 * multiplicities[0]);
            } else {
                sum -= factor(weights[0]).ln() * (0.5 * multiplicities[0]);
                sum -= factor(weights[1]).ln() * (0.5 * multiplicities[1]);
            }
        }
        if cut % 2 == 1 {
            sum -= factor(self.weights[cut - 1]).ln() * (0.5 * self.multiplicities[cut - 1]);
        }
        sum
    }

    /// Weights before this place do not go through power sums.
    fn cut(&self, s: c64) -> usize {
        let size = s.norm();
        self.weights.partition_point(|w| 2.0 * w * size > SMALL)
    }

    /// `K`, `K'`, `K''`; s must not lie on the real line from the branch point on, nor below the real line.
    pub(crate) fn at(&self, s: c64) -> Derivatives {
        let cut = self.cut(s);
        let mut sum = self.small(s, &self.tails[cut]);
        for (weight, multiplicity) in self.weights[..cut].iter().zip(&self.multiplicities) {
            let factor = c64::new(1.0, 0.0) - s * (2.0 * weight);
            let rate = factor.inv() * *weight;
            sum.value -= factor.ln() * (0.5 * multiplicity);
            sum.first += rate * *multiplicity;
            sum.second += rate * rate * (2.0 * multiplicity);
        }
        sum
    }

    /// `-1/2 ln(1 - z) = 1/2 sum z^k / k`, summed over weights power by power.
    fn small(&self, s: c64, sums: &[f64; POWERS]) -> Derivatives {
        let zero = c64::new(0.0, 0.0);
        let (mut value, mut first, mut second) = (zero, zero, zero);
        for k in (1..=POWERS).rev() {
            let sum = 0.5 * sums[k - 1];
            value = value * s + sum / k as f64;
            first = first * s + sum;
            if k >= 2 {
                second = second * s + sum * (k - 1) as f64;
            }
        }
        Derivatives { value: value * s, first, second }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_sums_equal_plain_sums() {
        let terms: Vec<(f64, f64)> =
            (0..400).map(|i| (10f64.powf(-0.03 * f64::from(i)), 1.0 + f64::from(i % 3))).collect();
        let cumulants = Cumulants::new(&terms);
        for s in [c64::new(0.3, 0.0), c64::new(-4.0, 7.0), c64::new(0.02, 0.01), c64::new(900.0, 300.0)] {
            let found = cumulants.at(s);
            let one = c64::new(1.0, 0.0);
            let sum = |f: &dyn Fn(f64) -> c64| {
                terms.iter().map(|(w, m)| f(*w) * *m).fold(c64::new(0.0, 0.0), |a, b| a + b)
            };
            let value = sum(&|w| (one - s * 2.0 * w).ln() * -0.5);
            let first = sum(&|w| (one - s * 2.0 * w).inv() * w);
            let second = sum(&|w| (one - s * 2.0 * w).inv().powi(2) * 2.0 * w * w);
            for (f, e) in [
                (found.value, value),
                (cumulants.value(s), value),
                (found.first, first),
                (found.second, second),
            ] {
                assert!((f - e).norm() < 1e-13 * e.norm(), "{s}: {f} {e}");
            }
        }
    }
}
