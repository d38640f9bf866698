//! What a data file holds.

use serde::Serialize;
use varnorm::data::LabelKind;
use varnorm::describe::{Lengths, count, significant};
use varnorm::{Dataset, SeriesSet};

/// A data set, described.
#[derive(Serialize)]
pub struct Report<'a> {
    kind: &'static str,
    name: &'a str,
    /// How the files were read, in one sentence.
    read: String,
    series: usize,
    channels: Vec<Channel>,
    lengths: Lengths,
    labels: Option<Vec<LabelCount<'a>>>,
    label_kind: Option<&'static str>,
    missing: Odd,
    infinite: Odd,
    named: bool,
    timestamps: bool,
    notes: &'a [String],
}

/// The range of one channel; absent where no value is finite.
#[derive(Serialize)]
struct Channel {
    name: Option<String>,
    min: Option<f64>,
    max: Option<f64>,
}

#[derive(Serialize)]
struct LabelCount<'a> {
    label: &'a str,
    series: usize,
}

/// Values that stand out, and where the first one is.
#[derive(Serialize, Default)]
struct Odd {
    count: usize,
    first: Option<Place>,
}

#[derive(Serialize)]
struct Place {
    series: usize,
    step: usize,
    channel: usize,
}

impl<'a> Report<'a> {
    /// Looks at everything.
    pub fn new(dataset: &'a Dataset, files: usize) -> Self {
        let label_kind = dataset.labels.as_ref().map(|labels| match labels.kind {
            LabelKind::Class => "class",
            LabelKind::Target => "target",
        });
        Self {
            kind: "data",
            name: &dataset.name,
            read: how_read(dataset, files),
            series: dataset.series.len(),
            channels: channels(dataset),
            lengths: Lengths::of(&dataset.series),
            labels: label_counts(dataset),
            label_kind,
            missing: odd(&dataset.series, f64::is_nan),
            infinite: odd(&dataset.series, f64::is_infinite),
            named: dataset.case_names.is_some(),
            timestamps: dataset.times.is_some(),
            notes: &dataset.notes,
        }
    }

    /// For people.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let present = |there: bool| if there { "yes" } else { "no" }.to_string();
        let mut facts = vec![
            ("kind", format!("data, {}", self.name)),
            ("read", self.read.clone()),
            ("series", format!("{}, {}", self.series, self.lengths)),
            ("names", present(self.named)),
            ("timestamps", present(self.timestamps)),
            ("labels", self.labels_in_words()),
            ("missing", self.missing.in_words()),
        ];
        if self.infinite.count > 0 {
            facts.push(("infinite", self.infinite.in_words()));
        }
        facts.push(("channels", self.channels.len().to_string()));
        facts.extend(self.channels.iter().enumerate().map(|(at, channel)| ("", channel.in_words(at))));
        facts
    }

    fn labels_in_words(&self) -> String {
        match (&self.labels, self.label_kind) {
            (None, _) | (_, None) => "none".into(),
            (Some(labels), Some("target")) => {
                format!("{} to predict", count(labels.len(), "different number"))
            }
            (Some(labels), Some(_)) => {
                let shown = labels.iter().map(|l| format!("{} ({})", l.label, l.series));
                shown.collect::<Vec<_>>().join(", ")
            }
        }
    }
}

impl Channel {
    fn in_words(&self, at: usize) -> String {
        let name = self.name.clone().unwrap_or_else(|| format!("channel {at}"));
        match (self.min, self.max) {
            (Some(min), Some(max)) => format!("{name}: {} to {}", significant(min, 4), significant(max, 4)),
            _ => format!("{name}: no values"),
        }
    }
}

impl Odd {
    fn in_words(&self) -> String {
        match &self.first {
            None => "none".into(),
            Some(Place { series, step, channel }) => format!(
                "{}, the first in series {series}, step {step}, channel {channel}",
                count(self.count, "value")
            ),
        }
    }
}

/// "22 files, each one recording of 120 steps x 3 channels (pressure, flow, vibration), 10 ms apart".
fn how_read(dataset: &Dataset, files: usize) -> String {
    let (series, channels) = (dataset.series.len(), dataset.series.channels());
    let Lengths { min, max, .. } = Lengths::of(&dataset.series);
    let steps = if min == max { count(max, "step") } else { format!("{min} to {max} steps") };
    let names = match dataset.channel_names() {
        Some(names) if names.len() > 8 => format!(" ({}, ...)", names[..8].join(", ")),
        Some(names) => format!(" ({})", names.join(", ")),
        None => String::new(),
    };
    let apart = dataset.sampling_step().map(|step| format!(", {step} apart")).unwrap_or_default();
    let of = format!("of {steps} x {}{names}{apart}", count(channels, "channel"));
    match (files, series) {
        (1, 1) => format!("1 file, one recording {of}"),
        (files, series) if files == series => format!("{files} files, each one recording {of}"),
        (files, series) => format!("{}, {series} series {of}", count(files, "file")),
    }
}

fn channels(dataset: &Dataset) -> Vec<Channel> {
    let count = dataset.series.channels();
    let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); count];
    for row in dataset.series.values().chunks_exact(count) {
        for ((low, high), value) in ranges.iter_mut().zip(row).filter(|(_, value)| value.is_finite()) {
            (*low, *high) = (low.min(*value), high.max(*value));
        }
    }
    let name = |c: usize| dataset.channels.as_ref().and_then(|all| Some(all.get(c)?.name.clone()));
    let channel = |(c, (low, high)): (usize, (f64, f64))| Channel {
        name: name(c),
        min: (low <= high).then_some(low),
        max: (low <= high).then_some(high),
    };
    ranges.into_iter().enumerate().map(channel).collect()
}

/// Declared classes in their order, then others; with how many series have each.
fn label_counts(dataset: &Dataset) -> Option<Vec<LabelCount<'_>>> {
    let labels = dataset.labels.as_ref()?;
    let mut counts: Vec<LabelCount<'_>> =
        labels.declared.iter().map(|label| LabelCount { label, series: 0 }).collect();
    let mut places: std::collections::HashMap<&str, usize> =
        labels.declared.iter().enumerate().map(|(i, label)| (label.as_str(), i)).collect();
    for label in &labels.values {
        let place = *places.entry(label).or_insert(counts.len());
        match counts.get_mut(place) {
            Some(found) => found.series += 1,
            None => counts.push(LabelCount { label, series: 1 }),
        }
    }
    Some(counts)
}

fn odd(series: &SeriesSet, is_odd: fn(f64) -> bool) -> Odd {
    let mut found = Odd::default();
    for (index, one) in series.iter().enumerate() {
        for (at, _) in one.values().iter().enumerate().filter(|(_, value)| is_odd(**value)) {
            let (step, channel) = (at / one.channels(), at % one.channels());
            found.first.get_or_insert(Place { series: index, step, channel });
            found.count += 1;
        }
    }
    found
}
