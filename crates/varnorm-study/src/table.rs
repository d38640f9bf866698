//! Tables in the paper's layout: per data set a row per method and a column per kernel, averages, average ranks.

mod html;

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::grid::ROWS;
use crate::method::Method;
use crate::published::Parameters;
use crate::results::{Areas, Results};

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Aligned columns for people; the best of a row has a star.
    Text,
    /// One line per data set, kernel and method, full precision.
    Csv,
    /// A table of a Markdown page.
    Markdown,
    /// The paper's own layout.
    Latex,
    /// Tables of a page, without the page.
    Html,
}

/// The tables of ROC-AUC and of average precision, with the chosen methods as rows. Published numbers, where given,
/// are rows of their own, marked with an asterisk.
pub fn table(
    results: &Results,
    methods: &[Method],
    published: Option<&Parameters>,
    layout: Layout,
) -> String {
    if layout == Layout::Csv {
        return csv(results, methods, published);
    }
    let mut out = String::new();
    let metrics: [(&str, Area); 2] = [("ROC AUC", |a| a.roc_auc), ("Precision-Recall AUC", |a| a.pr_auc)];
    for (title, of) in metrics {
        let blocks = blocks(results, methods, published, of);
        match layout {
            Layout::Latex => latex(&mut out, title, &results.kernels, &blocks),
            Layout::Html => html::html(&mut out, title, &results.kernels, &blocks),
            Layout::Markdown => markdown(&mut out, title, &results.kernels, &blocks),
            _ => text(&mut out, title, &results.kernels, &blocks),
        }
        out.push('\n');
    }
    if !matches!(layout, Layout::Latex | Layout::Html) {
        results.notes.iter().for_each(|note| out.push_str(&format!("note: {note}\n")));
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// A letter, and a cell per kernel.
type Row = (String, Vec<Option<f64>>);

/// One of the two areas.
type Area = fn(Areas) -> f64;

/// The rows of one data set, or of an average.
struct Block {
    name: String,
    rows: Vec<Row>,
    /// Digits after the point, and whether small is good.
    digits: usize,
    small_is_good: bool,
}

/// A row of every block: its letter, and where its cells come from.
type Source<'a> = (String, Box<dyn Fn(&str, &str) -> Option<Areas> + 'a>);

fn sources<'a>(
    results: &'a Results,
    methods: &[Method],
    published: Option<&'a Parameters>,
) -> Vec<Source<'a>> {
    let mut sources: Vec<Source<'a>> = Vec::new();
    for &method in methods {
        if results.areas.keys().any(|key| key.2 == method) {
            let get = move |dataset: &str, kernel: &str| results.get(dataset, kernel, method);
            sources.push((method.letter().into(), Box::new(get)));
        }
        let Some(parameters) = published else { continue };
        let get = move |dataset: &str, kernel: &str| {
            let (roc_auc, pr_auc) = parameters.areas(dataset, kernel, method)?;
            Some(Areas { roc_auc, pr_auc })
        };
        let any = |dataset: &String| results.kernels.iter().any(|kernel| get(dataset, kernel).is_some());
        if results.datasets.iter().any(any) {
            sources.push((format!("{}*", method.letter()), Box::new(get)));
        }
    }
    sources
}

fn blocks(results: &Results, methods: &[Method], published: Option<&Parameters>, of: Area) -> Vec<Block> {
    let sources = sources(results, methods, published);
    let mut blocks: Vec<Block> = Vec::new();
    for dataset in &results.datasets {
        let row = |source: &Source<'_>| {
            let cells = results.kernels.iter().map(|kernel| source.1(dataset, kernel).map(of)).collect();
            (source.0.clone(), cells)
        };
        let rows: Vec<Row> = sources.iter().map(row).collect();
        let rows = rows.into_iter().filter(|(_, cells)| cells.iter().any(Option::is_some)).collect();
        blocks.push(Block { name: dataset.clone(), rows, digits: 2, small_is_good: false });
    }
    if blocks.len() > 1 {
        let ranked: Vec<Vec<Row>> = blocks.iter().map(ranks).collect();
        let values: Vec<&[Row]> = blocks.iter().map(|b| b.rows.as_slice()).collect();
        let average = averages("Avg. AUC", &sources, &values, 2, false);
        let ranked: Vec<&[Row]> = ranked.iter().map(Vec::as_slice).collect();
        let rank = averages("Avg. Rank", &sources, &ranked, 1, true);
        blocks.extend([average, rank]);
    }
    blocks
}

