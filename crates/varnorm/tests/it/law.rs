//! The weighted chi-square law against an oracle, published constants and itself.

use crate::common::{Numbers, numbers, shared_json};
use crate::golden::golden;
use varnorm::law::WeightedChiSquare;

#[test]
fn golden_survival_probabilities() {
    let Some(golden) = shared_json("golden/weighted_chi_square.json") else { return };
    let cases = golden.as_array().unwrap();
    assert_eq!(cases.len(), 14);
    for case in cases {
        let law = WeightedChiSquare::new(&numbers(&case["weights"])).unwrap();
        let expected: f64 = case["sf"].as_str().unwrap().parse().unwrap();
        let found = law.survival(case["x"].as_f64().unwrap());
        assert!((found - expected).abs() < 1e-10, "{case}: {found}");
        assert!((found / expected - 1.0).abs() < 1e-12, "{case}: {found}");
    }
}

/// The laws of `tools/golden.py`, by name.
fn terms(name: &str) -> Vec<(f64, f64)> {
    let each =
        |count: u32, weight: &dyn Fn(f64) -> f64| (0..count).map(|j| (weight(f64::from(j)), 1.0)).collect();
    match name {
        "one weight" => vec![(1.0, 1.0)],
        "1000 weights over 12 decades" => each(1000, &|j| 10f64.powf(-12.0 * j / 999.0)),
        "300 weights (1+j)^-2" => each(300, &|j| (1.0 + j).powi(-2)),
        "200 weights 1 + j/1000" => each(200, &|j| 1.0 + 0.001 * j),
        "one large weight and 5000 small" => vec![(1.0, 1.0), (1e-3, 5000.0)],
        "Tikhonov weights" => each(150, &|j| {
            let value = (1.0 + j).powf(-1.5);
            (value / (value + 1e-4)).powi(2)
        }),
        other => panic!("no law named {other}"),
    }
}

#[test]
fn survival_probabilities_in_thirty_digits() {
    let golden = golden();
    let cases = golden["law"].as_array().unwrap();
    assert_eq!(cases.len(), 20);
    let mut worst = 0.0f64;
    for case in cases {
        let law = WeightedChiSquare::with_multiplicities(&terms(case["name"].as_str().unwrap())).unwrap();
        let expected = case["survival"].as_f64().unwrap();
        let x = case["x"].as_f64().unwrap();
        let error = (law.survival(x) / expected - 1.0).abs();
        worst = worst.max(error);
        assert!(error < 1e-11, "{case}: {} is off by {error:e}", law.survival(x));
        let back = law.quantile(expected).unwrap();
        assert!((back / x - 1.0).abs() < 1e-10, "{case}: quantile {back}");
    }
    println!("largest relative error of {} references: {worst:e}", cases.len());
}

/// Weights of random shapes and sizes: monotone, in [0, 1], both tails add up, scale does not matter, and quantiles
/// come back.
#[test]
fn properties_of_a_distribution() {
    let mut numbers = Numbers(11);
    for case in 0..12u32 {
        let count = [1, 2, 3, 10, 100, 2000][(case % 6) as usize];
        let decades = [0.0, 3.0, 12.0, 12.0][(case % 4) as usize];
        let weights: Vec<f64> = (0..count).map(|_| 10f64.powf(decades * (numbers.next() - 0.5))).collect();
        let law = WeightedChiSquare::new(&weights).unwrap();
        let scaled = WeightedChiSquare::new(&weights.iter().map(|w| w * 1e-9).collect::<Vec<_>>()).unwrap();
        assert!((law.mean() - weights.iter().sum::<f64>()).abs() < 1e-12 * law.mean());
        let (mut last, mut lower) = (1.0, 0.0);
        for step in 0..80 {
            let x = law.mean() * 10f64.powf(f64::from(step) * 0.05 - 2.5);
            let (p, q) = (law.survival(x), law.distribution(x));
            assert!((0.0..=1.0).contains(&p) && (0.0..=1.0).contains(&q), "{p} {q}");
            assert!(p <= last && q >= lower, "case {case}: not monotone at {x}: {p} {last} {q} {lower}");
            assert!((p + q - 1.0).abs() < 1e-13);
            if step % 8 == 0 {
                let other = scaled.survival(x * 1e-9);
                assert!((other - p).abs() <= 1e-12 * p, "{other} {p}");
            }
            (last, lower) = (p, q);
        }
        assert!(last < 1e-6, "{last}");
        for p in [1e-10, 1e-4, 0.05, 0.5, 0.95, 0.999] {
            let x = law.quantile(p).unwrap();
            assert!((law.survival(x) / p - 1.0).abs() < 1e-9, "case {case}: {p} {x} {}", law.survival(x));
        }
    }
}

#[test]
fn edges() {
    let law = WeightedChiSquare::new(&[2.0, 0.0, 1.0]).unwrap();
    assert_eq!((law.survival(0.0), law.survival(-1.0), law.survival(f64::INFINITY)), (1.0, 1.0, 0.0));
    assert!(law.survival(f64::NAN).is_nan());
    assert_eq!(law.survival(1e6), 0.0);
    assert!(law.distribution(1e-280) > 0.0);
    let none = WeightedChiSquare::new(&[]).unwrap();
    assert_eq!((none.survival(0.0), none.survival(1.0), none.quantile(0.3).unwrap()), (0.0, 0.0, 0.0));
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        assert!(WeightedChiSquare::new(&[bad]).is_err());
    }
    for bad in [0.0, 1.0, f64::NAN] {
        assert!(law.quantile(bad).is_err());
    }
}
