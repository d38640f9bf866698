//! One unit of a study: a data set, a kernel and a class, searched or given, then judged on the test split.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::baselines;
use crate::folds::{Fold, stratified_folds};
use crate::grid::{Compat, Grid, Scale, Setting, kernel};
use crate::measure::Measurer;
use crate::method::{Cells, Method};
use crate::select::{Searched, Select};
use varnorm::Run;
use varnorm::data::{SeriesSet, Split};
use varnorm::gram::{Cross, Gram};
use varnorm::internal::{Ranker, with_queries};
use varnorm::metrics::bootstrap;
use varnorm::prepare::{Preparation, Step};
use varnorm::{Error, Result};

/// The row of the baseline on flattened series.
pub const KNN: &str = "knn";
/// Resamples of an interval, its level and its seed.
const BOOTSTRAP: (usize, f64, u64) = (400, 0.95, 0);
/// Folds whose objectives are held at a time.
const BATCH: usize = 16;

/// What is worked out as a whole and recorded on one line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Unit {
    /// The data set.
    pub dataset: String,
    /// The row: a published kernel's name, `knn`, or a name of the user's.
    pub kernel: String,
    /// The class that is taken as normal.
    pub class: String,
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.dataset, self.kernel, self.class)
    }
}

/// The result of a unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnitResult {
    /// Which unit.
    #[serde(flatten)]
    pub unit: Unit,
    /// Folds that took part in the search; 0 where there was none.
    pub folds: usize,
    /// Why there is no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// What was found, by method.
    pub methods: BTreeMap<Method, Found>,
}

/// How one method did on the test split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Area under the ROC curve.
    pub roc_auc: f64,
    /// Average precision.
    pub pr_auc: f64,
    /// 95 percent bootstrap interval.
    pub roc_interval: (f64, f64),
    /// 95 percent bootstrap interval.
    pub pr_interval: (f64, f64),
    /// With what.
    pub chosen: Chosen,
}

/// The parameters that a method was judged with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    /// Regularisation, where the method has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Largest rank, where the method has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rank: Option<usize>,
    /// The objective of the search: mean ROC-AUC plus average precision over the folds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cv_score: Option<f64>,
    /// The kernel's parameters.
    #[serde(flatten)]
    pub setting: Setting,
}

/// How units are worked out.
pub(crate) struct Worker<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) compat: Compat,
    pub(crate) select: Select,
    pub(crate) run: &'a Run,
}

