//! Kernels: plain data that says which inner product of time series is meant.
//!
//! [`Kernel`] is what users write, save and send: the same JSON in configurations, model files, reports and
//! other languages. How values are computed is private: a `Pass` walks over pairs of series once for all kernels
//! that can share the walk.
//!
//! To add a kernel: 1. a file with its `Pass`; 2. a variant of [`Kernel`] and an arm in `pass::plan`; 3. a row in
//! [`CATALOGUE`]. The program, the contract tests and the documentation pick it up from there.

mod auto;
mod catalogue;
pub(crate) mod drive;
mod family;
mod goursat;
pub(crate) mod pass;
mod points;

pub use family::sig_explicit::{signature_feature_names, signature_features};

pub use catalogue::{CATALOGUE, KernelInfo, ParameterInfo};
pub use family::sig::{Compat, Lift};
pub use family::sig_fourier::{Form, fourier_signature_features};
pub use family::sig_random::random_signature;
pub use family::vrk::{Clip, NamedClip};

use serde::{Deserialize, Serialize};

use family::{sig, sig_fourier, sig_pde, sig_random};

use crate::data::SeriesSet;
use crate::error::{Error, Result};

/// A kernel parameter: a number, or `auto`, which is worked out from the corpus.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Parameter {
    /// Worked out from the corpus when a model is fitted.
    #[default]
    Auto,
    /// Taken literally.
    Value(f64),
}

impl Parameter {
    /// The same, with `auto` worked out.
    fn or_else(self, auto: impl FnOnce() -> f64) -> Self {
        match self {
            Self::Auto => Self::Value(auto()),
            given => given,
        }
    }

    /// The number, or an error when it is still `auto`.
    pub(crate) fn resolved(self, name: &str) -> Result<f64> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Auto => {
                Err(Error::bad_param(name, "auto", "is worked out from a corpus; call Kernel::resolve first"))
            }
        }
    }
}

impl std::str::FromStr for Parameter {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text.trim() {
            "auto" => Ok(Self::Auto),
            number => number.parse().map(Self::Value).map_err(|_| "must be a number or auto".into()),
        }
    }
}

impl Serialize for Parameter {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Value(value) => serializer.serialize_f64(*value),
        }
    }
}

impl<'de> Deserialize<'de> for Parameter {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a number or \"auto\"")]
        enum Text {
            Number(f64),
            Word(String),
        }
        match Text::deserialize(deserializer)? {
            Text::Number(value) => Ok(Self::Value(value)),
            Text::Word(word) if word == "auto" => Ok(Self::Auto),
            Text::Word(word) => {
                Err(serde::de::Error::custom(format!("\"{word}\" is neither a number nor \"auto\"")))
            }
        }
    }
}

