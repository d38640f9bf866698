//! What was chosen, in plain words.

use super::percent;
use crate::calibrate::{Calibration, Objective, Rule};
use crate::gram::Scaling;
use crate::kernel::{CATALOGUE, Kernel, KernelInfo};
use crate::model::Combination;
use crate::prepare::{FittedStep, Per};
use crate::score::{Distance, Norm};
use crate::words::name_of;

/// The catalogue's row of a kernel.
fn info(kernel: &Kernel) -> Option<&'static KernelInfo> {
    let name = name_of(kernel);
    CATALOGUE.iter().find(|info| info.name == name)
}

/// What a kernel compares, after its words. Parameters that were worked out are told beside what was asked for.
pub fn kernel(kernel: &Kernel, asked: &Kernel) -> String {
    let meaning = info(kernel).map_or("", |info| info.words);
    match kernel == asked {
        true => format!("{kernel}: {meaning}"),
        false => format!("{kernel} (asked for: {asked}): {meaning}"),
    }
}

/// Its formula.
pub fn kernel_formula(kernel: &Kernel) -> String {
    format!("k(x,y) = {}", info(kernel).map_or("", |info| info.formula))
}

/// What is done to series first.
pub fn preparation(steps: &[FittedStep]) -> String {
    let one = |step: &FittedStep| match step {
        FittedStep::Interpolate {} => "missing values filled in by straight lines".into(),
        FittedStep::Pool { window: 1 } => "no pooling needed".into(),
        FittedStep::Pool { window } => format!("every {window} steps averaged into one"),
        FittedStep::Resample { length } => format!("brought to {length} steps"),
        FittedStep::Zscore { per: Per::Channel, .. } => {
            "each channel in standard deviations from the corpus' mean".into()
        }
        FittedStep::Zscore { per: Per::Step, .. } => {
            "each step of each channel in standard deviations from the corpus' mean".into()
        }
        FittedStep::Zscore { per: Per::Global, .. } => {
            "each channel less the corpus' mean, all in the standard deviation of the corpus".into()
        }
        FittedStep::Zscore { per: Per::Robust, .. } => {
            "each channel in median absolute deviations from the corpus' median".into()
        }
        FittedStep::Zscore { per: Per::Series, .. } => {
            "each channel of each series in its own standard deviations from its own mean".into()
        }
        FittedStep::Zscore { per: Per::SeriesGlobal, .. } => {
            "each series less its own means, in its own standard deviation over all channels".into()
        }
        FittedStep::Asinh {} => "far values drawn in by the inverse hyperbolic sine".into(),
        FittedStep::Clip { limit } => format!("limited to -{limit} to {limit}"),
        FittedStep::Basepoint {} => "started from zero".into(),
        FittedStep::Time { .. } => "with time as a channel".into(),
        FittedStep::Visibility { .. } => "with one end marked".into(),
        FittedStep::LeadLag {} => "each channel beside itself one step behind".into(),
    };
    match steps {
        [] => "none: values as they are".into(),
        steps => steps.iter().map(one).collect::<Vec<String>>().join("; "),
    }
}

/// What becomes of kernel values.
pub fn scaling(scaling: Scaling) -> &'static str {
    match scaling {
        Scaling::Normalized => "normalised, k(x,y) / sqrt(k(x,x) k(y,y))",
        _ => "as they are",
    }
}

/// What a norm does.
pub fn norm(norm: Norm, alpha: f64) -> String {
    match norm {
        Norm::Exact => {
            "exact: directions in which the corpus varies little count much, and any part outside the \
                        corpus' span is infinitely novel"
                .into()
        }
        Norm::Tikhonov => format!(
            "Tikhonov (the paper's), alpha {alpha}: directions in which the corpus varies little count more, and parts \
             outside the corpus' span count nothing"
        ),
        Norm::Envelope => format!(
            "envelope, alpha {alpha}: directions in which the corpus varies little count more, and parts outside the \
             corpus' span count most"
        ),
    }
}

