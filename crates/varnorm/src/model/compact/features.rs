//! Points from the features that a kernel has of its own.

use super::Points;
use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::gram::Scaling;
use crate::kernel::Kernel;
use crate::run::Run;

/// Most features: the covariance has the square of their number.
pub(crate) const MOST_DIMENSIONS: usize = 4096;

/// What to say of a kernel without features.
pub(crate) fn no_features() -> String {
    format!(
        "has no features of its own ({} have); choose landmarks, such as landmarks:256",
        Kernel::names_with_features()
    )
}

/// The features of prepared series, at unit length where the kernel is normalised.
pub(super) fn points(kernel: &Kernel, scaling: Scaling, set: &SeriesSet, run: &Run) -> Result<Points> {
    let features = kernel.features();
    let features = features
        .ok_or_else(|| Error::bad_param("space", "features", format!("{kernel} {}", no_features())))?;
    let mut coordinates = features.vectors(set, run)?;
    let width = coordinates.columns();
    if width > MOST_DIMENSIONS {
        let rule = format!(
            "the kernel has {width} features of these series and a covariance of at most {MOST_DIMENSIONS} is worked \
             out; choose a kernel with fewer, or landmarks"
        );
        return Err(Error::bad_param("space", "features", rule));
    }
    let mut squares = Vec::with_capacity(set.len());
    for i in 0..set.len() {
        let row = coordinates.row_mut(i);
        let largest = row.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        if !largest.is_finite() {
            return Err(Error::KernelValue { row: i, column: i, value: largest });
        }
        // Squares of what is scaled first neither overflow nor vanish.
        let length = |row: &[f64]| row.iter().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt() * largest;
        if scaling == Scaling::Normalized && largest > 0.0 {
            let length = length(row);
            row.iter_mut().for_each(|v| *v /= length);
            squares.push(1.0);
        } else {
            squares.push(row.iter().map(|v| v * v).sum());
        }
    }
    Ok(Points { coordinates, squares })
}
