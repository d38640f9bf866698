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

    /// Four numbers in one register, for bodies so large that arrays would be taken apart into single numbers.
    type Four: Four;
}

/// Four numbers that are worked on together.
pub(crate) trait Four: Copy {
    fn splat(value: f64) -> Self;
    fn load(values: &[f64; 4]) -> Self;
    /// Fewer than four numbers, continued with zeros.
    fn load_some(values: &[f64]) -> Self;
    fn store(self, values: &mut [f64; 4]);
    /// `(v0 + v1) + (v2 + v3)` of each of four.
    fn sums(of: [Self; 4]) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn abs(self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// Whether any of them is above a bound.
    fn any_above(self, bound: Self) -> bool;
    /// Whether all of them are.
    fn all_above(self, bound: Self) -> bool;
    /// `self * factor + term`.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// The larger of each; of a NaN and a number, `other`.
    fn max(self, other: Self) -> Self;
    /// The smaller of each, likewise.
    fn min(self, other: Self) -> Self;
    /// `self * factor - term`.
    fn mul_sub(self, factor: Self, term: Self) -> Self;
    /// `self * 2^n` for numbers that hold a whole n in their low bits (see [`ROUND`]); neither may leave the normal range.
    fn times_power(self, low_bits: Self) -> Self;
    /// 0 in the lanes where `value < bound`, self elsewhere.
    fn zero_where_less(self, value: Self, bound: Self) -> Self;
}

/// Hardware with fused multiply-add and registers of four.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx;

#[cfg(target_arch = "x86_64")]
impl Isa for Avx {
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }

    type Four = AvxFour;
}

/// A register of AVX2; with AVX-512 it is half of one, and there are twice as many.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct AvxFour(std::arch::x86_64::__m256d);

// SAFETY of all blocks below: only bodies that `dispatch` runs after it has found AVX2 and FMA name this type.
#[cfg(target_arch = "x86_64")]
impl Four for AvxFour {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        // SAFETY: see above.
        unsafe { Self(std::arch::x86_64::_mm256_set1_pd(value)) }
    }
    #[inline(always)]
    fn load(values: &[f64; 4]) -> Self {
        // SAFETY: see above; the reference is good for four numbers, and no alignment is asked for.
        unsafe { Self(std::arch::x86_64::_mm256_loadu_pd(values.as_ptr())) }
    }
    #[inline(always)]
    fn load_some(values: &[f64]) -> Self {
        use std::arch::x86_64::{_mm256_loadu_si256, _mm256_maskload_pd};
        const MASKS: [i64; 7] = [-1, -1, -1, 0, 0, 0, 0];
        let count = values.len().min(3);
        let mask = MASKS[3 - count..].first_chunk::<4>().unwrap_or(&[0; 4]);
        // SAFETY: see above; a lane beyond the slice is masked out, and so not read.
        unsafe { Self(_mm256_maskload_pd(values.as_ptr(), _mm256_loadu_si256(mask.as_ptr().cast()))) }
    }
    #[inline(always)]
    fn store(self, values: &mut [f64; 4]) {
        // SAFETY: as for `load`.
        unsafe { std::arch::x86_64::_mm256_storeu_pd(values.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn sums([a, b, c, d]: [Self; 4]) -> Self {
        use std::arch::x86_64::{_mm256_add_pd, _mm256_hadd_pd, _mm256_permute2f128_pd};
        // SAFETY: see above.
        unsafe {
            let (ab, cd) = (_mm256_hadd_pd(a.0, b.0), _mm256_hadd_pd(c.0, d.0));
            let (low, high) =
                (_mm256_permute2f128_pd::<0x20>(ab, cd), _mm256_permute2f128_pd::<0x31>(ab, cd));
            Self(_mm256_add_pd(low, high))
        }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(std::arch::x86_64::_mm256_add_pd(self.0, other.0)) }
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(std::arch::x86_64::_mm256_sub_pd(self.0, other.0)) }
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see above.
        unsafe { Self(std::arch::x86_64::_mm256_andnot_pd(Self::splat(-0.0).0, self.0)) }
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(std::arch::x86_64::_mm256_mul_pd(self.0, other.0)) }
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(std::arch::x86_64::_mm256_div_pd(self.0, other.0)) }
    }
    #[inline(always)]
    fn any_above(self, bound: Self) -> bool {
        use std::arch::x86_64::{_CMP_GT_OQ, _mm256_cmp_pd, _mm256_movemask_pd};
        // SAFETY: see above.
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GT_OQ>(self.0, bound.0)) != 0 }
    }
    #[inline(always)]
    fn all_above(self, bound: Self) -> bool {
        use std::arch::x86_64::{_CMP_GT_OQ, _mm256_cmp_pd, _mm256_movemask_pd};
        // SAFETY: see above.
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GT_OQ>(self.0, bound.0)) == 0b1111 }
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(std::arch::x86_64::_mm256_fmadd_pd(self.0, factor.0, term.0)) }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(std::arch::x86_64::_mm256_max_pd(self.0, other.0)) }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(std::arch::x86_64::_mm256_min_pd(self.0, other.0)) }
    }
    #[inline(always)]
    fn mul_sub(self, factor: Self, term: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(std::arch::x86_64::_mm256_fmsub_pd(self.0, factor.0, term.0)) }
    }
    #[inline(always)]
    fn times_power(self, low_bits: Self) -> Self {
        use std::arch::x86_64::{
            _mm256_add_epi64, _mm256_castpd_si256, _mm256_castsi256_pd, _mm256_slli_epi64,
        };
        // SAFETY: see above.
        unsafe {
            let exponents = _mm256_slli_epi64::<52>(_mm256_castpd_si256(low_bits.0));
            Self(_mm256_castsi256_pd(_mm256_add_epi64(exponents, _mm256_castpd_si256(self.0))))
        }
    }
    #[inline(always)]
    fn zero_where_less(self, value: Self, bound: Self) -> Self {
        use std::arch::x86_64::{_CMP_LT_OQ, _mm256_andnot_pd, _mm256_cmp_pd};
        // SAFETY: see above.
        unsafe { Self(_mm256_andnot_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(value.0, bound.0), self.0)) }
    }
}