impl Worker<'_> {
    /// Searches the grid on the training split and judges what is chosen on the test split.
    pub(crate) fn search(&self, unit: &Unit, split: &Split) -> Result<UnitResult> {
        let labels = labels(split)?;
        let folds = self.usable_folds(labels, &unit.class);
        if let Some(reason) = unusable(unit, split, labels, folds.len())? {
            return Ok(UnitResult {
                unit: unit.clone(),
                folds: 0,
                skipped: Some(reason),
                methods: BTreeMap::new(),
            });
        }
        let methods = if unit.kernel == KNN {
            baselines::search_knn(unit, split, &folds, self.run)?
        } else {
            self.search_kernel(unit, split, &folds)?
        };
        Ok(UnitResult { unit: unit.clone(), folds: folds.len(), skipped: None, methods })
    }

    fn search_kernel(&self, unit: &Unit, split: &Split, folds: &[Fold]) -> Result<BTreeMap<Method, Found>> {
        let settings = self.grid.settings(&unit.kernel)?;
        let (objectives, whole) = self.objectives(unit, split, folds, &settings)?;
        let cells = self.cells();
        let searched = Searched { settings: &settings, objectives: &objectives, cells };
        let wanted = Method::MEASURED.map(|method| {
            let choice = searched.choose(self.select, method);
            // A rank that cut nothing off in any fold means all eigenvectors: of the whole corpus, which has more.
            let all = self.compat == Compat::None && choice.rank >= whole[choice.setting];
            let rank = if all { self.grid.max_rank } else { choice.rank };
            let chosen = Chosen {
                alpha: method.has_alpha().then(|| self.grid.alphas[choice.alpha]),
                max_rank: method.has_rank().then_some(rank),
                cv_score: Some(choice.score),
                setting: settings[choice.setting].clone(),
            };
            (method, chosen)
        });
        self.judge(unit, split, wanted.into())
    }

    fn cells(&self) -> Cells {
        Cells { alphas: self.grid.alphas.len(), ranks: self.grid.max_rank }
    }

    /// Folds in which the class can be fitted on (two series) and judged (one of it held out, and one other).
    fn usable_folds(&self, labels: &[String], class: &str) -> Vec<Fold> {
        let mut folds = stratified_folds(labels, self.grid.folds, self.grid.repeats, self.grid.seed);
        let members = |part: &[usize]| part.iter().filter(|i| labels[**i] == class).count();
        folds.retain(|fold| {
            let held = members(&fold.validation);
            members(&fold.train) >= 2 && held >= 1 && held < fold.validation.len()
        });
        folds
    }

    /// The mean objective over the folds: for every setting, one per cell; and the largest rank that a fold had.
    fn objectives(
        &self,
        unit: &Unit,
        split: &Split,
        folds: &[Fold],
        settings: &[Setting],
    ) -> Result<(Vec<Vec<f64>>, Vec<usize>)> {
        let times: Vec<bool> =
            [false, true].into_iter().filter(|t| settings.iter().any(|s| s.time == *t)).collect();
        let mut sums = vec![vec![0.0; self.cells().len()]; settings.len()];
        let mut whole = vec![1; settings.len()];
        let tasks: Vec<(&Fold, bool)> =
            folds.iter().flat_map(|f| times.iter().map(move |t| (f, *t))).collect();
        // Sums are taken in the order of the folds, so that threads do not change their bits.
        for batch in tasks.chunks(BATCH.max(self.run.threads())) {
            let mut outcomes = vec![Vec::new(); batch.len()];
            let jobs: Vec<_> = batch.iter().zip(&mut outcomes).collect();
            self.run.for_each(&format!("{unit}"), jobs, |((fold, time), outcome)| {
                *outcome = self.one_fold(unit, split, fold, *time, settings)?;
                Ok(())
            })?;
            for ((_, time), outcome) in batch.iter().zip(outcomes) {
                let of_time = (0..settings.len()).filter(|s| settings[*s].time == *time);
                for (setting, (cells, ranks)) in of_time.zip(outcome) {
                    whole[setting] = ranks.max(whole[setting]);
                    let sums = &mut sums[setting];
                    sums.iter_mut().zip(cells).for_each(|(sum, cell)| *sum += cell);
                }
            }
        }
        let count = folds.len() as f64;
        sums.iter_mut().flatten().for_each(|sum| *sum /= count);
        Ok((sums, whole))
    }

    /// The objectives of one fold, for the settings of one kind of preparation, each with the ranks it has.
    pub(crate) fn one_fold(
        &self,
        unit: &Unit,
        split: &Split,
        fold: &Fold,
        time: bool,
        settings: &[Setting],
    ) -> Result<Vec<(Vec<f64>, usize)>> {
        let labels = labels(split)?;
        let corpus: Vec<usize> = fold.train.iter().copied().filter(|i| labels[*i] == unit.class).collect();
        let normal: Vec<bool> = fold.validation.iter().map(|i| labels[*i] == unit.class).collect();
        let series = &split.train.series;
        let (corpus, set) = prepared(&series.select(&corpus), &series.select(&fold.validation), time)?;
        let of_time: Vec<&Setting> = settings.iter().filter(|s| s.time == time).collect();
        let pairs = self.pairs(&unit.kernel, &of_time, &corpus, &set, &Run::sequential())?;
        let mut measurer = Measurer::new(&self.grid.alphas, self.grid.max_rank, self.compat);
        let mut all = vec![(vec![0.0; self.cells().len()], 0); of_time.len()];
        for ((gram, cross), (sums, ranks)) in pairs.iter().zip(&mut all) {
            measurer.measure(gram, cross)?;
            measurer.add_objectives(&normal, sums);
            *ranks = measurer.ranks();
        }
        Ok(all)
    }

    fn pairs(
        &self,
        row: &str,
        settings: &[&Setting],
        corpus: &SeriesSet,
        set: &SeriesSet,
        run: &Run,
    ) -> Result<Vec<(Gram, Cross)>> {
        let scale = Scale::new(row, corpus);
        let kernels: Result<Vec<_>> =
            settings.iter().map(|setting| kernel(row, setting, self.compat, &scale, corpus)).collect();
        with_queries(&kernels?, set, corpus.len(), run)
    }

    /// Judges methods with given parameters on the test split.
    pub(crate) fn judge(
        &self,
        unit: &Unit,
        split: &Split,
        wanted: Vec<(Method, Chosen)>,
    ) -> Result<BTreeMap<Method, Found>> {
        let corpus = split.train.series.select(&split.train.with_label(&unit.class)?);
        let normal = normal(split, &unit.class)?;
        let mut found = BTreeMap::new();
        for time in [false, true] {
            let of_time: Vec<&(Method, Chosen)> =
                wanted.iter().filter(|(_, c)| c.setting.time == time).collect();
            if of_time.is_empty() {
                continue;
            }
            let (corpus, set) = prepared(&corpus, &split.test.series, time)?;
            // Methods that chose the same kernel share its values.
            let mut settings: Vec<&Setting> = Vec::new();
            for (_, chosen) in &of_time {
                if !settings.contains(&&chosen.setting) {
                    settings.push(&chosen.setting);
                }
            }
            let pairs = self.pairs(&unit.kernel, &settings, &corpus, &set, self.run)?;
            for (method, chosen) in of_time {
                let at = settings.iter().position(|s| **s == chosen.setting).unwrap_or(0);
                let (alphas, rank) = ([chosen.alpha.unwrap_or(1.0)], chosen.max_rank.unwrap_or(1));
                let mut measurer = Measurer::new(&alphas, rank, self.compat);
                measurer.measure(&pairs[at].0, &pairs[at].1)?;
                let scores = measurer.scores(*method, 0, rank);
                found.insert(*method, judged(scores, &normal, chosen.clone())?);
            }
        }
        Ok(found)
    }
}

