//! [`FittedViews`]: one view, or several whose scores are made comparable and combined.

use super::combine::{Combination, Standard};
use super::{FittedView, Measured, View};
use crate::data::SeriesSet;
use crate::error::Result;
use crate::gram::Gram;
use crate::run::Run;
use crate::score::leave_one_out;

/// Fitted views of one corpus.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FittedViews {
    /// At least one.
    pub(crate) views: Vec<FittedView>,
    /// One per view; none where there is one view only, whose scores stay as they are.
    pub(crate) standards: Vec<Standard>,
    pub(crate) combination: Combination,
}

impl FittedViews {
    /// Fits every view on all pairs. Leave-one-out scores are given where they are asked for, or needed anyway; Gram matrices
    /// are kept where they are asked for.
    pub(crate) fn fit_all_pairs(
        views: &[View],
        combination: Combination,
        corpus: &SeriesSet,
        leave_out: bool,
        mut grams: Option<&mut Vec<Gram>>,
        run: &Run,
    ) -> Result<(Self, Option<Vec<f64>>)> {
        let (mut fitted, mut scores) = (Vec::new(), Vec::new());
        for view in views {
            let (one, gram) = view.fit_all_pairs(corpus, run)?;
            if leave_out || views.len() > 1 {
                scores.push(one.leave_one_out(&gram, run)?);
            }
            fitted.push(one);
            if let Some(grams) = &mut grams {
                grams.push(gram);
            }
        }
        Ok(Self::combined(fitted, combination, &scores))
    }

    /// Views with the scores of the same normal series under each of them, left out; and their combined scores.
    pub(crate) fn combined(
        views: Vec<FittedView>,
        combination: Combination,
        scores: &[Vec<f64>],
    ) -> (Self, Option<Vec<f64>>) {
        let several = views.len() > 1;
        let standards: Vec<Standard> =
            if several { scores.iter().map(|s| Standard::new(s)).collect() } else { Vec::new() };
        let all = Self { views, standards, combination };
        let combined = (!scores.is_empty()).then(|| all.combined_scores(scores));
        (all, combined)
    }

    /// Combined scores of series, from those under each view.
    pub(crate) fn combined_scores(&self, scores: &[Vec<f64>]) -> Vec<f64> {
        let row = |i: usize| scores.iter().map(|of_view| of_view[i]).collect::<Vec<f64>>();
        (0..scores.first().map_or(0, Vec::len)).map(|i| self.combine(row(i)).0).collect()
    }

    /// One score from those of the views, and the comparable ones that it was made of (none for one view).
    fn combine(&self, scores: Vec<f64>) -> (f64, Vec<f64>) {
        if self.standards.is_empty() {
            return (scores.first().copied().unwrap_or(f64::NAN), Vec::new());
        }
        let comparable: Vec<f64> = self.standards.iter().zip(scores).map(|(s, score)| s.of(score)).collect();
        (self.combination.of(&comparable), comparable)
    }

    /// The first view: the one that pictures are of.
    pub(crate) fn first(&self) -> &FittedView {
        &self.views[0]
    }

    /// Measures raw series. Neighbour and share outside the span are those of the view that stands out most.
    pub(crate) fn measure(&self, queries: &SeriesSet, run: &Run) -> Result<Vec<Measured>> {
        let mut by_view = Vec::with_capacity(self.views.len());
        for view in &self.views {
            by_view.push(view.measure(queries, run)?);
        }
        if self.standards.is_empty() {
            return Ok(by_view.pop().unwrap_or_default());
        }
        let one = |q: usize| {
            let (score, views) = self.combine(by_view.iter().map(|found| found[q].score).collect());
            let leading = &by_view[leading(&views)][q];
            Measured {
                score,
                nearest: leading.nearest,
                outside_span: leading.outside_span,
                coordinates: by_view[0][q].coordinates,
                views,
            }
        };
        Ok((0..queries.len()).map(one).collect())
    }

    /// Scores alone.
    pub(crate) fn scores(&self, queries: &SeriesSet, run: &Run) -> Result<Vec<f64>> {
        Ok(self.measure(queries, run)?.into_iter().map(|measured| measured.score).collect())
    }
}

/// The view that stands out most; the first of equals.
pub(crate) fn leading(views: &[f64]) -> usize {
    let better = |best: usize, at: usize| if views[at] > views[best] { at } else { best };
    (0..views.len()).fold(0, better)
}

impl FittedView {
    /// The scores of the corpus itself, each series under the model without it.
    pub(crate) fn leave_one_out(&self, gram: &Gram, run: &Run) -> Result<Vec<f64>> {
        Ok(leave_one_out(gram, self.view.rank, self.geometry.measure, run)?.values)
    }
}
