//! Series and the files they come in.
//!
//! [`SeriesSet`] holds the numbers, [`Dataset`] adds what a file says about them, and [`read`] and
//! [`write()`] go between the two and files: one module per format.

mod arff;
mod atomic;
mod basic_motions;
mod csv;
mod dataset;
mod files;
mod format;
mod label;
mod names;
mod npz;
mod parts;
mod series;
mod text;
mod ts;
mod values;
mod view;

pub use atomic::write_atomically;
pub use basic_motions::basic_motions;
pub use csv::CsvLayout;
pub use dataset::{Dataset, LabelKind, Labels, Split};
pub use files::{read_all, read_split};
pub use format::{CsvShape, Format, ReadOptions, WriteOptions, read, read_bytes, read_bytes_up_to, write};
pub use parts::Parts;
pub use series::{Series, SeriesSet, SharedValues};
