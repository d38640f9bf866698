//! `varnorm kernels`: the catalogue.

use std::io::{self, Write};

use clap::Args;
use varnorm::kernel::{CATALOGUE, KernelInfo};

use crate::args::ReportFormat;
use crate::console::Console;
use crate::failure::Failure;
use crate::output;

/// List the kernels, their parameters and how to write them
#[derive(Args)]
#[command(after_help = "Example:
  varnorm kernels
  varnorm fit normal.csv -o normal.model --kernel integral_rbf:sigma=0.7")]
pub struct Kernels {
    /// How to print it
    #[arg(long, value_enum, default_value = "table")]
    format: ReportFormat,
}

impl Kernels {
    /// Prints the catalogue.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        output::deliver(console, None, |out| match self.format {
            ReportFormat::Json => output::json(out, &CATALOGUE),
            ReportFormat::Table => CATALOGUE.iter().enumerate().try_for_each(|(i, info)| {
                if i > 0 {
                    writeln!(out)?;
                }
                describe(out, info)
            }),
        })
    }
}

fn describe(out: &mut dyn Write, info: &KernelInfo) -> io::Result<()> {
    let lengths = if info.any_lengths { "any lengths" } else { "equal lengths" };
    writeln!(out, "{}  {}", info.name, info.formula)?;
    for parameter in info.parameters {
        let default = format!("{}={}", parameter.name, parameter.default);
        writeln!(out, "    {default:<15} {}", parameter.meaning)?;
    }
    writeln!(out, "    {:<15} {lengths}", "series")?;
    writeln!(out, "    {:<15} --kernel {}", "example", info.example)
}
