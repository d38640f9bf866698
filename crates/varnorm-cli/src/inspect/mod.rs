//! `varnorm inspect`: what a model file or a data file holds.

mod data;

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use varnorm::data::Format;
use varnorm::describe::Fact;
use varnorm::detector::Description;
use varnorm::{Detector, Error};

use crate::args::{Reading, ReportFormat};
use crate::console::Console;
use crate::failure::Failure;
use crate::{output, source, table};

/// Show what a model file or a data file holds
#[derive(Args)]
#[command(after_help = "Example:
  varnorm inspect walking.model
  varnorm inspect BasicMotions_TRAIN.ts --format json
  varnorm inspect recordings/*.csv --decimal comma")]
pub struct Inspect {
    /// A model file, or data files and folders of them
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// How to print it
    #[arg(long, value_enum, default_value = "table")]
    format: ReportFormat,
    #[command(flatten)]
    reading: Reading,
}

/// A model for people: what reports say about it too, and the advice.
fn model_facts(detector: &Detector, described: &Description) -> Vec<(String, String)> {
    let advice = &described.diagnostics.advice;
    let advice = match advice.is_empty() {
        true if detector.suspects().is_empty() => "none: nothing stands out".into(),
        true => "look at the suspects".into(),
        false => advice.join("\n"),
    };
    let line = |Fact { name, words, code }: Fact| {
        let below = code.map(|code| format!("\n{code}")).unwrap_or_default();
        (name.to_lowercase(), words + &below)
    };
    let mut lines = vec![("kind".into(), "varnorm model".into())];
    lines.extend(described.facts(detector).into_iter().map(line));
    lines.push(("advice".into(), advice));
    lines
}

impl Inspect {
    /// Looks and prints.
    pub fn run(&self, console: &Console) -> Result<(), Failure> {
        let is_data =
            |file: &PathBuf| file.is_dir() || file == Path::new("-") || Format::from_path(file).is_ok();
        if self.files.len() > 1 || self.files.iter().any(is_data) {
            let files = varnorm::data::data_files(&self.files, &self.reading.options())?.len();
            let dataset = source::read(console, &self.files, &self.reading)?;
            let report = data::Report::new(&dataset, files);
            return output::deliver(console, None, |out| match self.format {
                ReportFormat::Json => output::json(out, &report),
                ReportFormat::Table => table::write_facts(out, &report.facts()),
            });
        }
        let [file] = &self.files[..] else { return Ok(()) };
        require_likely_model(file)?;
        if let Some(detector) = crate::long::load(file)? {
            return crate::long::inspect(console, &detector, self.format);
        }
        let detector = Detector::load(file)?;
        let report = Description::new(&detector);
        output::deliver(console, None, |out| match self.format {
            ReportFormat::Json => output::json(out, &report),
            ReportFormat::Table => table::write_facts(out, &model_facts(&detector, &report)),
        })?;
        detector.warnings().iter().for_each(|warning| console.warn(warning));
        Ok(())
    }
}

/// A file that is clearly neither is said to be neither, instead of a broken model.
fn require_likely_model(path: &Path) -> Result<(), Failure> {
    let mut start = Vec::new();
    let file = std::fs::File::open(path).map_err(|e| Error::io("read", path, e))?;
    file.take(9).read_to_end(&mut start).map_err(|e| Error::io("read", path, e))?;
    if start.get(8) == Some(&b'{') {
        return Ok(());
    }
    let known = Format::ALL.map(Format::extension).join(", ");
    Err(Error::file(path, format!("this is neither a varnorm model nor data of a known format ({known})"))
        .into())
}
