//! Two ways over a row of cells of the Goursat problem `u_st = z u`, `u(0, t) = u(s, 0) = 1`, for L pairs at once.
//!
//! z is constant on a cell (a pair of increments), which may be divided into `parts x parts` smaller ones with
//! `z / parts^2`.
//! - [`CornerSweep`]: u at the corners, by `u_11 = (u_01 + u_10)(1 + z/2 + z^2/12) - u_00 (1 - z^2/12)`; the error falls
//!   four times per halving.
//! - [`EdgeSweep`]: u on the edges as polynomials of N coefficients; the error falls exponentially with N.
//!
//! Each has a form with an exponent beside every number, for values that no `f64` can hold. Powers of two are exact:
//! where both can be used they give the same bits.

use crate::simd::L;
use crate::simd::{Isa, Register, Work, falling_power, power_of_two};

type Cell = [f64; L];

/// Registers that [`CornerSweep`] works on at a time: with up to four rows, what it keeps fits the sixteen of AVX2.
pub(crate) const REGISTERS: usize = 2;
/// Lanes that are solved for together, or not.
pub(crate) const FOUR: usize = 4;
/// The exponent of zero.
const NOTHING: f64 = -1e305;

/// `1 / n!`.
pub(crate) const INVERSE_FACTORIALS: [f64; 32] = {
    let mut values = [1.0; 32];
    let mut n = 1;
    while n < 32 {
        values[n] = values[n - 1] / n as f64;
        n += 1;
    }
    values
};

/// R rows of small cells over a block of columns. `OWN`: every row has its own row of z (and cells are not divided).
pub(crate) struct CornerSweep<'a, const R: usize, const OWN: bool> {
    /// One row of z, or R rows.
    pub(crate) z: &'a [Cell],
    /// What z is multiplied by.
    pub(crate) factor: f64,
    /// Small cells per cell, along a side.
    pub(crate) parts: usize,
    /// u above the rows, at the right corner of every small cell; below them, afterwards.
    pub(crate) above: &'a mut [Cell],
    /// u to the left of the block, at the lower corner of each row; to its right, afterwards.
    pub(crate) left: &'a mut [Cell],
    /// u at the upper left corner of the block; at its lower left one, afterwards.
    pub(crate) corner: &'a mut Cell,
}

/// `1 + z/2 + z^2/12` and `1 - z^2/12` for z times the factor that the two constants were made of.
#[inline(always)]
fn weights<I: Isa>(z: f64, (half, twelfth): (f64, f64)) -> (f64, f64) {
    let square = z * z;
    (I::mul_add(square, twelfth, I::mul_add(z, half, 1.0)), I::mul_add(square, -twelfth, 1.0))
}

/// The same in a register.
#[inline(always)]
fn register_weights<R: Register>(z: R, (half, twelfth): (f64, f64)) -> (R, R) {
    let (square, one) = (z.mul(z), R::splat(1.0));
    let sides = square.mul_add(R::splat(twelfth), z.mul_add(R::splat(half), one));
    (sides, square.mul_add(R::splat(-twelfth), one))
}

#[inline(always)]
fn constants(factor: f64) -> (f64, f64) {
    (0.5 * factor, factor * factor / 12.0)
}

impl<const R: usize, const OWN: bool> Work for CornerSweep<'_, R, OWN> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { z, factor, parts, above, left, corner } = self;
        // Where every row has its own z there is nothing to loop over inside a cell.
        let parts = if OWN { 1 } else { parts };
        let width = above.len() / parts;
        let (z, above, constants) =
            (&z[..if OWN { R } else { 1 } * width], &mut above[..width * parts], constants(factor));
        let zero = I::Register::splat(0.0);
        for chunk in 0..L / (REGISTERS * I::Register::WIDTH) {
            let mut lefts = [[zero; REGISTERS]; R];
            for r in 0..R {
                lefts[r] = load::<I>(&left[r], chunk);
            }
            let mut diagonal = load::<I>(corner, chunk);
            store::<I>(lefts[R - 1], corner, chunk);
            for t in 0..width {
                let (mut a, mut b) = ([[zero; REGISTERS]; R], [[zero; REGISTERS]; R]);
                for r in 0..R {
                    if OWN || r == 0 {
                        let z = load::<I>(&z[r * width + t], chunk);
                        for v in 0..REGISTERS {
                            (a[r][v], b[r][v]) = register_weights(z[v], constants);
                        }
                    } else {
                        (a[r], b[r]) = (a[0], b[0]);
                    }
                }
                for cell in &mut above[t * parts..(t + 1) * parts] {
                    let (mut top, mut corner) = (load::<I>(cell, chunk), diagonal);
                    diagonal = top;
                    for r in 0..R {
                        let before = lefts[r];
                        for v in 0..REGISTERS {
                            let above = top[v].mul_sub(a[r][v], corner[v].mul(b[r][v]));
                            lefts[r][v] = before[v].mul_add(a[r][v], above);
                        }
                        (corner, top) = (before, lefts[r]);
                    }
                    store::<I>(top, cell, chunk);
                }
            }
            for r in 0..R {
                store::<I>(lefts[r], &mut left[r], chunk);
            }
        }
    }
}

