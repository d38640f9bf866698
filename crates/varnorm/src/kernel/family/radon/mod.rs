//! Cumulative Radon features: the distribution of windows of a series along random directions.
//!
//! # Formula
//! Direction r has the dilation `d = 1 + r mod D`. At every step t its window holds the values of all channels at
//! `t + (j - (window-1)/2) d` for `j = 0..window`, zero outside the series. The direction is a vector of that length with standard
//! normal entries. A feature is the share of steps at which the window's product with a direction is at or below a threshold. The
//! value is `<phi(x), phi(y)> / features`.
//!
//! # What is learned from the corpus
//! - Dilations: `D = T / window`, from 1 to 10, T being the whole part of the median length of the corpus.
//! - Thresholds: for every direction evenly spaced from the 1 % to the 99 % quantile of the products at the steps of the corpus, both
//!   included. Of a large corpus evenly spaced series take part, 32,768 steps in all (and one series at least).
//!   Both ends are moved outwards by 1e-9 of the largest product, so that products that differ by rounding stay together.
//!
//! # Cost
//! `window T d directions` multiply-adds per series of d channels, and a place in a histogram per direction and step; an inner
//! product per pair.
//!
//! # Reference
//! Y. Hoshen, Time series anomaly detection by cumulative Radon features, 2022.
//!
//! # Example
//! ```
//! use varnorm::{Kernel, Run, SeriesSet, kernel::share_features};
//! let set = SeriesSet::from_equal((0..60).map(|i| f64::from(i % 7)).collect(), 20, 1).unwrap();
//! let kernel = "radon:directions=5,thresholds=4".parse::<Kernel>().unwrap().resolve(&set).unwrap();
//! let features = share_features(&set, &kernel, &Run::sequential()).unwrap();
//! assert_eq!(features.columns(), 20);
//! // Cumulative: the share at or below a higher threshold is at least as large.
//! assert!(features.row(0).chunks(4).all(|direction| direction.is_sorted()));
//! assert_eq!(kernel.to_string(), "radon:directions=5,seed=0,thresholds=4,window=9");
//! ```

mod fit;
mod fitted;
mod histogram;
mod project;
#[cfg(test)]
mod tests;
mod weights;

use serde::{Deserialize, Serialize};

use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::kernel::family::{Family, Shape, shares};
use crate::kernel::features::{FeatureVectors, InnerProducts};
use crate::kernel::pass::Passes;
use crate::kernel::{KernelInfo, ParameterInfo, ParameterRange};
use crate::linalg::matrix::Matrix;
use crate::run::Run;
use crate::simd::dispatch;

pub use fitted::RadonFit;
use histogram::Scale;
use project::{Features, Scratch};

/// Cumulative Radon features: the mean product of the shares of windows at or below thresholds along random directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Radon {
    /// Number of random directions.
    pub directions: u32,
    /// Thresholds of every direction.
    pub thresholds: u32,
    /// Steps of a window.
    pub window: u32,
    /// Seed of the directions.
    pub seed: u64,
    /// What was learned from the corpus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fitted: Option<RadonFit>,
}

impl Default for Radon {
    fn default() -> Self {
        Self { directions: 100, thresholds: 20, window: 9, seed: 0, fitted: None }
    }
}

const DIRECTIONS: ParameterInfo = ParameterInfo::whole(
    "directions",
    ParameterRange::Between("", 1.0, 10_000.0),
    "100",
    "number of random directions",
);
const THRESHOLDS: ParameterInfo = ParameterInfo::whole(
    "thresholds",
    ParameterRange::Between("", 1.0, 1000.0),
    "20",
    "thresholds of every direction",
);
const WINDOW: ParameterInfo = ParameterInfo::whole(
    "window",
    ParameterRange::Between("", 1.0, 1000.0),
    "9",
    "steps of a window, each of them as far apart as the direction's dilation",
);
const SEED: ParameterInfo = ParameterInfo::whole("seed", ParameterRange::Any, "0", "seed of the directions");

