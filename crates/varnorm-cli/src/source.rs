//! Reading data for a command.

use std::io::Read;
use std::path::{Path, PathBuf};

use varnorm::prepare::Gaps;
use varnorm::{Dataset, Detector, Error};

use crate::args::Reading;
use crate::console::Console;
use crate::failure::Failure;

/// Reads files and folders as one data set and tells what the readers noticed.
pub fn read(console: &Console, paths: &[PathBuf], reading: &Reading) -> Result<Dataset, Failure> {
    let dataset = varnorm::data::read_all(paths, &reading.options())?;
    console.run.check()?;
    console.notes(&dataset.notes);
    Ok(dataset)
}

/// Reads new data for a model: its channels in their order, at its sampling step. Missing values may be filled in, whatever
/// the model says about them. Tells what was noticed.
pub fn read_for(
    console: &Console,
    detector: &Detector,
    paths: &[PathBuf],
    reading: &Reading,
    gaps: Gaps,
) -> Result<Dataset, Failure> {
    let mut dataset = detector.admit(varnorm::data::read_all(paths, &reading.options())?)?;
    console.run.check()?;
    // A lone series without a name is named by its file.
    if dataset.series.len() == 1 && dataset.case_names.is_none() {
        dataset.case_names = Some(vec![dataset.name.clone()]);
    }
    gaps.fill_dataset(&mut dataset).map_err(named(&dataset.clone()))?;
    console.notes(&dataset.notes);
    Ok(dataset)
}

/// Loads a model; where model and data were swapped, says so.
pub fn model(path: &Path, data: &[PathBuf]) -> Result<Detector, Failure> {
    Detector::load(path).map_err(|error| match data.iter().find(|other| is_model(other)) {
        Some(other) if path.is_dir() || varnorm::data::Format::from_path(path).is_ok() => {
            Failure::Words(format!(
                "{} is data and {} is a model: give the model first, then the data",
                path.display(),
                other.display()
            ))
        }
        _ => error.into(),
    })
}

/// Whether a file begins as models do.
pub fn is_model(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(9).read_to_end(&mut start));
    read.is_ok() && start.get(8) == Some(&b'{')
}

/// A result must not take the place of what it is made from.
pub fn refuse_overwriting<'a>(
    inputs: impl IntoIterator<Item = &'a PathBuf>,
    output: Option<&Path>,
) -> Result<(), Failure> {
    // What is not there yet cannot be overwritten.
    let Some(target) = output.and_then(|path| path.canonicalize().ok()).filter(|path| path.is_file()) else {
        return Ok(());
    };
    // A folder is read with all its files of data.
    let is_data = varnorm::data::Format::from_path(&target).is_ok();
    let reads = |input: &Path| input == target || (is_data && target.parent() == Some(input));
    let same = |input: &PathBuf| input.canonicalize().is_ok_and(|input| reads(&input));
    match inputs.into_iter().find(|input| same(input)) {
        Some(input) => Err(Failure::Words(format!(
            "{} is read by this command and would be overwritten; give the result another name",
            input.display()
        ))),
        None => Ok(()),
    }
}

/// An error about a series or a channel, with their names where they have some.
pub fn named(dataset: &Dataset) -> impl Fn(Error) -> Failure {
    move |error| match dataset.names_in(&error) {
        Some(names) => Failure::Words(format!("{error} ({names})")),
        None => error.into(),
    }
}