/// Hardware with fused multiply-add in its baseline.
#[cfg(target_arch = "aarch64")]
pub(crate) struct Fused;

#[cfg(target_arch = "aarch64")]
impl Isa for Fused {
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }

    type Four = Plain<Self>;
}

/// Hardware without: `f64::mul_add` would call a slow library routine there.
#[cfg_attr(target_arch = "aarch64", allow(dead_code))]
pub(crate) struct Separate;

impl Isa for Separate {
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a * b + c
    }

    type Four = Plain<Self>;
}

/// Four numbers side by side, left to the compiler.
pub(crate) struct Plain<I>([f64; 4], std::marker::PhantomData<I>);

impl<I> Clone for Plain<I> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Plain<I> {}

impl<I: Isa> Four for Plain<I> {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value; 4], std::marker::PhantomData)
    }
    #[inline(always)]
    fn load(values: &[f64; 4]) -> Self {
        Self(*values, std::marker::PhantomData)
    }
    #[inline(always)]
    fn load_some(values: &[f64]) -> Self {
        let mut four = Self::splat(0.0);
        for (value, given) in four.0.iter_mut().zip(values) {
            *value = *given;
        }
        four
    }
    #[inline(always)]
    fn store(self, values: &mut [f64; 4]) {
        *values = self.0;
    }
    #[inline(always)]
    fn sums(of: [Self; 4]) -> Self {
        let mut sums = Self::splat(0.0);
        for (sum, Self(v, _)) in sums.0.iter_mut().zip(of) {
            *sum = (v[0] + v[1]) + (v[2] + v[3]);
        }
        sums
    }
    #[inline(always)]
    fn add(mut self, other: Self) -> Self {
        for lane in 0..4 {
            self.0[lane] += other.0[lane];
        }
        self
    }
    #[inline(always)]
    fn sub(mut self, other: Self) -> Self {
        for lane in 0..4 {
            self.0[lane] -= other.0[lane];
        }
        self
    }
    #[inline(always)]
    fn abs(mut self) -> Self {
        for lane in 0..4 {
            self.0[lane] = self.0[lane].abs();
        }
        self
    }
    #[inline(always)]
    fn mul(mut self, other: Self) -> Self {
        for lane in 0..4 {
            self.0[lane] *= other.0[lane];
        }
        self
    }
    #[inline(always)]
    fn div(mut self, other: Self) -> Self {
        for lane in 0..4 {
            self.0[lane] /= other.0[lane];
        }
        self
    }
    #[inline(always)]
    fn any_above(self, bound: Self) -> bool {
        let mut any = false;
        for lane in 0..4 {
            any |= self.0[lane] > bound.0[lane];
        }
        any
    }
    #[inline(always)]
    fn all_above(self, bound: Self) -> bool {
        let mut all = true;
        for lane in 0..4 {
            all &= self.0[lane] > bound.0[lane];
        }
        all
    }
    #[inline(always)]
    fn mul_add(mut self, factor: Self, term: Self) -> Self {
        for lane in 0..4 {
            self.0[lane] = I::mul_add(self.0[lane], factor.0[lane], term.0[lane]);
        }
        self
    }
    #[inline(always)]
    fn max(mut self, other: Self) -> Self {
        for lane in 0..4 {
            self.0[lane] = if self.0[lane] > other.0[lane] { self.0[lane] } else { other.0[lane] };
        }
        self
    }
    #[inline(always)]
    fn min(mut self, other: Self) -> Self {
        for lane in 0..4 {
            self.0[lane] = if self.0[lane] < other.0[lane] { self.0[lane] } else { other.0[lane] };
        }
        self
    }
    #[inline(always)]
    fn mul_sub(mut self, factor: Self, term: Self) -> Self {
        for lane in 0..4 {
            self.0[lane] = I::mul_add(self.0[lane], factor.0[lane], -term.0[lane]);
        }
        self
    }
    #[inline(always)]
    fn times_power(mut self, low_bits: Self) -> Self {
        for lane in 0..4 {
            let exponent = low_bits.0[lane].to_bits() << 52;
            self.0[lane] = f64::from_bits(self.0[lane].to_bits().wrapping_add(exponent));
        }
        self
    }
    #[inline(always)]
    fn zero_where_less(mut self, value: Self, bound: Self) -> Self {
        for lane in 0..4 {
            self.0[lane] = if value.0[lane] < bound.0[lane] { 0.0 } else { self.0[lane] };
        }
        self
    }
}

