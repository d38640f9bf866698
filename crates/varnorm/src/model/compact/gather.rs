//! [`Gathered`]: everything that a compact model needs to know of its corpus; parts merge into the whole.

use std::collections::HashSet;
use std::ops::Range;

use super::Points;
use super::map::Map;
use super::moments::Moments;
use super::sample::{self, EXAMPLES, Sampled};
use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::linalg::matrix::Matrix;
use crate::run::Run;

/// How series are gathered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rules {
    /// Folds that are left out in turn for calibration; 1 for none.
    pub(crate) folds: usize,
    /// Chance of the folds.
    pub(crate) seed: u64,
    /// Whether all points are kept, for the distance to the nearest.
    pub(crate) keep_points: bool,
}

/// All points of a corpus.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kept {
    /// One row per series.
    pub(crate) coordinates: Matrix,
    /// The fold of each.
    pub(crate) folds: Vec<u8>,
    /// The prepared series, where they are small enough to be kept: near ones are then measured by kernel values.
    pub(crate) series: Option<SeriesSet>,
}

/// Bytes of prepared series that are kept with their points, at most.
pub(crate) const KEPT_BYTES: usize = 256 << 20;

impl Kept {
    fn add(&mut self, coordinates: Matrix, folds: Vec<u8>, series: Option<&SeriesSet>) -> Result<()> {
        self.folds.extend(folds);
        self.coordinates.append(coordinates);
        self.series = match (self.series.take(), series) {
            (Some(own), Some(more)) if own.is_empty() => Some(more.clone().into_owned()),
            (Some(mut own), Some(more)) => {
                own.extend(more)?;
                Some(own)
            }
            _ => None,
        };
        self.series = self.series.take().filter(|series| 8 * series.values().len() <= KEPT_BYTES);
        Ok(())
    }
}

/// What is known of a corpus.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gathered {
    pub(crate) rules: Rules,
    pub(crate) map: Map,
    /// Moments of every fold.
    pub(crate) moments: Vec<Moments>,
    /// The sum of `k(x,x)`.
    pub(crate) squares: f64,
    /// What the coordinates miss of it.
    pub(crate) missed: f64,
    /// The largest `k(x,x)`.
    pub(crate) largest_square: f64,
    /// Sampled series, in the order of sampling.
    pub(crate) sample: Vec<Sampled>,
    pub(crate) points: Option<Kept>,
}

impl Gathered {
    /// Nothing yet.
    pub(crate) fn nothing(rules: Rules, map: Map, dimensions: usize, channels: usize) -> Result<Self> {
        // Features miss nothing of a series: kernel values would say the same.
        let measured = matches!(map, Map::Landmarks(_)) && rules.keep_points;
        let series = measured.then(|| SeriesSet::new(channels)).transpose()?;
        let kept = || Kept { coordinates: Matrix::zeros(0, dimensions), folds: Vec::new(), series };
        Ok(Self {
            rules,
            map,
            moments: vec![Moments::none(dimensions); rules.folds],
            squares: 0.0,
            missed: 0.0,
            largest_square: 0.0,
            sample: Vec::new(),
            points: rules.keep_points.then(kept),
        })
    }

    /// Number of series.
    pub(crate) fn count(&self) -> usize {
        self.moments.iter().map(|m| m.count).sum()
    }

    /// Number of coordinates.
    pub(crate) fn dimensions(&self) -> usize {
        self.moments[0].mean.len()
    }

    /// Number of folds.
    pub(crate) fn folds(&self) -> usize {
        self.rules.folds
    }

    /// The share of the sum of `k(x,x)` that the coordinates miss.
    pub(crate) fn trace_error(&self) -> f64 {
        if self.squares > 0.0 { self.missed / self.squares } else { 0.0 }
    }

    /// The trace of the covariance, with what the coordinates miss, and the mean of `k(x,x)`.
    pub(crate) fn variance_and_mean_square(&self) -> (f64, f64) {
        let moments = self.all_moments();
        let count = moments.count.max(1) as f64;
        let trace: f64 = (0..self.dimensions()).map(|j| moments.scatter.get(j, j)).sum();
        ((trace + self.missed) / count, self.squares / count)
    }

    /// Moments of all series.
    pub(crate) fn all_moments(&self) -> Moments {
        self.merged_moments(0..self.folds(), None)
    }

