//! Reading data for a command.

use std::path::{Path, PathBuf};

use varnorm::prepare::Gaps;
use varnorm::{Dataset, Detector, Error};

use crate::args::Reading;
use crate::console::Console;
use crate::failure::Failure;

/// Reads files and folders as one data set and tells what the readers noticed.
pub fn read(console: &Console, paths: &[PathBuf], reading: Reading) -> Result<Dataset, Failure> {
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
    reading: Reading,
    gaps: Gaps,
) -> Result<Dataset, Failure> {
    let mut dataset = detector.admit(varnorm::data::read_all(paths, &reading.options())?)?;
    console.run.check()?;
    gaps.fill_dataset(&mut dataset).map_err(named(&dataset.clone()))?;
    console.notes(&dataset.notes);
    Ok(dataset)
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
