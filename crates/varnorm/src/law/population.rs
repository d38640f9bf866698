//! [`Gaussian`]: a law on a Hilbert space whose norms are known without a sample.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::WeightedChiSquare;
use crate::error::{Error, Result};
use crate::linalg::matrix::Matrix;
use crate::norm::Norm;

/// A centred Gaussian law with a given spectrum; elements are told by their coordinates in its eigenvectors.
///
/// ```
/// use varnorm::{Norm, law::Gaussian};
/// let law = Gaussian::new(vec![4.0, 1.0, 0.0]).unwrap();
/// assert_eq!(law.norm(&[2.0, 1.0, 0.0], Norm::Exact, 0.0).unwrap(), 2f64.sqrt());
/// // The third direction has no variance: off the Cameron-Martin space.
/// assert_eq!(law.norm(&[2.0, 1.0, 0.1], Norm::Exact, 0.0).unwrap(), f64::INFINITY);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Gaussian {
    eigenvalues: Vec<f64>,
}

impl Gaussian {
    /// From the eigenvalues of the covariance operator; zeros are allowed.
    pub fn new(eigenvalues: Vec<f64>) -> Result<Self> {
        match eigenvalues.iter().find(|v| !(**v >= 0.0 && v.is_finite())) {
            Some(v) => Err(Error::bad_param("eigenvalues", v, "must be finite and not negative")),
            None => Ok(Self { eigenvalues }),
        }
    }

    /// The eigenvalues of the covariance operator.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// The norm of an element under the law itself: what empirical norms tend to.
    pub fn norm(&self, element: &[f64], norm: Norm, alpha: f64) -> Result<f64> {
        if element.len() != self.eigenvalues.len() {
            let rule = format!("an element has one coordinate per eigenvalue: {}", self.eigenvalues.len());
            return Err(Error::bad_param("element", format!("{} coordinates", element.len()), rule));
        }
        let square =
            |(value, x): (&f64, &f64)| if *x == 0.0 { 0.0 } else { norm.weight(*value, alpha) * x * x };
        Ok(self.eigenvalues.iter().zip(element).map(square).sum::<f64>().sqrt())
    }

    /// The law of the squared norm of a draw.
    pub fn squared_norm(&self, norm: Norm, alpha: f64) -> Result<WeightedChiSquare> {
        let positive: Vec<f64> = self.eigenvalues.iter().copied().filter(|v| *v > 0.0).collect();
        WeightedChiSquare::of_norm(&positive, 0.0, norm, alpha)
    }

    /// So many independent draws, one per row. A seed means the same draws for ever.
    pub fn draw(&self, count: usize, seed: u64) -> Matrix {
        let mut numbers = NormalNumbers::new(seed);
        let mut draws = Matrix::zeros(count, self.eigenvalues.len());
        for row in 0..count {
            for (cell, value) in draws.row_mut(row).iter_mut().zip(&self.eigenvalues) {
                *cell = value.sqrt() * numbers.next();
            }
        }
        draws
    }
}

/// Standard normal numbers from a pinned generator (Box-Muller over ChaCha8).
pub struct NormalNumbers {
    generator: ChaCha8Rng,
    spare: Option<f64>,
}

impl NormalNumbers {
    /// A seed means the same numbers for ever.
    pub fn new(seed: u64) -> Self {
        Self { generator: ChaCha8Rng::seed_from_u64(seed), spare: None }
    }

    /// Uniform, strictly between 0 and 1.
    pub fn uniform(&mut self) -> f64 {
        ((self.generator.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// The next standard normal number.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        let angle = 2.0 * std::f64::consts::PI * self.uniform();
        self.spare = Some(radius * angle.sin());
        radius * angle.cos()
    }
}
