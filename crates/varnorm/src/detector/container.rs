//! The container of a model file: safetensors, with one metadata entry: a checksum, a space, and JSON.

use std::borrow::Cow;

use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo};

use crate::error::Result;
use crate::linalg::matrix::Matrix;

/// Versions of the layout of models of one long recording, and of the state of a stream. Models of many series have 1 and 2.
pub(crate) const LONG: u32 = 3;
pub(crate) const STREAM: u32 = 4;

/// The metadata entry.
const KEY: &str = "varnorm";

/// One array on its way into a file.
pub(crate) struct Array<'a> {
    name: String,
    shape: Vec<usize>,
    values: Content<'a>,
}

/// Numbers, in memory once: their bytes are made as they are written.
enum Content<'a> {
    Floats(Cow<'a, [f64]>),
    Numbers(Vec<u64>),
}

impl<'a> Array<'a> {
    pub(crate) fn floats(name: &str, shape: Vec<usize>, values: &'a [f64]) -> Self {
        Self { name: name.into(), shape, values: Content::Floats(Cow::Borrowed(values)) }
    }

    pub(crate) fn own(name: &str, shape: Vec<usize>, values: Vec<f64>) -> Self {
        Self { name: name.into(), shape, values: Content::Floats(Cow::Owned(values)) }
    }

    pub(crate) fn vector(name: &str, values: &'a [f64]) -> Self {
        Self::floats(name, vec![values.len()], values)
    }

    /// The same array of one of several views.
    pub(crate) fn of_view(self, prefix: &str) -> Self {
        Self { name: format!("{prefix}{}", self.name), ..self }
    }

    pub(crate) fn numbers(name: &str, values: impl Iterator<Item = u64>) -> Self {
        let values: Vec<u64> = values.collect();
        Self { name: name.into(), shape: vec![values.len()], values: Content::Numbers(values) }
    }

    pub(crate) fn indices(name: &str, values: impl Iterator<Item = usize>) -> Self {
        Self::numbers(name, values.map(|v| v as u64))
    }

    fn dtype(&self) -> Dtype {
        match self.values {
            Content::Floats(_) => Dtype::F64,
            Content::Numbers(_) => Dtype::U64,
        }
    }

    fn len(&self) -> usize {
        match &self.values {
            Content::Floats(values) => values.len(),
            Content::Numbers(values) => values.len(),
        }
    }

    /// The bytes, a few thousand numbers at a time.
    fn write(&self, mut take: impl FnMut(&[u8]) -> std::io::Result<()>) -> std::io::Result<()> {
        const NUMBERS: usize = 8192;
        let mut bytes = Vec::with_capacity(8 * NUMBERS);
        for start in (0..self.len()).step_by(NUMBERS) {
            let which = start..self.len().min(start + NUMBERS);
            bytes.clear();
            match &self.values {
                Content::Floats(v) => v[which].iter().for_each(|v| bytes.extend(v.to_le_bytes())),
                Content::Numbers(v) => v[which].iter().for_each(|v| bytes.extend(v.to_le_bytes())),
            }
            take(&bytes)?;
        }
        Ok(())
    }
}

/// CRC-32 of the JSON and of every array, in order of their names, with name, type and shape.
struct Checksum(crc32fast::Hasher);

impl Checksum {
    fn new(json: &str) -> Self {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(json.as_bytes());
        Self(hasher)
    }

    fn array(&mut self, name: &str, dtype: Dtype, shape: &[usize]) {
        self.0.update(format!("{name} {dtype:?} {shape:?}").as_bytes());
    }
}

/// The bytes of a file with this JSON and these arrays.
pub(crate) fn to_bytes(json: &str, mut arrays: Vec<Array<'_>>) -> Result<Vec<u8>, String> {
    arrays.sort_by(|a, b| a.name.cmp(&b.name));
    let mut sum = Checksum::new(json);
    let (mut infos, mut end) = (Vec::new(), 0);
    for array in &arrays {
        sum.array(&array.name, array.dtype(), &array.shape);
        array
            .write(|bytes| {
                sum.0.update(bytes);
                Ok(())
            })
            .map_err(|e| e.to_string())?;
        let data_offsets = (end, end + 8 * array.len());
        end = data_offsets.1;
        let (dtype, shape) = (array.dtype(), array.shape.clone());
        infos.push((array.name.clone(), TensorInfo { dtype, shape, data_offsets }));
    }
    let entry = format!("{:08x} {json}", sum.0.finalize());
    let metadata = Metadata::new(Some([(KEY.to_string(), entry)].into_iter().collect()), infos);
    let layout = metadata.map_err(|e| e.to_string())?;
    let mut layout = serde_json::to_string(&layout).map_err(|e| e.to_string())?;
    // Arrays begin at a multiple of eight.
    layout.extend(std::iter::repeat_n(' ', layout.len().next_multiple_of(8) - layout.len()));
    let mut bytes = Vec::with_capacity(8 + layout.len() + end);
    write_file(&layout, &arrays, &mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes)
}

