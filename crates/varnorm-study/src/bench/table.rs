//! The table of a benchmark: a row per data set and method, then means over the data sets.

use super::outcome::{Judged, Outcome};
use crate::sheet::{Layout, Sheet, share};

const COLUMNS: [&str; 11] = [
    "data set",
    "method",
    "classes",
    "ROC-AUC",
    "lowest class",
    "average precision",
    "novel flagged",
    "normal flagged",
    "level",
    "fit s",
    "score s",
];
/// Columns of words; the others are numbers.
const WORDS: [usize; 3] = [0, 1, 4];
/// The row of means over all data sets.
const ALL: &str = "mean of sets";
const LEGEND: &str = "Each class in turn is normal; a method is fitted on its training series alone and scores the test split. \
                      Flagged: shares of novel and of normal test series at the level.";

/// The table: means over the classes of each data set, means of those over the data sets, and what could not be done.
pub fn table(outcomes: &[Outcome], layout: Layout) -> String {
    let (rows, notes) = (rows(outcomes), notes(outcomes));
    Sheet { title: "Benchmark", legend: LEGEND, columns: &COLUMNS, words: &WORDS, rows, notes }
        .written(layout)
}

/// What the classes of one data set come to, for one method.
struct Summary<'a> {
    dataset: &'a str,
    method: &'a str,
    judged: Vec<(&'a str, &'a Judged)>,
}

impl Summary<'_> {
    fn mean(&self, of: impl Fn(&Judged) -> Option<f64>) -> Option<f64> {
        mean(self.judged.iter().map(|(_, judged)| of(judged)))
    }

    fn lowest(&self) -> Option<(f64, &str)> {
        let areas = self.judged.iter().map(|(class, judged)| (judged.roc_auc, *class));
        areas.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The levels of the classes, from the lowest to the highest.
    fn levels(&self) -> Vec<f64> {
        let mut levels: Vec<f64> = self.judged.iter().filter_map(|(_, judged)| judged.level).collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        levels
    }
}

/// The mean of what is there.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let (sum, count) = values.flatten().fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then_some(sum / count)
}

/// In the order of the outcomes.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

fn summaries(outcomes: &[Outcome]) -> Vec<Summary<'_>> {
    let mut summaries = Vec::new();
    for dataset in distinct(outcomes.iter().map(|o| o.unit.dataset.as_str())) {
        for method in distinct(outcomes.iter().map(|o| o.unit.method.as_str())) {
            let here = outcomes.iter().filter(|o| o.unit.dataset == dataset && o.unit.method == method);
            let judged: Vec<(&str, &Judged)> =
                here.filter_map(|o| Some((o.unit.class.as_str(), o.judged.as_ref()?))).collect();
            if !judged.is_empty() {
                summaries.push(Summary { dataset, method, judged });
            }
        }
    }
    summaries
}

/// The columns of means, each with its digits.
type Column = (fn(&Judged) -> Option<f64>, fn(f64) -> String);

const ROC: Column = (|judged| Some(judged.roc_auc), share);
const AFTER_LOWEST: [Column; 3] = [
    (|judged| Some(judged.average_precision), share),
    (|judged| judged.novel_flagged, share),
    (|judged| judged.normal_flagged, share),
];
const SECONDS: [Column; 2] =
    [(|judged| judged.fit_seconds, seconds), (|judged| judged.score_seconds, seconds)];

fn seconds(value: f64) -> String {
    format!("{value:.2}")
}

fn rows(outcomes: &[Outcome]) -> Vec<Vec<String>> {
    let summaries = summaries(outcomes);
    let mut rows: Vec<Vec<String>> = summaries.iter().map(|one| row(one.dataset, &[one])).collect();
    for method in distinct(summaries.iter().map(|one| one.method)) {
        let sets: Vec<&Summary<'_>> = summaries.iter().filter(|one| one.method == method).collect();
        if distinct(summaries.iter().map(|one| one.dataset)).len() > 1 {
            rows.push(row(ALL, &sets));
        }
    }
    rows
}

