//! The table of a benchmark on long recordings: a row per group and method, means over the recordings.

use super::outcome::{Counts, Judged, LongOutcome};
use crate::sheet::{Layout, Sheet, share};

const COLUMNS: [&str; 13] = [
    "group",
    "method",
    "recordings",
    "VUS-PR",
    "VUS-ROC",
    "AUC-PR",
    "AUC-ROC",
    "hits",
    "F1",
    "FAR",
    "MAR",
    "fit s",
    "score s",
];
/// Only on request.
const ADJUSTED: &str = "point-adjusted F1 (misleading)";
/// Columns of words; the others are numbers.
const WORDS: [usize; 2] = [0, 1];
const LEGEND: &str = "A method learns from the normal part of a recording and scores the points of the rest; labels judge and choose \
                      nothing. Means over recordings. Hits: share of recordings whose highest score is within 100 points of the anomaly (UCR). \
                      F1, FAR (false alarms) and MAR (missed): points of all recordings together, with a threshold from held-out scores \
                      of the normal part (SKAB).";

/// The table: means over the recordings of each group, and what could not be done.
pub fn table(outcomes: &[LongOutcome], layout: Layout) -> String {
    let adjusted =
        outcomes.iter().filter_map(|o| o.judged.as_ref()).any(|j| j.misleading_point_adjusted_f1.is_some());
    let mut columns = COLUMNS.to_vec();
    columns.extend(adjusted.then_some(ADJUSTED));
    let rows = rows(outcomes, adjusted);
    let title = "Benchmark of long recordings";
    Sheet { title, legend: LEGEND, columns: &columns, words: &WORDS, rows, notes: notes(outcomes) }
        .written(layout)
}

/// Groups and methods, in the order of the outcomes.
fn pairs(outcomes: &[LongOutcome]) -> Vec<(&str, &str)> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for unit in outcomes.iter().map(|outcome| &outcome.unit) {
        let pair = (unit.group.as_str(), unit.method.as_str());
        if !found.contains(&pair) {
            found.push(pair);
        }
    }
    found
}

fn of<'a>(outcomes: &'a [LongOutcome], pair: (&str, &str)) -> Vec<&'a LongOutcome> {
    outcomes.iter().filter(|o| (o.unit.group.as_str(), o.unit.method.as_str()) == pair).collect()
}

fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let (sum, count) = values.flatten().fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then_some(sum / count)
}

fn rows(outcomes: &[LongOutcome], adjusted: bool) -> Vec<Vec<String>> {
    let cell = |value: Option<f64>| value.map_or_else(|| "-".to_string(), share);
    let seconds = |value: Option<f64>| value.map_or_else(|| "-".to_string(), |value| format!("{value:.2}"));
    let mut rows = Vec::new();
    for pair in pairs(outcomes) {
        let judged: Vec<&Judged> = of(outcomes, pair).into_iter().filter_map(|o| o.judged.as_ref()).collect();
        let over = |value: fn(&Judged) -> Option<f64>| mean(judged.iter().map(|one| value(one)));
        let counts = Counts::pooled(judged.iter().filter_map(|one| one.counts));
        let mut row = vec![pair.0.to_string(), pair.1.to_string(), judged.len().to_string()];
        row.push(cell(over(|j| Some(j.vus_pr))));
        row.push(cell(over(|j| Some(j.vus_roc))));
        row.push(cell(over(|j| Some(j.auc_pr))));
        row.push(cell(over(|j| Some(j.auc_roc))));
        row.push(cell(over(|j| j.hit.map(|hit| f64::from(u8::from(hit))))));
        row.push(cell(counts.map(|c| c.f1())));
        row.push(cell(counts.map(|c| c.false_alarm_rate())));
        row.push(cell(counts.map(|c| c.missed_rate())));
        row.push(seconds(over(|j| j.fit_seconds)));
        row.push(seconds(over(|j| j.score_seconds)));
        if adjusted {
            row.push(cell(over(|j| j.misleading_point_adjusted_f1)));
        }
        rows.push(row);
    }
    rows
}

/// What could not be done, and means that are not over the same recordings.
fn notes(outcomes: &[LongOutcome]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for outcome in outcomes {
        if let Some(reason) = &outcome.skipped {
            notes.push(format!("{}: {reason}", outcome.unit));
        }
    }
    for pair in pairs(outcomes) {
        let all = of(outcomes, pair);
        let count = all.iter().filter(|outcome| outcome.judged.is_some()).count();
        if count < all.len() {
            let (group, method) = pair;
            notes.push(format!(
                "{method} has results on {count} of {} recordings of {group}; its means are over those",
                all.len()
            ));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench_long::{Family, LongUnit};

    fn outcome(recording: &str, method: &str, vus: f64, hit: bool) -> LongOutcome {
        let unit = LongUnit { group: "UCR".into(), recording: recording.into(), method: method.into() };
        let judged = Judged {
            vus_pr: vus,
            vus_roc: 0.5,
            auc_pr: vus / 2.0,
            auc_roc: 0.5,
            hit: Some(hit),
            counts: Some(Counts { found: 3, missed: 1, false_alarms: 1, quiet: 3 }),
            misleading_point_adjusted_f1: None,
            fit_seconds: Some(2.0),
            score_seconds: None,
        };
        LongOutcome {
            unit,
            family: Family::Ucr,
            normal: 9,
            points: 8,
            anomalous: 4,
            data: 0,
            skipped: None,
            judged: Some(judged),
        }
    }

    #[test]
    fn rows_are_means_and_pools() {
        let mut all = vec![outcome("a", "varnorm", 0.8, true), outcome("b", "varnorm", 0.6, false)];
        all.push(outcome("a", "stumpy", 0.5, true));
        all.push(LongOutcome {
            judged: None,
            skipped: Some("none".into()),
            ..outcome("b", "stumpy", 0.0, false)
        });
        let found = table(&all, Layout::Markdown);
        let row = "| UCR | varnorm | 2 | .700 | .500 | .350 | .500 | .500 | .750 | .250 | .250 | 2.00 | - |";
        assert!(found.contains(row), "{found}");
        assert!(found.contains("| UCR | stumpy | 1 | .500 |"), "{found}");
        assert!(found.contains("- b/stumpy: none\n"), "{found}");
        assert!(found.contains("stumpy has results on 1 of 2 recordings of UCR"), "{found}");
        assert!(!found.contains("misleading"), "{found}");
        if let Some(judged) = &mut all[0].judged {
            judged.misleading_point_adjusted_f1 = Some(0.9);
        }
        let found = table(&all, Layout::Text);
        assert!(found.contains("point-adjusted F1 (misleading)"), "{found}");
        assert!(table(&all, Layout::Html).contains("<h1>Benchmark of long recordings</h1>"));
    }
}
