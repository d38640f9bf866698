//! Convolutions with the 84 kernels, and the shares of their steps.
//!
//! The weights are -1 everywhere plus 3 at three places: `C = 3 (s_a + s_b + s_c) - (s_0 + .. + s_8)`. The second sum is shared by
//! the kernels that follow each other with one dilation and one subset of channels, as all do where there is one channel.

use std::ops::Range;

use super::KERNELS;
use super::fitted::RocketFit;
use crate::data::Series;
use crate::kernel::family::shares::count::{room, shares};
use crate::simd::{Isa, Work};

/// Places of a kernel, and the one in the middle.
const PLACES: usize = 9;
const MIDDLE: usize = PLACES / 2;

/// The three places of every kernel that have the weight 2, in the order of the words.
pub(super) const HEAVY: [[usize; 3]; KERNELS] = {
    let mut all = [[0; 3]; KERNELS];
    let (mut at, mut a) = (0, 0);
    while a < PLACES {
        let mut b = a + 1;
        while b < PLACES {
            let mut c = b + 1;
            while c < PLACES {
                all[at] = [a, b, c];
                at += 1;
                c += 1;
            }
            b += 1;
        }
        a += 1;
    }
    all
};

/// Buffers for one series at a time.
#[derive(Default)]
pub(super) struct Scratch {
    steps: usize,
    /// Zeros on either side of the sum of channels. Places further out are zero too.
    padding: usize,
    /// Channel after channel.
    channels: Vec<f64>,
    /// The sum of a subset of channels.
    sum: Vec<f64>,
    /// Minus the sum over all nine places.
    base: Vec<f64>,
    /// A convolution.
    values: Vec<f64>,
}

impl Scratch {
    /// Takes a series for kernels of this reach.
    pub(super) fn load(&mut self, series: &Series<'_>, reach: usize) {
        let (steps, channels) = (series.steps(), series.channels());
        (self.steps, self.padding) = (steps, reach.min(steps));
        self.channels.resize(steps * channels, 0.0);
        for (t, point) in series.values().chunks_exact(channels).enumerate() {
            for (channel, value) in point.iter().enumerate() {
                self.channels[channel * steps + t] = *value;
            }
        }
        self.sum.clear();
        self.sum.resize(steps + 2 * self.padding, 0.0);
        self.base.resize(steps, 0.0);
        self.values.resize(room(steps), 0.0);
    }

    /// The sum of some channels, and the sum over nine places of it.
    #[inline(always)]
    fn add_up(&mut self, subset: &[u32], dilation: usize) {
        let steps = self.steps;
        for (at, channel) in subset.iter().enumerate() {
            let values = &self.channels[*channel as usize * steps..(*channel as usize + 1) * steps];
            let sum = &mut self.sum[self.padding..self.padding + steps];
            if at == 0 {
                sum.copy_from_slice(values);
            } else {
                for t in 0..steps {
                    sum[t] += values[t];
                }
            }
        }
        let (sum, padding) = (&self.sum[..], self.padding);
        let place = |j: usize| &sum[start(padding, j, dilation)..][..steps];
        let (s0, s1, s2, s3, s4) = (place(0), place(1), place(2), place(3), place(4));
        let (s5, s6, s7, s8) = (place(5), place(6), place(7), place(8));
        let base = &mut self.base[..steps];
        for t in 0..steps {
            base[t] = -(s0[t] + s1[t] + s2[t] + s3[t] + s4[t] + s5[t] + s6[t] + s7[t] + s8[t]);
        }
    }

    /// The convolution with a kernel at some steps, into `values`.
    #[inline(always)]
    fn convolve(&mut self, kernel: usize, dilation: usize, steps: Range<usize>) {
        let count = steps.len();
        let [a, b, c] = HEAVY[kernel];
        let (sum, padding) = (&self.sum[..], self.padding);
        let place = |j: usize| &sum[start(padding, j, dilation) + steps.start..][..count];
        let (a, b, c) = (place(a), place(b), place(c));
        let (base, values) = (&self.base[steps.start..][..count], &mut self.values[..count]);
        for t in 0..count {
            values[t] = base[t] + 3.0 * (a[t] + b[t] + c[t]);
        }
    }

    /// The convolution of all steps, to learn from: see [`Convolution`].
    pub(super) fn convolution(&mut self) -> &mut [f64] {
        &mut self.values[..self.steps]
    }
}

/// Where a place of the kernel is in a sum with so many zeros before it, for the first step.
#[inline(always)]
fn start(padding: usize, place: usize, dilation: usize) -> usize {
    let offset = place.abs_diff(MIDDLE).saturating_mul(dilation).min(padding);
    if place < MIDDLE { padding - offset } else { padding + offset }
}

/// The steps that count: all, or those whose places are all within the series, if there are any.
fn counted(steps: usize, dilation: usize, padded: bool) -> Range<usize> {
    let reach = dilation.saturating_mul(MIDDLE);
    if padded || steps <= reach.saturating_mul(2) { 0..steps } else { reach..steps - reach }
}

/// The convolution of the loaded series with one kernel, all steps of it.
pub(super) struct Convolution<'a> {
    pub(super) scratch: &'a mut Scratch,
    pub(super) subset: &'a [u32],
    pub(super) dilation: usize,
    pub(super) kernel: usize,
}

impl Work for Convolution<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        self.scratch.add_up(self.subset, self.dilation);
        self.scratch.convolve(self.kernel, self.dilation, 0..self.scratch.steps);
    }
}

/// All features of the loaded series.
pub(super) struct Features<'a> {
    pub(super) fit: &'a RocketFit,
    pub(super) scratch: &'a mut Scratch,
    pub(super) out: &'a mut [f64],
}

impl Work for Features<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { fit, scratch, out } = self;
        let learned = fit.learned();
        let mut at = 0;
        for (index, of) in learned.dilations.iter().enumerate() {
            let dilation = of.step as usize;
            let mut summed: &[u32] = &[];
            for kernel in 0..KERNELS {
                let subset = &learned.subsets[index * KERNELS + kernel][..];
                if subset != summed {
                    scratch.add_up(subset, dilation);
                    summed = subset;
                }
                let steps = counted(scratch.steps, dilation, (index + kernel).is_multiple_of(2));
                let (count, which) = (steps.len(), at..at + of.features as usize);
                scratch.convolve(kernel, dilation, steps);
                shares::<I>(
                    &mut scratch.values,
                    count,
                    &learned.biases[which.clone()],
                    &mut out[which.clone()],
                );
                at = which.end;
            }
        }
    }
}
