//! Models of corpora that are too large for all pairs: series become points with a few coordinates, of which mean and
//! covariance are gathered in one pass.
//!
//! ```text
//! series --Map--> points --gather--> Gathered --merge--> Gathered --finish--> Compact --> scores
//!                 D coordinates,     moments per fold,                        metric: one D x D
//!                 k(x,x)             a sample, all points                     decomposition
//! ```
//!
//! A [`Space`] says what the coordinates are: the kernel's own features, or those of the span of a few landmarks. What a
//! query has outside of that span is known exactly from `k(y,y)`; corpus series are taken as their projections on it.
//! Nothing that is gathered depends on the order of the series or on the parts they come in, but by rounding: models of
//! parts merge into the model of the whole.

mod features;
mod fitted;
mod gather;
mod map;
mod metric;
mod moments;
mod nearest;
mod pivots;
mod refine;
mod sample;
mod space;

pub(crate) use features::{MOST_DIMENSIONS, no_features};
pub(crate) use fitted::FittedCompact;
pub(crate) use gather::{Gathered, KEPT_BYTES, Kept, Rules};
pub(crate) use map::{LandmarkMap, Map};
pub(crate) use metric::Metric;
pub(crate) use moments::Moments;
pub(crate) use pivots::choose as choose_landmarks;
pub(crate) use refine::Pairs;
pub(crate) use sample::{Sampled, content};
pub use space::{Choice, Space};

use crate::error::{Error, Result};
use crate::gram::Scaling;
use crate::kernel::Kernel;
use crate::linalg::matrix::Matrix;
use crate::model::{Geometry, Measured, first_two};
use crate::run::Run;
use crate::score::{Distance, Measure};
use crate::spectrum::{Rank, Spectrum};

/// Series as points: their coordinates in the space, and `k(x,x)`, of which these may miss a part.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Points {
    /// One row per series.
    pub(crate) coordinates: Matrix,
    /// `k(x,x)`, after normalising.
    pub(crate) squares: Vec<f64>,
}

impl Points {
    /// What the coordinates miss of `k(x,x)`.
    pub(crate) fn missed(&self, row: usize) -> f64 {
        missed(self.coordinates.row(row), self.squares[row])
    }
}

/// What coordinates miss of a squared length.
pub(crate) fn missed(coordinates: &[f64], square: f64) -> f64 {
    (square - coordinates.iter().map(|c| c * c).sum::<f64>()).max(0.0)
}

/// A fitted compact model: what was gathered, and the metric that follows from it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Compact {
    /// Points, if they are kept, are in the metric's axes.
    pub(crate) gathered: Gathered,
    pub(crate) metric: Metric,
}

/// Squared norms and places of the nearest series of a query, nearest first.
pub(crate) type Nearest = Vec<(f64, usize)>;

impl Compact {
    /// The metric of all that was gathered; points are turned into its axes.
    pub(crate) fn finish(mut gathered: Gathered, rank: Rank, run: &Run) -> Result<Self> {
        if gathered.count() < 2 {
            return Err(Error::TooFew {
                what: "a covariance".into(),
                needed: 2,
                found: gathered.count(),
                advice: "give more normal series".into(),
            });
        }
        let metric = Metric::new(&gathered.all_moments(), rank, gathered.largest_square, run)?;
        if let Some(kept) = &mut gathered.points {
            metric.turn(kept.coordinates.values_mut(), run)?;
        }
        Ok(Self { gathered, metric })
    }

    /// Back to what was gathered, to be merged with more.
    pub(crate) fn into_gathered(mut self, run: &Run) -> Result<Gathered> {
        if let Some(kept) = &mut self.gathered.points {
            self.metric.turn_back(kept.coordinates.values_mut(), run)?;
        }
        Ok(self.gathered)
    }