/// Its formula, squared.
pub fn norm_formula(norm: Norm) -> String {
    let square = match norm {
        Norm::Exact => "sum_j <x,e_j>^2 / lambda_j",
        Norm::Tikhonov => "sum_j lambda_j / (lambda_j + alpha)^2 <x,e_j>^2",
        Norm::Envelope => "sum_j <x,e_j>^2 / (lambda_j + alpha) + |x outside the span|^2 / alpha",
    };
    format!("|x|^2 = {square}")
}

/// Distance to what.
pub fn distance(distance: Distance) -> String {
    match distance {
        Distance::Mahalanobis {} => "Mahalanobis: to the mean of the normal series".into(),
        Distance::Conformance { neighbour: 1 } => "conformance: to the nearest normal series".into(),
        Distance::Conformance { neighbour } => {
            format!("conformance: to normal series number {neighbour} by nearness")
        }
    }
}

/// How the comparable scores of several views become one.
pub fn combination(combination: Combination) -> &'static str {
    match combination {
        Combination::Mean => "the mean of comparable scores",
        Combination::LogMeanExp => "the logarithm of the mean of exponentials of comparable scores",
        Combination::Max => "the largest of comparable scores",
    }
}

/// Where p-values and thresholds come from, with so many normal scores.
pub fn calibration(calibration: Calibration, scores: usize) -> String {
    match calibration {
        Calibration::Auto {} => "leave-one-out, or cross-fitting where not all pairs are kept".into(),
        Calibration::None {} => "none: scores only, no p-values and no flags".into(),
        Calibration::Quantile { holdout, .. } => {
            format!("quantile of {scores} normal scores, held out ({} of the series)", percent(holdout))
        }
        Calibration::Split { holdout, .. } => format!(
            "p-values from {scores} normal scores of series that were held out ({} of them)",
            percent(holdout)
        ),
        Calibration::CrossFit { folds, .. } => format!(
            "p-values from {scores} normal scores, each from a model fitted without that series' fold ({folds} folds)"
        ),
        Calibration::LeaveOneOut {} => {
            format!("p-values from {scores} normal scores, each from a model without that series")
        }
        Calibration::Gaussian { .. } => {
            "p-values from the law of the score for a Gaussian corpus (weighted chi-square)".into()
        }
        Calibration::Supervised { objective, .. } => {
            let best = match objective {
                Objective::Cost => "the given costs".into(),
                other => other.to_string(),
            };
            format!("threshold chosen with labelled outliers, best by {best}")
        }
        Calibration::Fixed { .. } => "a threshold that the user gave".into(),
    }
}

/// How flags are made.
pub fn rule(rule: Rule, level: f64) -> String {
    match rule {
        Rule::None => "none".into(),
        Rule::Quantile => format!("scores above the quantile at level {level} are flagged"),
        Rule::Each => format!("each series on its own: flagged where its p-value is at most {level}"),
        Rule::BenjaminiHochberg => format!(
            "Benjamini-Hochberg over the batch: of the flagged series at most {} are normal, on average",
            percent(level)
        ),
        Rule::Storey => format!(
            "Storey over the batch: of the flagged series at most {} are normal, on average",
            percent(level)
        ),
        Rule::Lord => format!(
            "LORD++ in order: of the flagged series so far at most {} are normal, on average",
            percent(level)
        ),
        Rule::Supervised => "scores above the threshold chosen with labelled outliers are flagged".into(),
        Rule::Fixed => "scores above the given threshold are flagged".into(),
    }
}

/// A rule in a few words, for the sentence about a batch.
pub fn rule_name(rule: Rule) -> &'static str {
    match rule {
        Rule::None => "no calibration, no flags",
        Rule::Quantile => "quantile",
        Rule::Each => "each on its own",
        Rule::BenjaminiHochberg => "Benjamini-Hochberg",
        Rule::Storey => "Storey",
        Rule::Lord => "LORD++, in order",
        Rule::Supervised => "threshold chosen with labelled outliers",
        Rule::Fixed => "fixed threshold",
    }
}
