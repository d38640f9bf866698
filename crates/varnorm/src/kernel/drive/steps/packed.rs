//! Values of points that are packed: one lane per column series, some row series at a time.

use std::ops::Range;

use crate::linalg::product::{from_products, is_trusted, squared_distance};
use crate::simd::{Isa, MOST_REGISTERS, Register, W, Work, interleave};

/// Row series at a time: each value that is loaded serves all of them; with AVX2 half of them at a time, whose sums fill half
/// of the registers.
pub(super) const ROWS: usize = 8;
const HALF: usize = ROWS / 2;

/// Puts W rows side by side.
pub(super) struct Pack<'a> {
    pub(super) rows: [&'a [f64]; W],
    pub(super) out: &'a mut [[f64; W]],
}

impl Work for Pack<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { rows: [a, b, c, d, e, f, g, h], out } = self;
        interleave::<I, W>([a, b, c, d], 0, out);
        interleave::<I, W>([e, f, g, h], 1, out);
    }
}

/// `<x_t, y_t>`, or `|x_t - y_t|^2` from the differences.
pub(super) struct Values<'a, const DISTANCE: bool> {
    pub(super) x: [&'a [f64]; ROWS],
    /// How many of these are wanted.
    pub(super) rows: usize,
    pub(super) packed: &'a [[f64; W]],
    pub(super) channels: usize,
    pub(super) out: &'a mut [[f64; W]],
}

impl<const DISTANCE: bool> Work for Values<'_, DISTANCE> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { x, rows, packed, channels, out } = self;
        let (steps, halves) = (packed.len() / channels, x.as_chunks::<HALF>().0);
        if I::Register::WIDTH == W && rows > HALF {
            return some_rows::<I, ROWS, DISTANCE>(x, packed, channels, out);
        }
        let halves = halves.iter().zip(out.chunks_exact_mut(HALF * steps));
        for (x, out) in halves.take(rows.div_ceil(HALF)) {
            some_rows::<I, HALF, DISTANCE>(*x, packed, channels, out);
        }
    }
}

/// All steps of R row series.
#[inline(always)]
fn some_rows<I: Isa, const R: usize, const DISTANCE: bool>(
    x: [&[f64]; R],
    packed: &[[f64; W]],
    channels: usize,
    out: &mut [[f64; W]],
) {
    let (steps, registers, zero) = (packed.len() / channels, W / I::Register::WIDTH, I::Register::splat(0.0));
    for (step, y) in packed.chunks_exact(channels).enumerate() {
        let mut xs = x;
        for r in 0..R {
            xs[r] = &x[r][step * channels..(step + 1) * channels];
        }
        let mut sums = [[zero; MOST_REGISTERS]; R];
        for (channel, cell) in y.iter().enumerate() {
            let mut y = [zero; MOST_REGISTERS];
            for i in 0..registers {
                y[i] = I::Register::load(cell, i);
            }
            for r in 0..R {
                let x = I::Register::splat(xs[r][channel]);
                for i in 0..registers {
                    let (a, b) = if DISTANCE { (x.sub(y[i]), x.sub(y[i])) } else { (x, y[i]) };
                    sums[r][i] = a.mul_add(b, sums[r][i]);
                }
            }
        }
        for r in 0..R {
            for i in 0..registers {
                sums[r][i].store(&mut out[r * steps + step], i);
            }
        }
    }
}

