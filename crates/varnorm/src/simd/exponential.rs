//! Exponentials: of distances, for functions that fall or rise with them, and of any numbers.

use super::{Isa, Register, W};

/// Registers that can be raised to powers, each in the way that is fastest for it.
pub(crate) trait Exponential: Register {
    /// Added to a number, it leaves that number, rounded as [`powers`](Self::powers) wants its n, in the last bits.
    const ROUND: f64;

    /// `2^(n + r)`: n comes with [`Self::ROUND`] added, and r is what rounding left. From `2^-1000` to `2^1000`.
    fn powers<const K: usize>(n: [Self; K], r: [Self; K]) -> [Self; K];

    /// `1 / (2 2^(n + r) - 1)`, for n + r >= 0.
    fn kappas<const K: usize>(n: [Self; K], r: [Self; K]) -> [Self; K];
}

/// A function of numbers, for some registers at a time.
pub(crate) trait Function<F> {
    fn of<const K: usize>(&self, x: [F; K]) -> [F; K];
}

/// Registers that take the operations of a function together: these are a chain, each waits for the one before.
pub(crate) const TOGETHER: usize = 4;
/// As many numbers as [`TOGETHER`] registers of eight hold, or twice as many as of four.
const MANY: usize = 8 * TOGETHER;

/// The values of a function, for cells of a multiple of W numbers.
#[inline(always)]
pub(crate) fn map<F: Register, const N: usize>(
    function: &impl Function<F>,
    x: &[[f64; N]],
    out: &mut [[f64; N]],
) {
    let (x, x_rest) = x.as_flattened().as_chunks::<MANY>();
    let (out, out_rest) = out.as_flattened_mut().as_chunks_mut::<MANY>();
    for (x, out) in x.iter().zip(out) {
        for part in 0..MANY / (TOGETHER * F::WIDTH) {
            let mut registers = [F::splat(0.0); TOGETHER];
            for k in 0..TOGETHER {
                registers[k] = F::load(x, part * TOGETHER + k);
            }
            let values = function.of(registers);
            for k in 0..TOGETHER {
                values[k].store(out, part * TOGETHER + k);
            }
        }
    }
    for (x, out) in x_rest.as_chunks::<W>().0.iter().zip(out_rest.as_chunks_mut::<W>().0) {
        for at in 0..W / F::WIDTH {
            let [value] = function.of([F::load(x, at)]);
            value.store(out, at);
        }
    }
}

/// `exp` of every lane, within 1 ulp or so for arguments up to 709; below -708 the result is 0. N is a multiple of 8.
#[inline(always)]
pub(crate) fn exp<I: Isa, const N: usize>(x: [f64; N]) -> [f64; N] {
    /// Its last bits are zeros: multiples of it are exact, fused or not.
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let number = I::Register::splat;
    let (log2_e, lowest, round) =
        (number(std::f64::consts::LOG2_E), number(-708.0), number(I::Register::ROUND));
    let mut values = [0.0; N];
    for at in 0..N / I::Register::WIDTH {
        let x = I::Register::load(&x, at);
        let above = x.max(lowest);
        let rounded = above.mul_add(log2_e, round);
        let n = rounded.sub(round);
        let rest = n.mul_add(number(-LN2_LOW), n.mul_add(number(-LN2_HIGH), above));
        let [power] = I::Register::powers([rounded], [rest.mul(log2_e)]);
        power.zero_where_less(x, lowest).store(&mut values, at);
    }
    values
}

/// `2^(rate x)` of numbers x >= 0, for functions that fall or rise with a distance.
#[derive(Clone, Copy)]
pub(crate) struct Power<F> {
    rate: F,
    /// Larger x count as this one: the power stays between `2^-1000` and `2^1000`.
    farthest: F,
}

impl<F: Exponential> Power<F> {
    /// `exp(factor x)`.
    #[inline(always)]
    pub(crate) fn exp(factor: f64) -> Self {
        let rate = factor * std::f64::consts::LOG2_E;
        Self { rate: F::splat(rate), farthest: F::splat(1000.0 / rate.abs()) }
    }

    /// n and r of `rate x`.
    #[inline(always)]
    fn parts<const K: usize>(&self, x: [F; K]) -> ([F; K], [F; K]) {
        let (mut n, mut r, round) = (x, x, F::splat(F::ROUND));
        for k in 0..K {
            r[k] = x[k].min(self.farthest);
            n[k] = r[k].mul_add(self.rate, round);
        }
        for k in 0..K {
            // Fused, the product is not rounded: the rest is right to its last bit.
            r[k] = r[k].mul_sub(self.rate, n[k].sub(round));
        }
        (n, r)
    }

