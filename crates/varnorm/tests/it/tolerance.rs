//! `sig_pde` is as accurate as it was asked to be, and random features approach the kernel that they stand for.

use crate::common::Numbers;
use crate::oracle::goursat::largest_on_the_way;
use varnorm::gram::{self, Scaling};
use varnorm::kernel::{Parameter, SigPde};
use varnorm::{Kernel, Run, SeriesSet};

/// Rough, smooth, jumping, oscillating and zigzag paths.
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
                    3 => numbers.normal() - 0.9 * last[c],
                    _ => 0.02 * numbers.normal() + if t % 2 == 0 { 1.0 } else { -1.0 },
                };
                (point[c], last[c]) = (point[c] + step, step);
            }
            values.extend_from_slice(&point);
        }
    }
    SeriesSet::from_equal(values, steps, channels).unwrap()
}

#[test]
fn untruncated_signature_kernels_keep_their_tolerance() {
    let run = Run::with_threads(2).unwrap();
    let mut seen = 0;
    for kind in 0..5 {
        // What zigzag paths miss adds up over all cells.
        for (steps, channels) in [(4, 1), (12, 2), (if kind == 4 { 120 } else { 70 }, 3)] {
            let set = paths(kind, 9, steps, channels);
            let Kernel::SigPde(SigPde { scale: Parameter::Value(unit), .. }) =
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
                    .map(|at| largest_on_the_way(set.series(at / 9), set.series(at % 9), scale, None))
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
    assert_eq!(seen, 5 * 3 * 5 * 3 * 45);
}

/// A path of any kind: rough, smooth, jumping, straight, to and fro, to and fro ever more, with one spike, with one step, there and
/// back, exponential.
fn any_path(numbers: &mut Numbers, steps: usize, channels: usize) -> Vec<f64> {
    let kind = (10.0 * (numbers.next() + 0.5)) as usize;
    let mut rough = vec![0.0; steps * channels];
    let (mut point, size) = (vec![0.0; channels], 1.0 / (steps as f64).sqrt());
    for values in rough.chunks_exact_mut(channels) {
        point.iter_mut().for_each(|p| *p += size * numbers.normal());
        values.copy_from_slice(&point);
    }
    let each: Vec<[f64; 2]> = (0..channels).map(|_| [numbers.normal(), numbers.next() + 0.5]).collect();
    let [place, speed] = [numbers.next() + 0.5, numbers.next() + 0.5];
    let spike = (place * steps as f64) as usize;
    let mut jumped = vec![0.0; channels];
    let mut values = Vec::new();
    for t in 0..steps {
        let (time, odd) = (t as f64 / steps as f64, (t % 2) as f64);
        for (c, &[normal, share]) in each.iter().enumerate() {
            let walk = rough[t * channels + c];
            if numbers.next() > 0.42 {
                jumped[c] += 2.0 * numbers.normal();
            }
            values.push(match kind {
                0 => walk,
                1 => (std::f64::consts::TAU * ((0.2 + 5.8 * share) * time + place)).sin(),
                2 => jumped[c],
                3 => 2.0 * time * normal + 0.01 * walk,
                4 => odd * normal + 0.05 * walk,
                5 => 2.0 * odd * time * normal,
                6 => 0.1 * walk + if t == spike { 3.0 * normal } else { 0.0 },
                7 => ((time - place) * (3.0 + 57.0 * speed)).tanh() * normal,
                8 if t >= steps / 2 => rough[(steps - 1 - t) * channels + c],
                8 => walk,
                _ => 0.1 * (5.0 * speed * time).exp() * normal,
            });
        }
    }
    values
}

#[test]
fn paths_of_any_kinds_keep_their_tolerance_with_each_other() {
    let run = Run::with_threads(2).unwrap();
    let mut numbers = Numbers(31);
    let mut seen = 0;
    for round in 0..240 {
        let uniform = |numbers: &mut Numbers| numbers.next() + 0.5;
        let steps = [2, 3, 4, 5, 9, 11, 20, 33][round % 8];
        let channels = [1, 1, 2, 3, 5][(5.0 * uniform(&mut numbers)) as usize];
        let mut set = SeriesSet::new(channels).unwrap();
        (0..24).for_each(|_| set.push(&any_path(&mut numbers, steps, channels)).unwrap());
        let scale = 10f64.powf(2.8 * uniform(&mut numbers) - 2.0);
        let sigma = (round % 2 == 1).then(|| 10f64.powf(1.2 * uniform(&mut numbers) - 0.5));
        let tolerance = if round % 4 < 2 { 1e-8 } else { 10f64.powf(-3.0 - 7.0 * uniform(&mut numbers)) };
        let gram = |tolerance: f64| {
            let lift = sigma.map_or(String::new(), |sigma| format!(",lift=rbf,sigma={sigma}"));
            let spec = format!("sig_pde:scale={scale}{lift},tolerance={tolerance:e}");
            gram::gram(&spec.parse().unwrap(), &set, Scaling::Raw, &run).unwrap().matrix
        };
        let (found, exact) = (gram(tolerance), gram(1e-13));
        for i in 0..set.len() {
            for j in i..set.len() {
                let (f, e) = (found.get(i, j), exact.get(i, j));
                seen += 1;
                if !e.is_finite() || (f - e).abs() <= tolerance * e.abs() {
                    continue;
                }
                let largest = largest_on_the_way(set.series(i), set.series(j), scale, sigma);
                // Of paths that go back the way they came, all that grew has to vanish again: rounding grows twice.
                let rounding = 1e-13 * largest + 2e-16 * largest * largest;
                let error = ((f - e).abs() - rounding) / e.abs().max(1e-4 * largest);
                assert!(error <= tolerance, "{round} {i} {j} {tolerance:e}: {f} {e} {largest}: {error:e}");
            }
        }
    }
    assert_eq!(seen, 240 * 300);
}

/// What each of three levels adds to `sig:order=1,lift=rbf`, and what random Fourier features give for it: one row of all
/// pairs per level.
fn levels(spec: &str, set: &SeriesSet) -> Vec<Vec<f64>> {
    let kernel = |level| format!("{spec},level={level},sigma=2,scale=1").parse::<Kernel>().unwrap();
    let kernels: Vec<Kernel> = (1..=3).map(kernel).collect();
    let run = Run::sequential();
    let grams = gram::grams(&kernels, set, Scaling::Raw, &run).unwrap();
    let mut below = vec![1.0; set.len() * set.len()];
    let level = |gram: gram::Gram| {
        let values = gram.matrix.values().to_vec();
        let added = values.iter().zip(&below).map(|(value, below)| value - below).collect();
        below = values;
        added
    };
    grams.into_iter().map(level).collect()
}

const FORMS: [&str; 2] = ["tensor", "diagonal"];

#[test]
fn random_fourier_features_are_the_exact_kernel_on_average() {
    let set = Numbers(21).walks(4, 9, 2);
    let exact = levels("sig:lift=rbf", &set);
    for form in FORMS {
        let seeds = 3000;
        let mut sums = vec![vec![[0.0; 2]; 16]; 3];
        for seed in 0..seeds {
            let found = levels(&format!("sig_fourier:form={form},features=6,seed={seed}"), &set);
            for (sums, found) in sums.iter_mut().flatten().zip(found.iter().flatten()) {
                sums[0] += found;
                sums[1] += found * found;
            }
        }
        for (m, (sums, exact)) in sums.iter().zip(&exact).enumerate() {
            let size = exact.iter().fold(0.0f64, |size, value| size.max(value.abs()));
            for ([sum, squares], exact) in sums.iter().zip(exact) {
                let mean = sum / f64::from(seeds);
                let error = ((squares / f64::from(seeds) - mean * mean) / f64::from(seeds)).sqrt();
                // Small beside the level, or the mean would say little.
                assert!(error < 0.15 * size, "{form} level {}: {error} of {size}", m + 1);
                assert!((mean - exact).abs() < 4.0 * error, "{form} level {}: {mean} {exact} {error}", m + 1);
            }
        }
    }
}

#[test]
fn the_error_of_random_fourier_features_falls_like_one_over_the_square_root() {
    let set = Numbers(22).walks(6, 15, 2);
    let exact = levels("sig:lift=rbf", &set);
    for form in FORMS {
        let mut points = Vec::new();
        for features in [32, 128, 512] {
            let (mut sum, seeds) = (0.0, 40);
            for seed in 0..seeds {
                let found = levels(&format!("sig_fourier:form={form},features={features},seed={seed}"), &set);
                // The whole kernel's error: all levels together.
                for pair in 0..exact[0].len() {
                    let error: f64 = (0..3).map(|m| found[m][pair] - exact[m][pair]).sum();
                    sum += error * error;
                }
            }
            let rms = (sum / f64::from(seeds) / exact[0].len() as f64).sqrt();
            println!("{form}: {features} features, error {rms:.4}");
            points.push((f64::from(features).ln(), rms.ln()));
        }
        // Equally spaced: the line of least squares has the slope of the ends.
        let slope = (points[2].1 - points[0].1) / (points[2].0 - points[0].0);
        println!("{form}: slope {slope:.3}");
        assert!((-0.65..=-0.35).contains(&slope), "{form}: {slope}");
    }
}