/// Puts `|x_t - y_t|^2` in the place of `<x_t, y_t>`, from those and the squares of all points, which takes half as many operations
/// as differences do; where that loses digits, from the differences.
pub(super) struct Distances<'a> {
    /// As [`Values`] got them, and how many of them are wanted.
    pub(super) x: [&'a [f64]; ROWS],
    pub(super) rows: usize,
    /// What was packed.
    pub(super) y: [&'a [f64]; W],
    pub(super) channels: usize,
    /// The squares of the wanted rows, one after the other, so many apart.
    pub(super) x_squares: &'a [f64],
    pub(super) stride: usize,
    pub(super) y_squares: &'a [[f64; W]],
    /// In which lane the first row meets itself, the next one in the next, if they do.
    pub(super) itself: Option<isize>,
    pub(super) values: &'a mut [[f64; W]],
}

impl Work for Distances<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let steps = self.y_squares.len();
        let rows = self.values.chunks_exact_mut(steps).zip(self.x_squares.chunks(self.stride));
        for (r, (values, x_squares)) in rows.take(self.rows).enumerate() {
            // Products and squares are summed in one order: a point is exactly 0 from itself.
            let mut least = [0.0; W];
            if let Some(itself) = self.itself.and_then(|lane| least.get_mut((lane + r as isize) as usize)) {
                *itself = f64::NEG_INFINITY;
            }
            let mut trusted = true;
            for (values, (x2, y2)) in values.iter_mut().zip(x_squares.iter().zip(self.y_squares)) {
                for at in 0..W / I::Register::WIDTH {
                    let sums = I::Register::splat(*x2).add(I::Register::load(y2, at));
                    let products = I::Register::load(values, at);
                    let (distances, all) = from_products(products, sums, I::Register::load(&least, at));
                    distances.store(values, at);
                    trusted &= all;
                }
            }
            if !trusted {
                let squares = x_squares.iter().zip(self.y_squares);
                again::<I>(self.x[r], &self.y, self.channels, squares, &least, values);
            }
        }
    }
}

/// Works out those distances of one row from differences that are not to be trusted.
#[inline(always)]
fn again<'a, I: Isa>(
    x: &[f64],
    y: &[&[f64]; W],
    channels: usize,
    squares: impl Iterator<Item = (&'a f64, &'a [f64; W])>,
    least: &[f64; W],
    values: &mut [[f64; W]],
) {
    for (step, (values, (x2, y2))) in values.iter_mut().zip(squares).enumerate() {
        let point: Range<usize> = step * channels..(step + 1) * channels;
        for lane in 0..W {
            if least[lane] != 0.0 {
                // A point with itself, also where its square overflows.
                values[lane] = 0.0;
            } else if !is_trusted(values[lane], x2 + y2[lane]) {
                values[lane] = squared_distance::<I>(&x[point.clone()], &y[lane][point.clone()]);
            }
        }
    }
}

/// `<x, x>` of W packed series in the order of [`Values`].
pub(super) struct Squares<'a> {
    pub(super) packed: &'a [[f64; W]],
    pub(super) channels: usize,
    pub(super) out: &'a mut [[f64; W]],
}

impl Work for Squares<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { packed, channels, out } = self;
        let mut step = 0;
        while step < out.len() {
            // Some steps at once: none waits for the one before.
            let (points, out) = (&packed[step * channels..], &mut out[step..]);
            match out.len() >= HALF {
                true => some_squares::<I, HALF>(points, channels, out),
                false => some_squares::<I, 1>(points, channels, out),
            }
            step += if out.len() >= HALF { HALF } else { 1 };
        }
    }
}

/// The squares of the first S steps.
#[inline(always)]
fn some_squares<I: Isa, const S: usize>(packed: &[[f64; W]], channels: usize, out: &mut [[f64; W]]) {
    let (registers, zero) = (W / I::Register::WIDTH, I::Register::splat(0.0));
    let (mut points, mut sums) = ([&packed[..0]; S], [[zero; MOST_REGISTERS]; S]);
    for s in 0..S {
        points[s] = &packed[s * channels..][..channels];
    }
    for channel in 0..channels {
        for s in 0..S {
            for i in 0..registers {
                let value = I::Register::load(&points[s][channel], i);
                sums[s][i] = value.mul_add(value, sums[s][i]);
            }
        }
    }
    for s in 0..S {
        for i in 0..registers {
            sums[s][i].store(&mut out[s], i);
        }
    }
}
