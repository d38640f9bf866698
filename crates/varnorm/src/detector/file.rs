//! The model file: safetensors, with one metadata entry `varnorm`: a checksum, a space, and JSON.
//!
//! Loading trusts nothing: format version, checksum over everything, every shape, every number.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo};
use serde::{Deserialize, Serialize};

use super::compact_file::{self, CompactHeader};
use super::{Detector, Fitted, Settings};
use crate::calibrate::{Calibrated, Calibration, Chosen};
use crate::data::{SeriesSet, write_atomically};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::linalg::matrix::{Matrix, Scaled};
use crate::prepare::{FittedPreparation, FittedStep, Per};
use crate::run::Run;
use crate::spectrum::Spectrum;

/// Version of the file's layout. A reader takes its own version only.
const FORMAT: u32 = 1;
/// The metadata entry.
const KEY: &str = "varnorm";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u32,
    program: String,
    settings: Settings,
    kernel: Kernel,
    preparation: FittedPreparation,
    channels: usize,
    grand_mean: f64,
    variance: f64,
    threshold: f64,
    corpus_names: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chosen: Option<Chosen>,
    /// Of compact models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    compact: Option<CompactHeader>,
}

/// One array on its way into a file.
pub(super) struct Array<'a> {
    name: &'static str,
    shape: Vec<usize>,
    values: Content<'a>,
}

/// Numbers, in memory once: their bytes are made as they are written.
enum Content<'a> {
    Floats(Cow<'a, [f64]>),
    Numbers(Vec<u64>),
}

impl<'a> Array<'a> {
    pub(super) fn floats(name: &'static str, shape: Vec<usize>, values: &'a [f64]) -> Self {
        Self { name, shape, values: Content::Floats(Cow::Borrowed(values)) }
    }

    pub(super) fn own(name: &'static str, shape: Vec<usize>, values: Vec<f64>) -> Self {
        Self { name, shape, values: Content::Floats(Cow::Owned(values)) }
    }

    pub(super) fn numbers(name: &'static str, values: impl Iterator<Item = u64>) -> Self {
        let values: Vec<u64> = values.collect();
        Self { name, shape: vec![values.len()], values: Content::Numbers(values) }
    }

    pub(super) fn indices(name: &'static str, values: impl Iterator<Item = usize>) -> Self {
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

impl Detector {
    /// Writes the model file: whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        let failed = |problem| Error::Model { path: path.into(), problem };
        let bytes = self.to_bytes().map_err(failed)?;
        write_atomically(path, |file| file.write_all(&bytes))
    }

    /// The content of the model file; an error says what could not be written. The bytes are read back first: a model
    /// that nothing could load must not take the place of a good one.
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let bytes = self.unchecked_bytes()?;
        Self::from_bytes(&bytes).map_err(|problem| {
            format!(
                "it could not be read again, so nothing was written ({problem}); check the settings and the size of \
                 the values"
            )
        })?;
        Ok(bytes)
    }

    fn unchecked_bytes(&self) -> Result<Vec<u8>, String> {
        let (layout, arrays) = self.layout()?;
        let mut bytes = Vec::new();
        write_file(&layout, &arrays, &mut bytes).map_err(|e| e.to_string())?;
        Ok(bytes)
    }

    /// What comes before the arrays, and the arrays.
    fn layout(&self) -> Result<(String, Vec<Array<'_>>), String> {
        let header = Header {
            format: FORMAT,
            program: concat!("varnorm ", env!("CARGO_PKG_VERSION")).into(),
            settings: self.settings.clone(),
            kernel: self.fitted.kernel.clone(),
            preparation: self.fitted.preparation.clone(),
            channels: self.fitted.corpus.channels(),
            grand_mean: self.fitted.spectrum.grand_mean,
            variance: self.fitted.spectrum.variance,
            threshold: self.fitted.spectrum.threshold,
            corpus_names: self.corpus_names.clone(),
            chosen: self.chosen,
            compact: self.fitted.compact.as_ref().map(CompactHeader::new),
        };
        let json = serde_json::to_string(&header).map_err(|e| e.to_string())?;
        let mut arrays = self.arrays();
        arrays.sort_by_key(|array| array.name);
        let mut sum = Checksum::new(&json);
        let (mut infos, mut end) = (Vec::new(), 0);
        for array in &arrays {
            sum.array(array.name, array.dtype(), &array.shape);
            array
                .write(|bytes| {
                    sum.0.update(bytes);
                    Ok(())
                })
                .map_err(|e| e.to_string())?;
            let data_offsets = (end, end + 8 * array.len());
            end = data_offsets.1;
            let (dtype, shape) = (array.dtype(), array.shape.clone());
            infos.push((array.name.to_string(), TensorInfo { dtype, shape, data_offsets }));
        }
        let entry = format!("{:08x} {json}", sum.0.finalize());
        let metadata = Metadata::new(Some(HashMap::from([(KEY.to_string(), entry)])), infos);
        let layout = metadata.map_err(|e| e.to_string())?;
        let mut layout = serde_json::to_string(&layout).map_err(|e| e.to_string())?;
        // Arrays begin at a multiple of eight.
        layout.extend(std::iter::repeat_n(' ', layout.len().next_multiple_of(8) - layout.len()));
        Ok((layout, arrays))
    }

