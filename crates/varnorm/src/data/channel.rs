//! [`Channel`]: what is known about a channel besides its numbers.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{Dataset, text};
use crate::error::Result;

/// The name of a channel, and its unit where one is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// As the file or the caller has it: `pressure`.
    pub name: String,
    /// The unit of its values: `bar`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

impl Channel {
    /// A channel without a unit.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), unit: None }
    }

    /// The same with a unit; an empty one is none.
    pub fn with_unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = Some(unit.into()).filter(|unit| !unit.is_empty());
        self
    }

    /// Channels without units, one for each name.
    pub fn named<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Vec<Self> {
        names.into_iter().map(Self::new).collect()
    }

    /// The names alone.
    pub fn names(channels: &[Self]) -> Vec<String> {
        channels.iter().map(|channel| channel.name.clone()).collect()
    }
}

/// The name, and the unit in brackets where there is one: `pressure [bar]`.
impl std::fmt::Display for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.unit {
            Some(unit) => write!(f, "{} [{unit}]", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// Names that a sentence lists; a file can have thousands.
const LISTED: usize = 12;

/// Some names for a sentence: `pressure, flow and 3 more`.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let shown = names.iter().take(LISTED).map(|name| text::cut(name)).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(LISTED) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

/// Where the channels of a model, or of the files before, are among those of some data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Matching {
    /// The place of each expected channel among those found.
    pub places: Vec<usize>,
    /// Names that nobody expects.
    pub extra: Vec<String>,
    /// Whether the expected ones stand in another order.
    pub reordered: bool,
}

impl Matching {
    /// By name; what cannot be matched is a sentence. `whose` is "the model" or "the files before".
    pub fn new(found: &[Channel], expected: &[Channel], whose: &str) -> Result<Self, String> {
        let all = |channels: &[Channel]| listed(channels.iter().map(|channel| channel.name.as_str()));
        if let Some(twin) = twice(found).or_else(|| twice(expected)) {
            if Channel::names(found) == Channel::names(expected) {
                let places = (0..found.len()).collect();
                return Ok(Self { places, extra: Vec::new(), reordered: false });
            }
            let name = text::quote(twin);
            return Err(format!("two channels are named {name}; give every channel its own name"));
        }
        let known: HashMap<&str, usize> =
            found.iter().enumerate().map(|(at, channel)| (channel.name.as_str(), at)).collect();
        let missing = || expected.iter().filter(|channel| !known.contains_key(channel.name.as_str()));
        if missing().next().is_some() {
            let count = missing().count();
            let what = if count == 1 { "a channel" } else { "channels" };
            return Err(format!(
                "{what} of {whose} {}: {}; the data have {}; rename or add {}",
                if count == 1 { "is missing" } else { "are missing" },
                listed(missing().map(|channel| channel.name.as_str())),
                all(found),
                if count == 1 { "it" } else { "them" },
            ));
        }
        let places: Vec<usize> = expected.iter().map(|channel| known[channel.name.as_str()]).collect();
        for (at, wanted) in places.iter().zip(expected) {
            if let (Some(unit), Some(other)) = (&found[*at].unit, &wanted.unit)
                && !same_unit(unit, other)
            {
                return Err(format!(
                    "{} is in {} where {whose} {} it in {}; convert the values, or correct the unit",
                    text::quote(&wanted.name),
                    text::cut(unit),
                    if whose.ends_with('s') || whose.ends_with("before") { "have" } else { "has" },
                    text::cut(other)
                ));
            }
        }
        let wanted: HashSet<&str> = expected.iter().map(|channel| channel.name.as_str()).collect();
        let extra =
            Channel::names(found).into_iter().filter(|name| !wanted.contains(name.as_str())).collect();
        let reordered = !places.is_sorted();
        Ok(Self { places, extra, reordered })
    }

    /// What to tell about it. `whose` is as in [`Matching::new`].
    pub fn notes(&self, whose: &str) -> Vec<String> {
        let mut notes = Vec::new();
        if self.reordered {
            notes.push(format!(
                "the channels are in another order than in {whose}; they were matched by name"
            ));
        }
        if !self.extra.is_empty() {
            let names = listed(self.extra.iter().map(String::as_str));
            notes.push(format!("channels that {whose} lacks were ignored: {names}"));
        }
        notes
    }

    /// The data with the expected channels in the expected order.
    pub fn apply(&self, dataset: Dataset) -> Result<Dataset> {
        if !self.reordered && self.extra.is_empty() {
            return Ok(dataset);
        }
        let series = dataset.series.take_channels(&self.places)?;
        let channels = dataset.channels.map(|all| self.places.iter().map(|at| all[*at].clone()).collect());
        Ok(Dataset { series, channels, ..dataset })
    }
}

/// A name that two channels have.
fn twice(channels: &[Channel]) -> Option<&str> {
    let mut seen = HashSet::new();
    channels.iter().map(|channel| channel.name.as_str()).find(|name| !seen.insert(*name))
}

/// Whether two units are the same but for spaces and degree signs.
fn same_unit(a: &str, b: &str) -> bool {
    let letters = |unit: &str| unit.chars().filter(|c| !c.is_whitespace() && *c != '°').collect::<String>();
    letters(a) == letters(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SeriesSet;

    fn matched(found: &[&str], expected: &[&str]) -> Result<Matching, String> {
        let channels = |names: &[&str]| Channel::named(names.iter().copied());
        Matching::new(&channels(found), &channels(expected), "the model")
    }

    #[test]
    fn channels_are_matched_by_name() {
        let found = matched(&["flow", "junk", "pressure"], &["pressure", "flow"]).unwrap();
        assert_eq!(found.places, [2, 0]);
        assert_eq!(
            found.notes("the model"),
            [
                "the channels are in another order than in the model; they were matched by name",
                "channels that the model lacks were ignored: junk"
            ]
        );
        let series = SeriesSet::from_lengths(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1, 1], 3).unwrap();
        let names = Some(Channel::named(["flow", "junk", "pressure"]));
        let data = found.apply(Dataset { channels: names, ..Dataset::new("x", series) }).unwrap();
        assert_eq!(data.series.values(), [3.0, 1.0, 6.0, 4.0]);
        assert_eq!(data.series.lengths().collect::<Vec<_>>(), [1, 1]);
        assert_eq!(data.channel_names().unwrap(), ["pressure", "flow"]);
    }

    #[test]
    fn missing_names_twins_and_other_units_are_refused() {
        assert_eq!(
            matched(&["flow", "x"], &["pressure", "flow", "heat"]).unwrap_err(),
            "channels of the model are missing: pressure, heat; the data have flow, x; rename or add them"
        );
        assert!(matched(&["a", "a"], &["a", "a"]).is_ok());
        assert!(matched(&["a", "a", "b"], &["a", "b"]).unwrap_err().contains("two channels are named `a`"));
        let unit = |unit: &str| vec![Channel::new("p").with_unit(unit)];
        assert!(Matching::new(&unit("°C"), &unit("C"), "the model").is_ok());
        assert!(Matching::new(&unit(""), &unit("C"), "the model").is_ok());
        assert_eq!(
            Matching::new(&unit("psi"), &unit("bar"), "the model").unwrap_err(),
            "`p` is in psi where the model has it in bar; convert the values, or correct the unit"
        );
    }
}
