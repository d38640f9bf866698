//! `varnorm bench`: detectors as they come, on labelled data sets, without a search.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use varnorm::describe::duration;
use varnorm_study::bench::{
    Benchmark, Layout, Method, Step, contamination_table, halves_table, names, table,
};

use crate::args::with_default;
use crate::console::Console;
use crate::failure::Failure;
use crate::output;
use crate::study::external;

/// Benchmark detectors as they come on labelled data sets: each class in turn is normal, no labels are fitted
#[derive(Args)]
#[command(after_help = "Examples:
  varnorm bench uea -o outcomes                                 every method on every data set, resumable
  varnorm bench uea --methods auto,nearest --format markdown    a table for a page
  varnorm bench uea --datasets NATOPS --scores rockad=rockad.csv
  varnorm bench uea --contaminate 0,0.05,0.1,0.2 -o mixed       corpora that are not clean
  varnorm bench uea --halves 200 -o halves                      promised and observed false alarms

Columns: means over the classes of a data set, with novel series as those to be found. Flagged: the share of
novel and of normal test series at the level; classes with too few training series for it get twice the level.")]
pub struct Bench {
    /// Folder with NAME/NAME_TRAIN.ts and NAME/NAME_TEST.ts
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Data sets, separated by commas [default: all in DIR]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    datasets: Vec<String>,
    #[arg(long, value_delimiter = ',', value_name = "NAMES",
          help = format!("Methods, separated by commas: presets, and the plain nearest neighbour [default: {}]", names()))]
    methods: Vec<String>,
    /// A method whose scores were made elsewhere: a CSV with the columns dataset, class, series, score
    #[arg(long, value_name = "NAME=FILE")]
    scores: Vec<String>,
    #[arg(long, value_name = "X", allow_negative_numbers = true, help = with_default(
        "False-alarm rate that flags promise",
        |settings| settings.level.to_string(),
    ))]
    level: Option<f64>,
    /// Keep every outcome in this folder, and go on from what is there
    #[arg(short, long = "output", value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Instead: mix these shares of a foreign class into every corpus, and judge with and without robust trim
    #[arg(long, value_delimiter = ',', value_name = "SHARES", conflicts_with_all = ["methods", "scores"])]
    contaminate: Vec<f64>,
    /// Instead: promised and observed false alarms on N random halves of every class with 20 series or more
    #[arg(long, value_name = "N", conflicts_with_all = ["methods", "scores", "contaminate"])]
    halves: Option<usize>,
    /// Of --halves: the calibration
    #[arg(long, value_name = "SPEC", default_value = "leave_one_out", requires = "halves")]
    calibration: String,
    /// How to print the table
    #[arg(long, value_enum, default_value = "text")]
    format: BenchFormat,
}

/// How a benchmark is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BenchFormat {
    /// Aligned columns for people
    Text,
    /// A table of a Markdown page
    Markdown,
    /// A page
    Html,
    /// A list with an entry per data set, class and method, full precision
    Json,
}

impl Bench {
    /// Works it out and shows it.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        let benchmark = self.benchmark()?;
        if let Some(halves) = self.halves {
            return self.halve(console, &benchmark, halves);
        }
        if !self.contaminate.is_empty() {
            return self.mix(console, &benchmark);
        }
        let told = |step: Step<'_>| console.say(told(&step));
        let outcomes = benchmark.run(self.output.as_deref(), &console.run, told);
        let outcomes = outcomes.map_err(|error| match &self.output {
            Some(folder) => Failure::kept(|| {
                let folder = folder.display();
                format!("finished outcomes are kept in {folder}: the same command goes on from there")
            })(error),
            None => error.into(),
        })?;
        self.deliver(console, &outcomes, table)
    }

    /// Corpora that are not clean.
    fn mix(&self, console: &Console, benchmark: &Benchmark) -> Result<(), Failure> {
        let outcomes =
            benchmark.contaminate(&self.contaminate, self.output.as_deref(), &console.run, |one| {
                console.say(format!(
                    "{}: ROC-AUC {:.3}, {} of {} planted found",
                    one.mixture, one.roc_auc, one.planted_found, one.planted
                ));
            })?;
        self.deliver(console, &outcomes, contamination_table)
    }

    /// False alarms on halves.
    fn halve(&self, console: &Console, benchmark: &Benchmark, halves: usize) -> Result<(), Failure> {
        let calibration = self.calibration.parse()?;
        let outcomes =
            benchmark.halves(halves, calibration, self.output.as_deref(), &console.run, |one| {
                let rates: Vec<String> =
                    one.rates.iter().map(|r| format!("{:.4} of {:.4}", r.observed, r.promised)).collect();
                console.say(format!("{}: {}", one.unit, rates.join(", ")));
            })?;
        self.deliver(console, &outcomes, halves_table)
    }

    fn deliver<T: serde::Serialize>(
        &self,
        console: &Console,
        outcomes: &[T],
        table: fn(&[T], Layout) -> String,
    ) -> Result<(), Failure> {
        let layout = match self.format {
            BenchFormat::Json => None,
            BenchFormat::Text => Some(Layout::Text),
            BenchFormat::Markdown => Some(Layout::Markdown),
            BenchFormat::Html => Some(Layout::Html),
        };
        output::deliver(console, None, |out| match layout {
            None => output::json(out, &outcomes),
            Some(layout) => out.write_all(table(outcomes, layout).as_bytes()),
        })
    }

    fn benchmark(&self) -> Result<Benchmark, Failure> {
        let mut benchmark = Benchmark::new(&self.folder);
        benchmark.datasets.clone_from(&self.datasets);
        if !self.methods.is_empty() {
            benchmark.methods = self.methods.iter().map(|name| name.parse()).collect::<Result<_, _>>()?;
        }
        for text in &self.scores {
            benchmark.methods.push(Method::External(external(text)?));
        }
        benchmark.level = self.level.unwrap_or(benchmark.level);
        Ok(benchmark)
    }
}

/// One line per outcome: how far, what, how well, how long.
fn told(step: &Step<'_>) -> String {
    let outcome = step.outcome;
    let found = match (&outcome.judged, &outcome.skipped) {
        (Some(judged), _) => format!("ROC-AUC {:.3}", judged.roc_auc),
        (None, Some(reason)) => format!("skipped: {reason}"),
        (None, None) => "no result".into(),
    };
    let took = duration(step.took.as_secs_f64());
    format!("[set {}/{}] {}: {found} ({took})", step.dataset, step.datasets, outcome.unit)
}
