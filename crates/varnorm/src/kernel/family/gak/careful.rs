//! Global alignments with an exponent beside every number, for distances whose local kernels no `f64` can hold.

use crate::kernel::family::gak::One;
use crate::kernel::points::window::Pairs;
use crate::simd::L;
use crate::simd::{Isa, Work, dispatch, exp_ratio, falling_power, power_of_two};

/// The exponent of zero.
const NOTHING: f64 = -1e305;

/// A number of any size in every lane: `mantissa * 2^exponent`.
#[derive(Clone, Copy)]
struct Wide {
    mantissa: [f64; L],
    exponent: [f64; L],
}

const ZERO: Wide = Wide { mantissa: [0.0; L], exponent: [NOTHING; L] };
const UNIT: Wide = Wide { mantissa: [1.0; L], exponent: [0.0; L] };

/// M with a mantissa and an exponent in every cell: slower, and right for any distances.
pub(crate) fn careful(kernel: &One, pairs: &mut Pairs<'_>) -> ([f64; L], [f64; L]) {
    let band = kernel.band(pairs);
    let steps = pairs.y.steps;
    let mut strip = vec![[0.0; L]; steps];
    let mut row = vec![ZERO; steps];
    let mut result = ([0.0; L], [0.0; L]);
    for s in 0..pairs.x.steps {
        let made = pairs.strip::<true, L>(0, s..s + 1, 0..steps, &mut strip);
        let strip = pairs.cells(&made, &strip);
        dispatch(CarefulRow { kernel, s, band: band.as_ref(), strip, row: &mut row });
        for lane in 0..pairs.count() {
            if pairs.x.lengths[lane] == s + 1 {
                let last = &row[pairs.y.lengths[lane] - 1];
                result.0[lane] = last.mantissa[lane];
                result.1[lane] = last.exponent[lane];
            }
        }
    }
    result
}

/// One row of M with an exponent in every cell.
struct CarefulRow<'a> {
    kernel: &'a One,
    s: usize,
    band: Option<&'a ([f64; L], usize)>,
    strip: &'a [[f64; L]],
    row: &'a mut [Wide],
}

impl Work for CarefulRow<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { kernel, s, band, strip, row } = self;
        let mut corner = if s == 0 { UNIT } else { ZERO };
        let mut left = ZERO;
        for (t, (cell, distance)) in row.iter_mut().zip(strip).enumerate() {
            let above = *cell;
            left = careful_cell::<I>(kernel, distance, &corner, &above, &left);
            if let Some((widths, _)) = band {
                for lane in 0..L {
                    if s.abs_diff(t) as f64 > widths[lane] {
                        left.mantissa[lane] = 0.0;
                        left.exponent[lane] = NOTHING;
                    }
                }
            }
            *cell = left;
            corner = above;
        }
    }
}

/// `kappa (corner + above + left)`, the mantissa brought back to [1, 2).
#[inline(always)]
fn careful_cell<I: Isa>(kernel: &One, distance: &[f64; L], corner: &Wide, above: &Wide, left: &Wide) -> Wide {
    let mut value = ZERO;
    for lane in 0..L {
        let (kappa, kappa_exponent) = careful_local::<I>(kernel.factor * distance[lane], kernel.floor);
        let (a, b, c) = (corner.exponent[lane], above.exponent[lane], left.exponent[lane]);
        let sides = if b > c { b } else { c };
        let largest = if a > sides { a } else { sides };
        let sum = (above.mantissa[lane] * falling_power(b - largest)
            + left.mantissa[lane] * falling_power(c - largest))
            + corner.mantissa[lane] * falling_power(a - largest);
        let product = kappa * sum;
        // Positive and far from the limits of an f64: the exponent can be read off the bits.
        let own = (product.to_bits() >> 52) as i32 - 1023;
        if product > 0.0 {
            value.mantissa[lane] = product * power_of_two(-f64::from(own));
            value.exponent[lane] = largest + kappa_exponent + f64::from(own);
        }
    }
    value
}

/// kappa for any z >= 0 as a mantissa and a power of two.
#[inline(always)]
fn careful_local<I: Isa>(z: f64, floor: f64) -> (f64, f64) {
    /// Beyond this many halvings, `2 exp(z) - 1` is `2 exp(z)` to the last bit.
    const MOST: f64 = 512.0;
    const FARTHEST: f64 = 680.0;
    let z = if z < 1e300 { z } else { 1e300 };
    let beyond = (z * std::f64::consts::LOG2_E - MOST).ceil();
    let beyond = if beyond > 0.0 { beyond } else { 0.0 };
    // Where z has no digits left after the point, neither has the rest.
    let rest = I::mul_add(beyond, -std::f64::consts::LN_2, z);
    let rest = if rest < FARTHEST { rest } else { FARTHEST };
    let rest = if rest > 0.0 { rest } else { 0.0 };
    let (even, odd, power) = exp_ratio::<I>(rest);
    let below = even - odd;
    let kappa = below / I::mul_add(power + power, even + odd, -below);
    // A floor is at least 1e-100, well above what the exponent is split off for.
    if floor > 0.0 && (beyond > 0.0 || kappa < floor) { (floor, 0.0) } else { (kappa, -beyond) }
}
