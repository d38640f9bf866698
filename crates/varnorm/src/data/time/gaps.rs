//! Times out of order, twice, or far apart: sorted, reported, refused or split; never bridged silently.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::super::text::{count, quote};
use super::{SamplingStep, Times};
use crate::data::{Dataset, Labels, SeriesSet};
use crate::error::{Error, Result};
use crate::words::{Vocabulary, Word, spelled};

/// A difference above so many sampling steps is a gap.
const GAP: f64 = 1.5;

/// What becomes of a gap that is longer than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gaps {
    /// An error says where it is.
    #[default]
    Refuse,
    /// The series becomes two.
    Split,
    /// The steps around it stay neighbours; a note says so.
    Keep,
}

const WORDS: Vocabulary = Vocabulary::names("time_gaps", "what becomes of long gaps", Gaps::WORDS);

spelled!(Gaps, WORDS);

impl Gaps {
    /// Every choice, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("refuse", "A gap in the times that is longer than the limit is an error"),
        Word::new("split", "The series is split there"),
        Word::new("keep", "The steps around it stay neighbours"),
    ];

    /// A gap is long above so many sampling steps.
    pub const LIMIT: u32 = 10;
}

/// A stretch without steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// The series.
    pub series: usize,
    /// The step before it.
    pub after: usize,
    /// Its length, in sampling steps of the series.
    pub steps: f64,
}

/// What is wrong with the times of a data set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimeFaults {
    /// Series whose steps are not in the order of their times.
    pub unsorted: Vec<usize>,
    /// Steps at the time of the step before, by series and step.
    pub duplicates: Vec<(usize, usize)>,
    /// Differences above one and a half sampling steps.
    pub gaps: Vec<Gap>,
    /// Series whose steps are not one regular sampling step apart.
    pub irregular: Vec<usize>,
}

impl Dataset {
    /// The places of the steps of each series among all steps.
    pub(in super::super) fn ranges(&self) -> Vec<Range<usize>> {
        let mut start = 0;
        let range = |length: usize| {
            let range = start..start + length;
            start = range.end;
            range
        };
        self.series.lengths().map(range).collect()
    }

    /// The times of one series.
    pub fn times_of(&self, series: usize) -> Option<Times> {
        let range = self.ranges().get(series)?.clone();
        self.times.as_ref().map(|times| times.pick(range))
    }

    /// How far apart the steps of one series are: the median difference of its times.
    pub fn sampling_step_of(&self, series: usize) -> Option<SamplingStep> {
        SamplingStep::of(self.times.as_ref()?, self.ranges().get(series)?.clone())
    }

    /// The sampling step of each series that has one, with the place of the series.
    pub fn sampling_steps(&self) -> Vec<(usize, SamplingStep)> {
        let Some(times) = &self.times else { return Vec::new() };
        let of = |(at, range)| Some((at, SamplingStep::of(times, range)?));
        self.ranges().into_iter().enumerate().filter_map(of).collect()
    }

    /// The median of the sampling steps of all series; `None` without times.
    pub fn sampling_step(&self) -> Option<SamplingStep> {
        let steps: Vec<SamplingStep> = self.sampling_steps().into_iter().map(|(_, step)| step).collect();
        SamplingStep::middle(&steps)
    }

    /// What is wrong with the times. Gaps and duplicates are looked for in series that are in order.
    pub fn time_faults(&self) -> TimeFaults {
        let mut faults = TimeFaults::default();
        let Some(times) = self.times.as_ref().filter(|times| !times.are_texts()) else { return faults };
        for (series, range) in self.ranges().into_iter().enumerate() {
            if !is_sorted(times, range.clone()) {
                faults.unsorted.push(series);
                continue;
            }
            let Some(sampling) = SamplingStep::of(times, range.clone()) else {
                faults.duplicates.extend((1..range.len()).map(|step| (series, step)));
                continue;
            };
            if !sampling.regular {
                faults.irregular.push(series);
            }
            for step in 1..range.len() {
                let at = range.start + step;
                let steps = times.difference(at - 1, at).unwrap_or(0.0) / sampling.step;
                if steps <= 0.0 {
                    faults.duplicates.push((series, step));
                } else if steps > GAP {
                    faults.gaps.push(Gap { series, after: step - 1, steps });
                }
            }
        }
        faults
    }

    /// Puts the steps of every series in the order of their times; steps at one time keep theirs. Returns how many series
    /// were out of order, and a note tells it.
    pub fn sort_by_time(&mut self) -> usize {
        let Some(times) = self.times.as_ref().filter(|times| !times.are_texts()) else { return 0 };
        let ranges = self.ranges();
        let unsorted = ranges.iter().filter(|range| !is_sorted(times, (*range).clone())).count();
        if unsorted == 0 {
            return 0;
        }
        let mut order: Vec<usize> = (0..times.len()).collect();
        for range in ranges {
            order[range].sort_by(|a, b| times.order(*a, *b));
        }
        let channels = self.series.channels();
        let before = self.series.values();
        let sorted: Vec<f64> =
            order.iter().flat_map(|at| &before[at * channels..(at + 1) * channels]).copied().collect();
        self.times = Some(times.pick(order));
        self.series.values_mut().copy_from_slice(&sorted);
        self.notes.push(format!(
            "the steps of {unsorted} series were not in the order of their times and were sorted"
        ));
        unsorted
    }

