//! Promises about alarms: the highest score of a block against those of normal blocks that the model has not seen.
//!
//! Points and windows next to each other have nearly the same score, so that a rate per point says nothing about alarms. Blocks
//! are long enough that their highest scores are nearly independent. They are held out in contiguous folds; no model of
//! a fold has seen a row within one window of a held-out block.

use std::ops::Range;

use super::combine::Combined;
use super::fit::Core;
use super::recording::Recording;
use super::settings::{LongCalibration, LongSettings, Spec};
use super::state::Scores;
use crate::calibrate::Calibrated;
use crate::error::{Error, Result};
use crate::run::Run;

/// Most blocks that are scored: more would make the smallest p-value smaller than anybody asks for.
const MOST_BLOCKS: usize = 2000;
/// Most scores of points that are kept, evenly spaced in their order.
const MOST_POINTS: usize = 10_000;

/// Scores of normal data that the model has not seen.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Normal {
    /// The highest settled and causal score of every block.
    pub(super) blocks: [Calibrated; 2],
    /// Settled and causal scores of points.
    pub(super) points: [Calibrated; 2],
}

/// What flags of a model promise, in numbers and in words.
#[derive(Debug, Clone, PartialEq)]
pub struct Promise {
    /// Scores above it are alarms.
    pub threshold: f64,
    /// The share of normal blocks (or points) that is expected above it.
    pub rate: f64,
    /// Steps of a block; none where the rate is of points.
    pub block: Option<usize>,
    /// Blocks (or points) of normal data that it rests on.
    pub calibration: usize,
}

impl Promise {
    /// "at most one false alarm in 20 blocks of 64 steps, from 120 normal blocks".
    pub fn in_words(&self) -> String {
        match self.block {
            Some(block) => format!(
                "at most one false alarm in {} blocks of {block} steps, from {} normal blocks",
                self.blocks_per_alarm(),
                self.calibration
            ),
            None => format!(
                "{} % of normal points are above the threshold, which says nothing about the number of alarms",
                100.0 * self.rate
            ),
        }
    }

    /// Normal blocks in which one false alarm is expected at most.
    pub fn blocks_per_alarm(&self) -> usize {
        (1.0 / self.rate + 1e-9).floor() as usize
    }
}

/// Blocks that a level needs.
pub(super) fn blocks_needed(level: f64) -> usize {
    ((1.0 / level - 1e-9).ceil() as usize).saturating_sub(1).max(1)
}

/// Scores of held-out blocks; nothing where there are too few to hold any out.
pub(super) fn hold_out(
    recording: &Recording<'_>,
    segments: &[Range<usize>],
    specs: &[Spec],
    settings: &LongSettings,
    run: &Run,
) -> Result<Option<Normal>> {
    let window = specs.iter().map(|spec| spec.window).max().unwrap_or(1);
    let block = settings.block_for(specs[0].window);
    let blocks = blocks(segments, block);
    let folds = settings.folds.min(blocks.len());
    if settings.calibration == LongCalibration::None || folds < 2 {
        return Ok(None);
    }
    let mut maxima = [Vec::new(), Vec::new()];
    let mut points = [Vec::new(), Vec::new()];
    for fold in 0..folds {
        let held = &blocks[fold * blocks.len() / folds..(fold + 1) * blocks.len() / folds];
        let rest = without(segments, held, window);
        if rest.iter().all(|segment| segment.len() <= window) {
            // Too little is left to learn from: no promise can be made.
            return Ok(None);
        }
        let core = Core::fit(recording, &rest, specs, settings, run)?;
        for stretch in stretches(&thinned(held, blocks.len()), segments, window) {
            let [settled, causal] = stretch.score(&core, recording, run)?;
            for block in &stretch.blocks {
                for (kind, scores) in [&settled, &causal].into_iter().enumerate() {
                    let of_block = &scores[block.start - stretch.rows.start..block.end - stretch.rows.start];
                    let known = of_block.iter().copied().filter(|score| !score.is_nan());
                    maxima[kind].push(known.clone().fold(f64::NEG_INFINITY, f64::max));
                    points[kind].extend(known);
                }
            }
        }
    }
    // A block before the first window has ended has no causal score.
    maxima.iter_mut().for_each(|maxima| maxima.retain(|score| score.is_finite()));
    Ok(Some(Normal { blocks: maxima.map(Calibrated::new), points: points.map(few) }))
}

/// An error that says how much normal data a promise needs, where there is too little.
pub(super) fn require(found: usize, block: usize, level: f64) -> Result<()> {
    let needed = blocks_needed(level);
    if found >= needed {
        return Ok(());
    }
    Err(Error::bad_param("level", level, too_little(found, block, needed)))
}

/// Why there is no promise, and what would be needed.
pub(super) fn too_little(found: usize, block: usize, needed: usize) -> String {
    format!(
        "a promise about alarms needs {needed} normal blocks of {block} steps, {} steps in all, and there are {found} blocks; \
         give more normal data, a higher level, or calibration none",
        needed * block
    )
}