/// Most features, and most numbers that all directions have.
const MOST_FEATURES: u32 = 100_000;
const MOST_WEIGHTS: usize = 1 << 27;
/// Most dilations.
const MOST_DILATIONS: usize = 10;

impl Family for Radon {
    const INFO: KernelInfo = KernelInfo {
        name: "radon",
        words: "the distribution of windows of two series along random directions (cumulative Radon features)",
        formula: "<phi(x), phi(y)> / features, phi the shares of steps whose windows are at or below thresholds",
        any_lengths: true,
        parameters: &[DIRECTIONS, THRESHOLDS, WINDOW, SEED],
        example: "radon:directions=10,thresholds=8,seed=1",
    };

    /// An error as well where a parameter is not the one that was fitted.
    fn validate(&self) -> Result<()> {
        DIRECTIONS.check(self.directions)?;
        THRESHOLDS.check(self.thresholds)?;
        WINDOW.check(self.window)?;
        if self.directions * self.thresholds > MOST_FEATURES {
            let each = self.thresholds;
            let rule = format!("with {each} thresholds each there are more than {MOST_FEATURES} features");
            return Err(Error::bad_param(DIRECTIONS.name, self.directions, rule));
        }
        let Some(fitted) = &self.fitted else { return Ok(()) };
        for (parameter, value, learned) in [
            (DIRECTIONS, u64::from(self.directions), fitted.directions() as u64),
            (WINDOW, u64::from(self.window), fitted.window() as u64),
            (SEED, self.seed, fitted.seed()),
        ] {
            if value != learned {
                let rule = format!("the kernel was fitted with {learned}; leave out `fitted` to fit it anew");
                return Err(Error::bad_param(parameter.name, value, rule));
            }
        }
        Ok(())
    }

    fn resolve(&self, corpus: &SeriesSet) -> Result<Self> {
        let fitted = match &self.fitted {
            Some(_) => self.learned(corpus.channels())?.clone(),
            None => fit::fit(self, corpus)?,
        };
        Ok(Self { fitted: Some(fitted), ..*self })
    }

    fn plan(&self, channels: usize, passes: &mut Passes) -> Result<()> {
        self.learned(channels)?;
        passes.add(InnerProducts::new(self.clone()));
        Ok(())
    }

    fn cost(&self, shape: &Shape) -> f64 {
        let (directions, thresholds) = (f64::from(self.directions), f64::from(self.thresholds));
        let of_step = directions * (f64::from(self.window) * shape.channels + 2.0);
        shape.steps() * of_step + shape.pairs() * directions * thresholds
    }

    fn features(&self) -> Option<&dyn FeatureVectors> {
        Some(self)
    }
}

impl FeatureVectors for Radon {
    fn width(&self, _steps: usize, _channels: usize) -> usize {
        self.directions as usize * self.thresholds as usize
    }

    fn vectors(&self, set: &SeriesSet, run: &Run) -> Result<Matrix> {
        self.shares(set, run).map(shares::divided_by_root)
    }
}

impl Radon {
    /// What was learned on series of so many channels.
    fn learned(&self, channels: usize) -> Result<&RadonFit> {
        shares::learned(self.fitted.as_ref(), channels, RadonFit::channels)
    }

    /// The features of all series, one row each: all thresholds of the first direction, then of the second, and so on.
    pub(super) fn shares(&self, set: &SeriesSet, run: &Run) -> Result<Matrix> {
        let (fit, thresholds) = (self.learned(set.channels())?, self.thresholds as usize);
        let (weights, count) = (fit.weights(), fit.directions() * thresholds);
        let scales: Vec<Scale> = fit.ranges().map(|range| Scale::new(range, thresholds)).collect();
        shares::rows(set, count, run, |series, scratch: &mut Scratch, out| {
            scratch.load(series, weights.reach);
            dispatch(Features { weights: &weights, scales: &scales, scratch, out });
        })
    }
}
