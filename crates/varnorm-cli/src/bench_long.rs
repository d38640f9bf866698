//! `varnorm bench-long`: detectors of long recordings, on the files of benchmark archives.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use varnorm::describe::duration;
use varnorm_study::bench::Layout;
use varnorm_study::bench_long::{ExternalPoints, LongBenchmark, LongMethod, LongStep, names, table};

use crate::console::Console;
use crate::failure::Failure;
use crate::output;

/// Benchmark detectors of long recordings on labelled archives: UCR, SKAB, TSB-AD, TimeEval, NAB, arrays
#[derive(Args)]
#[command(after_help = "Examples:
  varnorm bench-long archives -o outcomes                         everything, resumable
  varnorm bench-long archives --groups UCR --format markdown      a table for a page
  varnorm bench-long archives --scores stumpy=stumpy.csv          beside scores made by tools/long_peers.py

A recording is told by its file: NAME_TRAINEND_START_END.txt (UCR), columns anomaly and changepoint (SKAB; the first 400
rows are normal), _tr_N_1st_M.csv with a column Label (TSB-AD), columns timestamp and is_anomaly (TimeEval), timestamp
and value with combined_windows.json (NAB), NAME_train.npy with NAME_test.npy and NAME_test_label.npy.")]
pub struct BenchLong {
    /// Folder with recordings, in folders or not
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Groups of recordings, separated by commas: folders in DIR, or archives [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    groups: Vec<String>,
    #[arg(long, value_delimiter = ',', value_name = "NAMES",
          help = format!("Methods, separated by commas [default: {}]", names()))]
    methods: Vec<String>,
    /// A method whose scores were made elsewhere: a CSV with the columns recording, point, score
    #[arg(long, value_name = "NAME=FILE")]
    scores: Vec<String>,
    /// Widest buffer of VUS-PR and VUS-ROC, in points
    #[arg(long, value_name = "N", default_value_t = varnorm::metrics::VUS_WINDOW)]
    vus_window: usize,
    /// Share of held-out normal scores that a threshold is above (SKAB) [default: 0.9]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    cut: Option<f64>,
    /// Add point-adjusted F1, which is misleading: random scores do well
    #[arg(long)]
    point_adjusted: bool,
    /// Keep every outcome in this folder, and go on from what is there
    #[arg(short, long = "output", value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// How to print the table
    #[arg(long, value_enum, default_value = "text")]
    format: LongFormat,
}

/// How a benchmark is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LongFormat {
    /// Aligned columns for people
    Text,
    /// A table of a Markdown page
    Markdown,
    /// A page
    Html,
    /// A list with an entry per recording and method, full precision
    Json,
}

impl BenchLong {
    /// Works it out and shows it.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        let benchmark = self.benchmark()?;
        let told = |step: LongStep<'_>| console.say(told(&step));
        let outcomes = benchmark.run(self.output.as_deref(), &console.run, told);
        let outcomes = outcomes.map_err(|error| match &self.output {
            Some(folder) => Failure::kept(|| {
                let folder = folder.display();
                format!("finished outcomes are kept in {folder}: the same command goes on from there")
            })(error),
            None => error.into(),
        })?;
        let layout = match self.format {
            LongFormat::Json => None,
            LongFormat::Text => Some(Layout::Text),
            LongFormat::Markdown => Some(Layout::Markdown),
            LongFormat::Html => Some(Layout::Html),
        };
        output::deliver(console, None, |out| match layout {
            None => output::json(out, &outcomes),
            Some(layout) => out.write_all(table(&outcomes, layout).as_bytes()),
        })
    }

    fn benchmark(&self) -> Result<LongBenchmark, Failure> {
        let mut benchmark = LongBenchmark::new(&self.folder);
        benchmark.groups.clone_from(&self.groups);
        if !self.methods.is_empty() {
            benchmark.methods = self.methods.iter().map(|name| name.parse()).collect::<Result<_, _>>()?;
        }
        for text in &self.scores {
            benchmark.methods.push(LongMethod::External(external(text)?));
        }
        benchmark.vus_window = self.vus_window;
        benchmark.cut = self.cut.unwrap_or(benchmark.cut);
        benchmark.point_adjusted = self.point_adjusted;
        Ok(benchmark)
    }
}

fn external(text: &str) -> Result<ExternalPoints, Failure> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() => Ok(ExternalPoints::read(name, Path::new(file))?),
        _ => Err(Failure::Words(format!(
            "--scores {text}: write a name and a file, as in --scores stumpy=stumpy.csv"
        ))),
    }
}

/// One line per outcome: how far, what, how well, how long.
fn told(step: &LongStep<'_>) -> String {
    let outcome = step.outcome;
    let found = match (&outcome.judged, &outcome.skipped) {
        (Some(judged), _) => format!("VUS-PR {:.3}", judged.vus_pr),
        (None, Some(reason)) => format!("skipped: {reason}"),
        (None, None) => "no result".into(),
    };
    let took = duration(step.took.as_secs_f64());
    format!("[recording {}/{}] {}: {found} ({took})", step.recording, step.recordings, outcome.unit)
}
