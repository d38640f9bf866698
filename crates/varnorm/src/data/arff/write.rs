//! Writes `.arff` files.

use std::io::{self, Write};

use crate::data::{LabelKind, Labels, Series};
use crate::error::Result;

use super::super::text;
use super::super::view::{Loss, View};
use super::cells::escape;

/// The data set as this format can hold it, and how to write it.
pub(in super::super) fn write<'a>(
    view: View<'a>,
    loss: &mut Loss,
) -> Result<impl FnOnce(&mut dyn Write) -> io::Result<()> + use<'a>> {
    if let Some(i) = view.series.iter().position(|s| s.values().iter().all(|v| v.is_nan())) {
        return Err(loss.refuse(format!("series {i}, which has no values at all")));
    }
    let ends_missing = |s: Series<'_>| s.step(s.steps() - 1).iter().all(|v| v.is_nan());
    if let Some(i) = view.series.iter().position(ends_missing) {
        // The reader takes them for padding, so what is written loses them.
        loss.of(format!("the last steps of series {i}, which are missing in all channels"))?;
    }
    let view = view
        .without_case_names(loss)?
        .without_channel_names(loss)?
        .without_times(loss)?
        .targets_if_numbers(loss)?;
    Ok(move |out: &mut dyn Write| {
        let steps = view.series.lengths().max().unwrap_or(0);
        head(&view, steps, out)?;
        for (i, series) in view.series.iter().enumerate() {
            values(out, series, steps)?;
            if let Some(labels) = view.labels {
                write!(out, ",{}", label(labels, &labels.values[i]))?;
            }
            writeln!(out)?;
        }
        Ok(())
    })
}

fn head(view: &View<'_>, steps: usize, out: &mut dyn Write) -> io::Result<()> {
    let relational = view.series.channels() > 1;
    writeln!(out, "@relation {}\n", escape(view.name))?;
    if relational {
        writeln!(out, "@attribute relationalAtt relational")?;
    }
    for step in 0..steps {
        writeln!(out, "@attribute att{step} numeric")?;
    }
    if relational {
        writeln!(out, "@end relationalAtt")?;
    }
    match view.labels {
        None => {}
        Some(labels) if labels.kind == LabelKind::Target => writeln!(out, "@attribute target numeric")?,
        Some(labels) => writeln!(out, "@attribute classAtt {{{}}}", classes(labels).join(","))?,
    }
    writeln!(out, "\n@data")
}

fn classes(labels: &Labels) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in labels.declared.iter().chain(&labels.values) {
        let name = escape(name).into_owned();
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

fn label(labels: &Labels, value: &str) -> String {
    if labels.kind == LabelKind::Target { value.into() } else { escape(value).into_owned() }
}

fn values(out: &mut dyn Write, series: Series<'_>, steps: usize) -> io::Result<()> {
    let quote = if series.channels() > 1 { "'" } else { "" };
    out.write_all(quote.as_bytes())?;
    for channel in 0..series.channels() {
        let values = text::channel(series, channel).chain(std::iter::repeat(f64::NAN)).take(steps);
        for (step, value) in values.enumerate() {
            let before = match (step, channel) {
                (0, 0) => "",
                (0, _) => "\\n",
                _ => ",",
            };
            write!(out, "{before}{}", text::number_or_mark(value))?;
        }
    }
    out.write_all(quote.as_bytes())
}
