//! The report of a study: tables in the paper's layout, figures, times, and what moved since another run.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use varnorm::data::write_atomically;
use varnorm::describe::{Fact, count, significant};
use varnorm::internal::page::{self, Figure, definitions, facts_html, fill, list};
use varnorm::internal::plot::{Plot, escaped};
use varnorm::{Error, Result};

use crate::figures::plots;
use crate::{
    Comparison, Header, Layout, Method, Parameters, Results, Select, Took, UnitResult, compare, read_run,
    read_times, table,
};

const STUDY: &str = include_str!("report.html");
/// Moves of a mean area up to this are not told, as in `varnorm study compare`.
const TOLERANCE: f64 = 5e-4;

/// Everything there is to see about a study. Plain data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudyReport {
    /// The name of the run.
    pub title: String,
    /// What was asked.
    pub header: Header,
    /// What was found, unit by unit.
    pub units: Vec<UnitResult>,
    /// What units took, as far as it is known.
    pub times: Vec<Took>,
    /// The run that it is compared with, and what moved since.
    pub comparison: Option<(String, Comparison)>,
    /// Published numbers, to stand beside these.
    #[serde(skip)]
    published: Option<Parameters>,
}

impl StudyReport {
    /// Reads a run; published numbers and another run stand beside it where they are given.
    pub fn read(run: &Path, published: Option<&Path>, other: Option<&Path>) -> Result<Self> {
        let (header, units) = read_run(run)?;
        let name = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let comparison = match other {
            None => None,
            Some(other) => {
                let found = compare(&read_run(other)?.1, &units, TOLERANCE);
                if found.common == 0 {
                    let problem = "has no data set, kernel and method in common with the run";
                    return Err(Error::file(other, problem));
                }
                Some((name(other), found))
            }
        };
        let published = published.map(Parameters::read).transpose()?;
        Ok(Self { title: name(run), header, units, times: read_times(run), comparison, published })
    }

    /// The page.
    pub fn to_html(&self) -> String {
        let results = Results::new(&self.units);
        let mut methods = Method::MEASURED.to_vec();
        methods.push(Method::External);
        let (done, all) = (self.units.len(), self.header.units.len());
        let cards = [
            ("data sets", results.datasets.len().to_string()),
            ("kernels", results.kernels.len().to_string()),
            ("units done", format!("{done} of {all}")),
        ];
        let mut warnings = Vec::new();
        if done < all {
            warnings.push(format!("{done} of {all} units are done; means are over those"));
        }
        let main = fill(
            STUDY,
            &[
                ("title", escaped(&self.title)),
                ("cards", definitions(&cards)),
                ("warnings", list("warnings", "Before you trust this", &warnings)),
                ("tables", table(&results, &methods, self.published.as_ref(), Layout::Html)),
                ("figures", page::figures(&self.figures())),
                ("times", self.times_html()),
                ("comparison", self.comparison_html()),
                ("facts", facts_html(&self.facts(&results))),
                ("notes", list("notes", "Notes", &results.notes)),
            ],
        );
        page::page(&format!("{} · varnorm", self.title), &main)
    }

