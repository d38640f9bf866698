//! Series of unequal lengths: as the definition has it, or an error that names the series.

use super::{accuracy, every_kernel};
use crate::common::Numbers;
use crate::oracle;
use varnorm::gram::{self, Scaling};
use varnorm::kernel::CATALOGUE;
use varnorm::{Kernel, Run, SeriesSet};

#[test]
fn unequal_lengths_are_an_error_that_names_the_series() {
    let mut set = Numbers(1).walks(3, 5, 2);
    set.push(&[1.0, 2.0]).unwrap();
    for info in CATALOGUE.iter().filter(|info| !info.any_lengths) {
        let kernel: Kernel = info.example.parse().unwrap();
        let error = gram::gram(&kernel, &set, Scaling::Raw, &Run::sequential()).unwrap_err().to_string();
        assert!(error.contains("series 3 has 1 steps where 5 are expected"), "{kernel}: {error}");
        assert!(error.contains("resample"), "{error}");
    }
}

#[test]
fn kernels_of_any_lengths_equal_the_naive_definition_and_ignore_their_company() {
    check_any_lengths(3);
}

/// The same, where static values come from windows of a table, several for the longest series.
#[test]
fn so_it_is_with_many_channels() {
    check_any_lengths(30);
}

fn check_any_lengths(channels: usize) {
    let run = Run::sequential();
    let mut numbers = Numbers(11);
    let mut set = SeriesSet::new(channels).unwrap();
    for steps in [1, 2, 40, 7, 90, 3, 33, 1, 64, 20, 5, 12, 2, 70, 9, 28, 31, 100] {
        // As far from the origin for any number of channels.
        let unit = (3.0 / channels as f64).sqrt();
        let values: Vec<f64> = numbers.walks(1, steps, channels).values().iter().map(|v| v * unit).collect();
        set.push(&values).unwrap();
    }
    let names: Vec<&str> = CATALOGUE.iter().filter(|info| info.any_lengths).map(|info| info.name).collect();
    let any = |k: &Kernel| names.iter().any(|name| k.to_string().split(':').next() == Some(*name));
    for kernel in every_kernel(&set).into_iter().filter(any) {
        let gram = gram::gram(&kernel, &set, Scaling::Raw, &run).unwrap();
        for i in 0..set.len() {
            for j in i..set.len() {
                let value = |i, j| {
                    let (x, y): (varnorm::data::Series<'_>, varnorm::data::Series<'_>) =
                        (set.series(i), set.series(j));
                    oracle::value(&kernel, x.values(), y.values(), channels)
                };
                let error = (gram.matrix.get(i, j) - value(i, j)).abs();
                let scale = (value(i, i) * value(j, j)).sqrt().max(1.0);
                assert!(error <= accuracy(&kernel).max(1e-12) * scale, "{kernel}: {i} {j}: {error:e}");
                let pair = gram::gram(&kernel, &set.select(&[i, j]), Scaling::Raw, &run).unwrap();
                assert_eq!(pair.matrix.get(0, 1), gram.matrix.get(i, j), "{kernel}: {i} {j} alone");
            }
        }
    }
}
