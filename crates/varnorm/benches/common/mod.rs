//! What the benches share.

use varnorm::SeriesSet;

/// Random walks from a pinned generator.
pub fn walks(count: usize, steps: usize, channels: usize) -> SeriesSet {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 / (1u64 << 53) as f64 - 0.5) * 0.6
    };
    let mut values = Vec::with_capacity(count * steps * channels);
    for _ in 0..count {
        let mut point = vec![0.0; channels];
        for _ in 0..steps {
            point.iter_mut().for_each(|p| *p += next());
            values.extend_from_slice(&point);
        }
    }
    SeriesSet::from_equal(values, steps, channels).unwrap()
}
