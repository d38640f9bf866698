//! `varnorm gram`: kernel values as a matrix.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use varnorm::data::npy_header;
use varnorm::gram::{self, Scaling};
use varnorm::{Dataset, Kernel, Matrix, Preparation, SeriesSet};

use crate::args::Reading;
use crate::console::Console;
use crate::failure::Failure;
use crate::{output, source};

/// Compute the kernel values of all pairs of series
///
/// The matrix has one row per series of A and one column per series of B, or of A if B is left out. What is
/// learned from data (the preparation, and kernel parameters that are `auto`) is learned from the columns: B
/// if given, else A.
#[derive(Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Example:
  varnorm gram BasicMotions_TRAIN.ts --kernel flat_rbf --prepare standard --normalize -o gram.npy
  varnorm gram new.csv normal.csv --kernel flat_linear > cross.csv"
)]
pub struct GramCommand {
    /// File or folder: the rows
    a: PathBuf,
    /// File or folder: the columns [default: A]
    b: Option<PathBuf>,
    /// Kernel, such as flat_rbf:sigma=3, or JSON; see `varnorm kernels`
    #[arg(long, value_name = "SPEC", default_value = "flat_rbf")]
    kernel: String,
    /// Preparation, learned from B if given, else from A
    #[arg(long, value_name = "SPEC", default_value = "none")]
    prepare: String,
    /// Scale each series to unit length in feature space: k(x,y) / sqrt(k(x,x) k(y,y))
    #[arg(long)]
    normalize: bool,
    /// Write natural logarithms of the values
    #[arg(long)]
    log: bool,
    /// The file to write: .npy (64-bit floats) or .csv [default: CSV on standard output]
    #[arg(short, long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Clone, Copy)]
enum Form {
    Npy,
    Csv,
}

impl GramCommand {
    /// Computes and writes.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        let form = form(self.output.as_deref())?;
        source::refuse_overwriting(std::iter::once(&self.a).chain(&self.b), self.output.as_deref())?;
        let kernel: Kernel = self.kernel.parse()?;
        let prepare: Preparation = self.prepare.parse()?;
        let read = |path: &PathBuf| -> Result<Dataset, Failure> {
            source::read(console, std::slice::from_ref(path), &self.reading)
        };
        let rows = read(&self.a)?;
        let columns = self.b.as_ref().map(read).transpose()?;
        let corpus_path = self.b.as_ref().unwrap_or(&self.a);
        let (fitted, corpus) =
            prepare.fit(&columns.as_ref().unwrap_or(&rows).series).map_err(Failure::about(corpus_path))?;
        let kernel = kernel.resolve(&corpus).map_err(Failure::about(corpus_path))?;
        let queries = match columns {
            Some(_) => Some(fitted.apply(&rows.series).map_err(Failure::about(&self.a))?),
            None => None,
        };
        let width = corpus.len();
        let height = queries.as_ref().map_or(width, SeriesSet::len);
        console.say(format!("kernel {kernel}, {height} x {width} values"));
        let matrix = self.values(console, &kernel, &corpus, queries.as_ref())?;
        output::deliver(console, self.output.as_deref(), |out| match form {
            Form::Npy => write_npy(out, &matrix),
            Form::Csv => write_csv(out, &matrix),
        })?;
        if let Some(path) = &self.output {
            console.say(format!("wrote {}", path.display()));
        }
        Ok(())
    }

    fn values(
        &self,
        console: &Console,
        kernel: &Kernel,
        corpus: &SeriesSet,
        queries: Option<&SeriesSet>,
    ) -> Result<Matrix, Failure> {
        let scaling = Scaling::of(self.normalize, self.log);
        let run = &console.run;
        Ok(match queries {
            None => gram::gram(kernel, corpus, scaling, run)?.matrix,
            Some(queries) => {
                let self_values = gram::self_values(std::slice::from_ref(kernel), corpus, run)?;
                gram::cross(kernel, queries, corpus, &self_values[0], scaling, run)
                    .map_err(Failure::about(&self.a))?
                    .matrix
            }
        })
    }
}

fn form(path: Option<&Path>) -> Result<Form, Failure> {
    let Some(path) = path else { return Ok(Form::Csv) };
    match path.extension().map(|e| e.to_string_lossy().to_lowercase()).as_deref() {
        // A device such as /dev/stdout has no extension.
        Some("npy") | None => Ok(Form::Npy),
        Some("csv") => Ok(Form::Csv),
        Some(other) => Err(Failure::Words(format!(
            "{}: a Gram matrix is written as .npy or .csv, not as .{other}",
            path.display()
        ))),
    }
}

fn write_npy(out: &mut dyn Write, matrix: &Matrix) -> io::Result<()> {
    out.write_all(&npy_header("<f8", &[matrix.rows(), matrix.columns()]))?;
    matrix.values().iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))
}

fn write_csv(out: &mut dyn Write, matrix: &Matrix) -> io::Result<()> {
    for row in 0..matrix.rows() {
        for (column, value) in matrix.row(row).iter().enumerate() {
            let mark = if column == 0 { "" } else { "," };
            write!(out, "{mark}{value:?}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
