//! [`View`] and [`Loss`]: what a writer is about to write, and what it has to leave out.

use crate::data::{Dataset, LabelKind, Labels, SeriesSet};
use crate::error::{Error, Result};

use super::text;

/// A data set as a writer sees it: parts that the format cannot hold are taken away.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub name: &'a str,
    pub series: &'a SeriesSet,
    pub labels: Option<&'a Labels>,
    pub case_names: Option<&'a [String]>,
    pub channel_names: Option<&'a [String]>,
    pub times: Option<&'a [String]>,
}

impl<'a> View<'a> {
    pub fn of(dataset: &'a Dataset) -> Self {
        Self {
            name: &dataset.name,
            series: &dataset.series,
            labels: dataset.labels.as_ref(),
            case_names: dataset.case_names.as_deref(),
            channel_names: dataset.channel_names.as_deref(),
            times: dataset.times.as_deref(),
        }
    }

    pub fn without_case_names(mut self, loss: &mut Loss) -> Result<Self> {
        if self.case_names.take().is_some() {
            loss.of("case names")?;
        }
        Ok(self)
    }

    pub fn without_channel_names(mut self, loss: &mut Loss) -> Result<Self> {
        if self.channel_names.take().is_some() {
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
        if let Some(bad) = first_bad(self.times, fits) {
            loss.of(format!("the timestamp {} ({why})", text::quote(bad)))?;
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
        let names = self.channel_names.unwrap_or_default();
        let twice = names.iter().enumerate().find(|&(i, name)| names[..i].contains(name));
        if let Some(bad) = first_bad(self.channel_names, fits) {
            loss.of(format!("the channel name {} ({why})", text::quote(bad)))?;
            self.channel_names = None;
        } else if let Some((_, name)) = twice {
            loss.of(format!("the channel name {} twice", text::quote(name)))?;
            self.channel_names = None;
        }
        Ok(self)
    }

    /// The timestamps of each series, or nothing where there are none.
    pub fn times_by_series(&self) -> impl Iterator<Item = Option<&'a [String]>> {
        let (mut rest, series) = (self.times, self.series);
        series.lengths().map(move |length| {
            let (now, later) = rest?.split_at(length);
            rest = Some(later);
            Some(now)
        })
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