    /// Sorts by time, tells of duplicates and gaps in notes, and refuses, splits at or keeps gaps of more than
    /// `limit` sampling steps.
    pub fn settle_times(mut self, gaps: Gaps, limit: u32) -> Result<Self> {
        self.sort_by_time();
        let faults = self.time_faults();
        if let Some((series, step)) = faults.duplicates.first() {
            let at = self.place(*series, *step);
            let many = count(faults.duplicates.len(), "step");
            let verb = if faults.duplicates.len() == 1 { "has" } else { "have" };
            self.notes.push(format!("{many} {verb} the time of the step before; the first is {at}"));
        }
        let long = |gap: &&Gap| gap.steps > f64::from(limit);
        // Small differences are no news where nothing is regular.
        let told = |gap: &&Gap| long(gap) || faults.irregular.binary_search(&gap.series).is_err();
        let first_long = faults.gaps.iter().find(long).copied();
        match (first_long, gaps) {
            (Some(gap), Gaps::Refuse) => return Err(self.gap_error(gap, limit)),
            (Some(_), Gaps::Split) => self = self.split_at(faults.gaps.iter().filter(long))?,
            _ => {}
        }
        let told: Vec<&Gap> =
            faults.gaps.iter().filter(told).filter(|gap| gaps != Gaps::Split || !long(gap)).collect();
        if let Some(longest) = told.iter().copied().max_by(|a, b| a.steps.total_cmp(&b.steps)) {
            self.notes.push(format!(
                "the times have {} of more than {GAP} sampling steps, the longest of {:.0}; the steps around \
                 them were taken as neighbours",
                count(told.len(), "gap"),
                longest.steps
            ));
        }
        if !faults.irregular.is_empty() {
            let many = faults.irregular.len();
            self.notes.push(format!("{many} series are sampled irregularly; steps are taken as they come"));
        }
        Ok(self)
    }

    /// "series 3 (pump), step 17, at 12:00:05".
    fn place(&self, series: usize, step: usize) -> String {
        let name = self.case_names.as_ref().map_or_else(String::new, |names| format!(" ({})", names[series]));
        let at = self.ranges()[series].start + step;
        let time = self.times.as_ref().map_or_else(String::new, |times| quote(&times.written(at)));
        format!("series {series}{name}, step {step}, at {time}")
    }

    fn gap_error(&self, gap: Gap, limit: u32) -> Error {
        let at = self.place(gap.series, gap.after);
        let length = match self.sampling_step_of(gap.series) {
            Some(step) => {
                let whole = SamplingStep { step: gap.steps * step.step, ..step };
                format!("{whole}, {:.0} times the sampling step of {step}", gap.steps)
            }
            None => format!("{:.0} sampling steps", gap.steps),
        };
        let rule = format!(
            "after {at} nothing is recorded for {length}; gaps of more than {limit} steps are not bridged: state \
             `--time-gaps split` to make a series of each side, or `--time-gaps keep` to take the steps as neighbours"
        );
        Error::bad_param("times", &self.name, rule)
    }

    /// Series split after the steps before gaps, which are in order.
    fn split_at<'a>(self, gaps: impl Iterator<Item = &'a Gap>) -> Result<Self> {
        let mut cuts: Vec<Vec<usize>> = vec![Vec::new(); self.series.len()];
        for gap in gaps {
            cuts[gap.series].push(gap.after + 1);
        }
        let parts = cuts.iter().map(Vec::len).sum::<usize>() + cuts.iter().filter(|c| !c.is_empty()).count();
        let (mut lengths, mut names, mut origin) = (Vec::new(), Vec::new(), Vec::new());
        for (series, (range, cuts)) in self.ranges().into_iter().zip(&cuts).enumerate() {
            let base = match (&self.case_names, self.series.len()) {
                (None, 1) => self.name.clone(),
                _ => self.series_name(series),
            };
            let ends = cuts.iter().copied().chain([range.len()]);
            let starts = [0].into_iter().chain(cuts.iter().copied());
            for (part, (start, end)) in starts.zip(ends).enumerate() {
                lengths.push(end - start);
                origin.push(series);
                names.push(if cuts.is_empty() { base.clone() } else { format!("{base}/part{part}") });
            }
        }
        let split = cuts.iter().filter(|cuts| !cuts.is_empty()).count();
        let series =
            SeriesSet::from_lengths(self.series.values().to_vec(), &lengths, self.series.channels())?;
        let of_origin = |labels: Labels| Labels {
            values: origin.iter().map(|&at| labels.values[at].clone()).collect(),
            ..labels
        };
        let mut notes = self.notes;
        notes.push(format!("{split} series had long gaps in their times and became {parts}"));
        let labels = self.labels.map(of_origin);
        Ok(Self { series, labels, case_names: Some(names), notes, ..self })
    }
}

fn is_sorted(times: &Times, range: Range<usize>) -> bool {
    range.clone().zip(range.skip(1)).all(|(a, b)| times.order(a, b).is_le())
}