    fn arrays(&self) -> Vec<Array<'_>> {
        let (fitted, spectrum) = (&self.fitted, &self.fitted.spectrum);
        let own = |name, values: Vec<f64>| Array::own(name, vec![values.len()], values);
        let mut arrays = vec![
            vector("corpus.values", fitted.corpus.values()),
            Array::indices("corpus.lengths", fitted.corpus.lengths()),
            Array::indices("corpus.members", self.members.iter().copied()),
            own("corpus.self_mantissas", fitted.self_values.iter().map(|s| s.mantissa).collect()),
            own("corpus.self_exponents", fitted.self_values.iter().map(|s| s.exponent).collect()),
        ];
        match &fitted.compact {
            Some(compact) => arrays.extend(compact_file::arrays(compact)),
            None => arrays.extend([
                vector("spectrum.eigenvalues", &spectrum.eigenvalues),
                Array::floats(
                    "spectrum.coordinates",
                    vec![spectrum.rank(), spectrum.corpus_len()],
                    spectrum.coordinates.values(),
                ),
                vector("spectrum.row_means", &spectrum.row_means),
                vector("spectrum.squares", &spectrum.squares),
            ]),
        }
        if let Some(calibrated) = &self.calibrated {
            arrays.push(vector("calibration.scores", calibrated.scores()));
        }
        arrays
    }

    /// Reads a model file; everything in it is checked first.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
        Self::from_bytes(&bytes).map_err(|problem| Error::Model { path: path.into(), problem })
    }

    /// From the content of a model file, checked; an error says which check failed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let (_, layout) = SafeTensors::read_metadata(bytes)
            .map_err(|e| format!("it is not a safetensors file, or it was cut short or damaged ({e})"))?;
        let entry = layout.metadata().as_ref().and_then(|m| m.get(KEY));
        let entry = entry.ok_or("it is a safetensors file, but not one that varnorm wrote")?;
        let file =
            SafeTensors::deserialize(bytes).map_err(|e| format!("it was cut short or damaged ({e})"))?;
        let (sum, json) = entry.split_once(' ').ok_or("its checksum is missing")?;
        let mut tensors = file.tensors();
        tensors.sort_by(|a, b| a.0.cmp(&b.0));
        // The version comes before the checksum: another version may sum up differently.
        let version = serde_json::from_str::<serde_json::Value>(json).ok().and_then(|v| v["format"].as_u64());
        if let Some(version) = version.filter(|v| *v != u64::from(FORMAT)) {
            return Err(format!("its format version is {version} and this program reads version {FORMAT}"));
        }
        let mut found = Checksum::new(json);
        for (name, view) in &tensors {
            found.array(name, view.dtype(), view.shape());
            found.0.update(view.data());
        }
        if format!("{:08x}", found.0.finalize()) != sum {
            return Err("its checksum does not fit its content: it was damaged".into());
        }
        let header: Header =
            serde_json::from_str(json).map_err(|e| format!("its description is malformed ({e})"))?;
        assemble(header, &Arrays(&file))
    }
}

