//! Kernels of points, integrated over time from 0 to 1.

use super::{Pair, dot};

pub fn rbf(pair: &Pair<'_>) -> f64 {
    let sigma = pair.number("sigma");
    trapezoid(pair, |a, b| super::rbf(a, b, sigma))
}

pub fn poly(pair: &Pair<'_>) -> f64 {
    let (c, p) = (pair.number("c"), pair.number("p"));
    trapezoid(pair, |a, b| (dot(a, b) + c).powf(p))
}

fn trapezoid(pair: &Pair<'_>, of_points: impl Fn(&[f64], &[f64]) -> f64) -> f64 {
    let (x, y) = pair.points();
    let values: Vec<f64> = x.iter().zip(&y).map(|(a, b)| of_points(a, b)).collect();
    if let [only] = values[..] {
        return only;
    }
    values.windows(2).map(|w| 0.5 * (w[0] + w[1])).sum::<f64>() / (values.len() - 1) as f64
}