/// Which kernel, with its parameters. A parameter left out is `auto` (degree `p`: 2).
///
/// ```
/// use varnorm::Kernel;
/// let kernel: Kernel = "flat_rbf:sigma=0.7".parse().unwrap();
/// assert_eq!(serde_json::to_string(&kernel).unwrap(), r#"{"kernel":"flat_rbf","sigma":0.7}"#);
/// assert_eq!(r#"{"kernel":"flat_rbf","sigma":0.7}"#.parse::<Kernel>().unwrap(), kernel);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kernel", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Kernel {
    /// `<x,y>` of the flattened series.
    FlatLinear {},
    /// `exp(-|x-y|^2 / (2 sigma^2))` of the flattened series.
    FlatRbf {
        /// Bandwidth; `auto` is the median distance between corpus series.
        #[serde(default)]
        sigma: Parameter,
    },
    /// `(<x,y> + c)^p` of the flattened series.
    FlatPoly {
        /// Constant; `auto` is the mean of `<x,x>` over the corpus.
        #[serde(default)]
        c: Parameter,
        /// Degree.
        #[serde(default = "catalogue::default_degree")]
        p: u32,
    },
    /// The integral over time of `exp(-|x_t-y_t|^2 / (2 sigma^2))`.
    IntegralRbf {
        /// Bandwidth; `auto` is the median distance between corpus points of one time step.
        #[serde(default)]
        sigma: Parameter,
    },
    /// The integral over time of `(<x_t,y_t> + c)^p`.
    IntegralPoly {
        /// Constant; `auto` is the mean of `<x_t,x_t>` over the corpus.
        #[serde(default)]
        c: Parameter,
        /// Degree.
        #[serde(default = "catalogue::default_degree")]
        p: u32,
    },
    /// The global alignment kernel: the sum over alignments of products of `k / (2 - k)`, k an RBF kernel of points.
    Gak {
        /// Bandwidth; `auto` is the median distance of corpus points times the square root of the mean length.
        #[serde(default)]
        sigma: Parameter,
        /// Steps that an alignment may leave the diagonal by; without limit when left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        band: Option<u32>,
        /// `k / (2 - k)` is at least this: 0, or from 1e-100 to 1 (the published experiments have 1e-10).
        #[serde(default, skip_serializing_if = "catalogue::is_zero")]
        floor: f64,
    },
    /// The Volterra reservoir kernel: `1 + sum_k prod_{t<k} lambda^2 / (1 - tau^2 <x_{T-t}, y_{T-t}>)`.
    Vrk {
        /// Needs `tau |x_t| < 1` at every step; `auto` is half of the reciprocal of the longest corpus point.
        #[serde(default)]
        tau: Parameter,
        /// Weight of the past, above 0 and at most 1.
        #[serde(default = "catalogue::default_lambda")]
        lambda: f64,
        /// What to do with points outside the domain; an error when left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        clip: Option<Clip>,
    },
    /// The randomised signature: the inner product of random features, divided by their number.
    SigRandom {
        /// Number of features.
        #[serde(default = "catalogue::default_features")]
        features: u32,
        /// Variance of the entries of the random matrices; `auto` is one over the number of features.
        #[serde(default)]
        variance: Parameter,
        /// Seed of the random matrices.
        #[serde(default)]
        seed: u64,
    },
    /// The truncated signature kernel: the sum over levels m of `scale^m <S_m(x), S_m(y)>`.
    Sig {
        /// The last level, 1 to 32.
        #[serde(default = "catalogue::default_level")]
        level: u32,
        /// Most uses of one increment, 1 to `level`: 1 is fastest, `level` is exact for piecewise linear paths.
        #[serde(default = "catalogue::default_order")]
        order: u32,
        /// The static kernel that lifts the points.
        #[serde(default)]
        lift: Lift,
        /// Bandwidth of the RBF lift; `auto` is the median distance between corpus points.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sigma: Option<Parameter>,
        /// Factor of the lifted kernel; `auto` is 1 over the number of channels (linear) or 1 (RBF).
        #[serde(default)]
        scale: Parameter,
        /// Only to reproduce published numbers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        compat: Option<Compat>,
    },
    /// Random Fourier signature features: on average over the seeds the kernel `sig` with `order = 1` and `lift = rbf`.
    SigFourier {
        /// The last level, 1 to 32.
        #[serde(default = "catalogue::default_level")]
        level: u32,
        /// Random features of a level (`tensor`), or copies of `2^m` features of level m (`diagonal`).
        #[serde(default = "catalogue::default_fourier_features")]
        features: u32,
        /// How the features of a level are made.
        #[serde(default)]
        form: Form,
        /// Bandwidth of the RBF lift; `auto` is the median distance between corpus points.
        #[serde(default)]
        sigma: Parameter,
        /// Factor of the lifted kernel; `auto` is 1.
        #[serde(default)]
        scale: Parameter,
        /// Seed of the random numbers.
        #[serde(default)]
        seed: u64,
    },
    /// The untruncated signature kernel: the sum over all levels m of `scale^m <S_m(x), S_m(y)>`.
    SigPde {
        /// The static kernel that lifts the points.
        #[serde(default)]
        lift: Lift,
        /// Bandwidth of the RBF lift; `auto` is the median distance between corpus points.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sigma: Option<Parameter>,
        /// Factor of the lifted kernel; `auto` is 1 (RBF), or 1 over the median of `max_t |x_t - x_0|^2` (linear).
        #[serde(default)]
        scale: Parameter,
        /// Instead of a tolerance: cells are halved so many times along both sides for the published scheme.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dyadic: Option<u32>,
        /// Relative accuracy; `1e-8` when neither it nor `dyadic` is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tolerance: Option<f64>,
    },
    /// The truncated signature kernel from signatures as feature vectors; exact for piecewise linear paths.
    SigExplicit {
        /// The last level.
        #[serde(default = "catalogue::default_explicit_level")]
        level: u32,
        /// Factor of the inner product of increments; `auto` is 1 over the number of channels.
        #[serde(default)]
        scale: Parameter,
    },
}