fn vector<'a>(name: &'static str, values: &'a [f64]) -> Array<'a> {
    Array::floats(name, vec![values.len()], values)
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
pub(super) struct Arrays<'a>(&'a SafeTensors<'a>);

impl Arrays<'_> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.tensor(name).is_ok()
    }

    fn get(&self, name: &str, dtype: Dtype) -> Result<&[[u8; 8]], String> {
        let view = self.0.tensor(name).map_err(|_| format!("the array {name} is missing"))?;
        if view.dtype() != dtype {
            return Err(format!("the array {name} has the wrong type"));
        }
        Ok(view.data().as_chunks::<8>().0)
    }

    fn floats(&self, name: &str, len: Option<usize>) -> Result<Vec<f64>, String> {
        let values = self.get(name, Dtype::F64)?;
        check(len.is_none_or(|len| len == values.len()), || format!("the array {name} has the wrong size"))?;
        Ok(values.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
    }

    pub(super) fn finite(&self, name: &str, len: Option<usize>) -> Result<Vec<f64>, String> {
        let values = self.floats(name, len)?;
        check(values.iter().all(|v| v.is_finite()), || {
            format!("the array {name} has values that are not finite")
        })?;
        Ok(values)
    }

    pub(super) fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Matrix, String> {
        let cells = rows.checked_mul(columns).ok_or_else(|| format!("the array {name} is too large"))?;
        let values = self.finite(name, Some(cells))?;
        Matrix::from_values(rows, columns, values).ok_or_else(|| format!("the array {name} is malformed"))
    }

    pub(super) fn numbers(&self, name: &str, len: Option<usize>) -> Result<Vec<u64>, String> {
        let values = self.get(name, Dtype::U64)?;
        check(len.is_none_or(|len| len == values.len()), || format!("the array {name} has the wrong size"))?;
        Ok(values.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
    }

    pub(super) fn indices(&self, name: &str) -> Result<Vec<usize>, String> {
        let values = self.numbers(name, None)?;
        values.into_iter().map(|v| usize::try_from(v).map_err(|e| format!("{name}: {e}"))).collect()
    }
}

pub(super) fn check(holds: bool, problem: impl Fn() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(problem()) }
}

fn assemble(header: Header, arrays: &Arrays<'_>) -> Result<Detector, String> {
    let lengths = arrays.indices("corpus.lengths")?;
    let n = lengths.len();
    check(n >= 2 || header.compact.is_some(), || "it has fewer than two corpus series".into())?;
    let corpus = SeriesSet::from_lengths(arrays.finite("corpus.values", None)?, &lengths, header.channels)
        .map_err(|e| e.to_string())?;
    let members = arrays.indices("corpus.members")?;
    check(members.len() == n && members.is_sorted(), || "its corpus members are malformed".into())?;
    check(header.settings.space.is_gram() == header.compact.is_none(), || "its space is malformed".into())?;
    let compact = match &header.compact {
        Some(own) => Some(compact_file::assemble(own, arrays, header.channels, &corpus)?),
        None => None,
    };
    let spectrum = match &compact {
        Some(compact) => compact.spectrum(&Run::sequential()).map_err(|e| e.to_string())?,
        None => spectrum(&header, arrays, n)?,
    };
    let calibrated = match header.settings.calibration {
        Calibration::None {} => None,
        // Scores of the exact norm may be infinite.
        _ => Some(arrays.floats("calibration.scores", None)?),
    };
    check(calibrated.iter().flatten().all(|s| !s.is_nan()), || {
        "its calibration scores are malformed".into()
    })?;
    check_preparation(&header)?;
    header.settings.validate().and_then(|()| header.kernel.validate()).map_err(|e| e.to_string())?;
    let names = header.corpus_names.as_ref();
    check(names.is_none_or(|names| members.iter().all(|m| *m < names.len())), || {
        "its names are malformed".into()
    })?;
    let mantissas = arrays.finite("corpus.self_mantissas", Some(n))?;
    let exponents = arrays.finite("corpus.self_exponents", Some(n))?;
    let fitted = Fitted {
        preparation: header.preparation,
        kernel: header.kernel,
        self_values: mantissas
            .into_iter()
            .zip(exponents)
            .map(|(mantissa, exponent)| Scaled { mantissa, exponent })
            .collect(),
        corpus,
        spectrum,
        compact,
    };
    // Its self-values show that kernel and corpus fit together.
    crate::gram::self_values(std::slice::from_ref(&fitted.kernel), &fitted.corpus, &Run::sequential())
        .map_err(|e| e.to_string())?;
    let supervised = matches!(header.settings.calibration, Calibration::Supervised { .. });
    let usable = header.chosen.is_some_and(|c| !c.threshold.is_nan());
    check(supervised == header.chosen.is_some() && (usable || !supervised), || {
        "its chosen threshold is malformed".into()
    })?;
    let law = header.settings.gaussian_law(&fitted.spectrum).map_err(|e| e.to_string())?;
    Ok(Detector {
        chosen: header.chosen,
        law,
        settings: header.settings,
        fitted,
        members,
        calibrated: calibrated.map(Calibrated::new),
        corpus_names: header.corpus_names,
    })
}

