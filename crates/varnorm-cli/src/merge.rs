//! `varnorm merge`: models of parts become the model of the whole.

use std::path::PathBuf;

use clap::Args;
use varnorm::Detector;
use varnorm::describe::count;

use crate::console::Console;
use crate::failure::Failure;

/// Put compact models of parts of a corpus together
#[derive(Args)]
#[command(after_help = "Example:
  varnorm merge monday.model tuesday.model -o week.model

The models must be alike: fit the first one, and the others like it:
  varnorm fit monday/ -o monday.model --kernel sig_random:features=100 --space features
  varnorm fit tuesday/ -o tuesday.model --like monday.model")]
pub struct Merge {
    /// Model files, with landmarks or features
    #[arg(value_name = "MODEL", required = true)]
    models: Vec<PathBuf>,
    /// The model file to write; an old one is replaced
    #[arg(short, long = "output", value_name = "MODEL")]
    output: PathBuf,
}

impl Merge {
    /// Reads, merges and writes.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        let models: Result<Vec<Detector>, _> = self.models.iter().map(|path| Detector::load(path)).collect();
        let merged = Detector::merge(models?, &console.run)?;
        console.run.check()?;
        console.clear();
        merged.save(&self.output)?;
        console.say(format!(
            "merged {} of {} in all",
            count(self.models.len(), "model"),
            count(merged.corpus_series(), "series")
        ));
        merged.warnings().iter().for_each(|warning| console.warn(warning));
        console.say(format!("wrote {}", self.output.display()));
        Ok(())
    }
}
