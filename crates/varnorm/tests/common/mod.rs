//! What several integration tests share.
#![allow(dead_code)]

use std::path::PathBuf;

use serde_json::Value;
use varnorm::{Matrix, SeriesSet};

/// A file of the reference folder beside the project, or `None`, with a printed reason, where it is absent.
pub fn shared(path: &str) -> Option<PathBuf> {
    let full = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(path);
    if full.exists() {
        return Some(full);
    }
    println!("skipped: ../shared/{path} is absent");
    None
}

/// A JSON file of the reference folder.
pub fn shared_json(path: &str) -> Option<Value> {
    let text = std::fs::read_to_string(shared(path)?).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

pub fn matrix(value: &Value) -> Matrix {
    let rows: Vec<Vec<f64>> = value.as_array().unwrap().iter().map(numbers).collect();
    Matrix::from_values(rows.len(), rows[0].len(), rows.concat()).unwrap()
}

pub fn series_set(value: &Value) -> SeriesSet {
    let all = value.as_array().unwrap();
    let mut set = SeriesSet::new(matrix(&all[0]).columns()).unwrap();
    all.iter().for_each(|s| set.push(matrix(s).values()).unwrap());
    set
}

/// A small pinned generator for test data: uniform in [-0.5, 0.5).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }

    /// About standard normal: the sum of twelve uniforms.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum()
    }

    /// Random walks.
    pub fn walks(&mut self, count: usize, steps: usize, channels: usize) -> SeriesSet {
        let mut set = SeriesSet::new(channels).unwrap();
        for _ in 0..count {
            let mut point = vec![0.0; channels];
            let mut values = Vec::new();
            for _ in 0..steps {
                point.iter_mut().for_each(|p| *p += self.normal() * 0.3);
                values.extend_from_slice(&point);
            }
            set.push(&values).unwrap();
        }
        set
    }
}

pub fn assert_close(found: f64, expected: f64, relative: f64, what: &str) {
    let error = (found - expected).abs();
    assert!(
        error <= relative * expected.abs(),
        "{what}: found {found}, expected {expected}, off by {error:e}"
    );
}

/// The smallest eigenvalue of a symmetric matrix, by Jacobi's rotations.
pub fn smallest_eigenvalue(matrix: &Matrix) -> f64 {
    let n = matrix.rows();
    let mut a: Vec<Vec<f64>> = (0..n).map(|i| matrix.row(i).to_vec()).collect();
    for _ in 0..30 {
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q] == 0.0 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let (c, s) = (1.0 / t.hypot(1.0), t / t.hypot(1.0));
                for k in 0..n {
                    let (x, y) = (a[k][p], a[k][q]);
                    (a[k][p], a[k][q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[p][k], a[q][k]);
                    (a[p][k], a[q][k]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    (0..n).map(|i| a[i][i]).fold(f64::INFINITY, f64::min)
}
