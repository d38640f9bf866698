//! [`Origin`]: how series were recorded, as far as it is known. A model keeps that of its corpus, and new data are held
//! against it.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::channel::{Matching, listed};
use super::text::quote;
use super::{Channel, Dataset, SamplingStep, SeriesSet};
use crate::error::{Error, Result};

/// How series were recorded: names and units of their channels, and their sampling step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Names and units of the channels, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<Channel>>,
    /// How far apart steps are, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingStep>,
}

impl Origin {
    /// Sampling steps that differ by more than this share are different ones.
    pub const SHARE: f64 = 0.1;

    /// Of data; an error where series were sampled differently.
    pub fn of(dataset: &Dataset) -> Result<Self> {
        let sampling = dataset.sampling_step();
        if let Some(usual) = &sampling {
            check_steps(dataset, usual, "most series")?;
        }
        Ok(Self { channels: dataset.channels.clone(), sampling })
    }

    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        self.channels.is_none() && self.sampling.is_none()
    }

    /// What is wrong with it, where it is to describe series of so many channels.
    pub fn fault(&self, channels: usize) -> Option<&'static str> {
        if self.channels.as_ref().is_some_and(|names| names.len() != channels) {
            return Some("its channel names are malformed");
        }
        let sound = |s: &SamplingStep| s.step.is_finite() && s.step > 0.0;
        (!self.sampling.as_ref().is_none_or(sound)).then_some("its sampling step is malformed")
    }

    /// New data for a model of this origin. Channels are matched by name, extra ones are left out, and notes tell it; missing
    /// ones and other sampling steps are errors. Data without names are taken by position.
    pub fn admit(&self, mut dataset: Dataset) -> Result<Dataset> {
        if let Some(step) = &self.sampling {
            check_steps(&dataset, step, "those of the model")?;
            if dataset.times.is_none() {
                let note = format!(
                    "the data have no times: that they are {step} apart, as in the model, is taken on trust"
                );
                dataset.notes.push(note);
            }
        }
        let Some(expected) = &self.channels else { return Ok(dataset) };
        let Some(found) = &dataset.channels else {
            if dataset.series.channels() == expected.len() {
                dataset.notes.push(self.by_position(expected));
                dataset.channels = Some(expected.clone());
            }
            return Ok(dataset);
        };
        let matching = match_names(found, expected)?;
        dataset.notes.extend(matching.notes(MODEL));
        matching.apply(dataset)
    }

    /// The same for series that are not in a [`Dataset`]: the series, and what to tell.
    pub fn admit_series(&self, series: &SeriesSet, found: &Self) -> Result<(SeriesSet, Vec<String>)> {
        if let (Some(expected), Some(step)) = (&self.sampling, &found.sampling)
            && differs(step, expected)
        {
            return Err(other_step("the series", step, expected, "those of the model"));
        }
        match (&self.channels, &found.channels) {
            (Some(expected), Some(names)) => {
                let matching = match_names(names, expected)?;
                let notes = matching.notes(MODEL);
                let same = notes.is_empty();
                Ok((if same { series.clone() } else { series.take_channels(&matching.places)? }, notes))
            }
            (Some(expected), None) if series.channels() == expected.len() => {
                Ok((series.clone(), vec![self.by_position(expected)]))
            }
            _ => Ok((series.clone(), Vec::new())),
        }
    }

    fn by_position(&self, expected: &[Channel]) -> String {
        let names = listed(expected.iter().map(|channel| channel.name.as_str()));
        format!("the data do not name their channels; they are taken by position: {names}")
    }
}

const MODEL: &str = "the model";

fn match_names(found: &[Channel], expected: &[Channel]) -> Result<Matching> {
    let all = || listed(found.iter().map(|channel| channel.name.as_str()));
    Matching::new(found, expected, MODEL).map_err(|problem| Error::bad_param("channels", all(), problem))
}

/// Irregular series have no step that could be compared.
fn differs(found: &SamplingStep, expected: &SamplingStep) -> bool {
    found.regular && expected.regular && !found.agrees(expected, Origin::SHARE)
}

