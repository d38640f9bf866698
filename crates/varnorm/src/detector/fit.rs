//! Fitting: the pipeline on the corpus, then scores of normal series that it has not seen.

use super::incremental::fit_compact;
use super::suspects::{self, Trimmed};
use super::{Detector, Robust, Settings, Views};
use crate::calibrate::{Calibrated, Calibration, choose_threshold, holdout, k_folds};
use crate::data::{Origin, SeriesSet};
use crate::error::{Error, Result};
use crate::gram::Gram;
use crate::law::WeightedChiSquare;
use crate::model::{FittedView, FittedViews, View};
use crate::prepare::Gaps;
use crate::run::Run;

impl Settings {
    /// Fits a detector on normal series.
    pub fn fit(&self, corpus: &SeriesSet, run: &Run) -> Result<Detector> {
        if matches!(self.calibration, Calibration::Supervised { .. }) {
            let advice =
                "needs labelled outliers: fit_with_outliers in the library, --outliers in the program";
            return Err(Error::bad_param("calibration", "supervised", advice));
        }
        self.fit_labelled(corpus, None, run)
    }

    /// Fits a detector on normal series; labelled outliers help to choose the threshold (calibration `supervised`),
    /// never the model itself.
    pub fn fit_with_outliers(&self, corpus: &SeriesSet, outliers: &SeriesSet, run: &Run) -> Result<Detector> {
        self.fit_labelled(corpus, Some(outliers), run)
    }

    fn fit_labelled(&self, corpus: &SeriesSet, outliers: Option<&SeriesSet>, run: &Run) -> Result<Detector> {
        self.validate()?;
        if corpus.len() < 2 {
            return Err(Error::TooFew {
                what: "fitting a detector".into(),
                needed: 2,
                found: corpus.len(),
                advice: "give more normal series".into(),
            });
        }
        self.check_free_memory(corpus)?;
        match self.robust {
            Robust::None {} => self.fit_checked(corpus, outliers, run),
            Robust::Trim { share } => {
                let Trimmed { kept, suspects } = self.trimmed(corpus, share, run)?;
                let rest = corpus.select(&kept);
                let fitted =
                    self.fit_checked(&rest, outliers, run).map_err(|e| e.renumbered(&kept, &kept))?;
                let members = fitted.members.iter().map(|at| kept[*at]).collect();
                Detector { members, suspects, ..fitted }.with_worst(corpus)
            }
        }
    }

    /// Fits on a corpus that is large enough and fits the memory.
    fn fit_checked(&self, corpus: &SeriesSet, outliers: Option<&SeriesSet>, run: &Run) -> Result<Detector> {
        let (chosen_views, notes) = self.chosen_views(corpus)?;
        let all_pairs = chosen_views.iter().all(|view| view.space.is_gram());
        let mut settings = Self { calibration: self.calibration.resolved(all_pairs), ..self.clone() };
        if let Views::Given(views) = &mut settings.views {
            // Given views keep the choice in their preparation, as if it had been written there.
            views.clone_from(&chosen_views);
            settings.gaps = Gaps::default();
        }
        let detector = match all_pairs {
            true => Fit { settings: &settings, views: &chosen_views, run }.all_pairs(corpus, outliers),
            false => fit_compact(&settings, chosen_views, corpus, run),
        }?;
        Ok(Detector { notes, ..detector })
    }

    /// Scores of normal series, in order, each by the model without it. Nothing is trimmed.
    pub fn leave_one_out(&self, corpus: &SeriesSet, run: &Run) -> Result<Vec<f64>> {
        self.validate()?;
        let (views, _) = self.chosen_views(corpus)?;
        Ok(Fit { settings: self, views: &views, run }.fit(corpus, true, None)?.1.unwrap_or_default())
    }

    /// The views for a corpus, and what the user should know about their choice.
    pub(super) fn chosen_views(&self, corpus: &SeriesSet) -> Result<(Vec<View>, Vec<String>)> {
        let (mut views, notes) = match &self.views {
            Views::Given(views) => (views.clone(), Vec::new()),
            Views::Preset(preset) => {
                let corpus = self.gaps.fill(corpus)?;
                let choice = preset.choose(&corpus)?;
                (choice.views, choice.notes)
            }
        };
        for view in &mut views {
            view.prepare = self.gaps.before(std::mem::take(&mut view.prepare));
        }
        Ok((views, notes))
    }

    pub(super) fn detector(
        &self,
        fitted: FittedViews,
        members: Vec<usize>,
        calibrated: Option<Calibrated>,
    ) -> Result<Detector> {
        Ok(Detector {
            law: self.gaussian_law(fitted.first())?,
            calibrated: calibrated.map(|calibrated| calibrated.with_tail(self.tail)).transpose()?,
            settings: self.clone(),
            fitted,
            members,
            chosen: None,
            corpus_names: None,
            origin: Origin::default(),
            notes: Vec::new(),
            suspects: Vec::new(),
            worst: None,
        })
    }

    /// The law of a squared score for a Gaussian corpus with this spectrum, where the settings ask for it.
    pub(super) fn gaussian_law(&self, view: &FittedView) -> Result<Option<WeightedChiSquare>> {
        if !matches!(self.calibration, Calibration::Gaussian { .. }) {
            return Ok(None);
        }
        let (spectrum, measure) = (view.spectrum(), view.geometry.measure);
        let rest = spectrum.variance() * (1.0 - spectrum.kept_variance());
        WeightedChiSquare::of_norm(spectrum.eigenvalues(), rest, measure.norm, measure.alpha).map(Some)
    }
}

