//! Novelty detection for time series with variance norms.
//!
//! [`Settings`] say what is wanted, [`Settings::fit`] makes a [`Detector`] from normal series, [`Detector::score`] gives
//! [`Findings`] about new ones. Below that, each stage is a module: [`data`], [`prepare`], [`kernel`], [`gram`],
//! [`spectrum`], [`score`], [`calibrate`].
//!
//! ```
//! use varnorm::{Run, Settings, data::basic_motions};
//!
//! let run = Run::with_threads(0)?; // every core; results are the same bits for any number
//! let motions = basic_motions()?; // or data::read, or SeriesSet::from_lengths for values of one's own
//! let normal = motions.train.select(&motions.train.with_label("Standing")?);
//! let detector = Settings::default().with_level(0.1).fit(&normal.series, &run)?;
//!
//! let running = motions.test.select(&motions.test.with_label("Running")?);
//! let found = detector.score(&running.series, &run)?;
//! assert!(found.findings.iter().all(|finding| finding.novel == Some(true)));
//! # Ok::<(), varnorm::Error>(())
//! ```
//!
//! Series of one's own need no files: without default features the crate has neither readers nor reports. Programs to copy
//! are in the folder `examples`.

pub mod calibrate;
pub mod data;
pub mod describe;
pub mod detector;
mod diagnostics;
pub mod error;
pub mod gram;
mod infinite;
#[doc(hidden)]
pub mod internal;
pub mod kernel;
pub mod law;
mod linalg;
pub mod long;
pub mod memory;
pub mod metrics;
mod model;
pub mod norm;
#[cfg(feature = "report")]
mod plot;
pub mod prepare;
mod random;
#[cfg(feature = "report")]
pub mod report;
pub mod run;
pub mod sample;
pub mod score;
mod simd;
pub mod spectrum;
pub mod words;

pub use data::{Dataset, Series, SeriesSet};
pub use detector::{Detector, Finding, Findings, Settings};
pub use error::{Error, Result};
pub use gram::Gram;
pub use kernel::Kernel;
pub use linalg::Matrix;
pub use prepare::Preparation;
pub use run::Run;
pub use sample::VarianceNorm;
pub use score::{Distance, Measure, Norm};
pub use spectrum::{Rank, Spectrum};

/// The code of the README, run by the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The code of the page about embedding, likewise.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
struct Embedding;
