//! Writes `.ts` files.

use std::io::{self, Write};

use crate::data::{LabelKind, Labels, Series};
use crate::error::Result;

use super::super::text;
use super::super::view::{Loss, View};

/// The data set as this format can hold it, and how to write it.
pub(in super::super) fn write<'a>(
    view: View<'a>,
    loss: &mut Loss,
) -> Result<impl FnOnce(&mut dyn Write) -> io::Result<()> + use<'a>> {
    let word = |t: &str| !t.is_empty() && !t.contains(|c: char| c.is_whitespace() || ":()".contains(c));
    let time = |t: &str| {
        !t.is_empty() && t.trim() == t && !t.contains(|c: char| c.is_control() || ",()".contains(c))
    };
    let view = view
        .without_case_names(loss)?
        .without_channel_names(loss)?
        .without_units(loss)?
        .times_if(loss, time, "it may not be empty or have commas, brackets or spaces around it")?
        .labels_if(loss, word, "it may not be empty or have spaces, colons or brackets")?
        .targets_if_numbers(loss)?;
    Ok(move |out: &mut dyn Write| {
        head(&view, out)?;
        for (i, (series, times)) in view.series.iter().zip(view.times_by_series()).enumerate() {
            line(out, series, times, view.labels.map(|l| l.values[i].as_str()))?;
        }
        Ok(())
    })
}

fn head(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let series = view.series;
    let missing = series.values().iter().any(|v| v.is_nan());
    writeln!(out, "@problemName {}", text::one_line(view.name))?;
    writeln!(out, "@timeStamps {}", view.times.is_some())?;
    writeln!(out, "@missing {missing}")?;
    writeln!(out, "@univariate {}", series.channels() == 1)?;
    writeln!(out, "@dimensions {}", series.channels())?;
    writeln!(out, "@equalLength {}", series.equal_length().is_some())?;
    if let Some(length) = series.equal_length() {
        writeln!(out, "@seriesLength {length}")?;
    }
    match view.labels {
        None => writeln!(out, "@classLabel false")?,
        Some(l) if l.kind == LabelKind::Target => writeln!(out, "@targetLabel true")?,
        Some(l) => writeln!(out, "@classLabel true {}", classes(l).join(" "))?,
    }
    writeln!(out, "@data")
}

/// Declared names first; those that would not read back as one word are left out, as no series has them.
fn classes(labels: &Labels) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for name in labels.declared.iter().chain(&labels.values) {
        if !name.is_empty() && !name.contains(char::is_whitespace) && !all.contains(&name.as_str()) {
            all.push(name);
        }
    }
    all
}

fn line(
    out: &mut dyn Write,
    series: Series<'_>,
    times: Option<Vec<String>>,
    label: Option<&str>,
) -> io::Result<()> {
    for channel in 0..series.channels() {
        if channel > 0 {
            out.write_all(b":")?;
        }
        for (step, value) in text::channel(series, channel).enumerate() {
            let comma = if step > 0 { "," } else { "" };
            let value = text::number_or_mark(value);
            match &times {
                Some(times) => write!(out, "{comma}({},{value})", times[step])?,
                None => write!(out, "{comma}{value}")?,
            }
        }
    }
    match label {
        Some(label) => writeln!(out, ":{label}"),
        None => writeln!(out),
    }
}
