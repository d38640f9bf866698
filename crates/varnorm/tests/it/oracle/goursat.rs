//! The untruncated signature kernel: the Goursat problem `u_st = z u` with `u = 1` on two sides.

use varnorm::data::Series;

use super::Pair;
use super::signature::{increments, second_differences};

pub fn sig_pde(pair: &Pair<'_>) -> f64 {
    let z = increments(pair);
    match pair.whole("dyadic") {
        Some(n) => *dyadic(&z, n as u32).last().and_then(|row| row.last()).unwrap(),
        None => taylor(&z),
    }
}

/// The largest value of the solution on its way, about, with a linear lift or an RBF of this sigma.
pub fn largest_on_the_way(x: Series<'_>, y: Series<'_>, scale: f64, sigma: Option<f64>) -> f64 {
    let [x, y] = [x, y].map(|series| (0..series.steps()).map(|t| series.step(t)).collect::<Vec<_>>());
    let solution = dyadic(&second_differences(&x, &y, scale, sigma), 2);
    solution.iter().flatten().fold(1.0, |largest, value| largest.max(value.abs()))
}

/// Its solution at every corner by the published scheme, on cells halved n times.
fn dyadic(z: &[Vec<f64>], n: u32) -> Vec<Vec<f64>> {
    let parts = 1usize << n;
    let columns = z.first().map_or(0, Vec::len);
    let mut u = vec![vec![1.0; columns * parts + 1]; z.len() * parts + 1];
    for s in 0..z.len() * parts {
        for t in 0..columns * parts {
            let z = z[s / parts][t / parts] / (parts * parts) as f64;
            u[s + 1][t + 1] =
                (u[s + 1][t] + u[s][t + 1]) * (1.0 + z / 2.0 + z * z / 12.0) - u[s][t] * (1.0 - z * z / 12.0);
        }
    }
    u
}

/// Its solution in the last corner by the whole Taylor series of quarter cells, as far as rounding can see:
/// `d^(i+j) u / ds^i dt^j = z d^(i+j-2) u / ds^(i-1) dt^(j-1)`.
fn taylor(z: &[Vec<f64>]) -> f64 {
    const TERMS: usize = 16;
    let weight: Vec<f64> = (0..TERMS).map(|n| 1.0 / (1..=n).product::<usize>() as f64).collect();
    let columns = 2 * z.first().map_or(0, Vec::len);
    let edge: Vec<f64> = (0..TERMS).map(|n| if n == 0 { 1.0 } else { 0.0 }).collect();
    let mut above = vec![edge.clone(); columns];
    for s in 0..2 * z.len() {
        let mut left = edge.clone();
        for (t, top) in above.iter_mut().enumerate() {
            let z = z[s / 2][t / 2] / 4.0;
            let (mut row, mut bottom, mut right) = (top.clone(), vec![0.0; TERMS], vec![0.0; TERMS]);
            for i in 0..TERMS {
                if i > 0 {
                    row.rotate_right(1);
                    row.iter_mut().for_each(|v| *v *= z);
                    row[0] = left[i];
                }
                right[i] = row.iter().zip(&weight).map(|(v, w)| v * w).sum();
                bottom.iter_mut().zip(&row).for_each(|(b, v)| *b += v * weight[i]);
            }
            (*top, left) = (bottom, right);
        }
    }
    above.last().map_or(1.0, |edge| {
        if z.is_empty() { 1.0 } else { edge.iter().zip(&weight).map(|(v, w)| v * w).sum() }
    })
}
