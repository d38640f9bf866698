//! What a study will take, from a measured sample.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::{KNN, Loaded, Shard, stratified_folds, unit};
use crate::unit::Worker;
use varnorm::Result;
use varnorm::Run;

/// What a study will take.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// By data set and row: units and the time of all of them.
    pub rows: Vec<(String, String, usize, Duration)>,
    /// Bytes of kernel values that are held at a time, at most.
    pub bytes: usize,
}

impl Estimate {
    /// All rows together.
    pub fn total(&self) -> Duration {
        self.rows.iter().map(|row| row.3).sum()
    }
}

/// Works out one fold of one class per data set and row, and multiplies.
pub fn estimate(loaded: &Loaded, shard: Shard, run: &Run) -> Result<Estimate> {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let units = loaded.units_of(shard);
    for unit in &units {
        *counts.entry((unit.dataset.clone(), unit.kernel.clone())).or_default() += 1;
    }
    let (mut rows, mut bytes) = (Vec::new(), 0);
    let mut seen = Vec::new();
    for unit in units {
        let key = (unit.dataset.clone(), unit.kernel.clone());
        if seen.contains(&key) {
            continue;
        }
        let count = counts[&key];
        let (one, held) = sample(loaded, unit, run)?;
        bytes = bytes.max(held);
        rows.push((key.0.clone(), key.1.clone(), count, one * count as u32));
        seen.push(key);
    }
    Ok(Estimate { rows, bytes })
}

/// The time of one unit, and the bytes that its threads hold.
fn sample(loaded: &Loaded, one: &super::Unit, run: &Run) -> Result<(Duration, usize)> {
    let study = &loaded.study;
    let is_given = study.published.is_some() || study.external.iter().any(|e| e.name == one.kernel);
    let began = Instant::now();
    if is_given || one.kernel == KNN {
        loaded.one(one, run)?;
        return Ok((began.elapsed(), 0));
    }
    let grid = &study.grid;
    let split = loaded.split(one)?;
    let settings = grid.settings(&one.kernel)?;
    let labels = unit::labels(split)?;
    let folds = stratified_folds(labels, grid.folds, 1, grid.seed);
    let worker = Worker { grid, compat: study.compat, select: study.select, run };
    let time = settings.iter().any(|s| s.time);
    worker.one_fold(one, split, &folds[0], time, &settings)?;
    let kinds = if settings.iter().any(|s| s.time) && settings.iter().any(|s| !s.time) { 2 } else { 1 };
    let tasks = (grid.folds * grid.repeats * kinds) as u32;
    let took = began.elapsed() * tasks / run.threads() as u32;
    let corpus = folds[0].train.iter().filter(|i| labels[**i] == one.class).count();
    // Values are held twice, as one matrix and cut in two; objectives of a batch of folds beside them.
    let values = 2 * settings.len() / kinds * corpus * (corpus + folds[0].validation.len());
    let objectives = 16 * settings.len() * grid.max_rank * (4 * grid.alphas.len() + 1);
    Ok((took, 8 * (run.threads() * values + objectives)))
}
