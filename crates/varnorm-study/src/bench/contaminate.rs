//! Corpora that are not clean: series of a foreign class are mixed in, and detectors are judged with and without trimming.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::outcome::{checksum, promised_level};
use super::{Benchmark, Layout, rows::written};
use crate::lines::{Lines, Record};
use crate::unit::{labels, normal};
use varnorm::data::{Labels, Split, read_split};
use varnorm::detector::{Detector, Robust};
use varnorm::law::NormalNumbers;
use varnorm::metrics::roc_auc;
use varnorm::{Error, Result, Run, Settings};

/// What an outcome is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Mixture {
    /// The data set.
    pub dataset: String,
    /// The class that is taken as normal.
    pub class: String,
    /// The foreign share of the corpus, as it was asked for.
    pub share: String,
    /// What is done about it: `none`, `trim`.
    pub robust: String,
}

impl std::fmt::Display for Mixture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}/{}", self.dataset, self.class, self.share, self.robust)
    }
}

/// How a detector did on a corpus with foreign series in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contaminated {
    /// What it is about.
    #[serde(flatten)]
    pub mixture: Mixture,
    /// Checksum of both splits.
    pub data: u32,
    /// Series of the corpus, the foreign ones included.
    pub corpus: usize,
    /// Foreign ones among them.
    pub planted: usize,
    /// The chance that a novel test series scores higher than a normal one.
    pub roc_auc: f64,
    /// The level of flags; absent where the corpus is too small.
    pub level: Option<f64>,
    /// Share of the novel test series that is flagged.
    pub novel_flagged: f64,
    /// Share of the normal test series that is flagged.
    pub normal_flagged: f64,
    /// Suspects that were named or left out.
    pub suspects: usize,
    /// Planted ones among them.
    pub planted_found: usize,
}

impl Record for Contaminated {
    type Key = Mixture;

    fn key(&self) -> &Mixture {
        &self.mixture
    }
}

const LINES: &str = "contaminated.jsonl";

/// The treatments compared.
const TREATMENTS: [(&str, Robust); 2] = [("none", Robust::None {}), ("trim", Robust::Trim { share: None })];

impl Benchmark {
    /// The default detector on every class of the data sets, with these shares of one foreign class in its corpus. Which class
    /// and which of its series is drawn by a seed of the class' place. What is in the folder is not worked out again.
    pub fn contaminate(
        &self,
        shares: &[f64],
        output: Option<&Path>,
        run: &Run,
        mut told: impl FnMut(&Contaminated),
    ) -> Result<Vec<Contaminated>> {
        if let Some(wrong) = shares.iter().find(|share| !(0.0..=0.4).contains(*share)) {
            return Err(Error::bad_param("contaminate", wrong, "must be shares from 0 to 0.4"));
        }
        let mut lines: Option<Lines<Contaminated>> = match output {
            Some(folder) => Some(Lines::open(folder, LINES, || self.begin(folder))?),
            None => None,
        };
        let mut outcomes = Vec::new();
        for dataset in &self.checked()? {
            run.check()?;
            let split = read_split(&self.folder, dataset)?;
            let data = checksum(&split);
            for (seed, class) in Labels::classes(labels(&split)?.to_vec()).declared.iter().enumerate() {
                for share in shares {
                    for (robust, treatment) in TREATMENTS {
                        let mixture = Mixture {
                            dataset: dataset.clone(),
                            class: class.clone(),
                            share: share.to_string(),
                            robust: robust.into(),
                        };
                        let known = lines.as_ref().and_then(|lines| lines.get(&mixture)).cloned();
                        if let Some(known) = known.filter(|known| known.data == data) {
                            outcomes.push(known);
                            continue;
                        }
                        let mixed = Mixed::new(&split, class, *share, seed as u64)?;
                        let outcome = self.judge_mixed(mixture, &split, &mixed, treatment, data, run)?;
                        if let Some(lines) = &mut lines {
                            lines.add(outcome.clone())?;
                        }
                        told(&outcome);
                        outcomes.push(outcome);
                    }
                }
            }
        }
        if let Some(lines) = lines {
            lines.close_sorted()?;
        }
        Ok(outcomes)
    }

