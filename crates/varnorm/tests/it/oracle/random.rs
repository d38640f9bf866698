//! Kernels of random features: their inner products. The features themselves are checked beside their definition.

use varnorm::kernel::{fourier_signature_features, random_signature, share_features};
use varnorm::{Matrix, Run, SeriesSet};

use super::{Pair, dot};

pub fn sig_random(pair: &Pair<'_>) -> f64 {
    let [count, seed] = ["features", "seed"].map(|name| pair.whole(name).unwrap());
    let features = |values: &[f64]| {
        let one = single(pair, values);
        random_signature(&one, count as u32, pair.number("variance"), seed as u64, &Run::sequential())
    };
    product(pair, |values| features(values).unwrap()) / count as f64
}

pub fn sig_fourier(pair: &Pair<'_>) -> f64 {
    let features =
        |values: &[f64]| fourier_signature_features(&single(pair, values), pair.kernel, &Run::sequential());
    product(pair, |values| features(values).unwrap())
}

pub fn radon(pair: &Pair<'_>) -> f64 {
    let features =
        |values: &[f64]| share_features(&single(pair, values), pair.kernel, &Run::sequential()).unwrap();
    let count = pair.whole("directions").unwrap() * pair.whole("thresholds").unwrap();
    product(pair, features) / count as f64
}

fn single(pair: &Pair<'_>, values: &[f64]) -> SeriesSet {
    let mut one = SeriesSet::new(pair.channels).unwrap();
    one.push(values).unwrap();
    one
}

fn product(pair: &Pair<'_>, features: impl Fn(&[f64]) -> Matrix) -> f64 {
    dot(features(pair.x).values(), features(pair.y).values())
}
