//! Dilations for series of a length, and the features of each.

/// Most dilations of a kernel.
pub(super) const MOST_DILATIONS: usize = 32;

/// A dilation, and features that every kernel has with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dilation {
    pub(super) step: u32,
    pub(super) features: u32,
}

/// The whole parts of `2^e`, e evenly spaced from 0 to `log2((length-1)/8)`. One that occurs more often has more of the
/// `per_kernel` features; what is left over goes to the first ones.
pub(super) fn dilations(length: usize, per_kernel: usize) -> Vec<Dilation> {
    let most = per_kernel.clamp(1, MOST_DILATIONS);
    let last = (length.saturating_sub(1) as f64 / 8.0).log2().max(0.0);
    let step = last / (most - 1).max(1) as f64;
    let mut found: Vec<(u32, usize)> = Vec::new();
    for i in 0..most {
        let exponent = if i + 1 == most && most > 1 { last } else { i as f64 * step };
        let dilation = 2f64.powf(exponent) as u32;
        match found.last_mut() {
            Some((same, count)) if *same == dilation => *count += 1,
            _ => found.push((dilation, 1)),
        }
    }
    // Of so many features per kernel, each of the `most` exponents has the same share, rounded down.
    let share = per_kernel as f64 / most as f64;
    let mut all: Vec<Dilation> = found
        .into_iter()
        .map(|(step, count)| Dilation { step, features: (count as f64 * share) as u32 })
        .collect();
    let given: usize = all.iter().map(|d| d.features as usize).sum();
    let count = all.len();
    for i in 0..per_kernel.saturating_sub(given) {
        all[i % count].features += 1;
    }
    all
}
