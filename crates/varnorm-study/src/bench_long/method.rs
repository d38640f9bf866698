//! [`LongMethod`]: what a benchmark of long recordings compares.

use std::str::FromStr;
use std::time::Instant;

use super::external::ExternalPoints;
use super::outcome::{Counts, Judged};
use super::read::{Family, Labelled, Listed};
use super::windows::Residual;
use varnorm::long::{LongCalibration, LongDetector, LongSettings, Recording};
use varnorm::metrics::{average_precision, point_adjusted_f1, roc_auc, stretches, volumes};
use varnorm::{Error, Kernel, Result, Run};

/// What a benchmark compares.
#[derive(Debug, Clone, PartialEq)]
pub enum LongMethod {
    /// The detector of long recordings with default settings.
    Default,
    /// Baseline: the Euclidean distance of flattened windows to the nearest normal one.
    Nearest,
    /// Baseline: what windows have outside the principal components that hold 90 % of the variance.
    Residual,
    /// Scores made elsewhere.
    External(ExternalPoints),
}

const NAMES: [&str; 3] = ["varnorm", "nearest", "pca-residual"];
/// Regularisation at which the norm is the Euclidean one: covariances are a billionth of it.
const EUCLIDEAN: f64 = 1e9;
/// How far from the anomaly the highest score may be to count as a hit (UCR archive).
const NEAR: usize = 100;
/// Contiguous parts of the normal rows that are left out in turn for a threshold.
const FOLDS: usize = 5;

/// The names of all methods that need no file, for help texts and errors.
pub fn names() -> String {
    NAMES.join(", ")
}

impl FromStr for LongMethod {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::own().into_iter().find(|method| method.name() == text).ok_or_else(|| {
            let rule = format!("is none of {}; scores made elsewhere are a method by --scores", names());
            Error::bad_param("methods", text, rule)
        })
    }
}

impl LongMethod {
    /// All that need no file.
    pub fn own() -> Vec<Self> {
        vec![Self::Default, Self::Nearest, Self::Residual]
    }

    /// Its name in tables.
    pub fn name(&self) -> &str {
        match self {
            Self::Default => NAMES[0],
            Self::Nearest => NAMES[1],
            Self::Residual => NAMES[2],
            Self::External(external) => &external.name,
        }
    }

    /// Whether scores come from a file, which may have changed and costs nothing.
    pub(super) fn is_external(&self) -> bool {
        matches!(self, Self::External(_))
    }

    /// Learns from the normal part and scores the points of the test part; `None` where a file has no scores of it.
    pub(super) fn scored(
        &self,
        listed: &Listed,
        data: &Labelled,
        cut: f64,
        run: &Run,
    ) -> Result<Option<Scored>> {
        let euclidean = || -> Result<LongSettings> {
            let kernel: Kernel = "flat_linear".parse()?;
            Ok(LongSettings::default().with_kernel(kernel).with_alpha(EUCLIDEAN))
        };
        let normal = Recording::new(&data.normal, data.channels)?;
        let began = Instant::now();
        let settings = match self {
            Self::External(external) => {
                let scores = external.of(&listed.name, data.points())?;
                return Ok(scores.map(|scores| Scored { scores, threshold: None, seconds: None }));
            }
            Self::Default => LongSettings::default(),
            Self::Nearest => euclidean()?,
            Self::Residual => {
                // With the windows of the other baseline.
                let (window, stride) = windows_of(&normal, &euclidean()?)?;
                let fitted = Residual::fit(&data.normal, data.channels, window, stride, run)?;
                let fit = began.elapsed().as_secs_f64();
                let scores = fitted.score(&data.test, run)?;
                let score = began.elapsed().as_secs_f64() - fit;
                return Ok(Some(Scored { scores, threshold: None, seconds: Some((fit, score)) }));
            }
        };
        // Promises about blocks are not judged here, and cost as many fits as there are folds.
        let settings = settings.with_calibration(LongCalibration::None);
        let detector = LongDetector::fit(&normal, &settings, run)?;
        let fit = began.elapsed().as_secs_f64();
        let mut scores = detector.score_points(&Recording::new(&data.test, data.channels)?, run)?;
        let score = began.elapsed().as_secs_f64() - fit;
        // A point in no window is taken as the most normal one.
        let lowest = scores.iter().copied().filter(|score| !score.is_nan()).fold(f64::INFINITY, f64::min);
        scores.iter_mut().filter(|score| score.is_nan()).for_each(|score| *score = lowest.min(f64::MAX));
        let threshold = match listed.family {
            Family::Skab => quantile(&held_out(data, &settings, run)?, cut),
            _ => None,
        };
        Ok(Some(Scored { scores, threshold, seconds: Some((fit, score)) }))
    }
}