fn check_steps(dataset: &Dataset, expected: &SamplingStep, whose: &str) -> Result<()> {
    let steps = dataset.sampling_steps();
    match steps.iter().find(|(_, step)| differs(step, expected)) {
        Some((series, step)) => {
            let name = match &dataset.case_names {
                Some(names) => quote(&names[*series]),
                None => format!("series {series}"),
            };
            Err(other_step(&name, step, expected, whose))
        }
        None => Ok(()),
    }
}

fn other_step(what: &str, found: &SamplingStep, expected: &SamplingStep, whose: &str) -> Error {
    let rule = format!(
        "the steps of {what} are {found} apart where {whose} are {expected} apart; bring all to one step, as with \
         `--resample {}`, or fit a model of series that are sampled alike",
        expected.to_string().replace(' ', "")
    );
    Error::bad_param("times", found, rule)
}

impl Dataset {
    /// The series on a grid of times one step apart, by linear interpolation between neighbours; each begins at its first
    /// time and ends at or before its last.
    ///
    /// Gaps are settled before ([`Dataset::settle_times`]).
    pub fn resampled(self, step: &SamplingStep) -> Result<Self> {
        const MOST: f64 = 1e9;
        let rule = |rule: &str| Error::bad_param("resample", step, rule);
        let Some(times) = self.times.as_ref().filter(|times| !times.are_texts()) else {
            return Err(rule("the data have no times, so they cannot be brought to a sampling step"));
        };
        let own_unit = times.as_numbers().map_or(Some(super::TimeUnit::Second), |_| times.unit());
        let width = match (step.unit, own_unit) {
            (None, None) => step.step,
            (Some(unit), Some(own)) => step.step * unit.seconds() / own.seconds(),
            (Some(_), None) => return Err(rule("the unit of the times is not known; give a bare number")),
            (None, Some(_)) => return Err(rule("give the step with its unit, as in 10ms")),
        };
        let channels = self.series.channels();
        let (mut values, mut lengths, mut origins) = (Vec::new(), Vec::new(), Vec::new());
        for (series, range) in self.ranges().into_iter().enumerate() {
            let at = elapsed(times, range.clone());
            let count = (at[at.len() - 1] / width * (1.0 + 1e-9)).floor() + 1.0;
            if count * channels as f64 > MOST {
                return Err(rule("the series would have too many steps"));
            }
            let one = self.series.series(series);
            let mut before = 0;
            for grid in 0..count as usize {
                let now = grid as f64 * width;
                while before + 2 < at.len() && at[before + 1] <= now {
                    before += 1;
                }
                let after = (before + 1).min(at.len() - 1);
                let span = at[after] - at[before];
                let share = if span > 0.0 { ((now - at[before]) / span).clamp(0.0, 1.0) } else { 0.0 };
                let pairs = one.step(before).iter().zip(one.step(after));
                values.extend(pairs.map(|(a, b)| if share == 0.0 { *a } else { a + share * (b - a) }));
                origins.push((range.start, now));
            }
            lengths.push(count as usize);
        }
        let series = SeriesSet::from_lengths(values, &lengths, channels)?;
        let times = Some(times.shifted(&origins));
        let mut notes = self.notes;
        notes.push(format!("the series were brought to steps of {step} by linear interpolation"));
        Ok(Self { series, times, notes, ..self })
    }

