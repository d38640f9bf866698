//! MiniRocket: shares of steps at which convolutions with 84 fixed kernels exceed biases.
//!
//! # Formula
//! The 84 kernels have nine weights: 2 at three places and -1 at the six others. For a dilation d, a subset of channels and a kernel,
//! `C_t = sum over places j = 0..8 of w_j s_{t + (j-4) d}`, s being the sum of the subset's channels and zero outside the series.
//! A feature is the share of steps with `C_t > b`. The value is `<phi(x), phi(y)> / features`.
//!
//! # What is learned from the corpus
//! - Dilations: at most 32, the whole parts of `2^e` with e evenly spaced from 0 to `log2((T-1)/8)`. T is the whole part of the
//!   median length of the corpus; below 9 steps the only dilation is 1.
//! - Biases: the quantiles at the fractional parts of `n (sqrt(5)+1)/2`, n = 1, 2, .., of the convolution of one random series.
//!   Each is moved up by 1e-9 of the largest value of the convolution, so that values that differ by rounding stay together.
//! - Subsets of channels: random, of at most 9, one for every kernel and dilation; small ones are more frequent.
//!
//! # Ends of a series
//! Of every two kernels in turn, one takes all steps; the other takes those whose nine places are within the series. A series too
//! short to have such a step (`T <= 8 d`) is taken with all its steps. So series may have any lengths, from one step on.
//!
//! # Cost
//! A comparison per feature and step and about four additions per kernel, dilation and step, for each series; an inner product per pair.
//! Sums are in f64 in one fixed order, without fused multiply-adds: every machine has the same features.
//!
//! # Reference
//! A. Dempster, D. F. Schmidt, G. I. Webb, MiniRocket: a very fast (almost) deterministic transform for time series classification,
//! 2021. Values agree with those of aeon's MiniRocket, which sums in f32, for the same learned numbers.
//!
//! # Example
//! ```
//! use varnorm::{Kernel, Run, SeriesSet, gram, kernel::share_features};
//! let wave = |speed: f64| (0..50).map(move |t| (speed * f64::from(t)).sin());
//! let set = SeriesSet::from_equal([0.1, 0.11, 0.9].into_iter().flat_map(wave).collect(), 50, 1).unwrap();
//! let kernel = "rocket:features=840".parse::<Kernel>().unwrap().resolve(&set).unwrap();
//! let features = share_features(&set, &kernel, &Run::sequential()).unwrap();
//! assert_eq!(features.columns(), 840);
//! let k = gram::gram(&kernel, &set, gram::Scaling::Normalized, &Run::sequential()).unwrap().matrix;
//! assert!(k.get(0, 1) > k.get(0, 2));
//! // Words state what was asked for; what was learned travels in JSON.
//! assert_eq!(kernel.to_string(), "rocket:features=840,seed=0");
//! assert_eq!(serde_json::to_string(&kernel).unwrap().parse::<Kernel>().unwrap(), kernel);
//! ```

mod convolve;
mod dilations;
mod fit;
mod fitted;
#[cfg(test)]
mod tests;

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

use convolve::{Features, Scratch};
pub use fitted::RocketFit;

/// Kernels: all ways to choose 3 of 9 places.
const KERNELS: usize = 84;
/// Most features: a comparison of each with every step.
const MOST_FEATURES: u32 = 1000 * KERNELS as u32;

/// MiniRocket: the mean product of the shares of steps at which convolutions exceed biases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rocket {
    /// Number of features, a multiple of 84.
    pub features: u32,
    /// Chooses series for the biases, and subsets of channels.
    pub seed: u64,
    /// What was learned from the corpus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fitted: Option<RocketFit>,
}

impl Default for Rocket {
    fn default() -> Self {
        Self { features: 9996, seed: 0, fitted: None }
    }
}

const FEATURES: ParameterInfo = ParameterInfo::whole(
    "features",
    ParameterRange::Rule("a multiple of 84 from 84 to 84000"),
    "9996",
    "number of features, a multiple of 84",
);
const SEED: ParameterInfo = ParameterInfo::whole(
    "seed",
    ParameterRange::Any,
    "0",
    "chooses series for the biases, and subsets of channels",
);

impl Family for Rocket {
    const INFO: KernelInfo = KernelInfo {
        name: "rocket",
        words: "how often short patterns occur in two series, whenever they do (MiniRocket)",
        formula: "<phi(x), phi(y)> / features, phi the shares of steps at which convolutions exceed biases",
        any_lengths: true,
        parameters: &[FEATURES, SEED],
        example: "rocket:features=168,seed=1",
    };

    /// An error as well where the features are not those that were learned.
    fn validate(&self) -> Result<()> {
        let (kernels, features) = (KERNELS as u32, self.features);
        if !features.is_multiple_of(kernels) || !(kernels..=MOST_FEATURES).contains(&features) {
            let nearest = (features / kernels * kernels).clamp(kernels, MOST_FEATURES);
            let rule = format!("must be {}, such as {nearest}", FEATURES.range);
            return Err(Error::bad_param(FEATURES.name, features, rule));
        }
        match self.fitted.as_ref().map(RocketFit::features) {
            Some(learned) if learned != features as usize => {
                let rule = format!("the kernel was fitted with {learned}; leave out `fitted` to fit it anew");
                Err(Error::bad_param(FEATURES.name, features, rule))
            }
            _ => Ok(()),
        }
    }

    fn resolve(&self, corpus: &SeriesSet) -> Result<Self> {
        let fitted = match &self.fitted {
            Some(_) => self.learned(corpus.channels())?.clone(),
            None => fit::fit(self.features as usize, self.seed, corpus)?,
        };
        Ok(Self { fitted: Some(fitted), ..*self })
    }

    fn plan(&self, channels: usize, passes: &mut Passes) -> Result<()> {
        self.learned(channels)?;
        passes.add(InnerProducts::new(self.clone()));
        Ok(())
    }

    fn cost(&self, shape: &Shape) -> f64 {
        (shape.steps() + shape.pairs()) * f64::from(self.features)
    }

    fn features(&self) -> Option<&dyn FeatureVectors> {
        Some(self)
    }
}

impl FeatureVectors for Rocket {
    fn width(&self, _steps: usize, _channels: usize) -> usize {
        self.features as usize
    }

    fn vectors(&self, set: &SeriesSet, run: &Run) -> Result<Matrix> {
        self.shares(set, run).map(shares::divided_by_root)
    }
}

impl Rocket {
    /// What was learned on series of so many channels.
    fn learned(&self, channels: usize) -> Result<&RocketFit> {
        shares::learned(self.fitted.as_ref(), channels, RocketFit::channels)
    }

    /// The features of all series, one row each.
    pub(super) fn shares(&self, set: &SeriesSet, run: &Run) -> Result<Matrix> {
        let fit = self.learned(set.channels())?;
        shares::rows(set, fit.features(), run, |series, scratch: &mut Scratch, out| {
            scratch.load(series, fit.reach());
            dispatch(Features { fit, scratch, out });
        })
    }
}
