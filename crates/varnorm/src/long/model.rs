//! [`WindowModel`]: windows as vectors in which the variance norm is a sum of squares, and the nearest normal one.

use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::linalg::cholesky::inverse_factor;
use crate::linalg::eigen;
use crate::linalg::matrix::Matrix;
use crate::linalg::product::{
    Vectors, Wanted, distances_in_place, inner_products, inner_products_of, squares,
};
use crate::run::Run;
use crate::score::Distance;

/// Up to so many features the covariance itself is factorised; beyond, the Gram matrix of the windows.
const MOST_FACTORISED: usize = 2048;
/// Eigenvalues of the Gram matrix below this share of the largest are rounding.
const NEGLIGIBLE: f64 = 1e-10;
/// Windows that a thread scores at a time.
const STRIP: usize = 64;

/// The windows of a normal recording under one look.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WindowModel {
    /// Resolved on the windows.
    pub(super) kernel: Kernel,
    pub(super) window: usize,
    pub(super) channels: usize,
    pub(super) zscore_windows: bool,
    pub(super) distance: Distance,
    /// Of the features.
    pub(super) mean: Vec<f64>,
    /// Rows whose products with centred features are the whitened coordinates.
    pub(super) directions: Matrix,
    /// Where the directions do not fill the space.
    pub(super) outside: Option<Outside>,
    /// Whitened normal windows, one row each.
    pub(super) corpus: Matrix,
    squares: Vec<f64>,
}

/// What the part outside of the directions counts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outside {
    pub(super) alpha: f64,
    /// `lambda + alpha` of every direction.
    pub(super) weights: Vec<f64>,
}

/// What was found about one window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    pub(super) score: f64,
    /// The nearest of the normal windows.
    pub(super) nearest: u32,
}

/// What the model is made with.
pub(super) struct Look {
    pub(super) kernel: Kernel,
    pub(super) zscore_windows: bool,
    pub(super) distance: Distance,
    /// In units of the mean eigenvalue.
    pub(super) alpha: f64,
}

impl WindowModel {
    /// From windows, one after the other.
    pub(super) fn fit(
        look: Look,
        windows: Vec<f64>,
        window: usize,
        channels: usize,
        run: &Run,
    ) -> Result<Self> {
        let mut set = SeriesSet::from_equal(windows, window, channels)?;
        if look.zscore_windows {
            zscore(set.values_mut(), window, channels);
        }
        let kernel = look.kernel.resolve(&set)?;
        let mut features = vectors(&kernel, &set, run)?;
        drop(set);
        let mean = centre(&mut features);
        let (directions, outside) = match features.columns() <= MOST_FACTORISED {
            true => (factorised(&features, look.alpha, run)?, None),
            false => decomposed(&features, look.alpha, run)?,
        };
        let corpus = product(&features, &directions, run)?;
        let (zscore_windows, distance) = (look.zscore_windows, look.distance);
        let parts =
            Parts { kernel, window, channels, zscore_windows, distance, mean, directions, outside, corpus };
        Ok(parts.into())
    }

    /// Normal windows that are kept.
    pub(super) fn len(&self) -> usize {
        self.corpus.rows()
    }

    /// The scores of windows that begin at some rows of `rows`, in that order.
    pub(super) fn scores(&self, rows: &[f64], starts: &[usize], run: &Run) -> Result<Vec<Found>> {
        let mut found = vec![Found { score: 0.0, nearest: 0 }; starts.len()];
        let tasks: Vec<_> = starts.chunks(STRIP).zip(found.chunks_mut(STRIP)).collect();
        run.for_each("windows", tasks, |(starts, found)| self.strip(rows, starts, found))?;
        Ok(found)
    }

    fn strip(&self, rows: &[f64], starts: &[usize], found: &mut [Found]) -> Result<()> {
        let each = self.window * self.channels;
        let mut windows = Vec::with_capacity(starts.len() * each);
        for start in starts {
            windows.extend_from_slice(&rows[start * self.channels..start * self.channels + each]);
        }
        self.scores_of(windows, found)
    }

    /// The scores of windows that lie one after the other.
    pub(super) fn scores_of(&self, windows: Vec<f64>, found: &mut [Found]) -> Result<()> {
        let mut set = SeriesSet::from_equal(windows, self.window, self.channels)?;
        if self.zscore_windows {
            zscore(set.values_mut(), self.window, self.channels);
        }
        let mut features = vectors(&self.kernel, &set, &Run::sequential())?;
        for row in features.values_mut().chunks_exact_mut(self.mean.len()) {
            row.iter_mut().zip(&self.mean).for_each(|(value, mean)| *value -= mean);
        }
        let (count, width) = (features.rows(), self.directions.rows());
        let mut white = vec![0.0; count * width];
        inner_products(features.values(), self.directions.values(), self.mean.len(), &mut white, width);
        let mut own = vec![0.0; count];
        squares(Vectors::new(&white, width), &mut own);
        let outside = self.outside_of(&features, &white);
        let distances = self.distances(&white, &own);
        for (at, found) in found.iter_mut().enumerate() {
            let row = &distances[at * self.len()..(at + 1) * self.len()];
            let (nearest, least) = least(row);
            let square = match self.distance {
                Distance::Mahalanobis {} => own[at],
                Distance::Conformance { neighbour: 1 } => least,
                Distance::Conformance { neighbour } => kth(row, neighbour),
            };
            *found = Found { score: (square + outside[at]).max(0.0).sqrt(), nearest: nearest as u32 };
        }
        Ok(())
    }

