//! Reading data for a command.

use std::path::PathBuf;

use varnorm::{Dataset, Error};

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

/// An error about a series, with the series' name where it has one.
pub fn named(dataset: &Dataset) -> impl Fn(Error) -> Failure {
    move |error| {
        let series = match &error {
            Error::Missing { series, .. }
            | Error::NonFinite { series, .. }
            | Error::UnequalLengths { series, .. } => Some(*series),
            _ => None,
        };
        let names = dataset.case_names.as_ref();
        match series.and_then(|at| Some((at, names?.get(at)?))) {
            Some((at, name)) => Failure::Words(format!("{error} (series {at} is named {name})")),
            None => error.into(),
        }
    }
}