    /// Scores of points, with the nearest normal series: of all where all are kept, else of the examples.
    pub(crate) fn measure(
        &self,
        points: &Points,
        pairs: Pairs<'_>,
        measure: Measure,
        run: &Run,
    ) -> Result<Vec<Measured>> {
        measure.validate(self.gathered.count())?;
        let mut turned = points.coordinates.clone();
        self.metric.turn(turned.values_mut(), run)?;
        let missed: Vec<f64> = (0..turned.rows()).map(|q| points.missed(q)).collect();
        let norm = self.metric.norm(measure);
        let (scores, nearest): (Vec<f64>, Vec<usize>) = match (measure.distance, &self.gathered.points) {
            (Distance::Conformance { neighbour }, Some(kept)) => {
                let most = neighbour.max(refine::CANDIDATES);
                let found =
                    nearest::among(&kept.coordinates, None, &norm, &turned, &missed, most, None, run)?;
                let candidates =
                    refine::Candidates { nearest: &found, queries: &turned, points: &kept.coordinates };
                let found = refine::refined(&candidates, kept, &norm, pairs, run)?.unwrap_or(found);
                nth(found, neighbour).into_iter().map(|(square, at)| (square.sqrt(), at)).unzip()
            }
            (Distance::Conformance { .. }, None) => {
                return Err(Error::bad_param(
                    "distance",
                    "conformance",
                    "this model keeps no points of its corpus; fit it with that distance",
                ));
            }
            (Distance::Mahalanobis {}, _) => {
                let square = |q: usize| norm.square(turned.row(q), missed[q]);
                let scores: Vec<f64> = (0..turned.rows()).map(|q| square(q).sqrt()).collect();
                (scores, self.nearest_examples(&turned, &norm, &missed, run)?)
            }
        };
        let measured = scores.into_iter().zip(nearest).enumerate().map(|(q, (score, nearest))| Measured {
            score,
            nearest,
            outside_span: self.metric.outside_share(turned.row(q), missed[q]),
            coordinates: first_two(&turned.row(q)[..self.metric.kept]),
            views: Vec::new(),
        });
        Ok(measured.collect())
    }

    /// The difference of the first point from the mean or from the series at a place, by kept direction, and its squared
    /// length beside them.
    pub(crate) fn difference(
        &self,
        points: &Points,
        pairs: Pairs<'_>,
        distance: Distance,
        place: usize,
        run: &Run,
    ) -> Result<(Vec<f64>, f64)> {
        let mut turned = points.coordinates.row(0).to_vec();
        self.metric.turn(&mut turned, run)?;
        if let (Distance::Conformance { .. }, Some(kept)) = (distance, &self.gathered.points) {
            turned.iter_mut().zip(kept.coordinates.row(place)).for_each(|(y, x)| *y -= x);
            if let Some(series) = &kept.series {
                let whole = refine::squared_distances(pairs, 0, series, &[place])?[0];
                turned.truncate(self.metric.kept);
                let inside: f64 = turned.iter().map(|c| c * c).sum();
                return Ok((turned, (whole - inside).max(0.0)));
            }
        }
        let beside = turned.split_off(self.metric.kept).iter().map(|c| c * c).sum::<f64>();
        Ok((turned, beside + points.missed(0)))
    }

    /// The nearest of the examples to the first point.
    pub(crate) fn nearest_example(&self, points: &Points, measure: Measure, run: &Run) -> Result<usize> {
        let mut turned = points.coordinates.clone();
        self.metric.turn(turned.values_mut(), run)?;
        let (norm, examples) = (self.metric.norm(measure), self.example_points(run)?);
        let missed = vec![0.0; turned.rows()];
        let found = nearest::among(&examples, None, &norm, &turned, &missed, 1, None, run)?;
        Ok(nth(found, 1)[0].1)
    }

    /// The nearest of the examples, as places among all series.
    fn nearest_examples(
        &self,
        turned: &Matrix,
        norm: &metric::MetricNorm,
        missed: &[f64],
        run: &Run,
    ) -> Result<Vec<usize>> {
        let examples = self.example_points(run)?;
        let found = nearest::among(&examples, None, norm, turned, missed, 1, None, run)?;
        let places = self.gathered.examples();
        Ok(nth(found, 1).into_iter().map(|(_, at)| places[at].place).collect())
    }

    /// The examples, in the metric's axes.
    pub(crate) fn example_points(&self, run: &Run) -> Result<Matrix> {
        let examples = self.gathered.examples();
        let mut points = Matrix::zeros(examples.len(), self.gathered.dimensions());
        for (at, example) in examples.iter().enumerate() {
            points.row_mut(at).copy_from_slice(&example.coordinates);
        }
        self.metric.turn(points.values_mut(), run)?;
        Ok(points)
    }

    /// The spectrum, with the examples as the series whose coordinates are shown.
    pub(crate) fn spectrum(&self, run: &Run) -> Result<Spectrum> {
        let points = self.example_points(run)?;
        let rank = self.metric.kept;
        let mut coordinates = Matrix::zeros(rank, points.rows());
        for p in 0..points.rows() {
            (0..rank).for_each(|j| coordinates.row_mut(j)[p] = points.get(p, j));
        }
        let count = self.gathered.count();
        let missed = self.gathered.missed / count as f64;
        Ok(Spectrum {
            eigenvalues: self.metric.eigenvalues[..rank].to_vec(),
            coordinates,
            row_means: vec![0.0; points.rows()],
            grand_mean: self.metric.mean.iter().map(|m| m * m).sum(),
            squares: self.gathered.examples().iter().map(|e| e.square).collect(),
            variance: self.metric.variance + missed,
            threshold: self.metric.threshold,
            count,
            highest_rank: self.gathered.dimensions().min(count - 1),
        })
    }

