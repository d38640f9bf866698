//! [`View`] and [`Loss`]: what a writer is about to write, and what it has to leave out.

use crate::data::{Channel, Dataset, LabelKind, Labels, SeriesSet, Times};
use crate::error::{Error, Result};

use super::text;

/// A data set as a writer sees it: parts that the format cannot hold are taken away.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub name: &'a str,
    pub series: &'a SeriesSet,
    pub labels: Option<&'a Labels>,
    pub case_names: Option<&'a [String]>,
    pub channels: Option<&'a [Channel]>,
    pub times: Option<&'a Times>,
}

impl<'a> View<'a> {
    pub fn of(dataset: &'a Dataset) -> Self {
        Self {
            name: &dataset.name,
            series: &dataset.series,
            labels: dataset.labels.as_ref(),
            case_names: dataset.case_names.as_deref(),
            channels: dataset.channels.as_deref(),
            times: dataset.times.as_ref(),
        }
    }

    pub fn without_case_names(mut self, loss: &mut Loss) -> Result<Self> {
        if self.case_names.take().is_some() {
            loss.of("case names")?;
        }
        Ok(self)
    }

    pub fn without_channel_names(mut self, loss: &mut Loss) -> Result<Self> {
        if self.channels.take().is_some() {
            loss.of("channel names")?;
        }
        Ok(self)
    }

    pub fn without_times(mut self, loss: &mut Loss) -> Result<Self> {
        if self.times.take().is_some() {
            loss.of("timestamps")?;
        }
        Ok(self)
    }

    pub fn without_labels(mut self, loss: &mut Loss) -> Result<Self> {
        if self.labels.take().is_some() {
            loss.of("labels")?;
        }
        Ok(self)
    }

    /// Keeps labels only if each follows the format's rule; `why` ends the sentence "the label `a b` ...".
    pub fn labels_if(mut self, loss: &mut Loss, fits: impl Fn(&str) -> bool, why: &str) -> Result<Self> {
        if let Some(bad) = first_bad(self.labels.map(|l| &l.values[..]), fits) {
            loss.of(format!("the label {} ({why})", text::quote(bad)))?;
            self.labels = None;
        }
        Ok(self)
    }

    /// Regression targets have to be numbers where the format says so.
    pub fn targets_if_numbers(self, loss: &mut Loss) -> Result<Self> {
        match self.labels {
            Some(labels) if labels.kind == LabelKind::Target => {
                let fits = |t: &str| text::value(t).is_some() && !t.is_empty() && t.trim() == t;
                self.labels_if(loss, fits, "a target is a number")
            }
            _ => Ok(self),
        }
    }

    /// Keeps case names only if each follows the format's rule.
    pub fn case_names_if(mut self, loss: &mut Loss, fits: impl Fn(&str) -> bool, why: &str) -> Result<Self> {
        if let Some(bad) = first_bad(self.case_names, fits) {
            loss.of(format!("the case name {} ({why})", text::quote(bad)))?;
            self.case_names = None;
        }
        Ok(self)
    }

    /// Keeps timestamps only if each follows the format's rule.
    pub fn times_if(mut self, loss: &mut Loss, fits: impl Fn(&str) -> bool, why: &str) -> Result<Self> {
        let written =
            |times: &Times| (0..times.len()).map(|at| times.written(at).into_owned()).find(|t| !fits(t));
        if let Some(bad) = self.times.and_then(written) {
            loss.of(format!("the timestamp {} ({why})", text::quote(&bad)))?;
            self.times = None;
        }
        Ok(self)
    }

    /// Keeps channel names only if each follows the format's rule and no two are equal.
    pub fn channel_names_if(
        mut self,
        loss: &mut Loss,
        fits: impl Fn(&str) -> bool,
        why: &str,
    ) -> Result<Self> {
        let names: Vec<String> = self.channels.map(Channel::names).unwrap_or_default();
        let twice = names.iter().enumerate().find(|&(i, name)| names[..i].contains(name));
        if let Some(bad) = first_bad(Some(&names), fits) {
            loss.of(format!("the channel name {} ({why})", text::quote(bad)))?;
            self.channels = None;
        } else if let Some((_, name)) = twice {
            loss.of(format!("the channel name {} twice", text::quote(name)))?;
            self.channels = None;
        }
        Ok(self)
    }

    /// The timestamps of each series, or nothing where there are none.
    pub fn times_by_series(&self) -> impl Iterator<Item = Option<Vec<String>>> {
        let (mut start, times) = (0, self.times);
        self.series.lengths().map(move |length| {
            let range = start..start + length;
            start = range.end;
            range.map(|at| times.map(|all| all.written(at).into_owned())).collect::<Option<Vec<_>>>()
        })
    }

    /// Units of channels and times are left out.
    pub fn without_units(self, loss: &mut Loss) -> Result<Self> {
        if self.channels.is_some_and(|channels| channels.iter().any(|channel| channel.unit.is_some())) {
            loss.of("units of channels")?;
        }
        if self.times.is_some_and(|times| times.unit().is_some()) {
            loss.of("the unit of the times")?;
        }
        Ok(self)
    }
}

fn first_bad(texts: Option<&[String]>, fits: impl Fn(&str) -> bool) -> Option<&str> {
    texts?.iter().map(String::as_str).find(|text| !fits(text))
}

/// What is lost on the way to a file: an error, unless the user said that it may be.
pub(super) struct Loss {
    pub format: &'static str,
    pub lossy: bool,
    pub dropped: Vec<String>,
}

impl Loss {
    /// Notes that this is left out, or refuses.
    pub fn of(&mut self, what: impl Into<String>) -> Result<()> {
        if !self.lossy {
            return Err(self.refuse(what));
        }
        self.dropped.push(what.into());
        Ok(())
    }

    /// The error for what cannot be left out either.
    pub fn refuse(&self, what: impl Into<String>) -> Error {
        Error::CannotHold { format: self.format, what: what.into() }
    }
}

/// One line, nothing at its ends to trim away.
pub(super) fn is_trimmed(text: &str) -> bool {
    text.trim() == text
}
