//! Promised and observed false alarms on real series: random halves of a class are exchangeable, so that what a detector of one
//! half flags in the other is a false alarm.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::outcome::checksum;
use super::{Benchmark, Layout, rows::written};
use crate::lines::{Lines, Record};
use crate::unit::labels;
use varnorm::calibrate::Calibration;
use varnorm::data::{Labels, SeriesSet, Split, read_split};
use varnorm::law::NormalNumbers;
use varnorm::{Error, Result, Run, Settings};

/// Levels compared.
pub const HALVES_LEVELS: [f64; 3] = [0.01, 0.05, 0.1];
/// Detectors compared: the default, and single kernels that take series of any length.
pub const HALVES_DETECTORS: [&str; 4] = ["auto", "radon", "sig:lift=rbf", "gak"];
/// A class with fewer series is left out.
pub const HALVES_FEWEST: usize = 20;

/// What an outcome is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Halved {
    /// The data set.
    pub dataset: String,
    /// The class.
    pub class: String,
    /// The preset or the kernel.
    pub detector: String,
    /// The calibration, in words.
    pub calibration: String,
    /// Random halves.
    pub halves: usize,
}

impl std::fmt::Display for Halved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}/{}", self.dataset, self.class, self.detector, self.calibration)
    }
}

/// Rates at one level, over the halves.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// The level asked for.
    pub level: f64,
    /// The rate that thresholds promise, on average; 0 where so few series cannot keep the level.
    pub promised: f64,
    /// The share of the other halves that was flagged.
    pub observed: f64,
    /// Its standard error over the halves.
    pub error: f64,
}

/// Promised and observed false alarms of one detector on one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Halves {
    /// What it is about.
    #[serde(flatten)]
    pub unit: Halved,
    /// Checksum of both splits.
    pub data: u32,
    /// Series of the class in both splits.
    pub series: usize,
    /// One per level.
    pub rates: Vec<Rate>,
}

impl Record for Halves {
    type Key = Halved;

    fn key(&self) -> &Halved {
        &self.unit
    }
}

const LINES: &str = "halves.jsonl";

impl Benchmark {
    /// So many random halves of every class that is large enough, for every detector of [`HALVES_DETECTORS`]. Each half is
    /// fitted from its raw series: nothing is shared with the other half. What is in the folder is not worked out again.
    pub fn halves(
        &self,
        halves: usize,
        calibration: Calibration,
        output: Option<&Path>,
        run: &Run,
        mut told: impl FnMut(&Halves),
    ) -> Result<Vec<Halves>> {
        if halves < 2 {
            return Err(Error::bad_param("halves", halves, "must be at least 2"));
        }
        let mut lines: Option<Lines<Halves>> = match output {
            Some(folder) => Some(Lines::open(folder, LINES, || self.begin(folder))?),
            None => None,
        };
        let mut outcomes = Vec::new();
        for dataset in &self.checked()? {
            run.check()?;
            let split = read_split(&self.folder, dataset)?;
            let data = checksum(&split);
            for class in Labels::classes(labels(&split)?.to_vec()).declared {
                let series = of_class(&split, &class)?;
                if series.len() < HALVES_FEWEST {
                    continue;
                }
                for detector in HALVES_DETECTORS {
                    let unit = Halved {
                        dataset: dataset.clone(),
                        class: class.clone(),
                        detector: detector.into(),
                        calibration: calibration.to_string(),
                        halves,
                    };
                    let known = lines.as_ref().and_then(|lines| lines.get(&unit)).cloned();
                    if let Some(known) = known.filter(|known| known.data == data) {
                        outcomes.push(known);
                        continue;
                    }
                    let settings = settings(detector, calibration)?;
                    let rates = rates(&settings, &series, halves, run)?;
                    let outcome = Halves { unit, data, series: series.len(), rates };
                    if let Some(lines) = &mut lines {
                        lines.add(outcome.clone())?;
                    }
                    told(&outcome);
                    outcomes.push(outcome);
                }
            }
        }
        if let Some(lines) = lines {
            lines.close_sorted()?;
        }
        Ok(outcomes)
    }
}

fn settings(detector: &str, calibration: Calibration) -> Result<Settings> {
    let settings = Settings::default().with_calibration(calibration);
    Ok(if detector == "auto" { settings } else { settings.with_kernel(detector.parse()?) })
}

/// The series of a class in both splits.
fn of_class(split: &Split, class: &str) -> Result<SeriesSet> {
    let mut all = split.train.series.select(&split.train.with_label(class)?);
    if let Ok(places) = split.test.with_label(class) {
        for series in split.test.series.select(&places).iter() {
            all.push(series.values())?;
        }
    }
    Ok(all)
}

