//! Reports: everything there is to see about a scored batch, as one self-contained HTML file.
//!
//! [`Report::new`] works out the data, [`Report::to_html`] puts them into a page that needs no network: pictures are
//! SVG made here, and a little JavaScript sorts, filters and opens series.
//!
//! ```
//! use varnorm::{Run, Settings, data::basic_motions, report::{Options, Report}};
//! let run = Run::sequential();
//! let motions = basic_motions().unwrap();
//! let walking = motions.train.select(&motions.train.with_label("Walking").unwrap());
//! let detector = Settings::default().fit(&walking.series, &run).unwrap();
//! let options = Options::default().with_normal("Walking".to_string()).with_explain(2);
//! let report = Report::new(&detector, &motions.test, &options, &run).unwrap();
//! assert!(report.to_html().starts_with("<!doctype html>"));
//! ```

mod curves;
pub(crate) mod facts;
pub(crate) mod page;
pub(crate) mod pictures;
mod separation;
mod suspect;
mod table;

pub use crate::describe::Fact;
pub use curves::{Band, Curves};
pub use separation::Separation;
pub use suspect::Worst;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::calibrate::Decision;
use crate::data::{Dataset, SeriesSet, write_atomically};
use crate::detector::{Description, Detector, Explanation, NamedSuspect, Placed, Scored};
use crate::diagnostics::Diagnostics;
use crate::error::{Error, Result};
use crate::run::Run;

/// What can be chosen about a report: defaults, and a `with_` for each.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The false-alarm rate that flags aim at; the detector's when left out.
    pub level: Option<f64>,
    /// How p-values become flags; the detector's rule when left out.
    pub decision: Option<Decision>,
    /// The label of normal series, where the data have labels: gives ROC and precision-recall curves.
    pub normal: Option<String>,
    /// So many of the most novel series are explained; each takes as long as scoring a few dozen.
    pub explain: usize,
    /// Explanations cut time into so many stretches.
    pub segments: usize,
    /// So many of the most novel series can be opened as curves.
    pub curves: usize,
    /// So many points at most are drawn of each kind in the map.
    pub points: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            level: None,
            decision: None,
            normal: None,
            explain: 20,
            segments: 10,
            curves: 500,
            points: 2000,
        }
    }
}

impl Options {
    /// Flags aim at this false-alarm rate.
    pub fn with_level(mut self, level: impl Into<Option<f64>>) -> Self {
        self.level = level.into();
        self
    }

    /// P-values become flags by this rule.
    pub fn with_decision(mut self, decision: impl Into<Option<Decision>>) -> Self {
        self.decision = decision.into();
        self
    }

    /// Series with this label are normal.
    pub fn with_normal(mut self, label: impl Into<Option<String>>) -> Self {
        self.normal = label.into();
        self
    }

    /// So many of the most novel series are explained.
    pub fn with_explain(mut self, series: usize) -> Self {
        self.explain = series;
        self
    }

    /// Explanations cut time into so many stretches.
    pub fn with_segments(mut self, segments: usize) -> Self {
        self.segments = segments;
        self
    }

    /// So many of the most novel series can be opened as curves.
    pub fn with_curves(mut self, series: usize) -> Self {
        self.curves = series;
        self
    }

    /// So many points at most are drawn of each kind in the map.
    pub fn with_points(mut self, points: usize) -> Self {
        self.points = points;
        self
    }
}

/// Where the normal scores of a report come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NormalScores {
    /// Each series of the corpus under a model without it.
    LeaveOneOut,
    /// The scores that p-values compare with: the corpus is too large to leave out one by one.
    Calibration,
    /// There are none.
    None,
}

/// Where series lie: the first two kernel principal coordinates.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Map {
    /// The series of the corpus.
    pub corpus: Vec<[f64; 2]>,
    /// The scored series, in order.
    pub series: Vec<[f64; 2]>,
    /// The share of the corpus' variance along each coordinate.
    pub shares: [f64; 2],
}

/// Everything there is to see about a scored batch. Plain data.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The name of the data.
    pub title: String,
    /// What was asked and how.
    pub facts: Vec<Fact>,
    /// What to know before trusting it.
    pub warnings: Vec<String>,
    /// What was left out or thinned, and what the reader of the data noticed.
    pub notes: Vec<String>,
    /// Scores, p-values and flags: the same as those of `varnorm score`.
    pub scored: Scored,
    /// Scores of normal series, ascending.
    #[serde(serialize_with = "numbers_or_words")]
    pub normal_scores: Vec<f64>,
    /// Where they come from.
    pub normal_scores_from: NormalScores,
    /// Kept eigenvalues of the covariance, descending.
    pub eigenvalues: Vec<f64>,
    /// What the corpus and the norm are good for.
    pub diagnostics: Diagnostics,
    /// Members of the corpus that do not seem to belong there, most suspicious first.
    pub suspects: Vec<NamedSuspect>,
    /// The first of them beside the corpus.
    pub worst_suspect: Option<Worst>,
    /// Where series lie.
    pub map: Map,
    /// How well scores tell the labels apart, where a normal label was given.
    pub separation: Option<Separation>,
    /// The series themselves, beside the corpus.
    pub curves: Curves,
    /// Why series have their scores, by their place.
    pub explanations: BTreeMap<usize, Explanation>,
    /// Points that the map shows of each kind at most.
    #[serde(skip)]
    points: usize,
}

/// A corpus larger than this is not left out series by series: its Gram matrix would be made anew for it.
const LEAVE_OUT: usize = 2000;

