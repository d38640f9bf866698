//! Where series lie: the first two coordinates in the eigenvectors of the corpus, for a map of it.

use super::{Detector, Findings};
use crate::calibrate::{Calibration, Decision, check_level};
use crate::data::SeriesSet;
use crate::error::Result;
use crate::gram;
use crate::linalg::matrix::Matrix;
use crate::run::Run;
use crate::score::leave_one_out;

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
        let measured = self.fitted.measure(&self.settings, series, run)?;
        let places = measured.iter().map(|one| one.coordinates).collect();
        Ok(Placed { findings: Findings::new(self, measured, level, decision), places })
    }

    /// What there is to say about no series at all: level, rule and threshold.
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

    /// The scores of the model's own corpus, each series under a model without it.
    pub fn leave_one_out_scores(&self, run: &Run) -> Result<Vec<f64>> {
        if let (Calibration::LeaveOneOut {}, Some(calibrated)) = (self.settings.calibration, &self.calibrated)
        {
            return Ok(calibrated.scores().to_vec());
        }
        if self.fitted.compact.is_some() {
            let rule = "a compact model does not keep its series; its calibration scores are those of series left out";
            return Err(crate::Error::bad_param("space", &self.settings.space, rule));
        }
        let gram = gram::gram(self.kernel(), self.corpus(), self.settings.scaling, run)?;
        Ok(leave_one_out(&gram, self.settings.rank, self.settings.measure(), run)?.values)
    }
}
