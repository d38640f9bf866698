//! The published experiment with the published hyper-parameters (MATH: section 5), by families of kernels.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::HashMap;

use common::{shared, shared_json};
use serde_json::Value;
use varnorm::data::{Split, read_split};
use varnorm::gram::{self, Scaling};
use varnorm::metrics::{average_precision, roc_auc};
use varnorm::prepare::{Preparation, Step};
use varnorm::score::{Measure, scores};
use varnorm::{Distance, Kernel, Norm, Rank, Run, SeriesSet, Spectrum};

/// The kernel of one published row, scaled as published: T' and d' after the preparation.
fn kernel(row: &str, params: &Value, corpus: &SeriesSet) -> Kernel {
    let (channels, steps) = (corpus.channels() as f64, corpus.equal_length().unwrap() as f64);
    let number = |name: &str| params[name].as_f64().unwrap();
    let spec = match row {
        "linear" => "flat_linear".into(),
        "rbf" => format!("flat_rbf:sigma={}", number("sigma") * (channels * steps).sqrt()),
        // (<x,y>/(dT) + c)^p is (<x,y> + c d T)^p up to a factor, which normalising takes out.
        "poly" => format!("flat_poly:c={},p={}", number("c") * channels * steps, params["p"]),
        "integral_rbf" => format!("integral_rbf:sigma={}", number("sigma") * channels.sqrt()),
        "integral_poly" => format!("integral_poly:c={},p={}", number("c") * channels, params["p"]),
        "gak" => {
            format!(
                "gak:floor=1e-10,sigma={}",
                number("gak_factor") * median_point_distance(corpus) * steps.sqrt()
            )
        }
        "sig_linear" => {
            let scale = number("scale") / channels;
            format!("sig:level={},scale={scale},compat=published", params["order"])
        }
        "sig_rbf" => {
            let (sigma, scale) = (number("sigma") * channels.sqrt(), number("scale"));
            format!("sig:level={},lift=rbf,sigma={sigma},scale={scale},compat=published", params["order"])
        }
        _ => unreachable!("a kernel of another family"),
    };
    spec.parse().unwrap()
}

/// The lower median over all pairs of corpus points.
fn median_point_distance(corpus: &SeriesSet) -> f64 {
    let points: Vec<&[f64]> = corpus.values().chunks(corpus.channels()).collect();
    let mut squares = Vec::with_capacity(points.len() * points.len());
    for x in &points {
        squares.extend(points.iter().map(|y| x.iter().zip(*y).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()));
    }
    let middle = (squares.len() - 1) / 2;
    squares.select_nth_unstable_by(middle, f64::total_cmp).1.sqrt()
}

/// ROC-AUC and average precision of one class taken as normal.
fn evaluate(split: &Split, class: &str, row: &str, params: &Value, distance: Distance) -> (f64, f64) {
    let run = Run::sequential();
    let mut prepare = Preparation::published();
    if params["time"].as_bool().unwrap() {
        prepare.steps.push(Step::Time {});
    }
    let corpus = split.train.select(&split.train.with_label(class).unwrap()).series;
    let (fitted, corpus) = prepare.fit(&corpus).unwrap();
    let test = fitted.apply(&split.test.series).unwrap();
    let kernel = kernel(row, params, &corpus);
    let gram = gram::gram(&kernel, &corpus, Scaling::Normalized, &run).unwrap();
    let cross = gram::cross(&kernel, &test, &corpus, &gram.self_values, Scaling::Normalized, &run).unwrap();
    let rank =
        Rank { max_rank: params["max_rank"].as_u64().map(|r| r as usize), eigenvalue_threshold: Some(1e-10) };
    let spectrum = Spectrum::new(&gram, rank, &run).unwrap();
    let measure = Measure { norm: Norm::Tikhonov, alpha: params["alpha"].as_f64().unwrap(), distance };
    let scores = scores(&spectrum, &cross, measure, &run).unwrap().values;
    let normality: Vec<f64> = scores.iter().map(|s| 1.0 / (s + 0.001)).collect();
    let normal: Vec<bool> = split.test.labels.as_ref().unwrap().values.iter().map(|l| l == class).collect();
    (roc_auc(&normality, &normal), average_precision(&normality, &normal))
}

fn reproduce(name: &str) {
    let (Some(published), Some(folder)) = (shared_json("paper/published.json"), shared("uea")) else {
        return;
    };
    let split = read_split(&folder, name).unwrap();
    let classes: HashMap<String, String> =
        split.train.labels.as_ref().unwrap().declared.iter().map(|c| (c.to_lowercase(), c.clone())).collect();
    for row in ["linear", "rbf", "poly", "integral_rbf", "integral_poly", "gak", "sig_linear", "sig_rbf"] {
        for (word, distance) in
            [("conformance", Distance::default()), ("mahalanobis", Distance::Mahalanobis {})]
        {
            let expected = &published[name]["kernels"][row][word];
            let by_class = expected["params_by_class"].as_object().unwrap();
            let results: Vec<(f64, f64)> = by_class
                .iter()
                .map(|(class, params)| evaluate(&split, &classes[class], row, params, distance))
                .collect();
            let mean = |f: fn(&(f64, f64)) -> f64| results.iter().map(f).sum::<f64>() / results.len() as f64;
            for (metric, found) in [("roc_auc", mean(|r| r.0)), ("pr_auc", mean(|r| r.1))] {
                let expected = expected[metric].as_f64().unwrap();
                println!("{name} {row} {word} {metric}: {found:.6} published {expected:.6}");
                let allowed = if row == "gak" || row.starts_with("sig") { 5e-4 } else { 1e-4 };
                assert!(
                    (found - expected).abs() < allowed,
                    "{name} {row} {word} {metric}: {found} {expected}"
                );
            }
        }
    }
}

#[test]
fn racket_sports() {
    reproduce("RacketSports");
}

#[test]
fn epilepsy() {
    reproduce("Epilepsy");
}
