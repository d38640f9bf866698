//! The files of a model and of a stream: JSON and arrays in the container of all model files.

#[cfg(feature = "files")]
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::calibrate::Normal;
use super::detector::{Facts, LongDetector};
use super::fit::{Core, Member, Standard};
use super::model::{Outside, Parts, WindowModel};
use super::scale::Scale;
use super::settings::LongSettings;
use crate::calibrate::Calibrated;
#[cfg(feature = "files")]
use crate::data::write_atomically;
use crate::detector::container::{self, Array, Arrays, check};
#[cfg(feature = "files")]
use crate::error::Error;
use crate::error::Result;
use crate::kernel::Kernel;

/// Version of the layout.
const FORMAT: u32 = container::LONG;

/// The JSON of a model.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u32,
    program: String,
    settings: LongSettings,
    channels: usize,
    rows: usize,
    members: Vec<MemberHeader>,
    facts: Facts,
}

/// The JSON of a member.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberHeader {
    kernel: Kernel,
    window: usize,
    stride: usize,
    middle: f64,
    spread: f64,
    /// Where the directions do not fill the feature space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outside_alpha: Option<f64>,
}

impl LongDetector {
    /// Writes the model file: whole or not at all.
    #[cfg(feature = "files")]
    pub fn save(&self, path: &Path) -> Result<()> {
        let bytes = self.to_bytes().map_err(|problem| Error::Model { path: path.into(), problem })?;
        write_atomically(path, |file| file.write_all(&bytes))
    }

    /// Reads a model file; an error says why it cannot be trusted.
    #[cfg(feature = "files")]
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
        Self::from_bytes(&bytes).map_err(|problem| Error::Model { path: path.into(), problem })
    }

    /// Whether these are the bytes of a model of one long recording, rather than of many series.
    pub fn is_in(bytes: &[u8]) -> bool {
        container::version(bytes) == Some(u64::from(FORMAT))
    }

    /// The content of the model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let described = |member: &Member| MemberHeader {
            kernel: member.model.kernel.clone(),
            window: member.model.window,
            stride: member.stride,
            middle: member.standard.middle,
            spread: member.standard.spread,
            outside_alpha: member.model.outside.as_ref().map(|outside| outside.alpha),
        };
        let header = Header {
            format: FORMAT,
            program: format!("varnorm {}", env!("CARGO_PKG_VERSION")),
            settings: self.settings.clone(),
            channels: self.channels(),
            rows: self.rows,
            members: self.core.members.iter().map(described).collect(),
            facts: self.facts.clone(),
        };
        let json = serde_json::to_string(&header).map_err(|e| e.to_string())?;
        let scale = &self.core.first().scale;
        let mut arrays =
            vec![Array::vector("scale.means", &scale.means), Array::vector("scale.units", &scale.units)];
        for (at, member) in self.core.members.iter().enumerate() {
            arrays.extend(member_arrays(member).into_iter().map(|array| array.of_view(&prefix(at))));
        }
        if let Some(normal) = &self.normal {
            for (name, scores) in CALIBRATED.into_iter().zip(normal.blocks.iter().chain(&normal.points)) {
                arrays.push(Array::vector(name, scores.scores()));
            }
        }
        container::to_bytes(&json, arrays)
    }

    /// A model from the content of its file; an error says why it cannot be trusted.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        container::open(bytes, &[FORMAT], |_, json, arrays| {
            let header: Header =
                serde_json::from_str(json).map_err(|e| format!("its JSON is malformed ({e})"))?;
            read(header, arrays)
        })
    }
}

/// The arrays of scores of normal data: highest of blocks, then points; settled, then causal.
const CALIBRATED: [&str; 4] = ["blocks.settled", "blocks.causal", "points.settled", "points.causal"];

/// What the names of a member's arrays begin with.
fn prefix(member: usize) -> String {
    format!("member{member}.")
}

