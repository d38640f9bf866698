//! What a detector fits: the covariance of a corpus, from all pairs of series or in a compact form.

pub(crate) mod compact;

pub use compact::{Choice, Space};

/// What a model measures of one series, whichever model it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// How novel the series is: higher is more.
    pub score: f64,
    /// The nearest normal series, by its place in the model.
    pub nearest: usize,
    /// The share of the squared distance from the corpus mean that no corpus series explains.
    pub outside_span: f64,
    /// The first two kernel principal coordinates, for a map; 0 where the corpus has no such direction.
    pub coordinates: [f64; 2],
}

/// The first two coordinates, for a map; 0 where there is no such direction.
pub(crate) fn first_two(coordinates: &[f64]) -> [f64; 2] {
    [coordinates.first().copied().unwrap_or(0.0), coordinates.get(1).copied().unwrap_or(0.0)]
}