/// The place of every cell among all cells of the block; equal cells share the mean of their places.
fn ranks(block: &Block) -> Vec<Row> {
    let all: Vec<f64> = block.rows.iter().flat_map(|(_, cells)| cells.iter().flatten().copied()).collect();
    let place = |value: f64| {
        let better = all.iter().filter(|v| **v > value).count() as f64;
        let equal = all.iter().filter(|v| **v == value).count() as f64;
        better + 0.5 * (equal + 1.0)
    };
    let row = |cells: &Vec<Option<f64>>| cells.iter().map(|cell| cell.map(place)).collect();
    block.rows.iter().map(|(letter, cells)| (letter.clone(), row(cells))).collect()
}

/// Means over the data sets; a cell that one of them lacks has none.
fn averages(
    name: &str,
    sources: &[Source<'_>],
    blocks: &[&[Row]],
    digits: usize,
    small_is_good: bool,
) -> Block {
    let mut rows = Vec::new();
    for (letter, _) in sources {
        let of_letter: Option<Vec<&Vec<Option<f64>>>> = blocks
            .iter()
            .map(|rows| rows.iter().find(|(l, _)| l == letter).map(|(_, cells)| cells))
            .collect();
        let Some(lists) = of_letter else { continue };
        let mean = |kernel: usize| {
            let cells: Option<Vec<f64>> = lists.iter().map(|cells| cells[kernel]).collect();
            cells.map(|cells| cells.iter().sum::<f64>() / cells.len() as f64)
        };
        let cells = (0..lists.first().map_or(0, |cells| cells.len())).map(mean).collect();
        rows.push((letter.clone(), cells));
    }
    Block { name: name.into(), rows, digits, small_is_good }
}

/// Cells as the paper writes them (`.79`), each with whether it is the best of its row.
fn written(block: &Block, cells: &[Option<f64>]) -> Vec<(String, bool)> {
    let write = |value: f64| {
        let text = format!("{value:.*}", block.digits);
        text.strip_prefix("0.").map(|rest| format!(".{rest}")).unwrap_or(text)
    };
    let worth = |value: f64| if block.small_is_good { -value } else { value };
    let best = cells.iter().flatten().copied().max_by(|a, b| worth(*a).total_cmp(&worth(*b))).map(write);
    let text = |cell: &Option<f64>| cell.map_or(("-".into(), false), |v| (write(v), best == Some(write(v))));
    cells.iter().map(text).collect()
}

fn text(out: &mut String, title: &str, kernels: &[String], blocks: &[Block]) {
    let mut lines: Vec<Vec<String>> = vec![vec![title.into(), String::new()]];
    lines[0].extend(kernels.iter().cloned());
    for block in blocks {
        for (i, (letter, cells)) in block.rows.iter().enumerate() {
            let name = if i == 0 { block.name.clone() } else { String::new() };
            let mut line = vec![name, letter.clone()];
            let star =
                |(text, best): (String, bool)| if best { format!("{text}*") } else { format!("{text} ") };
            line.extend(written(block, cells).into_iter().map(star));
            lines.push(line);
        }
    }
    let width =
        |c: usize| lines.iter().filter_map(|l| l.get(c)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..kernels.len() + 2).map(width).collect();
    for line in &lines {
        let cells = line.iter().zip(&widths).enumerate();
        let padded = cells.map(|(c, (cell, width))| match c {
            0 | 1 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        let line: Vec<String> = padded.collect();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", line.join("  ").trim_end());
    }
}

fn markdown(out: &mut String, title: &str, kernels: &[String], blocks: &[Block]) {
    let _ = writeln!(out, "| {title} | | {} |", kernels.join(" | "));
    let _ = writeln!(out, "|---|---|{}", "---:|".repeat(kernels.len()));
    for block in blocks {
        for (i, (letter, cells)) in block.rows.iter().enumerate() {
            let bold = |(text, best): (String, bool)| if best { format!("**{text}**") } else { text };
            let cells: Vec<String> = written(block, cells).into_iter().map(bold).collect();
            let name = if i == 0 { block.name.as_str() } else { "" };
            let letter = letter.replace('*', "\\*");
            let _ = writeln!(out, "| {name} | {letter} | {} |", cells.join(" | "));
        }
    }
}

/// How the paper writes a row's name, and the group that it stands in.
fn heading(kernel: &str) -> (String, usize) {
    let known: BTreeMap<&str, (&str, usize)> = ROWS
        .iter()
        .map(|(row, _)| *row)
        .zip([
            ("linear", 0),
            ("RBF", 0),
            ("poly", 0),
            (r"$I_\text{RBF}$", 1),
            (r"$I_\text{poly}$", 1),
            ("GAK", 2),
            ("VRK", 3),
            (r"$S_\text{lin}$", 4),
            (r"$S_\text{RBF}$", 4),
            (r"$S^\infty_\text{RBF}$", 4),
            (r"$S^\text{rand}_\text{tanh}$", 4),
        ])
        .collect();
    known
        .get(kernel)
        .map_or_else(|| (kernel.replace('_', r"\_"), 5), |(text, group)| ((*text).into(), *group))
}

fn latex(out: &mut String, title: &str, kernels: &[String], blocks: &[Block]) {
    let headings: Vec<(String, usize)> = kernels.iter().map(|kernel| heading(kernel)).collect();
    let mut columns = String::from("lc|");
    let mut group = usize::MAX;
    for (_, of) in &headings {
        columns.push_str(if *of == group { "c" } else { "|c" });
        group = *of;
    }
    let names: Vec<String> = headings.into_iter().map(|(name, _)| name).collect();
    let last = kernels.len() + 2;
    let _ = writeln!(out, "\\begin{{tabular}}{{{columns}}}\n  \\toprule");
    let _ = writeln!(
        out,
        "  \\multirow{{2}}{{*}}{{Data set}} & & \\multicolumn{{{}}}{{c}}{{{title}}} \\\\",
        kernels.len()
    );
    let _ = writeln!(out, "  \\cline{{3-{last}}}\n  & & {} \\\\\n  \\hline", names.join(" & "));
    for block in blocks {
        let name = block.name.replace('_', r"\_");
        let _ = writeln!(out, "  \\hline\n  \\multirow{{{}}}{{*}}{{{name}}}", block.rows.len());
        for (letter, cells) in &block.rows {
            let bold = |(text, best): (String, bool)| if best { format!("\\textbf{{{text}}}") } else { text };
            let cells: Vec<String> = written(block, cells).into_iter().map(bold).collect();
            let _ = writeln!(out, "  & {letter} & {} \\\\", cells.join(" & "));
        }
    }
    let _ = writeln!(out, "  \\bottomrule\n\\end{{tabular}}");
}

fn csv(results: &Results, methods: &[Method], published: Option<&Parameters>) -> String {
    let mut out = String::from("dataset,kernel,method,roc_auc,pr_auc,published_roc_auc,published_pr_auc\n");
    for ((dataset, kernel, method), areas) in &results.areas {
        if !methods.contains(method) {
            continue;
        }
        let theirs = published.and_then(|p| p.areas(dataset, kernel, *method));
        let theirs = theirs.map_or(",".into(), |(roc, pr)| format!("{roc:?},{pr:?}"));
        let _ = writeln!(
            out,
            "{},{},{},{:?},{:?},{theirs}",
            quoted(dataset),
            quoted(kernel),
            method.name(),
            areas.roc_auc,
            areas.pr_auc
        );
    }
    out
}

fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        let mut results = Results {
            datasets: vec!["A".into(), "B".into()],
            kernels: vec!["linear".into(), "my_kernel".into()],
            ..Results::default()
        };
        for (dataset, kernel, method, value) in [
            ("A", "linear", Method::Conformance, 0.9),
            ("A", "my_kernel", Method::Conformance, 0.8),
            ("A", "linear", Method::Mahalanobis, 0.7),
            ("A", "my_kernel", Method::Mahalanobis, 1.0),
            ("B", "linear", Method::Conformance, 0.5),
            ("B", "my_kernel", Method::Conformance, 0.5),
            ("B", "linear", Method::Mahalanobis, 0.4),
        ] {
            let areas = Areas { roc_auc: value, pr_auc: value / 2.0 };
            results.areas.insert((dataset.into(), kernel.into(), method), areas);
        }
        results
    }

    #[test]
    fn a_table_has_averages_ranks_and_the_best_marked() {
        let found = table(&results(), &[Method::Conformance, Method::Mahalanobis], None, Layout::Text);
        let expected = "\
ROC AUC       linear  my_kernel
A          C    .90*       .80
           M    .70       1.00*
B          C    .50*       .50*
           M    .40*         -
Avg. AUC   C    .70*       .65
           M    .55*         -
Avg. Rank  C    1.8*       2.2
           M    3.5*         -
";
        assert_eq!(&found[..expected.len()], expected, "{found}");
    }

    #[test]
    fn latex_and_markdown_write_the_same_cells() {
        let methods = [Method::Conformance];
        let latex = table(&results(), &methods, None, Layout::Latex);
        assert!(latex.contains(r"& C & \textbf{.90} & .80 \\"), "{latex}");
        assert!(latex.contains(r"\begin{tabular}{lc||c|c}"), "{latex}");
        assert!(latex.contains(r"& & linear & my\_kernel \\"), "{latex}");
        let markdown = table(&results(), &methods, None, Layout::Markdown);
        assert!(markdown.contains("| A | C | **.90** | .80 |"), "{markdown}");
        let html = table(&results(), &methods, None, Layout::Html);
        assert!(html.contains("<td class=\"number best\">.90</td><td class=\"number\">.80</td>"), "{html}");
        let csv = table(&results(), &methods, None, Layout::Csv);
        assert!(csv.contains("A,linear,conformance,0.9,0.45,,\n"), "{csv}");
        assert!(!csv.contains("mahalanobis"));
    }
}
