//! Data files.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use varnorm::data::{self, Channel, LabelKind, Labels, ReadOptions, Times, WriteOptions};

use crate::errors::{bad_param, raised};
use crate::kernels::parsed;
use crate::series::SeriesSet;

/// A file of series: the numbers, and everything else that the file says.
#[pyclass(frozen, get_all, module = "varnorm._core")]
pub struct Dataset {
    /// The problem's name.
    name: String,
    /// The numbers.
    series: Py<SeriesSet>,
    /// One label per series, where the file has them.
    labels: Option<Vec<String>>,
    /// Whether labels are numbers to be predicted, not names of classes.
    labels_are_targets: bool,
    /// A name per series, where the file has them.
    case_names: Option<Vec<String>>,
    /// A name per channel, where the file has them.
    channel_names: Option<Vec<String>>,
    /// A timestamp per step, as written, in the order of the steps of all series.
    times: Option<Vec<String>>,
    /// What the reader noticed and you should know.
    notes: Vec<String>,
}

impl Dataset {
    fn of(py: Python<'_>, read: data::Dataset) -> PyResult<Self> {
        let channel_names = read.channel_names();
        let origin = data::Origin::of(&read).unwrap_or_default();
        Ok(Self {
            name: read.name,
            series: Py::new(py, SeriesSet::of_origin(read.series, origin))?,
            labels_are_targets: read.labels.as_ref().is_some_and(|l| l.kind == LabelKind::Target),
            labels: read.labels.map(|l| l.values),
            case_names: read.case_names,
            channel_names,
            times: read.times.map(|times| times.to_written()),
            notes: read.notes,
        })
    }
}

/// Reads files and folders as one data set.
#[pyfunction]
#[pyo3(signature = (paths, csv_layout="auto", time=None, case=None, columns=vec![], ignore=vec![], decimal=None, skip=0))]
#[allow(clippy::too_many_arguments)]
pub fn read(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    csv_layout: &str,
    time: Option<String>,
    case: Option<String>,
    columns: Vec<String>,
    ignore: Vec<String>,
    decimal: Option<&str>,
    skip: usize,
) -> PyResult<Dataset> {
    let columns = data::Columns::default()
        .with_time(time)
        .with_case(case)
        .with_channels(columns)
        .with_ignore(ignore)
        .with_decimal(decimal.map(parsed::<data::Decimal>).transpose()?)
        .with_skip(skip);
    let options = ReadOptions::default().with_csv_layout(parsed(csv_layout)?).with_columns(columns);
    let found = py.detach(|| data::read_all(&paths, &options)).map_err(|e| raised(&e))?;
    Dataset::of(py, found)
}

/// Reads a published split: the training part and the test part.
#[pyfunction]
pub fn read_split(py: Python<'_>, folder: PathBuf, name: &str) -> PyResult<(Dataset, Dataset)> {
    let split = py.detach(|| data::read_split(&folder, name)).map_err(|e| raised(&e))?;
    Ok((Dataset::of(py, split.train)?, Dataset::of(py, split.test)?))
}

/// The recordings inside the package: the training part and the test part.
#[pyfunction]
pub fn basic_motions(py: Python<'_>) -> PyResult<(Dataset, Dataset)> {
    let split = data::basic_motions().map_err(|e| raised(&e))?;
    Ok((Dataset::of(py, split.train)?, Dataset::of(py, split.test)?))
}

/// Writes text to a file: whole or not at all.
#[pyfunction]
pub fn write_text(py: Python<'_>, path: PathBuf, text: &str) -> PyResult<()> {
    py.detach(|| data::write_atomically(&path, |out| out.write_all(text.as_bytes()))).map_err(|e| raised(&e))
}

/// Writes a file; its extension tells the format. Returns what had to be dropped.
#[pyfunction]
#[pyo3(signature = (path, name, series, labels=None, case_names=None, channel_names=None, times=None, csv_shape="long", lossy=false))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
pub fn write(
    py: Python<'_>,
    path: PathBuf,
    name: &str,
    series: &SeriesSet,
    labels: Option<Vec<String>>,
    case_names: Option<Vec<String>>,
    channel_names: Option<Vec<String>>,
    times: Option<Vec<String>>,
    csv_shape: &str,
    lossy: bool,
) -> PyResult<Vec<String>> {
    let (count, channels) = (series.set.len(), series.set.channels());
    let steps = series.set.lengths().sum();
    for (what, given, wanted) in [
        ("labels", labels.as_ref(), count),
        ("case_names", case_names.as_ref(), count),
        ("channel_names", channel_names.as_ref(), channels),
        ("times", times.as_ref(), steps),
    ] {
        if let Some(found) = given.map(Vec::len).filter(|found| *found != wanted) {
            return Err(bad_param(what, format!("{found} of them"), format!("there must be {wanted}")));
        }
    }
    let csv = parsed(csv_shape)?;
    let dataset = data::Dataset {
        labels: labels.map(Labels::classes),
        case_names,
        channels: channel_names.map(Channel::named),
        times: times.map(Times::from_written),
        ..data::Dataset::new(name, Arc::clone(&series.set).as_ref().clone())
    };
    let options = WriteOptions::default().with_csv(csv).with_lossy(lossy);
    py.detach(|| data::write(&dataset, &path, &options)).map_err(|e| raised(&e))
}
