//! Where series lie: the first two coordinates in the eigenvectors of the corpus, for a map of it.

use super::{Detector, Findings};
use crate::calibrate::{Calibration, Decision, check_level};
use crate::data::SeriesSet;
use crate::error::Result;
use crate::gram;
use crate::linalg::matrix::Matrix;
use crate::model::Geometry;
use crate::run::Run;

/// What a detector says about a batch, and where the series of the batch lie.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// As from [`Detector::score_at`], bit by bit.
    pub findings: Findings,
    /// The first two kernel principal coordinates of each series; 0 where the corpus has no such direction.
    pub places: Vec<[f64; 2]>,
}

impl Detector {
    /// Scores new series as [`Detector::score_at`] does, and says where they lie.
    pub fn score_and_place(
        &self,
        series: &SeriesSet,
        level: f64,
        decision: Decision,
        run: &Run,
    ) -> Result<Placed> {
        check_level(level)?;
        let measured = self.fitted.measure(series, run)?;
        let places = measured.iter().map(|one| one.coordinates).collect();
        Ok(Placed { findings: Findings::new(self, measured, level, decision), places })
    }

    /// What there is to say about no series at all: level, rule and threshold.
    #[cfg(feature = "report")]
    pub(crate) fn nothing_placed(&self) -> Placed {
        let (level, decision) = (self.settings.level, self.settings.decision);
        Placed { findings: Findings::new(self, Vec::new(), level, decision), places: Vec::new() }
    }

    /// Where the series of the corpus lie, in the model's order.
    pub fn corpus_places(&self) -> Vec<[f64; 2]> {
        let coordinates: &Matrix = self.spectrum().coordinates();
        let at = |j: usize, p: usize| if j < coordinates.rows() { coordinates.get(j, p) } else { 0.0 };
        (0..self.spectrum().corpus_len()).map(|p| [at(0, p), at(1, p)]).collect()
    }

    /// Whether every distance has its neighbours with one of so many series left out.
    #[cfg(feature = "report")]
    pub(crate) fn can_leave_out(&self, count: usize) -> bool {
        self.fitted.views.iter().all(|view| view.geometry.measure.validate(count - 1).is_ok())
    }

    /// The scores of the model's own corpus, each series under a model without it.
    pub fn leave_one_out_scores(&self, run: &Run) -> Result<Vec<f64>> {
        if let (Calibration::LeaveOneOut {}, Some(calibrated)) = (self.settings.calibration, &self.calibrated)
        {
            return Ok(calibrated.scores().to_vec());
        }
        if !self.is_all_pairs() {
            let rule = "a compact model does not keep its series; its calibration scores are those of series left out";
            return Err(crate::Error::bad_param("space", &self.first().view.space, rule));
        }
        let mut scores = Vec::new();
        for view in &self.fitted.views {
            let Geometry { kernel, scaling, .. } = &view.geometry;
            scores.push(view.leave_one_out(&gram::gram(kernel, view.corpus(), *scaling, run)?, run)?);
        }
        Ok(self.fitted.combined_scores(&scores))
    }
}
