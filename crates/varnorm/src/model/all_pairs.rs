//! The model of all pairs: the Gram matrix of the corpus, decomposed.

use super::{Answers, Difference, Geometry, Measured, first_two};
use crate::data::SeriesSet;
use crate::error::Result;
use crate::gram::{self, Cross, Gram};
use crate::linalg::matrix::Scaled;
use crate::run::Run;
use crate::score::{Distance, Measure, outside_shares, scores_by_rank};
use crate::spectrum::{Projection, Rank, Spectrum};

/// A corpus with the decomposition of its Gram matrix.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AllPairs {
    /// Prepared.
    pub(crate) corpus: SeriesSet,
    /// `k(x,x)` before normalising.
    pub(crate) self_values: Vec<Scaled>,
    pub(crate) spectrum: Spectrum,
}

impl AllPairs {
    /// From a prepared corpus and its Gram matrix.
    pub(crate) fn new(corpus: SeriesSet, gram: &Gram, rank: Rank, run: &Run) -> Result<Self> {
        let spectrum = Spectrum::new(gram, rank, run)?;
        // A model must not change when its caller's data do.
        Ok(Self { corpus: corpus.into_owned(), self_values: gram.self_values.clone(), spectrum })
    }

    /// Kernel values of queries with the corpus, and the queries' coordinates.
    fn project(&self, geometry: &Geometry, queries: &SeriesSet, run: &Run) -> Result<(Cross, Projection)> {
        let Geometry { kernel, scaling, .. } = geometry;
        let cross = gram::cross(kernel, queries, &self.corpus, &self.self_values, *scaling, run)?;
        let projection = self.spectrum.project(&cross, run)?;
        Ok((cross, projection))
    }
}

impl Answers for AllPairs {
    fn corpus(&self) -> &SeriesSet {
        &self.corpus
    }

    fn self_values(&self) -> &[Scaled] {
        &self.self_values
    }

    fn spectrum(&self) -> &Spectrum {
        &self.spectrum
    }

    fn measure(&self, geometry: &Geometry, queries: &SeriesSet, run: &Run) -> Result<Vec<Measured>> {
        let (cross, projection) = self.project(geometry, queries, run)?;
        let rank = [self.spectrum.rank()];
        let by_measure = |measure| {
            scores_by_rank(&self.spectrum, &cross, &projection, measure, &rank, run).map(|mut s| s.pop())
        };
        let measure = geometry.measure;
        let scores = by_measure(measure)?.unwrap_or_default();
        // The nearest series is reported for the distance to the mean too.
        let nearest = match scores.nearest {
            Some(nearest) => nearest,
            None => by_measure(Measure { distance: Distance::default(), ..measure })?
                .and_then(|s| s.nearest)
                .unwrap_or_default(),
        };
        let outside = outside_shares(&projection);
        let measured = scores.values.into_iter().zip(nearest).zip(outside).enumerate();
        Ok(measured
            .map(|(q, ((score, nearest), outside_span))| Measured {
                score,
                nearest,
                outside_span,
                coordinates: first_two(projection.coordinates.row(q)),
                views: Vec::new(),
            })
            .collect())
    }

    fn difference(
        &self,
        geometry: &Geometry,
        query: &SeriesSet,
        place: usize,
        run: &Run,
    ) -> Result<Difference> {
        let (cross, projection) = self.project(geometry, query, run)?;
        let from_mean = geometry.measure.distance == (Distance::Mahalanobis {});
        let to = |j: usize| if from_mean { 0.0 } else { self.spectrum.coordinates().get(j, place) };
        let coordinates: Vec<f64> =
            (0..self.spectrum.rank()).map(|j| projection.coordinates.get(0, j) - to(j)).collect();
        let inside: f64 = coordinates.iter().map(|d| d.powi(2)).sum();
        let whole = match from_mean {
            true => projection.squared_norms[0],
            false => cross.self_values[0] + self.spectrum.squares[place] - 2.0 * cross.matrix.get(0, place),
        };
        Ok(Difference { coordinates, outside: (whole - inside).max(0.0) })
    }

    fn kept_nearest(&self, _: &Geometry, _: &SeriesSet, place: usize, _: &Run) -> Result<usize> {
        Ok(place)
    }
}
