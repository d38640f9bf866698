//! [`Settings`] and [`Detector`]: fit on normal series, score new ones, save, load.
//!
//! ```
//! use varnorm::{Run, Settings, data::basic_motions};
//! let run = Run::sequential();
//! let motions = basic_motions().unwrap();
//! let walking = motions.train.select(&motions.train.with_label("Walking").unwrap());
//! let detector = Settings::default().fit(&walking.series, &run).unwrap();
//! let found = detector.score(&motions.test.series, &run).unwrap();
//! assert_eq!(found.len(), 40);
//! ```

mod compact_file;
mod estimate;
mod explain;
mod file;
mod findings;
mod fit;
mod incremental;
mod place;
mod scored;
mod summary;

pub use estimate::{Estimate, in_words as bytes_in_words};
pub use explain::{Difference, Direction, Explanation, Replaced};
pub use findings::{Finding, Findings, Rule};
pub use incremental::Fitting;
pub use place::Placed;
pub use scored::{ModelSummary, Scored, ScoredSeries};
pub use summary::{
    CalibrationDescription, CorpusDescription, Description, Lengths, SpaceDescription, SpectrumDescription,
};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::calibrate::{Calibrated, Calibration, Chosen, Decision, GaussianCheck, check_level};
use crate::data::SeriesSet;
use crate::diagnostics::Diagnostics;
use crate::error::{Error, Result};
use crate::gram::{self, Cross, Gram, Scaling};
use crate::kernel::Kernel;
use crate::law::WeightedChiSquare;
use crate::linalg::matrix::Scaled;
use crate::model::compact::{Compact, Pairs, Points, Space};
use crate::model::{Measured, first_two};
use crate::prepare::{FittedPreparation, Preparation};
use crate::run::Run;
use crate::score::{Distance, Measure, Norm, outside_shares, scores_by_rank};
use crate::spectrum::{Projection, Rank, Spectrum};

/// Everything that can be chosen about a detector. Plain data: the same JSON everywhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// What is done to series before anything else.
    pub prepare: Preparation,
    /// The inner product.
    pub kernel: Kernel,
    /// Whether kernel values are normalised.
    pub scaling: Scaling,
    /// The variance norm.
    pub norm: Norm,
    /// Its regularisation.
    pub alpha: f64,
    /// Distance to the mean or to the nearest corpus series.
    pub distance: Distance,
    /// Which eigenpairs are kept.
    pub rank: Rank,
    /// Where the covariance is worked out.
    #[serde(skip_serializing_if = "Space::is_gram")]
    pub space: Space,
    /// How scores become p-values.
    pub calibration: Calibration,
    /// The false-alarm rate that flags aim at.
    pub level: f64,
    /// How p-values become flags.
    pub decision: Decision,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            prepare: Preparation::standard(),
            kernel: Kernel::default(),
            scaling: Scaling::default(),
            norm: Norm::default(),
            alpha: 0.1,
            distance: Distance::default(),
            rank: Rank::default(),
            space: Space::default(),
            calibration: Calibration::default(),
            level: 0.05,
            decision: Decision::default(),
        }
    }
}

impl Settings {
    /// An error that names the parameter and the rule, if one is outside its domain.
    pub fn validate(&self) -> Result<()> {
        self.prepare.validate()?;
        self.kernel.validate()?;
        self.rank.validate()?;
        self.calibration.validate()?;
        self.validate_space()?;
        self.measure().validate(usize::MAX)?;
        if matches!(self.calibration, Calibration::Gaussian { .. })
            && self.distance != (Distance::Mahalanobis {})
        {
            let rule =
                "the Gaussian law is that of the Mahalanobis distance; choose it, or calibration cross_fit";
            return Err(Error::bad_param("calibration", "gaussian", rule));
        }
        if matches!(self.scaling, Scaling::Log | Scaling::LogNormalized) {
            let rule = "logarithms are no inner products; a detector takes raw or normalized";
            return Err(Error::bad_param("scaling", "log", rule));
        }
        check_level(self.level)
    }

    /// Norm, regularisation and distance.
    pub fn measure(&self) -> Measure {
        Measure { norm: self.norm, alpha: self.alpha, distance: self.distance }
    }
}