/// Asks for what a slice holds to be brought near: for walks whose strides no hardware foresees.
#[inline(always)]
pub(crate) fn fetch(values: &[f64]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks(8) {
        // SAFETY: a hint, for memory that the slice is good for; SSE is part of the baseline.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line.as_ptr().cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}

/// A hot loop. `run` must be `#[inline(always)]`, so that it is compiled anew for each instruction set.
pub(crate) trait Work {
    /// Does the work.
    fn run<I: Isa>(self);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
fn run_avx512(work: impl Work) {
    work.run::<Avx>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2(work: impl Work) {
    work.run::<Avx>();
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

/// The same for large bodies that work on [`Four`]: nothing would be gained by compiling them for AVX-512 too.
#[cfg(target_arch = "x86_64")]
pub(crate) fn dispatch_registers(work: impl Work) {
    use std::arch::is_x86_feature_detected as has;
    if has!("avx2") && has!("fma") {
        // SAFETY: the features of `run_avx2` have just been found on this machine.
        unsafe { run_avx2(work) }
    } else {
        work.run::<Separate>();
    }
}

/// The same for large bodies that work on [`Four`].
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn dispatch_registers(work: impl Work) {
    dispatch(work);
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

/// `exp` of every lane, within 1 ulp or so for arguments up to 709; below -708 the result is 0. N is a multiple of 4.
#[inline(always)]
pub(crate) fn exp<I: Isa, const N: usize>(x: [f64; N]) -> [f64; N] {
    /// Its last bits are zeros: multiples of it are exact, fused or not.
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let number = I::Four::splat;
    let (log2_e, lowest) = (number(std::f64::consts::LOG2_E), number(-708.0));
    let mut values = [0.0; N];
    for (x, out) in x.as_chunks::<4>().0.iter().zip(values.as_chunks_mut::<4>().0) {
        let x = I::Four::load(x);
        let above = x.max(lowest);
        let rounded = above.mul_add(log2_e, number(ROUND));
        let n = rounded.sub(number(ROUND));
        let rest = n.mul_add(number(-LN2_LOW), n.mul_add(number(-LN2_HIGH), above));
        let (even, odd) = power_ratio(rest.mul(log2_e));
        even.add(odd).div(even.sub(odd)).times_power(rounded).zero_where_less(x, lowest).store(out);
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

impl<F: Four> Power<F> {
    /// `exp(factor x)`.
    #[inline(always)]
    pub(crate) fn exp(factor: f64) -> Self {
        let rate = factor * std::f64::consts::LOG2_E;
        Self { rate: F::splat(rate), farthest: F::splat(1000.0 / rate.abs()) }
    }

    /// (even, odd, n) with the power `2^n (even + odd) / (even - odd)`, for functions of it that divide anyway; n is
    /// in low bits.
    #[inline(always)]
    pub(crate) fn parts(self, x: F) -> (F, F, F) {
        let x = x.min(self.farthest);
        let n = x.mul_add(self.rate, F::splat(ROUND));
        // Fused, the product is not rounded: the rest is right to its last bit.
        let (even, odd) = power_ratio(x.mul_sub(self.rate, n.sub(F::splat(ROUND))));
        (even, odd, n)
    }

    /// The power.
    #[inline(always)]
    pub(crate) fn of(self, x: F) -> F {
        let (even, odd, n) = self.parts(x);
        even.add(odd).div(even.sub(odd)).times_power(n)
    }
}

/// (even, odd) with `2^r = (even + odd) / (even - odd)` for |r| <= 1/2. `odd / even` is the `tanh(r ln 2 / 2)` of degrees 5 and 4
/// that is exact at the Chebyshev nodes of r^2 (relative error of the power below 3e-17). A division takes less time than
/// the terms that a polynomial would have more.
#[inline(always)]
fn power_ratio<F: Four>(r: F) -> (F, F) {
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

    struct Decay<'a>(f64, &'a mut [f64]);

    impl Work for Decay<'_> {
        #[inline(always)]
        fn run<I: Isa>(self) {
            let power = Power::<I::Four>::exp(self.0);
            for four in self.1.as_chunks_mut::<4>().0 {
                power.of(I::Four::load(four)).store(four);
            }
        }
    }

    #[test]
    fn powers_of_distances_are_right_to_the_digits_of_their_exponent() {
        for factor in [-0.5, -3.7e-4, -1e5, 0.3] {
            let distances: Vec<f64> = (0..8000).map(|i| f64::from(i) * 0.08 / f64::abs(factor)).collect();
            let (mut fused, mut separate) = (distances.clone(), distances.clone());
            dispatch_registers(Decay(factor, &mut fused));
            Decay(factor, &mut separate).run::<Separate>();
            assert_eq!([fused[0], separate[0]], [1.0, 1.0]);
            for ((d, f), s) in distances.iter().zip(&fused).zip(&separate) {
                let z = factor * d;
                for found in [f, s] {
                    assert!((found / z.exp() - 1.0).abs() < 4e-16 * (1.0 + z.abs()), "{z}: {f} {s}");
                }
            }
        }
        let mut far = [1e9, 1e300, f64::MAX, f64::INFINITY];
        dispatch_registers(Decay(-1.0, &mut far));
        assert!(far.iter().all(|v| *v > 0.0 && *v < 1e-300), "{far:?}");
    }
}