/// Both areas of some scores, with their intervals.
pub(crate) fn judged(novelty: &[f64], normal: &[bool], chosen: Chosen) -> Result<Found> {
    let areas = Ranker::default().separation(novelty, normal);
    let (samples, level, seed) = BOOTSTRAP;
    let intervals = bootstrap(novelty, normal, samples, level, seed)?;
    Ok(Found {
        roc_auc: areas.roc_auc,
        pr_auc: areas.average_precision,
        roc_interval: intervals.roc_auc,
        pr_interval: intervals.average_precision,
        chosen,
    })
}

/// The labels of the training split.
pub(crate) fn labels(split: &Split) -> Result<&[String]> {
    labels_of(&split.train)
}

fn labels_of(dataset: &varnorm::data::Dataset) -> Result<&[String]> {
    let none = || {
        Error::bad_param(
            "datasets",
            &dataset.name,
            "has no labels; a study takes each class in turn as normal",
        )
    };
    Ok(&dataset.labels.as_ref().ok_or_else(none)?.values)
}

/// Which test series are of the class.
pub(crate) fn normal(split: &Split, class: &str) -> Result<Vec<bool>> {
    Ok(labels_of(&split.test)?.iter().map(|label| label == class).collect())
}

/// Why a unit cannot be worked out, if it cannot.
fn unusable(unit: &Unit, split: &Split, labels: &[String], folds: usize) -> Result<Option<String>> {
    let count = labels.iter().filter(|label| **label == unit.class).count();
    let normal = normal(split, &unit.class)?;
    let held = normal.iter().filter(|n| **n).count();
    Ok(if folds == 0 {
        Some(format!(
            "class {} has {count} training series; a search needs at least 3, so that two can be fitted on while one is \
             held out",
            unit.class
        ))
    } else if held == 0 || held == normal.len() {
        Some(format!(
            "{held} of {} test series are of class {}; areas need both kinds",
            normal.len(),
            unit.class
        ))
    } else {
        None
    })
}

/// Prepares as published: fitted on the corpus. Returns the corpus, and the corpus followed by the queries.
pub(crate) fn prepared(
    corpus: &SeriesSet,
    queries: &SeriesSet,
    time: bool,
) -> Result<(SeriesSet, SeriesSet)> {
    let mut preparation = Preparation::published();
    if time {
        preparation.steps.push(Step::Time { length: 1.0 });
    }
    let (fitted, corpus) = preparation.fit(corpus)?;
    let mut set = corpus.clone();
    set.extend(&fitted.apply(queries)?)?;
    Ok((corpus, set))
}