    /// Moments of all series but those of a fold.
    pub(crate) fn moments_without(&self, fold: usize) -> Moments {
        self.merged_moments(0..self.folds(), Some(fold))
    }

    fn merged_moments(&self, folds: Range<usize>, but: Option<usize>) -> Moments {
        let mut all = Moments::none(self.dimensions());
        folds.filter(|fold| Some(*fold) != but).for_each(|fold| all.merge(&self.moments[fold]));
        all
    }

    /// Sampled series of a fold that may calibrate: not landmarks, of which the span misses nothing.
    pub(crate) fn calibration(&self, fold: usize) -> impl Iterator<Item = &Sampled> {
        let landmarks: HashSet<u64> = self.map.landmark_contents().iter().copied().collect();
        let Rules { folds, seed, .. } = self.rules;
        let of_fold = move |one: &&Sampled| usize::from(sample::fold(one.content, folds, seed)) == fold;
        self.sample.iter().filter(of_fold).filter(move |one| !landmarks.contains(&one.content))
    }

    /// Sampled series whose values are kept, in the order of all series.
    pub(crate) fn examples(&self) -> Vec<&Sampled> {
        let mut examples: Vec<&Sampled> = self.sample.iter().take(EXAMPLES).collect();
        examples.sort_by_key(|one| one.place);
        examples
    }

    /// Adds series: their contents, their prepared values and their points. The points are taken as they are.
    pub(crate) fn add(
        &mut self,
        contents: &[u64],
        prepared: &SeriesSet,
        points: Points,
        run: &Run,
    ) -> Result<()> {
        let finite = |row: &usize| points.coordinates.row(*row).iter().all(|c| c.is_finite());
        if let Some(series) = (0..points.squares.len()).find(|row| !finite(row)) {
            return Err(Error::KernelValue { row: series, column: series, value: f64::NAN });
        }
        let Rules { folds, seed, .. } = self.rules;
        let first = self.count();
        let of_series: Vec<u8> = contents.iter().map(|c| sample::fold(*c, folds, seed)).collect();
        let tasks: Vec<_> = self.moments.iter_mut().enumerate().collect();
        run.for_each("moments", tasks, |(fold, moments)| {
            let members = (0..contents.len()).filter(|at| usize::from(of_series[*at]) == fold);
            moments.add(members.map(|at| points.coordinates.row(at)));
            Ok(())
        })?;
        self.squares += points.squares.iter().sum::<f64>();
        self.missed += (0..contents.len()).map(|at| points.missed(at)).sum::<f64>();
        self.largest_square = points.squares.iter().fold(self.largest_square, |m, s| m.max(*s));
        self.add_to_sample(contents, prepared, &points, first);
        if let Some(kept) = &mut self.points {
            kept.add(points.coordinates, of_series, Some(prepared))?;
        }
        Ok(())
    }

    fn add_to_sample(&mut self, contents: &[u64], prepared: &SeriesSet, points: &Points, first: usize) {
        // Only the first in the order of sampling have a chance: the rest need not be copied.
        let mut order: Vec<usize> = (0..contents.len()).collect();
        order.sort_by_key(|at| (sample::order(contents[*at]), *at));
        order.dedup_by_key(|at| contents[*at]);
        for (rank, at) in order.into_iter().take(sample::SAMPLE).enumerate() {
            let values = if rank < EXAMPLES { prepared.series(at).values().to_vec() } else { Vec::new() };
            self.sample.push(Sampled {
                content: contents[at],
                place: first + at,
                coordinates: points.coordinates.row(at).to_vec(),
                square: points.squares[at],
                values,
            });
        }
        sample::cut(&mut self.sample);
    }

    /// Adds what was gathered elsewhere; the series there come after those here.
    pub(crate) fn merge(&mut self, other: Self) -> Result<()> {
        let first = self.count();
        self.moments.iter_mut().zip(&other.moments).for_each(|(own, more)| own.merge(more));
        self.squares += other.squares;
        self.missed += other.missed;
        self.largest_square = self.largest_square.max(other.largest_square);
        let moved = other.sample.into_iter().map(|one| Sampled { place: first + one.place, ..one });
        self.sample.extend(moved);
        sample::cut(&mut self.sample);
        if let (Some(own), Some(more)) = (&mut self.points, other.points) {
            own.add(more.coordinates, more.folds, more.series.as_ref())?;
        }
        Ok(())
    }
}
