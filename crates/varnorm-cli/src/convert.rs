//! `varnorm convert`: from one file format to another.

use std::path::PathBuf;

use clap::Args;
use varnorm::Error;
use varnorm::data::{CsvShape, WriteOptions};
use varnorm::describe;

use crate::args::{Reading, one_of};
use crate::console::Console;
use crate::failure::Failure;
use crate::source;

/// Convert data between .ts, .arff, .csv, .npy and .npz
#[derive(Args)]
#[command(after_help = "Example:
  varnorm convert BasicMotions_TRAIN.ts motions.npz
  varnorm convert recordings/ all.csv --csv long --csv-layout recording")]
pub struct Convert {
    /// Files or folders to read; several become one data set
    #[arg(value_name = "IN", required = true)]
    input: Vec<PathBuf>,
    /// The file to write; its extension tells the format
    #[arg(value_name = "OUT", required = true)]
    output: PathBuf,
    /// Layout of a .csv file that is written: one row per series, or one per step
    #[arg(long, value_parser = one_of::<CsvShape>(CsvShape::WORDS), default_value_t = CsvShape::default(),
          value_name = "SHAPE")]
    csv: CsvShape,
    /// Drop what the format cannot hold instead of refusing
    #[arg(long)]
    lossy: bool,
    #[command(flatten)]
    reading: Reading,
}

impl Convert {
    /// Reads and writes.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        // A target that cannot be written is said before a long read.
        varnorm::data::Format::from_path(&self.output)?;
        source::refuse_overwriting(&self.input, Some(&self.output))?;
        let dataset = source::read(console, &self.input, &self.reading)?;
        let options = WriteOptions::default().with_csv(self.csv).with_lossy(self.lossy);
        let dropped =
            varnorm::data::write(&dataset, &self.output, &options).map_err(|error| self.refused(error))?;
        console.say(format!("read {}: {}", dataset.name, describe::series(&dataset.series)));
        dropped.iter().for_each(|what| console.warn(format!("dropped: {what}")));
        console.say(format!("wrote {}", self.output.display()));
        Ok(())
    }

    /// The library does not know the option's name, nor whether it was given.
    fn refused(&self, error: Error) -> Failure {
        match error {
            Error::CannotHold { format, what } if self.lossy => {
                Failure::Words(format!("{format} cannot hold {what}, and it cannot be dropped; write .npz"))
            }
            Error::CannotHold { .. } => Failure::Words(format!("{error} with --lossy")),
            error => error.into(),
        }
    }
}
