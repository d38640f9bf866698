//! [`Dataset`]: series with what a file says about them.

use std::collections::HashSet;

use crate::data::{Channel, SeriesSet, Times, label};
use crate::error::{Error, Result};

/// Whether labels name classes or are numbers to be predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelKind {
    /// `@classLabel`: a name per series.
    Class,
    /// `@targetLabel`: a number per series, kept as written.
    Target,
}

/// One label per series, in its own spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    /// Class names or regression targets.
    pub kind: LabelKind,
    /// One per series, as written in the file.
    pub values: Vec<String>,
    /// Class names that the header declares, in its order; classes that no series has may be among them.
    pub declared: Vec<String>,
}

impl Labels {
    /// Class labels, declared in order of first appearance.
    pub fn classes(values: Vec<String>) -> Self {
        let mut seen = HashSet::new();
        let declared = values.iter().filter(|value| seen.insert(value.as_str())).cloned().collect();
        Self { kind: LabelKind::Class, values, declared }
    }
}

/// A file of series: the numbers, and everything else the file says.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// The problem's name, from the file's header or its file name.
    pub name: String,
    /// The numbers. Missing values are NaN.
    pub series: SeriesSet,
    /// Labels, where the file has them.
    pub labels: Option<Labels>,
    /// A name per series (CSV `case_id`), where the file has them.
    pub case_names: Option<Vec<String>>,
    /// Name and unit of each channel, where the file has names.
    pub channels: Option<Vec<Channel>>,
    /// A time per step, in the order of the steps of all series.
    pub times: Option<Times>,
    /// What the reader noticed and the user should know: headers that lie, and the like.
    pub notes: Vec<String>,
}

impl Dataset {
    /// Bare series with a name.
    pub fn new(name: impl Into<String>, series: SeriesSet) -> Self {
        Self {
            name: name.into(),
            series,
            labels: None,
            case_names: None,
            channels: None,
            times: None,
            notes: Vec::new(),
        }
    }

    /// The series at `indices`, with everything that belongs to them.
    pub fn select(&self, indices: &[usize]) -> Self {
        let pick = |all: &Vec<String>| indices.iter().map(|&i| all[i].clone()).collect::<Vec<_>>();
        let times = |all: &Times| {
            let ranges = self.ranges();
            all.pick(indices.iter().flat_map(|&i| ranges[i].clone()))
        };
        Self {
            name: self.name.clone(),
            series: self.series.select(indices),
            labels: self.labels.as_ref().map(|l| Labels { values: pick(&l.values), ..l.clone() }),
            case_names: self.case_names.as_ref().map(pick),
            channels: self.channels.clone(),
            times: self.times.as_ref().map(times),
            notes: self.notes.clone(),
        }
    }

    /// Indices of the series with this label; an error that lists the labels when there is none.
    pub fn with_label(&self, label: &str) -> Result<Vec<usize>> {
        let Some(labels) = &self.labels else {
            return Err(Error::bad_param("label", label, format!("{} has no labels", self.name)));
        };
        let found: Vec<usize> = (0..self.series.len()).filter(|&i| labels.values[i] == label).collect();
        if found.is_empty() {
            let known = label::listed(&Labels::classes(labels.values.clone()).declared);
            return Err(Error::bad_param(
                "label",
                label,
                format!("no series has it; labels here are: {known}"),
            ));
        }
        Ok(found)
    }

    /// How to name a series to a person: its own name if it has one, else its index.
    pub fn series_name(&self, index: usize) -> String {
        self.case_names.as_ref().map_or_else(|| index.to_string(), |names| names[index].clone())
    }

    /// The names of the channels, where the file has them.
    pub fn channel_names(&self) -> Option<Vec<String>> {
        self.channels.as_deref().map(Channel::names)
    }

    /// How to name a channel to a person: its own name if it has one, else its index.
    pub fn channel_name(&self, index: usize) -> String {
        let named = self.channels.as_ref().and_then(|channels| channels.get(index));
        named.map_or_else(|| index.to_string(), |channel| channel.name.clone())
    }

    /// Appends another file's series. Labels, names and timestamps are kept where both have them.
    pub fn append(&mut self, other: Self) -> Result<()> {
        self.series.extend(&other.series)?;
        self.labels = match (self.labels.take(), other.labels) {
            (Some(mut a), Some(b)) if a.kind == b.kind => {
                a.values.extend(b.values);
                label::add_new(&mut a.declared, b.declared);
                Some(a)
            }
            _ => None,
        };
        self.case_names = join(self.case_names.take(), other.case_names);
        self.times = self.times.take().zip(other.times).map(|(a, b)| a.joined(b));
        self.notes.extend(other.notes);
        Ok(())
    }
}

fn join(a: Option<Vec<String>>, b: Option<Vec<String>>) -> Option<Vec<String>> {
    let (mut a, b) = a.zip(b)?;
    a.extend(b);
    Some(a)
}

/// A data set with its published split.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// What models are fitted on.
    pub train: Dataset,
    /// What they are judged on.
    pub test: Dataset,
}