    /// `1 / (2 2^(rate x) - 1)`, for a rate > 0.
    #[inline(always)]
    pub(crate) fn kappas<const K: usize>(&self, x: [F; K]) -> [F; K] {
        let (n, r) = self.parts(x);
        F::kappas(n, r)
    }
}

impl<F: Exponential> Function<F> for Power<F> {
    #[inline(always)]
    fn of<const K: usize>(&self, x: [F; K]) -> [F; K] {
        let (n, r) = self.parts(x);
        F::powers(n, r)
    }
}

/// Registers that divide well, and can be multiplied by whole powers of two.
pub(super) trait Powers: Register {
    /// `self * 2^n` for numbers that hold a whole n in their low bits (see [`ROUND`]); neither may leave the normal range.
    fn times_power(self, low_bits: Self) -> Self;
}

/// With one division each.
impl<F: Powers> Exponential for F {
    const ROUND: f64 = ROUND;

    #[inline(always)]
    fn powers<const K: usize>(n: [F; K], mut r: [F; K]) -> [F; K] {
        for k in 0..K {
            let (even, odd) = power_ratio(r[k]);
            r[k] = even.add(odd).div(even.sub(odd)).times_power(n[k]);
        }
        r
    }

    #[inline(always)]
    fn kappas<const K: usize>(n: [F; K], mut r: [F; K]) -> [F; K] {
        for k in 0..K {
            let (even, odd) = power_ratio(r[k]);
            let below = even.sub(odd);
            r[k] = below.div(F::splat(2.0).times_power(n[k]).mul_sub(even.add(odd), below));
        }
        r
    }
}

/// (even, odd) with `2^r = (even + odd) / (even - odd)` for |r| <= 1/2. `odd / even` is the `tanh(r ln 2 / 2)` of degrees 5 and 4
/// that is exact at the Chebyshev nodes of r^2 (relative error of the power below 3e-17). A division takes less time than
/// the terms that a polynomial would have more.
#[inline(always)]
fn power_ratio<F: Register>(r: F) -> (F, F) {
    const EVEN: [f64; 3] = [43.300_541_414_777_69, 10_096.722_906_408_317, 189_140.176_773_590_8];
    const ODD: [f64; 2] = [874.743_276_604_797_6, 65_550.990_130_612_06];
    let square = r.mul(r);
    let even = square.mul_add(F::splat(EVEN[0]), F::splat(EVEN[1])).mul_add(square, F::splat(EVEN[2]));
    let odd = square.add(F::splat(ODD[0])).mul_add(square, F::splat(ODD[1])).mul(r);
    (even, odd)
}

/// Adding this rounds to an integer and leaves that integer in the low bits.
pub(crate) const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52

/// `2^n` for a whole n from -1022 to 1023.
#[inline(always)]
pub(crate) fn power_of_two(n: f64) -> f64 {
    f64::from_bits(((n + ROUND).to_bits() << 52).wrapping_add(1023 << 52))
}

/// `2^e` for e <= 0, as good as zero below `2^-900`.
#[inline(always)]
pub(crate) fn falling_power(e: f64) -> f64 {
    power_of_two(if e > -900.0 { e } else { -900.0 })
}

/// (even, odd, power) with `exp(z) = power (even + odd) / (even - odd)`, for functions of `exp(z)` that divide
/// anyway; the power is one of two, z from -700 to 700.
///
/// z = n ln 2 + r, |r| <= ln 2 / 2, and exp(r) by its Pade approximant of order (6, 6): even and odd are the even
/// and the odd part of its numerator (relative error below 2e-19).
#[inline(always)]
pub(crate) fn exp_ratio<I: Isa>(z: f64) -> (f64, f64, f64) {
    let rounded = I::mul_add(z, std::f64::consts::LOG2_E, ROUND);
    let n = rounded - ROUND;
    let r = I::mul_add(n, -std::f64::consts::LN_2, z);
    let square = r * r;
    let even = I::mul_add(I::mul_add(square + 840.0, square, 75_600.0), square, 665_280.0);
    let odd = r * I::mul_add(I::mul_add(square, 42.0, 10_080.0), square, 332_640.0);
    (even, odd, f64::from_bits((rounded.to_bits() << 52).wrapping_add(1023 << 52)))
}

/// `tanh`, to a few units in the last place.
#[inline(always)]
pub(crate) fn tanh<I: Isa>(x: f64) -> f64 {
    let z = 2.0 * x.abs();
    let z = if z < 44.0 { z } else { 44.0 };
    let (even, odd, power) = exp_ratio::<I>(z);
    // (exp(z) - 1) / (exp(z) + 1), arranged so that nothing cancels near zero.
    let (less, more) = (power - 1.0, power + 1.0);
    let size = I::mul_add(less, even, more * odd) / I::mul_add(more, even, less * odd);
    size.copysign(x)
}

