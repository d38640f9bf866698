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
pub(crate) mod container;
pub(crate) mod estimate;
mod explain;
mod facts;
mod file;
mod findings;
mod fit;
mod incremental;
mod place;
mod preset;
mod scored;
mod settings;
mod summary;

pub use crate::diagnostics::{Diagnostics, Shape};
pub use crate::model::{Choice, Combination, Measured, Space, View};
pub use estimate::Estimate;
pub use explain::{Difference, Direction, Explanation, Replaced};
#[cfg(feature = "report")]
pub(crate) use facts::Flagging;
pub use findings::{Finding, Findings, ViewScore};
pub use incremental::Fitting;
pub use place::Placed;
pub use preset::Preset;
pub use scored::{ModelSummary, Scored, ScoredSeries, ViewSummaries, ViewSummary};
pub use settings::{Settings, Views};
pub use summary::{
    CalibrationDescription, CorpusDescription, Description, SpaceDescription, SpectrumDescription,
    ViewDescription,
};

pub use crate::calibrate::Rule;
pub use crate::describe::Lengths;

use std::collections::BTreeMap;

use crate::calibrate::{Calibrated, Calibration, Chosen, Decision, GaussianCheck, check_level};
use crate::data::{Channel, Dataset, Origin, SeriesSet};
use crate::describe;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::law::WeightedChiSquare;
use crate::model::{FittedView, FittedViews, Model};
use crate::prepare::FittedPreparation;
use crate::run::Run;
use crate::spectrum::Spectrum;

/// A fitted detector.
#[derive(Debug, Clone, PartialEq)]
pub struct Detector {
    /// What was chosen, with the calibration resolved.
    settings: Settings,
    fitted: FittedViews,
    /// The model's corpus as indices into the series it was fitted on (a split leaves some out).
    members: Vec<usize>,
    calibrated: Option<Calibrated>,
    /// The threshold that labelled outliers chose.
    chosen: Option<Chosen>,
    /// The law of a squared score, with the Gaussian calibration.
    law: Option<WeightedChiSquare>,
    corpus_names: Option<Vec<String>>,
    /// How the corpus was recorded.
    origin: Origin,
    /// What the user should know about the choice of views.
    notes: Vec<String>,
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
        let measured = self.fitted.measure(series, run)?;
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
        let place = |nearest: usize| match self.first().model {
            Model::Compact(_) => (nearest < self.corpus_series()).then_some(nearest),
            Model::AllPairs(_) => places.get(&nearest).copied(),
        };
        let placed = |measured: Measured| {
            let missing = || Error::bad_param("nearest", measured.nearest, "is no series of this model");
            Ok(Measured { nearest: place(measured.nearest).ok_or_else(missing)?, ..measured })
        };
        let measured: Result<Vec<_>> = scored.into_iter().map(placed).collect();
        Ok(Findings::new(self, measured?, level, decision))
    }

    /// What was chosen, with the calibration resolved.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The first view: pictures are of it.
    fn first(&self) -> &FittedView {
        self.fitted.first()
    }

    /// Number of views.
    pub fn views(&self) -> usize {
        self.fitted.views.len()
    }

    /// At most how many operations it takes to score series, in all views: see [`Kernel::operations`].
    pub fn operations(&self, series: &SeriesSet) -> f64 {
        let spectrum = |corpus: &SeriesSet| series.len() as f64 * (corpus.len() as f64).powi(2);
        let one = |view: &FittedView| {
            view.geometry.kernel.operations(series, view.corpus()) + spectrum(view.corpus())
        };
        self.fitted.views.iter().map(one).sum()
    }

    /// The kernel of the first view, with every `auto` worked out.
    pub fn kernel(&self) -> &Kernel {
        &self.first().geometry.kernel
    }

    /// The fitted preparation of the first view.
    pub fn preparation(&self) -> &FittedPreparation {
        &self.first().preparation
    }

    /// The spectral decomposition of the corpus in the first view.
    pub fn spectrum(&self) -> &Spectrum {
        self.first().spectrum()
    }

    /// The prepared corpus of the first view.
    pub fn corpus(&self) -> &SeriesSet {
        self.first().corpus()
    }

    /// Whether the model keeps all pairs of its series.
    pub fn is_all_pairs(&self) -> bool {
        matches!(self.first().model, Model::AllPairs(_))
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
        Diagnostics::new(self.spectrum(), self.first().geometry.measure, self.corpus(), self.calibrated())
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

    /// How the corpus was recorded: new data are held against it. What does not fit the model's channels is left out.
    pub fn with_origin(mut self, origin: Origin) -> Self {
        let fits = origin.fault(self.preparation().channels()).is_none();
        self.origin = if fits { origin } else { Origin::default() };
        self
    }

    /// How the corpus was recorded, as far as it is known: names and units of its channels, its sampling step.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// New data as the model wants them; see [`Origin::admit`].
    pub fn admit(&self, dataset: Dataset) -> Result<Dataset> {
        self.origin.admit(dataset)
    }

    /// The names of the model's channels, where they are known and preparation leaves the channels as they are.
    pub(crate) fn prepared_names(&self, prepared_channels: usize) -> Option<Vec<String>> {
        let channels = self.origin.channels.as_ref()?;
        (prepared_channels == channels.len()).then(|| Channel::names(channels))
    }

    /// What the user should know about this model before trusting it, in plain sentences.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings_at(self.settings.level)
    }

    /// What the user should know about the choice of views, in plain sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The same when flags are made at another level.
    pub fn warnings_at(&self, level: f64) -> Vec<String> {
        let mut warnings = self.preparation().warnings(self.origin.channels.as_deref());
        if self.fitted.views.iter().all(|view| view.spectrum().rank() == 0) {
            warnings.push(describe::degenerate(self.first().view.norm));
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
            let (found, smallest) = (calibrated.scores().len(), calibrated.smallest_p_value());
            warnings.push(describe::too_few_scores(found, smallest, level, needed));
        }
        warnings
    }
}
