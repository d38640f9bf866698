//! Triples of NumPy arrays.

use std::path::{Path, PathBuf};

use super::Labelled;
use varnorm::internal::npy_numbers;
use varnorm::{Error, Result};

/// From the path of the labels.
pub(super) fn read(labels: &Path) -> Result<Labelled> {
    let (train, channels) = matrix(&beside(labels, "_train.npy"))?;
    let (test, of_test) = matrix(&beside(labels, "_test.npy"))?;
    let (_, flags) = numbers(labels)?;
    if channels != of_test || test.len() / channels.max(1) != flags.len() {
        let problem = format!(
            "{} labels for {} rows of {of_test} channels, after a training part of {channels} channels",
            flags.len(),
            test.len() / of_test.max(1)
        );
        return Err(Error::file(labels, problem));
    }
    let anomalous = flags.into_iter().map(|flag| flag != 0.0).collect();
    Ok(Labelled { channels, normal: train, test, anomalous }.filled())
}

fn beside(labels: &Path, ending: &str) -> PathBuf {
    let name = labels.file_name().unwrap_or_default().to_string_lossy();
    labels.with_file_name(name.replace("_test_label.npy", ending))
}

fn numbers(path: &Path) -> Result<(Vec<usize>, Vec<f64>)> {
    let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
    npy_numbers(path, &bytes)
}

/// Rows of channels; one axis is one channel.
fn matrix(path: &Path) -> Result<(Vec<f64>, usize)> {
    let (shape, values) = numbers(path)?;
    match shape[..] {
        [_] => Ok((values, 1)),
        [_, channels] if channels > 0 => Ok((values, channels)),
        _ => Err(Error::file(path, format!("an array of shape {shape:?}; it must be rows x channels"))),
    }
}
