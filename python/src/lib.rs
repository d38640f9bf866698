//! The native part of the Python package `varnorm`: thin bindings, one module per topic.
//!
//! Everything here takes and gives plain data (arrays, words, JSON); what makes it pleasant is written in Python, in
//! `varnorm/`.

mod bench;
mod detector;
mod errors;
mod files;
mod json;
mod kernels;
mod long;
mod metrics;
mod norm;
mod plot;
mod prepare;
mod program;
mod report;
mod series;
mod settings;
mod study;
mod theory;
mod work;

use pyo3::prelude::*;

/// The native part of varnorm. Use the package's own functions and classes.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::bench::Benchmark;
    #[pymodule_export]
    use super::detector::{Detector, Drift, Findings, estimate, leave_one_out};
    #[pymodule_export]
    use super::files::{Dataset, basic_motions, read, read_split, write, write_text};
    #[pymodule_export]
    use super::kernels::{
        catalogue, fourier_signature, gram, gram_block, gram_check, kernel_json, kernel_words,
        random_signature, resolve, self_values, share_features, signature_feature_names, signature_features,
    };
    #[pymodule_export]
    use super::long::{LongDetector, LongStream};
    #[pymodule_export]
    use super::metrics::{average_precision, roc_auc};
    #[pymodule_export]
    use super::norm::VarianceNorm;
    #[pymodule_export]
    use super::plot::plot;
    #[pymodule_export]
    use super::prepare::{prepare_apply, prepare_fit};
    #[pymodule_export]
    use super::program::run_program;
    #[pymodule_export]
    use super::report::{report, study_report};
    #[pymodule_export]
    use super::series::SeriesSet;
    #[pymodule_export]
    use super::settings::Settings;
    #[pymodule_export]
    use super::study::{Study, StudyFolder, StudyUnits, study_grid, study_merge};
    #[pymodule_export]
    use super::theory::theory;
}
