//! Kernels of whole series.

use super::{Pair, dot};

pub fn linear(pair: &Pair<'_>) -> f64 {
    dot(pair.x, pair.y)
}

pub fn rbf(pair: &Pair<'_>) -> f64 {
    super::rbf(pair.x, pair.y, pair.number("sigma"))
}

pub fn poly(pair: &Pair<'_>) -> f64 {
    (dot(pair.x, pair.y) + pair.number("c")).powf(pair.number("p"))
}