/// Some lanes in registers.
#[inline(always)]
pub(crate) fn load<I: Isa>(cell: &Cell, chunk: usize) -> [I::Register; REGISTERS] {
    let mut registers = [I::Register::splat(0.0); REGISTERS];
    for v in 0..REGISTERS {
        registers[v] = I::Register::load(cell, chunk * REGISTERS + v);
    }
    registers
}

#[inline(always)]
pub(crate) fn store<I: Isa>(registers: [I::Register; REGISTERS], cell: &mut Cell, chunk: usize) {
    for v in 0..REGISTERS {
        registers[v].store(cell, chunk * REGISTERS + v);
    }
}

#[inline(always)]
fn corner_step<I: Isa>(a: f64, b: f64, left: f64, above: f64, corner: f64) -> f64 {
    I::mul_add(left, a, I::mul_add(above, a, -(corner * b)))
}

/// Numbers with an exponent each, as two neighbouring cells.
type Wide = [Cell; 2];

/// The same for one row, with exponents: `above`, `left` and `corner` hold a [`Wide`] where the others hold a cell.
pub(crate) struct WideCornerSweep<'a> {
    pub(crate) z: &'a [Cell],
    pub(crate) factor: f64,
    pub(crate) parts: usize,
    pub(crate) above: &'a mut [Cell],
    pub(crate) left: &'a mut [Cell],
    pub(crate) corner: &'a mut Wide,
}

impl Work for WideCornerSweep<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { z, factor, parts, above, left, corner } = self;
        let (left, constants) = (&mut left.as_chunks_mut::<2>().0[0], constants(factor));
        let mut diagonal = std::mem::replace(corner, *left);
        for (at, above) in above.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let z = &z[at / parts];
            let mut value = [[0.0; L]; 2];
            for lane in 0..L {
                let (a, b) = weights::<I>(z[lane], constants);
                let exponents = [left[1][lane], above[1][lane], diagonal[1][lane]];
                let top = exponents.iter().fold(NOTHING, |top: f64, e| if *e > top { *e } else { top });
                let product = corner_step::<I>(
                    a,
                    b,
                    left[0][lane] * falling_power(exponents[0] - top),
                    above[0][lane] * falling_power(exponents[1] - top),
                    diagonal[0][lane] * falling_power(exponents[2] - top),
                );
                (value[0][lane], value[1][lane]) = normal(product, top);
            }
            diagonal = std::mem::replace(above, value);
            *left = value;
        }
    }
}

/// The mantissa brought to a size between 1 and 2.
#[inline(always)]
fn normal(value: f64, exponent: f64) -> (f64, f64) {
    let own = ((value.to_bits() >> 52) & 0x7ff) as f64 - 1023.0;
    if value == 0.0 { (0.0, NOTHING) } else { (value * power_of_two(-own), exponent + own) }
}

/// One row of small cells over a block of columns, for the groups of four lanes that are wanted.
///
/// An edge is `sum_n c_n tau^n / n!`, tau from 0 to 1 along it. From the upper edge a and the left edge b (with the common
/// corner `a_0 = b_0`) follow the lower one, `z^n sum_{j>=1} b_j / (j+n)! + sum_{i<=n} a_i z^(n-i) / (n-i)!`, and, with a and b
/// exchanged, the right one. Terms with `j + n > N` are as small as those that the edges leave out.
pub(crate) struct EdgeSweep<'a, const N: usize> {
    pub(crate) z: &'a [Cell],
    pub(crate) factor: f64,
    pub(crate) parts: usize,
    /// The upper edges, N cells each; the lower ones, afterwards.
    pub(crate) above: &'a mut [Cell],
    /// The left edge of the block; the right one, afterwards.
    pub(crate) left: &'a mut [Cell],
    pub(crate) wanted: [bool; L / FOUR],
}

