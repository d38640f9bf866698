//! Kernels in words: the catalogue, and the forms that users write (`flat_rbf:sigma=0.7`, or JSON).

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::kernel::Kernel;

/// One parameter of a kernel, described.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct ParameterInfo {
    /// Its name.
    pub name: &'static str,
    /// What it is used when it is left out.
    pub default: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

/// One kernel, described.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct KernelInfo {
    /// Its name, as in JSON.
    pub name: &'static str,
    /// What it compares, in plain words.
    pub words: &'static str,
    /// Its formula.
    pub formula: &'static str,
    /// Whether it takes series of unequal lengths.
    pub any_lengths: bool,
    /// Its parameters.
    pub parameters: &'static [ParameterInfo],
    /// A specification that parses, with every parameter that it needs given.
    pub example: &'static str,
}

/// The degree of a polynomial kernel when none is given.
pub(crate) fn default_degree() -> u32 {
    2
}

/// Whether a parameter has its default of zero and can be left out.
pub(crate) fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// The weight of the past in a reservoir kernel when none is given.
pub(crate) fn default_lambda() -> f64 {
    0.9
}

/// The number of random features when none is given.
pub(crate) fn default_features() -> u32 {
    50
}

/// The number of random Fourier signature features when none is given.
pub(crate) fn default_fourier_features() -> u32 {
    256
}

/// The last level of a signature kernel when none is given.
pub(crate) fn default_level() -> u32 {
    5
}

/// The last level of an explicit signature kernel when none is given.
pub(crate) fn default_explicit_level() -> u32 {
    3
}

/// The order of a signature kernel when none is given.
pub(crate) fn default_order() -> u32 {
    1
}

const SIGMA_SERIES: ParameterInfo = ParameterInfo {
    name: "sigma",
    default: "auto",
    meaning: "bandwidth; auto: median distance of corpus series",
};
const SIGMA_POINTS: ParameterInfo = ParameterInfo {
    name: "sigma",
    default: "auto",
    meaning: "bandwidth; auto: median distance of corpus points at one time",
};
const C_SERIES: ParameterInfo =
    ParameterInfo { name: "c", default: "auto", meaning: "constant >= 0; auto: mean <x,x> of the corpus" };
const C_POINTS: ParameterInfo = ParameterInfo {
    name: "c",
    default: "auto",
    meaning: "constant >= 0; auto: mean <x_t,x_t> of the corpus",
};
const P: ParameterInfo = ParameterInfo { name: "p", default: "2", meaning: "degree, 1 to 32" };
const SIGMA_ALIGNMENT: ParameterInfo = ParameterInfo {
    name: "sigma",
    default: "auto",
    meaning: "bandwidth; auto: median distance of corpus points times sqrt(mean length)",
};
const BAND: ParameterInfo =
    ParameterInfo { name: "band", default: "none", meaning: "steps an alignment may leave the diagonal by" };
const FLOOR: ParameterInfo =
    ParameterInfo { name: "floor", default: "0", meaning: "k/(2-k) is at least this; published: 1e-10" };
const TAU: ParameterInfo = ParameterInfo {
    name: "tau",
    default: "auto",
    meaning: "needs tau |x_t| < 1; auto: 0.5 / the longest corpus point",
};
const LAMBDA: ParameterInfo =
    ParameterInfo { name: "lambda", default: "0.9", meaning: "weight of the past, above 0 and at most 1" };
const CLIP: ParameterInfo = ParameterInfo {
    name: "clip",
    default: "none",
    meaning: "points longer than clip/tau are shortened to it (0 < clip < 1); none: an error",
};
const FEATURES: ParameterInfo =
    ParameterInfo { name: "features", default: "50", meaning: "number of random features" };
const VARIANCE: ParameterInfo = ParameterInfo {
    name: "variance",
    default: "auto",
    meaning: "variance of the entries of the random matrices; auto: 1 / features",
};
const SEED: ParameterInfo =
    ParameterInfo { name: "seed", default: "0", meaning: "seed of the random matrices" };

const LEVEL: ParameterInfo = ParameterInfo { name: "level", default: "5", meaning: "last level, 1 to 32" };
const LIFT: ParameterInfo =
    ParameterInfo { name: "lift", default: "linear", meaning: "static kernel of the points: linear or rbf" };
const SIGMA_LIFT: ParameterInfo = ParameterInfo {
    name: "sigma",
    default: "auto",
    meaning: "bandwidth of the rbf lift; auto: median distance of corpus points",
};
const SIGNATURE: &[ParameterInfo] = &[
    LEVEL,
    ParameterInfo {
        name: "order",
        default: "1",
        meaning: "most uses of one increment, 1 (fastest) to level (exact for piecewise linear paths)",
    },
    LIFT,
    SIGMA_LIFT,
    ParameterInfo {
        name: "scale",
        default: "auto",
        meaning: "factor of the lifted kernel; auto: 1 / channels (linear) or 1 (rbf)",
    },
    ParameterInfo {
        name: "compat",
        default: "none",
        meaning: "published: 1 + the last level alone, to reproduce published numbers",
    },
];

