//! Reading data for a command, and describing it in words.

use std::path::PathBuf;

use varnorm::{Dataset, Error, SeriesSet};

use crate::args::Reading;
use crate::console::Console;
use crate::failure::Failure;
use crate::table::count;

/// Reads files and folders as one data set and tells what the readers noticed.
pub fn read(console: &Console, paths: &[PathBuf], reading: Reading) -> Result<Dataset, Failure> {
    let dataset = varnorm::data::read_all(paths, &reading.options())?;
    console.run.check()?;
    console.notes(&dataset.notes);
    Ok(dataset)
}

/// "10 series of 6 channels, 100 steps each".
pub fn describe(series: &SeriesSet) -> String {
    format!(
        "{} of {}, {}",
        count(series.len(), "series"),
        count(series.channels(), "channel"),
        lengths(series)
    )
}

/// "100 steps each", "7 to 29 steps".
pub fn lengths(series: &SeriesSet) -> String {
    match series.equal_length() {
        Some(length) => format!("{} each", count(length, "step")),
        None => {
            let (low, high) = (series.lengths().min().unwrap_or(0), series.lengths().max().unwrap_or(0));
            format!("{low} to {high} steps")
        }
    }
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
