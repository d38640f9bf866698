//! [`Moments`]: count, mean and scatter of points; those of parts merge into those of the whole.

use crate::linalg::matrix::Matrix;
use crate::linalg::product::inner_products;

/// Points whose moments are taken at a time.
const CHUNK: usize = 1024;

/// Count, mean and scatter (the sum of `(x - mean)(x - mean)^T`) of some points.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Moments {
    pub(crate) count: usize,
    pub(crate) mean: Vec<f64>,
    pub(crate) scatter: Matrix,
}

impl Moments {
    /// Of no points.
    pub(crate) fn none(dimensions: usize) -> Self {
        Self { count: 0, mean: vec![0.0; dimensions], scatter: Matrix::zeros(dimensions, dimensions) }
    }

    /// Adds points, a chunk at a time: the mean is taken off before anything is squared.
    pub(crate) fn add<'a>(&mut self, points: impl Iterator<Item = &'a [f64]>) {
        let mut chunk: Vec<&[f64]> = Vec::with_capacity(CHUNK);
        for point in points {
            chunk.push(point);
            if chunk.len() == CHUNK {
                self.merge(&Self::of(&chunk, self.mean.len()));
                chunk.clear();
            }
        }
        if !chunk.is_empty() {
            self.merge(&Self::of(&chunk, self.mean.len()));
        }
    }

    fn of(points: &[&[f64]], dimensions: usize) -> Self {
        let count = points.len();
        let mut mean = vec![0.0; dimensions];
        for point in points {
            mean.iter_mut().zip(*point).for_each(|(m, x)| *m += x);
        }
        mean.iter_mut().for_each(|m| *m /= count as f64);
        // One row per coordinate: the scatter is the product of these rows with each other.
        let mut centred = vec![0.0; dimensions * count];
        for (p, point) in points.iter().enumerate() {
            for (j, (x, m)) in point.iter().zip(&mean).enumerate() {
                centred[j * count + p] = x - m;
            }
        }
        let mut scatter = Matrix::zeros(dimensions, dimensions);
        inner_products(&centred, &centred, count, scatter.values_mut(), dimensions);
        Self { count, mean, scatter }
    }

    /// Adds the points of others (Chan, Golub and LeVeque): with `d` the difference of the means, the scatter grows by
    /// `d d^T n_a n_b / (n_a + n_b)`.
    pub(crate) fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        let (own, more) = (self.count as f64, other.count as f64);
        let share = more / (own + more);
        let difference: Vec<f64> = other.mean.iter().zip(&self.mean).map(|(b, a)| b - a).collect();
        for (j, d) in difference.iter().enumerate() {
            let row = self.scatter.row_mut(j).iter_mut().zip(other.scatter.row(j)).zip(&difference);
            row.for_each(|((cell, more), e)| *cell += more + d * e * (own * share));
        }
        self.mean.iter_mut().zip(&difference).for_each(|(m, d)| *m += d * share);
        self.count += other.count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_parts_are_those_of_the_whole_and_of_the_definition() {
        let points: Vec<[f64; 3]> =
            (0..3000).map(f64::from).map(|i| [1e4 + (i * 0.7).sin(), (i * 1.3).cos(), i * 1e-3]).collect();
        let rows = || points.iter().map(|p| &p[..]);
        let mut whole = Moments::none(3);
        whole.add(rows());
        let mut parts = Moments::none(3);
        for part in points.chunks(700).rev() {
            let mut one = Moments::none(3);
            one.add(part.iter().map(|p| &p[..]));
            parts.merge(&one);
        }
        let mean = |j: usize| points.iter().map(|p| p[j]).sum::<f64>() / 3000.0;
        let means = [mean(0), mean(1), mean(2)];
        for j in 0..3 {
            assert!((whole.mean[j] - means[j]).abs() < 1e-11 * means[j].abs().max(1.0));
            for k in 0..3 {
                let direct: f64 = points.iter().map(|p| (p[j] - means[j]) * (p[k] - means[k])).sum();
                assert!((whole.scatter.get(j, k) - direct).abs() < 1e-9 * 3000.0, "{j} {k}");
                assert!((parts.scatter.get(j, k) - direct).abs() < 1e-9 * 3000.0, "{j} {k}");
            }
        }
        assert_eq!((whole.count, parts.count), (3000, 3000));
    }
}
