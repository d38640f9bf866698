//! [`Description`]: what is in a model, for people and programs that look at it.

use serde::Serialize;

use super::findings::maybe_number_or_word;
use super::{Detector, NamedSuspect, Settings, ViewSummary};
use crate::calibrate::{GaussianCheck, TailCheck};
use crate::data::Origin;
use crate::describe::Lengths;
use crate::diagnostics::Diagnostics;
use crate::kernel::Kernel;
use crate::model::{FittedView, Space};

/// A model, described.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Description {
    /// The word `model`, where data can be described too.
    pub kind: &'static str,
    /// What was chosen.
    pub settings: Settings,
    /// The kernel with every `auto` worked out.
    pub kernel: Kernel,
    /// Every view, in JSON only where there are several; the rest is about the first of them.
    #[serde(skip_serializing_if = "is_one")]
    pub views: Vec<ViewDescription>,
    /// What it was fitted on.
    pub corpus: CorpusDescription,
    /// The covariance.
    pub spectrum: SpectrumDescription,
    /// The normal scores that p-values compare with.
    pub calibration: Option<CalibrationDescription>,
    /// Of compact models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub space: Option<SpaceDescription>,
    /// Whether the Gaussian law can be trusted, with the Gaussian calibration.
    pub gaussian_check: Option<GaussianCheck>,
    /// What the corpus and the norm are good for.
    pub diagnostics: Diagnostics,
    /// Members of the corpus that do not seem to belong there, most suspicious first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suspects: Vec<NamedSuspect>,
    /// Whether the law of the largest normal scores can be trusted, where one is assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail_check: Option<TailCheck>,
    /// What to know about the choice of views.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What to know before trusting it.
    pub warnings: Vec<String>,
}

fn is_one(views: &[ViewDescription]) -> bool {
    views.len() == 1
}

/// One view of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ViewDescription {
    /// Its name.
    pub name: String,
    /// Its choices, every `auto` worked out.
    #[serde(flatten)]
    pub summary: ViewSummary,
    /// `tr^2 / |.|_HS^2` of its covariance.
    pub effective_dimension: f64,
    /// Its space, where it is compact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub space: Option<Space>,
}

impl ViewDescription {
    fn new(fitted: &FittedView) -> Self {
        Self {
            name: fitted.name(),
            summary: ViewSummary::new(fitted),
            effective_dimension: fitted.spectrum().effective_dimension(),
            space: fitted.model.compact().map(|_| fitted.view.space.clone()),
        }
    }
}

/// What a model was fitted on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CorpusDescription {
    /// Series.
    pub series: usize,
    /// Channels before preparation.
    pub channels: usize,
    /// Channels after it.
    pub prepared_channels: usize,
    /// Lengths after it.
    pub prepared_lengths: Lengths,
    /// Whether series have names.
    pub named: bool,
    /// How they were recorded, where anything is known.
    #[serde(skip_serializing_if = "Origin::is_unknown")]
    pub origin: Origin,
}

/// The space of a compact model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpaceDescription {
    /// As asked for.
    pub space: Space,
    /// Coordinates of a point.
    pub dimensions: usize,
    /// Landmarks, where there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landmarks: Option<usize>,
    /// The share of the sum of `k(x,x)` over the corpus that the coordinates miss.
    pub trace_error: f64,
    /// Series that are kept as examples.
    pub kept_examples: usize,
}

/// The covariance of a corpus.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpectrumDescription {
    /// Kept eigenpairs.
    pub rank: usize,
    /// Kept eigenvalues, descending.
    pub eigenvalues: Vec<f64>,
    /// The whole variance.
    pub variance: f64,
    /// The share of it that is kept.
    pub kept_variance: f64,
    /// `tr^2 / |.|_HS^2`.
    pub effective_dimension: f64,
}

/// The normal scores that p-values compare with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationDescription {
    /// How many.
    pub scores: usize,
    /// The smallest p-value that they can give.
    pub smallest_p_value: f64,
    /// The score above which a series is flagged at the model's level; absent where that depends on the batch.
    #[serde(serialize_with = "maybe_number_or_word")]
    pub threshold: Option<f64>,
    /// The share of normal series that it aims to flag; absent where there is no such score.
    pub target_false_alarm_rate: Option<f64>,
}

impl Description {
    /// Looks at everything.
    pub fn new(detector: &Detector) -> Self {
        let (settings, spectrum) = (detector.settings(), detector.spectrum());
        let threshold = detector.decision_threshold();
        Self {
            kind: "model",
            settings: settings.clone(),
            kernel: detector.kernel().clone(),
            views: detector.fitted.views.iter().map(ViewDescription::new).collect(),
            corpus: CorpusDescription {
                series: detector.corpus_series(),
                channels: detector.preparation().channels(),
                prepared_channels: detector.corpus().channels(),
                prepared_lengths: Lengths::of(detector.corpus()),
                named: detector.members().first().is_some_and(|m| detector.corpus_name(*m).is_some()),
                origin: detector.origin().clone(),
            },
            spectrum: SpectrumDescription {
                rank: spectrum.rank(),
                eigenvalues: spectrum.eigenvalues().to_vec(),
                variance: spectrum.variance(),
                kept_variance: spectrum.kept_variance(),
                effective_dimension: spectrum.effective_dimension(),
            },
            calibration: detector.calibrated().map(|calibrated| CalibrationDescription {
                scores: calibrated.scores().len(),
                smallest_p_value: calibrated.smallest_p_value(),
                threshold,
                target_false_alarm_rate: threshold
                    .and_then(|_| detector.target_false_alarm_rate(settings.level)),
            }),
            space: (!detector.is_all_pairs()).then(|| SpaceDescription {
                space: detector.first().view.space.clone(),
                dimensions: spectrum.highest_rank,
                landmarks: detector.landmarks(),
                trace_error: detector.trace_error(),
                kept_examples: detector.members().len(),
            }),
            gaussian_check: detector.gaussian_check(settings.level),
            diagnostics: detector.diagnostics(),
            suspects: detector.suspects(),
            tail_check: detector.tail_check(),
            notes: detector.notes().to_vec(),
            warnings: detector.warnings(),
        }
    }
}
