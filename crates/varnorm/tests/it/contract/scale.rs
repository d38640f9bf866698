//! Values that are very large, very small, constant or outside the domain of a kernel.

use super::every_kernel;
use crate::common::Numbers;
use crate::oracle;
use varnorm::gram::{self, Scaling};
use varnorm::kernel::{Lift, SigPde};
use varnorm::{Kernel, Rank, Run, SeriesSet, Spectrum};

#[test]
fn short_constant_repeated_and_huge_series_stay_finite() {
    let run = Run::sequential();
    let constant = SeriesSet::from_equal(vec![2.5; 5 * 8], 4, 2).unwrap();
    let zero = SeriesSet::from_equal(vec![0.0; 5 * 8], 4, 2).unwrap();
    let single_steps = Numbers(8).walks(6, 1, 2);
    let mut huge = Numbers(9).walks(6, 20, 2);
    huge.values_mut().iter_mut().for_each(|v| *v *= 1e3);
    let mut tiny = Numbers(9).walks(6, 20, 2);
    tiny.values_mut().iter_mut().for_each(|v| *v *= 1e-3);
    let mut offset = Numbers(10).walks(6, 20, 2);
    offset.values_mut().iter_mut().for_each(|v| *v += 1e6);
    for set in [&constant, &zero, &single_steps, &huge, &tiny, &offset] {
        for kernel in every_kernel(set) {
            let gram = gram::gram(&kernel, set, Scaling::Normalized, &run).unwrap();
            // A million times the increments that the Goursat problem can be solved for: no accuracy, but a number.
            let beyond = std::ptr::eq(set, &huge)
                && matches!(kernel, Kernel::SigPde(SigPde { lift: Lift::Linear, .. }));
            let within = gram.matrix.values().iter().all(|v| v.abs() <= 1.0 + 1e-12);
            assert!(within || beyond, "{kernel}: a normalised value is at most 1: {:?}", gram.matrix);
            assert!(gram.matrix.values().iter().all(|v| v.is_finite()), "{kernel}");
            Spectrum::new(&gram, Rank::default(), &run).unwrap();
        }
    }
    // A far offset costs the product form all its digits: the distances are computed again.
    let kernel: Kernel = "flat_rbf:sigma=3".parse().unwrap();
    let gram = gram::gram(&kernel, &offset, Scaling::Raw, &run).unwrap();
    let expected = oracle::value(&kernel, offset.series(0).values(), offset.series(1).values(), 2);
    assert!((gram.matrix.get(0, 1) - expected).abs() < 1e-14);
}

#[test]
fn overflow_is_an_error_that_names_the_pair() {
    let set = SeriesSet::from_equal(vec![1e200, 1.0, 1e200, 3.0], 2, 1).unwrap();
    for spec in ["flat_linear", "flat_poly:c=1,p=2", "integral_poly:c=1,p=2"] {
        let error = gram::gram(&spec.parse().unwrap(), &set, Scaling::Raw, &Run::sequential()).unwrap_err();
        assert!(error.to_string().contains("series 0 and 0 is inf"), "{spec}: {error}");
    }
}

#[test]
fn points_too_large_to_be_squared_are_at_no_distance_from_themselves() {
    for channels in [1, 20, 40, 150] {
        let mut values = vec![1e155; 3 * 4 * channels];
        values[..4 * channels].fill(-1e155);
        let set = SeriesSet::from_equal(values, 4, channels).unwrap();
        let kernel = "integral_rbf:sigma=1".parse().unwrap();
        let gram = gram::gram(&kernel, &set, Scaling::Raw, &Run::sequential()).unwrap().matrix;
        assert!((0..3).all(|i| (gram.get(i, i) - 1.0).abs() < 1e-15), "{channels}: {gram:?}");
        assert!((gram.get(1, 2) - 1.0).abs() < 1e-15 && gram.get(0, 1) < 1e-300, "{channels}: {gram:?}");
    }
}

