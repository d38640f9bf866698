//! What can be done with runs: show one, join pieces, compare two.

use std::path::PathBuf;

use clap::Args;
use varnorm_study::{Comparison, Header, Parameters, UnitResult, compare, merge, read_run};

use super::Showing;
use crate::args::ReportFormat;
use crate::console::Console;
use crate::failure::Failure;
use crate::output;
use crate::table::{Align, Table};

/// Show the tables and figures of a run, finished or not
#[derive(Args)]
pub struct Show {
    /// The folder given as --run
    run: PathBuf,
    /// Put the numbers of this published file beside them
    #[arg(long, value_name = "FILE")]
    published: Option<PathBuf>,
    #[command(flatten)]
    showing: Showing,
}

impl Show {
    /// Shows it.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        let (header, units) = read_run(&self.run)?;
        let published = self.published.as_deref().map(Parameters::read).transpose()?;
        missing(console, &header, &units);
        self.showing.show(console, &units, published.as_ref())
    }
}

fn missing(console: &Console, header: &Header, units: &[UnitResult]) {
    if units.len() < header.units.len() {
        console.warn(format!(
            "{} of {} units are done; means are over those",
            units.len(),
            header.units.len()
        ));
    }
}

/// Join pieces of one study, made with --shard
#[derive(Args)]
pub struct Merge {
    /// The pieces' folders
    #[arg(required = true)]
    pieces: Vec<PathBuf>,
    /// The folder for the whole
    #[arg(short, long = "output", value_name = "FOLDER")]
    output: PathBuf,
}

impl Merge {
    /// Joins them.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        let (header, units) = merge(&self.pieces, &self.output)?;
        missing(console, &header, &units);
        console.say(format!("{} units are in {}", units.len(), self.output.display()));
        Ok(())
    }
}

/// Compare two runs: which numbers moved, by how much, and a paired test
#[derive(Args)]
pub struct Compare {
    /// The run that the other is compared with
    before: PathBuf,
    /// The other run
    after: PathBuf,
    /// Moves of a mean area up to this are not told
    #[arg(long, value_name = "X", default_value_t = 5e-4)]
    tolerance: f64,
    /// How to print it
    #[arg(long, value_enum, default_value = "table")]
    format: ReportFormat,
}

impl Compare {
    /// Compares them.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        let (_, before) = read_run(&self.before)?;
        let (_, after) = read_run(&self.after)?;
        let found = compare(&before, &after, self.tolerance);
        if found.common == 0 {
            return Err(Failure::Words("the two runs have no data set, kernel and method in common".into()));
        }
        output::deliver(console, None, |out| match self.format {
            ReportFormat::Json => output::json(out, &found),
            ReportFormat::Table => {
                if !found.moved.is_empty() {
                    moved(&found).write_aligned(out)?;
                }
                writeln!(
                    out,
                    "{} of {} means moved by more than {}; mean change of ROC AUC over {} classes, kernels and methods: \
                     {:+.4} (Wilcoxon signed-rank test: p = {:.3})",
                    found.moved.len(),
                    found.common,
                    self.tolerance,
                    found.pairs,
                    found.mean_change,
                    found.p_value
                )
            }
        })
    }
}

fn moved(found: &Comparison) -> Table {
    let right = ["roc_before", "roc_after", "roc_change", "pr_before", "pr_after", "pr_change"];
    let mut columns = vec![("dataset", Align::Left), ("kernel", Align::Left), ("method", Align::Left)];
    columns.extend(right.map(|name| (name, Align::Right)));
    let mut table = Table::new(columns);
    for one in &found.moved {
        let mut row = vec![one.dataset.clone(), one.kernel.clone(), one.method.name().into()];
        for (before, after) in [one.roc_auc, one.pr_auc] {
            row.extend([format!("{before:.4}"), format!("{after:.4}"), format!("{:+.4}", after - before)]);
        }
        table.push(row);
    }
    table
}
