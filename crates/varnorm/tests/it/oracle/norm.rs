//! Variance norms of vectors.

use varnorm::Matrix;

/// `sqrt(a^T Sigma^-1 a)` for the queries' differences a from the mean, by elimination.
pub fn mahalanobis(sample: &Matrix, queries: &Matrix) -> Vec<f64> {
    let (n, d) = (sample.rows() as f64, sample.columns());
    let mean: Vec<f64> =
        (0..d).map(|c| (0..sample.rows()).map(|r| sample.get(r, c)).sum::<f64>() / n).collect();
    let covariance = |i: usize, j: usize| {
        (0..sample.rows()).map(|r| (sample.get(r, i) - mean[i]) * (sample.get(r, j) - mean[j])).sum::<f64>()
            / n
    };
    let one = |q: usize| {
        let a: Vec<f64> = (0..d).map(|c| queries.get(q, c) - mean[c]).collect();
        let mut rows: Vec<Vec<f64>> =
            (0..d).map(|i| (0..d).map(|j| covariance(i, j)).chain([a[i]]).collect()).collect();
        for k in 0..d {
            for i in (0..d).filter(|i| *i != k) {
                let factor = rows[i][k] / rows[k][k];
                let pivot = rows[k].clone();
                rows[i].iter_mut().zip(pivot).for_each(|(cell, p)| *cell -= factor * p);
            }
        }
        (0..d).map(|i| a[i] * rows[i][d] / rows[i][i]).sum::<f64>().sqrt()
    };
    (0..queries.rows()).map(one).collect()
}
