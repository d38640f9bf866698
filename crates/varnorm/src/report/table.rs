//! The table of scored series: its first rows as HTML, and all of it as columns for the page's script.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use serde_json::{Value, json};

use super::{Report, most_novel_first};
use crate::describe::significant;
use crate::detector::{Replaced, ScoredSeries};
use crate::plot::escaped;

/// Rows that are there without the script.
const ROWS: usize = 50;
/// Characters of a name in a row; all of it is told where the series is opened.
const NAME: usize = 60;

/// The first rows, most novel first.
pub(super) fn rows(report: &Report) -> String {
    let mut out = String::new();
    for at in most_novel_first(&report.scored).into_iter().take(ROWS) {
        let one = &report.scored.findings[at];
        let cells = [
            escaped(&shortened(&one.name)),
            one.label.as_deref().map(|l| escaped(&shortened(l))).unwrap_or_default(),
            significant(one.finding.score, 4),
            one.finding.p_value.map_or("-".into(), |p| format!("{p:.4}")),
            flag(one).into(),
            escaped(&shortened(&nearest(one))),
            format!("{:.4}", one.finding.outside_span),
        ];
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", cells[0]);
        for (at, cell) in cells.iter().enumerate().skip(1) {
            if at == 1 && one.label.is_none() {
                continue;
            }
            let _ = write!(out, "<td>{cell}</td>");
        }
        out.push_str("</tr>\n");
    }
    out
}

fn flag(one: &ScoredSeries) -> &'static str {
    match one.finding.novel {
        Some(true) => "novel",
        Some(false) => "normal",
        None => "-",
    }
}

fn nearest(one: &ScoredSeries) -> String {
    one.finding.nearest_name.clone().unwrap_or_else(|| one.finding.nearest.to_string())
}

pub(super) fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(NAME).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Why a series has its score, as the page tells it.
#[derive(Serialize)]
struct Reason<'a> {
    /// How much each channel adds.
    channels: Vec<Value>,
    /// How much each stretch of time adds, with its first step and the one after its last.
    stretches: Vec<(usize, usize, Value)>,
    nearest: &'a Option<String>,
    /// Whether parts were put into the nearest normal series, instead of replaced by it.
    inserted: bool,
}

/// The numbers that the script shows.
pub(super) fn data(report: &Report) -> Value {
    let findings = &report.scored.findings;
    let column = |of: fn(&ScoredSeries) -> Value| -> Vec<Value> { findings.iter().map(of).collect() };
    // Many series share their nearest one: its name is told once.
    let mut names: BTreeMap<usize, String> = BTreeMap::new();
    for one in findings {
        names.entry(one.finding.nearest).or_insert_with(|| nearest(one));
    }
    let reasons: BTreeMap<usize, Reason<'_>> = report
        .explanations
        .iter()
        .map(|(at, found)| {
            let adds = |part: &Replaced| number(part.adds);
            let stretches =
                found.segments.iter().map(|part| (part.first_step, part.end_step, adds(part))).collect();
            let reason = Reason {
                channels: found.channels.iter().map(adds).collect(),
                stretches,
                nearest: &found.nearest_name,
                inserted: found.inserted,
            };
            (*at, reason)
        })
        .collect();
    let channels: Vec<usize> = report.curves.bands.iter().map(|band| band.channel).collect();
    let axes: Vec<(f64, f64)> = report.curves.bands.iter().map(|band| (band.low, band.high)).collect();
    json!({
        "name": column(|one| one.name.clone().into()),
        "label": findings.iter().any(|one| one.label.is_some()).then(|| column(|one| one.label.clone().into())),
        "score": column(|one| number(one.finding.score)),
        "p_value": column(|one| one.finding.p_value.into()),
        "novel": column(|one| one.finding.novel.into()),
        "nearest": column(|one| one.finding.nearest.into()),
        "outside_span": column(|one| one.finding.outside_span.into()),
        "nearest_names": names,
        "curves": report.curves.series,
        "normal": report.curves.normal,
        "channels": channels,
        "axes": axes,
        "stride": report.curves.stride,
        "reasons": reasons,
    })
}

/// JSON has no infinity.
fn number(value: f64) -> Value {
    match value {
        v if v == f64::INFINITY => "inf".into(),
        v if v == f64::NEG_INFINITY => "-inf".into(),
        v => v.into(),
    }
}
