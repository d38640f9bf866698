//! `varnorm score`: scores new series with a model.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use varnorm::calibrate::Decision;
use varnorm::describe::significant;
use varnorm::detector::{Rule, Scored};
use varnorm::long::LongDetector;
use varnorm::report::{Options, Report};
use varnorm::{Dataset, Detector, Findings};

use crate::Verdict;
use crate::args::{Filling, Format, Reading, one_of};
use crate::console::Console;
use crate::failure::Failure;
use crate::long::{self, Per, ScoreArg};
use crate::table::{Align, Table};
use crate::{output, source};

/// Score new series with a model
#[derive(Args)]
#[command(after_help = "Example:
  varnorm score walking.model BasicMotions_TEST.ts
  varnorm score normal.model today/ --decision each --level 0.01 --fail-on-novel --format csv

Columns: score (higher is more novel), p_value (chance of a normal series scoring at least as high), novel
(flagged or not), nearest (the nearest normal series), outside_span (share of the squared distance from the
normal mean that no normal series explains).")]
pub struct Score {
    /// A model that `varnorm fit` wrote
    model: PathBuf,
    /// Files or folders of series to score
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// False-alarm rate that flags aim at [default: the model's]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    level: Option<f64>,
    /// How p-values become flags [default: the model's]
    #[arg(long, value_parser = one_of::<Decision>(Decision::WORDS))]
    decision: Option<Decision>,
    /// End with exit code 1 if a series is flagged
    #[arg(long)]
    fail_on_novel: bool,
    /// How to print it [default: table, or as the name of -o says]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Print the N most novel series only, most novel first; flags are those of the whole batch
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// The order of the series
    #[arg(long, value_enum, default_value = "given")]
    sort: Order,
    /// Write to a file instead of standard output
    #[arg(short, long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a report with pictures too, as one HTML file; see `varnorm report`
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// In the report: the label of normal series, for ROC and precision-recall curves
    #[arg(long, value_name = "LABEL", requires = "report")]
    normal: Option<String>,
    #[command(flatten)]
    filling: Filling,
    #[command(flatten)]
    reading: Reading,
    /// With a model of one long recording: what has a line of its own [default: event]
    #[arg(long, value_enum)]
    per: Option<Per>,
    /// With a model of one long recording: which score makes alarms [default: settled]
    #[arg(long, value_enum)]
    score: Option<ScoreArg>,
}

/// The order in which series are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    /// As in the data
    Given,
    /// Most novel first
    Score,
}

impl Score {
    /// Scores and prints.
    pub fn run(&self, console: &Console) -> Result<Verdict, Failure> {
        for file in [&self.output, &self.report] {
            let read = std::iter::once(&self.model).chain(&self.data);
            source::refuse_overwriting(read, file.as_deref())?;
        }
        // A name that cannot be written is said before a long computation.
        Format::choose(self.format, self.output.as_deref())?;
        if let Some(detector) = long::load(&self.model)? {
            return self.run_on_windows(console, detector);
        }
        if self.per.is_some() || self.score.is_some() {
            return Err(Failure::Words(
                "--per and --score are for a model of one long recording; fit one with --window".into(),
            ));
        }
        let detector = source::model(&self.model, &self.data)?;
        if self.fail_on_novel && detector.calibrated().is_none() {
            return Err(Failure::Words(
                "--fail-on-novel needs flags, and the model was fitted with calibration none; fit it with one"
                    .into(),
            ));
        }
        let dataset = source::read_for(console, &detector, &self.data, &self.reading, self.filling.gaps)?;
        let level = self.level.unwrap_or(detector.settings().level);
        let decision = self.decision.unwrap_or(detector.settings().decision);
        let findings = match &self.report {
            None => detector.score_at(&dataset.series, level, decision, &console.run),
            Some(path) => self.score_and_report(console, &detector, &dataset, (level, decision), path),
        }
        .map_err(source::named(&dataset))?;
        self.print(console, &detector, &dataset, &findings)?;
        detector.warnings_about(&findings).iter().for_each(|warning| console.warn(warning));
        if detector.settings().calibration.flags_by_score() && self.decision.is_some() {
            let what = match findings.rule {
                Rule::Quantile => "the quantile of its calibration",
                _ => "a threshold on the score",
            };
            console.say(format!("note: --decision has no effect: the model flags by {what}"));
        }
        console.say(findings.batch().to_string());
        if let Some(cannot) = findings.cannot_flag.as_ref().filter(|cannot| cannot.at_once.is_none())
            && self.fail_on_novel
        {
            let words = format!("--fail-on-novel can never fail here: {}", cannot.words);
            return Err(Failure::Words(words));
        }
        let novel = self.fail_on_novel && findings.flagged() > 0;
        Ok(if novel { Verdict::Novel } else { Verdict::Fine })
    }

