//! Which numbers moved between two runs, by how much, and whether it is more than chance.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::method::Method;
use crate::results::Results;
use crate::unit::UnitResult;

/// A mean over classes that is not the same in two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moved {
    /// The data set.
    pub dataset: String,
    /// The row.
    pub kernel: String,
    /// The method.
    pub method: Method,
    /// ROC-AUC before and after.
    pub roc_auc: (f64, f64),
    /// Average precision before and after.
    pub pr_auc: (f64, f64),
}

/// Two runs side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Means that both runs have.
    pub common: usize,
    /// Those that differ by more than the tolerance, largest move of ROC-AUC first.
    pub moved: Vec<Moved>,
    /// Pairs of one class, kernel and method that the test is over.
    pub pairs: usize,
    /// The mean change of ROC-AUC over those pairs.
    pub mean_change: f64,
    /// Wilcoxon's signed-rank test on the changes of ROC-AUC: the two-sided exact p-value; 1 if none changed.
    pub p_value: f64,
}

/// Compares run `after` with run `before`. Classes of one data set share their test series, and kernels theirs: the
/// p-value takes the pairs as independent, which makes it optimistic.
pub fn compare(before: &[UnitResult], after: &[UnitResult], tolerance: f64) -> Comparison {
    let (old, new) = (Results::new(before), Results::new(after));
    let mut moved: Vec<Moved> = Vec::new();
    let mut common = 0;
    for ((dataset, kernel, method), b) in &old.areas {
        let Some(a) = new.get(dataset, kernel, *method) else { continue };
        common += 1;
        if (a.roc_auc - b.roc_auc).abs() > tolerance || (a.pr_auc - b.pr_auc).abs() > tolerance {
            moved.push(Moved {
                dataset: dataset.clone(),
                kernel: kernel.clone(),
                method: *method,
                roc_auc: (b.roc_auc, a.roc_auc),
                pr_auc: (b.pr_auc, a.pr_auc),
            });
        }
    }
    let size = |m: &Moved| (m.roc_auc.1 - m.roc_auc.0).abs();
    moved.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let changes = changes(before, after);
    let mean_change =
        if changes.is_empty() { 0.0 } else { changes.iter().sum::<f64>() / changes.len() as f64 };
    Comparison { common, moved, pairs: changes.len(), mean_change, p_value: signed_rank(&changes) }
}

/// The changes of ROC-AUC, class by class.
fn changes(before: &[UnitResult], after: &[UnitResult]) -> Vec<f64> {
    let known: BTreeMap<_, _> = before.iter().map(|r| (&r.unit, &r.methods)).collect();
    let mut changes = Vec::new();
    for result in after {
        let Some(old) = known.get(&result.unit) else { continue };
        let both = result.methods.iter().filter_map(|(method, new)| Some((old.get(method)?, new)));
        changes.extend(both.map(|(old, new)| new.roc_auc - old.roc_auc));
    }
    changes
}

/// The two-sided p-value of Wilcoxon's signed-rank test, exact with ties; zeros are left out.
fn signed_rank(changes: &[f64]) -> f64 {
    let mut changes: Vec<f64> = changes.iter().copied().filter(|c| *c != 0.0).collect();
    changes.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    // Twice the rank, so that the mean rank of equals is whole.
    let ranks: Vec<usize> = changes
        .iter()
        .map(|c| {
            let below = changes.partition_point(|v| v.abs() < c.abs());
            let upto = changes.partition_point(|v| v.abs() <= c.abs());
            below + 1 + upto
        })
        .collect();
    let total: usize = ranks.iter().sum();
    let up: usize = ranks.iter().zip(&changes).filter(|(_, c)| **c > 0.0).map(|(r, _)| *r).sum();
    // The law of the sum where every sign is a fair coin.
    let mut law = vec![0.0; total + 1];
    law[0] = 1.0;
    let mut reach = 0;
    for rank in ranks {
        reach += rank;
        for sum in (0..=reach).rev() {
            let with = if sum >= rank { law[sum - rank] } else { 0.0 };
            law[sum] = 0.5 * (law[sum] + with);
        }
    }
    let extreme = up.min(total - up);
    (2.0 * law[..=extreme].iter().sum::<f64>()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_is_exact() {
        assert_eq!(signed_rank(&[]), 1.0);
        // All five up: 2 of 32 sign patterns.
        assert_eq!(signed_rank(&[0.1, 0.2, 0.3, 0.4, 0.5]), 2.0 / 32.0);
        // Ranks 1 against 2 + 3 + 4 + 5: sums of at most 1 have 2 of 32 patterns.
        assert_eq!(signed_rank(&[-0.1, 0.2, 0.3, 0.4, 0.5, 0.0]), 4.0 / 32.0);
        // Equal sizes: a sign test. One of four against: (1 + 4) of 16, twice.
        assert_eq!(signed_rank(&[0.1, 0.1, 0.1, -0.1]), 10.0 / 16.0);
        let many: Vec<f64> =
            (1..=300).map(|i| if i % 3 == 0 { -0.01 } else { 0.01 } * f64::from(i)).collect();
        assert!(signed_rank(&many) < 1e-6);
    }
}
