//! Vector lanes and the one place where the instruction set is chosen.
//!
//! Hot loops are written once, over plain `[f64; W]` arrays, as the `run` of a [`Work`]; [`dispatch`] compiles
//! that body for AVX-512, AVX2 and the portable baseline and picks one at run time. All `unsafe` of the crate
//! is here.

/// Lanes in one array: one AVX-512 register, two of AVX2, four of SSE2 or NEON.
pub(crate) const W: usize = 8;

/// How an instruction set multiplies and adds.
pub(crate) trait Isa {
    /// `a * b + c`, fused where the hardware can.
    fn mul_add(a: f64, b: f64, c: f64) -> f64;
}

/// Hardware with fused multiply-add.
pub(crate) struct Fused;

impl Isa for Fused {
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }
}

/// Hardware without: `f64::mul_add` would call a slow library routine there.
#[cfg_attr(target_arch = "aarch64", allow(dead_code))]
pub(crate) struct Separate;

impl Isa for Separate {
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a * b + c
    }
}

/// A hot loop. `run` must be `#[inline(always)]`, so that it is compiled anew for each instruction set.
pub(crate) trait Work {
    /// Does the work.
    fn run<I: Isa>(self);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
fn run_avx512(work: impl Work) {
    work.run::<Fused>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2(work: impl Work) {
    work.run::<Fused>();
}

/// Runs `work` with the best instruction set of this machine.
#[cfg(target_arch = "x86_64")]
pub(crate) fn dispatch(work: impl Work) {
    use std::arch::is_x86_feature_detected as has;
    if has!("avx512f") && has!("avx512dq") && has!("avx512vl") && has!("avx2") && has!("fma") {
        // SAFETY: the features of `run_avx512` have just been found on this machine.
        unsafe { run_avx512(work) }
    } else if has!("avx2") && has!("fma") {
        // SAFETY: the features of `run_avx2` have just been found on this machine.
        unsafe { run_avx2(work) }
    } else {
        work.run::<Separate>();
    }
}

/// Runs `work`; fused multiply-add is part of the AArch64 baseline.
#[cfg(target_arch = "aarch64")]
pub(crate) fn dispatch(work: impl Work) {
    work.run::<Fused>();
}

/// Runs `work` without assumptions about the machine.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn dispatch(work: impl Work) {
    work.run::<Separate>();
}

/// `exp` of every lane, within 1 ulp or so for arguments up to 709; below -708 the result is 0.
///
/// x = n ln 2 + r with |r| <= ln 2 / 2, exp(x) = 2^n exp(r), exp(r) by its Taylor polynomial of degree 13
/// (remainder below 5e-18).
#[inline(always)]
pub(crate) fn exp<I: Isa, const N: usize>(x: [f64; N]) -> [f64; N] {
    // A plain loop: a closure given to the standard library would be compiled without the instruction set.
    let mut values = [0.0; N];
    for lane in 0..N {
        values[lane] = exp_one::<I>(x[lane]);
    }
    values
}

#[inline(always)]
fn exp_one<I: Isa>(x: f64) -> f64 {
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    const INVERSE_FACTORIALS: [f64; 12] = [
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
    ];
    let clamped = x.clamp(-708.0, 709.0);
    let rounded = I::mul_add(clamped, std::f64::consts::LOG2_E, ROUND);
    let n = rounded - ROUND;
    let r = I::mul_add(n, -LN2_LOW, I::mul_add(n, -LN2_HIGH, clamped));
    let mut tail = INVERSE_FACTORIALS[0];
    for c in &INVERSE_FACTORIALS[1..] {
        tail = I::mul_add(tail, r, *c);
    }
    // 1 + (r + r^2 tail): the large term comes last, so that it rounds once.
    let value = 1.0 + I::mul_add(r * r, tail, r);
    let power = f64::from_bits((rounded.to_bits() << 52).wrapping_add(1023 << 52));
    if x < -708.0 { 0.0 } else { value * power }
}

/// Adding this rounds to an integer and leaves that integer in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52

/// `2^n` for a whole n from -1022 to 1023.
#[inline(always)]
pub(crate) fn power_of_two(n: f64) -> f64 {
    f64::from_bits(((n + ROUND).to_bits() << 52).wrapping_add(1023 << 52))
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
}
