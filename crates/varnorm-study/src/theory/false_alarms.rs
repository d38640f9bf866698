//! Observed false-alarm rates of every threshold kind, on Gaussian corpora whose law is known.
//!
//! A trial draws a corpus of N series (vectors) and fresh normal ones, makes the threshold of each kind from the corpus
//! and counts the fresh ones above it. What `docs/thresholds.md` shows.

use serde::Serialize;

use varnorm::Result;
use varnorm::Run;
use varnorm::calibrate::Calibration;
use varnorm::data::SeriesSet;
use varnorm::detector::{Detector, Settings};
use varnorm::gram::Scaling;
use varnorm::kernel::FlatLinear;
use varnorm::law::Gaussian;
use varnorm::score::{Distance, Norm};

/// The threshold kinds compared, as they are written on the command line.
pub const KINDS: [&str; 7] = [
    "quantile:holdout=0.3",
    "split:holdout=0.3",
    "cross_fit:folds=5",
    "leave_one_out",
    "gaussian",
    "supervised:objective=youden",
    "fixed",
];

/// One cell of the table: a kind of threshold on one kind of corpus.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// The threshold, as on the command line.
    pub kind: &'static str,
    /// Effective dimension of the law.
    pub dimension: usize,
    /// Corpus size.
    pub corpus: usize,
    /// The level asked for.
    pub level: f64,
    /// The rate that the threshold stated, on average over the trials.
    pub target: f64,
    /// Share of fresh normal series flagged.
    pub observed: f64,
    /// Standard error of that share over the trials.
    pub error: f64,
}

/// What is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Effective dimension of the law: so many equal eigenvalues.
    pub dimension: usize,
    /// Corpus size.
    pub corpus: usize,
    /// Corpora drawn.
    pub trials: usize,
    /// Fresh normal series per corpus.
    pub fresh: usize,
}

/// Levels compared.
pub const LEVELS: [f64; 2] = [0.01, 0.05];

/// Stated and observed rate at each level.
type Rates = [(f64, f64); LEVELS.len()];

/// Every kind at every level on one plan. The norm is the envelope with alpha a tenth of the eigenvalue, to the mean.
pub fn false_alarms(plan: Plan, run: &Run) -> Result<Vec<Cell>> {
    let law = Gaussian::new(vec![1.0; plan.dimension])?;
    let mut rates = vec![[Rates::default(); KINDS.len()]; plan.trials];
    let tasks: Vec<_> = rates.iter_mut().enumerate().collect();
    run.for_each("trials", tasks, |(trial, row)| {
        for (cell, kind) in row.iter_mut().zip(KINDS) {
            *cell = one_trial(&law, plan, kind, trial as u64)?;
        }
        Ok(())
    })?;
    let trials = plan.trials as f64;
    let summary = |(kind, level): (usize, usize)| {
        let mean = |pick: &dyn Fn(&(f64, f64)) -> f64| {
            rates.iter().map(|row| pick(&row[kind][level])).sum::<f64>() / trials
        };
        let observed = mean(&|c| c.1);
        let variance = mean(&|c| (c.1 - observed).powi(2));
        Cell {
            kind: KINDS[kind],
            dimension: plan.dimension,
            corpus: plan.corpus,
            level: LEVELS[level],
            target: mean(&|c| c.0),
            observed,
            error: (variance / (trials - 1.0).max(1.0)).sqrt(),
        }
    };
    Ok((0..KINDS.len()).flat_map(|k| (0..LEVELS.len()).map(move |l| (k, l))).map(summary).collect())
}

fn one_trial(law: &Gaussian, plan: Plan, kind: &str, trial: u64) -> Result<Rates> {
    let series = |count: usize, seed: u64, shift: f64| {
        let values = law.draw(count, seed).into_values();
        SeriesSet::from_equal(values.iter().map(|v| v + shift).collect(), 1, plan.dimension)
    };
    let corpus = series(plan.corpus, 3 * trial, 0.0)?;
    let fresh = series(plan.fresh, 3 * trial + 1, 0.0)?;
    let run = Run::sequential();
    let prepare = "none".parse::<varnorm::Preparation>()?;
    let settings = |calibration: Calibration| {
        Settings::default()
            .with_prepare(prepare.clone())
            .with_kernel(FlatLinear {}.into())
            .with_scaling(Scaling::Raw)
            .with_norm(Norm::Envelope)
            .with_alpha(0.1)
            .with_distance(Distance::Mahalanobis {})
            .with_calibration(calibration)
    };
    let rates = |detector: &Detector, level: f64| -> Result<(f64, f64)> {
        let threshold = detector.threshold(level).unwrap_or(f64::INFINITY);
        let scores = detector.score(&fresh, &run)?.scores();
        let above = scores.iter().filter(|s| **s > threshold).count();
        let target = detector.target_false_alarm_rate(level).unwrap_or(level);
        Ok((target, above as f64 / scores.len() as f64))
    };
    let mut found = Rates::default();
    if kind == "fixed" {
        // A user's own threshold: the one that is right for the law itself.
        for (cell, level) in found.iter_mut().zip(LEVELS) {
            let threshold = law.squared_norm(Norm::Envelope, 0.1)?.quantile(level)?.sqrt();
            let fixed = Calibration::Fixed { threshold, folds: 5, seed: trial };
            *cell = rates(&settings(fixed).fit(&corpus, &run)?, level)?;
        }
        return Ok(found);
    }
    let calibration = seeded(kind.parse()?, trial);
    let detector = match calibration {
        Calibration::Supervised { .. } => {
            // Outliers three standard deviations away from the mean.
            let shift = 3.0 / (plan.dimension as f64).sqrt();
            let outliers = series(plan.corpus.div_ceil(5), 3 * trial + 2, shift)?;
            settings(calibration).fit_with_outliers(&corpus, &outliers, &run)?
        }
        calibration => settings(calibration).fit(&corpus, &run)?,
    };
    for (cell, level) in found.iter_mut().zip(LEVELS) {
        *cell = rates(&detector, level)?;
    }
    Ok(found)
}

/// The same with splits of its own for every trial.
fn seeded(calibration: Calibration, trial: u64) -> Calibration {
    match calibration {
        Calibration::Quantile { holdout, .. } => Calibration::Quantile { holdout, seed: trial },
        Calibration::Split { holdout, .. } => Calibration::Split { holdout, seed: trial },
        Calibration::CrossFit { folds, .. } => Calibration::CrossFit { folds, seed: trial },
        other => other,
    }
}