    /// Scores of the sampled series by their places, each under a model without its fold.
    pub(crate) fn cross_fitted_scores(
        gathered: &Gathered,
        rank: Rank,
        geometry: &Geometry,
        run: &Run,
    ) -> Result<Vec<(usize, f64)>> {
        let Geometry { kernel, scaling, measure } = geometry;
        let (measure, mut scores) = (*measure, Vec::new());
        for fold in 0..gathered.folds() {
            let held: Vec<&Sampled> = gathered.calibration(fold).collect();
            let others = gathered.moments_without(fold);
            if held.is_empty() {
                continue;
            }
            measure.validate(others.count)?;
            if others.count < 2 {
                return Err(Error::TooFew {
                    what: format!("cross-fitting with {} folds", gathered.folds()),
                    needed: 4,
                    found: gathered.count(),
                    advice: "give more normal series, fewer folds, or calibration none".into(),
                });
            }
            let metric = Metric::new(&others, rank, gathered.largest_square, run)?;
            let norm = metric.norm(measure);
            let mut turned = Matrix::zeros(held.len(), gathered.dimensions());
            for (row, one) in held.iter().enumerate() {
                turned.row_mut(row).copy_from_slice(&one.coordinates);
            }
            metric.turn(turned.values_mut(), run)?;
            let missed: Vec<f64> = held.iter().map(|one| missed(&one.coordinates, one.square)).collect();
            match (measure.distance, &gathered.points) {
                (Distance::Conformance { neighbour }, Some(kept)) => {
                    let but = Some((&kept.folds[..], fold as u8));
                    let (most, all) = (neighbour.max(refine::CANDIDATES), &kept.coordinates);
                    let found = nearest::among(all, but, &norm, &turned, &missed, most, Some(&metric), run)?;
                    let found =
                        Self::refine_held(&held, found, kept, &metric, &norm, (kernel, *scaling), run)?;
                    let places = held.iter().map(|one| one.place);
                    scores.extend(
                        places.zip(nth(found, neighbour).into_iter().map(|(square, _)| square.sqrt())),
                    );
                }
                _ => scores.extend(
                    held.iter()
                        .enumerate()
                        .map(|(q, one)| (one.place, norm.square(turned.row(q), missed[q]).sqrt())),
                ),
            }
        }
        Ok(scores)
    }

    /// Candidates of held-out series by kernel values. The points are not in the axes of this metric: those of the
    /// candidates are turned.
    fn refine_held(
        held: &[&Sampled],
        found: Vec<Nearest>,
        kept: &Kept,
        metric: &Metric,
        norm: &metric::MetricNorm,
        (kernel, scaling): (&Kernel, Scaling),
        run: &Run,
    ) -> Result<Vec<Nearest>> {
        let Some(series) = kept.series.as_ref().filter(|_| norm.outside > 0.0) else { return Ok(found) };
        let places: Vec<usize> = held.iter().map(|one| one.place).collect();
        let mut used: Vec<usize> = found.iter().flatten().map(|(_, at)| *at).chain(places.clone()).collect();
        used.sort_unstable();
        used.dedup();
        let at = |place: &usize| used.binary_search(place).unwrap_or(0);
        let mut points = Matrix::zeros(used.len(), kept.coordinates.columns());
        for (row, place) in used.iter().enumerate() {
            points.row_mut(row).copy_from_slice(kept.coordinates.row(*place));
        }
        metric.turn(points.values_mut(), run)?;
        let columns: Vec<usize> = (0..points.columns()).collect();
        let queries = points.select(&places.iter().map(at).collect::<Vec<_>>(), &columns);
        let numbered: Vec<Nearest> = found
            .iter()
            .map(|list| list.iter().map(|(square, place)| (*square, at(place))).collect())
            .collect();
        let few =
            Kept { coordinates: Matrix::zeros(0, 0), folds: Vec::new(), series: Some(series.select(&used)) };
        let candidates = refine::Candidates { nearest: &numbered, queries: &queries, points: &points };
        let pairs = Pairs { kernel, scaling, queries: &series.select(&places) };
        Ok(refine::refined(&candidates, &few, norm, pairs, run)?.unwrap_or(numbered))
    }
}

/// The n-th of each, or the last there is.
fn nth(nearest: Vec<Nearest>, n: usize) -> Vec<(f64, usize)> {
    let one = |found: Nearest| found.get(n - 1).or(found.last()).copied();
    nearest.into_iter().map(|found| one(found).unwrap_or((f64::INFINITY, 0))).collect()
}
