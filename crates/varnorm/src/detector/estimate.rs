//! What a fit would take: memory from its sizes, time from a measured sample of the very series.

use std::time::Instant;

use serde::Serialize;

use super::Settings;
use crate::calibrate::Calibration;
use crate::data::SeriesSet;
use crate::describe;
use crate::error::{Error, Result};
use crate::gram;
use crate::linalg::matrix::Matrix;
use crate::memory;
use crate::model::View;
use crate::model::compact::{KEPT_BYTES, MOST_DIMENSIONS, Space};
use crate::run::Run;
use crate::score::Distance;
use crate::spectrum::eigenpairs;

/// Series whose pairs are timed.
const TIMED: usize = 64;
/// Size of the decomposition that is timed.
const DECOMPOSED: usize = 192;
/// Landmarks that are spoken of where all pairs do not fit.
const USUAL_LANDMARKS: usize = 256;

/// What a fit would take.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// Series.
    pub series: usize,
    /// Kernel values to be worked out.
    pub kernel_values: f64,
    /// Seconds, on the threads of the run, from what was measured.
    pub seconds: f64,
    /// Bytes at the peak, the series included.
    pub bytes: f64,
}

impl Settings {
    /// What it would take to fit on `count` series like these; some of their pairs are worked out and timed.
    pub fn estimate(&self, like: &SeriesSet, count: usize, run: &Run) -> Result<Estimate> {
        self.validate()?;
        let some: Vec<usize> = (0..like.len().min(TIMED)).collect();
        let some = like.select(&some);
        let decomposition = decomposition_seconds(run)? / (DECOMPOSED as f64).powi(3);
        let mut all = Estimate { series: count, kernel_values: 0.0, seconds: 0.0, bytes: 0.0 };
        for view in self.chosen_views(like)?.0 {
            let one = Sized { view: &view, calibration: self.calibration };
            let (_, prepared) = view.prepare.fit(&some)?;
            let kernel = view.kernel.resolve(&prepared)?;
            let start = Instant::now();
            gram::gram(&kernel, &prepared, view.scaling, run)?;
            let pairs = (prepared.len() * (prepared.len() + 1) / 2) as f64;
            let each = start.elapsed().as_secs_f64() / pairs;
            let width = prepared.values().len() / prepared.len().max(1);
            let size = one.size(like, count, (width, prepared.channels()));
            let kernel_values = one.kernel_values(count);
            all.kernel_values += kernel_values;
            all.seconds += kernel_values * each + one.decompositions(count) * decomposition;
            all.bytes += one.bytes(&size, one.dimensions(&size));
        }
        Ok(all)
    }

    /// An error that says what would fit, where a model of `count` series, these among them, would not fit a budget of bytes.
    /// All pairs need all series at once; other spaces these, which are then one part of them.
    pub fn check_memory(&self, like: &SeriesSet, count: usize, budget: f64) -> Result<()> {
        match self.beyond(like, count, budget)? {
            None => Ok(()),
            Some(Beyond { what, needed, advice }) => {
                let rule = format!("{what} would need about {}; {advice}", describe::bytes(needed));
                Err(Error::bad_param("memory", describe::bytes(budget), rule))
            }
        }
    }

    /// The same for what the machine has free, in which these series are already.
    pub(super) fn check_free_memory(&self, corpus: &SeriesSet) -> Result<()> {
        // Small fits need not ask.
        const SMALL: f64 = 64e6;
        let there = 8.0 * corpus.values().len() as f64;
        if self.beyond(corpus, corpus.len(), SMALL)?.is_none() {
            return Ok(());
        }
        let free = memory::available().unwrap_or(isize::MAX as f64);
        match self.beyond(corpus, corpus.len(), free + there)? {
            None => Ok(()),
            Some(Beyond { what, needed, advice }) => {
                Err(Error::Memory { what, needed: needed - there, free, advice })
            }
        }
    }

    /// What a fit would take, and what would take less, where that is more than a budget.
    fn beyond(&self, like: &SeriesSet, count: usize, budget: f64) -> Result<Option<Beyond>> {
        let raw = like.values().len() / like.len().max(1);
        let views = self.chosen_views(like)?.0;
        let needed = |view: &View| {
            let one = Sized { view, calibration: self.calibration };
            let size = one.size(like, count, (raw, like.channels()));
            one.bytes(&size, one.dimensions(&size))
        };
        let needed: f64 = views.iter().map(needed).sum();
        let Some(first) = views.first().filter(|_| needed > budget) else { return Ok(None) };
        let what = format!("fitting {count} series in the space {}", first.space);
        let advice =
            Sized { view: first, calibration: self.calibration }.ways(like, count, budget).join("; ");
        Ok(Some(Beyond { what, needed, advice }))
    }
}

/// More than there is.
struct Beyond {
    what: String,
    needed: f64,
    /// What would take less.
    advice: String,
}

/// One view of a fit whose size is asked for.
struct Sized<'a> {
    view: &'a View,
    calibration: Calibration,
}

