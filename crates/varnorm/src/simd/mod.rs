//! Vector lanes and the one place where the instruction set is chosen.
//!
//! Hot loops are written once, as the `run` of a [`Work`], over plain arrays or, where their numbers stay in registers, over the
//! [`Register`] of an instruction set; [`dispatch`] compiles that body for AVX-512, AVX2 and the portable baseline and
//! picks one at run time. All `unsafe` of the crate is here.

/// Operations of a register that are one instruction.
#[cfg(target_arch = "x86_64")]
macro_rules! instructions {
    ($($name:ident($($other:ident),*) = $intrinsic:ident;)*) => {
        $(#[inline(always)]
        fn $name(self, $($other: Self),*) -> Self {
            // SAFETY: only bodies that `dispatch` runs after it has found the instructions of a register name its type.
            unsafe { Self($intrinsic(self.0, $($other.0),*)) }
        })*
    };
}

pub(crate) mod aligned;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod exponential;
mod portable;
pub(crate) mod sincos;

pub(crate) use exponential::{
    Exponential, Function, Power, TOGETHER, exp, exp_ratio, falling_power, map, power_of_two, tanh,
};
use portable::Plain;

/// Lanes of a group of pairs: four registers of AVX2, so that the latency of one chain hides behind three others.
pub(crate) const L: usize = 16;

/// Lanes of half a group: one cache line.
pub(crate) const H: usize = 8;

/// Lanes in one array: one AVX-512 register, two of AVX2, four of SSE2 or NEON.
pub(crate) const W: usize = 8;

/// Registers that an array of W takes, at most.
pub(crate) const MOST_REGISTERS: usize = W / 4;

/// An instruction set.
pub(crate) trait Isa {
    /// `a * b + c`, fused where the hardware can.
    fn mul_add(a: f64, b: f64, c: f64) -> f64;

    /// For bodies so large that arrays would be taken apart into single numbers.
    type Register: Exponential;

    /// Four numbers, for what is laid out by fours.
    type Four: Four;

    /// The `at`-th four numbers of a register.
    fn part(of: Self::Register, at: usize) -> Self::Four;
}

/// Numbers that are worked on together.
pub(crate) trait Register: Copy {
    /// How many: 4 or 8.
    const WIDTH: usize;

    fn splat(value: f64) -> Self;
    /// The `at`-th WIDTH numbers of a cell.
    fn load<const N: usize>(cell: &[f64; N], at: usize) -> Self;
    /// Fewer than WIDTH numbers, continued with zeros.
    fn load_some(values: &[f64]) -> Self;
    /// Becomes the `at`-th WIDTH numbers of a cell.
    fn store<const N: usize>(self, cell: &mut [f64; N], at: usize);
    /// The sum of each of four, neighbours first.
    fn sums(of: [Self; 4]) -> [f64; 4];
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn abs(self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// To the last digit or the one before; for divisors that neither they nor their inverse leave the normal range.
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
    /// 0 in the lanes where `value < bound`, self elsewhere.
    fn zero_where_less(self, value: Self, bound: Self) -> Self;
    /// A counter, begun as `splat(0.0)`: one more in the lanes where `value > bound`. Only [`counted`](Self::counted) reads it.
    fn count_above(self, value: Self, bound: Self) -> Self;
    /// What all lanes of a counter have counted.
    fn counted(self) -> f64;
}

/// Registers of four.
pub(crate) trait Four: Register {
    /// Rows become columns.
    fn transpose(of: [Self; 4]) -> [Self; 4];
}

/// Up to W numbers, continued with another.
#[inline(always)]
pub(crate) fn filled(values: &[f64], rest: f64) -> [f64; W] {
    // Mostly there are W: then nothing has to be counted.
    match <&[f64; W]>::try_from(values) {
        Ok(all) => *all,
        Err(_) => {
            let mut lanes = [rest; W];
            lanes[..values.len()].copy_from_slice(values);
            lanes
        }
    }
}

/// The first of W numbers, as many as there is place for.
#[inline(always)]
pub(crate) fn put(lanes: &[f64; W], out: &mut [f64]) {
    match <&mut [f64; W]>::try_from(&mut *out) {
        Ok(all) => *all = *lanes,
        Err(_) => out.copy_from_slice(&lanes[..out.len()]),
    }
}

/// Puts four rows side by side: they become the `at`-th four numbers of each cell.
#[inline(always)]
pub(crate) fn interleave<I: Isa, const N: usize>(rows: [&[f64]; 4], at: usize, out: &mut [[f64; N]]) {
    let (squares, rest) = out.as_chunks_mut::<4>();
    let done = squares.len() * 4;
    let fours = rows.map(|row| &row.as_chunks::<4>().0[..squares.len()]);
    for (s, square) in squares.iter_mut().enumerate() {
        let mut four = [I::Four::splat(0.0); 4];
        for row in 0..4 {
            four[row] = I::Four::load(&fours[row][s], 0);
        }
        let four = I::Four::transpose(four);
        for k in 0..4 {
            four[k].store(&mut square[k], at);
        }
    }
    for (k, cell) in rest.iter_mut().enumerate() {
        cell.as_chunks_mut::<4>().0[at] = rows.map(|row| row[done + k]);
    }
}

/// Hardware with fused multiply-add and registers of four.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx2;

#[cfg(target_arch = "x86_64")]
impl Isa for Avx2 {
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }

