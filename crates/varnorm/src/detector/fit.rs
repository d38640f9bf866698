//! Fitting: the pipeline on the corpus, then scores of normal series that it has not seen.

use super::{Detector, Fitted, Settings};
use crate::calibrate::{Calibrated, Calibration, choose_threshold, holdout, k_folds};
use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::law::WeightedChiSquare;
use crate::run::Run;
use crate::score::leave_one_out;
use crate::spectrum::Spectrum;

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
        if !self.space.is_gram() {
            return self.fit_compact(corpus, run);
        }
        let mut chosen = None;
        let scores = match self.calibration {
            Calibration::None {} => None,
            Calibration::Quantile { holdout: share, seed } | Calibration::Split { holdout: share, seed } => {
                let (members, held) = holdout(corpus.len(), share, seed)?;
                let (fitted, scores) = self.fit_and_score(corpus, &members, &held, run)?;
                return self.detector(fitted, members, Some(Calibrated::new(scores)));
            }
            Calibration::LeaveOneOut {} => {
                let (fitted, gram) = Fitted::with_gram(self, corpus, run)?;
                let scores = leave_one_out(&gram, self.rank, self.measure(), run)?.values;
                let members = (0..corpus.len()).collect();
                return self.detector(fitted, members, Some(Calibrated::new(scores)));
            }
            Calibration::CrossFit { folds, seed }
            | Calibration::Gaussian { folds, seed }
            | Calibration::Fixed { folds, seed, .. } => {
                Some(self.cross_fitted_scores(corpus, None, folds, seed, run)?.0)
            }
            Calibration::Supervised { objective, false_alarm_cost, miss_cost, folds, seed } => {
                let (normal, novel) = self.cross_fitted_scores(corpus, outliers, folds, seed, run)?;
                let costs = (false_alarm_cost, miss_cost);
                chosen = Some(choose_threshold(&normal, &novel, objective, costs)?);
                Some(normal)
            }
        };
        let fitted = Fitted::new(self, corpus, run)?;
        let detector = self.detector(fitted, (0..corpus.len()).collect(), scores.map(Calibrated::new))?;
        Ok(Detector { chosen, ..detector })
    }

    pub(super) fn detector(
        &self,
        fitted: Fitted,
        members: Vec<usize>,
        calibrated: Option<Calibrated>,
    ) -> Result<Detector> {
        Ok(Detector {
            law: self.gaussian_law(&fitted.spectrum)?,
            settings: self.clone(),
            fitted,
            members,
            calibrated,
            chosen: None,
            corpus_names: None,
        })
    }

    /// The law of a squared score for a Gaussian corpus with this spectrum, where the settings ask for it.
    pub(super) fn gaussian_law(&self, spectrum: &Spectrum) -> Result<Option<WeightedChiSquare>> {
        if !matches!(self.calibration, Calibration::Gaussian { .. }) {
            return Ok(None);
        }
        let rest = spectrum.variance() * (1.0 - spectrum.kept_variance());
        WeightedChiSquare::of_norm(spectrum.eigenvalues(), rest, self.norm, self.alpha).map(Some)
    }

    /// Each fold scored by the whole pipeline refitted on the others; labelled outliers are dealt to the folds, so
    /// that each is scored once, by a model of the same size.
    fn cross_fitted_scores(
        &self,
        corpus: &SeriesSet,
        outliers: Option<&SeriesSet>,
        folds: usize,
        seed: u64,
        run: &Run,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let (mut normal, mut novel) = (Vec::with_capacity(corpus.len()), Vec::new());
        for (at, fold) in k_folds(corpus.len(), folds, seed)?.iter().enumerate() {
            let others: Vec<usize> = (0..corpus.len()).filter(|i| fold.binary_search(i).is_err()).collect();
            let (fitted, scores) = self.fit_and_score(corpus, &others, fold, run)?;
            normal.extend(scores);
            if let Some(outliers) = outliers {
                let dealt: Vec<usize> = (at..outliers.len()).step_by(folds).collect();
                novel.extend(fitted.raw_scores(self, &outliers.select(&dealt), run)?);
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
        run: &Run,
    ) -> Result<(Fitted, Vec<f64>)> {
        let fitted =
            Fitted::new(self, &corpus.select(members), run).map_err(|e| e.renumbered(members, members))?;
        let scores =
            fitted.raw_scores(self, &corpus.select(held), run).map_err(|e| e.renumbered(held, members))?;
        Ok((fitted, scores))
    }
}
