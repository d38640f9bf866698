//! Series and the files they come in.
//!
//! [`SeriesSet`] holds the numbers, [`Dataset`] adds what a file says about them, and [`read`] and [`write`]
//! go between the two and files: one module per format.

mod dataset;
mod series;

pub use dataset::{Dataset, LabelKind, Labels, Split};
pub use series::{Series, SeriesSet};
