//! Values are those of the naive definition, whatever the shape.

use super::{accuracy, every_kernel};
use crate::common::Numbers;
use crate::oracle;
use varnorm::gram::{self, Scaling};
use varnorm::{Kernel, Run};

#[test]
fn values_equal_the_naive_definition_for_every_shape() {
    let run = Run::with_threads(2).unwrap();
    for (n, steps, channels) in [(1, 1, 1), (3, 1, 4), (9, 2, 1), (17, 30, 6), (130, 7, 3), (5, 40, 150)] {
        let set = Numbers(5).walks(n, steps, channels);
        for kernel in every_kernel(&set) {
            let found = gram::gram(&kernel, &set, Scaling::Raw, &run).unwrap().matrix;
            let value =
                |i, j| oracle::value(&kernel, set.series(i).values(), set.series(j).values(), channels);
            let squares: Vec<f64> = (0..n).map(|i| value(i, i)).collect();
            for i in 0..n {
                for j in i..n {
                    let expected = value(i, j);
                    let scale = squares[i].max(squares[j]);
                    let error = (found.get(i, j) - expected).abs();
                    assert!(
                        error <= accuracy(&kernel) * scale.max(1.0),
                        "{kernel} {n} {steps} {channels}: {i} {j}: {error:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn explicit_signatures_give_the_exact_kernel_of_the_same_level() {
    let run = Run::with_threads(2).unwrap();
    let mut set = Numbers(12).walks(40, 25, 3);
    set.push(&[1.0, 2.0, 3.0]).unwrap();
    for level in [1, 2, 5] {
        let exact: Kernel = format!("sig:level={level},order={level},scale=1").parse().unwrap();
        let explicit: Kernel = format!("sig_explicit:level={level},scale=1").parse().unwrap();
        let features = varnorm::kernel::signature_features(&set, level, &run).unwrap();
        let names = varnorm::kernel::signature_feature_names(3, level);
        assert_eq!(names.len(), features.columns());
        let expected = gram::gram(&exact, &set, Scaling::Raw, &run).unwrap().matrix;
        let found = gram::gram(&explicit, &set, Scaling::Raw, &run).unwrap().matrix;
        for i in 0..set.len() {
            for j in 0..set.len() {
                let product: f64 = features.row(i).iter().zip(features.row(j)).map(|(a, b)| a * b).sum();
                let scale = (expected.get(i, i) * expected.get(j, j)).sqrt();
                for value in [1.0 + product, found.get(i, j)] {
                    let error = (value - expected.get(i, j)).abs();
                    assert!(error <= 1e-12 * scale, "level {level}: {i} {j}: {error:e}");
                }
            }
        }
    }
    let error = varnorm::kernel::signature_features(&set, 20, &run).unwrap_err().to_string();
    assert!(error.contains("3 channels has more than 16777216 features"), "{error}");
    let many = Numbers(1).walks(3, 4, 60);
    let error = gram::gram(&"sig_explicit:level=3,scale=1".parse().unwrap(), &many, Scaling::Raw, &run);
    assert!(error.unwrap_err().to_string().contains("sig with order = level"));
}
