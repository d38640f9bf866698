//! `varnorm theory`: the paper's statements, watched on laws whose norms are known exactly.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use varnorm::Error;
use varnorm::describe::significant;
use varnorm_study::theory::Report;

use crate::args::ReportFormat;
use crate::console::Console;
use crate::failure::Failure;
use crate::output;
use crate::table::{Align, Table};

/// Watch the theory at work: consistency, neighbours and equidistance, as tables and pictures
///
/// Samples are drawn from a Gaussian law with eigenvalues 1/j^2, whose norms are known exactly. Three
/// pictures are written: consistency.svg (empirical norms against the law's, over the sample size),
/// spread.svg (nearest against furthest neighbours beside the bound, over the regularisation) and
/// equidistance.svg (distances between corpus elements with and without regularisation).
#[derive(Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Example:
  varnorm theory -o pictures
  varnorm theory --dimension 200 --repeats 50 --format json"
)]
pub struct Theory {
    /// Folder to write the pictures to; none are written without it
    #[arg(short, long = "output", value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Eigenvalues of the law
    #[arg(long, value_name = "D", default_value_t = 60, value_parser = clap::value_parser!(u16).range(2..))]
    dimension: u16,
    /// Samples per point
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    repeats: u16,
    /// Regularisation
    #[arg(long, value_name = "X", default_value_t = 0.01, allow_negative_numbers = true)]
    alpha: f64,
    /// How to print it
    #[arg(long, value_enum, default_value = "table")]
    format: ReportFormat,
}

impl Theory {
    /// Draws, prints, writes.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        let report = Report::new(self.dimension, self.repeats, self.alpha, &console.run)?;
        if let Some(folder) = &self.output {
            std::fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, e))?;
            for (name, plot) in report.plots() {
                varnorm::data::write_atomically(&folder.join(name), |out| {
                    out.write_all(plot.to_svg().as_bytes())
                })?;
            }
        }
        output::deliver(console, None, |out| match self.format {
            ReportFormat::Json => output::json(out, &report),
            ReportFormat::Table => write_report(&report, out),
        })?;
        if let Some(folder) = &self.output {
            console.say(format!(
                "wrote consistency.svg, spread.svg and equidistance.svg to {}",
                folder.display()
            ));
        }
        Ok(())
    }
}

fn write_report(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let c = &report.consistency;
    let digits = |value: f64| significant(value, 3);
    writeln!(out, "Empirical norms tend to the law's (alpha {}): mean absolute error", c.alpha)?;
    let mut table =
        Table::new(vec![("N", Align::Right), ("tikhonov", Align::Right), ("envelope", Align::Right)]);
    for (at, count) in c.counts.iter().enumerate() {
        table.push(vec![count.to_string(), digits(c.tikhonov[at]), digits(c.envelope[at])]);
    }
    table.write_aligned(out)?;
    writeln!(
        out,
        "slopes {:.2} and {:.2}; the theorem promises -0.25 or steeper, and -0.5 is the rate of a mean\n",
        c.tikhonov_slope, c.envelope_slope
    )?;
    let s = &report.spread;
    writeln!(
        out,
        "Nearest against furthest of {} neighbours: (max - min) / mean of squared distances",
        s.count
    )?;
    let columns = ["alpha", "eff. dimension", "law's norm", "sample's norm", "epsilon"];
    let mut table = Table::new(columns.map(|name| (name, Align::Right)).to_vec());
    for (at, alpha) in s.alphas.iter().enumerate() {
        let cells = [*alpha, s.effective_dimension[at], s.population[at], s.empirical[at], s.bound[at]];
        table.push(cells.map(digits).to_vec());
    }
    table.write_aligned(out)?;
    writeln!(out, "spreads are those that 95% of the trials stay below; epsilon is without its constant\n")?;
    let e = &report.equidistance;
    writeln!(out, "Distances between corpus elements, smallest to largest (alpha 0 and {})", e.alpha)?;
    let columns = ["N", "sqrt(2N)", "alpha 0", "regularised", "bounds"];
    let mut table = Table::new(columns.map(|name| (name, Align::Right)).to_vec());
    let pair = |(low, high): (f64, f64)| format!("{} to {}", significant(low, 4), significant(high, 4));
    for (at, count) in e.counts.iter().enumerate() {
        let root = significant((2.0 * *count as f64).sqrt(), 4);
        table.push(vec![
            count.to_string(),
            root,
            pair(e.exact[at]),
            pair(e.tikhonov[at]),
            pair(e.bounds[at]),
        ]);
    }
    table.write_aligned(out)
}
