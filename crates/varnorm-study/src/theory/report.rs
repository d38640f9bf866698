//! [`Report`]: all statements at once, at sizes that show them.

use serde::Serialize;

use super::{Consistency, Equidistance, Spread, consistency, equidistance, spread, teaching_law};
use varnorm::Run;
use varnorm::internal::plot::Plot;
use varnorm::{Error, Result};

/// The paper's statements, watched on a Gaussian law with eigenvalues 1/j^2.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Eigenvalues of the law.
    pub dimension: u16,
    /// Empirical norms against the law's.
    pub consistency: Consistency,
    /// Nearest against furthest neighbours.
    pub spread: Spread,
    /// Distances between corpus elements.
    pub equidistance: Equidistance,
}

impl Report {
    /// Watches them with so many samples per point.
    pub fn new(dimension: u16, repeats: u16, alpha: f64, run: &Run) -> Result<Self> {
        if !(alpha > 0.0 && alpha.is_finite()) {
            return Err(Error::bad_param("alpha", alpha, "must be positive"));
        }
        let law = teaching_law(usize::from(dimension))?;
        let repeats = u64::from(repeats);
        let counts: Vec<usize> = (0..8).map(|k| 25 << k).collect();
        let alphas: Vec<f64> = (-10..=2).map(|e| 10f64.powf(f64::from(e) / 2.0)).collect();
        // Linearly independent elements: at most as many as the law has dimensions.
        let sizes = [3, 5, 8, 12, 20, 30, 50, 80, 120, 200];
        let sizes: Vec<usize> = sizes.into_iter().filter(|n| *n <= usize::from(dimension)).collect();
        Ok(Self {
            dimension,
            consistency: consistency(&law, alpha, &counts, repeats, run)?,
            spread: spread(&law, &alphas, 100, 5 * repeats, run)?,
            equidistance: equidistance(&law, alpha, &sizes, run)?,
        })
    }

    /// The three pictures, each with the name of its file.
    pub fn plots(&self) -> [(&'static str, Plot); 3] {
        [
            ("consistency.svg", self.consistency.plot()),
            ("spread.svg", self.spread.plot()),
            ("equidistance.svg", self.equidistance.plot()),
        ]
    }
}