    fn judge_mixed(
        &self,
        mixture: Mixture,
        split: &Split,
        mixed: &Mixed,
        robust: Robust,
        data: u32,
        run: &Run,
    ) -> Result<Contaminated> {
        let Mixed { members, planted } = mixed;
        let normal = normal(split, &mixture.class)?;
        let novel: Vec<bool> = normal.iter().map(|n| !n).collect();
        // The level of the clean corpus: mixing in must not change what is promised.
        let level = promised_level(self.level, members.len() - planted);
        let settings = Settings::default().with_level(level.unwrap_or(self.level)).with_robust(robust);
        let detector: Detector = settings.fit(&split.train.series.select(members), run)?;
        let found = detector.score(&split.test.series, run)?;
        let share = |of: &[bool]| {
            let flagged = found.findings.iter().zip(of).filter(|(one, of)| **of && one.novel == Some(true));
            flagged.count() as f64 / of.iter().filter(|of| **of).count().max(1) as f64
        };
        let suspects = detector.suspects();
        let first_planted = members.len() - planted;
        let planted_found = suspects.iter().filter(|one| one.suspect.series >= first_planted).count();
        Ok(Contaminated {
            data,
            corpus: members.len(),
            planted: *planted,
            roc_auc: roc_auc(&found.scores(), &novel),
            level,
            novel_flagged: share(&novel),
            normal_flagged: share(&normal),
            suspects: suspects.len(),
            planted_found,
            mixture,
        })
    }
}

/// A corpus with foreign series at its end.
struct Mixed {
    /// Places in the training split.
    members: Vec<usize>,
    /// How many of them, at the end, are foreign.
    planted: usize,
}

impl Mixed {
    fn new(split: &Split, class: &str, share: f64, seed: u64) -> Result<Self> {
        let mut members = split.train.with_label(class)?;
        if share == 0.0 {
            return Ok(Self { members, planted: 0 });
        }
        let others: Vec<String> =
            Labels::classes(labels(split)?.to_vec()).declared.into_iter().filter(|c| c != class).collect();
        let mut numbers = NormalNumbers::new(seed);
        let foreign = &others[((numbers.uniform() * others.len() as f64) as usize).min(others.len() - 1)];
        let mut pool: Vec<(f64, usize)> =
            split.train.with_label(foreign)?.into_iter().map(|at| (numbers.uniform(), at)).collect();
        pool.sort_by(|a, b| a.0.total_cmp(&b.0));
        let count = ((share * members.len() as f64 / (1.0 - share)).round() as usize).clamp(1, pool.len());
        members.extend(pool.iter().take(count).map(|(_, at)| *at));
        Ok(Self { members, planted: count })
    }
}

/// The table: means over the classes of each data set, then over the data sets.
pub fn contamination_table(outcomes: &[Contaminated], layout: Layout) -> String {
    let columns = [
        "data set",
        "foreign",
        "ROC-AUC",
        "ROC-AUC, trim",
        "novel flagged",
        "novel flagged, trim",
        "normal flagged",
        "normal flagged, trim",
        "planted found, trim",
        "left out",
    ];
    let mut sets: Vec<&str> = outcomes.iter().map(|o| o.mixture.dataset.as_str()).collect();
    sets.dedup();
    let mut shares: Vec<&str> = Vec::new();
    for outcome in outcomes {
        if !shares.contains(&outcome.mixture.share.as_str()) {
            shares.push(&outcome.mixture.share);
        }
    }
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let of = |set: &str, share: &str, robust: &str, value: fn(&Contaminated) -> Option<f64>| {
        let here = outcomes
            .iter()
            .filter(|o| o.mixture.dataset == set && o.mixture.share == share && o.mixture.robust == robust);
        let values: Vec<f64> = here.filter_map(value).collect();
        (!values.is_empty()).then(|| mean(values))
    };
    type Value = fn(&Contaminated) -> Option<f64>;
    let cells: [(&str, Value); 8] = [
        ("none", |o| Some(o.roc_auc)),
        ("trim", |o| Some(o.roc_auc)),
        ("none", |o| o.level.map(|_| o.novel_flagged)),
        ("trim", |o| o.level.map(|_| o.novel_flagged)),
        ("none", |o| o.level.map(|_| o.normal_flagged)),
        ("trim", |o| o.level.map(|_| o.normal_flagged)),
        ("trim", |o| (o.planted > 0).then(|| o.planted_found as f64 / o.planted as f64)),
        ("trim", |o| Some(o.suspects as f64 / o.corpus as f64)),
    ];
    let shown = |value: Option<f64>| value.map_or("-".to_string(), |v| format!("{v:.3}"));
    let mut rows = Vec::new();
    for set in &sets {
        for share in &shares {
            let mut row = vec![(*set).to_string(), (*share).to_string()];
            row.extend(cells.iter().map(|(robust, value)| shown(of(set, share, robust, *value))));
            rows.push(row);
        }
    }
    for share in &shares {
        let mut row = vec!["mean of sets".to_string(), (*share).to_string()];
        row.extend(cells.iter().map(|(robust, value)| {
            let values: Vec<f64> = sets.iter().filter_map(|set| of(set, share, robust, *value)).collect();
            shown((!values.is_empty()).then(|| mean(values)))
        }));
        rows.push(row);
    }
    written(&columns, &rows, layout)
}
