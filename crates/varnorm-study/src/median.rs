//! The median distance of corpus points, as the published bandwidth of the alignment kernel takes it.

use varnorm::data::SeriesSet;

/// At most so many points take part, evenly spaced ones.
const POINTS: usize = 10_000;
/// Distances are counted in bins by the leading bits of their squares: about 1e-2 wide.
const SHIFT: u32 = 45;

/// The lower median of all distances of two points, each pair twice and each point with itself once.
///
/// Two rounds over the pairs, one to count and one to look into the bin of the median: no memory for millions of
/// distances.
pub(crate) fn median_point_distance(corpus: &SeriesSet) -> f64 {
    let all: Vec<&[f64]> = corpus.values().chunks_exact(corpus.channels()).collect();
    let count = all.len().min(POINTS);
    let points: Vec<&[f64]> = (0..count).map(|i| all[i * all.len() / count]).collect();
    // In order: the points with themselves, all zero, then every other distance twice.
    let middle = (count * count).saturating_sub(1) / 2;
    let Some(mut left) = middle.checked_sub(count).map(|beyond| beyond / 2) else { return 0.0 };
    let mut bins = vec![0u32; 1 << (63 - SHIFT)];
    for_each_pair(&points, |square| bins[(square.to_bits() >> SHIFT) as usize] += 1);
    let mut bin = 0;
    while bin + 1 < bins.len() && left >= bins[bin] as usize {
        left -= bins[bin] as usize;
        bin += 1;
    }
    let mut inside = Vec::with_capacity(bins[bin] as usize);
    for_each_pair(&points, |square| {
        if (square.to_bits() >> SHIFT) as usize == bin {
            inside.push(square);
        }
    });
    if left >= inside.len() {
        return 0.0;
    }
    inside.select_nth_unstable_by(left, f64::total_cmp).1.sqrt()
}

fn for_each_pair(points: &[&[f64]], mut take: impl FnMut(f64)) {
    for (i, x) in points.iter().enumerate() {
        for y in &points[..i] {
            take(x.iter().zip(*y).map(|(a, b)| (a - b) * (a - b)).sum());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_median_of_the_whole_list() {
        for (series, steps) in [(1, 1), (1, 2), (3, 5), (4, 9), (7, 30)] {
            let values: Vec<f64> =
                (0..series * steps * 2).map(|i| ((i * i) as f64 * 0.37).sin() * 3.0).collect();
            let set = SeriesSet::from_equal(values, steps, 2).unwrap();
            let points: Vec<&[f64]> = set.values().chunks(2).collect();
            let mut list: Vec<f64> = Vec::new();
            for x in &points {
                list.extend(points.iter().map(|y| ((x[0] - y[0]).powi(2) + (x[1] - y[1]).powi(2)).sqrt()));
            }
            list.sort_by(f64::total_cmp);
            let expected = list[(list.len() - 1) / 2];
            assert!((median_point_distance(&set) - expected).abs() < 1e-14, "{series} {steps}");
        }
    }
}