    /// What every normal window would score against those that begin at least so many rows away, or against all others where none
    /// does.
    pub(super) fn scores_apart(&self, starts: &[usize], apart: usize, run: &Run) -> Result<Vec<f64>> {
        let width = self.directions.rows();
        let mut scores = vec![0.0; self.len()];
        let neighbour = match self.distance {
            Distance::Conformance { neighbour } => neighbour,
            Distance::Mahalanobis {} => return Ok(self.squares.iter().map(|square| square.sqrt()).collect()),
        };
        let tasks: Vec<_> = scores.chunks_mut(STRIP).enumerate().collect();
        run.for_each("windows", tasks, |(strip, scores)| {
            let first = strip * STRIP;
            let rows = first * width..(first + scores.len()) * width;
            let distances =
                self.distances(&self.corpus.values()[rows], &self.squares[first..first + scores.len()]);
            for (at, score) in scores.iter_mut().enumerate() {
                let (own, row) = (first + at, &distances[at * self.len()..(at + 1) * self.len()]);
                let others = |least: usize| -> Vec<f64> {
                    let far = |j: &usize| *j != own && starts[*j].abs_diff(starts[own]) >= least;
                    (0..row.len()).filter(far).map(|j| row[j]).collect()
                };
                let far = others(apart);
                let far = if far.is_empty() { others(0) } else { far };
                *score = if far.is_empty() { 0.0 } else { kth(&far, neighbour).max(0.0).sqrt() };
            }
            Ok(())
        })?;
        Ok(scores)
    }

    /// The squared distances of whitened windows to all of the corpus.
    fn distances(&self, white: &[f64], own: &[f64]) -> Vec<f64> {
        let (width, len) = (self.directions.rows(), self.len());
        let (a, b) = (Vectors::new(white, width), Vectors::new(self.corpus.values(), width));
        let mut out = vec![0.0; own.len() * len];
        inner_products_of(a, b, Wanted::All, &mut out, len);
        distances_in_place([a, b], [own, &self.squares], Wanted::All, &mut out, len);
        out
    }

    /// What the part outside of the directions adds to every squared distance. Normal windows have none.
    fn outside_of(&self, features: &Matrix, white: &[f64]) -> Vec<f64> {
        let Some(outside) = &self.outside else { return vec![0.0; features.rows()] };
        let mut lengths = vec![0.0; features.rows()];
        squares(Vectors::new(features.values(), features.columns()), &mut lengths);
        let inside = white.chunks_exact(outside.weights.len()).map(|row| {
            row.iter().zip(&outside.weights).map(|(value, weight)| value * value * weight).sum::<f64>()
        });
        lengths
            .iter()
            .zip(inside)
            .map(|(length, inside)| (length - inside).max(0.0) / outside.alpha)
            .collect()
    }
}

/// All but what follows from the rest.
pub(super) struct Parts {
    pub(super) kernel: Kernel,
    pub(super) window: usize,
    pub(super) channels: usize,
    pub(super) zscore_windows: bool,
    pub(super) distance: Distance,
    pub(super) mean: Vec<f64>,
    pub(super) directions: Matrix,
    pub(super) outside: Option<Outside>,
    pub(super) corpus: Matrix,
}

impl From<Parts> for WindowModel {
    fn from(parts: Parts) -> Self {
        let mut own = vec![0.0; parts.corpus.rows()];
        squares(Vectors::new(parts.corpus.values(), parts.corpus.columns()), &mut own);
        let Parts { kernel, window, channels, zscore_windows, distance, mean, directions, outside, corpus } =
            parts;
        Self {
            kernel,
            window,
            channels,
            zscore_windows,
            distance,
            mean,
            directions,
            outside,
            corpus,
            squares: own,
        }
    }
}

/// The features of windows.
fn vectors(kernel: &Kernel, set: &SeriesSet, run: &Run) -> Result<Matrix> {
    let features = kernel.features().ok_or_else(|| {
        let rule = format!(
            "has no feature vectors, which windows need; choose one of {}",
            Kernel::names_with_features()
        );
        Error::bad_param("kernel", kernel, rule)
    })?;
    features.vectors(set, run)
}

