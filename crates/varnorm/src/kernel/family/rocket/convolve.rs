//! Convolutions with the 84 kernels, and the shares of their steps.
//!
//! The weights are -1 everywhere plus 3 at three places: `C = 3 (s_a + s_b + s_c) - (s_0 + .. + s_8)`. The second sum is worked out
//! once per channel and dilation; those of a subset add up.

use std::ops::Range;

use super::KERNELS;
use super::fitted::RocketFit;
use crate::data::Series;
use crate::kernel::family::shares::count::{self, room};
use crate::simd::{Isa, Register, W, Work};

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
    /// Zeros on either side of a channel. Places further out are zero too.
    padding: usize,
    count: usize,
    /// Channel after channel, each between its zeros; the last is the sum of a subset.
    channels: Vec<f64>,
    /// Of each of them, minus the sum over all nine places.
    bases: Vec<f64>,
    /// The dilation that the base of a channel was worked out for; 0 is none.
    based: Vec<usize>,
    /// A convolution.
    values: Vec<f64>,
}

impl Scratch {
    /// Takes a series for kernels of this reach.
    pub(super) fn load(&mut self, series: &Series<'_>, reach: usize) {
        let (steps, count) = (series.steps(), series.channels());
        (self.steps, self.padding, self.count) = (steps, reach.min(steps), count);
        let (stride, padding) = (self.stride(), self.padding);
        self.channels.clear();
        self.channels.resize(stride * (count + 1), 0.0);
        for (t, point) in series.values().chunks_exact(count).enumerate() {
            for (channel, value) in point.iter().enumerate() {
                self.channels[channel * stride + padding + t] = *value;
            }
        }
        self.bases.resize(steps * (count + 1), 0.0);
        self.based.clear();
        self.based.resize(count, 0);
        self.values.resize(room(steps), 0.0);
    }

    fn stride(&self) -> usize {
        self.steps + 2 * self.padding
    }

    /// The place of the sum of some channels and of its base: that of the channel itself where it is one.
    #[inline(always)]
    fn summed(&mut self, subset: &[u32], dilation: usize) -> usize {
        for channel in subset {
            if self.based[*channel as usize] != dilation {
                self.work_out_base(*channel as usize, dilation);
            }
        }
        let [first, more @ ..] = subset else { return self.count };
        if more.is_empty() {
            return *first as usize;
        }
        let (steps, stride, padding) = (self.steps, self.stride(), self.padding);
        let (channels, sum) = self.channels.split_at_mut(self.count * stride);
        let (bases, base) = self.bases.split_at_mut(self.count * steps);
        let (sum, base) = (&mut sum[padding..padding + steps], &mut base[..steps]);
        let channel = |c: u32| &channels[c as usize * stride + padding..][..steps];
        let of_channel = |c: u32| &bases[c as usize * steps..][..steps];
        sum.copy_from_slice(channel(*first));
        base.copy_from_slice(of_channel(*first));
        for c in more {
            let (x, b) = (channel(*c), of_channel(*c));
            for t in 0..steps {
                sum[t] += x[t];
                base[t] += b[t];
            }
        }
        self.count
    }

    /// Minus the sum over the nine places of a channel.
    #[inline(always)]
    fn work_out_base(&mut self, channel: usize, dilation: usize) {
        let (steps, padding) = (self.steps, self.padding);
        let values = &self.channels[channel * self.stride()..][..self.stride()];
        let place = |j: usize| &values[start(padding, j, dilation)..][..steps];
        let (s0, s1, s2, s3, s4) = (place(0), place(1), place(2), place(3), place(4));
        let (s5, s6, s7, s8) = (place(5), place(6), place(7), place(8));
        let base = &mut self.bases[channel * steps..][..steps];
        for t in 0..steps {
            base[t] = -(s0[t] + s1[t] + s2[t] + s3[t] + s4[t] + s5[t] + s6[t] + s7[t] + s8[t]);
        }
        self.based[channel] = dilation;
    }

