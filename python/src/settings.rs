//! Settings: what was chosen about a detector, read once.

use pyo3::prelude::*;

use crate::errors::raised;
use crate::json;

/// What was chosen about a detector.
#[pyclass(frozen, module = "varnorm._core")]
pub struct Settings {
    pub settings: varnorm::Settings,
}

#[pymethods]
impl Settings {
    /// From the JSON of the choices, in which words may stand for kernels, preparations, spaces and calibrations.
    #[new]
    fn new(choices: &str) -> PyResult<Self> {
        let settings = varnorm::Settings::from_choices(json::read("settings", choices)?);
        Ok(Self { settings: settings.map_err(|e| raised(&e))? })
    }

    /// The program's JSON, with every default filled in.
    fn to_json(&self) -> PyResult<String> {
        json::write(&self.settings)
    }

    /// The false-alarm rate that flags aim at.
    #[getter]
    fn level(&self) -> f64 {
        self.settings.level
    }

    /// Whether fitting needs labelled outliers.
    #[getter]
    fn needs_outliers(&self) -> bool {
        self.settings.calibration.needs_outliers()
    }

    /// Whether series can be added to the model later.
    #[getter]
    fn grows(&self) -> bool {
        self.settings.grows()
    }

    /// Whether series may have different lengths.
    #[getter]
    fn any_lengths(&self) -> bool {
        self.settings.any_lengths()
    }

    /// Whether missing values are filled in.
    #[getter]
    fn fills_missing(&self) -> bool {
        self.settings.fills_missing()
    }
}
