//! [`Plain`]: a register that is left to the compiler.

use std::marker::PhantomData;

use super::exponential::Powers;
use super::{Four, Isa, Register};

/// Four numbers side by side, with the multiply-adds of an instruction set.
pub(crate) struct Plain<I>([f64; 4], PhantomData<I>);

impl<I> Clone for Plain<I> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Plain<I> {}

/// Operations that are the same for every lane.
macro_rules! lane_by_lane {
    ($($name:ident($($other:ident),*) = |$a:ident $(, $b:ident)*| $value:expr;)*) => {
        $(#[inline(always)]
        fn $name(mut self, $($other: Self),*) -> Self {
            for lane in 0..4 {
                let ($a, ($($b,)*)) = (self.0[lane], ($($other.0[lane],)*));
                self.0[lane] = $value;
            }
            self
        })*
    };
}

impl<I: Isa> Register for Plain<I> {
    const WIDTH: usize = 4;

    lane_by_lane! {
        add(other) = |a, b| a + b;
        sub(other) = |a, b| a - b;
        mul(other) = |a, b| a * b;
        div(other) = |a, b| a / b;
        abs() = |a| a.abs();
        max(other) = |a, b| if a > b { a } else { b };
        min(other) = |a, b| if a < b { a } else { b };
        mul_add(factor, term) = |a, b, c| I::mul_add(a, b, c);
        mul_sub(factor, term) = |a, b, c| I::mul_add(a, b, -c);
        zero_where_less(value, bound) = |a, b, c| if b < c { 0.0 } else { a };
        count_above(value, bound) = |a, b, c| if b > c { a + 1.0 } else { a };
    }

    #[inline(always)]
    fn counted(self) -> f64 {
        self.0.iter().sum()
    }

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value; 4], PhantomData)
    }
    #[inline(always)]
    fn load<const N: usize>(cell: &[f64; N], at: usize) -> Self {
        Self(cell.as_chunks().0[at], PhantomData)
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
    fn store<const N: usize>(self, cell: &mut [f64; N], at: usize) {
        cell.as_chunks_mut().0[at] = self.0;
    }
    #[inline(always)]
    fn sums(of: [Self; 4]) -> [f64; 4] {
        let mut sums = [0.0; 4];
        for (sum, Self(v, _)) in sums.iter_mut().zip(of) {
            *sum = (v[0] + v[1]) + (v[2] + v[3]);
        }
        sums
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
}

impl<I: Isa> Four for Plain<I> {
    #[inline(always)]
    fn transpose(of: [Self; 4]) -> [Self; 4] {
        let mut columns = of;
        for (k, column) in columns.iter_mut().enumerate() {
            for (row, four) in of.iter().enumerate() {
                column.0[row] = four.0[k];
            }
        }
        columns
    }
}

impl<I: Isa> Powers for Plain<I> {
    #[inline(always)]
    fn times_power(mut self, low_bits: Self) -> Self {
        for lane in 0..4 {
            let exponent = low_bits.0[lane].to_bits() << 52;
            self.0[lane] = f64::from_bits(self.0[lane].to_bits().wrapping_add(exponent));
        }
        self
    }
}