#[test]
fn points_outside_the_domain_of_a_reservoir_kernel_are_named() {
    let set = SeriesSet::from_equal(vec![0.1, 0.2, 0.3, 4.0], 2, 1).unwrap();
    let kernel: Kernel = "vrk:tau=0.3".parse().unwrap();
    let error = gram::gram(&kernel, &set, Scaling::Raw, &Run::sequential()).unwrap_err().to_string();
    assert!(error.contains("series 1, step 1") && error.contains("choose tau below 0.25"), "{error}");
    for channels in [1, 20, 150] {
        let mut values = vec![0.01; 50 * 7 * channels];
        let good = SeriesSet::from_equal(values.clone(), 7, channels).unwrap();
        // One point, whose products with all others are small.
        values[(40 * 7 + 5) * channels] = -3.5;
        let bad = SeriesSet::from_equal(values, 7, channels).unwrap();
        let run = Run::sequential();
        let selves = gram::self_values(std::slice::from_ref(&kernel), &good, &run).unwrap().remove(0);
        let cross = |queries, corpus| gram::cross(&kernel, queries, corpus, &selves, Scaling::Raw, &run);
        let errors = [
            gram::gram(&kernel, &bad, Scaling::Raw, &run).unwrap_err(),
            gram::gram(&kernel, &bad, Scaling::Log, &run).unwrap_err(),
            gram::gram(&kernel, &bad, Scaling::Normalized, &run).unwrap_err(),
            gram::self_values(std::slice::from_ref(&kernel), &bad, &run).unwrap_err(),
            cross(&good, &bad).unwrap_err(),
            cross(&bad, &good).unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().starts_with("series 40, step 5: "), "{channels}: {error}");
        }
    }
    // Times tau it rounds to just below 1, and yet 1 - tau^2 x^2 is not above 0.
    let edge = SeriesSet::from_equal(vec![0.539_243_132_405_786_5; 4], 2, 1).unwrap();
    let sharp: Kernel = "vrk:tau=1.854451062804614".parse().unwrap();
    assert!(1.854_451_062_804_614 * edge.values()[0] < 1.0);
    assert!(gram::gram(&sharp, &edge, Scaling::Raw, &Run::sequential()).is_err());
    let long = SeriesSet::from_equal(vec![3.3; 4000], 2000, 1).unwrap();
    let gram = gram::gram(&kernel, &long, Scaling::Normalized, &Run::sequential()).unwrap();
    assert!((gram.matrix.get(0, 1) - 1.0).abs() < 1e-14);
}

#[test]
fn signature_kernels_hold_at_any_length_and_scale() {
    let run = Run::sequential();
    // A straight line of n equal steps: order 1 gives (n choose m)^2 (z/n^2)^m.
    for (steps, size) in [(500, 1e3), (3, 1e3), (500, 1e-3), (50, 1e12), (2, 1e30)] {
        let values = (0..steps).map(|t| size * f64::from(t)).collect();
        let set = SeriesSet::from_equal(values, steps as usize, 1).unwrap();
        for level in [1, 7, 32] {
            let kernel: Kernel = format!("sig:level={level},scale=1").parse().unwrap();
            let found = gram::gram(&kernel, &set, Scaling::Log, &run).unwrap().matrix.get(0, 0);
            // Logarithms of the levels, and of their sum.
            let (mut term, mut terms) = (0.0, vec![0.0]);
            for m in 1..=level.min(steps - 1) {
                term += 2.0 * (f64::from(steps - m) / f64::from(m) * size).ln();
                terms.push(term);
            }
            let top = terms.iter().fold(0.0, |a: f64, b| a.max(*b));
            let expected = top + terms.iter().map(|t| (t - top).exp()).sum::<f64>().ln();
            let error = (found - expected).abs();
            assert!(error <= 1e-11 * expected.max(1.0), "{steps} {size} {level}: {found} {expected}");
        }
    }
}