/// The blocks of all segments, in order.
fn blocks(segments: &[Range<usize>], block: usize) -> Vec<Range<usize>> {
    let of = |segment: &Range<usize>| {
        let start = segment.start;
        (0..segment.len() / block)
            .map(move |i| start + i * block..start + (i + 1) * block)
            .collect::<Vec<_>>()
    };
    segments.iter().flat_map(of).collect()
}

/// Blocks of a fold that are scored, where all folds together have too many.
fn thinned(held: &[Range<usize>], total: usize) -> Vec<Range<usize>> {
    let kept = (held.len() * MOST_BLOCKS.min(total) / total).max(1);
    (0..kept.min(held.len())).map(|i| held[i * held.len() / kept].clone()).collect()
}

/// What is left of the segments without some blocks and a window on either side of them.
fn without(segments: &[Range<usize>], held: &[Range<usize>], window: usize) -> Vec<Range<usize>> {
    let (Some(first), Some(last)) = (held.first(), held.last()) else { return segments.to_vec() };
    let (from, to) = (first.start.saturating_sub(window), last.end + window);
    let cut =
        |segment: &Range<usize>| [segment.start..segment.end.min(from), segment.start.max(to)..segment.end];
    segments.iter().flat_map(cut).filter(|part| part.start < part.end).collect()
}

/// Blocks that follow each other, and the rows that their scores are computed from.
struct Stretch {
    rows: Range<usize>,
    blocks: Vec<Range<usize>>,
}

/// The blocks with a window less one row on either side, where the segment has them: scores inside are what they are in the middle of
/// a recording.
fn stretches(held: &[Range<usize>], segments: &[Range<usize>], window: usize) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    for block in held {
        let Some(segment) = segments.iter().find(|segment| segment.contains(&block.start)) else { continue };
        let from = block.start.saturating_sub(window - 1).max(segment.start);
        let to = (block.end + window - 1).min(segment.end);
        match found.last_mut() {
            Some(last)
                if last.blocks.last().is_some_and(|b| b.end == block.start)
                    && segment.contains(&last.rows.start) =>
            {
                last.rows.end = to;
                last.blocks.push(block.clone());
            }
            _ => found.push(Stretch { rows: from..to, blocks: vec![block.clone()] }),
        }
    }
    found
}

impl Stretch {
    /// Settled and causal scores of its rows.
    fn score(&self, core: &Core, recording: &Recording<'_>, run: &Run) -> Result<[Vec<f64>; 2]> {
        let (mut state, mut out) = (Combined::new(core), Scores::default());
        /// Rows at a time.
        const CHUNK: usize = 8192;
        for start in self.rows.clone().step_by(CHUNK) {
            let rows = start..self.rows.end.min(start + CHUNK);
            state.push(core, recording.values_of(rows), run, &mut out)?;
            state.trim(core);
        }
        state.interrupt(core, &mut out)?;
        Ok([out.settled, out.causal])
    }
}

/// At most so many scores, evenly spaced in their order, the highest among them.
fn few(mut scores: Vec<f64>) -> Calibrated {
    scores.sort_by(f64::total_cmp);
    let count = scores.len();
    if count > MOST_POINTS {
        scores = (1..=MOST_POINTS).map(|i| scores[i * count / MOST_POINTS - 1]).collect();
    }
    Calibrated::new(scores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_model_of_a_fold_sees_a_row_near_its_blocks() {
        let segments = [0..100, 120..150];
        let all = blocks(&segments, 20);
        assert_eq!(all, [0..20, 20..40, 40..60, 60..80, 80..100, 120..140]);
        assert_eq!(without(&segments, &all[1..3], 5), [0..15, 65..100, 120..150]);
        assert_eq!(without(&segments, &all[4..], 7), [0..73, 147..150]);
        assert_eq!(without(&segments, &all[..1], 7), [27..100, 120..150]);
        let found = stretches(&all[3..], &segments, 8);
        assert_eq!(found.iter().map(|s| s.rows.clone()).collect::<Vec<_>>(), [53..100, 120..147]);
        assert_eq!(found[0].blocks, [60..80, 80..100]);
    }

    #[test]
    fn a_level_needs_so_many_blocks() {
        assert_eq!([0.05, 0.01, 0.5, 0.3].map(blocks_needed), [19, 99, 1, 3]);
        for level in [0.05, 0.01, 0.3] {
            let needed = blocks_needed(level);
            let of = |n: usize| Calibrated::new(vec![1.0; n]).conformal_threshold(level);
            assert!(of(needed).is_finite() && of(needed - 1).is_infinite(), "{level}");
        }
        let error = require(6, 64, 0.05).unwrap_err().to_string();
        assert!(
            error.contains("19 normal blocks of 64 steps, 1216 steps in all, and there are 6"),
            "{error}"
        );
    }

    #[test]
    fn thinning_keeps_the_highest_and_the_shape() {
        let scores = few((0..100_000).map(f64::from).collect());
        assert_eq!(scores.scores().len(), MOST_POINTS);
        assert_eq!(scores.scores()[MOST_POINTS - 1], 99_999.0);
        let held: Vec<Range<usize>> = (0..5000).map(|i| i * 10..i * 10 + 10).collect();
        assert_eq!(thinned(&held[..1000], 5000).len(), 400);
        assert_eq!(thinned(&held[..10], 10).len(), 10);
    }
}
