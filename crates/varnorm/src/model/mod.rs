//! What a detector fits: the covariance of a corpus, from all pairs of series or in a compact form.

pub(crate) mod compact;

pub use compact::{Choice, Space};