/// A fitted pipeline without its calibration.
#[derive(Debug, Clone, PartialEq)]
struct Fitted {
    preparation: FittedPreparation,
    /// With every `auto` worked out.
    kernel: Kernel,
    /// Prepared.
    corpus: SeriesSet,
    /// `k(x,x)` before normalising.
    self_values: Vec<Scaled>,
    spectrum: Spectrum,
    /// Where not all pairs are worked out: the corpus above are then examples of it.
    compact: Option<Compact>,
}

/// Scored at a time: bounds the memory of the queries' kernel values.
const BATCH: usize = 1024;

impl Fitted {
    fn new(settings: &Settings, corpus: &SeriesSet, run: &Run) -> Result<Self> {
        Ok(Self::with_gram(settings, corpus, run)?.0)
    }

    fn with_gram(settings: &Settings, corpus: &SeriesSet, run: &Run) -> Result<(Self, Gram)> {
        let (preparation, corpus) = settings.prepare.fit(corpus)?;
        let kernel = settings.kernel.resolve(&corpus)?;
        let gram = gram::gram(&kernel, &corpus, settings.scaling, run)?;
        settings.measure().validate(gram.len())?;
        let spectrum = Spectrum::new(&gram, settings.rank, run)?;
        let self_values = gram.self_values.clone();
        // A model must not change when its caller's data do.
        let corpus = corpus.into_owned();
        Ok((Self { preparation, kernel, corpus, self_values, spectrum, compact: None }, gram))
    }

    /// Measures raw series, a batch at a time.
    fn measure(&self, settings: &Settings, queries: &SeriesSet, run: &Run) -> Result<Vec<Measured>> {
        let queries = self.preparation.apply(queries)?;
        let mut results = Vec::with_capacity(queries.len());
        let indices: Vec<usize> = (0..queries.len()).collect();
        for batch in indices.chunks(BATCH) {
            let some = if batch.len() == queries.len() { queries.clone() } else { queries.select(batch) };
            let found = self.measure_batch(settings, &some, run);
            results.extend(found.map_err(|e| e.renumbered(batch, &[]))?);
        }
        Ok(results)
    }

    fn measure_batch(&self, settings: &Settings, queries: &SeriesSet, run: &Run) -> Result<Vec<Measured>> {
        if let Some(compact) = &self.compact {
            let points = self.points(settings, queries, run)?;
            return compact.measure(&points, self.pairs(settings, queries), settings.measure(), run);
        }
        let cross =
            gram::cross(&self.kernel, queries, &self.corpus, &self.self_values, settings.scaling, run)?;
        let projection = self.spectrum.project(&cross, run)?;
        self.measured(settings, &cross, &projection, run)
    }

    /// Prepared series as the points of a compact model.
    fn points(&self, settings: &Settings, prepared: &SeriesSet, run: &Run) -> Result<Points> {
        match &self.compact {
            Some(compact) => compact.gathered.map.points(&self.kernel, settings.scaling, prepared, run),
            None => Err(Error::bad_param("space", "gram", "has no points")),
        }
    }

    /// Where a compact model takes kernel values from.
    fn pairs<'a>(&'a self, settings: &Settings, queries: &'a SeriesSet) -> Pairs<'a> {
        Pairs { kernel: &self.kernel, scaling: settings.scaling, queries }
    }

    /// The same from kernel values and coordinates that are there already.
    fn measured(
        &self,
        settings: &Settings,
        cross: &Cross,
        projection: &Projection,
        run: &Run,
    ) -> Result<Vec<Measured>> {
        let rank = [self.spectrum.rank()];
        let by_measure = |measure| {
            scores_by_rank(&self.spectrum, cross, projection, measure, &rank, run).map(|mut s| s.pop())
        };
        let measure = settings.measure();
        let scores = by_measure(measure)?.unwrap_or_default();
        // The nearest series is told for the distance to the mean too.
        let nearest = match scores.nearest {
            Some(nearest) => nearest,
            None => by_measure(Measure { distance: Distance::default(), ..measure })?
                .and_then(|s| s.nearest)
                .unwrap_or_default(),
        };
        let outside = outside_shares(projection);
        let measured = scores.values.into_iter().zip(nearest).zip(outside).enumerate();
        Ok(measured
            .map(|(q, ((score, nearest), outside_span))| Measured {
                score,
                nearest,
                outside_span,
                coordinates: first_two(projection.coordinates.row(q)),
            })
            .collect())
    }