impl<const N: usize> Work for EdgeSweep<'_, N> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { z, factor, parts, above, left, wanted } = self;
        let fours = I::Register::WIDTH / FOUR;
        for chunk in 0..L / I::Register::WIDTH {
            if wanted[chunk * fours..(chunk + 1) * fours].contains(&true) {
                edges::<I, N>(z, factor, parts, above, left, chunk);
            }
        }
    }
}

#[inline(always)]
fn edges<I: Isa, const N: usize>(
    z: &[Cell],
    factor: f64,
    parts: usize,
    above: &mut [Cell],
    left: &mut [Cell],
    chunk: usize,
) {
    let factor = I::Register::splat(factor);
    let mut beside = load_edge::<I, N>(left, chunk);
    for (z, above) in z.iter().zip(above.chunks_exact_mut(N * parts)) {
        let z = I::Register::load(z, chunk).mul(factor);
        for above in above.chunks_exact_mut(N) {
            let mut top = load_edge::<I, N>(above, chunk);
            edge_step::<I::Register, N>(z, &mut top, &mut beside);
            for n in 0..N {
                top[n].store(&mut above[n], chunk);
            }
        }
    }
    for n in 0..N {
        beside[n].store(&mut left[n], chunk);
    }
}

#[inline(always)]
fn load_edge<I: Isa, const N: usize>(cells: &[Cell], chunk: usize) -> [I::Register; N] {
    let mut edge = [I::Register::splat(0.0); N];
    for n in 0..N {
        edge[n] = I::Register::load(&cells[n], chunk);
    }
    edge
}

/// The smaller edge of the two of a cell is brought to the exponent of the larger, which is given to both: an edge is its
/// coefficients and a cell of exponents.
pub(crate) fn align(above: &mut [Cell], left: &mut [Cell]) {
    let order = above.len() - 1;
    for lane in 0..L {
        let top = above[order][lane].max(left[order][lane]);
        for edge in [&mut *above, &mut *left] {
            let factor = falling_power(edge[order][lane] - top);
            edge[..order].iter_mut().for_each(|cell| cell[lane] *= factor);
            edge[order][lane] = top;
        }
    }
}

/// Brings the largest coefficient of an edge to a size between 1 and 2.
pub(crate) fn normalize(edge: &mut [Cell]) {
    let order = edge.len() - 1;
    for lane in 0..L {
        let largest = edge[..order].iter().fold(0.0f64, |most, cell| most.max(cell[lane].abs()));
        let (_, own) = normal(largest, 0.0);
        if own > -1000.0 && largest.is_finite() {
            edge[..order].iter_mut().for_each(|cell| cell[lane] *= power_of_two(-own));
            edge[order][lane] += own;
        }
    }
}

/// The body for every index below N, each written out: the compiler would leave loops of this size as they are, and
/// the edges in memory.
macro_rules! each {
    ($index:ident < $count:expr, $body:block) => { each!(@ $index, $count, $body, 0 1 2 3 4 5 6 7 8 9 10 11) };
    (@ $index:ident, $count:expr, $body:block, $($value:literal)*) => {
        $({ const $index: usize = $value; if $index < $count $body })*
    };
}

// Written out, a comparison with an index is one of constants.
#[allow(clippy::absurd_extreme_comparisons)]
#[inline(always)]
fn edge_step<F: Register, const N: usize>(z: F, above: &mut [F; N], left: &mut [F; N]) {
    const { assert!(N >= 2 && N <= 12) };
    left[0] = above[0];
    let (mut below, mut right) = (*above, *left);
    // z^k and z^k / k!.
    let (mut power, mut weight) = ([z; N], [z; N]);
    each!(K < N, {
        if K >= 2 {
            power[K] = power[K - 1].mul(z);
            weight[K] = power[K].mul(F::splat(INVERSE_FACTORIALS[K]));
        }
    });
    each!(M < N, {
        let corner = above[0].mul(F::splat(INVERSE_FACTORIALS[M]));
        let (mut from_left, mut from_above) = (corner, corner);
        each!(J < N, {
            if J >= 1 && (M == 0 || J + M <= N) {
                let share = F::splat(INVERSE_FACTORIALS[J + M]);
                from_left = left[J].mul_add(share, from_left);
                from_above = above[J].mul_add(share, from_above);
            }
        });
        if M > 0 {
            from_left = from_left.mul_add(power[M], above[M]);
            from_above = from_above.mul_add(power[M], left[M]);
            each!(K < N, {
                if K >= 1 && K < M {
                    from_left = above[K].mul_add(weight[M - K], from_left);
                    from_above = left[K].mul_add(weight[M - K], from_above);
                }
            });
        }
        below[M] = from_left;
        right[M] = from_above;
    });
    *above = below;
    *left = right;
}