    /// What an error about a series, step or channel says by number, by name: `series 3 is named pump, channel 1 flow`.
    pub fn names_in(&self, error: &Error) -> Option<String> {
        let (series, channel) = match error {
            Error::Missing { series, channel, .. } | Error::NonFinite { series, channel, .. } => {
                (Some(*series), Some(*channel))
            }
            Error::UnequalLengths { series, .. } | Error::OutsideDomain { series, .. } => {
                (Some(*series), None)
            }
            Error::Within { error, .. } => return self.names_in(error),
            _ => (None, None),
        };
        let series = series.and_then(|at| Some((at, self.case_names.as_ref()?.get(at)?)));
        let channel = channel.and_then(|at| Some((at, &self.channels.as_ref()?.get(at)?.name)));
        let words: Vec<String> = [
            series.map(|(at, name)| format!("series {at} is named {name}")),
            channel.map(|(at, name)| format!("channel {at} is named {name}")),
        ]
        .into_iter()
        .flatten()
        .collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// Times since the first of a series, in their unit, or in seconds for stamps.
fn elapsed(times: &super::Times, range: Range<usize>) -> Vec<f64> {
    range.clone().map(|at| times.difference(range.start, at).unwrap_or(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Times;

    fn data(names: Option<&[&str]>, times: &[&str], channels: usize) -> Dataset {
        let values = (0..times.len() * channels).map(|i| i as f64).collect();
        let series = SeriesSet::from_equal(values, times.len(), channels).unwrap();
        Dataset {
            channels: names.map(|names| Channel::named(names.iter().copied())),
            times: Some(Times::from_written(times.iter().map(|t| t.to_string()).collect())),
            ..Dataset::new("x", series)
        }
    }

    const TENTHS: [&str; 4] = ["12:00:00.0", "12:00:00.1", "12:00:00.2", "12:00:00.3"];

    #[test]
    fn new_data_are_matched_to_their_model() {
        let model = Origin::of(&data(Some(&["p", "q"]), &TENTHS, 2)).unwrap();
        let admitted = model.admit(data(Some(&["q", "x", "p"]), &TENTHS, 3)).unwrap();
        assert_eq!(admitted.series.series(0).step(0), [2.0, 0.0]);
        assert_eq!(
            (admitted.channel_names().unwrap(), admitted.notes.len()),
            (vec!["p".into(), "q".into()], 2)
        );
        let bare = model.admit(data(None, &TENTHS, 2)).unwrap();
        assert_eq!(bare.notes, ["the data do not name their channels; they are taken by position: p, q"]);
        assert_eq!(bare.channel_names().unwrap(), ["p", "q"]);
        let missing = model.admit(data(Some(&["p", "r"]), &TENTHS, 2)).unwrap_err().to_string();
        assert!(missing.contains("a channel of the model is missing: q; the data have p, r"), "{missing}");
        let own = Origin::of(&data(Some(&["q", "p"]), &TENTHS, 2)).unwrap();
        let (series, notes) = model.admit_series(&data(None, &TENTHS, 2).series, &own).unwrap();
        assert_eq!((series.series(0).step(0), notes.len()), (&[1.0, 0.0][..], 1));
    }

    #[test]
    fn another_sampling_step_is_refused_with_what_to_do() {
        let model = Origin::of(&data(None, &TENTHS, 1)).unwrap();
        let slow = data(None, &["12:00:00", "12:00:01", "12:00:02"], 1);
        assert_eq!(
            model.admit(slow.clone()).unwrap_err().to_string(),
            "times = 1 s: the steps of series 0 are 1 s apart where those of the model are 100 ms apart; bring all to \
             one step, as with `--resample 100ms`, or fit a model of series that are sampled alike"
        );
        let brought = slow.resampled(&SamplingStep::from_words("100ms").unwrap()).unwrap();
        assert_eq!(brought.series.series(0).steps(), 21);
        assert!((brought.series.values()[15] - 1.5).abs() < 1e-12);
        assert_eq!(brought.series.values()[20], 2.0);
        assert_eq!(brought.times_of(0).unwrap().as_stamps().unwrap()[20] % 60_000_000_000, 2_000_000_000);
        assert!(model.admit(brought).is_ok());
        let mut mixed = data(None, &TENTHS, 1);
        mixed.append(data(None, &TENTHS, 1)).unwrap();
        mixed.append(data(None, &["12:00:00", "12:00:01", "12:00:02"], 1)).unwrap();
        assert!(Origin::of(&mixed).unwrap_err().to_string().contains("where most series are 100 ms apart"));
    }

    #[test]
    fn a_step_needs_the_unit_of_the_times() {
        let numbers = data(None, &["0", "2", "4"], 1);
        let step = |words| SamplingStep::from_words(words).unwrap();
        assert_eq!(numbers.clone().resampled(&step("1")).unwrap().series.values(), [0.0, 0.5, 1.0, 1.5, 2.0]);
        assert_eq!(numbers.clone().resampled(&step("1.5")).unwrap().series.values(), [0.0, 0.75, 1.5]);
        assert!(
            numbers.clone().resampled(&step("1s")).unwrap_err().to_string().contains("give a bare number")
        );
        let texts = Dataset { times: None, ..numbers };
        assert!(texts.resampled(&step("1s")).unwrap_err().to_string().contains("no times"));
    }
}
