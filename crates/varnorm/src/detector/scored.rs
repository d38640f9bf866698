//! [`Scored`]: findings with what the data and the model say about them; the JSON of a scored batch everywhere.

use serde::Serialize;

use super::findings::maybe_number_or_word;
use super::{CannotFlag, Detector, Finding, Findings, Rule};
use crate::calibrate::{Calibration, DriftState};
use crate::data::{Channel, Dataset};
use crate::gram::Scaling;
use crate::kernel::Kernel;
use crate::model::{Combination, FittedView};
use crate::prepare::Preparation;
use crate::score::{Distance, Norm};

/// One view of a model, in short.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ViewSummary {
    /// With every `auto` worked out.
    pub kernel: Kernel,
    /// Whether kernel values are normalised.
    pub scaling: Scaling,
    /// The variance norm.
    pub norm: Norm,
    /// Its regularisation.
    pub alpha: f64,
    /// Distance to what.
    pub distance: Distance,
    /// What is done to series first.
    pub prepare: Preparation,
    /// Kept eigenpairs.
    pub rank: usize,
}

impl ViewSummary {
    pub(super) fn new(fitted: &FittedView) -> Self {
        let (view, geometry) = (&fitted.view, &fitted.geometry);
        Self {
            kernel: geometry.kernel.clone(),
            scaling: view.scaling,
            norm: view.norm,
            alpha: geometry.measure.alpha,
            distance: view.distance,
            prepare: view.prepare.clone(),
            rank: fitted.spectrum().rank(),
        }
    }
}

/// One view, whose choices stand beside the rest, or several.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ViewSummaries {
    /// One.
    One(ViewSummary),
    /// Several, and how they are combined.
    Several {
        /// In order.
        views: Vec<ViewSummary>,
        /// How their scores become one.
        combination: Combination,
    },
}

impl ViewSummaries {
    /// The first view, which pictures are of.
    pub fn first(&self) -> &ViewSummary {
        match self {
            Self::One(view) => view,
            Self::Several { views, .. } => &views[0],
        }
    }

    /// All of them.
    pub fn all(&self) -> &[ViewSummary] {
        match self {
            Self::One(view) => std::slice::from_ref(view),
            Self::Several { views, .. } => views,
        }
    }
}

/// What a batch says about its model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelSummary {
    /// How series are looked at.
    #[serde(flatten)]
    pub views: ViewSummaries,
    /// Series of the model's corpus.
    pub corpus_series: usize,
    /// How scores become p-values.
    pub calibration: Calibration,
    /// Normal scores that they are compared with.
    pub calibration_scores: Option<usize>,
}

impl ModelSummary {
    /// Of a detector.
    pub fn new(detector: &Detector) -> Self {
        let mut views: Vec<ViewSummary> = detector.fitted.views.iter().map(ViewSummary::new).collect();
        let settings = detector.settings();
        Self {
            views: match views.len() {
                1 => ViewSummaries::One(views.swap_remove(0)),
                _ => ViewSummaries::Several { views, combination: settings.combination },
            },
            corpus_series: detector.corpus_series(),
            calibration: settings.calibration,
            calibration_scores: detector.calibrated().map(|c| c.scores().len()),
        }
    }
}

/// A finding with what the data say about its series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoredSeries {
    /// Its name, or its place where it has none.
    pub name: String,
    /// Its label, where the data have labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
}

/// A scored batch: the library's findings, with the model and the names.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scored {
    /// What scored it.
    pub model: ModelSummary,
    /// As in [`Findings`].
    pub level: f64,
    /// As in [`Findings`].
    pub rule: Rule,
    /// As in [`Findings`].
    #[serde(serialize_with = "maybe_number_or_word")]
    pub threshold: Option<f64>,
    /// As in [`Findings`].
    pub target_false_alarm_rate: Option<f64>,
    /// As in [`Findings`].
    pub cannot_flag: Option<CannotFlag>,
    /// As in [`Findings`].
    pub drift: Option<DriftState>,
    /// One per series, in order.
    pub findings: Vec<ScoredSeries>,
    /// The channels of the data, in the model's order, where they have names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<Channel>>,
    /// What was noticed about the data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Scored {
    /// Puts names and labels to findings about these data.
    pub fn new(detector: &Detector, dataset: &Dataset, findings: Findings) -> Self {
        let label = |series: usize| dataset.labels.as_ref()?.values.get(series).cloned();
        let one = |finding: Finding| ScoredSeries {
            name: dataset.series_name(finding.series),
            label: label(finding.series),
            finding,
        };
        Self {
            model: ModelSummary::new(detector),
            level: findings.level,
            rule: findings.rule,
            threshold: findings.threshold,
            target_false_alarm_rate: findings.target_false_alarm_rate,
            cannot_flag: findings.cannot_flag,
            drift: findings.drift,
            findings: findings.findings.into_iter().map(one).collect(),
            channels: dataset.channels.clone(),
            notes: dataset.notes.clone(),
        }
    }

    /// Number of flagged series.
    pub fn flagged(&self) -> usize {
        self.findings.iter().filter(|one| one.finding.novel == Some(true)).count()
    }
}