impl Default for Kernel {
    /// The flat RBF kernel with the median bandwidth.
    fn default() -> Self {
        Self::FlatRbf { sigma: Parameter::Auto }
    }
}

impl Kernel {
    /// An error that names the parameter, its value and the rule, if one is outside its domain.
    pub fn validate(&self) -> Result<()> {
        match self {
            Self::FlatLinear {} => Ok(()),
            Self::FlatRbf { sigma } | Self::IntegralRbf { sigma } => positive("sigma", *sigma),
            Self::Gak { floor, .. } if *floor != 0.0 && !(1e-100..=1.0).contains(floor) => {
                Err(Error::bad_param("floor", floor, "must be 0, or from 1e-100 to 1"))
            }
            Self::Gak { sigma, .. } => positive("sigma", *sigma),
            Self::Vrk { tau, lambda, clip } => positive("tau", *tau).and(reservoir(*lambda, *clip)),
            Self::SigRandom { features, variance, .. } => match variance {
                Parameter::Auto => sig_random::validate(*features, 0.0),
                Parameter::Value(variance) => sig_random::validate(*features, *variance),
            },
            Self::FlatPoly { c, p } | Self::IntegralPoly { c, p } => non_negative("c", *c).and(degree(*p)),
            Self::Sig { level, order, lift, sigma, scale, .. } => {
                signature_level(*level)?;
                if !(1..=*level).contains(order) {
                    return Err(Error::bad_param(
                        "order",
                        order,
                        format!("must be from 1 to the level, {level}"),
                    ));
                }
                lifted(*lift, *sigma).and(positive("scale", *scale))
            }
            Self::SigPde { lift, sigma, scale, dyadic, tolerance } => {
                lifted(*lift, *sigma).and(positive("scale", *scale)).and(accuracy(*dyadic, *tolerance))
            }
            Self::SigExplicit { level, scale } => signature_level(*level).and(positive("scale", *scale)),
            Self::SigFourier { level, features, form, sigma, scale, .. } => signature_level(*level)
                .and(sig_fourier::validate(*level, *features, *form))
                .and(positive("sigma", *sigma))
                .and(positive("scale", *scale)),
        }
    }

    /// The same kernel with every `auto` worked out from the corpus; see the parameters for how.
    pub fn resolve(&self, corpus: &SeriesSet) -> Result<Self> {
        self.validate()?;
        Ok(match self {
            Self::FlatRbf { sigma: Parameter::Auto } => {
                Self::FlatRbf { sigma: Parameter::Value(auto::median_series_distance(corpus)?) }
            }
            Self::IntegralRbf { sigma: Parameter::Auto } => {
                Self::IntegralRbf { sigma: Parameter::Value(auto::median_point_distance(corpus)?) }
            }
            Self::FlatPoly { c: Parameter::Auto, p } => {
                Self::FlatPoly { c: Parameter::Value(auto::mean_series_square(corpus)), p: *p }
            }
            Self::IntegralPoly { c: Parameter::Auto, p } => {
                Self::IntegralPoly { c: Parameter::Value(auto::mean_point_square(corpus)), p: *p }
            }
            Self::Gak { sigma: Parameter::Auto, band, floor } => {
                let sigma = Parameter::Value(auto::alignment_bandwidth(corpus));
                Self::Gak { sigma, band: *band, floor: *floor }
            }
            Self::Vrk { tau: Parameter::Auto, lambda, clip } => {
                let tau = Parameter::Value(auto::reservoir_scale(corpus));
                Self::Vrk { tau, lambda: *lambda, clip: *clip }
            }
            Self::SigRandom { features, variance: Parameter::Auto, seed } => {
                let variance = Parameter::Value(1.0 / f64::from(*features));
                Self::SigRandom { features: *features, variance, seed: *seed }
            }
            Self::Sig { level, order, lift, sigma, scale, compat } => {
                let (sigma, unit) = match lift {
                    Lift::Linear => (None, 1.0 / corpus.channels() as f64),
                    Lift::Rbf => {
                        let sigma = sigma.unwrap_or_default();
                        (Some(sigma.or_else(|| auto::median_distance_of_points(corpus))), 1.0)
                    }
                };
                let scale = scale.or_else(|| unit);
                Self::Sig { level: *level, order: *order, lift: *lift, sigma, scale, compat: *compat }
            }
            Self::SigPde { lift, sigma, scale, dyadic, tolerance } => {
                let (sigma, scale) = match lift {
                    Lift::Linear => (None, scale.or_else(|| auto::path_scale(corpus))),
                    Lift::Rbf => {
                        let sigma = sigma.unwrap_or_default();
                        let sigma = sigma.or_else(|| auto::median_distance_of_points(corpus));
                        (Some(sigma), scale.or_else(|| 1.0))
                    }
                };
                Self::SigPde { lift: *lift, sigma, scale, dyadic: *dyadic, tolerance: *tolerance }
            }
            Self::SigExplicit { level, scale } => {
                let scale = scale.or_else(|| 1.0 / corpus.channels() as f64);
                Self::SigExplicit { level: *level, scale }
            }
            Self::SigFourier { level, features, form, sigma, scale, seed } => Self::SigFourier {
                level: *level,
                features: *features,
                form: *form,
                sigma: sigma.or_else(|| auto::median_distance_of_points(corpus)),
                scale: scale.or_else(|| 1.0),
                seed: *seed,
            },
            resolved => resolved.clone(),
        })
    }
}

