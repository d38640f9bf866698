//! What a detector fits: the covariance of a corpus under one view, from all pairs of series or in a compact form.
//!
//! ```text
//! View (chosen) --fit--> FittedView { preparation, Geometry, Model }     Model::AllPairs | Model::Compact
//! raw series --FittedViews::measure--> scores of each view --standardise, combine--> Measured
//! ```
//!
//! A model takes prepared series and answers in the geometry that it is given: kernel, scaling, norm and distance, with
//! every `auto` resolved.

mod all_pairs;
mod combine;
pub(crate) mod compact;
mod view;
mod views;

pub use combine::Combination;
pub use compact::{Choice, Space};
pub use view::View;

pub(crate) use all_pairs::AllPairs;
pub(crate) use combine::Standard;
pub(crate) use compact::FittedCompact;
pub(crate) use view::FittedView;
pub(crate) use views::{FittedViews, leading};

use crate::data::SeriesSet;
use crate::error::Result;
use crate::gram::Scaling;
use crate::kernel::Kernel;
use crate::linalg::matrix::Scaled;
use crate::run::Run;
use crate::score::Measure;
use crate::spectrum::Spectrum;

/// What a model measures of one series, whichever model it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// How novel the series is: higher is more.
    pub score: f64,
    /// The nearest normal series, by its place in the model.
    pub nearest: usize,
    /// The share of the squared distance from the corpus mean that no corpus series explains.
    pub outside_span: f64,
    /// The first two kernel principal coordinates, for a map; 0 where the corpus has no such direction.
    pub coordinates: [f64; 2],
    /// Comparable scores of the views, where there are several: deviations from what is normal in each.
    pub views: Vec<f64>,
}

/// The inner product of prepared series and the distance between them, with every `auto` resolved.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Geometry {
    pub(crate) kernel: Kernel,
    pub(crate) scaling: Scaling,
    pub(crate) measure: Measure,
}

/// How far a series lies from what its score is measured to, in the eigenvectors of the covariance.
pub(crate) struct Difference {
    /// One coordinate per kept eigenvector.
    pub(crate) coordinates: Vec<f64>,
    /// The squared length outside their span.
    pub(crate) outside: f64,
}

/// What is fitted on prepared series.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Model {
    AllPairs(Box<AllPairs>),
    Compact(Box<FittedCompact>),
}

/// What every model answers about prepared series.
pub(crate) trait Answers {
    /// The prepared series that are kept, in order: all of them, or examples.
    fn corpus(&self) -> &SeriesSet;
    /// `k(x,x)` of the kept series before normalising.
    fn self_values(&self) -> &[Scaled];
    /// The decomposed covariance, with the coordinates of the kept series.
    fn spectrum(&self) -> &Spectrum;
    /// Measures series.
    fn measure(&self, geometry: &Geometry, queries: &SeriesSet, run: &Run) -> Result<Vec<Measured>>;
    /// The difference of a series from the mean or from the normal series at a place in the model.
    fn difference(
        &self,
        geometry: &Geometry,
        query: &SeriesSet,
        place: usize,
        run: &Run,
    ) -> Result<Difference>;
    /// The kept series to show beside one that was found nearest: itself where it is kept.
    fn kept_nearest(&self, geometry: &Geometry, query: &SeriesSet, place: usize, run: &Run) -> Result<usize>;
}

impl Model {
    /// The interface of whichever model this is.
    pub(crate) fn answers(&self) -> &dyn Answers {
        match self {
            Self::AllPairs(model) => model.as_ref(),
            Self::Compact(model) => model.as_ref(),
        }
    }

    /// The compact model, where it is one.
    pub(crate) fn compact(&self) -> Option<&FittedCompact> {
        match self {
            Self::AllPairs(_) => None,
            Self::Compact(model) => Some(model),
        }
    }
}

/// The first two coordinates, for a map; 0 where there is no such direction.
pub(crate) fn first_two(coordinates: &[f64]) -> [f64; 2] {
    [coordinates.first().copied().unwrap_or(0.0), coordinates.get(1).copied().unwrap_or(0.0)]
}
