//! What the kernels of shares have in common: each feature is the share of a series' steps on one side of a bound.
//!
//! The kernel is the mean over the features of their products, `<phi(x), phi(y)> / number of features`. What is learned from a
//! corpus (bounds, dilations, subsets of channels) is part of the resolved kernel; see [`super::rocket`] and [`super::radon`].

pub(crate) mod count;
pub(crate) mod numbers;

use crate::data::{Series, SeriesSet};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::linalg::matrix::Matrix;
use crate::run::Run;

/// Series of a task.
const TASK: usize = 8;

/// The features of a kernel `rocket` or `radon` that was resolved on a corpus: one row per series, every number a share of
/// its steps. The kernel is the inner product of two rows divided by their length.
pub fn share_features(set: &SeriesSet, kernel: &Kernel, run: &Run) -> Result<Matrix> {
    kernel.validate()?;
    match kernel {
        Kernel::Rocket(kernel) => kernel.shares(set, run),
        Kernel::Radon(kernel) => kernel.shares(set, run),
        other => Err(Error::bad_param("kernel", other, "must be rocket or radon")),
    }
}

/// One row of so many shares per series. `fill` writes a row; its buffers serve several series.
pub(crate) fn rows<B: Default>(
    set: &SeriesSet,
    count: usize,
    run: &Run,
    fill: impl Fn(&Series<'_>, &mut B, &mut [f64]) + Sync,
) -> Result<Matrix> {
    let mut all = Matrix::zeros(set.len(), count);
    let tasks: Vec<_> = all.values_mut().chunks_mut(TASK * count).enumerate().collect();
    run.for_each("features", tasks, |(task, rows)| {
        let mut buffers = B::default();
        for (at, row) in rows.chunks_exact_mut(count).enumerate() {
            fill(&set.series(task * TASK + at), &mut buffers, row);
        }
        Ok(())
    })?;
    Ok(all)
}

/// Rows whose inner products are the mean products of shares.
pub(crate) fn divided_by_root(mut shares: Matrix) -> Matrix {
    let root = (shares.columns() as f64).sqrt();
    shares.values_mut().iter_mut().for_each(|share| *share /= root);
    shares
}

/// What was learned on series of these channels, or an error where nothing was, or on others.
pub(crate) fn learned<T>(fitted: Option<&T>, channels: usize, of: impl Fn(&T) -> usize) -> Result<&T> {
    let fitted = required(fitted)?;
    require_channels(channels, of(fitted)).map(|()| fitted)
}

/// What was learned, or an error where nothing was.
fn required<T>(fitted: Option<&T>) -> Result<&T> {
    fitted.ok_or_else(|| {
        Error::bad_param("fitted", "none", "is learned from a corpus; call Kernel::resolve first")
    })
}

/// An error where series have other channels than the corpus had.
pub(crate) fn require_channels(found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Channels {
        found,
        expected,
        advice: "the kernel was resolved on series of those channels".into(),
    })
}

/// An error where there is nothing to learn from.
pub(crate) fn require_series(corpus: &SeriesSet) -> Result<()> {
    match corpus.is_empty() {
        true => Err(Error::bad_param(
            "corpus",
            "0 series",
            "bounds are quantiles of it; give at least one series",
        )),
        false => Ok(()),
    }
}

/// Values of a corpus so large that sums of them are not finite.
pub(crate) fn too_large() -> Error {
    Error::bad_param(
        "corpus",
        "values",
        "sums of them are not finite; bring them to a common scale, as with zscore=channel",
    )
}

/// The whole part of the median length of a corpus: what dilations are made for.
pub(crate) fn median_length(corpus: &SeriesSet) -> usize {
    let mut lengths: Vec<usize> = corpus.lengths().collect();
    lengths.sort_unstable();
    match lengths.len() {
        0 => 0,
        n => (lengths[(n - 1) / 2] + lengths[n / 2]) / 2,
    }
}

/// The quantiles of numbers at some fractions, linear between neighbours in order; sorts the numbers.
pub(crate) fn quantiles(numbers: &mut [f64], fractions: impl Iterator<Item = f64>, out: &mut [f64]) {
    numbers.sort_unstable_by(f64::total_cmp);
    let last = numbers.len().saturating_sub(1);
    for (out, fraction) in out.iter_mut().zip(fractions) {
        let place = fraction * last as f64;
        let below = (place as usize).min(last);
        let (low, high) = (numbers[below], numbers[(below + 1).min(last)]);
        *out = low + (high - low) * (place - below as f64);
    }
}

/// How far from the numbers that it was learned from a bound is moved, as a share of the largest of them. Values that would be
/// equal but for rounding, as on straight lines, then lie on one side of it together, in any unit.
const TIES: f64 = 1e-9;

/// That distance.
pub(crate) fn tie_margin(numbers: &[f64]) -> f64 {
    TIES * numbers.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// One quantile, likewise; numbers are moved about, but not sorted.
pub(crate) fn quantile(numbers: &mut [f64], fraction: f64) -> f64 {
    let last = numbers.len().saturating_sub(1);
    let place = fraction * last as f64;
    let below = (place as usize).min(last);
    let (_, low, above) = numbers.select_nth_unstable_by(below, f64::total_cmp);
    let high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(*low);
    *low + (high - *low) * (place - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_quantile_is_the_same_as_one_of_many() {
        let numbers: Vec<f64> = (0..57).map(|i| f64::from((i * 29) % 57).sin()).collect();
        for fraction in [0.0, 0.01, 0.3, 0.5, 0.99, 1.0] {
            let mut all = [0.0];
            quantiles(&mut numbers.clone(), [fraction].into_iter(), &mut all);
            assert_eq!(quantile(&mut numbers.clone(), fraction), all[0]);
        }
        assert_eq!(quantile(&mut [7.0], 0.3), 7.0);
    }

    #[test]
    fn quantiles_are_linear_between_neighbours() {
        let mut out = [0.0; 5];
        quantiles(&mut [4.0, 1.0, 2.0], [0.0, 0.25, 0.5, 0.75, 1.0].into_iter(), &mut out);
        assert_eq!(out, [1.0, 1.5, 2.0, 3.0, 4.0]);
        quantiles(&mut [7.0], [0.3].into_iter(), &mut out[..1]);
        assert_eq!(out[0], 7.0);
    }

    #[test]
    fn the_median_length_is_a_whole_number() {
        let of = |lengths: &[usize]| {
            let values = vec![0.0; lengths.iter().sum()];
            median_length(&SeriesSet::from_lengths(values, lengths, 1).unwrap())
        };
        assert_eq!((of(&[9, 1, 2, 7]), of(&[9, 1, 2]), of(&[2, 4])), (4, 2, 3));
        assert_eq!(median_length(&SeriesSet::new(1).unwrap()), 0);
    }
}
