//! Random Fourier signature features: the kernel `sig` with `order = 1` and `lift = rbf`, from features.
//!
//! # Formula
//! `k(x,y) = sum over m = 0..level of scale^m <F_m(x), F_m(y)>`, where `F_0 = 1` and `F_m` is a sum over chains of steps
//! `t_1 < .. < t_m` of products of lifted increments, each level p with random numbers of its own. With
//! `f_w(x) = (cos <w,x>, sin <w,x>)`, w normal with variance `1 / sigma^2`, inner products of `f_w` are on average
//! `exp(-|x-y|^2 / (2 sigma^2))`. With M = features:
//!
//! - `tensor`: `F_m = M^(-1/2) sum u_1(t_1) .. u_m(t_m)`, feature by feature; `u_p(t) = P_p (f_p(x_t) - f_p(x_{t-1}))` for
//!   the M/2 frequencies of the level, divided by `sqrt(M/2)`, and a matrix `P_p` of standard normal entries;
//! - `diagonal`: `F_m = M^(-1/2) sum (f_1(x_{t_1}) - f_1(x_{t_1-1})) (x) .. (x) (f_m(x_{t_m}) - f_m(x_{t_m-1}))` for M
//!   copies, each with one frequency per level: `2^m M` numbers.
//!
//! Both are on average over the seeds the kernel `sig:order=1,lift=rbf` of the same level, sigma and scale; the error
//! falls like `M^(-1/2)`. Series may have any lengths.
//!
//! # Cost
//! `T level M (M + d / 2)` multiply-adds per series (`tensor`) or `T M (2^(level+1) + level d)` (`diagonal`), and as many
//! cosines and sines as frequencies; per pair one inner product of features, whatever T. `level M^2` random numbers
//! (`tensor`) are drawn for every call.
//!
//! # What it shares
//! The features of a series serve all its pairs; kernels that differ in level and scale alone share all features.
//!
//! # Reference
//! C. Toth, H. Oberhauser, Z. Szabo, Random Fourier signature features, 2023.
//!
//! # Example
//! ```
//! use varnorm::{Kernel, Run, SeriesSet, gram, kernel::fourier_signature_features};
//! let run = Run::sequential();
//! let set = SeriesSet::from_equal(vec![0.0, 1.0, 2.0, 2.0, 1.0, 3.0], 3, 1).unwrap();
//! let random: Kernel = "sig_fourier:level=2,features=2048,sigma=2,scale=1".parse().unwrap();
//! let exact: Kernel = "sig:level=2,lift=rbf,sigma=2,scale=1".parse().unwrap();
//! let value = |kernel| gram::gram(kernel, &set, gram::Scaling::Raw, &run).unwrap().matrix.get(0, 1);
//! assert!((value(&random) - value(&exact)).abs() < 0.05);
//! // The kernel is the inner product of rows: 1, and 2048 features of both levels.
//! let features = fourier_signature_features(&set, &random, &run).unwrap();
//! assert_eq!((features.columns(), features.row(0)[0]), (1 + 2 * 2048, 1.0));
//! ```

mod map;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::kernel::drive::vectors::{self, Features, Prepared};
use crate::kernel::family::sig::{Finish, LEVEL, SIGMA};
use crate::kernel::family::{self, Family};
use crate::kernel::features::FeatureVectors;
use crate::kernel::pass::{Pass, Passes, Sets, Tile, Values};
use crate::kernel::{Kernel, KernelInfo, Parameter, ParameterInfo, ParameterRange, auto};
use crate::linalg::matrix::Matrix;
use crate::run::Run;
pub use map::Form;
use map::{FourierMap, Shape};

/// Random Fourier signature features: on average over the seeds the kernel `sig` with `order = 1` and `lift = rbf`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SigFourier {
    /// The last level, 1 to 32.
    pub level: u32,
    /// Random features of a level (`tensor`), or copies of `2^m` features of level m (`diagonal`).
    pub features: u32,
    /// How the features of a level are made.
    pub form: Form,
    /// Bandwidth of the RBF lift; `auto` is the median distance between corpus points.
    pub sigma: Parameter,
    /// Factor of the lifted kernel; `auto` is 1.
    pub scale: Parameter,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for SigFourier {
    fn default() -> Self {
        let (level, features, form) = (5, 256, Form::default());
        Self { level, features, form, sigma: Parameter::Auto, scale: Parameter::Auto, seed: 0 }
    }
}

/// More features would be a mistake: projections take `8 M^2` bytes per level.
const FEATURES: ParameterInfo = ParameterInfo::whole(
    "features",
    ParameterRange::Between("", 1.0, 4096.0),
    "256",
    "random features of a level, 1 to 4096; the error falls like 1 / sqrt(features)",
);
const FORM: ParameterInfo = ParameterInfo::word(
    "form",
    &["tensor", "diagonal"],
    "tensor",
    "tensor: projected to features per level; diagonal: 2^m times features at level m",
);
const SCALE: ParameterInfo =
    ParameterInfo::number("scale", ParameterRange::Positive, "auto", "factor of the lifted kernel; auto: 1");
const SEED: ParameterInfo =
    ParameterInfo::whole("seed", ParameterRange::Any, "0", "seed of the random numbers");

/// Most numbers of a series in the form `diagonal`.
const MOST_NUMBERS: usize = 1 << 17;

impl Family for SigFourier {
    const INFO: KernelInfo = KernelInfo {
        name: "sig_fourier",
        words: "the kernel sig with order 1 and lift rbf, by random features: fast for many and long series",
        formula: "sum over m = 0..level of scale^m <F_m(x), F_m(y)>, F_m random; on average sig:order=1,lift=rbf",
        any_lengths: true,
        parameters: &[LEVEL, FEATURES, FORM, SIGMA, SCALE, SEED],
        example: "sig_fourier:level=3,features=16,sigma=1.3,scale=0.5,seed=0",
    };