/// The content of a file, opened and checked: its JSON and its arrays. `known` says which format versions are read.
pub(crate) fn open<T>(
    bytes: &[u8],
    known: &[u32],
    read: impl FnOnce(u32, &str, &Arrays<'_>) -> Result<T, String>,
) -> Result<T, String> {
    let (_, layout) = SafeTensors::read_metadata(bytes)
        .map_err(|e| format!("it is not a safetensors file, or it was cut short or damaged ({e})"))?;
    let entry = layout.metadata().as_ref().and_then(|m| m.get(KEY));
    let entry = entry.ok_or("it is a safetensors file, but not one that varnorm wrote")?;
    let file = SafeTensors::deserialize(bytes).map_err(|e| format!("it was cut short or damaged ({e})"))?;
    let (sum, json) = entry.split_once(' ').ok_or("its checksum is missing")?;
    let mut tensors = file.tensors();
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    // The version comes before the checksum: another version may sum up differently.
    let version = serde_json::from_str::<serde_json::Value>(json).ok().and_then(|v| v["format"].as_u64());
    let version = version.unwrap_or_else(|| u64::from(known[0]));
    let Some(version) = known.iter().copied().find(|v| u64::from(*v) == version) else {
        if let Some(what) = other_kind(version) {
            return Err(format!("it is {what}"));
        }
        let known: Vec<String> = known.iter().map(u32::to_string).collect();
        return Err(format!(
            "its format version is {version} and this program reads version {}",
            known.join(" and ")
        ));
    };
    let mut found = Checksum::new(json);
    for (name, view) in &tensors {
        found.array(name, view.dtype(), view.shape());
        found.0.update(view.data());
    }
    if format!("{:08x}", found.0.finalize()) != sum {
        return Err("its checksum does not fit its content: it was damaged".into());
    }
    read(version, json, &Arrays { file: &file, prefix: String::new() })
}

/// What a file of a version is, for who expects another kind.
fn other_kind(version: u64) -> Option<&'static str> {
    match u32::try_from(version) {
        Ok(1 | 2) => Some("a model of many series, not of one long recording"),
        Ok(LONG) => Some("a model of one long recording, not of many series"),
        Ok(STREAM) => Some("the state of a stream, not a model"),
        _ => None,
    }
}

/// The format version that a file states, if it is one that varnorm wrote. Nothing else is checked.
pub(crate) fn version(bytes: &[u8]) -> Option<u64> {
    let (_, layout) = SafeTensors::read_metadata(bytes).ok()?;
    let (_, json) = layout.metadata().as_ref()?.get(KEY)?.split_once(' ')?;
    serde_json::from_str::<serde_json::Value>(json).ok()?["format"].as_u64()
}

fn write_file(
    layout: &str,
    arrays: &[Array<'_>],
    out: &mut (impl std::io::Write + ?Sized),
) -> std::io::Result<()> {
    out.write_all(&(layout.len() as u64).to_le_bytes())?;
    out.write_all(layout.as_bytes())?;
    arrays.iter().try_for_each(|array| array.write(|bytes| out.write_all(bytes)))
}

/// The arrays of a file.
pub(crate) struct Arrays<'a> {
    file: &'a SafeTensors<'a>,
    /// What the names of a view's arrays begin with, where there are several views.
    prefix: String,
}

impl<'a> Arrays<'a> {
    /// Those of one of several views.
    pub(crate) fn of_view(&self, prefix: &str) -> Self {
        Self { file: self.file, prefix: prefix.into() }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.file.tensor(&format!("{}{name}", self.prefix)).is_ok()
    }

    fn get(&self, name: &str, dtype: Dtype) -> Result<&'a [[u8; 8]], String> {
        let view = self
            .file
            .tensor(&format!("{}{name}", self.prefix))
            .map_err(|_| format!("the array {name} is missing"))?;
        if view.dtype() != dtype {
            return Err(format!("the array {name} has the wrong type"));
        }
        Ok(view.data().as_chunks::<8>().0)
    }

    pub(crate) fn floats(&self, name: &str, len: Option<usize>) -> Result<Vec<f64>, String> {
        let values = self.get(name, Dtype::F64)?;
        check(len.is_none_or(|len| len == values.len()), || format!("the array {name} has the wrong size"))?;
        Ok(values.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
    }

    pub(crate) fn finite(&self, name: &str, len: Option<usize>) -> Result<Vec<f64>, String> {
        let values = self.floats(name, len)?;
        check(values.iter().all(|v| v.is_finite()), || {
            format!("the array {name} has values that are not finite")
        })?;
        Ok(values)
    }

    pub(crate) fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Matrix, String> {
        let cells = rows.checked_mul(columns).ok_or_else(|| format!("the array {name} is too large"))?;
        let values = self.finite(name, Some(cells))?;
        Matrix::from_values(rows, columns, values).ok_or_else(|| format!("the array {name} is malformed"))
    }

    pub(crate) fn numbers(&self, name: &str, len: Option<usize>) -> Result<Vec<u64>, String> {
        let values = self.get(name, Dtype::U64)?;
        check(len.is_none_or(|len| len == values.len()), || format!("the array {name} has the wrong size"))?;
        Ok(values.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
    }

    pub(crate) fn indices(&self, name: &str) -> Result<Vec<usize>, String> {
        let values = self.numbers(name, None)?;
        values.into_iter().map(|v| usize::try_from(v).map_err(|e| format!("{name}: {e}"))).collect()
    }
}

pub(crate) fn check(holds: bool, problem: impl Fn() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(problem()) }
}
