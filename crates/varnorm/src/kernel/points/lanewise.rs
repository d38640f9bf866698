//! Static values of points with few channels, made on the fly: two rows with four columns at a time, so that every value that is
//! loaded serves several times.

use std::ops::Range;

use crate::kernel::points::pack::Columns;
use crate::kernel::points::window::{COLUMNS, ROWS};
use crate::simd::L;
use crate::simd::{Isa, Register, Work};

/// Static values of few channels, of one part of N lanes.
pub(crate) struct Few<'a, const DISTANCE: bool, const N: usize> {
    pub(crate) part: usize,
    pub(crate) x: &'a Columns,
    pub(crate) rows: Range<usize>,
    pub(crate) y: &'a Columns,
    pub(crate) columns: Range<usize>,
    pub(crate) out: &'a mut [[f64; N]],
}

impl<const DISTANCE: bool, const N: usize> Work for Few<'_, DISTANCE, N> {
    #[inline(always)]
    fn run<I: Isa>(mut self) {
        match self.part {
            0 => self.of_part::<I, 0>(),
            _ => self.of_part::<I, 1>(),
        }
    }
}

impl<const DISTANCE: bool, const N: usize> Few<'_, DISTANCE, N> {
    #[inline(always)]
    fn of_part<I: Isa, const PART: usize>(&mut self) {
        let mut r = 0;
        while r + ROWS <= self.rows.len() {
            self.of_rows::<I, ROWS, PART>(r);
            r += ROWS;
        }
        if r < self.rows.len() {
            self.of_rows::<I, 1, PART>(r);
        }
    }

    /// R rows from the given one on, a few columns at a time: every value that is loaded serves several times.
    #[inline(always)]
    fn of_rows<I: Isa, const R: usize, const PART: usize>(&mut self, row: usize) {
        let (channels, width) = (self.x.channels, self.columns.len());
        let first = self.rows.start + row;
        let x = &self.x.values[first * channels..(first + R) * channels];
        let y = &self.y.values[self.columns.start * channels..self.columns.end * channels];
        let out = &mut self.out[row * width..(row + R) * width];
        let mut t = 0;
        while t + COLUMNS <= width {
            let (y, out) = (&y[t * channels..], &mut out[t..]);
            few_columns::<I, R, COLUMNS, DISTANCE, N, PART>(x, y, channels, width, out);
            t += COLUMNS;
        }
        while t < width {
            few_columns::<I, R, 1, DISTANCE, N, PART>(x, &y[t * channels..], channels, width, &mut out[t..]);
            t += 1;
        }
    }
}

/// The values of R points with C others.
#[inline(always)]
fn few_columns<
    I: Isa,
    const R: usize,
    const C: usize,
    const DISTANCE: bool,
    const N: usize,
    const PART: usize,
>(
    x: &[[f64; L]],
    y: &[[f64; L]],
    channels: usize,
    width: usize,
    out: &mut [[f64; N]],
) {
    let (mut xs, mut ys) = ([&x[..0]; R], [&y[..0]; C]);
    for r in 0..R {
        xs[r] = &x[r * channels..][..channels];
    }
    for c in 0..C {
        ys[c] = &y[c * channels..][..channels];
    }
    let width_of = I::Register::WIDTH;
    for at in 0..N / width_of {
        // The modulus only shows the compiler that the index is within bounds.
        let lanes = (PART * (N / width_of) + at) % (L / width_of);
        let mut sums = [[I::Register::splat(0.0); C]; R];
        for channel in 0..channels {
            let mut row = [I::Register::splat(0.0); R];
            for r in 0..R {
                row[r] = I::Register::load(&xs[r][channel], lanes);
            }
            for c in 0..C {
                let column = I::Register::load(&ys[c][channel], lanes);
                for r in 0..R {
                    let difference = row[r].sub(column);
                    let (a, b) = if DISTANCE { (difference, difference) } else { (row[r], column) };
                    sums[r][c] = a.mul_add(b, sums[r][c]);
                }
            }
        }
        for r in 0..R {
            for c in 0..C {
                sums[r][c].store(&mut out[r * width + c], at);
            }
        }
    }
}