    fn validate(&self) -> Result<()> {
        LEVEL.check(self.level)?;
        FEATURES.check(self.features)?;
        let numbers = 2usize.checked_shl(self.level).unwrap_or(usize::MAX);
        if self.form == Form::Diagonal && numbers.saturating_mul(self.features as usize) > MOST_NUMBERS {
            let rule = format!(
                "the form diagonal has about 2^(level+1) times as many numbers, here more than {MOST_NUMBERS}; \
                 choose fewer, a lower level, or the form tensor"
            );
            return Err(Error::bad_param(FEATURES.name, self.features, rule));
        }
        SIGMA.check_given(self.sigma).and(SCALE.check_given(self.scale))
    }

    fn resolve(&self, corpus: &SeriesSet) -> Result<Self> {
        let sigma = self.sigma.or_else(|| auto::median_distance_of_points(corpus));
        Ok(Self { sigma, scale: self.scale.or_else(|| 1.0), ..*self })
    }

    /// Kernels that differ in level and scale alone share a walk.
    fn plan(&self, _channels: usize, passes: &mut Passes) -> Result<()> {
        let (shape, scale) = (self.shape()?, self.scale.resolved(SCALE.name)?);
        passes.join(
            |pass: &FourierPass| Shape { levels: shape.levels, ..pass.shape } == shape,
            || FourierPass { finish: Vec::new(), shape, made: None },
            |pass| {
                pass.shape.levels = pass.shape.levels.max(shape.levels);
                pass.finish.push(Finish { set: 0, level: shape.levels, scale, single: false });
            },
        );
        Ok(())
    }

    fn cost(&self, shape: &family::Shape) -> f64 {
        let (level, features) = (f64::from(self.level), f64::from(self.features));
        // A cosine and a sine take about twenty, and so does drawing a random number.
        let of_step = level * features * (shape.channels + 20.0);
        let (of_step, drawn, numbers) = match self.form {
            Form::Tensor => {
                let projections = level * features * features;
                (of_step + projections, projections, level * features)
            }
            Form::Diagonal => {
                let numbers = features * 2f64.powf(level + 1.0);
                (of_step + numbers, level * features * shape.channels, numbers)
            }
        };
        shape.steps() * of_step + 20.0 * drawn + shape.pairs() * numbers
    }

    fn features(&self) -> Option<&dyn FeatureVectors> {
        Some(self)
    }
}

impl FeatureVectors for SigFourier {
    fn width(&self, _steps: usize, _channels: usize) -> usize {
        let levels = (1..=self.level as usize).map(|m| self.form.components(m));
        let all = levels.fold(0usize, usize::saturating_add);
        all.saturating_mul(self.features as usize).saturating_add(1)
    }

    fn vectors(&self, set: &SeriesSet, run: &Run) -> Result<Matrix> {
        let (shape, scale) = (self.shape()?, self.scale.resolved(SCALE.name)?);
        let features = Features::of_set(&FourierMap::new(shape, set.channels()), set, run)?;
        Ok(features.weighted_levels(scale, set.len()))
    }
}

impl SigFourier {
    /// What is asked for.
    fn shape(&self) -> Result<Shape> {
        let (levels, features) = (self.level as usize, self.features as usize);
        let sigma = self.sigma.resolved(SIGMA.name)?;
        Ok(Shape { form: self.form, levels, features, sigma, seed: self.seed })
    }
}

/// The random Fourier signature features of all series, one row each, of a kernel `sig_fourier` without `auto`.
///
/// A row has the constant 1, then the features of every level m times `scale^(m/2)`: the kernel is the inner product of
/// two rows. One seed means the same features on every machine, up to rounding.
pub fn fourier_signature_features(set: &SeriesSet, kernel: &Kernel, run: &Run) -> Result<Matrix> {
    kernel.validate()?;
    let Kernel::SigFourier(kernel) = kernel else {
        return Err(Error::bad_param("kernel", kernel, "must be sig_fourier"));
    };
    kernel.vectors(set, run)
}

/// The walk of kernels that differ in level and scale alone: inner products of features, which
/// [`prepare`](Pass::prepare) makes.
struct FourierPass {
    finish: Vec<Finish>,
    shape: Shape,
    made: Option<(FourierMap, Prepared)>,
}

impl Pass for FourierPass {
    fn carries_exponents(&self) -> bool {
        true
    }

    fn kept(&self) -> usize {
        self.shape.levels
    }

    fn prepare(&mut self, sets: Sets<'_>, run: &Run) -> Result<()> {
        let map = FourierMap::new(self.shape, sets.rows().channels());
        let prepared = Prepared::new(&map, sets, run)?;
        self.made = Some((map, prepared));
        Ok(())
    }

    fn walk(&self, tile: &Tile<'_>, kept: &mut [f64]) -> Result<()> {
        if let Some((map, prepared)) = &self.made {
            vectors::walk(map, prepared, tile, kept);
        }
        Ok(())
    }

    fn walk_diagonal(&self, set: &SeriesSet, which: Range<usize>, kept: &mut [f64]) -> Result<()> {
        if let Some((map, prepared)) = &self.made {
            vectors::walk_diagonal(map, prepared, set, which, kept);
        }
        Ok(())
    }

    fn finish(&self, which: usize, kept: &[f64], out: &mut Values<'_>) {
        self.finish[which].apply(kept, None, out);
    }
}