    fn raw_scores(&self, settings: &Settings, queries: &SeriesSet, run: &Run) -> Result<Vec<f64>> {
        Ok(self.measure(settings, queries, run)?.into_iter().map(|measured| measured.score).collect())
    }
}

/// A fitted detector.
#[derive(Debug, Clone, PartialEq)]
pub struct Detector {
    settings: Settings,
    fitted: Fitted,
    /// The model's corpus as indices into the series it was fitted on (a split leaves some out).
    members: Vec<usize>,
    calibrated: Option<Calibrated>,
    /// The threshold that labelled outliers chose.
    chosen: Option<Chosen>,
    /// The law of a squared score, with the Gaussian calibration.
    law: Option<WeightedChiSquare>,
    corpus_names: Option<Vec<String>>,
}

impl Detector {
    /// Scores new series, with p-values and flags at the detector's level.
    pub fn score(&self, series: &SeriesSet, run: &Run) -> Result<Findings> {
        self.score_at(series, self.settings.level, self.settings.decision, run)
    }

    /// Scores new series, with flags at another level or by another rule.
    pub fn score_at(
        &self,
        series: &SeriesSet,
        level: f64,
        decision: Decision,
        run: &Run,
    ) -> Result<Findings> {
        check_level(level)?;
        let measured = self.fitted.measure(&self.settings, series, run)?;
        Ok(Findings::new(self, measured, level, decision))
    }

    /// Findings about series that were scored in pieces, elsewhere: flags are made over all of them. `nearest` is told as in
    /// a [`Finding`], by the place among the series that the detector was fitted on.
    pub fn findings_of(
        &self,
        scored: impl IntoIterator<Item = Measured>,
        level: f64,
        decision: Decision,
    ) -> Result<Findings> {
        check_level(level)?;
        let places: BTreeMap<usize, usize> =
            self.members.iter().enumerate().map(|(at, m)| (*m, at)).collect();
        // Compact models tell the place among all series, of which they keep a few.
        let place = |nearest: usize| match self.fitted.compact {
            Some(_) => (nearest < self.corpus_series()).then_some(nearest),
            None => places.get(&nearest).copied(),
        };
        let placed = |measured: Measured| {
            let missing = || Error::bad_param("nearest", measured.nearest, "is no series of this model");
            Ok(Measured { nearest: place(measured.nearest).ok_or_else(missing)?, ..measured })
        };
        let measured: Result<Vec<_>> = scored.into_iter().map(placed).collect();
        Ok(Findings::new(self, measured?, level, decision))
    }

    /// What was chosen.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The kernel with every `auto` worked out.
    pub fn kernel(&self) -> &Kernel {
        &self.fitted.kernel
    }

    /// The fitted preparation.
    pub fn preparation(&self) -> &FittedPreparation {
        &self.fitted.preparation
    }

    /// The spectral decomposition of the corpus.
    pub fn spectrum(&self) -> &Spectrum {
        &self.fitted.spectrum
    }

    /// The prepared corpus of the model.
    pub fn corpus(&self) -> &SeriesSet {
        &self.fitted.corpus
    }

    /// The model's corpus as indices into the series it was fitted on.
    pub fn members(&self) -> &[usize] {
        &self.members
    }

    /// The normal scores that p-values compare with.
    pub fn calibrated(&self) -> Option<&Calibrated> {
        self.calibrated.as_ref()
    }

    /// The threshold that labelled outliers chose, with the supervised calibration.
    pub fn chosen(&self) -> Option<&Chosen> {
        self.chosen.as_ref()
    }

    /// The law of a squared score, with the Gaussian calibration.
    pub fn law(&self) -> Option<&WeightedChiSquare> {
        self.law.as_ref()
    }

    /// The chance of a normal series scoring at least as high: from the Gaussian law where that was chosen, else by
    /// comparison with the calibration scores; `None` without calibration.
    pub fn p_value(&self, score: f64) -> Option<f64> {
        match &self.law {
            Some(law) => Some(law.survival(score * score)),
            None => self.calibrated.as_ref().map(|c| c.p_value(score)),
        }
    }

