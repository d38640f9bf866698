//! Gram matrices are symmetric and positive semidefinite, whatever the shape and the scale.

use super::every_kernel;
use crate::common::{Numbers, smallest_eigenvalue};
use varnorm::gram::{self, Scaling};
use varnorm::kernel::CATALOGUE;
use varnorm::{Kernel, Run, SeriesSet};

#[test]
fn gram_matrices_are_exactly_symmetric_and_positive_semidefinite() {
    let run = Run::sequential();
    let set = Numbers(6).walks(60, 12, 3);
    for kernel in every_kernel(&set) {
        for scaling in [Scaling::Raw, Scaling::Normalized] {
            let gram = gram::gram(&kernel, &set, scaling, &run).unwrap();
            let n = gram.len();
            for i in 0..n {
                for j in 0..n {
                    assert_eq!(gram.matrix.get(i, j).to_bits(), gram.matrix.get(j, i).to_bits(), "{kernel}");
                }
                if scaling == Scaling::Normalized {
                    assert_eq!(gram.matrix.get(i, i), 1.0, "{kernel}");
                }
            }
            let largest = gram.matrix.values().iter().fold(0.0f64, |m, v| m.max(v.abs()));
            // v^T G v >= 0 for any v.
            for seed in 0..50 {
                let mut numbers = Numbers(seed);
                let v: Vec<f64> = (0..n).map(|_| numbers.next()).collect();
                let form: f64 = (0..n)
                    .map(|i| v[i] * gram.matrix.row(i).iter().zip(&v).map(|(g, v)| g * v).sum::<f64>())
                    .sum();
                assert!(form >= -1e-10 * largest * n as f64, "{kernel}: {form}");
            }
        }
    }
}

/// Finite, of unit diagonal and positive semidefinite when normalised, whatever the shape and the size.
fn assert_sound(kernel: &Kernel, set: &SeriesSet, run: &Run, what: &str) {
    let gram = gram::gram(kernel, set, Scaling::Normalized, run).unwrap().matrix;
    assert!(gram.values().iter().all(|v| v.is_finite()), "{kernel} {what}: {gram:?}");
    for i in 0..set.len() {
        assert_eq!(gram.get(i, i), 1.0, "{kernel} {what}");
    }
    let smallest = smallest_eigenvalue(&gram);
    assert!(smallest >= -1e-10 * set.len() as f64, "{kernel} {what}: eigenvalue {smallest:e}");
}

/// Every kernel of the catalogue with its parameters left to the data.
fn automatic(set: &SeriesSet) -> Vec<Kernel> {
    let named = CATALOGUE.iter().map(|info| info.name.parse::<Kernel>().unwrap());
    named.map(|kernel| kernel.resolve(set).unwrap()).collect()
}

#[test]
fn kernels_are_sound_at_every_shape_and_scale() {
    let run = Run::with_threads(2).unwrap();
    for (n, steps, channels) in [(12, 1, 2), (12, 2, 2), (20, 40, 1), (12, 30, 3), (6, 12, 1345)] {
        for scale in [1e-3, 1.0, 1e3] {
            let mut set = Numbers(12).walks(n, steps, channels);
            set.values_mut().iter_mut().for_each(|v| *v *= scale);
            for kernel in automatic(&set) {
                // More channels than a signature can have as features.
                if !(channels > 1000 && matches!(kernel, Kernel::SigExplicit(_))) {
                    assert_sound(&kernel, &set, &run, &format!("{n} x {steps} x {channels} at {scale:e}"));
                }
            }
        }
    }
}

#[test]
fn kernels_are_sound_for_ten_thousand_steps() {
    let run = Run::with_threads(2).unwrap();
    let set = Numbers(13).walks(3, 10_000, 1);
    for kernel in automatic(&set) {
        assert_sound(&kernel, &set, &run, "10,000 steps");
    }
}