/// Promised and observed rates of one half.
type Rates = [(f64, f64); HALVES_LEVELS.len()];

fn rates(settings: &Settings, series: &SeriesSet, halves: usize, run: &Run) -> Result<Vec<Rate>> {
    let mut found = vec![Rates::default(); halves];
    let tasks: Vec<_> = found.iter_mut().enumerate().collect();
    run.for_each("halves", tasks, |(seed, rates)| {
        *rates = one_half(settings, series, seed as u64)?;
        Ok(())
    })?;
    let count = halves as f64;
    let summary = |(at, level): (usize, &f64)| {
        let mean =
            |value: &dyn Fn(&(f64, f64)) -> f64| found.iter().map(|r| value(&r[at])).sum::<f64>() / count;
        let observed = mean(&|r| r.1);
        let variance = mean(&|r| (r.1 - observed).powi(2));
        Rate { level: *level, promised: mean(&|r| r.0), observed, error: (variance / (count - 1.0)).sqrt() }
    };
    Ok(HALVES_LEVELS.iter().enumerate().map(summary).collect())
}

/// Fits on a random half, and counts what it flags in the other.
fn one_half(settings: &Settings, series: &SeriesSet, seed: u64) -> Result<Rates> {
    let mut numbers = NormalNumbers::new(seed);
    let mut order: Vec<(f64, usize)> = (0..series.len()).map(|at| (numbers.uniform(), at)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let places: Vec<usize> = order.into_iter().map(|(_, at)| at).collect();
    let (first, second) = places.split_at(series.len() / 2);
    let alone = Run::sequential();
    let detector = settings.fit(&series.select(first), &alone)?;
    let scores = detector.score(&series.select(second), &alone)?.scores();
    let mut rates = Rates::default();
    for (rate, level) in rates.iter_mut().zip(HALVES_LEVELS) {
        let threshold = detector.threshold(level).unwrap_or(f64::INFINITY);
        let above = scores.iter().filter(|score| **score > threshold).count();
        *rate =
            (detector.target_false_alarm_rate(level).unwrap_or(level), above as f64 / scores.len() as f64);
    }
    Ok(rates)
}

/// The table: a row per data set, detector and calibration, classes averaged; the class that is farthest above its promise, in
/// standard errors, beside it.
pub fn halves_table(outcomes: &[Halves], layout: Layout) -> String {
    let mut columns: Vec<String> =
        ["data set", "detector", "calibration", "classes"].map(String::from).to_vec();
    for level in HALVES_LEVELS {
        columns.push(format!("promised at {level}"));
        columns.push(format!("observed at {level}"));
    }
    columns.push("farthest above, in errors".into());
    let mut keys: Vec<(&str, &str, &str)> = Vec::new();
    for one in outcomes {
        let key = (one.unit.dataset.as_str(), one.unit.detector.as_str(), one.unit.calibration.as_str());
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let mut rows = Vec::new();
    for (dataset, detector, calibration) in keys {
        let here: Vec<&Halves> = outcomes
            .iter()
            .filter(|o| (o.unit.dataset.as_str(), o.unit.detector.as_str()) == (dataset, detector))
            .filter(|o| o.unit.calibration == calibration)
            .collect();
        let count = here.len() as f64;
        let mut row =
            vec![dataset.to_string(), detector.to_string(), calibration.to_string(), here.len().to_string()];
        let mut farthest: Option<(f64, String)> = None;
        for (at, level) in HALVES_LEVELS.iter().enumerate() {
            let able: Vec<&Rate> = here.iter().map(|o| &o.rates[at]).filter(|r| r.promised > 0.0).collect();
            if able.is_empty() {
                row.extend(["-".to_string(), "-".to_string()]);
                continue;
            }
            let mean =
                |value: fn(&Rate) -> f64| here.iter().map(|o| value(&o.rates[at])).sum::<f64>() / count;
            // Classes are different series: their errors add up.
            let error = here.iter().map(|o| o.rates[at].error.powi(2)).sum::<f64>().sqrt() / count;
            row.push(format!("{:.4}", mean(|r| r.promised)));
            row.push(format!("{:.4} ± {error:.4}", mean(|r| r.observed)));
            for one in &here {
                let rate = &one.rates[at];
                let above = (rate.observed - rate.promised) / rate.error.max(1e-9);
                if rate.promised > 0.0 && farthest.as_ref().is_none_or(|(most, _)| above > *most) {
                    farthest = Some((above, format!("{above:.1} ({} at {level})", one.unit.class)));
                }
            }
        }
        row.push(farthest.map_or("-".into(), |(_, words)| words));
        rows.push(row);
    }
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    written(&columns, &rows, layout)
}