impl Detector {
    /// Keeps the most suspicious of the series that it was fitted on, to be shown.
    fn with_worst(mut self, corpus: &SeriesSet) -> Result<Self> {
        let Some(worst) = self.suspects.first() else { return Ok(self) };
        let one = corpus.select(&[worst.series]);
        self.worst = Some(self.preparation().apply(&one)?.into_owned());
        Ok(self)
    }
}

/// A fit of views of all pairs.
struct Fit<'a> {
    settings: &'a Settings,
    views: &'a [View],
    run: &'a Run,
}

impl Fit<'_> {
    fn all_pairs(&self, corpus: &SeriesSet, outliers: Option<&SeriesSet>) -> Result<Detector> {
        let (settings, everyone) = (self.settings, (0..corpus.len()).collect());
        let mut chosen = None;
        let scores = match settings.calibration {
            Calibration::None {} => None,
            Calibration::Quantile { holdout: share, seed } | Calibration::Split { holdout: share, seed } => {
                let (members, held) = holdout(corpus.len(), share, seed)?;
                let mut grams = Vec::new();
                let (fitted, scores) = self.fit_and_score(corpus, &members, &held, Some(&mut grams))?;
                let detector = settings.detector(fitted, members, Some(Calibrated::new(scores)))?;
                return self.with_suspects(detector, &grams, corpus);
            }
            Calibration::LeaveOneOut {} | Calibration::Auto {} => {
                let mut grams = Vec::new();
                let (fitted, scores) = self.fit(corpus, true, Some(&mut grams))?;
                let detector = settings.detector(fitted, everyone, scores.map(Calibrated::new))?;
                return self.with_suspects(detector, &grams, corpus);
            }
            Calibration::CrossFit { folds, seed }
            | Calibration::Gaussian { folds, seed }
            | Calibration::Fixed { folds, seed, .. } => {
                Some(self.cross_fitted_scores(corpus, None, folds, seed)?.0)
            }
            Calibration::Supervised { objective, false_alarm_cost, miss_cost, folds, seed } => {
                let (normal, novel) = self.cross_fitted_scores(corpus, outliers, folds, seed)?;
                let costs = (false_alarm_cost, miss_cost);
                chosen = Some(choose_threshold(&normal, &novel, objective, costs)?);
                Some(normal)
            }
        };
        let mut grams = Vec::new();
        let (fitted, _) = self.fit(corpus, false, Some(&mut grams))?;
        let detector = settings.detector(fitted, everyone, scores.map(Calibrated::new))?;
        self.with_suspects(Detector { chosen, ..detector }, &grams, corpus)
    }

    /// Fits, and keeps the Gram matrices of the views where they are asked for.
    fn fit(
        &self,
        corpus: &SeriesSet,
        leave_out: bool,
        grams: Option<&mut Vec<Gram>>,
    ) -> Result<(FittedViews, Option<Vec<f64>>)> {
        FittedViews::fit_all_pairs(self.views, self.settings.combination, corpus, leave_out, grams, self.run)
    }

    /// Names the members that stand out, where none is left out.
    fn with_suspects(&self, mut detector: Detector, grams: &[Gram], corpus: &SeriesSet) -> Result<Detector> {
        if self.settings.robust != (Robust::None {}) {
            return Ok(detector);
        }
        let found = suspects::deviations(grams, self.run).unwrap_or_default();
        detector.suspects = suspects::named(&found);
        for suspect in &mut detector.suspects {
            suspect.series = detector.members[suspect.series];
        }
        detector.with_worst(corpus)
    }

    /// Each fold scored by the whole pipeline refitted on the others; labelled outliers are dealt to the folds, so
    /// that each is scored once, by a model of the same size.
    fn cross_fitted_scores(
        &self,
        corpus: &SeriesSet,
        outliers: Option<&SeriesSet>,
        folds: usize,
        seed: u64,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let (mut normal, mut novel) = (Vec::with_capacity(corpus.len()), Vec::new());
        for (at, fold) in k_folds(corpus.len(), folds, seed)?.iter().enumerate() {
            let others: Vec<usize> = (0..corpus.len()).filter(|i| fold.binary_search(i).is_err()).collect();
            let (fitted, scores) = self.fit_and_score(corpus, &others, fold, None)?;
            normal.extend(scores);
            if let Some(outliers) = outliers {
                let dealt: Vec<usize> = (at..outliers.len()).step_by(folds).collect();
                novel.extend(fitted.scores(&outliers.select(&dealt), self.run)?);
            }
        }
        Ok((normal, novel))
    }

    /// Fits on some of the series and scores others; errors number the series as in the whole.
    fn fit_and_score(
        &self,
        corpus: &SeriesSet,
        members: &[usize],
        held: &[usize],
        grams: Option<&mut Vec<Gram>>,
    ) -> Result<(FittedViews, Vec<f64>)> {
        let (fitted, _) =
            self.fit(&corpus.select(members), false, grams).map_err(|e| e.renumbered(members, members))?;
        let scores =
            fitted.scores(&corpus.select(held), self.run).map_err(|e| e.renumbered(held, members))?;
        Ok((fitted, scores))
    }
}
