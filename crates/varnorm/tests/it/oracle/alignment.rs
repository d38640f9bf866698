//! The global alignment kernel.

use super::{Pair, rbf};

pub fn gak(pair: &Pair<'_>) -> f64 {
    let (x, y) = pair.points();
    let width = pair.whole("band").map_or(usize::MAX, |band| band.max(x.len().abs_diff(y.len())));
    // A floor of 0 is left out of the parameters.
    let floor = pair.parameters["floor"].as_f64().unwrap_or(0.0);
    let mut table = vec![vec![0.0; y.len() + 1]; x.len() + 1];
    table[0][0] = 1.0;
    for s in 1..=x.len() {
        for t in (1..=y.len()).filter(|t| s.abs_diff(*t) <= width) {
            let k = rbf(x[s - 1], y[t - 1], pair.number("sigma"));
            let kappa = (k / (2.0 - k)).max(floor);
            table[s][t] = kappa * (table[s - 1][t - 1] + table[s - 1][t] + table[s][t - 1]);
        }
    }
    table[x.len()][y.len()]
}
