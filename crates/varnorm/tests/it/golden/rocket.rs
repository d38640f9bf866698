//! Values of `tools/golden_rocket.py`: what aeon's MiniRocket learns and computes.

use serde_json::{Value, json};
use varnorm::kernel::share_features;
use varnorm::{Kernel, Run, SeriesSet};

use crate::common::{Numbers, matrix, series_set};
use crate::oracle::rocket::features;

fn golden() -> Value {
    serde_json::from_str(include_str!("../../data/rocket.json")).unwrap()
}

/// A case's series and kernel.
fn case(case: &Value) -> (SeriesSet, Kernel) {
    let mut set = series_set(&case["eighths"]);
    set.values_mut().iter_mut().for_each(|v| *v /= 8.0);
    (set, case["kernel"].to_string().parse().unwrap())
}

#[test]
fn features_are_those_of_aeon_for_what_aeon_learned() {
    for golden in golden()["cases"].as_array().unwrap() {
        let (set, kernel) = case(golden);
        let expected = matrix(&golden["features"]);
        let found = share_features(&set, &kernel, &Run::sequential()).unwrap();
        assert_eq!((found.rows(), found.columns()), (expected.rows(), expected.columns()));
        for i in 0..set.len() {
            // Every share is a whole number of steps, aeon's to 32 bits.
            let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-6;
            assert!(found.row(i).iter().zip(expected.row(i)).all(near), "series {i} of {kernel}");
            let naive = features(&golden["kernel"]["fitted"], set.series(i).values(), set.channels());
            assert_eq!(found.row(i), naive, "series {i} of {kernel}");
        }
    }
}

/// Of one series and one channel nothing is left to chance.
#[test]
fn what_is_learned_from_one_series_is_what_aeon_learns() {
    let mut compared = 0;
    for golden in golden()["cases"].as_array().unwrap() {
        let (set, theirs) = case(golden);
        if set.len() > 1 || set.channels() > 1 {
            continue;
        }
        let features = &golden["kernel"]["features"];
        let ours = format!("rocket:features={features}").parse::<Kernel>().unwrap().resolve(&set).unwrap();
        let fitted = |kernel: &Kernel| serde_json::to_value(kernel).unwrap()["fitted"].clone();
        let (ours, theirs) = (fitted(&ours), fitted(&theirs));
        for part in ["length", "channels", "dilations", "counts", "subsets"] {
            assert_eq!(ours[part], theirs[part], "{part}");
        }
        let [ours, theirs] = [ours, theirs].map(|fit| biases(&fit));
        // Quantiles at fractions of 32 bits, of values that differ by at most some tens.
        assert!(ours.iter().zip(&theirs).all(|(a, b)| (a - b).abs() < 2e-5), "{ours:?} {theirs:?}");
        compared += 1;
    }
    assert_eq!(compared, 2);
}

fn biases(fitted: &Value) -> Vec<f64> {
    use base64::{Engine, prelude::BASE64_STANDARD};
    let bytes = BASE64_STANDARD.decode(fitted["biases"].as_str().unwrap()).unwrap();
    bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect()
}

#[test]
fn dilations_are_those_of_aeon() {
    let golden = golden();
    let rows = golden["dilations"].as_array().unwrap();
    assert!(rows.len() > 50);
    for row in rows {
        let corpus = Numbers(3).walks(2, row["length"].as_u64().unwrap() as usize, 1);
        let kernel: Kernel =
            json!({"kernel": "rocket", "features": row["features"]}).to_string().parse().unwrap();
        let found = serde_json::to_value(kernel.resolve(&corpus).unwrap()).unwrap();
        for part in ["length", "dilations", "counts"] {
            assert_eq!(found["fitted"][part], row[part], "{row}");
        }
    }
}
