//! [`Eight`]: a register of AVX-512.
//!
//! Its unit for divisions is no wider than that of AVX2 and takes 16 cycles for eight numbers, in which 32 multiply-adds could be
//! done. So quotients are made from approximate inverses, and exponentials from a table that fits two registers.

use std::arch::x86_64::*;

use super::Register;
use super::avx2::Four;
use super::exponential::{Exponential, ROUND};

#[derive(Clone, Copy)]
pub(crate) struct Eight(__m512d);

// SAFETY of all blocks below: only bodies that `dispatch` runs after it has found AVX-512 (F, DQ and VL) name this type.
impl Register for Eight {
    const WIDTH: usize = 8;

    instructions! {
        add(other) = _mm512_add_pd;
        sub(other) = _mm512_sub_pd;
        mul(other) = _mm512_mul_pd;
        abs() = _mm512_abs_pd;
        max(other) = _mm512_max_pd;
        min(other) = _mm512_min_pd;
        mul_add(factor, term) = _mm512_fmadd_pd;
        mul_sub(factor, term) = _mm512_fmsub_pd;
    }

    #[inline(always)]
    fn splat(value: f64) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_set1_pd(value)) }
    }
    #[inline(always)]
    fn load<const N: usize>(cell: &[f64; N], at: usize) -> Self {
        // SAFETY: see above; the chunk is good for eight numbers, and no alignment is asked for.
        unsafe { Self(_mm512_loadu_pd(cell.as_chunks::<8>().0[at].as_ptr())) }
    }
    #[inline(always)]
    fn load_some(values: &[f64]) -> Self {
        let mask = ((1u32 << values.len().min(7)) - 1) as u8;
        // SAFETY: see above; a lane beyond the slice is masked out, and so not read.
        unsafe { Self(_mm512_maskz_loadu_pd(mask, values.as_ptr())) }
    }
    #[inline(always)]
    fn store<const N: usize>(self, cell: &mut [f64; N], at: usize) {
        // SAFETY: as for `load`.
        unsafe { _mm512_storeu_pd(cell.as_chunks_mut::<8>().0[at].as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn sums([a, b, c, d]: [Self; 4]) -> [f64; 4] {
        let mut sums = [0.0; 4];
        // SAFETY: see above.
        unsafe {
            // Neighbours of a and b, and of c and d, in turn.
            let pairs =
                |a: __m512d, b: __m512d| _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
            let (ab, cd) = (pairs(a.0, b.0), pairs(c.0, d.0));
            let halves =
                |x: __m512d| _mm256_add_pd(_mm512_castpd512_pd256(x), _mm512_extractf64x4_pd::<1>(x));
            let (ab, cd) = (halves(ab), halves(cd));
            let (low, high) =
                (_mm256_permute2f128_pd::<0x20>(ab, cd), _mm256_permute2f128_pd::<0x31>(ab, cd));
            _mm256_storeu_pd(sums.as_mut_ptr(), _mm256_add_pd(low, high));
        }
        sums
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        let inverse = nearly_inverse(other);
        let error = inverse.residue(other, Self::splat(1.0));
        // Right to 42 bits, which one more step doubles.
        let inverse = inverse.mul_add(error.mul_add(error, error), inverse);
        let quotient = self.mul(inverse);
        quotient.residue(other, self).mul_add(inverse, quotient)
    }
    #[inline(always)]
    fn any_above(self, bound: Self) -> bool {
        // SAFETY: see above.
        unsafe { _mm512_cmp_pd_mask::<_CMP_GT_OQ>(self.0, bound.0) != 0 }
    }
    #[inline(always)]
    fn all_above(self, bound: Self) -> bool {
        // SAFETY: see above.
        unsafe { _mm512_cmp_pd_mask::<_CMP_GT_OQ>(self.0, bound.0) == 0xff }
    }
    #[inline(always)]
    fn zero_where_less(self, value: Self, bound: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_maskz_mov_pd(_mm512_cmp_pd_mask::<_CMP_NLT_UQ>(value.0, bound.0), self.0)) }
    }
    #[inline(always)]
    fn count_above(self, value: Self, bound: Self) -> Self {
        // SAFETY: see above.
        unsafe {
            let (above, counts) =
                (_mm512_cmp_pd_mask::<_CMP_GT_OQ>(value.0, bound.0), _mm512_castpd_si512(self.0));
            Self(_mm512_castsi512_pd(_mm512_mask_add_epi64(counts, above, counts, _mm512_set1_epi64(1))))
        }
    }
    #[inline(always)]
    fn counted(self) -> f64 {
        // SAFETY: see above.
        unsafe { _mm512_reduce_add_epi64(_mm512_castpd_si512(self.0)) as f64 }
    }
}

