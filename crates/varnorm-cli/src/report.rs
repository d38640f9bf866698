//! `varnorm report`: everything there is to see, as one HTML file.

use std::path::PathBuf;

use clap::Args;
use varnorm::Detector;
use varnorm::calibrate::Decision;
use varnorm::report::{Options, Report};
use varnorm_study::StudyReport;

use crate::args::{Filling, Reading, one_of};
use crate::console::Console;
use crate::failure::Failure;
use crate::source;

/// Show scored series, or a study, as one HTML file with pictures
///
/// The file needs no network, opens from disk and prints well. A name that ends in .json gets the data instead.
#[derive(Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Example:
  varnorm report normal.model today/ -o today.html
  varnorm report walking.model BasicMotions_TEST.ts --normal Walking -o walking.html
  varnorm report racket --published params.json --compare older_run -o racket.html"
)]
pub struct ReportCommand {
    /// A model that `varnorm fit` wrote, or the folder of a study (its --run)
    #[arg(value_name = "MODEL|RUN")]
    model: PathBuf,
    /// Files or folders of series to score; none for a study, or for the model alone
    #[arg(value_name = "DATA")]
    data: Vec<PathBuf>,
    /// The file to write; an old one is replaced
    #[arg(short, long = "output", value_name = "FILE")]
    output: PathBuf,
    /// The label of normal series, for ROC and precision-recall curves
    #[arg(long, value_name = "LABEL")]
    normal: Option<String>,
    /// False-alarm rate that flags aim at [default: the model's]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    level: Option<f64>,
    /// How p-values become flags [default: the model's]
    #[arg(long, value_parser = one_of::<Decision>(Decision::WORDS))]
    decision: Option<Decision>,
    /// Explain the N most novel series; each takes as long as scoring a few dozen
    #[arg(long, value_name = "N", default_value_t = Options::default().explain)]
    explain: usize,
    /// Cut time into N stretches in explanations
    #[arg(long, value_name = "N", default_value_t = Options::default().segments)]
    segments: usize,
    /// Keep the curves of the N most novel series at most
    #[arg(long, value_name = "N", default_value_t = Options::default().curves)]
    curves: usize,
    /// Of a study: put the numbers of this published file beside its own
    #[arg(long, value_name = "FILE")]
    published: Option<PathBuf>,
    /// Of a study: tell what moved since this other run
    #[arg(long, value_name = "RUN")]
    compare: Option<PathBuf>,
    #[command(flatten)]
    filling: Filling,
    #[command(flatten)]
    reading: Reading,
}

impl ReportCommand {
    /// Scores, draws and writes.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        source::refuse_overwriting(std::iter::once(&self.model).chain(&self.data), Some(&self.output))?;
        if self.model.is_dir() {
            return self.study(console);
        }
        let detector = Detector::load(&self.model)?;
        if self.data.is_empty() {
            Report::of_detector(&detector, &console.run)?.write(&self.output)?;
            console.say(format!("the report of the model alone is in {}", self.output.display()));
            return Ok(());
        }
        let dataset = source::read_for(console, &detector, &self.data, &self.reading, self.filling.gaps)?;
        let options = Options::default()
            .with_level(self.level)
            .with_decision(self.decision)
            .with_normal(self.normal.clone())
            .with_explain(self.explain)
            .with_segments(self.segments)
            .with_curves(self.curves);
        let report =
            Report::new(&detector, &dataset, &options, &console.run).map_err(source::named(&dataset))?;
        console.run.check()?;
        report.write(&self.output)?;
        report.notes.iter().skip(dataset.notes.len()).for_each(|note| console.say(format!("note: {note}")));
        report.warnings.iter().for_each(|warning| console.warn(warning));
        console.say(format!(
            "{} of {} series flagged; the report is in {}",
            report.scored.flagged(),
            report.scored.findings.len(),
            self.output.display()
        ));
        Ok(())
    }

    fn study(&self, console: &Console) -> Result<(), Failure> {
        if !self.data.is_empty() {
            let words = format!("{} is the folder of a study, which takes no data", self.model.display());
            return Err(Failure::Words(words));
        }
        let report = StudyReport::read(&self.model, self.published.as_deref(), self.compare.as_deref())?;
        console.run.check()?;
        report.write(&self.output)?;
        console.say(format!(
            "{} of {} units are done; the report is in {}",
            report.units.len(),
            report.header.units.len(),
            self.output.display()
        ));
        Ok(())
    }
}