    type Register = avx2::Four;
    type Four = avx2::Four;

    #[inline(always)]
    fn part(of: avx2::Four, _: usize) -> avx2::Four {
        of
    }
}

/// Hardware with registers of eight, and twice as many of them.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx512;

#[cfg(target_arch = "x86_64")]
impl Isa for Avx512 {
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }

    type Register = avx512::Eight;
    type Four = avx2::Four;

    #[inline(always)]
    fn part(of: avx512::Eight, at: usize) -> avx2::Four {
        of.half(at)
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

    type Register = Plain<Self>;
    type Four = Plain<Self>;

    #[inline(always)]
    fn part(of: Plain<Self>, _: usize) -> Plain<Self> {
        of
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

    type Register = Plain<Self>;
    type Four = Plain<Self>;

    #[inline(always)]
    fn part(of: Plain<Self>, _: usize) -> Plain<Self> {
        of
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
    work.run::<Avx512>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2(work: impl Work) {
    work.run::<Avx2>();
}

/// The instruction sets that there is code for, the best last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Instructions {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The best that this machine has, unless the environment asks for less: `VARNORM_INSTRUCTIONS=avx2` (or `portable`) gives the bits
/// of a machine without AVX-512 (or without both). What it asks for in vain is not taken.
fn instructions() -> Instructions {
    static FOUND: std::sync::OnceLock<Instructions> = std::sync::OnceLock::new();
    *FOUND.get_or_init(|| {
        let wanted = std::env::var("VARNORM_INSTRUCTIONS").unwrap_or_default();
        best().min(match wanted.as_str() {
            "portable" => Instructions::Portable,
            #[cfg(target_arch = "x86_64")]
            "avx2" => Instructions::Avx2,
            _ => best(),
        })
    })
}

#[cfg(target_arch = "x86_64")]
fn best() -> Instructions {
    use std::arch::is_x86_feature_detected as has;
    match has!("avx2") && has!("fma") {
        true if has!("avx512f") && has!("avx512dq") && has!("avx512vl") => Instructions::Avx512,
        true => Instructions::Avx2,
        false => Instructions::Portable,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn best() -> Instructions {
    Instructions::Portable
}

/// Runs `work` with the best instruction set of this machine.
pub(crate) fn dispatch(work: impl Work) {
    match instructions() {
        // SAFETY: `best` has found the features of `run_avx512` on this machine.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512 => unsafe { run_avx512(work) },
        // SAFETY: `best` has found the features of `run_avx2` on this machine.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => unsafe { run_avx2(work) },
        Instructions::Portable => run_portable(work),
    }
}

/// Fused multiply-add is part of the AArch64 baseline.
#[cfg(target_arch = "aarch64")]
fn run_portable(work: impl Work) {
    work.run::<Fused>();
}

#[cfg(not(target_arch = "aarch64"))]
fn run_portable(work: impl Work) {
    work.run::<Separate>();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that registers do, on some numbers: `[operation][number]`.
    struct Everything<'a>(&'a [f64], &'a mut Vec<Vec<f64>>);

    impl Work for Everything<'_> {
        #[inline(always)]
        fn run<I: Isa>(self) {
            everything::<I::Register>(self.0, self.1);
        }
    }

    fn everything<R: Register>(numbers: &[f64], out: &mut Vec<Vec<f64>>) {
        const MANY: usize = 32;
        let cell = numbers.first_chunk::<MANY>().unwrap();
        let apply = |of: &dyn Fn(R, R, R) -> R| {
            let mut values = [0.0; MANY];
            for at in 0..MANY / R::WIDTH {
                let x = R::load(cell, at);
                of(x, R::splat(3.0), x.mul(R::splat(0.7))).store(&mut values, at);
            }
            values.to_vec()
        };
        out.push(apply(&|x, y, _| x.add(y)));
        out.push(apply(&|x, y, _| x.sub(y)));
        out.push(apply(&|x, y, _| x.mul(y)));
        out.push(apply(&|x, y, _| y.div(x)));
        out.push(apply(&|x, _, _| x.abs()));
        out.push(apply(&|x, y, _| x.max(y)));
        out.push(apply(&|x, y, _| x.min(y)));
        out.push(apply(&|x, y, z| x.mul_add(y, z)));
        out.push(apply(&|x, y, z| x.mul_sub(y, z)));
        out.push(apply(&|x, y, z| z.zero_where_less(x, y)));
        out.push(apply(&|x, y, z| R::splat(f64::from(u8::from(x.any_above(y)) + u8::from(z.all_above(y))))));
        for count in 0..R::WIDTH {
            let four = [R::load(cell, 0), R::load_some(&numbers[..count]), R::splat(1.0), R::load(cell, 1)];
            out.push(R::sums(four).to_vec());
        }
    }

    #[test]
    fn registers_do_what_their_names_say() {
        let numbers: Vec<f64> = (0..32).map(|i| f64::from(i * i - 60) * 0.37).collect();
        let (mut found, mut plain) = (Vec::new(), Vec::new());
        dispatch(Everything(&numbers, &mut found));
        Everything(&numbers, &mut plain).run::<Separate>();
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-15 * b.abs().max(1.0);
        for (operation, (found, plain)) in found.iter().zip(&plain).take(10).enumerate() {
            assert!(found.iter().zip(plain).all(|(a, b)| near(*a, *b)), "{operation}: {found:?} {plain:?}");
        }
        let x = |i: usize| numbers[i];
        assert!(
            near(plain[0][5], x(5) + 3.0) && near(plain[1][5], x(5) - 3.0) && near(plain[2][5], x(5) * 3.0)
        );
        assert!(near(plain[3][5], 3.0 / x(5)) && plain[4][5] == -x(5));
        assert!(plain[5][5] == 3.0 && plain[6][5] == x(5) && plain[6][31] == 3.0);
        assert!(near(plain[7][5], 3.7 * x(5)) && near(plain[8][5], 2.3 * x(5)));
        assert!(plain[9][5] == 0.0 && near(plain[9][31], 0.7 * x(31)));
        // Comparisons are of whole registers: the first has nothing above 3, the last nothing else.
        assert!([&found, &plain].iter().all(|of| of[10][0] == 0.0 && of[10][31] == 2.0));
        for of in [&found, &plain] {
            let width = of.len() - 11;
            for (count, sums) in of[11..].iter().enumerate() {
                let first: f64 = numbers[..width].iter().sum();
                let some: f64 = numbers[..count].iter().sum();
                let second: f64 = numbers[width..2 * width].iter().sum();
                let expected = [first, some, width as f64, second];
                assert!(sums.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{sums:?}");
            }
        }
    }

    /// How many of some numbers are above a bound.
    struct Above<'a>(&'a [f64], f64, &'a mut f64);

    impl Work for Above<'_> {
        #[inline(always)]
        fn run<I: Isa>(self) {
            let mut counter = I::Register::splat(0.0);
            for cell in self.0.as_chunks::<W>().0 {
                for at in 0..W / I::Register::WIDTH {
                    counter = counter.count_above(I::Register::load(cell, at), I::Register::splat(self.1));
                }
            }
            *self.2 = counter.counted();
        }
    }

    #[test]
    fn counters_count_what_is_above_and_nothing_else() {
        let mut numbers: Vec<f64> = (0..64).map(|i| f64::from(i % 9) - 4.0).collect();
        numbers[7] = f64::NAN;
        numbers[8] = f64::NEG_INFINITY;
        for bound in [-5.0, -4.0, 0.0, 3.5, 4.0, f64::INFINITY] {
            let expected = numbers.iter().filter(|v| **v > bound).count() as f64;
            let (mut found, mut plain) = (0.0, 0.0);
            dispatch(Above(&numbers, bound, &mut found));
            Above(&numbers, bound, &mut plain).run::<Separate>();
            assert_eq!((found, plain), (expected, expected), "{bound}");
        }
    }

    struct Quotients<'a>(&'a [f64], &'a mut [f64]);

    impl Work for Quotients<'_> {
        #[inline(always)]
        fn run<I: Isa>(self) {
            let (numbers, _) = self.0.as_chunks::<W>();
            for (x, out) in numbers.iter().zip(self.1.as_chunks_mut::<W>().0) {
                for at in 0..W / I::Register::WIDTH {
                    let x = I::Register::load(x, at);
                    x.mul(x).div(x).store(out, at);
                }
            }
        }
    }

    #[test]
    fn quotients_are_right_to_the_digit_before_the_last() {
        let numbers: Vec<f64> =
            (0..8000).map(|i| 1.003f64.powi(i - 4000) * (f64::from(i % 7) - 3.5)).collect();
        let mut found = vec![0.0; numbers.len()];
        dispatch(Quotients(&numbers, &mut found));
        for (x, found) in numbers.iter().zip(&found) {
            assert!((found / (x * x / x) - 1.0).abs() < 2.3e-16, "{x:e}: {found:e}");
        }
    }
}
