//! `sig_pde` is as accurate as it was asked to be.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::Numbers;
use varnorm::gram::{self, Scaling};
use varnorm::{Kernel, Run, SeriesSet};

/// Rough, smooth, jumping and oscillating paths.
fn paths(kind: usize, count: usize, steps: usize, channels: usize) -> SeriesSet {
    let mut numbers = Numbers(14 + kind as u64);
    let mut values = Vec::new();
    for _ in 0..count {
        let (speed, phase) = (1.0 + 3.0 * numbers.next().abs(), 6.0 * numbers.next());
        let mut point = vec![0.0; channels];
        let mut last = vec![0.0; channels];
        for t in 0..steps {
            for c in 0..channels {
                let turn = phase + c as f64 + speed * std::f64::consts::TAU * t as f64 / steps as f64;
                let step = match kind {
                    0 => numbers.normal(),
                    1 => turn.cos() * (1.0 + c as f64),
                    2 => numbers.normal() * if numbers.next() > 0.4 { 3.0 } else { 0.1 },
                    _ => numbers.normal() - 0.9 * last[c],
                };
                (point[c], last[c]) = (point[c] + step, step);
            }
            values.extend_from_slice(&point);
        }
    }
    SeriesSet::from_equal(values, steps, channels).unwrap()
}

/// The largest value of the Goursat problem of two paths, about.
fn largest_on_the_way(x: varnorm::data::Series<'_>, y: varnorm::data::Series<'_>, scale: f64) -> f64 {
    let steps = |s: varnorm::data::Series<'_>| -> Vec<Vec<f64>> {
        (1..s.steps()).map(|t| s.step(t).iter().zip(s.step(t - 1)).map(|(b, a)| b - a).collect()).collect()
    };
    let z = |a: &[f64], b: &[f64]| scale / 16.0 * a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (x, y) = (steps(x), steps(y));
    let (mut row, mut largest) = (vec![1.0; 4 * y.len() + 1], 1.0f64);
    for s in 0..4 * x.len() {
        let mut corner = 1.0;
        for t in 0..4 * y.len() {
            let z = z(&x[s / 4], &y[t / 4]);
            let value =
                (row[t] + row[t + 1]) * (1.0 + z / 2.0 + z * z / 12.0) - corner * (1.0 - z * z / 12.0);
            (corner, row[t + 1]) = (row[t + 1], value);
            largest = largest.max(value.abs());
        }
    }
    largest
}

#[test]
fn untruncated_signature_kernels_keep_their_tolerance() {
    let run = Run::with_threads(2).unwrap();
    let mut seen = 0;
    for kind in 0..4 {
        for (steps, channels) in [(4, 1), (12, 2), (70, 3)] {
            let set = paths(kind, 9, steps, channels);
            let Kernel::SigPde { scale: varnorm::kernel::Parameter::Value(unit), .. } =
                "sig_pde".parse::<Kernel>().unwrap().resolve(&set).unwrap()
            else {
                panic!("a scale from the data")
            };
            for scale in [0.01, 0.3, 1.0, 4.0, 12.0].map(|s| s * unit) {
                let gram = |tolerance: f64| {
                    let kernel = format!("sig_pde:scale={scale},tolerance={tolerance:e}").parse().unwrap();
                    gram::gram(&kernel, &set, Scaling::Raw, &run).unwrap().matrix
                };
                let exact = gram(1e-13);
                let largest: Vec<f64> = (0..81)
                    .map(|at| largest_on_the_way(set.series(at / 9), set.series(at % 9), scale))
                    .collect();
                for tolerance in [1e-4, 1e-8, 1e-11] {
                    let found = gram(tolerance);
                    for i in 0..set.len() {
                        for j in i..set.len() {
                            let (f, e) = (found.get(i, j), exact.get(i, j));
                            let largest = largest[i * set.len() + j];
                            let error = ((f - e).abs() - 1e-13 * largest) / e.abs().max(1e-4 * largest);
                            assert!(
                                error <= tolerance,
                                "{kind} {steps} {scale} {tolerance:e}: {f} {e}: {error:e}"
                            );
                            seen += 1;
                        }
                    }
                }
            }
        }
    }
    assert_eq!(seen, 4 * 3 * 5 * 3 * 45);
}
