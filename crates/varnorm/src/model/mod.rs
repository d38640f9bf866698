//! What a detector fits: the covariance of a corpus, from all pairs of series or in a compact form.

pub(crate) mod compact;

pub use compact::{Choice, Space};

/// The first two coordinates, for a map; 0 where there is no such direction.
pub(crate) fn first_two(coordinates: &[f64]) -> [f64; 2] {
    [coordinates.first().copied().unwrap_or(0.0), coordinates.get(1).copied().unwrap_or(0.0)]
}