    /// The score above which a single series is flagged at this level; `None` without calibration. A supervised or
    /// fixed threshold is what it is at any level.
    pub fn threshold(&self, level: f64) -> Option<f64> {
        let calibrated = self.calibrated.as_ref()?;
        match (self.settings.calibration, &self.law, &self.chosen) {
            (Calibration::Quantile { .. }, _, _) => Some(calibrated.quantile_threshold(level)),
            (Calibration::Fixed { threshold, .. }, _, _) => Some(threshold),
            (_, Some(law), _) => law.quantile(level).ok().map(f64::sqrt),
            (_, _, Some(chosen)) => Some(chosen.threshold),
            _ => Some(calibrated.conformal_threshold(level)),
        }
    }

    /// The share of normal series that the threshold at this level aims to flag. For a conformal one with n scores
    /// this is the largest `k / (n + 1)` up to the level; for a supervised or fixed one the share of cross-fitted
    /// scores of the corpus above it.
    pub fn target_false_alarm_rate(&self, level: f64) -> Option<f64> {
        let calibrated = self.calibrated.as_ref()?;
        match self.settings.calibration {
            Calibration::Supervised { .. } | Calibration::Fixed { .. } => {
                let threshold = self.threshold(level)?;
                let above = calibrated.scores().iter().filter(|s| **s > threshold).count();
                Some(above as f64 / calibrated.scores().len().max(1) as f64)
            }
            Calibration::Quantile { .. } | Calibration::Gaussian { .. } => Some(level),
            _ => Some(calibrated.attainable_rate(level)),
        }
    }

    /// Whether the Gaussian law can be trusted, with the Gaussian calibration.
    pub fn gaussian_check(&self, level: f64) -> Option<GaussianCheck> {
        Some(GaussianCheck::new(self.law.as_ref()?, self.calibrated.as_ref()?.scores(), level))
    }

    /// What the corpus and the norm are good for.
    pub fn diagnostics(&self) -> Diagnostics {
        Diagnostics::new(self.spectrum(), self.settings.measure(), self.corpus(), self.calibrated())
    }

    /// Names of the series that the detector was fitted on, one each, to be told with findings.
    pub fn with_corpus_names(mut self, names: Option<Vec<String>>) -> Self {
        self.corpus_names = names;
        self
    }

    /// The name of a series that the detector was fitted on, where names were given.
    pub fn corpus_name(&self, index: usize) -> Option<&str> {
        self.corpus_names.as_ref()?.get(index).map(String::as_str)
    }

    /// What the user should know about this model before trusting it, in plain sentences.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings_at(self.settings.level)
    }

    /// The same when flags are made at another level.
    pub fn warnings_at(&self, level: f64) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.spectrum().rank() == 0 {
            let meaning = match self.settings.norm {
                Norm::Envelope => "a score is the plain distance in feature space over sqrt(alpha)",
                Norm::Tikhonov => "every score is 0",
                Norm::Exact => "a score is 0 for the same series and infinite for any other",
            };
            warnings.push(format!(
                "the corpus is degenerate: all its series are equal under this kernel (rank 0), so {meaning}; \
                 check the data and the preparation"
            ));
        }
        if let Some(check) = self.gaussian_check(level).filter(|check| !check.trusted) {
            warnings.push(check.in_words());
        }
        // Thresholds on the score and laws have no smallest p-value.
        let unbounded = self.settings.calibration.flags_by_score() || self.law.is_some();
        if let Some(calibrated) = &self.calibrated
            && calibrated.smallest_p_value() > level
            && !unbounded
        {
            // 1 / (n + 1) <= level, and a split uses a share of the series only.
            let scores = (1.0 / level).ceil() - 1.0;
            let needed = match self.settings.calibration {
                Calibration::Split { holdout, .. } => (scores / holdout).ceil(),
                _ => scores,
            };
            warnings.push(format!(
                "{} calibration scores cannot give a p-value below {:.3}, so nothing will ever be flagged at level \
                 {level}; give at least {needed} normal series or choose a higher level",
                calibrated.scores().len(),
                calibrated.smallest_p_value(),
            ));
        }
        warnings
    }
}