impl Sized<'_> {
    fn size(&self, like: &SeriesSet, count: usize, (prepared, channels): (usize, usize)) -> Size {
        let held = if self.view.space.is_gram() { count } else { like.len().min(count) };
        let raw = like.values().len() / like.len().max(1);
        Size { count, held, raw, prepared, channels }
    }

    /// What would fit a budget, with what it would need.
    fn ways(&self, like: &SeriesSet, count: usize, budget: f64) -> Vec<String> {
        let size = self.size(like, count, (like.values().len() / like.len().max(1), like.channels()));
        let mut ways = Vec::new();
        let with = |space: &Space, dimensions| {
            let view = View { space: space.clone(), ..self.view.clone() };
            Sized { view: &view, calibration: self.calibration }.bytes(&size, dimensions)
        };
        if self.view.space.is_gram() {
            let fitting = (1..=USUAL_LANDMARKS.min(count))
                .rev()
                .find(|m| m.is_power_of_two() && with(&Space::landmarks(*m), *m) <= budget);
            let landmarks = fitting.unwrap_or(USUAL_LANDMARKS.min(count));
            let bytes = with(&Space::landmarks(landmarks), landmarks);
            ways.push(format!("--landmarks {landmarks} would need {}", describe::bytes(bytes)));
            if self.view.kernel.features().is_some() {
                let dimensions = self.dimensions(&size);
                ways.push(format!(
                    "--space features would need {}",
                    describe::bytes(with(&Space::Features {}, dimensions))
                ));
            }
        } else if matches!(self.view.distance, Distance::Conformance { .. }) {
            let leaner = View { distance: Distance::Mahalanobis {}, ..self.view.clone() };
            let leaner = Sized { view: &leaner, calibration: self.calibration };
            let bytes = leaner.bytes(&size, self.dimensions(&size));
            ways.push(format!("--distance mahalanobis would need {}", describe::bytes(bytes)));
            ways.push("fewer landmarks or features need less".into());
        }
        ways
    }

    fn folds(&self) -> f64 {
        match self.calibration.resolved(self.view.space.is_gram()) {
            Calibration::CrossFit { folds, .. }
            | Calibration::Gaussian { folds, .. }
            | Calibration::Supervised { folds, .. }
            | Calibration::Fixed { folds, .. } => folds as f64,
            _ => 0.0,
        }
    }

    fn dimensions(&self, size: &Size) -> usize {
        match &self.view.space {
            Space::Landmarks { count, given, .. } => {
                count.unwrap_or(if given.is_empty() { MOST_DIMENSIONS } else { given.len() }).min(size.count)
            }
            _ => {
                let steps = size.prepared / size.channels;
                let width = self.view.kernel.features().map(|features| features.width(steps, size.channels));
                width.unwrap_or(size.prepared).min(MOST_DIMENSIONS)
            }
        }
    }

    /// Kernel values, folds included: a fold is fitted on the others and scored.
    fn kernel_values(&self, count: usize) -> f64 {
        let (n, folds) = (count as f64, self.folds());
        match &self.view.space {
            Space::Gram {} if folds > 0.0 => {
                let others = n * (folds - 1.0) / folds;
                n * n / 2.0 + folds * (others * others / 2.0 + others * n / folds)
            }
            Space::Gram {} => n * n / 2.0,
            Space::Landmarks { count: m, .. } => n * m.unwrap_or(USUAL_LANDMARKS).min(count) as f64,
            Space::Features {} => n,
        }
    }

    /// Cubes of the sizes of all decompositions.
    fn decompositions(&self, count: usize) -> f64 {
        let size = match &self.view.space {
            Space::Landmarks { count: m, .. } => m.unwrap_or(USUAL_LANDMARKS).min(count),
            Space::Features {} => USUAL_LANDMARKS,
            // A few leading pairs cost about so many products with the matrix.
            Space::Gram {} => {
                let n = count as f64;
                let few = self.view.rank.max_rank.filter(|r| 8 * r <= count);
                return (1.0 + self.folds()) * few.map_or(n.powi(3), |r| n * n * 8.0 * r as f64);
            }
        };
        (1.0 + self.folds()) * (size as f64).powi(3)
    }

    fn bytes(&self, size: &Size, dimensions: usize) -> f64 {
        let (n, d) = (size.count as f64, dimensions as f64);
        let held = size.held as f64;
        let series = held * (size.raw + size.prepared) as f64;
        let cells = match &self.view.space {
            // The Gram matrix, the centred one, eigenvectors and the room to find them.
            Space::Gram {} => {
                let few = self.view.rank.max_rank.is_some_and(|r| 8 * r <= size.count);
                n * n * if few { 2.3 } else { 4.2 }
            }
            _ => {
                let landmarks = matches!(self.view.space, Space::Landmarks { .. });
                let points = match self.view.distance {
                    // Near series are measured by kernel values where the series are small enough to be kept.
                    Distance::Conformance { .. } if landmarks => {
                        let series = n * size.prepared as f64;
                        n * d + if 8.0 * series <= KEPT_BYTES as f64 { series } else { 0.0 }
                    }
                    Distance::Conformance { .. } => n * d,
                    // Landmarks are chosen with the coordinates of all series of the part in view.
                    Distance::Mahalanobis {} => held * d,
                };
                // Values with a block of landmarks, and moments.
                points + if landmarks { 64.0 * held } else { 0.0 } + (self.folds() + 6.0) * d * d
            }
        };
        8.0 * (series + cells)
    }
}

/// Series, how many of them are in memory at a time, values per series, before and after preparation, and channels after it.
struct Size {
    count: usize,
    held: usize,
    raw: usize,
    prepared: usize,
    channels: usize,
}

/// Seconds of one decomposition of size [`DECOMPOSED`].
fn decomposition_seconds(run: &Run) -> Result<f64> {
    let mut matrix = Matrix::zeros(DECOMPOSED, DECOMPOSED);
    for i in 0..DECOMPOSED {
        for j in 0..DECOMPOSED {
            matrix.row_mut(i)[j] = 1.0 / (1.0 + i as f64 + j as f64);
        }
    }
    let start = Instant::now();
    eigenpairs(&matrix, run)?;
    Ok(start.elapsed().as_secs_f64())
}
