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

mod cannot_flag;
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
mod robust;
mod scored;
mod settings;
mod summary;
mod suspects;

pub use crate::diagnostics::{Diagnostics, Shape};
pub use crate::model::{Choice, Combination, Measured, Space, View};
pub use cannot_flag::CannotFlag;
pub use estimate::Estimate;
pub use explain::{Difference, Direction, Explanation, Replaced};
#[cfg(feature = "report")]
pub(crate) use facts::Flagging;
pub use findings::{Finding, Findings, ViewScore};
pub use incremental::Fitting;
pub use place::Placed;
pub use preset::Preset;
pub use robust::Robust;
pub use scored::{ModelSummary, Scored, ScoredSeries, ViewSummaries, ViewSummary};
pub use settings::{Settings, Views};
pub use summary::{
    CalibrationDescription, CorpusDescription, Description, SpaceDescription, SpectrumDescription,
    ViewDescription,
};

pub use suspects::{NamedSuspect, Suspect};

pub use crate::calibrate::Rule;
pub use crate::describe::Lengths;

use std::collections::BTreeMap;

use crate::calibrate::{
    Calibrated, Calibration, Chosen, Decision, GaussianCheck, Tail, TailCheck, check_level,
};
use crate::data::{Channel, Dataset, Origin, SeriesSet};
use crate::describe;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::law::WeightedChiSquare;
use crate::model::{FittedView, FittedViews, Model};
use crate::prepare::FittedPreparation;
use crate::run::Run;
use crate::spectrum::Spectrum;

/// A fitted detector: scores new series, explains them, and is kept in one file.
///
/// ```
/// use varnorm::{Detector, Run, Settings, data::basic_motions};
/// let run = Run::sequential();
/// let motions = basic_motions()?;
/// let normal = motions.train.select(&motions.train.with_label("Standing")?);
/// let detector = Settings::default().with_kernel("integral_rbf".parse()?).fit(&normal.series, &run)?;
///
/// let folder = tempfile::tempdir().unwrap();
/// let file = folder.path().join("standing.model");
/// detector.save(&file)?;
/// let again = Detector::load(&file)?;
/// let scores = |detector: &Detector| detector.score(&motions.test.series, &run);
/// assert_eq!(scores(&again)?, scores(&detector)?);
/// # Ok::<(), varnorm::Error>(())
/// ```
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
    /// Members of the corpus that do not seem to belong there, most suspicious first.
    suspects: Vec<Suspect>,
    /// The first of them, prepared for the first view: to be shown.
    worst: Option<SeriesSet>,
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

    /// The score above which a single series has a p-value of at most this level, so that it is flagged where each is
    /// decided on its own; `None` without calibration. A supervised or fixed threshold is what it is at any level.
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

    /// Whether the law of the largest normal scores can be trusted, where one is assumed.
    pub fn tail_check(&self) -> Option<TailCheck> {
        self.calibrated.as_ref()?.tail_check()
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

    /// The smallest p-value that a series can have; `None` where there is no such limit, or where flags do not come
    /// from p-values.
    pub fn smallest_p_value(&self) -> Option<f64> {
        let unbounded = self.settings.calibration.flags_by_score()
            || self.law.is_some()
            || self.settings.tail != Tail::None;
        self.calibrated.as_ref().filter(|_| !unbounded).map(Calibrated::smallest_p_value)
    }

    /// The score above which a series is flagged by the detector's own decision: `None` without calibration, and where
    /// the decision is over a batch, which has a threshold of its own ([`Findings::threshold`]).
    pub fn decision_threshold(&self) -> Option<f64> {
        let Settings { calibration, decision, level, .. } = self.settings;
        let over_batch = Rule::new(calibration, decision).is_over_a_batch();
        if over_batch { None } else { self.threshold(level) }
    }

    /// What the user should know about this model before trusting it, in plain sentences.
    pub fn warnings(&self) -> Vec<String> {
        let Settings { calibration, decision, level, .. } = self.settings;
        let mut warnings = self.warnings_at(level);
        let cannot = CannotFlag::of_model(self, Rule::new(calibration, decision), level);
        warnings.extend(cannot.map(|cannot| cannot.words));
        warnings
    }

    /// The same about a batch: what it cannot show is said for the level and the rule of its flags.
    pub fn warnings_about(&self, findings: &Findings) -> Vec<String> {
        let mut warnings = self.warnings_at(findings.level);
        warnings.extend(findings.cannot_flag.iter().map(|cannot| cannot.words.clone()));
        warnings.extend(findings.drift.as_ref().and_then(describe::drift));
        warnings
    }

    /// The most suspicious member of the corpus, prepared for the first view, where there is one.
    pub fn worst_suspect(&self) -> Option<&SeriesSet> {
        self.worst.as_ref()
    }

    /// What the user should know about the choice of views, in plain sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What does not depend on a batch and its rule.
    fn warnings_at(&self, level: f64) -> Vec<String> {
        let mut warnings = self.preparation().warnings(self.origin.channels.as_deref());
        if self.fitted.views.iter().all(|view| view.spectrum().rank() == 0) {
            warnings.push(describe::degenerate(self.first().view.norm));
        }
        if let Some(check) = self.gaussian_check(level).filter(|check| !check.trusted) {
            warnings.push(check.in_words());
        }
        warnings.extend(self.tail_check().filter(|check| !check.trusted).map(|check| describe::tail(&check)));
        warnings
    }
}
