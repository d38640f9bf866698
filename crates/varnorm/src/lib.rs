//! Novelty detection for time series with variance norms.

pub mod data;
pub mod error;
pub mod run;

pub use data::{Dataset, Series, SeriesSet};
pub use error::{Error, Result};
pub use run::Run;
