//! One data line of a `.ts` file.

use std::cmp::Ordering;

use crate::data::LabelKind;

use super::super::text;

/// One series as its line has it.
pub(super) struct Line {
    pub channels: usize,
    /// Step by step.
    pub values: Vec<f64>,
    pub times: Option<Vec<String>>,
    pub label: Option<String>,
}

impl Line {
    /// Reads a line; the error is the sentence about what is wrong with it.
    pub fn read(line: &str, labels: Option<LabelKind>, said_stamped: bool) -> Result<Self, String> {
        if line.starts_with('@') {
            return Err(format!("{} stands below `@data`; move it above", text::quote(line)));
        }
        // The first channel may be `?`; without the header's word a bracket further on could be in a label.
        let stamped = line.starts_with('(') || (said_stamped && line.contains('('));
        let line = line.strip_suffix(':').unwrap_or(line);
        let mut parts = if stamped { split_outside_brackets(line) } else { line.split(':').collect() };
        let label = take_label(&mut parts, labels)?;
        let (values, times) = if stamped {
            let (values, times) = join(parts.iter().enumerate().map(|(c, p)| stamped_channel(c, p)))?;
            (values, Some(times))
        } else {
            (plain(&parts, labels)?, None)
        };
        Ok(Self { channels: parts.len(), values, times, label })
    }
}

fn take_label(parts: &mut Vec<&str>, labels: Option<LabelKind>) -> Result<Option<String>, String> {
    let Some(kind) = labels else { return Ok(None) };
    let label = parts.pop().unwrap_or("").trim();
    if parts.is_empty() {
        return Err("the line has no label, or no values before it; write `value,value,...:label`".into());
    }
    if label.is_empty() {
        return Err("the label is empty; write it after the last `:`".into());
    }
    if kind == LabelKind::Target && text::value(label).is_none() {
        return Err(format!(
            "the target {} is not a number; write a number, or state `@classLabel` instead of `@targetLabel`",
            text::quote(label)
        ));
    }
    Ok(Some(label.into()))
}

fn plain(parts: &[&str], labels: Option<LabelKind>) -> Result<Vec<f64>, String> {
    let mut channels = Vec::with_capacity(parts.len());
    for (c, part) in parts.iter().enumerate() {
        let mut channel = Vec::new();
        for (step, cell) in part.split(',').enumerate() {
            channel.push(text::value(cell).ok_or_else(|| {
                let last = labels.is_none() && c + 1 == parts.len() && step == 0;
                not_a_number(c, step, cell, last)
            })?);
        }
        channels.push(channel);
    }
    let steps = channels[0].len();
    if let Some(c) = channels.iter().position(|channel| channel.len() != steps) {
        return Err(format!(
            "channel 0 has {} and channel {c} has {}; give the channels of one series equal lengths, with \
             `?` \
             for missing values",
            text::count(steps, "value"),
            channels[c].len()
        ));
    }
    Ok(text::by_steps(&channels))
}

fn not_a_number(channel: usize, step: usize, cell: &str, may_be_label: bool) -> String {
    let advice = if may_be_label {
        "if it is a label, state `@classLabel true` and the class names in the header"
    } else {
        "write a number, or `?` for a missing value"
    };
    format!("channel {channel}, step {step}: {} is not a number; {advice}", text::quote(cell.trim()))
}

/// Splits at the `:` between channels, not at those of a clock time within brackets.
fn split_outside_brackets(line: &str) -> Vec<&str> {
    let (mut parts, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'(' => inside = true,
            b')' => inside = false,
            b':' if !inside => {
                parts.push(&line[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&line[start..]);
    parts
}

type Stamped<'a> = Vec<(&'a str, f64)>;

/// `(time,value),(time,value)`; an empty channel or `?` has no value at any time.
fn stamped_channel(channel: usize, part: &str) -> Result<Stamped<'_>, String> {
    let mut pairs = Vec::new();
    let mut rest = part.trim();
    if rest == "?" {
        return Ok(pairs);
    }
    while !rest.is_empty() {
        let step = pairs.len();
        let shape = |what: &str| {
            format!("channel {channel}, step {step}: {} {what}; write `(time,value)`", text::quote(rest))
        };
        let inner = rest.strip_prefix('(').ok_or_else(|| shape("does not start with `(`"))?;
        let (pair, after) = inner.split_once(')').ok_or_else(|| shape("has no closing `)`"))?;
        let (time, value) = pair.rsplit_once(',').ok_or_else(|| shape("has no comma"))?;
        if time.contains(',') || time.trim().is_empty() {
            return Err(shape("does not hold one time and one value"));
        }
        let number = text::value(value).ok_or_else(|| not_a_number(channel, step, value, false))?;
        pairs.push((time.trim(), number));
        rest = after.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Ok(pairs)
}

/// All channels over one time axis, step by step, and that axis.
fn join<'a>(
    channels: impl Iterator<Item = Result<Stamped<'a>, String>>,
) -> Result<(Vec<f64>, Vec<String>), String> {
    let channels = channels.collect::<Result<Vec<_>, _>>()?;
    let axis: Vec<&str> = channels[0].iter().map(|p| p.0).collect();
    let same = channels.iter().all(|c| c.iter().map(|p| p.0).eq(axis.iter().copied()));
    let (axis, columns) = if same {
        (axis, channels.iter().map(|c| c.iter().map(|p| p.1).collect()).collect())
    } else {
        outer_join(channels)?
    };
    if axis.is_empty() {
        return Err("the series has no values; give at least one `(time,value)`".into());
    }
    Ok((text::by_steps(&columns), axis.into_iter().map(String::from).collect()))
}

fn outer_join(channels: Vec<Stamped<'_>>) -> Result<(Vec<&str>, Vec<Vec<f64>>), String> {
    let numeric = channels.iter().flatten().all(|p| text::is_number(p.0));
    let order = |a: &str, b: &str| match (text::value(a), text::value(b)) {
        (Some(a), Some(b)) if numeric => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        _ => a.cmp(b),
    };
    let mut axis: Vec<&str> = channels.iter().flatten().map(|p| p.0).collect();
    axis.sort_by(|a, b| order(a, b));
    axis.dedup_by(|a, b| order(a, b).is_eq());
    let mut columns = Vec::with_capacity(channels.len());
    for (c, mut channel) in channels.into_iter().enumerate() {
        channel.sort_by(|a, b| order(a.0, b.0));
        if let Some(pair) = channel.windows(2).find(|pair| order(pair[0].0, pair[1].0).is_eq()) {
            return Err(format!(
                "channel {c} has the time {} twice; give each time once, or all channels the same times",
                text::quote(pair[1].0)
            ));
        }
        let mut rest = channel.into_iter().peekable();
        let value = |time: &&str| rest.next_if(|p| order(p.0, time).is_eq()).map_or(f64::NAN, |p| p.1);
        columns.push(axis.iter().map(value).collect());
    }
    Ok((axis, columns))
}
