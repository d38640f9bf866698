//! `varnorm explain`: why a series has the score it has.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use varnorm::Dataset;
use varnorm::describe::{self, count, significant};
use varnorm::detector::{Explanation, Replaced};

use crate::args::{Filling, Reading, ReportFormat};
use crate::console::Console;
use crate::failure::Failure;
use crate::table::{Align, Table, write_facts};
use crate::{output, source};

/// Explain the score of one series
#[derive(Args)]
#[command(after_help = "Example:
  varnorm explain walking.model BasicMotions_TEST.ts --series 3
  varnorm explain walking.model BasicMotions_TEST.ts --series 3 --segments 20 --format json

\"adds\" is how much lower the score is when that part of the series is replaced by the same part of the nearest
normal series; it is negative where the replaced part joins the rest badly. Steps and channels are counted
from 0, after preparation.")]
pub struct Explain {
    /// A model that `varnorm fit` wrote
    model: PathBuf,
    /// Files or folders of series
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Which series, by its name, or by its place in the data, from 0
    #[arg(long, value_name = "NAME", default_value = "0")]
    series: String,
    /// Stretches that time is cut into
    #[arg(long, value_name = "N", default_value_t = 10)]
    segments: usize,
    /// How to print it
    #[arg(long, value_enum, default_value = "table")]
    format: ReportFormat,
    #[command(flatten)]
    filling: Filling,
    #[command(flatten)]
    reading: Reading,
}

/// The explanation with what the data say about the series.
#[derive(Serialize)]
struct Report<'a> {
    series: usize,
    name: String,
    label: Option<&'a str>,
    #[serde(flatten)]
    explanation: &'a Explanation,
}

impl Explain {
    /// Explains and prints.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        let detector = source::model(&self.model, &self.data)?;
        let dataset = source::read_for(console, &detector, &self.data, &self.reading, self.filling.gaps)?;
        let series = place(&dataset, &self.series)?;
        let mut explanation = detector
            .explain(&dataset.series, series, self.segments, &console.run)
            .map_err(source::named(&dataset))?;
        if explanation.channels_are_original && explanation.channel_names.is_none() {
            explanation.channel_names = dataset.channel_names();
        }
        let label = dataset.labels.as_ref().and_then(|l| l.values.get(series)).map(String::as_str);
        output::deliver(console, None, |out| match self.format {
            ReportFormat::Json => output::json(
                out,
                &Report { series, name: dataset.series_name(series), label, explanation: &explanation },
            ),
            ReportFormat::Table => write(out, series, &dataset, label, &explanation),
        })
    }
}

/// The place of a series that the user named or counted.
fn place(dataset: &Dataset, asked: &str) -> Result<usize, Failure> {
    let named = dataset.case_names.iter().flatten().position(|name| name == asked);
    let place = named.or_else(|| asked.parse().ok());
    place.ok_or_else(|| {
        let some: Vec<String> = (0..dataset.series.len().min(8)).map(|i| dataset.series_name(i)).collect();
        Failure::Words(format!("no series is named {asked}; series here are: {}", some.join(", ")))
    })
}

/// Rows shown of a long list.
const SHOWN: usize = 5;

/// Comparable scores of the views, where there are several, and which of them the rest is about.
fn seen_by(found: &Explanation) -> Option<String> {
    let (view, score) = found.explained_view.as_ref().zip(found.explained_score)?;
    let all: Vec<String> =
        found.views.iter().map(|one| format!("{} {}", one.view, significant(one.score, 3))).collect();
    let own = significant(score, 4);
    Some(format!("{}; what follows is about {view}, whose own score is {own}", all.join(", ")))
}

fn write(
    out: &mut dyn Write,
    series: usize,
    dataset: &Dataset,
    label: Option<&str>,
    found: &Explanation,
) -> io::Result<()> {
    let name = |channel: usize| match found.channels_are_original {
        true => dataset.channel_name(channel),
        false => channel.to_string(),
    };
    let label = label.map(|l| format!(", labelled {l}")).unwrap_or_default();
    let p = found.p_value.map(|p| format!(", p-value {}", significant(p, 3))).unwrap_or_default();
    let nearest = found.nearest_name.clone().unwrap_or_else(|| found.nearest.to_string());
    let square = found.explained_score.unwrap_or(found.score).powi(2);
    let percent = |part: f64| {
        if square > 0.0 && square.is_finite() { describe::percent(part / square) } else { "-".into() }
    };
    let outside = match found.outside {
        part if part.is_infinite() => "off the span of the corpus: the exact norm is infinite".into(),
        part if square > 0.0 && part > 0.5 * square => format!(
            "most of the score is outside the corpus' span: {} of the squared score is nothing that normal series are made of",
            percent(part)
        ),
        part => format!("{} of the squared score", percent(part)),
    };
    let mut facts = vec![
        ("series", format!("{} (place {series}){label}", dataset.series_name(series))),
        ("score", format!("{}{p}", significant(found.score, 4))),
    ];
    facts.extend(seen_by(found).map(|words| ("seen by", words)));
    facts.extend([
        ("nearest", format!("normal series {nearest}")),
        (
            "outside",
            format!("{outside}; {} of its distance from the mean", describe::percent(found.outside_span)),
        ),
    ]);
    write_facts(out, &facts)?;
    writeln!(out, "\nEigendirections that the squared score comes from")?;
    let columns = ["direction", "eigenvalue", "deviations", "share"];
    let mut table = Table::new(columns.map(|name| (name, Align::Right)).to_vec());
    for part in found.directions.iter().take(SHOWN) {
        let cells =
            [part.direction.to_string(), significant(part.eigenvalue, 3), significant(part.deviations, 3)];
        table.push(cells.into_iter().chain([percent(part.square)]).collect());
    }
    table.write_aligned(out)?;
    if found.directions.len() > SHOWN {
        let rest: f64 = found.directions[SHOWN..].iter().map(|d| d.square).sum();
        writeln!(out, "{} more: {}", found.directions.len() - SHOWN, percent(rest))?;
    }
    let heading = match found.inserted {
        false => "The score with one channel, or one stretch of time, made that of the nearest normal series",
        true => {
            "The kernel is saturated: no single part lowers the score. The score of the nearest normal series with one \
             channel, or one stretch of time, of this one"
        }
    };
    writeln!(out, "\n{heading}")?;
    let mut table =
        Table::new(vec![("replaced", Align::Left), ("score", Align::Right), ("adds", Align::Right)]);
    let mut push = |what: String, part: &Replaced| {
        table.push(vec![what, significant(part.score, 4), significant(part.adds, 3)]);
    };
    for part in &found.channels {
        push(format!("channel {}", name(part.channel.unwrap_or(0))), part);
    }
    for part in &found.segments {
        push(format!("steps {} to {}", part.first_step, part.end_step - 1), part);
    }
    table.write_aligned(out)?;
    writeln!(out, "\nWhere it differs most from the nearest normal series")?;
    let columns = [
        ("steps", Align::Left),
        ("channel", Align::Left),
        ("difference", Align::Right),
        ("share", Align::Right),
    ];
    let mut table = Table::new(columns.to_vec());
    for part in found.differences.iter().take(SHOWN) {
        table.push(vec![
            format!("{} to {}", part.first_step, part.end_step - 1),
            name(part.channel),
            significant(part.size, 3),
            format!("{:.1}%", 100.0 * part.share),
        ]);
    }
    table.write_aligned(out)?;
    writeln!(out, "{} of channel and time in all", count(found.differences.len(), "cell"))
}
