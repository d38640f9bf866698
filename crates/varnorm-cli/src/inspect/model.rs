//! What a model file holds.

use serde::Serialize;
use varnorm::calibrate::GaussianCheck;
use varnorm::diagnostics::Diagnostics;
use varnorm::gram::Scaling;
use varnorm::{Detector, Distance, Kernel, Settings};

use super::Lengths;
use crate::output::number_or_word;
use crate::table::{count, significant};

/// A model, described.
#[derive(Serialize)]
pub struct Report<'a> {
    kind: &'static str,
    settings: &'a Settings,
    /// With every `auto` worked out.
    kernel: &'a Kernel,
    corpus: Corpus,
    spectrum: Spectrum<'a>,
    calibration: Option<Calibration>,
    gaussian_check: Option<GaussianCheck>,
    diagnostics: Diagnostics,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Corpus {
    series: usize,
    channels: usize,
    prepared_channels: usize,
    prepared_lengths: Lengths,
    named: bool,
}

#[derive(Serialize)]
struct Spectrum<'a> {
    rank: usize,
    eigenvalues: &'a [f64],
    variance: f64,
    kept_variance: f64,
    effective_dimension: f64,
}

#[derive(Serialize)]
struct Calibration {
    scores: usize,
    smallest_p_value: f64,
    threshold: serde_json::Value,
    target_false_alarm_rate: Option<f64>,
    #[serde(skip)]
    threshold_number: f64,
}

impl<'a> Report<'a> {
    /// Looks at everything.
    pub fn new(detector: &'a Detector) -> Self {
        let (settings, spectrum) = (detector.settings(), detector.spectrum());
        let threshold = detector.threshold(settings.level);
        Self {
            kind: "model",
            settings,
            kernel: detector.kernel(),
            corpus: Corpus {
                series: detector.members().len(),
                channels: detector.preparation().channels(),
                prepared_channels: detector.corpus().channels(),
                prepared_lengths: Lengths::of(detector.corpus()),
                named: detector.members().first().is_some_and(|m| detector.corpus_name(*m).is_some()),
            },
            spectrum: Spectrum {
                rank: spectrum.rank(),
                eigenvalues: spectrum.eigenvalues(),
                variance: spectrum.variance(),
                kept_variance: spectrum.kept_variance(),
                effective_dimension: spectrum.effective_dimension(),
            },
            calibration: detector.calibrated().zip(threshold).map(|(calibrated, threshold)| Calibration {
                scores: calibrated.scores().len(),
                smallest_p_value: calibrated.smallest_p_value(),
                threshold: number_or_word(threshold),
                target_false_alarm_rate: detector.target_false_alarm_rate(settings.level),
                threshold_number: threshold,
            }),
            gaussian_check: detector.gaussian_check(settings.level),
            diagnostics: detector.diagnostics(),
            warnings: detector.warnings(),
        }
    }

    /// For people.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let (settings, corpus, spectrum) = (self.settings, &self.corpus, &self.spectrum);
        let asked = settings.kernel.to_string();
        let resolved = self.kernel.to_string();
        let kernel = if asked == resolved { resolved } else { format!("{resolved} (asked for: {asked})") };
        let scaling = match settings.scaling {
            Scaling::Normalized => "normalized",
            _ => "as they are",
        };
        let distance = match settings.distance {
            Distance::Mahalanobis {} => "mahalanobis (to the mean)".into(),
            Distance::Conformance { neighbour: 1 } => "conformance (to the nearest normal series)".into(),
            Distance::Conformance { neighbour } => {
                format!("conformance (to normal series number {neighbour} by nearness)")
            }
        };
        let leading: Vec<String> =
            spectrum.eigenvalues.iter().take(6).map(|value| significant(*value, 4)).collect();
        let more = if spectrum.rank > 6 { ", ..." } else { "" };
        let mut facts = vec![
            ("kind", "varnorm model".into()),
            (
                "fitted on",
                format!(
                    "{} of {}, {}",
                    count(corpus.series, "series"),
                    count(corpus.channels, "channel"),
                    if corpus.named { "with names" } else { "without names" }
                ),
            ),
            ("preparation", settings.prepare.to_string()),
            (
                "prepared",
                format!(
                    "{}, {}",
                    count(corpus.prepared_channels, "channel"),
                    corpus.prepared_lengths.in_words()
                ),
            ),
            ("kernel", kernel),
            ("kernel values", scaling.into()),
            ("norm", format!("{}, alpha {}", word(&settings.norm), settings.alpha)),
            ("distance", distance),
            (
                "rank",
                format!(
                    "{}, {:.2}% of the variance, effective dimension {}",
                    spectrum.rank,
                    100.0 * spectrum.kept_variance,
                    significant(spectrum.effective_dimension, 3)
                ),
            ),
            ("eigenvalues", if leading.is_empty() { "none".into() } else { leading.join(", ") + more }),
            ("calibration", settings.calibration.to_string()),
        ];
        facts.extend(self.calibration.as_ref().map(|calibration| {
            let threshold = match calibration.threshold_number {
                t if t.is_infinite() => "no threshold".into(),
                t => format!("threshold {}", significant(t, 4)),
            };
            (
                "",
                format!(
                    "{}, smallest p-value {}, {threshold} at level {}",
                    count(calibration.scores, "score"),
                    significant(calibration.smallest_p_value, 3),
                    settings.level
                ),
            )
        }));
        facts.push(("decision", format!("{}, level {}", word(&settings.decision), settings.level)));
        facts.extend(self.gaussian_check.iter().map(|check| ("gaussian law", check.in_words())));
        facts.extend(self.diagnosis());
        facts
    }

    /// What the corpus and the norm are good for.
    fn diagnosis(&self) -> Vec<(&'static str, String)> {
        let found = &self.diagnostics;
        let (plain, seen) = (&found.covariance, &found.regularised);
        let mut facts = vec![
            (
                "shape",
                format!(
                    "effective dimension {} and rank {}; as the norm sees it {} and {}",
                    significant(plain.effective_dimension, 3),
                    significant(plain.effective_rank, 3),
                    significant(seen.effective_dimension, 3),
                    significant(seen.effective_rank, 3)
                ),
            ),
            (
                "neighbours",
                match (seen.concentration, found.spread) {
                    (Some(bound), Some(spread)) => format!(
                        "squared distances between corpus series differ by {:.0}% of their mean (bound epsilon {})",
                        100.0 * spread,
                        significant(bound, 3)
                    ),
                    _ => "all corpus series are equal".into(),
                },
            ),
            (
                "outside",
                format!(
                    "a normal series lies {:.0}% outside the span of the others",
                    100.0 * found.outside_others
                ),
            ),
        ];
        let advice = found.advice.iter().enumerate();
        facts.extend(advice.map(|(at, words)| (if at == 0 { "advice" } else { "" }, words.clone())));
        if found.advice.is_empty() {
            facts.push(("advice", "none: nothing stands out".into()));
        }
        facts
    }
}

/// The word that stands for a value in JSON.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default()
}
