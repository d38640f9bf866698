//! Values of `tools/golden.py`: naive definitions in 40 digits, which a clone by itself can check.

use serde_json::Value;
use varnorm::gram::{self, Scaling};
use varnorm::kernel::{CATALOGUE, FlatLinear};
use varnorm::sample::Elements;
use varnorm::score::{leave_one_out, scores};
use varnorm::{Distance, Kernel, Matrix, Measure, Norm, Rank, Run, SeriesSet, Spectrum, VarianceNorm};

use crate::common::{assert_close, matrix, numbers, series_set};

const RELATIVE: f64 = 1e-10;
/// No values can be had without the generator of their random numbers. `tolerance.rs` compares the means of the first two,
/// `rocket.rs` the features of the third for what another package learned.
const RANDOM: [&str; 4] = ["sig_random", "sig_fourier", "rocket", "radon"];

/// The file that `tools/golden.py` writes.
pub fn golden() -> Value {
    serde_json::from_str(include_str!("../../data/golden.json")).unwrap()
}

fn assert_matrix(found: &Matrix, expected: &Value, what: &str) {
    let expected = matrix(expected);
    assert_eq!((found.rows(), found.columns()), (expected.rows(), expected.columns()), "{what}");
    for (found, expected) in found.values().iter().zip(expected.values()) {
        assert_close(*found, *expected, RELATIVE, what);
    }
}

#[test]
fn every_kernel_that_is_not_random_has_golden_values() {
    let golden = golden();
    let specs =
        golden["kernels"]["cases"].as_array().unwrap().iter().map(|case| case["spec"].as_str().unwrap());
    let named: Vec<&str> = specs.map(|spec| spec.split(':').next().unwrap()).collect();
    for info in CATALOGUE {
        assert_ne!(named.contains(&info.name), RANDOM.contains(&info.name), "{}", info.name);
    }
}

#[test]
fn kernels_have_their_golden_values() {
    let golden = &golden()["kernels"];
    let [x, y, ragged] = ["x", "y", "ragged"].map(|name| series_set(&golden[name]));
    let run = Run::sequential();
    for case in golden["cases"].as_array().unwrap() {
        let spec = case["spec"].as_str().unwrap();
        let kernel: Kernel = spec.parse().unwrap();
        let within = gram::gram(&kernel, &x, Scaling::Raw, &run).unwrap().matrix;
        assert_matrix(&within, &case["xx"], spec);
        let between = |other: &SeriesSet| {
            let selves = gram::self_values(std::slice::from_ref(&kernel), other, &run).unwrap().remove(0);
            gram::cross(&kernel, &x, other, &selves, Scaling::Raw, &run).unwrap().matrix
        };
        assert_matrix(&between(&y), &case["xy"], spec);
        let info = CATALOGUE.iter().find(|info| Some(info.name) == spec.split(':').next()).unwrap();
        assert_eq!(info.any_lengths, case.get("x_ragged").is_some(), "{spec}");
        if info.any_lengths {
            assert_matrix(&between(&ragged), &case["x_ragged"], spec);
        }
    }
}

/// Scores of a case, of which JSON cannot hold the infinite ones.
fn expected(value: &Value) -> Vec<f64> {
    let number = |v: &Value| if v == "infinity" { f64::INFINITY } else { v.as_f64().unwrap() };
    value.as_array().unwrap().iter().map(number).collect()
}

fn measure(case: &Value, distance: Distance) -> Measure {
    let norm = match case["norm"].as_str().unwrap() {
        "exact" => Norm::Exact,
        "tikhonov" => Norm::Tikhonov,
        "envelope" => Norm::Envelope,
        other => panic!("no norm {other}"),
    };
    Measure { norm, alpha: case["alpha"].as_f64().unwrap(), distance }
}

fn assert_scores(found: &[f64], case: &Value, key: &str) {
    let expected = expected(&case[key]);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected).filter(|(found, expected)| found != expected) {
        let what = format!("{} at {}, rank {}: {key}", case["norm"], case["alpha"], case["rank"]);
        assert_close(*found, *expected, RELATIVE, &what);
    }
}

const DISTANCES: [(&str, Distance); 3] = [
    ("mahalanobis", Distance::Mahalanobis {}),
    ("conformance", Distance::Conformance { neighbour: 1 }),
    ("third", Distance::Conformance { neighbour: 3 }),
];

fn as_series(vectors: &Matrix) -> SeriesSet {
    SeriesSet::from_equal(vectors.values().to_vec(), 1, vectors.columns()).unwrap()
}

#[test]
fn norms_of_vectors_and_of_their_products_have_their_golden_values() {
    let run = Run::sequential();
    let kernel = Kernel::from(FlatLinear {});
    for part in golden()["norms"].as_array().unwrap() {
        let [sample, queries] = ["sample", "queries"].map(|name| matrix(&part[name]));
        let corpus = as_series(&sample);
        let gram = gram::gram(&kernel, &corpus, Scaling::Raw, &run).unwrap();
        let selves = &gram.self_values;
        let cross = gram::cross(&kernel, &as_series(&queries), &corpus, selves, Scaling::Raw, &run).unwrap();
        for case in part["cases"].as_array().unwrap() {
            let max_rank = case["rank"].as_u64().map(|rank| rank as usize);
            let rank = Rank::at_most(max_rank);
            let by_vectors = VarianceNorm::from_vectors(&sample, rank, &run).unwrap();
            let by_products = Spectrum::new(&gram, rank, &run).unwrap();
            for spectrum in [by_vectors.spectrum(), &by_products] {
                let expected = numbers(&part["eigenvalues"]);
                assert_eq!(spectrum.rank(), max_rank.unwrap_or(expected.len()));
                for (found, expected) in spectrum.eigenvalues().iter().zip(&expected) {
                    assert_close(*found, *expected, RELATIVE, "eigenvalue");
                }
            }
            for (key, distance) in DISTANCES {
                let measure = measure(case, distance);
                let found = by_vectors.measure(Elements::Vectors(&queries), measure, &run).unwrap().scores;
                let products = scores(&by_products, &cross, measure, &run).unwrap();
                for found in [&found, &products] {
                    assert_scores(&found.values, case, key);
                    let nearest = found.nearest.iter().flatten().zip(case["nearest"].as_array().unwrap());
                    for (found, expected) in nearest.filter(|(_, e)| key == "conformance" && !e.is_null()) {
                        assert_eq!(*found as u64, expected.as_u64().unwrap(), "{case}");
                    }
                }
            }
        }
    }
}

#[test]
fn scores_within_the_corpus_have_their_golden_values() {
    let run = Run::sequential();
    for part in golden()["norms"].as_array().unwrap() {
        let corpus = as_series(&matrix(&part["sample"]));
        let gram = gram::gram(&FlatLinear {}.into(), &corpus, Scaling::Raw, &run).unwrap();
        for case in part["left_out"].as_array().unwrap() {
            for (key, distance) in &DISTANCES[..2] {
                let found = leave_one_out(&gram, Rank::default(), measure(case, *distance), &run).unwrap();
                assert_scores(&found.values, case, key);
            }
        }
    }
}