/// Scores of normal points by models that have not seen them, in ascending order: contiguous folds are left out in turn.
fn held_out(data: &Labelled, settings: &LongSettings, run: &Run) -> Result<Vec<f64>> {
    let channels = data.channels;
    let rows = data.normal.len() / channels;
    let mut found = Vec::new();
    for fold in 0..FOLDS {
        let (from, to) = (fold * rows / FOLDS, (fold + 1) * rows / FOLDS);
        let (before, after) = (&data.normal[..from * channels], &data.normal[to * channels..]);
        let rest = [before, after].concat();
        // No window goes across the rows that are left out.
        let breaks: Vec<usize> = [from].into_iter().filter(|at| *at > 0 && to < rows).collect();
        let detector =
            LongDetector::fit(&Recording::new(&rest, channels)?.with_breaks(&breaks)?, settings, run)?;
        let fold = &data.normal[from * channels..to * channels];
        let scores = detector.score_points(&Recording::new(fold, channels)?, run)?;
        found.extend(scores.into_iter().filter(|score| !score.is_nan()));
    }
    found.sort_by(f64::total_cmp);
    Ok(found)
}

/// The window and the stride that settings mean for a recording, from the smallest model of it.
fn windows_of(normal: &Recording<'_>, settings: &LongSettings) -> Result<(usize, usize)> {
    let small = settings.clone().with_most_windows(2).with_calibration(LongCalibration::None);
    let fitted = LongDetector::fit(normal, &small, &Run::sequential())?;
    Ok((fitted.window(), fitted.stride()))
}

/// The number that so large a share of ascending numbers is not above; linear between neighbours.
fn quantile(ascending: &[f64], share: f64) -> Option<f64> {
    let last = ascending.len().checked_sub(1)?;
    let place = share * last as f64;
    let below = (place as usize).min(last);
    let (low, high) = (ascending[below], ascending[(below + 1).min(last)]);
    Some(low + (high - low) * (place - below as f64))
}

/// What a method says about the test part.
pub(super) struct Scored {
    scores: Vec<f64>,
    /// Points above it are flagged.
    threshold: Option<f64>,
    /// Of fitting and of scoring.
    seconds: Option<(f64, f64)>,
}

impl Scored {
    /// What labels say about it.
    pub(super) fn judged(
        &self,
        family: Family,
        data: &Labelled,
        window: usize,
        adjusted: bool,
    ) -> Result<Judged> {
        let (scores, anomalous) = (&self.scores, &data.anomalous);
        let volumes = volumes(scores, anomalous, window)?;
        Ok(Judged {
            vus_pr: volumes.pr,
            vus_roc: volumes.roc,
            auc_pr: average_precision(scores, anomalous),
            auc_roc: roc_auc(scores, anomalous),
            hit: (family == Family::Ucr).then(|| is_hit(scores, anomalous)),
            counts: self.threshold.map(|threshold| Counts::new(scores, anomalous, threshold)),
            misleading_point_adjusted_f1: if adjusted {
                Some(point_adjusted_f1(scores, anomalous)?)
            } else {
                None
            },
            fit_seconds: self.seconds.map(|seconds| seconds.0),
            score_seconds: self.seconds.map(|seconds| seconds.1),
        })
    }
}

/// Whether the highest score is within 100 points of an anomaly; of equal scores the first counts.
fn is_hit(scores: &[f64], anomalous: &[bool]) -> bool {
    let mut top = 0;
    for (at, score) in scores.iter().enumerate() {
        if *score > scores[top] {
            top = at;
        }
    }
    stretches(anomalous).iter().any(|(first, last)| (first.saturating_sub(NEAR)..=last + NEAR).contains(&top))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for method in LongMethod::own() {
            assert_eq!(method.name().parse::<LongMethod>().unwrap(), method);
        }
        let error = "stumpy".parse::<LongMethod>().unwrap_err().to_string();
        assert!(error.contains("is none of varnorm, nearest, pca-residual"), "{error}");
    }

    #[test]
    fn a_hit_is_near_the_anomaly() {
        let anomalous: Vec<bool> = (0..500).map(|at| (300..310).contains(&at)).collect();
        let with_top = |top: usize| (0..500).map(|at| f64::from(u8::from(at == top))).collect::<Vec<f64>>();
        for (top, hit) in [(199, false), (200, true), (305, true), (409, true), (410, false)] {
            assert_eq!(is_hit(&with_top(top), &anomalous), hit, "{top}");
        }
    }

    #[test]
    fn a_share_of_scores_is_at_most_the_quantile() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), Some(3.0));
        assert_eq!(quantile(&[1.0, 2.0], 1.0), Some(2.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