const UNTRUNCATED: &[ParameterInfo] = &[
    LIFT,
    SIGMA_LIFT,
    ParameterInfo {
        name: "scale",
        default: "auto",
        meaning: "factor of the lifted kernel; auto: 1 / the median of max_t |x_t - x_0|^2 (linear) or 1 (rbf)",
    },
    ParameterInfo {
        name: "tolerance",
        default: "1e-8",
        meaning: "relative accuracy, 1e-13 to 0.1, by grids or polynomials as fine as it takes",
    },
    ParameterInfo {
        name: "dyadic",
        default: "none",
        meaning: "instead of tolerance: the published scheme with every cell halved so many times, 0 to 10",
    },
];

/// Every kernel there is. Contract tests run over the examples.
pub const CATALOGUE: &[KernelInfo] = &[
    KernelInfo {
        name: "flat_linear",
        words: "the inner product of two series, all values in one row",
        formula: "<x,y>",
        any_lengths: false,
        parameters: &[],
        example: "flat_linear",
    },
    KernelInfo {
        name: "flat_rbf",
        words: "nearness of two series as a whole: 1 for equal ones, falling with their distance",
        formula: "exp(-|x-y|^2 / (2 sigma^2))",
        any_lengths: false,
        parameters: &[SIGMA_SERIES],
        example: "flat_rbf:sigma=3",
    },
    KernelInfo {
        name: "flat_poly",
        words: "the inner product of two series, raised to a power: products of several values count too",
        formula: "(<x,y> + c)^p",
        any_lengths: false,
        parameters: &[C_SERIES, P],
        example: "flat_poly:c=1,p=3",
    },
    KernelInfo {
        name: "integral_rbf",
        words: "nearness of two series moment by moment, averaged over time",
        formula: "integral of exp(-|x_t-y_t|^2 / (2 sigma^2)) dt",
        any_lengths: false,
        parameters: &[SIGMA_POINTS],
        example: "integral_rbf:sigma=0.7",
    },
    KernelInfo {
        name: "integral_poly",
        words: "the inner product of two series moment by moment, raised to a power and averaged over time",
        formula: "integral of (<x_t,y_t> + c)^p dt",
        any_lengths: false,
        parameters: &[C_POINTS, P],
        example: "integral_poly:c=0.5,p=2",
    },
    KernelInfo {
        name: "gak",
        words: "nearness of two series under every way of aligning their times (global alignment)",
        formula: "sum over alignments of prod k/(2-k), k = exp(-|x_s-y_t|^2 / (2 sigma^2))",
        any_lengths: true,
        parameters: &[SIGMA_ALIGNMENT, BAND, FLOOR],
        example: "gak:sigma=3",
    },
    KernelInfo {
        name: "vrk",
        words: "what an echo of all the past would remember of both series (Volterra reservoir)",
        formula: "1 + sum_k prod_{t<k} lambda^2 / (1 - tau^2 <x_{T-t}, y_{T-t}>)",
        any_lengths: false,
        parameters: &[TAU, LAMBDA, CLIP],
        example: "vrk:tau=0.1,lambda=0.9,clip=0.9",
    },
    KernelInfo {
        name: "sig_random",
        words: "what random networks driven by both series end in (randomised signature)",
        formula: "<Z(x), Z(y)> / features, dZ = sum_i tanh(A_i Z + b_i) dx^i, A and b random",
        any_lengths: true,
        parameters: &[FEATURES, VARIANCE, SEED],
        example: "sig_random:features=8,variance=0.1,seed=0",
    },
    KernelInfo {
        name: "sig",
        words: "the order in which the channels of two series move, up to a level (truncated signature)",
        formula: "sum over m = 0..level of scale^m <S_m(x), S_m(y)>",
        any_lengths: true,
        parameters: SIGNATURE,
        example: "sig:level=4,order=1,lift=rbf,sigma=1.3,scale=0.5",
    },
    KernelInfo {
        name: "sig_fourier",
        words: "the kernel sig with order 1 and lift rbf, by random features: fast for many and long series",
        formula: "sum over m = 0..level of scale^m <F_m(x), F_m(y)>, F_m random; on average sig:order=1,lift=rbf",
        any_lengths: true,
        parameters: &[
            LEVEL,
            ParameterInfo {
                name: "features",
                default: "256",
                meaning: "random features of a level, 1 to 4096; the error falls like 1 / sqrt(features)",
            },
            ParameterInfo {
                name: "form",
                default: "tensor",
                meaning: "tensor: projected to features per level; diagonal: 2^m times features at level m",
            },
            SIGMA_LIFT,
            ParameterInfo { name: "scale", default: "auto", meaning: "factor of the lifted kernel; auto: 1" },
            ParameterInfo { name: "seed", default: "0", meaning: "seed of the random numbers" },
        ],
        example: "sig_fourier:level=3,features=16,sigma=1.3,scale=0.5,seed=0",
    },
    KernelInfo {
        name: "sig_pde",
        words: "the order in which the channels of two series move, at all levels (untruncated signature)",
        formula: "sum over all m of scale^m <S_m(x), S_m(y)>, as the solution of u_st = z u",
        any_lengths: true,
        parameters: UNTRUNCATED,
        example: "sig_pde:lift=rbf,sigma=1.3,scale=0.5",
    },
    KernelInfo {
        name: "sig_explicit",
        words: "the order in which the channels of two series move, as a list of features (signature)",
        formula: "sum over m = 0..level of scale^m <S_m(x), S_m(y)>, from the d + .. + d^level features S",
        any_lengths: true,
        parameters: &[
            ParameterInfo { name: "level", default: "3", meaning: "last level, 1 to 32; few channels only" },
            ParameterInfo {
                name: "scale",
                default: "auto",
                meaning: "factor of the inner product of increments; auto: 1 / channels",
            },
        ],
        example: "sig_explicit:level=2,scale=0.5",
    },
];