#[cfg(test)]
mod tests {
    use super::super::{Separate, Work, dispatch};
    use super::*;

    struct Exp<'a>(&'a mut [f64]);

    impl Work for Exp<'_> {
        #[inline(always)]
        fn run<I: Isa>(self) {
            for chunk in self.0.as_chunks_mut::<W>().0 {
                *chunk = exp::<I, W>(*chunk);
            }
        }
    }

    fn worst_error(run: impl Fn(&mut [f64])) -> f64 {
        let arguments: Vec<f64> = (0..80_000)
            .map(|i| f64::from(i).mul_add(-0.008_853, 1.0))
            .chain((0..80).map(|i| f64::from(i) * 8.8))
            .collect();
        let mut values = arguments.clone();
        run(&mut values);
        arguments
            .iter()
            .zip(&values)
            .filter(|(x, _)| **x >= -708.0)
            .map(|(x, v)| (v / x.exp() - 1.0).abs())
            .fold(0.0, f64::max)
    }

    #[test]
    fn exp_agrees_with_the_standard_library_to_the_last_digits() {
        assert!(worst_error(|v| dispatch(Exp(v))) < 4.5e-16);
        assert!(worst_error(|v| Exp(v).run::<Separate>()) < 1e-15);
    }

    struct Tanh<'a>(&'a mut [f64]);

    impl Work for Tanh<'_> {
        #[inline(always)]
        fn run<I: Isa>(self) {
            for value in self.0 {
                *value = tanh::<I>(*value);
            }
        }
    }

    #[test]
    fn tanh_agrees_with_the_standard_library() {
        let sizes = (0..4000).map(|i| f64::from(i).mul_add(0.006, 1e-3));
        let arguments: Vec<f64> = sizes.chain((0..300).map(|i| 10f64.powi(-i))).collect();
        let (mut fused, mut separate) = (arguments.clone(), arguments.clone());
        dispatch(Tanh(&mut fused));
        Tanh(&mut separate).run::<Separate>();
        for ((x, f), s) in arguments.iter().zip(&fused).zip(&separate) {
            assert!((f / x.tanh() - 1.0).abs() < 1e-15 && (s / x.tanh() - 1.0).abs() < 1e-15, "{x}: {f} {s}");
        }
        let mut odd = [-0.7, 0.7, 0.0, -0.0, -1e300];
        dispatch(Tanh(&mut odd));
        assert_eq!(odd[0], -odd[1]);
        assert_eq!(odd[2..], [0.0, 0.0, -1.0]);
    }

    #[test]
    fn exp_of_zero_is_exactly_one_and_far_below_it_vanishes() {
        let mut values = [0.0, -0.0, -709.0, -1e300, f64::NEG_INFINITY, -707.9, -1e-300, 1e-300];
        dispatch(Exp(&mut values));
        assert_eq!(values[..5], [1.0, 1.0, 0.0, 0.0, 0.0]);
        assert!(values[5] > 0.0);
        assert_eq!(values[6..], [1.0, 1.0]);
    }

    struct Decay<'a>(f64, &'a mut [f64]);

    impl Work for Decay<'_> {
        #[inline(always)]
        fn run<I: Isa>(self) {
            let power = Power::<I::Register>::exp(self.0);
            let (numbers, _) = self.1.as_chunks_mut::<W>();
            let distances: Vec<[f64; W]> = numbers.to_vec();
            map(&power, &distances, numbers);
        }
    }

    #[test]
    fn powers_of_distances_are_right_to_the_digits_of_their_exponent() {
        for factor in [-0.5, -3.7e-4, -1e5, 0.3] {
            let distances: Vec<f64> = (0..8000).map(|i| f64::from(i) * 0.08 / f64::abs(factor)).collect();
            let (mut fused, mut separate) = (distances.clone(), distances.clone());
            dispatch(Decay(factor, &mut fused));
            Decay(factor, &mut separate).run::<Separate>();
            assert_eq!([fused[0], separate[0]], [1.0, 1.0]);
            for ((d, f), s) in distances.iter().zip(&fused).zip(&separate) {
                let z = factor * d;
                for found in [f, s] {
                    assert!((found / z.exp() - 1.0).abs() < 4e-16 * (1.0 + z.abs()), "{z}: {f} {s}");
                }
            }
        }
        let mut far = [1e9, 1e300, f64::MAX, f64::INFINITY, 1e4, 1e5, 1e6, 1e7];
        dispatch(Decay(-1.0, &mut far));
        assert!(far.iter().all(|v| *v > 0.0 && *v < 1e-300), "{far:?}");
    }
}