    /// Writes the page, or, to a file named `.json`, the data.
    pub fn write(&self, path: &Path) -> Result<()> {
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
            let text = serde_json::to_string_pretty(self)
                .map_err(|e| Error::file(path, format!("cannot be written: {e}")))?;
            return write_atomically(path, |out| out.write_all(text.as_bytes()));
        }
        let html = self.to_html();
        write_atomically(path, |out| out.write_all(html.as_bytes()))
    }

    fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        for (envelope, norm) in [(false, "the paper's norm"), (true, "the envelope norm")] {
            let headings = ["Chosen alpha", "Chosen rank", "Conformance against Mahalanobis"];
            let draw = |plot: Plot| plot.sized(420.0, 330.0).to_inline_svg();
            for (heading, (_, plot)) in headings.into_iter().zip(plots(&self.units, envelope)) {
                let caption = format!("With {norm}.");
                figures.push(Figure { heading, svg: draw(plot), caption });
            }
        }
        figures
    }

    fn facts(&self, results: &Results) -> Vec<Fact> {
        let fact = |name: &str, words: String| Fact::new(name, words);
        let grid = &self.header.grid;
        let chosen = match (self.header.published, self.header.select) {
            (Some(_), _) => "given parameters, without a search".to_string(),
            (None, Select::Joint) => "the joint maximum over everything that was tried".into(),
            (None, Select::Marginal) => "each parameter by its own maximum, as published".into(),
        };
        let mut facts = vec![
            fact("Protocol", "one class against the rest; means over the classes of a data set".into()),
            fact("Data sets", results.datasets.join(", ")),
            fact("Kernels", results.kernels.join(", ")),
            fact("Chosen by", chosen),
        ];
        if self.header.published.is_none() {
            let alphas: Vec<String> = grid.alphas.iter().map(|a| format!("{a:e}")).collect();
            facts.push(fact(
                "Search",
                format!(
                    "{} folds, {} times (seed {}); alpha {}; ranks 1 to {}",
                    grid.folds,
                    grid.repeats,
                    grid.seed,
                    alphas.join(", "),
                    grid.max_rank
                ),
            ));
        }
        facts
    }

    /// Seconds by kernel, longest first.
    fn times_html(&self) -> String {
        if self.times.is_empty() {
            return "<p>This run was made by a version that did not record times.</p>".into();
        }
        let mut by_kernel: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
        for took in &self.times {
            let entry = by_kernel.entry(&took.unit.kernel).or_default();
            *entry = (entry.0 + 1, entry.1 + took.seconds);
        }
        let total: f64 = self.times.iter().map(|t| t.seconds).sum();
        let mut rows: Vec<(&str, (usize, f64))> = by_kernel.into_iter().collect();
        rows.sort_by(|a, b| b.1.1.total_cmp(&a.1.1));
        let line = |(kernel, (units, seconds)): &(&str, (usize, f64))| {
            [
                escaped(kernel),
                units.to_string(),
                format!("{seconds:.1}"),
                format!("{:.1} %", 100.0 * seconds / total),
            ]
        };
        let body: Vec<[String; 4]> = rows.iter().map(line).collect();
        let words = format!("<p>{} took {total:.1} s in all.</p>", count(self.times.len(), "unit"));
        words + &plain_table(["kernel", "units", "seconds", "share"], 1, &body)
    }

    fn comparison_html(&self) -> String {
        let Some((other, found)) = &self.comparison else { return String::new() };
        let change = |(before, after): (f64, f64)| {
            [format!("{before:.4}"), format!("{after:.4}"), format!("{:+.4}", after - before)]
        };
        let line = |one: &crate::Moved| -> [String; 9] {
            let ([a, b, c], [d, e, f]) = (change(one.roc_auc), change(one.pr_auc));
            [escaped(&one.dataset), escaped(&one.kernel), one.method.name().into(), a, b, c, d, e, f]
        };
        let body: Vec<[String; 9]> = found.moved.iter().map(line).collect();
        let head =
            ["data set", "kernel", "method", "ROC before", "after", "change", "PR before", "after", "change"];
        let words = format!(
            "<p>{} of {} means moved by more than {TOLERANCE}; mean change of ROC AUC over {} classes, kernels and \
             methods: {:+.4} (Wilcoxon signed-rank test: p = {}).</p>",
            found.moved.len(),
            found.common,
            found.pairs,
            found.mean_change,
            significant(found.p_value, 3)
        );
        let rows = if body.is_empty() { String::new() } else { plain_table(head, 3, &body) };
        format!("<section><h2>Compared with {}</h2>{words}{rows}</section>", escaped(other))
    }
}

/// A table whose first columns are words, and the others numbers. Cells are HTML.
fn plain_table<const N: usize>(head: [&str; N], words: usize, body: &[[String; N]]) -> String {
    let kind = |at: usize| if at < words { "" } else { " class=\"number\"" };
    let line = |row: &[String; N]| -> String {
        row.iter().enumerate().map(|(at, text)| format!("<td{}>{text}</td>", kind(at))).collect()
    };
    let heads: String = head
        .iter()
        .enumerate()
        .map(|(at, text)| format!("<th scope=\"col\"{}>{text}</th>", kind(at)))
        .collect();
    let rows: String = body.iter().map(|row| format!("<tr>{}</tr>", line(row))).collect();
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table><thead><tr>{heads}</tr>\
         </thead><tbody>{rows}</tbody></table></div>"
    )
}
