//! MiniRocket: every feature by itself, from what the kernel's JSON says was learned.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;

use super::{Pair, dot};

pub fn value(pair: &Pair<'_>) -> f64 {
    let [x, y] = [pair.x, pair.y].map(|values| features(&pair.parameters["fitted"], values, pair.channels));
    assert_eq!(Some(x.len()), pair.whole("features"));
    dot(&x, &y) / x.len() as f64
}

/// The features of a series, all values in one row.
pub fn features(fitted: &Value, values: &[f64], channels: usize) -> Vec<f64> {
    let bytes = |name: &str| BASE64_STANDARD.decode(fitted[name].as_str().unwrap()).unwrap();
    let whole = |name: &str| -> Vec<i64> {
        fitted[name].as_array().unwrap().iter().map(|v| v.as_i64().unwrap()).collect()
    };
    let subsets: Vec<usize> =
        bytes("subsets").as_chunks().0.iter().map(|b| u32::from_le_bytes(*b) as usize).collect();
    let biases: Vec<f64> = bytes("biases").as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
    let (mut subsets, mut biases) = (subsets.into_iter(), biases.into_iter());
    let steps = (values.len() / channels) as i64;
    let mut found = Vec::new();
    for (index, (dilation, count)) in whole("dilations").into_iter().zip(whole("counts")).enumerate() {
        let mut kernel = 0;
        for a in 0..9 {
            for b in a + 1..9 {
                for c in b + 1..9 {
                    let size = subsets.next().unwrap();
                    let subset: Vec<usize> = subsets.by_ref().take(size).collect();
                    let sum = |t: i64| match (0..steps).contains(&t) {
                        true => {
                            subset.iter().map(|c| values[t as usize * channels + c]).fold(0.0, |a, b| a + b)
                        }
                        false => 0.0,
                    };
                    // In the order of the definition, so that a value that is its own bias is not above it.
                    let place = |t: i64, j: i64| sum(t + (j - 4) * dilation);
                    let all = |t: i64| (1..9).map(|j| place(t, j)).fold(place(t, 0), |a, b| a + b);
                    let at = |t: i64| -all(t) + 3.0 * (place(t, a) + place(t, b) + place(t, c));
                    let inside = if (index + kernel) % 2 == 0 { 0 } else { 4 * dilation };
                    let inside = if 2 * inside < steps { inside } else { 0 };
                    let convolved: Vec<f64> = (inside..steps - inside).map(at).collect();
                    for _ in 0..count {
                        let bias = biases.next().unwrap();
                        let above = convolved.iter().filter(|v| **v > bias).count();
                        found.push(above as f64 / convolved.len() as f64);
                    }
                    kernel += 1;
                }
            }
        }
    }
    assert_eq!((subsets.next(), biases.next()), (None, None));
    found
}
