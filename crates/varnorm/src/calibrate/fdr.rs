//! Flags over a batch with a bound on the share of false ones.

/// Benjamini-Hochberg: flags so that, for independent (or positively dependent) p-values, at most a share `level`
/// of the flagged ones is false on average. Flags the k smallest, k the largest with `p_(k) <= level k / m`.
///
/// ```
/// use varnorm::calibrate::benjamini_hochberg;
/// assert_eq!(benjamini_hochberg(&[0.01, 0.9, 0.03, 0.04], 0.05), [true, false, false, false]);
/// assert_eq!(benjamini_hochberg(&[0.01, 0.9, 0.03, 0.0375], 0.05), [true, false, true, true]);
/// ```
pub fn benjamini_hochberg(p_values: &[f64], level: f64) -> Vec<bool> {
    let mut sorted = p_values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let m = sorted.len() as f64;
    // p-values are counts over counts: equality up to rounding is equality.
    let within = |(i, p): (usize, &f64)| (*p <= level * (i + 1) as f64 / m * (1.0 + 1e-12)).then_some(*p);
    let limit = sorted.iter().enumerate().rev().find_map(within);
    p_values.iter().map(|p| limit.is_some_and(|limit| *p <= limit)).collect()
}

/// Storey's form of Benjamini-Hochberg: the share of normal series in the batch is estimated from the p-values above
/// one half, and the level is raised accordingly; more is flagged where much is novel. Only p-values of at most one
/// half can be flagged.
///
/// ```
/// use varnorm::calibrate::{benjamini_hochberg, storey};
/// let p = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.9];
/// assert_eq!(benjamini_hochberg(&p, 0.06).iter().filter(|f| **f).count(), 0);
/// assert_eq!(storey(&p, 0.06).iter().filter(|f| **f).count(), 7);
/// ```
pub fn storey(p_values: &[f64], level: f64) -> Vec<bool> {
    let share = normal_share(p_values);
    let flags = benjamini_hochberg(p_values, (level / share).min(1.0));
    flags.into_iter().zip(p_values).map(|(flag, p)| flag && *p <= SPLIT).collect()
}

/// p-values above this are taken as normal ones.
const SPLIT: f64 = 0.5;

/// Storey's estimate of the share of normal series in a batch: `(1 + #{p > 1/2}) / (m / 2)`, at most 1.
pub fn normal_share(p_values: &[f64]) -> f64 {
    let above = p_values.iter().filter(|p| **p > SPLIT).count();
    ((1 + above) as f64 / (p_values.len() as f64 * (1.0 - SPLIT))).min(1.0)
}