    /// Scores one long recording.
    fn run_on_windows(&self, console: &Console, detector: LongDetector) -> Result<Verdict, Failure> {
        for (name, given) in [
            ("--level", self.level.is_some()),
            ("--decision", self.decision.is_some()),
            ("--report", self.report.is_some()),
        ] {
            if given {
                return Err(Failure::Words(format!(
                    "{name} cannot be used with a model of one long recording"
                )));
            }
        }
        let scoring = long::Scoring {
            data: &self.data,
            per: self.per.unwrap_or(Per::Event),
            score: self.score.map(Into::into).unwrap_or_default(),
            format: self.format,
            output: self.output.as_deref(),
            fail_on_novel: self.fail_on_novel,
        };
        scoring.run(console, detector)
    }

    fn score_and_report(
        &self,
        console: &Console,
        detector: &Detector,
        dataset: &Dataset,
        (level, decision): (f64, Decision),
        path: &Path,
    ) -> varnorm::Result<Findings> {
        let placed = detector.score_and_place(&dataset.series, level, decision, &console.run)?;
        let findings = placed.findings.clone();
        let options = Options::default().with_normal(self.normal.clone());
        Report::of(detector, dataset, placed, &options, &console.run)?.write(path)?;
        console.say(format!("the report is in {}", path.display()));
        Ok(findings)
    }

    /// The findings that are printed, in their order.
    fn shown(&self, findings: &Findings) -> Findings {
        let mut shown = findings.clone();
        if self.sort == Order::Score || self.top.is_some() {
            // A stable sort: equal scores stay in their order.
            shown.findings.sort_by(|a, b| b.score.total_cmp(&a.score));
        }
        shown.findings.truncate(self.top.unwrap_or(usize::MAX));
        shown
    }

    fn print(
        &self,
        console: &Console,
        detector: &Detector,
        dataset: &Dataset,
        findings: &Findings,
    ) -> Result<(), Failure> {
        let file = self.output.as_deref();
        let findings = &self.shown(findings);
        let colored = file.is_none() && console.colored();
        let format = Format::choose(self.format, file)?;
        output::deliver(console, file, |out| match format {
            Format::Table => {
                let flagged: Vec<bool> =
                    findings.findings.iter().map(|one| colored && one.novel == Some(true)).collect();
                table(dataset, findings, Reader::Person).write_colored(out, &flagged)?;
                // The table may be all that is kept.
                findings.cannot_flag.iter().try_for_each(|cannot| writeln!(out, "\n{}", cannot.words))
            }
            Format::Csv => table(dataset, findings, Reader::Program).write_csv(out),
            Format::Json => output::json(out, &Scored::new(detector, dataset, findings.clone())),
            Format::Jsonl => {
                output::json_lines(out, &Scored::new(detector, dataset, findings.clone()), "findings")
            }
        })
    }
}

/// For whom cells are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// A few reader.
    Person,
    /// All reader.
    Program,
}

impl Reader {
    fn score(self, value: f64) -> String {
        if self == Self::Person { significant(value, 4) } else { format!("{value:?}") }
    }

    fn share(self, value: f64) -> String {
        if self == Self::Person { format!("{value:.4}") } else { format!("{value:?}") }
    }

    fn nothing(self) -> String {
        if self == Self::Person { "-".into() } else { String::new() }
    }
}

fn label(dataset: &Dataset, series: usize) -> Option<&str> {
    Some(dataset.labels.as_ref()?.values.get(series)?)
}

fn table(dataset: &Dataset, findings: &Findings, reader: Reader) -> Table {
    let mut columns = vec![("series", Align::Left)];
    if dataset.labels.is_some() {
        columns.push(("label", Align::Left));
    }
    columns.extend([
        ("score", Align::Right),
        ("p_value", Align::Right),
        ("novel", Align::Left),
        ("nearest", Align::Left),
        ("outside_span", Align::Right),
    ]);
    let several = findings.findings.iter().any(|finding| !finding.views.is_empty());
    if several {
        columns.push(("seen_by", Align::Left));
    }
    let mut table = Table::new(columns);
    for finding in &findings.findings {
        let mut row = vec![dataset.series_name(finding.series)];
        row.extend(label(dataset, finding.series).map(str::to_string));
        row.extend([
            reader.score(finding.score),
            finding.p_value.map_or_else(|| reader.nothing(), |p| reader.share(p)),
            finding.novel.map_or_else(|| reader.nothing(), |novel| if novel { "yes" } else { "no" }.into()),
            finding.nearest_name.clone().unwrap_or_else(|| finding.nearest.to_string()),
            reader.share(finding.outside_span),
        ]);
        if several {
            row.push(finding.seen_by().unwrap_or_default().to_string());
        }
        table.push(row);
    }
    table
}
