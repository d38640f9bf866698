//! Baselines beside the kernels: k nearest neighbours of flattened series, and scores made elsewhere.
//!
//! Two more come with every kernel: the nearest neighbour in feature space and the residual of principal components
//! ([`Method::Nearest`], [`Method::Residual`]).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::folds::Fold;
use crate::grid::Setting;
use crate::method::Method;
use crate::unit::{Chosen, Found, Unit, judged, labels, normal, prepared};
use varnorm::Run;
use varnorm::data::{SeriesSet, Split};
use varnorm::internal::Ranker;
use varnorm::{Error, Result};

/// Numbers of neighbours that are tried.
const NEIGHBOURS: [usize; 4] = [1, 3, 5, 10];

/// Chooses the number of neighbours on the folds and judges it on the test split.
pub(crate) fn search_knn(
    unit: &Unit,
    split: &Split,
    folds: &[Fold],
    run: &Run,
) -> Result<BTreeMap<Method, Found>> {
    let labels = labels(split)?;
    let mut objectives = vec![[0.0; NEIGHBOURS.len()]; folds.len()];
    let jobs: Vec<_> = folds.iter().zip(&mut objectives).collect();
    run.for_each(&format!("{unit}"), jobs, |(fold, objectives)| {
        let corpus: Vec<usize> = fold.train.iter().copied().filter(|i| labels[*i] == unit.class).collect();
        let normal: Vec<bool> = fold.validation.iter().map(|i| labels[*i] == unit.class).collect();
        let series = &split.train.series;
        let scores = knn(&series.select(&corpus), &series.select(&fold.validation))?;
        let mut ranker = Ranker::default();
        for (objective, scores) in objectives.iter_mut().zip(&scores) {
            let found = ranker.separation(scores, &normal);
            *objective = found.roc_auc + found.average_precision;
        }
        Ok(())
    })?;
    let mean = |k: usize| objectives.iter().map(|o| o[k]).sum::<f64>() / folds.len() as f64;
    let mut best = (0, f64::NEG_INFINITY);
    for k in 0..NEIGHBOURS.len() {
        if mean(k) > best.1 {
            best = (k, mean(k));
        }
    }
    let corpus = split.train.series.select(&split.train.with_label(&unit.class)?);
    let scores = knn(&corpus, &split.test.series)?;
    let setting = Setting {
        values: [("neighbours".to_string(), NEIGHBOURS[best.0] as f64)].into(),
        ..Setting::default()
    };
    let chosen = Chosen { alpha: None, max_rank: None, cv_score: Some(best.1), setting };
    let found = judged(&scores[best.0], &normal(split, &unit.class)?, chosen)?;
    Ok([(Method::Nearest, found)].into())
}

/// Squared distances to the k-th nearest corpus series, flattened after the published preparation; a list per k. A
/// corpus with fewer series gives the distance to its farthest.
fn knn(corpus: &SeriesSet, queries: &SeriesSet) -> Result<Vec<Vec<f64>>> {
    let count = corpus.len();
    let (_, set) = prepared(corpus, queries, false)?;
    set.require_equal_length("k-NN on flattened series", "resample them to one length")?;
    let mut scores = vec![Vec::with_capacity(queries.len()); NEIGHBOURS.len()];
    for q in count..set.len() {
        let query = set.series(q).values();
        let distance =
            |i: usize| set.series(i).values().iter().zip(query).map(|(a, b)| (a - b) * (a - b)).sum();
        let mut distances: Vec<f64> = (0..count).map(distance).collect();
        distances.sort_by(f64::total_cmp);
        for (scores, k) in scores.iter_mut().zip(NEIGHBOURS) {
            scores.push(distances[k.min(count) - 1]);
        }
    }
    Ok(scores)
}

/// A column of scores that were made elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct External {
    /// The column's name in tables.
    pub name: String,
    file: PathBuf,
    /// By data set and class: a score per test series.
    scores: BTreeMap<(String, String), BTreeMap<usize, f64>>,
}

impl External {
    /// Reads a CSV file with the columns `dataset`, `class` (the one taken as normal), `series` (0 is the first of the
    /// test split) and `score` (higher is more novel).
    pub fn read(name: &str, file: &Path) -> Result<Self> {
        let wrong = |line: usize, problem: String| Error::parse(file, line, problem);
        let mut reader = csv::Reader::from_path(file).map_err(|e| Error::file(file, e.to_string()))?;
        let headers =
            reader.headers().map_err(|e| wrong(1, format!("{e}; save the file as CSV in UTF-8")))?.clone();
        let column = |wanted: &str| {
            headers.iter().position(|h| h.trim() == wanted).ok_or_else(|| {
                wrong(
                    1,
                    format!("there is no column `{wanted}`; the columns are dataset, class, series, score"),
                )
            })
        };
        let (dataset, class, series, score) =
            (column("dataset")?, column("class")?, column("series")?, column("score")?);
        let mut scores: BTreeMap<(String, String), BTreeMap<usize, f64>> = BTreeMap::new();
        for (row, record) in reader.records().enumerate() {
            let line = row + 2;
            let record = record.map_err(|e| {
                wrong(line, format!("{e}; write dataset, class, series and score on every line"))
            })?;
            let cell = |at: usize| record.get(at).unwrap_or("").trim();
            let bad = |what: &str, at: usize| {
                wrong(line, format!("`{}` is not {what}; correct this line", cell(at)))
            };
            let index: usize = cell(series).parse().map_err(|_| bad("the number of a series", series))?;
            let value: f64 = cell(score).parse().map_err(|_| bad("a score", score))?;
            if value.is_nan() {
                return Err(bad("a score", score));
            }
            let list = scores.entry((cell(dataset).into(), cell(class).into())).or_default();
            if list.insert(index, value).is_some() {
                return Err(wrong(
                    line,
                    format!("series {index} has a score already; leave one of the two out"),
                ));
            }
        }
        Ok(Self { name: name.into(), file: file.into(), scores })
    }

    /// Judges the scores of one class; `None` where the file has none of it.
    pub(crate) fn judge(&self, unit: &Unit, split: &Split) -> Result<Option<Found>> {
        let normal = normal(split, &unit.class)?;
        let Some(given) = self.of(&unit.dataset, &unit.class, normal.len())? else { return Ok(None) };
        let chosen = Chosen { alpha: None, max_rank: None, cv_score: None, setting: Setting::default() };
        judged(&from_zero(&given), &normal, chosen).map(Some)
    }

    /// The scores of one class, one per test series; `None` where the file has none of it.
    pub(crate) fn of(&self, dataset: &str, class: &str, series: usize) -> Result<Option<Vec<f64>>> {
        let Some(list) = self.scores.get(&(dataset.into(), class.into())) else { return Ok(None) };
        if !list.keys().copied().eq(0..series) {
            let found = list.len();
            let problem = format!(
                "{dataset}, class {class}: {found} scores for {series} test series; give one for each, numbered from 0"
            );
            return Err(Error::file(&self.file, problem));
        }
        Ok(Some(list.values().copied().collect()))
    }
}

/// The places of scores in their order: what areas are made of, from zero up whatever the scores are.
fn from_zero(scores: &[f64]) -> Vec<f64> {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    scores.iter().map(|s| sorted.partition_point(|v| v < s) as f64).collect()
}
