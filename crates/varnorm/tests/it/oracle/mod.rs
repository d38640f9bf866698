//! Naive definitions, for the tests to compare with: as short as the formula, and as slow.
//!
//! A new kernel needs one line in [`ORACLES`].

mod alignment;
mod flat;
pub mod goursat;
mod integral;
pub mod norm;
mod random;
mod reservoir;
pub mod rocket;
mod signature;

use serde_json::Value;
use varnorm::Kernel;
use varnorm::kernel::CATALOGUE;

/// The value of a kernel for two series.
type Oracle = fn(&Pair<'_>) -> f64;

/// Every kernel of the catalogue by its name.
const ORACLES: &[(&str, Oracle)] = &[
    ("flat_linear", flat::linear),
    ("flat_rbf", flat::rbf),
    ("flat_poly", flat::poly),
    ("integral_rbf", integral::rbf),
    ("integral_poly", integral::poly),
    ("gak", alignment::gak),
    ("vrk", reservoir::vrk),
    ("sig_random", random::sig_random),
    ("sig", signature::sig),
    ("sig_fourier", random::sig_fourier),
    ("sig_pde", goursat::sig_pde),
    ("sig_explicit", signature::sig_explicit),
    ("rocket", rocket::value),
    ("radon", random::radon),
];

/// Two series, all values in one row each, and the kernel that is wanted of them.
pub struct Pair<'a> {
    pub kernel: &'a Kernel,
    pub x: &'a [f64],
    pub y: &'a [f64],
    pub channels: usize,
    parameters: Value,
}

impl Pair<'_> {
    fn number(&self, name: &str) -> f64 {
        self.parameters[name].as_f64().unwrap_or_else(|| panic!("{}: no number {name}", self.kernel))
    }

    /// `None` where the parameter has been left out.
    fn whole(&self, name: &str) -> Option<usize> {
        self.parameters[name].as_u64().map(|value| usize::try_from(value).unwrap())
    }

    fn is(&self, name: &str, word: &str) -> bool {
        self.parameters[name] == word
    }

    fn points(&self) -> (Vec<&[f64]>, Vec<&[f64]>) {
        (self.x.chunks(self.channels).collect(), self.y.chunks(self.channels).collect())
    }
}

/// The naive value of any kernel of the catalogue.
pub fn value(kernel: &Kernel, x: &[f64], y: &[f64], channels: usize) -> f64 {
    let parameters = serde_json::to_value(kernel).unwrap();
    let oracle = ORACLES.iter().find(|(name, _)| parameters["kernel"] == *name);
    let (_, oracle) = oracle.unwrap_or_else(|| panic!("{kernel} has no line in ORACLES"));
    oracle(&Pair { kernel, x, y, channels, parameters })
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn square(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

fn rbf(a: &[f64], b: &[f64], sigma: f64) -> f64 {
    (-square(a, b) / (2.0 * sigma.powi(2))).exp()
}

#[test]
fn every_kernel_of_the_catalogue_has_one_oracle() {
    let sorted = |names: Vec<&'static str>| {
        let mut names = names;
        names.sort_unstable();
        names
    };
    let oracles = sorted(ORACLES.iter().map(|(name, _)| *name).collect());
    let catalogue = sorted(CATALOGUE.iter().map(|info| info.name).collect());
    assert_eq!(oracles, catalogue, "ORACLES against the catalogue");
}