fn member_arrays(member: &Member) -> Vec<Array<'_>> {
    let model = &member.model;
    let shape = |matrix: &crate::Matrix| vec![matrix.rows(), matrix.columns()];
    let mut arrays = vec![
        Array::vector("mean", &model.mean),
        Array::floats("directions", shape(&model.directions), model.directions.values()),
        Array::floats("corpus", shape(&model.corpus), model.corpus.values()),
        Array::vector("windows", &member.windows),
        Array::indices("starts", member.starts.iter().copied()),
    ];
    if let Some(outside) = &model.outside {
        arrays.push(Array::vector("outside.weights", &outside.weights));
    }
    arrays
}

fn read(header: Header, arrays: &Arrays<'_>) -> Result<LongDetector, String> {
    let Header { settings, channels, rows, members, facts, .. } = header;
    settings.validate().map_err(|e| e.to_string())?;
    check(channels >= 1 && !members.is_empty(), || "it has no members".into())?;
    let scale = Scale {
        means: arrays.finite("scale.means", Some(channels))?,
        units: arrays.finite("scale.units", Some(channels))?,
    };
    check(scale.units.iter().all(|unit| *unit > 0.0), || "its units are malformed".into())?;
    let member = |(at, header): (usize, MemberHeader)| {
        read_member(header, &settings, &scale, &arrays.of_view(&prefix(at)))
    };
    let members = members.into_iter().enumerate().map(member).collect::<Result<Vec<_>, _>>()?;
    facts.check(channels, members[0].starts.len())?;
    let normal = match arrays.has(CALIBRATED[0]) {
        true => {
            let scores = |name| arrays.finite(name, None).map(Calibrated::new);
            let [a, b, c, d] = CALIBRATED;
            Some(Normal { blocks: [scores(a)?, scores(b)?], points: [scores(c)?, scores(d)?] })
        }
        false => None,
    };
    Ok(LongDetector { settings, core: Arc::new(Core { members }), normal, rows, facts })
}

fn read_member(
    header: MemberHeader,
    settings: &LongSettings,
    scale: &Scale,
    arrays: &Arrays<'_>,
) -> Result<Member, String> {
    let MemberHeader { kernel, window, stride, middle, spread, outside_alpha } = header;
    let channels = scale.means.len();
    kernel.validate().map_err(|e| e.to_string())?;
    check(window >= 2 && (1..=window).contains(&stride), || "its window is malformed".into())?;
    check(middle.is_finite() && spread.is_finite() && spread > 0.0, || "its standard is malformed".into())?;
    let each = window.checked_mul(channels).ok_or("its window is too large")?;
    let starts = arrays.indices("starts")?;
    let mean = arrays.finite("mean", None)?;
    check(!starts.is_empty() && !mean.is_empty(), || "it has no windows".into())?;
    let width = kernel.features().map(|features| features.width(window, channels));
    check(width == Some(mean.len()), || "its kernel has other features than its arrays".into())?;
    let outside = match outside_alpha {
        None => None,
        Some(alpha) => {
            check(alpha.is_finite() && alpha > 0.0, || "its regularisation is malformed".into())?;
            Some(Outside { alpha, weights: arrays.finite("outside.weights", None)? })
        }
    };
    let directions = outside.as_ref().map_or(mean.len(), |outside| outside.weights.len());
    check(directions > 0, || "it has no directions".into())?;
    let windows = arrays.finite("windows", starts.len().checked_mul(each))?;
    let parts = Parts {
        window,
        channels,
        zscore_windows: settings.zscore_windows,
        distance: settings.distance,
        directions: arrays.matrix("directions", directions, mean.len())?,
        corpus: arrays.matrix("corpus", starts.len(), directions)?,
        kernel,
        mean,
        outside,
    };
    let (model, standard) = (WindowModel::from(parts), Standard { middle, spread });
    Ok(Member { scale: scale.clone(), model, stride, standard, starts, windows })
}
