//! The published experiment with the published hyper-parameters (MATH: section 5), on the engine of studies.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::shared;
use varnorm::Run;
use varnorm::study::{Compat, Grid, Method, Parameters, Results, Shard, Study, known_rows};

/// What the published numbers may differ by.
const ALLOWED: f64 = 1e-4;

fn reproduce(dataset: &str) {
    let (Some(file), Some(folder)) = (shared("paper/published.json"), shared("uea")) else { return };
    let parameters = Parameters::read(&file).unwrap();
    let rows: Vec<String> = known_rows().filter(|row| *row != "sig_random").map(String::from).collect();
    assert!(rows.len() >= 9);
    let study = Study {
        folder,
        datasets: vec![dataset.into()],
        grid: Grid::default().only(&rows).unwrap(),
        compat: Compat::Published,
        published: Some(parameters.clone()),
        ..Study::default()
    };
    let units =
        study.load().unwrap().run(None, Shard::default(), &Run::with_threads(0).unwrap(), |_| {}).unwrap();
    let results = Results::new(&units);
    for row in &rows {
        for method in [Method::Conformance, Method::Mahalanobis] {
            let found = results.get(dataset, row, method).unwrap();
            let (roc, pr) = parameters.areas(dataset, row, method).unwrap();
            for (metric, found, expected) in [("roc_auc", found.roc_auc, roc), ("pr_auc", found.pr_auc, pr)] {
                println!("{dataset} {row} {} {metric}: {found:.6} published {expected:.6}", method.name());
                let off = (found - expected).abs();
                assert!(off < ALLOWED, "{dataset} {row} {} {metric}: {found} {expected}", method.name());
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

#[test]
fn finger_movements() {
    reproduce("FingerMovements");
}