impl Report {
    /// Scores the data, and works out everything that the page shows.
    pub fn new(detector: &Detector, dataset: &Dataset, options: &Options, run: &Run) -> Result<Self> {
        let level = options.level.unwrap_or(detector.settings().level);
        let decision = options.decision.unwrap_or(detector.settings().decision);
        let placed = detector.score_and_place(&dataset.series, level, decision, run)?;
        Self::of(detector, dataset, placed, options, run)
    }

    /// The report of a detector alone: its normal scores, map and spectrum, and what was chosen.
    pub fn of_detector(detector: &Detector, run: &Run) -> Result<Self> {
        let nothing = Dataset::new("Model", SeriesSet::new(detector.preparation().channels())?);
        Self::of(detector, &nothing, detector.nothing_placed(), &Options::default(), run)
    }

    /// The same for data that are scored already.
    pub fn of(
        detector: &Detector,
        dataset: &Dataset,
        placed: Placed,
        options: &Options,
        run: &Run,
    ) -> Result<Self> {
        let warnings = detector.warnings_about(&placed.findings);
        let scored = Scored::new(detector, dataset, placed.findings);
        let separation =
            options.normal.as_deref().map(|label| Separation::new(&scored, dataset, label)).transpose()?;
        let (normal_scores, normal_scores_from) = normal_scores(detector, run)?;
        let order = most_novel_first(&scored);
        let curves = Curves::new(detector, dataset, &scored, &order, options.curves)?;
        let mut explanations = BTreeMap::new();
        for index in order.iter().take(options.explain) {
            explanations.insert(*index, detector.explain(&dataset.series, *index, options.segments, run)?);
        }
        let spectrum = detector.spectrum();
        let share = |j: usize| match spectrum.eigenvalues().get(j) {
            Some(value) if spectrum.variance() > 0.0 => value / spectrum.variance(),
            _ => 0.0,
        };
        let described = Description::new(detector);
        let mut report = Self {
            title: dataset.name.clone(),
            facts: Vec::new(),
            warnings,
            notes: dataset.notes.clone(),
            normal_scores,
            normal_scores_from,
            eigenvalues: spectrum.eigenvalues().to_vec(),
            diagnostics: described.diagnostics.clone(),
            suspects: detector.suspects(),
            worst_suspect: suspect::worst(detector),
            map: Map {
                corpus: detector.corpus_places(),
                series: placed.places,
                shares: [share(0), share(1)],
            },
            separation,
            curves,
            explanations,
            scored,
            points: options.points,
        };
        report.facts = facts::facts(&report, detector, &described, dataset);
        report.warnings.extend(report.diagnostics.advice.iter().cloned());
        report.note_what_is_left_out(options);
        Ok(report)
    }

    fn note_what_is_left_out(&mut self, options: &Options) {
        let count = self.scored.findings.len();
        if self.curves.series.len() < count {
            self.notes.push(format!(
                "curves are kept for the {} most novel of {count} series; the others open with their numbers alone",
                self.curves.series.len()
            ));
        }
        if self.explanations.len() < count {
            self.notes.push(format!(
                "explained, and shaded, are the {} most novel of {count} series",
                self.explanations.len()
            ));
        }
        self.notes.extend(self.curves.notes.iter().cloned());
        let shown = self.map.corpus.len().max(count);
        if shown > options.points {
            self.notes.push(format!(
                "the map is thinned to {} points of each kind; flagged series come first",
                options.points
            ));
        }
        if self.normal_scores_from == NormalScores::Calibration {
            self.notes.push(format!(
                "a corpus of more than {LEAVE_OUT} series is not left out one by one: the normal scores shown are those \
                 of the calibration"
            ));
        }
    }

    /// The page.
    pub fn to_html(&self) -> String {
        page::report(self)
    }

    /// Writes the page, or, to a file named `.json`, the data.
    pub fn write(&self, path: &Path) -> Result<()> {
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
            let text = serde_json::to_string_pretty(self)
                .map_err(|e| Error::file(path, format!("cannot be written: {e}")))?;
            return write_atomically(path, |out| out.write_all(text.as_bytes()));
        }
        let html = self.to_html();
        write_atomically(path, |out| out.write_all(html.as_bytes()))
    }
}

/// Series by score, highest first; equal ones in their order.
fn most_novel_first(scored: &Scored) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scored.findings.len()).collect();
    let score = |at: usize| scored.findings[at].finding.score;
    order.sort_by(|a, b| score(*b).total_cmp(&score(*a)).then(a.cmp(b)));
    order
}

fn normal_scores(detector: &Detector, run: &Run) -> Result<(Vec<f64>, NormalScores)> {
    let count = detector.corpus().len();
    let calibrated = detector.calibrated().map(|c| c.scores().to_vec());
    let (mut scores, from) = match calibrated {
        _ if detector.is_all_pairs() && (3..=LEAVE_OUT).contains(&count) && fits(detector, count) => {
            (detector.leave_one_out_scores(run)?, NormalScores::LeaveOneOut)
        }
        Some(scores) => (scores, NormalScores::Calibration),
        None => (Vec::new(), NormalScores::None),
    };
    scores.sort_by(f64::total_cmp);
    Ok((scores, from))
}

/// Whether the distance has its neighbours with one series left out.
fn fits(detector: &Detector, count: usize) -> bool {
    detector.can_leave_out(count)
}

fn numbers_or_words<S: serde::Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    let word = |v: &f64| if v.is_finite() { serde_json::json!(v) } else { serde_json::json!("inf") };
    serializer.collect_seq(values.iter().map(word))
}