fn positive(name: &str, parameter: Parameter) -> Result<()> {
    match parameter {
        Parameter::Value(v) if !(v > 0.0 && v.is_finite()) => {
            Err(Error::bad_param(name, v, "must be a positive number or auto"))
        }
        _ => Ok(()),
    }
}

fn non_negative(name: &str, parameter: Parameter) -> Result<()> {
    match parameter {
        Parameter::Value(v) if !(v >= 0.0 && v.is_finite()) => Err(Error::bad_param(
            name,
            v,
            "must be zero, a positive number or auto (a negative constant is not positive definite)",
        )),
        _ => Ok(()),
    }
}

fn reservoir(lambda: f64, clip: Option<Clip>) -> Result<()> {
    if !(lambda > 0.0 && lambda <= 1.0) {
        return Err(Error::bad_param("lambda", lambda, "must be above 0 and at most 1"));
    }
    match clip {
        Some(Clip::Ball(share)) if !(share > 0.0 && share < 1.0) => {
            Err(Error::bad_param("clip", share, "must be between 0 and 1, or \"published\""))
        }
        _ => Ok(()),
    }
}

fn lifted(lift: Lift, sigma: Option<Parameter>) -> Result<()> {
    match (lift, sigma) {
        (Lift::Linear, Some(_)) => {
            Err(Error::bad_param("sigma", "given", "belongs to lift=rbf; the linear lift has none"))
        }
        (_, sigma) => positive("sigma", sigma.unwrap_or_default()),
    }
}

fn accuracy(dyadic: Option<u32>, tolerance: Option<f64>) -> Result<()> {
    const MOST: u32 = sig_pde::MOST_DYADIC;
    match (dyadic, tolerance) {
        (Some(_), Some(tolerance)) => Err(Error::bad_param(
            "tolerance",
            tolerance,
            "give either a tolerance or a dyadic order, not both",
        )),
        (Some(n), _) if n > MOST => {
            Err(Error::bad_param("dyadic", n, format!("must be a dyadic order from 0 to {MOST}")))
        }
        (_, Some(tolerance)) if !(1e-13..=0.1).contains(&tolerance) => {
            Err(Error::bad_param("tolerance", tolerance, "must be from 1e-13 to 0.1"))
        }
        _ => Ok(()),
    }
}

fn signature_level(level: u32) -> Result<()> {
    if (1..=sig::MOST_LEVELS).contains(&level) {
        Ok(())
    } else {
        Err(Error::bad_param("level", level, "must be a level from 1 to 32"))
    }
}

fn degree(p: u32) -> Result<()> {
    if (1..=32).contains(&p) {
        Ok(())
    } else {
        Err(Error::bad_param("p", p, "must be a degree from 1 to 32"))
    }
}

/// `-1 / (2 sigma^2)`, in a form that does not overflow before its result does.
fn rbf_factor(sigma: f64) -> f64 {
    -0.5 / sigma / sigma
}

/// `base^exponent` of every lane, by squaring: the same bits in every lane and on every path.
#[inline(always)]
fn powers<const N: usize>(bases: [f64; N], exponent: u32) -> [f64; N] {
    let (mut results, mut squares, mut left) = ([1.0; N], bases, exponent);
    while left > 0 {
        for lane in 0..N {
            if left & 1 == 1 {
                results[lane] *= squares[lane];
            }
            squares[lane] *= squares[lane];
        }
        left >>= 1;
    }
    results
}
