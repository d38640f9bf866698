//! What only the published experiments need: their file of parameters, and their decomposition.

mod spectrum;

pub(crate) use spectrum::spectrum;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::grid::Setting;
use crate::method::Method;
use crate::unit::Chosen;
use varnorm::{Error, Result};

/// Given parameters, by data set, row and class: `{data set: {"kernels": {row: {"conformance" | "mahalanobis":
/// {"params_by_class": {class: {time, alpha, max_rank, ...}}}}}}}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    json: Value,
    /// Of the file's bytes: a run that was begun with another file is not gone on with.
    pub(crate) checksum: u32,
}

impl Parameters {
    /// Reads the file.
    pub fn read(file: &Path) -> Result<Self> {
        let bytes = std::fs::read(file).map_err(|e| Error::io("read", file, e))?;
        let json: Value =
            serde_json::from_slice(&bytes).map_err(|e| Error::parse(file, e.line(), e.to_string()))?;
        if !json.as_object().is_some_and(|sets| sets.values().any(|set| set["kernels"].is_object())) {
            let problem = "expected {data set: {\"kernels\": {row: {\"conformance\": ...}}}}";
            return Err(Error::file(file, problem));
        }
        Ok(Self { json, checksum: crc32fast::hash(&bytes) })
    }

    /// The data sets of the file.
    pub fn datasets(&self) -> Vec<String> {
        self.json.as_object().map(|sets| sets.keys().cloned().collect()).unwrap_or_default()
    }

    /// The rows that have parameters for a data set.
    pub(crate) fn rows(&self, dataset: &str) -> Vec<String> {
        self.json[dataset]["kernels"]
            .as_object()
            .map(|rows| rows.keys().cloned().collect())
            .unwrap_or_default()
    }

    /// The published areas of a row: (ROC, PR).
    pub fn areas(&self, dataset: &str, row: &str, method: Method) -> Option<(f64, f64)> {
        let entry = &self.json[dataset]["kernels"][row][method.name()];
        Some((entry["roc_auc"].as_f64()?, entry["pr_auc"].as_f64()?))
    }

    /// What the published methods of a row are to be judged with; the envelope norm takes the same parameters.
    pub(crate) fn wanted(&self, dataset: &str, row: &str, class: &str) -> Result<Vec<(Method, Chosen)>> {
        let mut wanted = Vec::new();
        for (method, envelope) in [
            (Method::Conformance, Method::ConformanceEnvelope),
            (Method::Mahalanobis, Method::MahalanobisEnvelope),
        ] {
            let classes = &self.json[dataset]["kernels"][row][method.name()]["params_by_class"];
            let Some(classes) = classes.as_object() else { continue };
            // The published file has class names in small letters.
            let same = |name: &&String| name.to_lowercase() == class.to_lowercase();
            let Some(name) = classes.keys().find(same) else {
                let rule = format!("has no parameters for class {class}");
                return Err(Error::bad_param("published", format!("{dataset}/{row}"), rule));
            };
            let chosen = chosen(&classes[name]).ok_or_else(|| {
                let place = format!("{dataset}/{row}/{}/{name}", method.name());
                Error::bad_param(
                    "published",
                    place,
                    "needs `alpha` (a number) and `max_rank` (a whole number from 1)",
                )
            })?;
            wanted.push((method, chosen.clone()));
            wanted.push((envelope, chosen));
        }
        Ok(wanted)
    }
}

fn chosen(params: &Value) -> Option<Chosen> {
    let known = ["time", "alpha", "max_rank", "cv_score"];
    let values: BTreeMap<String, f64> = params
        .as_object()?
        .iter()
        .filter(|(name, _)| !known.contains(&name.as_str()))
        .filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)))
        .collect();
    let rank = params["max_rank"].as_u64().filter(|rank| *rank >= 1)?;
    Some(Chosen {
        alpha: Some(params["alpha"].as_f64()?),
        max_rank: Some(usize::try_from(rank).ok()?),
        cv_score: params["cv_score"].as_f64(),
        setting: Setting { time: params["time"].as_bool().unwrap_or(false), spec: None, values },
    })
}
