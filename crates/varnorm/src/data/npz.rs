//! NumPy's `.npy` (one array) and `.npz` (several arrays in a zip archive).
//!
//! The numbers are an array `X` of `series x steps x channels`, or `series x steps` for one channel; note
//! that some Python packages put channels before steps. An `.npz` file may further hold `y` (labels: texts
//! and whole numbers are classes, floating-point numbers are targets), `label_kind` (`class` or `target`,
//! where `y` does not tell), `classes` (class names in order), `lengths` (steps of each series; what lies
//! beyond is padding), `case_names`, `channel_names`, `channel_units`, `times` (`series x steps` texts), `time_unit`
//! (`ms`, where `times` are numbers) and `name`. Nothing is pickled.

mod array;
mod header;
mod parts;
mod write;

use std::io::{Cursor, ErrorKind, Read};
use std::path::Path;

use zip::ZipArchive;

use crate::data::{Dataset, ReadLimits, SeriesSet};
use crate::error::{Error, Result};

use super::names;
use array::Array;
use parts::Parts;

pub use header::npy_header;
pub(super) use write::{write_npy, write_npz};

/// Deflate packs at most about 1000 bytes into one; an entry that claims more is not to be believed.
const MOST_UNPACKED_PER_BYTE: u64 = 1100;

/// Reads an `.npy` file from memory.
pub(super) fn read_npy(path: &Path, bytes: &[u8], limits: &ReadLimits) -> Result<Dataset> {
    let whole = |problem: String| Error::file(path, problem);
    let array = Array::read(bytes).map_err(whole)?;
    let shape = shape(&array).map_err(whole)?;
    admit(shape, limits)?;
    let (values, [_, steps, channels]) = (array.floats().map_err(whole)?, shape);
    Ok(Dataset::new(names::from_path(path), SeriesSet::from_equal(values, steps, channels)?))
}

/// The shape and the numbers of an `.npy` file from memory, whatever its axes mean.
pub fn npy_numbers(path: &Path, bytes: &[u8]) -> Result<(Vec<usize>, Vec<f64>)> {
    let whole = |problem: String| Error::file(path, problem);
    let array = Array::read(bytes).map_err(whole)?;
    Ok((array.shape().to_vec(), array.floats().map_err(whole)?))
}

/// Reads an `.npz` file from memory.
pub(super) fn read_npz(path: &Path, bytes: &[u8], limits: &ReadLimits) -> Result<Dataset> {
    let whole = |problem: String| Error::file(path, problem);
    let mut archive = Archive::open(bytes, limits).map_err(whole)?;
    let main = archive.main_array().map_err(whole)?;
    limits.room(archive.unpacked_size(&main), 1)?;
    let stored = archive.entry(&main).map_err(whole)?.unwrap_or_default();
    let in_array = |problem: String| Error::file(path, format!("array `{main}`: {problem}"));
    let array = Array::read(&stored).map_err(in_array)?;
    let shape = shape(&array).map_err(in_array)?;
    // The header tells what the numbers will take, before there is one.
    admit(shape, limits)?;
    let values = array.floats().map_err(in_array)?;
    drop(stored);
    let parts = Parts::read(&mut archive, shape).map_err(whole)?;
    parts.dataset(path, values, shape)
}

fn admit([series, steps, channels]: [usize; 3], limits: &ReadLimits) -> Result<()> {
    limits.admit(series, steps, channels, series.saturating_mul(steps).saturating_mul(channels))
}

/// The shape as `[series, steps, channels]`.
fn shape(array: &Array<'_>) -> Result<[usize; 3], String> {
    let shape = match array.shape()[..] {
        [series, steps] => [series, steps, 1],
        [series, steps, channels] => [series, steps, channels],
        ref other => {
            return Err(format!(
                "the array has {} where 3 (series x steps x channels) or 2 (series x steps) are expected; \
                 reshape \
                 it",
                if other.len() == 1 { "1 axis".into() } else { format!("{} axes", other.len()) }
            ));
        }
    };
    if shape.contains(&0) {
        return Err(format!(
            "the array is empty (shape {:?}); give at least one series of one step",
            array.shape()
        ));
    }
    Ok(shape)
}

/// The arrays of an `.npz` file.
struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    most: u64,
    limits: ReadLimits,
}

impl<'a> Archive<'a> {
    fn open(bytes: &'a [u8], limits: &ReadLimits) -> Result<Self, String> {
        let zip = ZipArchive::new(Cursor::new(bytes))
            .map_err(|e| format!("not a readable .npz (zip) file: {e}; save it again with numpy.savez"))?;
        let most = MOST_UNPACKED_PER_BYTE.saturating_mul(bytes.len() as u64).min(limits.bytes as u64);
        Ok(Self { zip, most, limits: limits.clone() })
    }

    /// `X`, or the only array there is.
    fn main_array(&self) -> Result<String, String> {
        // A name that is no text is not the name of an array.
        let names = self.zip.file_names().flatten();
        let mut found: Vec<String> =
            names.filter_map(|name| name.strip_suffix(".npy").map(String::from)).collect();
        found.sort_unstable();
        match &found[..] {
            _ if found.iter().any(|name| name == "X") => Ok("X".into()),
            [only] => Ok(only.clone()),
            [] => Err("the file holds no arrays; save one as `X`".into()),
            _ => Err(format!("there is no array `X` among {}; save the series as `X`", found.join(", "))),
        }
    }

    /// What the entry of an array claims to unpack to; 0 where there is none.
    fn unpacked_size(&mut self, name: &str) -> usize {
        let size = self.zip.by_name(&format!("{name}.npy")).map_or(0, |entry| entry.size());
        usize::try_from(size).unwrap_or(usize::MAX)
    }

    /// The bytes of an array's `.npy` entry.
    fn entry(&mut self, name: &str) -> Result<Option<Vec<u8>>, String> {
        let broken = |e: &dyn std::fmt::Display| {
            format!("array `{name}` cannot be unpacked: {e}; save the file again")
        };
        let mut bytes = Vec::new();
        let mut entry = match self.zip.by_name(&format!("{name}.npy")) {
            Ok(entry) => entry,
            Err(zip::result::ZipError::FileNotFound) => return Ok(None),
            Err(e) => return Err(broken(&e)),
        };
        if entry.size() > self.most {
            return Err(format!(
                "array `{name}` claims to be far larger than the file, or than may be unpacked; save it in smaller pieces"
            ));
        }
        // The buffer grows with what is really there, whatever the entry claims.
        let most = self.most;
        (&mut entry).take(most).read_to_end(&mut bytes).map_err(|e| match e.kind() {
            ErrorKind::OutOfMemory => {
                format!("array `{name}` does not fit into memory; save it in smaller pieces")
            }
            _ => broken(&e),
        })?;
        Ok(Some(bytes))
    }
}

#[cfg(test)]
pub(super) fn header_for_tests(descr: &str, shape: &[usize]) -> Vec<u8> {
    header::npy_header(descr, shape)
}

#[cfg(test)]
mod tests;
