//! [`View`]: one way to look at series: a preparation, a kernel, a norm and a distance.

use serde::{Deserialize, Serialize};

use super::{AllPairs, Geometry, Measured, Model, Space};
use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::gram::{self, Gram, Scaling};
use crate::kernel::{Kernel, Parameter};
use crate::norm::auto_alpha;
use crate::prepare::{FittedPreparation, Per, Preparation, Step};
use crate::run::Run;
use crate::score::{Distance, Measure, Norm};
use crate::spectrum::{Rank, Spectrum};

/// One way to look at series. Plain data: the same JSON everywhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct View {
    /// What is done to series before anything else.
    pub prepare: Preparation,
    /// The inner product.
    pub kernel: Kernel,
    /// Whether kernel values are normalised.
    pub scaling: Scaling,
    /// The variance norm.
    pub norm: Norm,
    /// Its regularisation: a number, or `auto`, a share of the corpus' variance.
    pub alpha: Parameter,
    /// Distance to the mean or to the nearest corpus series.
    pub distance: Distance,
    /// Which eigenpairs are kept.
    pub rank: Rank,
    /// Where the covariance is worked out.
    #[serde(skip_serializing_if = "Space::is_gram")]
    pub space: Space,
}

impl Default for View {
    fn default() -> Self {
        Self {
            prepare: Preparation::standard(),
            kernel: Kernel::default(),
            scaling: Scaling::default(),
            norm: Norm::default(),
            alpha: Parameter::Auto,
            distance: Distance::default(),
            rank: Rank::default(),
            space: Space::default(),
        }
    }
}

impl View {
    /// With this kernel and every other choice left to its default.
    pub fn new(kernel: Kernel) -> Self {
        Self { kernel, ..Self::default() }
    }

    /// An error that names the parameter and the rule, if one is outside its domain.
    pub fn validate(&self) -> Result<()> {
        self.prepare.validate()?;
        self.kernel.validate()?;
        self.rank.validate()?;
        self.space.validate()?;
        if self.space == (Space::Features {}) && self.kernel.features().is_none() {
            let rule = format!("this kernel {}", super::compact::no_features());
            return Err(Error::bad_param("space", format!("features with {}", self.kernel), rule));
        }
        let alpha = match self.alpha {
            Parameter::Auto => 1.0,
            Parameter::Value(alpha) => alpha,
        };
        self.measure(alpha).validate(usize::MAX)?;
        if matches!(self.scaling, Scaling::Log | Scaling::LogNormalized) {
            let rule = "logarithms are no inner products; a detector takes raw or normalized";
            return Err(Error::bad_param("scaling", "log", rule));
        }
        Ok(())
    }

    /// Whether series may have different lengths: the kernel takes them, or they are brought to one first.
    pub fn any_lengths(&self) -> bool {
        let steps = &self.prepare.steps;
        let resampled = steps.iter().position(|step| matches!(step, Step::Resample { .. }));
        let before = &steps[..resampled.unwrap_or(steps.len())];
        let per_step = before.iter().any(|step| matches!(step, Step::Zscore { per: Per::Step, .. }));
        !per_step && (resampled.is_some() || self.kernel.info().any_lengths)
    }

    /// A name to tell it from other views: that of its kernel.
    pub fn name(&self) -> String {
        self.kernel.info().name.to_string()
    }

    /// Norm, regularisation and distance.
    pub(crate) fn measure(&self, alpha: f64) -> Measure {
        Measure { norm: self.norm, alpha, distance: self.distance }
    }

    /// The geometry of a corpus: `alpha` may depend on the trace of its covariance and the mean of `k(x,x)`.
    pub(crate) fn geometry(&self, kernel: Kernel, variance: f64, mean_square: f64) -> Geometry {
        let alpha = match self.alpha {
            Parameter::Auto => auto_alpha(variance, mean_square),
            Parameter::Value(alpha) => alpha,
        };
        Geometry { kernel, scaling: self.scaling, measure: self.measure(alpha) }
    }

    /// Fits on all pairs of normal series; the Gram matrix serves leave-one-out scores.
    pub(crate) fn fit_all_pairs(&self, corpus: &SeriesSet, run: &Run) -> Result<(FittedView, Gram)> {
        let (preparation, corpus) = self.prepare.fit(corpus)?;
        let kernel = self.kernel.resolve(&corpus)?;
        let gram = gram::gram(&kernel, &corpus, self.scaling, run)?;
        let model = AllPairs::new(corpus, &gram, self.rank, run)?;
        let geometry = self.geometry(kernel, model.spectrum.variance(), mean(&model.spectrum.squares));
        geometry.measure.validate(gram.len())?;
        Ok((
            FittedView { view: self.clone(), preparation, geometry, model: Model::AllPairs(Box::new(model)) },
            gram,
        ))
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// A view that has seen its corpus.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FittedView {
    /// What was chosen.
    pub(crate) view: View,
    pub(crate) preparation: FittedPreparation,
    pub(crate) geometry: Geometry,
    pub(crate) model: Model,
}

/// Scored at a time: bounds the memory of the queries' kernel values.
const BATCH: usize = 1024;

impl FittedView {
    /// Measures raw series, a batch at a time.
    pub(crate) fn measure(&self, queries: &SeriesSet, run: &Run) -> Result<Vec<Measured>> {
        let queries = self.preparation.apply(queries)?;
        let mut results = Vec::with_capacity(queries.len());
        let indices: Vec<usize> = (0..queries.len()).collect();
        for batch in indices.chunks(BATCH) {
            let some = if batch.len() == queries.len() { queries.clone() } else { queries.select(batch) };
            let found = self.measure_prepared(&some, run);
            results.extend(found.map_err(|e| e.renumbered(batch, &[]))?);
        }
        Ok(results)
    }

    /// Measures prepared series.
    pub(crate) fn measure_prepared(&self, queries: &SeriesSet, run: &Run) -> Result<Vec<Measured>> {
        self.model.answers().measure(&self.geometry, queries, run)
    }

    /// The name of the view: that of its kernel, and how it was prepared where that is not the usual way.
    pub(crate) fn name(&self) -> String {
        self.view.name()
    }

    /// The prepared series that are kept.
    pub(crate) fn corpus(&self) -> &SeriesSet {
        self.model.answers().corpus()
    }

    /// The decomposed covariance.
    pub(crate) fn spectrum(&self) -> &Spectrum {
        self.model.answers().spectrum()
    }
}
