//! [`Four`]: a register of AVX2.

use std::arch::x86_64::*;

use super::Register;
use super::exponential::Powers;

/// A register of AVX2; with AVX-512 it is half of one, and there are twice as many.
#[derive(Clone, Copy)]
pub(crate) struct Four(pub(super) __m256d);

// SAFETY of all blocks below: only bodies that `dispatch` runs after it has found AVX2 and FMA name this type.
impl Register for Four {
    const WIDTH: usize = 4;

    instructions! {
        add(other) = _mm256_add_pd;
        sub(other) = _mm256_sub_pd;
        mul(other) = _mm256_mul_pd;
        div(other) = _mm256_div_pd;
        max(other) = _mm256_max_pd;
        min(other) = _mm256_min_pd;
        mul_add(factor, term) = _mm256_fmadd_pd;
        mul_sub(factor, term) = _mm256_fmsub_pd;
    }

    #[inline(always)]
    fn splat(value: f64) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_set1_pd(value)) }
    }
    #[inline(always)]
    fn load<const N: usize>(cell: &[f64; N], at: usize) -> Self {
        // SAFETY: see above; the chunk is good for four numbers, and no alignment is asked for.
        unsafe { Self(_mm256_loadu_pd(cell.as_chunks::<4>().0[at].as_ptr())) }
    }
    #[inline(always)]
    fn load_some(values: &[f64]) -> Self {
        const MASKS: [i64; 7] = [-1, -1, -1, 0, 0, 0, 0];
        let count = values.len().min(3);
        let mask = MASKS[3 - count..].first_chunk::<4>().unwrap_or(&[0; 4]);
        // SAFETY: see above; a lane beyond the slice is masked out, and so not read.
        unsafe { Self(_mm256_maskload_pd(values.as_ptr(), _mm256_loadu_si256(mask.as_ptr().cast()))) }
    }
    #[inline(always)]
    fn store<const N: usize>(self, cell: &mut [f64; N], at: usize) {
        // SAFETY: as for `load`.
        unsafe { _mm256_storeu_pd(cell.as_chunks_mut::<4>().0[at].as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn sums([a, b, c, d]: [Self; 4]) -> [f64; 4] {
        let mut sums = [0.0; 4];
        // SAFETY: see above.
        unsafe {
            let (ab, cd) = (_mm256_hadd_pd(a.0, b.0), _mm256_hadd_pd(c.0, d.0));
            let (low, high) =
                (_mm256_permute2f128_pd::<0x20>(ab, cd), _mm256_permute2f128_pd::<0x31>(ab, cd));
            Self(_mm256_add_pd(low, high)).store(&mut sums, 0);
        }
        sums
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_andnot_pd(Self::splat(-0.0).0, self.0)) }
    }
    #[inline(always)]
    fn any_above(self, bound: Self) -> bool {
        // SAFETY: see above.
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GT_OQ>(self.0, bound.0)) != 0 }
    }
    #[inline(always)]
    fn all_above(self, bound: Self) -> bool {
        // SAFETY: see above.
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GT_OQ>(self.0, bound.0)) == 0b1111 }
    }
    #[inline(always)]
    fn zero_where_less(self, value: Self, bound: Self) -> Self {
        // SAFETY: see above.
        unsafe { Self(_mm256_andnot_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(value.0, bound.0), self.0)) }
    }
    #[inline(always)]
    fn count_above(self, value: Self, bound: Self) -> Self {
        // SAFETY: see above. A comparison that holds is the whole number -1.
        unsafe {
            let above = _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_GT_OQ>(value.0, bound.0));
            Self(_mm256_castsi256_pd(_mm256_sub_epi64(_mm256_castpd_si256(self.0), above)))
        }
    }
    #[inline(always)]
    fn counted(self) -> f64 {
        let mut lanes = [0i64; 4];
        // SAFETY: see above; the array is good for four whole numbers.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), _mm256_castpd_si256(self.0)) };
        lanes.iter().sum::<i64>() as f64
    }
}

impl super::Four for Four {
    #[inline(always)]
    fn transpose([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        // SAFETY: see above.
        unsafe {
            let (ab, cd) = (_mm256_unpacklo_pd(a.0, b.0), _mm256_unpacklo_pd(c.0, d.0));
            let (ab_odd, cd_odd) = (_mm256_unpackhi_pd(a.0, b.0), _mm256_unpackhi_pd(c.0, d.0));
            [
                Self(_mm256_permute2f128_pd::<0x20>(ab, cd)),
                Self(_mm256_permute2f128_pd::<0x20>(ab_odd, cd_odd)),
                Self(_mm256_permute2f128_pd::<0x31>(ab, cd)),
                Self(_mm256_permute2f128_pd::<0x31>(ab_odd, cd_odd)),
            ]
        }
    }
}

impl Powers for Four {
    #[inline(always)]
    fn times_power(self, low_bits: Self) -> Self {
        // SAFETY: see above.
        unsafe {
            let exponents = _mm256_slli_epi64::<52>(_mm256_castpd_si256(low_bits.0));
            Self(_mm256_castsi256_pd(_mm256_add_epi64(exponents, _mm256_castpd_si256(self.0))))
        }
    }
}