/// A row from the data sets it is about, which are of one method.
fn row(name: &str, sets: &[&Summary<'_>]) -> Vec<String> {
    let cell = |(of, written): Column| {
        mean(sets.iter().map(|set| set.mean(of))).map_or_else(|| "-".to_string(), written)
    };
    let lowest = sets.iter().filter_map(|set| Some((set.dataset, set.lowest()?)));
    let lowest = lowest.min_by(|a, b| a.1.0.total_cmp(&b.1.0)).map(|(dataset, (area, class))| {
        let class = if sets.len() > 1 { format!("{dataset}/{class}") } else { class.to_string() };
        format!("{} {class}", share(area))
    });
    let mut levels: Vec<f64> = sets.iter().flat_map(|set| set.levels()).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let levels: Vec<String> =
        levels.iter().map(|level| level.to_string().trim_start_matches('0').to_string()).collect();
    let classes: usize = sets.iter().map(|set| set.judged.len()).sum();
    let method = sets.first().map_or("", |set| set.method);
    let mut row = vec![name.to_string(), method.to_string(), classes.to_string(), cell(ROC)];
    row.push(lowest.unwrap_or_else(|| "-".into()));
    row.extend(AFTER_LOWEST.map(cell));
    row.push(if levels.is_empty() { "-".into() } else { levels.join(", ") });
    row.extend(SECONDS.map(cell));
    row
}

/// What could not be done, and means that are not over the same data sets.
fn notes(outcomes: &[Outcome]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for outcome in outcomes {
        if let Some(reason) = &outcome.skipped {
            notes.push(format!("{}: {reason}", outcome.unit));
        }
        let flagless = outcome.judged.as_ref().is_some_and(|j| j.level.is_none() && j.fit_seconds.is_some());
        if flagless {
            let count = outcome.corpus;
            notes.push(format!("{}: {count} training series are too few for flags", outcome.unit));
        }
    }
    let summaries = summaries(outcomes);
    let sets = distinct(outcomes.iter().map(|o| o.unit.dataset.as_str())).len();
    for method in distinct(outcomes.iter().map(|o| o.unit.method.as_str())) {
        let count = summaries.iter().filter(|one| one.method == method).count();
        if count < sets {
            notes
                .push(format!("{method} has results on {count} of {sets} data sets; its mean is over those"));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Unit;

    fn outcome(dataset: &str, class: &str, method: &str, area: f64, flags: Option<f64>) -> Outcome {
        let unit = Unit { dataset: dataset.into(), class: class.into(), method: method.into() };
        let judged = Judged {
            roc_auc: area,
            average_precision: area / 2.0,
            level: flags,
            novel_flagged: flags.map(|_| 1.0),
            normal_flagged: flags,
            fit_seconds: flags.map(|_| 2.0),
            score_seconds: flags.map(|_| 0.5),
        };
        Outcome { unit, corpus: 9, normal: 4, novel: 5, data: 0, skipped: None, judged: Some(judged) }
    }

    fn outcomes() -> Vec<Outcome> {
        let mut all = vec![
            outcome("A", "x", "auto", 1.0, Some(0.1)),
            outcome("A", "x", "other", 0.5, None),
            outcome("A", "y|", "auto", 0.8, Some(0.05)),
            outcome("A", "y|", "other", 0.6, None),
            outcome("B<", "z", "auto", 0.7, Some(0.05)),
            outcome("B<", "z", "other", 0.7, None),
        ];
        all[5].judged = None;
        all[5].skipped = Some("no scores".into());
        all
    }

    #[test]
    fn means_are_per_set_and_then_over_sets() {
        let found = table(&outcomes(), Layout::Text);
        let rows: Vec<Vec<&str>> = found.lines().map(|line| line.split("  ").collect()).collect();
        let row = |at: usize| -> Vec<&str> {
            rows[at].iter().map(|cell| cell.trim()).filter(|cell| !cell.is_empty()).collect()
        };
        assert_eq!(
            row(1),
            ["A", "auto", "2", ".900", ".800 y|", ".450", "1.000", ".075", ".05, .1", "2.00", "0.50"]
        );
        assert_eq!(row(2), ["A", "other", "2", ".550", ".500 x", ".275", "-", "-", "-", "-", "-"]);
        // (.9 + .7) / 2, however many classes the sets have.
        assert_eq!(row(4)[..5], ["mean of sets", "auto", "3", ".800", ".700 B</z"]);
        assert_eq!(row(5)[..5], ["mean of sets", "other", "2", ".550", ".500 x"]);
        assert!(found.contains("note: B</z/other: no scores\n"), "{found}");
        assert!(found.contains("note: other has results on 1 of 2 data sets"), "{found}");
    }

    #[test]
    fn other_layouts_have_the_same_cells() {
        let markdown = table(&outcomes(), Layout::Markdown);
        assert!(markdown.contains("| A | auto | 2 | .900 | .800 y\\| | .450 |"), "{markdown}");
        let html = table(&outcomes(), Layout::Html);
        assert!(
            html.contains("<th scope=\"row\">B&lt;</th><td>auto</td><td class=\"number\">1</td>"),
            "{html}"
        );
        assert!(html.contains("<li>B&lt;/z/other: no scores</li>"));
    }
}