impl Kernel {
    /// Its name, as in JSON.
    pub fn name(&self) -> &'static str {
        let json = serde_json::to_value(self).unwrap_or_default();
        let name = json.get("kernel").and_then(Value::as_str).unwrap_or("");
        CATALOGUE.iter().find(|info| info.name == name).map_or("", |info| info.name)
    }
}

impl std::str::FromStr for Kernel {
    type Err = Error;

    /// `name`, `name:parameter=value,...` or the JSON object.
    fn from_str(text: &str) -> Result<Self> {
        let object =
            if text.trim_start().starts_with('{') { json_object(text)? } else { short_object(text)? };
        check_names(&object)?;
        let kernel: Self = serde_json::from_value(Value::Object(object))
            .map_err(|e| Error::bad_param("kernel", text, e.to_string()))?;
        kernel.validate()?;
        Ok(kernel)
    }
}

fn json_object(text: &str) -> Result<Map<String, Value>> {
    serde_json::from_str(text)
        .map_err(|e| Error::bad_param("kernel", text, format!("is not valid JSON: {e}")))
}

fn short_object(text: &str) -> Result<Map<String, Value>> {
    let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
    let mut object = Map::new();
    object.insert("kernel".into(), name.trim().into());
    for part in parameters.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let Some((key, value)) = part.split_once('=') else {
            return Err(Error::bad_param(
                "kernel",
                text,
                format!("`{part}` is not of the form parameter=value"),
            ));
        };
        // A number if it is one, a word such as `auto` otherwise.
        let value = serde_json::from_str(value.trim()).unwrap_or_else(|_| value.trim().into());
        if object.insert(key.trim().into(), value).is_some() {
            return Err(Error::bad_param("kernel", text, format!("`{}` is given twice", key.trim())));
        }
    }
    Ok(object)
}

fn check_names(object: &Map<String, Value>) -> Result<()> {
    let name = object.get("kernel").and_then(Value::as_str).unwrap_or("");
    let Some(info) = CATALOGUE.iter().find(|info| info.name == name) else {
        let known: Vec<&str> = CATALOGUE.iter().map(|info| info.name).collect();
        return Err(Error::bad_param(
            "kernel",
            name,
            format!("is not a kernel; choose one of {}", known.join(", ")),
        ));
    };
    for key in object.keys().filter(|key| *key != "kernel") {
        if !info.parameters.iter().any(|p| p.name == key) {
            let known: Vec<&str> = info.parameters.iter().map(|p| p.name).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            return Err(Error::bad_param(
                key,
                &object[key],
                format!("{name} has no such parameter; it has: {known}"),
            ));
        }
    }
    Ok(())
}

impl std::fmt::Display for Kernel {
    /// The short form: `flat_rbf:sigma=0.7`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Ok(Value::Object(object)) = serde_json::to_value(self) else { return Err(std::fmt::Error) };
        f.write_str(object.get("kernel").and_then(Value::as_str).unwrap_or(""))?;
        for (i, (key, value)) in object.iter().filter(|(key, _)| *key != "kernel").enumerate() {
            let mark = if i == 0 { ':' } else { ',' };
            match value {
                Value::String(word) => write!(f, "{mark}{key}={word}")?,
                number => write!(f, "{mark}{key}={number}")?,
            }
        }
        Ok(())
    }
}