/// Takes the mean off every row and returns it.
fn centre(features: &mut Matrix) -> Vec<f64> {
    let (rows, columns) = (features.rows(), features.columns());
    let mut mean = vec![0.0; columns];
    for row in features.values().chunks_exact(columns) {
        mean.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    mean.iter_mut().for_each(|sum| *sum /= rows as f64);
    for row in features.values_mut().chunks_exact_mut(columns) {
        row.iter_mut().zip(&mean).for_each(|(value, mean)| *value -= mean);
    }
    mean
}

/// The products of all rows of one with all rows of the other.
fn product(a: &Matrix, b: &Matrix, run: &Run) -> Result<Matrix> {
    let (depth, columns) = (a.columns(), b.rows());
    let mut out = Matrix::zeros(a.rows(), columns);
    let tasks = a.values().chunks(STRIP * depth).zip(out.values_mut().chunks_mut(STRIP * columns)).collect();
    run.for_each("windows", tasks, |(rows, out)| {
        inner_products(rows, b.values(), depth, out, columns);
        Ok(())
    })?;
    Ok(out)
}

/// Alpha from the trace of a covariance of so many features; features without variance have a unit of their own.
fn alpha(share: f64, trace: f64, features: usize) -> f64 {
    let mean = trace / features as f64;
    share * if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
}

/// `L^-1` of the regularised covariance `L L^T`: whitening by all eigenpairs, up to a rotation, without finding them.
fn factorised(features: &Matrix, share: f64, run: &Run) -> Result<Matrix> {
    let (count, columns) = (features.rows(), features.columns());
    let mut turned = Matrix::zeros(columns, count);
    for (i, row) in features.values().chunks_exact(columns).enumerate() {
        row.iter().enumerate().for_each(|(j, value)| turned.row_mut(j)[i] = *value);
    }
    let mut covariance = product(&turned, &turned, run)?;
    covariance.values_mut().iter_mut().for_each(|value| *value /= count as f64);
    let trace = (0..columns).map(|i| covariance.get(i, i)).sum();
    let alpha = alpha(share, trace, columns);
    (0..columns).for_each(|i| covariance.row_mut(i)[i] += alpha);
    run.check()?;
    inverse_factor(&covariance)
}

/// Directions and what is outside of them, from the Gram matrix of the windows: for more features than windows.
fn decomposed(features: &Matrix, share: f64, run: &Run) -> Result<(Matrix, Option<Outside>)> {
    let (count, columns) = (features.rows(), features.columns());
    let mut gram = product(features, features, run)?;
    gram.values_mut().iter_mut().for_each(|value| *value /= count as f64);
    let trace = (0..count).map(|i| gram.get(i, i)).sum();
    let alpha = alpha(share, trace, columns);
    let pairs = eigen::leading(&gram, None, run)?;
    let largest = pairs.values.first().copied().unwrap_or(0.0);
    let kept = pairs.values.iter().take_while(|value| **value > NEGLIGIBLE * largest).count().max(1);
    let mut directions = Matrix::zeros(kept, columns);
    let tasks: Vec<_> = directions.values_mut().chunks_mut(columns).enumerate().collect();
    run.for_each("windows", tasks, |(k, direction)| {
        for (row, share) in features.values().chunks_exact(columns).zip(pairs.vectors.row(k)) {
            direction.iter_mut().zip(row).for_each(|(sum, value)| *sum += share * value);
        }
        // A direction of unit length, divided by the deviation along it.
        let value = pairs.values[k].max(f64::MIN_POSITIVE);
        let scale = 1.0 / ((value * count as f64).sqrt() * (value + alpha).sqrt());
        direction.iter_mut().for_each(|sum| *sum *= scale);
        Ok(())
    })?;
    let weights = pairs.values[..kept].iter().map(|value| value + alpha).collect();
    Ok((directions, Some(Outside { alpha, weights })))
}

/// Brings every channel of every window to mean 0 and deviation 1; a constant one to 0.
fn zscore(windows: &mut [f64], window: usize, channels: usize) {
    for one in windows.chunks_exact_mut(window * channels) {
        for channel in 0..channels {
            let values = || (channel..window * channels).step_by(channels);
            let mean = values().map(|at| one[at]).sum::<f64>() / window as f64;
            let square = values().map(|at| (one[at] - mean).powi(2)).sum::<f64>() / window as f64;
            let deviation = square.sqrt();
            let unit = if deviation > 1e-9 * mean.abs().max(1e-3) { deviation } else { f64::INFINITY };
            values().for_each(|at| one[at] = (one[at] - mean) / unit);
        }
    }
}

/// The first least cell and its value.
fn least(row: &[f64]) -> (usize, f64) {
    let mut best = (0, f64::INFINITY);
    for (at, value) in row.iter().enumerate() {
        if *value < best.1 {
            best = (at, *value);
        }
    }
    best
}

/// The k-th smallest cell, or the largest where there are fewer.
fn kth(row: &[f64], k: usize) -> f64 {
    let mut sorted = row.to_vec();
    let at = (k - 1).min(sorted.len() - 1);
    *sorted.select_nth_unstable_by(at, f64::total_cmp).1
}
