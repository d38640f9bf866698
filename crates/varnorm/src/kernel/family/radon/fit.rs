//! Learning dilations and the ranges of thresholds from a corpus.

use super::fitted::{RadonFit, Shape};
use super::project::{Projection, Scratch};
use super::weights::GROUP;
use super::{MOST_DILATIONS, Radon};
use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::kernel::family::shares::{median_length, quantile, require_series, tie_margin, too_large};
use crate::simd::dispatch;

/// Quantiles of the products that are the lowest and the highest threshold.
const ENDS: [f64; 2] = [0.01, 0.99];
/// At most so many steps take part in the quantiles, but one series at least.
const STEPS: usize = 1 << 15;

/// What the parameters mean for a corpus.
pub(super) fn fit(asked: &Radon, corpus: &SeriesSet) -> Result<RadonFit> {
    require_series(corpus)?;
    let (window, directions) = (asked.window as usize, asked.directions as usize);
    let dilations = (median_length(corpus) / window).clamp(1, MOST_DILATIONS);
    let shape = Shape { directions, window, dilations, channels: corpus.channels(), seed: asked.seed };
    shape.check().map_err(|rule| Error::bad_param("directions", directions, rule))?;
    let weights = shape.weights();
    let chosen = chosen(corpus);
    let mut ranges = vec![[0.0; 2]; directions];
    let mut scratch = Scratch::default();
    for group in &weights.groups {
        let mut products: [Vec<f64>; GROUP] = Default::default();
        for series in &chosen {
            scratch.load(&corpus.series(*series), weights.reach);
            dispatch(Projection { scratch: &mut scratch, group });
            for (slot, all) in products.iter_mut().enumerate() {
                all.extend_from_slice(scratch.products(slot));
            }
        }
        for (direction, products) in group.directions.iter().zip(&mut products) {
            let margin = tie_margin(products);
            let [low, high] = ENDS.map(|end| quantile(products, end));
            ranges[*direction] = [low - margin, high + margin];
        }
    }
    let ranges = ranges.into_flattened();
    match ranges.iter().all(|end| end.is_finite()) {
        true => Ok(RadonFit::new(shape, ranges, Some(weights))),
        false => Err(too_large()),
    }
}

/// Evenly spaced series of at most [`STEPS`] steps on average, at least one.
fn chosen(corpus: &SeriesSet) -> Vec<usize> {
    let mean = (corpus.values().len() / corpus.channels() / corpus.len()).max(1);
    let count = (STEPS / mean).clamp(1, corpus.len());
    (0..count).map(|i| i * corpus.len() / count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_large_corpus_evenly_spaced_series_take_part() {
        let set =
            |lengths: &[usize]| SeriesSet::from_lengths(vec![0.0; lengths.iter().sum()], lengths, 1).unwrap();
        assert_eq!(chosen(&set(&[5; 3])), [0, 1, 2]);
        assert_eq!(chosen(&set(&[STEPS / 2; 6])), [0, 3]);
        assert_eq!(chosen(&set(&[STEPS * 2; 3])), [0]);
    }
}
