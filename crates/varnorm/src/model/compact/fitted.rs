//! A compact model with the series that it keeps as examples.

use super::{Compact, Pairs, Points};
use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::gram::self_values;
use crate::kernel::Kernel;
use crate::linalg::matrix::Scaled;
use crate::model::{Answers, Difference, Geometry, Measured};
use crate::run::Run;
use crate::spectrum::Spectrum;

/// A compact model, with examples of its corpus to show.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FittedCompact {
    pub(crate) compact: Compact,
    /// Prepared, in the order of all series.
    pub(crate) examples: SeriesSet,
    /// `k(x,x)` of the examples before normalising.
    pub(crate) self_values: Vec<Scaled>,
    pub(crate) spectrum: Spectrum,
}

impl FittedCompact {
    /// With the examples of what was gathered, of so many channels.
    pub(crate) fn new(compact: Compact, kernel: &Kernel, channels: usize, run: &Run) -> Result<Self> {
        let mut examples = SeriesSet::new(channels)?;
        compact.gathered.examples().iter().try_for_each(|example| examples.push(&example.values))?;
        let self_values =
            self_values(std::slice::from_ref(kernel), &examples, run)?.pop().unwrap_or_default();
        let spectrum = compact.spectrum(run)?;
        Ok(Self { compact, examples, self_values, spectrum })
    }

    /// Prepared series as points, which must have the features of the model.
    pub(crate) fn points(&self, geometry: &Geometry, prepared: &SeriesSet, run: &Run) -> Result<Points> {
        let points = self.compact.gathered.map.points(&geometry.kernel, geometry.scaling, prepared, run)?;
        let (found, expected) = (points.coordinates.columns(), self.compact.metric.mean.len());
        if found != expected && !prepared.is_empty() {
            let rule = format!(
                "these series have {found} features under the model's kernel and its corpus has {expected}; give \
                 series of the length and the channels of the corpus"
            );
            return Err(Error::bad_param("features", found, rule));
        }
        Ok(points)
    }
}

impl Answers for FittedCompact {
    fn corpus(&self) -> &SeriesSet {
        &self.examples
    }

    fn self_values(&self) -> &[Scaled] {
        &self.self_values
    }

    fn spectrum(&self) -> &Spectrum {
        &self.spectrum
    }

    fn measure(&self, geometry: &Geometry, queries: &SeriesSet, run: &Run) -> Result<Vec<Measured>> {
        let Geometry { kernel, scaling, measure } = geometry;
        let points = self.points(geometry, queries, run)?;
        self.compact.measure(&points, Pairs { kernel, scaling: *scaling, queries }, *measure, run)
    }

    fn difference(
        &self,
        geometry: &Geometry,
        query: &SeriesSet,
        place: usize,
        run: &Run,
    ) -> Result<Difference> {
        let Geometry { kernel, scaling, measure } = geometry;
        let points = self.points(geometry, query, run)?;
        let pairs = Pairs { kernel, scaling: *scaling, queries: query };
        let (coordinates, outside) = self.compact.difference(&points, pairs, measure.distance, place, run)?;
        Ok(Difference { coordinates, outside })
    }

    fn kept_nearest(&self, geometry: &Geometry, query: &SeriesSet, place: usize, run: &Run) -> Result<usize> {
        let kept = self.compact.gathered.examples().iter().position(|example| example.place == place);
        match kept {
            Some(at) => Ok(at),
            None => {
                let points = self.points(geometry, query, run)?;
                self.compact.nearest_example(&points, geometry.measure, run)
            }
        }
    }
}
