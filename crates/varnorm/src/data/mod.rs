//! Series and the files they come in.
//!
//! [`SeriesSet`] holds the numbers, [`Dataset`] adds what a file says about them, and [`read`] and
//! [`write()`] go between the two and files: one module per format.

#[cfg(feature = "files")]
mod arff;
#[cfg(feature = "files")]
mod atomic;
#[cfg(feature = "files")]
mod basic_motions;
mod channel;
#[cfg(feature = "files")]
mod csv;
mod dataset;
#[cfg(feature = "files")]
mod files;
#[cfg(feature = "files")]
mod format;
#[cfg_attr(not(feature = "files"), allow(dead_code))]
mod label;
#[cfg_attr(not(feature = "files"), allow(dead_code))]
mod limits;
#[cfg(feature = "files")]
mod names;
#[cfg(feature = "files")]
pub(crate) mod npz;
mod origin;
#[cfg(feature = "files")]
mod packed;
#[cfg(feature = "files")]
mod parts;
mod series;
#[cfg_attr(not(feature = "files"), allow(dead_code))]
mod text;
mod time;
#[cfg(feature = "files")]
mod ts;
mod values;
#[cfg(feature = "files")]
mod view;

#[cfg(feature = "files")]
pub use self::{
    atomic::write_atomically,
    basic_motions::basic_motions,
    csv::{Columns, CsvLayout, Decimal},
    files::{data_files, read_all, read_split},
    format::{CsvShape, Format, ReadOptions, WriteOptions, read, read_bytes, read_bytes_within, write},
    limits::ReadLimits,
    npz::npy_header,
    parts::Parts,
};
pub use channel::Channel;
#[cfg(feature = "files")]
pub(crate) use channel::{Matching, listed as listed_names};
pub use dataset::{Dataset, LabelKind, Labels, Split};
pub use origin::Origin;
pub use series::{Series, SeriesSet, SharedValues};
#[cfg(feature = "files")]
pub(crate) use text::value as log_value;
pub use time::{Gap, Gaps, SamplingStep, StampFormat, StampReading, TimeFaults, TimeUnit, Times};