/// The spectrum of all pairs.
fn spectrum(header: &Header, arrays: &Arrays<'_>, n: usize) -> Result<Spectrum, String> {
    let eigenvalues = arrays.finite("spectrum.eigenvalues", None)?;
    let positive = eigenvalues.iter().all(|v| *v > 0.0) && eigenvalues.is_sorted_by(|a, b| a >= b);
    check(positive, || "its eigenvalues are not positive and descending".into())?;
    let coordinates = arrays.matrix("spectrum.coordinates", eigenvalues.len(), n)?;
    let finite = [header.grand_mean, header.variance, header.threshold].iter().all(|v| v.is_finite());
    check(finite, || "its description has numbers that are not finite".into())?;
    Ok(Spectrum {
        eigenvalues,
        coordinates,
        row_means: arrays.finite("spectrum.row_means", Some(n))?,
        grand_mean: header.grand_mean,
        squares: arrays.finite("spectrum.squares", Some(n))?,
        variance: header.variance,
        threshold: header.threshold,
        count: n,
        highest_rank: n - 1,
    })
}

fn check_preparation(header: &Header) -> Result<(), String> {
    let mut channels = header.preparation.channels();
    check(channels > 0, || "its preparation is malformed".into())?;
    for step in header.preparation.steps() {
        let holds = match step {
            FittedStep::Zscore { per, means, scales } => {
                let fits = match per {
                    Per::Channel => means.len() == channels,
                    Per::Step => !means.is_empty() && means.len().is_multiple_of(channels),
                };
                fits && means.len() == scales.len()
                    && means.iter().chain(scales).all(|v| v.is_finite())
                    && scales.iter().all(|s| *s > 0.0)
            }
            FittedStep::Pool { window } => *window > 0,
            FittedStep::Resample { length } => *length > 0,
            FittedStep::Clip { limit } => *limit > 0.0,
            _ => true,
        };
        check(holds, || "its preparation is malformed".into())?;
        channels = match step {
            FittedStep::Time {} | FittedStep::Visibility { .. } => channels.saturating_add(1),
            FittedStep::LeadLag {} => channels.saturating_mul(2),
            _ => channels,
        };
    }
    check(channels == header.channels, || "its preparation does not give its corpus' channels".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::Preparation;

    /// A file with a right checksum and wrong content: what damage cannot make, a hand can.
    #[test]
    fn a_preparation_that_does_not_fit_its_channels_is_refused() {
        let values = (0..6 * 4 * 2).map(|i| f64::from(i).sin()).collect();
        let corpus = SeriesSet::from_equal(values, 4, 2).unwrap();
        for prepare in ["zscore=channel,time,lead_lag", "zscore=step,visibility=i"] {
            let prepare: Preparation = prepare.parse().unwrap();
            let settings = Settings { prepare, calibration: Calibration::None {}, ..Settings::default() };
            let good = settings.fit(&corpus, &Run::sequential()).unwrap();
            assert_eq!(Detector::from_bytes(&good.unchecked_bytes().unwrap()).unwrap(), good);
            let mut bad = good.clone();
            if let FittedStep::Zscore { means, scales, .. } = &mut bad.fitted.preparation.steps[0] {
                means.push(0.0);
                scales.push(1.0);
            }
            assert!(Detector::from_bytes(&bad.unchecked_bytes().unwrap()).unwrap_err().contains("malformed"));
            let mut bad = good.clone();
            bad.fitted.preparation.steps.push(FittedStep::Time {});
            assert!(Detector::from_bytes(&bad.unchecked_bytes().unwrap()).unwrap_err().contains("channels"));
        }
    }
}
