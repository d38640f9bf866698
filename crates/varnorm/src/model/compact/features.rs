//! Points from the features that a kernel has of its own.

use super::Points;
use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::gram::Scaling;
use crate::kernel::{Kernel, fourier_signature_features, random_signature, signature_features};
use crate::linalg::matrix::Matrix;
use crate::run::Run;

/// Most features: the covariance has the square of their number.
pub(crate) const MOST_DIMENSIONS: usize = 4096;

/// Whether a kernel has features.
pub(super) fn known(kernel: &Kernel) -> bool {
    matches!(
        kernel,
        Kernel::FlatLinear {}
            | Kernel::SigExplicit { .. }
            | Kernel::SigRandom { .. }
            | Kernel::SigFourier { .. }
    )
}

/// The features of prepared series, at unit length where the kernel is normalised.
pub(super) fn points(kernel: &Kernel, scaling: Scaling, set: &SeriesSet, run: &Run) -> Result<Points> {
    let mut coordinates = raw(kernel, set, run)?;
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

/// Features whose inner products are the kernel's values.
fn raw(kernel: &Kernel, set: &SeriesSet, run: &Run) -> Result<Matrix> {
    match kernel {
        Kernel::FlatLinear {} => {
            let steps = set.require_equal_length(
                "the kernel flat_linear",
                "bring them to one length with the preparation step `resample`",
            )?;
            let shaped = Matrix::from_values(set.len(), steps * set.channels(), set.values().to_vec());
            Ok(shaped.unwrap_or_else(|| Matrix::zeros(0, 0)))
        }
        Kernel::SigExplicit { level, scale } => {
            let scale = scale.resolved("scale")?;
            let levels = signature_features(set, *level, run)?;
            let mut with_one = Matrix::zeros(set.len(), levels.columns() + 1);
            for i in 0..set.len() {
                let row = with_one.row_mut(i);
                row[0] = 1.0;
                row[1..].copy_from_slice(levels.row(i));
                weigh_levels(&mut row[1..], set.channels(), scale);
            }
            Ok(with_one)
        }
        Kernel::SigRandom { features, variance, seed } => {
            let mut all = random_signature(set, *features, variance.resolved("variance")?, *seed, run)?;
            let root = f64::from(*features).sqrt();
            all.values_mut().iter_mut().for_each(|v| *v /= root);
            Ok(all)
        }
        Kernel::SigFourier { .. } => fourier_signature_features(set, kernel, run),
        other => Err(Error::bad_param(
            "space",
            "features",
            format!(
                "{other} has no features of its own (flat_linear, sig_explicit, sig_random and sig_fourier have); choose \
                 landmarks, such as landmarks:256"
            ),
        )),
    }
}

/// `scale^(m/2)` for every feature of level m.
fn weigh_levels(features: &mut [f64], channels: usize, scale: f64) {
    let (mut start, mut length, mut weight) = (0, channels, scale.sqrt());
    while start < features.len() {
        features[start..start + length].iter_mut().for_each(|v| *v *= weight);
        (start, length, weight) = (start + length, length * channels, weight * scale.sqrt());
    }
}
