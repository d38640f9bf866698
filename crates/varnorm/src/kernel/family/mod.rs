//! Kernels, one file per family, named as users name it; and the one list of them.
//!
//! A kernel is a struct of its parameters with an implementation of [`Family`]: all that is known of it. Its serde attributes
//! are `default` (its `Default` says what a parameter is when it is left out) and `deny_unknown_fields`.

mod list;

pub(crate) mod flat;
pub(crate) mod gak;
pub(crate) mod integral;
pub(crate) mod radon;
pub(crate) mod rocket;
pub(crate) mod shares;
pub(crate) mod sig;
pub(crate) mod sig_explicit;
pub(crate) mod sig_fourier;
pub(crate) mod sig_pde;
pub(crate) mod sig_random;
pub(crate) mod vrk;

use crate::data::SeriesSet;
use crate::error::Result;
use crate::kernel::catalogue::KernelInfo;
use crate::kernel::features::{FeatureVectors, InnerProducts};
use crate::kernel::pass::Passes;

list::kernels! {
    flat::FlatLinear,
    flat::FlatRbf,
    flat::FlatPoly,
    integral::IntegralRbf,
    integral::IntegralPoly,
    gak::Gak,
    vrk::Vrk,
    sig_random::SigRandom,
    sig::Sig,
    sig_fourier::SigFourier,
    sig_pde::SigPde,
    sig_explicit::SigExplicit,
    rocket::Rocket,
    radon::Radon,
}

/// What is known of a kernel. Methods without a default are needed; a kernel with [`features`](Family::features) needs no walk
/// of its own.
pub(crate) trait Family: Default + Clone + Send + Sync + 'static {
    /// Its name, formula, words and parameters. The name is that of the struct in snake case.
    const INFO: KernelInfo;

    /// An error that names the parameter, its value and the rule, if one is outside its range.
    fn validate(&self) -> Result<()>;

    /// The same kernel with all that depends on the corpus: `auto` parameters, and whatever else it learns. Called with valid
    /// parameters; a kernel that is resolved already stays as it is.
    fn resolve(&self, _corpus: &SeriesSet) -> Result<Self> {
        Ok(self.clone())
    }

    /// Joins a planned walk over pairs of series of so many channels, or adds one. Called with valid parameters. Without it, the
    /// kernel is the inner product of its features.
    fn plan(&self, _channels: usize, passes: &mut Passes) -> Result<()> {
        passes.add(InnerProducts::new(self.clone()));
        Ok(())
    }

    /// At most how many operations, of a few nanoseconds each, the values of all pairs take.
    fn cost(&self, shape: &Shape) -> f64;

    /// Vectors whose inner products are the values, if they have few enough numbers to be worked with.
    fn features(&self) -> Option<&dyn FeatureVectors> {
        None
    }
}

/// The sizes of two sets of series.
pub(crate) struct Shape {
    /// Row series.
    pub(crate) rows: f64,
    /// Column series.
    pub(crate) columns: f64,
    /// Steps of all row series.
    pub(crate) row_steps: f64,
    /// Steps of all column series.
    pub(crate) column_steps: f64,
    /// Channels of both.
    pub(crate) channels: f64,
}

impl Shape {
    fn new(rows: &SeriesSet, columns: &SeriesSet) -> Self {
        let steps = |set: &SeriesSet| (set.values().len() / set.channels()) as f64;
        Self {
            rows: rows.len() as f64,
            columns: columns.len() as f64,
            row_steps: steps(rows),
            column_steps: steps(columns),
            channels: rows.channels() as f64,
        }
    }

    /// Pairs of series.
    pub(crate) fn pairs(&self) -> f64 {
        self.rows * self.columns
    }

    /// Steps of all series of both sets.
    pub(crate) fn steps(&self) -> f64 {
        self.row_steps + self.column_steps
    }

    /// Steps of all pairs of series of one length.
    pub(crate) fn steps_of_pairs(&self) -> f64 {
        self.row_steps * self.columns
    }

    /// Pairs of points of all pairs of series.
    pub(crate) fn pairs_of_points(&self) -> f64 {
        self.row_steps * self.column_steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_the_catalogue_say_what_the_kernels_are() {
        for info in CATALOGUE {
            let kernel: Kernel = info.name.parse().unwrap();
            assert_eq!(kernel.info(), info);
            let serde_json::Value::Object(json) = serde_json::to_value(&kernel).unwrap() else { panic!() };
            assert_eq!(json["kernel"], info.name);
            for parameter in info.parameters {
                // A parameter that is left out of the form is none, belongs to another choice, or is zero.
                let Some(value) = json.get(parameter.name) else {
                    let default = parameter.default;
                    assert!(parameter.optional || ["auto", "0"].contains(&default), "{}", parameter.name);
                    continue;
                };
                let text = value.as_str().map_or(value.to_string(), String::from);
                assert_eq!(text, parameter.default, "{} of {}", parameter.name, info.name);
                assert!(!parameter.optional, "{} of {}", parameter.name, info.name);
            }
        }
    }
}
