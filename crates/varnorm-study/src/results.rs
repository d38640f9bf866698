//! [`Results`]: means over the classes of each data set, kernel and method.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::method::Method;
use crate::unit::{KNN, UnitResult};

/// Mean areas over the classes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Areas {
    /// Mean area under the ROC curve.
    pub roc_auc: f64,
    /// Mean average precision.
    pub pr_auc: f64,
}

/// The results of a study, class by class put together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Results {
    /// Data sets, in the order of the units.
    pub datasets: Vec<String>,
    /// Rows of the published tables and others, in the order of the units.
    pub kernels: Vec<String>,
    /// By data set, kernel and method.
    pub areas: BTreeMap<(String, String, Method), Areas>,
    /// Why units have no result.
    pub notes: Vec<String>,
}

impl Results {
    /// Puts the classes together.
    pub fn new(units: &[UnitResult]) -> Self {
        let mut results = Self::default();
        let mut sums: BTreeMap<(String, String, Method), (f64, f64, f64)> = BTreeMap::new();
        for one in units {
            let unit = &one.unit;
            if !results.datasets.contains(&unit.dataset) {
                results.datasets.push(unit.dataset.clone());
            }
            if !results.kernels.contains(&unit.kernel) {
                results.kernels.push(unit.kernel.clone());
            }
            for (method, found) in &one.methods {
                let sum = sums.entry((unit.dataset.clone(), unit.kernel.clone(), *method)).or_default();
                *sum = (sum.0 + found.roc_auc, sum.1 + found.pr_auc, sum.2 + 1.0);
            }
            if let Some(reason) = &one.skipped {
                let note = format!("{}: {reason}", unit.dataset);
                if !results.notes.contains(&note) {
                    results.notes.push(note);
                }
            }
        }
        let mean = |(roc, pr, count): (f64, f64, f64)| Areas { roc_auc: roc / count, pr_auc: pr / count };
        results.areas = sums.into_iter().map(|(key, sum)| (key, mean(sum))).collect();
        results
    }

    /// One cell.
    pub fn get(&self, dataset: &str, kernel: &str, method: Method) -> Option<Areas> {
        self.areas.get(&(dataset.into(), kernel.into(), method)).copied()
    }

    /// `{data set: {kernel: {conformance | mahalanobis: {roc_auc, pr_auc}}}}`, as in the published file. The envelope
    /// norm lies in each as `envelope`; what is no kernel lies under `baselines`.
    pub fn json(&self) -> Value {
        let mut sets = Map::new();
        for dataset in &self.datasets {
            let (mut kernels, mut baselines) = (Map::new(), Map::new());
            for kernel in &self.kernels {
                let get = |method| self.get(dataset, kernel, method);
                let mut entry = Map::new();
                for (method, envelope) in [
                    (Method::Conformance, Method::ConformanceEnvelope),
                    (Method::Mahalanobis, Method::MahalanobisEnvelope),
                ] {
                    if let Some(areas) = get(method) {
                        let mut value = json!(areas);
                        if let Some(envelope) = get(envelope) {
                            value["envelope"] = json!(envelope);
                        }
                        entry.insert(method.name().into(), value);
                    }
                }
                for method in [Method::Nearest, Method::Residual] {
                    if let Some(areas) = get(method).filter(|_| kernel != KNN) {
                        entry.insert(method.name().into(), json!(areas));
                    }
                }
                if !entry.is_empty() {
                    kernels.insert(kernel.clone(), Value::Object(entry));
                }
                let alone = get(Method::External).or(get(Method::Nearest).filter(|_| kernel == KNN));
                if let Some(areas) = alone {
                    baselines.insert(kernel.clone(), json!(areas));
                }
            }
            if !baselines.is_empty() {
                kernels.insert("baselines".into(), Value::Object(baselines));
            }
            sets.insert(dataset.clone(), Value::Object(kernels));
        }
        Value::Object(sets)
    }
}
