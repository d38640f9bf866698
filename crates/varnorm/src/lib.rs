//! Novelty detection for time series with variance norms.

pub mod data;
pub mod error;
pub mod gram;
pub mod kernel;
pub mod matrix;
pub mod run;

pub use data::{Dataset, Series, SeriesSet};
pub use error::{Error, Result};
pub use gram::Gram;
pub use kernel::Kernel;
pub use matrix::Matrix;
pub use run::Run;
