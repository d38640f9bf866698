//! Truncated signature kernels, and what all signature kernels start from.

use super::{Pair, dot, rbf};

pub fn sig(pair: &Pair<'_>) -> f64 {
    let order = pair.whole("order").unwrap_or(1);
    chains(&increments(pair), pair.whole("level").unwrap(), order, pair.is("compat", "published"))
}

/// Exact for piecewise linear paths: every increment may be used as often as there are levels.
pub fn sig_explicit(pair: &Pair<'_>) -> f64 {
    let level = pair.whole("level").unwrap();
    chains(&increments(pair), level, level, false)
}

/// The scaled second differences of the lifted kernel, a row per step of x.
pub fn increments(pair: &Pair<'_>) -> Vec<Vec<f64>> {
    let (x, y) = pair.points();
    let sigma = pair.is("lift", "rbf").then(|| pair.number("sigma"));
    second_differences(&x, &y, pair.number("scale"), sigma)
}

/// The same for a linear lift or an RBF of this sigma.
pub fn second_differences(x: &[&[f64]], y: &[&[f64]], scale: f64, sigma: Option<f64>) -> Vec<Vec<f64>> {
    let lift = |a: &[f64], b: &[f64]| sigma.map_or_else(|| dot(a, b), |sigma| rbf(a, b, sigma));
    let one = |a: &[&[f64]], b: &[&[f64]]| {
        scale * (lift(a[1], b[1]) - lift(a[1], b[0]) - lift(a[0], b[1]) + lift(a[0], b[0]))
    };
    x.windows(2).map(|a| y.windows(2).map(|b| one(a, b)).collect()).collect()
}

/// Chains of cells one by one: every level as a full matrix of the chains that end in a cell, told apart by how often
/// they have used its row and its column.
fn chains(z: &[Vec<f64>], level: usize, order: usize, last_alone: bool) -> f64 {
    let (rows, columns) = (z.len(), z.first().map_or(0, Vec::len));
    // chains[s][t][q][r]: the sum over chains of the level at hand.
    let mut chains = vec![vec![vec![vec![0.0; order + 1]; order + 1]; columns]; rows];
    for (s, row) in z.iter().enumerate() {
        row.iter().enumerate().for_each(|(t, z)| chains[s][t][1][1] = *z);
    }
    let mut value = 1.0;
    for m in 1..=level {
        let total: f64 = chains.iter().flatten().flatten().flatten().sum();
        if m == level || !last_alone {
            value += total;
        }
        let mut next = chains.clone();
        // Sums over earlier cells, by the number of uses of their row or column.
        let mut earlier = vec![0.0; columns];
        let mut in_columns = vec![vec![0.0; order + 1]; columns];
        for s in 0..rows {
            let (mut before, mut in_row) = (0.0, vec![0.0; order + 1]);
            for t in 0..columns {
                for q in 1..=order {
                    for r in 1..=order {
                        let shorter = match (q, r) {
                            (1, 1) => before,
                            (_, 1) => in_row[q - 1],
                            (1, _) => in_columns[t][r - 1],
                            _ => chains[s][t][q - 1][r - 1],
                        };
                        next[s][t][q][r] = shorter * z[s][t] / (q * r) as f64;
                    }
                }
                before += earlier[t];
                for q in 1..=order {
                    in_row[q] += chains[s][t][q].iter().sum::<f64>();
                }
            }
            for t in 0..columns {
                earlier[t] += chains[s][t].iter().flatten().sum::<f64>();
                for r in 1..=order {
                    in_columns[t][r] += chains[s][t].iter().map(|q| q[r]).sum::<f64>();
                }
            }
        }
        chains = next;
    }
    value
}
