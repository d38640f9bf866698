//! Sentences about settings, sizes, lengths, times, models and batches. The program, reports, the server and warnings all
//! take them from here, so that the same thing is said in the same words everywhere.

mod batch;
mod checks;
mod glossary;
mod model;
mod numbers;
mod series;
mod settings;

pub use crate::error::bytes_in_words as bytes;
pub use batch::Batch;
pub use checks::{drift, tail};
pub use glossary::GLOSSARY;
pub use model::{Fact, calibrated, diagnosis, fitted_on, rank, threshold};
pub(crate) use model::{
    batch_too_large, degenerate, lord_cannot_flag, no_one_threshold, suspects, too_few_scores,
};
pub use numbers::{count, duration, fine_percent, percent, significant, whole_duration};
pub use series::{Lengths, series};
pub use settings::{
    calibration, combination, distance, kernel, kernel_formula, norm, norm_formula, preparation, rule,
    rule_name, scaling,
};
