//! Learning dilations, subsets of channels and biases from a corpus.

use super::KERNELS;
use super::convolve::{Convolution, Scratch};
use super::dilations::dilations;
use super::fitted::{Learned, MOST_CHANNELS, RocketFit};
use crate::data::SeriesSet;
use crate::error::Result;
use crate::kernel::family::shares::{median_length, quantiles, require_series, tie_margin, too_large};
use crate::random::Uniform;
use crate::simd::dispatch;

/// `(sqrt(5) + 1) / 2`, whose multiples are spread most evenly over the fractions.
const GOLDEN: f64 = 1.618_033_988_749_895;

/// What so many features of a seed are for a corpus.
pub(super) fn fit(features: usize, seed: u64, corpus: &SeriesSet) -> Result<RocketFit> {
    require_series(corpus)?;
    let (length, channels) = (median_length(corpus), corpus.channels());
    let dilations = dilations(length, features / KERNELS);
    let mut random = Uniform::new(seed);
    let order = by_values(corpus);
    let mut subsets = Vec::new();
    // Which series every combination of a dilation and a kernel learns from, and where its biases begin.
    let mut lessons: Vec<Lesson> = Vec::new();
    let mut first = 0;
    for dilation in &dilations {
        for kernel in 0..KERNELS {
            let size = random.whole_power(channels.min(MOST_CHANNELS));
            subsets.push(random.subset(channels, size).into_iter().map(|c| c as u32).collect());
            let series = order[random.below(corpus.len())];
            let (step, count) = (dilation.step as usize, dilation.features as usize);
            lessons.push(Lesson { series, combination: lessons.len(), kernel, step, first, count });
            first += count;
        }
    }
    let mut learned = Learned { length, channels, dilations, subsets, biases: vec![0.0; first] };
    // A series is loaded once for all that learn from it.
    lessons.sort_by_key(|lesson| lesson.series);
    let reach = 4 * learned.dilations.last().map_or(0, |d| d.step as usize);
    let mut scratch = Scratch::default();
    let mut loaded = None;
    for lesson in &lessons {
        if loaded != Some(lesson.series) {
            scratch.load(&corpus.series(lesson.series), reach);
            loaded = Some(lesson.series);
        }
        let subset = &learned.subsets[lesson.combination];
        dispatch(Convolution { scratch: &mut scratch, subset, dilation: lesson.step, kernel: lesson.kernel });
        let fractions = (lesson.first..).map(|n| ((n + 1) as f64 * GOLDEN).fract());
        let biases = &mut learned.biases[lesson.first..lesson.first + lesson.count];
        let values = scratch.convolution();
        let margin = tie_margin(values);
        quantiles(values, fractions, biases);
        biases.iter_mut().for_each(|bias| *bias += margin);
    }
    match learned.biases.iter().all(|b| b.is_finite()) {
        true => Ok(RocketFit::new(learned)),
        false => Err(too_large()),
    }
}

/// The series in the order of their values, so that what is drawn does not depend on their order in the corpus.
fn by_values(corpus: &SeriesSet) -> Vec<usize> {
    let mut order: Vec<usize> = (0..corpus.len()).collect();
    let differ = |a: &f64, b: &f64| a.total_cmp(b);
    order.sort_by(|a, b| {
        let (a, b) = (corpus.series(*a).values(), corpus.series(*b).values());
        let first = a.iter().zip(b).map(|(a, b)| differ(a, b)).find(|found| found.is_ne());
        first.unwrap_or(a.len().cmp(&b.len()))
    });
    order
}

/// What one combination of a dilation and a kernel learns from.
struct Lesson {
    series: usize,
    combination: usize,
    kernel: usize,
    /// Dilation.
    step: usize,
    /// Its first bias, and how many it has.
    first: usize,
    count: usize,
}
