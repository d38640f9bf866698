//! The Volterra reservoir kernel, with points shortened to a ball.

use super::{Pair, dot};

pub fn vrk(pair: &Pair<'_>) -> f64 {
    let (tau, lambda) = (pair.number("tau"), pair.number("lambda"));
    let radius = pair.number("clip") / tau;
    let short = |a: &[f64]| (radius / dot(a, a).sqrt()).min(1.0);
    let (x, y) = pair.points();
    x.iter().zip(&y).fold(1.0, |past, (a, b)| {
        let product = dot(a, b) * short(a) * short(b);
        1.0 + lambda.powi(2) / (1.0 - tau.powi(2) * product) * past
    })
}
