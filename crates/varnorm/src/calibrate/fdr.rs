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