    /// What a kernel at some steps is made of, of the sum at a place.
    #[inline(always)]
    fn parts(&self, kernel: usize, dilation: usize, place: usize, steps: Range<usize>) -> Parts<'_> {
        let (count, stride) = (steps.len(), self.stride());
        let sum = &self.channels[place * stride..][..stride];
        let heavy = HEAVY[kernel].map(|j| &sum[start(self.padding, j, dilation) + steps.start..][..count]);
        Parts { base: &self.bases[place * self.steps + steps.start..][..count], heavy }
    }

    /// The convolution with a kernel at some steps, into `values`.
    #[inline(always)]
    fn convolve(&mut self, kernel: usize, dilation: usize, place: usize, steps: Range<usize>) {
        let mut values = std::mem::take(&mut self.values);
        let Parts { base, heavy: [a, b, c] } = self.parts(kernel, dilation, place, steps);
        let out = &mut values[..base.len()];
        for t in 0..out.len() {
            out[t] = base[t] + 3.0 * (a[t] + b[t] + c[t]);
        }
        self.values = values;
    }

    /// The convolution of all steps, to learn from: see [`Convolution`].
    pub(super) fn convolution(&mut self) -> &mut [f64] {
        &mut self.values[..self.steps]
    }
}

/// A convolution before it is added up: `base + 3 (a + b + c)`.
struct Parts<'a> {
    base: &'a [f64],
    heavy: [&'a [f64]; 3],
}

impl Parts<'_> {
    /// The shares of its steps above a few bounds, without a walk through memory between the two.
    #[inline(always)]
    fn shares<I: Isa, const B: usize>(&self, bounds: &[f64], out: &mut [f64]) {
        let Self { base, heavy: [a, b, c] } = *self;
        let three = I::Register::splat(3.0);
        let (mut limits, mut counters) = ([I::Register::splat(0.0); B], [I::Register::splat(0.0); B]);
        for i in 0..B {
            limits[i] = I::Register::splat(bounds[i]);
        }
        let cells = base.as_chunks::<W>().0.iter().zip(a.as_chunks::<W>().0);
        let cells = cells.zip(b.as_chunks::<W>().0.iter().zip(c.as_chunks::<W>().0));
        for ((base, a), (b, c)) in cells {
            for q in 0..W / I::Register::WIDTH {
                let load = |cell| I::Register::load::<W>(cell, q);
                let sum = load(a).add(load(b)).add(load(c));
                let value = load(base).add(three.mul(sum));
                for i in 0..B {
                    counters[i] = counters[i].count_above(value, limits[i]);
                }
            }
        }
        let done = base.len() / W * W;
        for i in 0..B {
            let rest = (done..base.len()).filter(|t| base[*t] + 3.0 * (a[*t] + b[*t] + c[*t]) > bounds[i]);
            out[i] = (counters[i].counted() + rest.count() as f64) / base.len() as f64;
        }
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
        let place = self.scratch.summed(self.subset, self.dilation);
        self.scratch.convolve(self.kernel, self.dilation, place, 0..self.scratch.steps);
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
            let (mut summed, mut place): (&[u32], usize) = (&[], 0);
            for kernel in 0..KERNELS {
                let subset = &learned.subsets[index * KERNELS + kernel][..];
                if subset != summed {
                    place = scratch.summed(subset, dilation);
                    summed = subset;
                }
                let steps = counted(scratch.steps, dilation, (index + kernel).is_multiple_of(2));
                let which = at..at + of.features as usize;
                let (bounds, shares) = (&learned.biases[which.clone()], &mut out[which.clone()]);
                match bounds.len() {
                    1 => scratch.parts(kernel, dilation, place, steps).shares::<I, 1>(bounds, shares),
                    2 => scratch.parts(kernel, dilation, place, steps).shares::<I, 2>(bounds, shares),
                    3 => scratch.parts(kernel, dilation, place, steps).shares::<I, 3>(bounds, shares),
                    4 => scratch.parts(kernel, dilation, place, steps).shares::<I, 4>(bounds, shares),
                    _ => {
                        let count = steps.len();
                        scratch.convolve(kernel, dilation, place, steps);
                        count::shares::<I>(&mut scratch.values, count, bounds, shares);
                    }
                }
                at = which.end;
            }
        }
    }
}