impl Eight {
    /// The first or the second four numbers.
    #[inline(always)]
    pub(super) fn half(self, at: usize) -> Four {
        // SAFETY: see above.
        unsafe {
            Four(if at == 0 { _mm512_castpd512_pd256(self.0) } else { _mm512_extractf64x4_pd::<1>(self.0) })
        }
    }

    /// `whole - self * factor`.
    #[inline(always)]
    fn residue(self, factor: Self, whole: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm512_fnmadd_pd(self.0, factor.0, whole.0)) }
    }
}

/// `1 / x` to 14 bits.
#[inline(always)]
fn nearly_inverse(x: Eight) -> Eight {
    // SAFETY: see above.
    unsafe { Eight(_mm512_rcp14_pd(x.0)) }
}

/// `2^(i/16)`, i from 0 to 15.
const ROOTS: [f64; 16] = [
    1.0,
    1.044_273_782_427_413_8,
    1.090_507_732_665_257_7,
    1.138_788_634_756_691_6,
    1.189_207_115_002_721,
    1.241_857_812_073_484,
    1.296_839_554_651_009_6,
    1.354_255_546_936_892_7,
    std::f64::consts::SQRT_2,
    1.476_826_145_939_499_3,
    1.542_210_825_407_940_7,
    1.610_490_331_949_254_3,
    1.681_792_830_507_429,
    1.756_252_160_373_299_5,
    1.834_008_086_409_342_4,
    1.915_206_561_397_147_4,
];

/// `(2^r - 1) / r` for |r| <= 1/32: the polynomial that is exact at the Chebyshev nodes (relative error of `2^r` below 1.5e-17).
const RATIO: [f64; 6] = [
    0.693_147_180_559_945_7,
    0.240_226_506_959_100_75,
    0.055_504_108_656_639_3,
    0.009_618_129_106_919_537,
    0.001_333_378_157_678_426_8,
    0.000_154_037_239_807_492_56,
];

/// `2^n` with n in sixteenths, in low bits, and `2^r`, times a power of two.
#[inline(always)]
fn powers_of_both<const K: usize>(n: [Eight; K], r: [Eight; K], times: f64) -> ([Eight; K], [Eight; K]) {
    let (low, high) = (Eight::load(&ROOTS, 0), Eight::load(&ROOTS, 1));
    let (mut of_n, mut of_r) = (n, [Eight::splat(times * RATIO[5]); K]);
    for k in 0..K {
        let whole = n[k].sub(Eight::splat(Eight::ROUND));
        // SAFETY: see above.
        of_n[k] = unsafe {
            let roots = _mm512_permutex2var_pd(low.0, _mm512_castpd_si512(n[k].0), high.0);
            // Times 2 to the whole part.
            Eight(_mm512_scalef_pd(roots, whole.0))
        };
    }
    for coefficient in RATIO[..5].iter().rev() {
        for k in 0..K {
            of_r[k] = of_r[k].mul_add(r[k], Eight::splat(times * coefficient));
        }
    }
    for k in 0..K {
        of_r[k] = of_r[k].mul_add(r[k], Eight::splat(times));
    }
    (of_n, of_r)
}

impl Exponential for Eight {
    /// Sixteenths in the last bits.
    const ROUND: f64 = ROUND / 16.0;

    #[inline(always)]
    fn powers<const K: usize>(n: [Self; K], r: [Self; K]) -> [Self; K] {
        let (mut powers, of_r) = powers_of_both(n, r, 1.0);
        for k in 0..K {
            powers[k] = powers[k].mul(of_r[k]);
        }
        powers
    }

    #[inline(always)]
    fn kappas<const K: usize>(n: [Self; K], r: [Self; K]) -> [Self; K] {
        let one = Self::splat(1.0);
        let (of_n, of_r) = powers_of_both(n, r, 2.0);
        let (mut divisors, mut inverses, mut errors) = (n, n, n);
        for k in 0..K {
            divisors[k] = of_n[k].mul_sub(of_r[k], one);
        }
        for k in 0..K {
            inverses[k] = nearly_inverse(divisors[k]);
        }
        for k in 0..K {
            errors[k] = inverses[k].residue(divisors[k], one);
        }
        for k in 0..K {
            // 1 / (1 - e) is (1 + e)(1 + e^2), up to e^4.
            inverses[k] = inverses[k].mul_add(errors[k], inverses[k]);
            errors[k] = errors[k].mul_add(errors[k], one);
        }
        for k in 0..K {
            inverses[k] = inverses[k].mul(errors[k]);
        }
        inverses
    }
}
