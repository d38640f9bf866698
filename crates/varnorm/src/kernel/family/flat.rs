//! Flat kernels: a static kernel on the flattened series in R^(T d).
//!
//! # Formula
//! linear `<x,y>`, RBF `exp(-|x-y|^2 / (2 sigma^2))`, polynomial `(<x,y> + c)^p` (paper, section 5.1.1).
//!
//! # Cost
//! `T d` multiply-adds per pair: one matrix product.
//!
//! # What it shares
//! `<x,y>` gives linear and polynomial for all (c, p); `|x-y|^2 = |x|^2 + |y|^2 - 2<x,y>` gives RBF for all sigma.
//! Where that difference has lost more than three digits it is computed again, directly.
//!
//! # Example
//! ```
//! use varnorm::{Kernel, Run, SeriesSet, gram};
//! let set = SeriesSet::from_equal(vec![0.0, 0.0, 3.0, 4.0], 2, 1).unwrap();
//! let rbf: Kernel = "flat_rbf:sigma=5".parse().unwrap();
//! let k = gram::gram(&rbf, &set, gram::Scaling::Raw, &Run::sequential()).unwrap();
//! assert!((k.matrix.get(0, 1) - (-0.5f64).exp()).abs() < 1e-15);
//! ```

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::data::SeriesSet;
use crate::error::Result;
use crate::kernel::family::{Family, Shape};
use crate::kernel::features::FeatureVectors;
use crate::kernel::pass::{Pass, Passes, Sets, Tile, Values, require_equal_lengths};
use crate::kernel::{KernelInfo, Parameter, ParameterInfo, ParameterRange, auto, powers, rbf_factor};
use crate::linalg::matrix::Matrix;
use crate::linalg::product::{Vectors, distances_in_place, inner_products_of, squares};
use crate::run::Run;
use crate::simd::{Isa, W, Work, dispatch, exp};

/// `<x,y>` of the flattened series.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FlatLinear {}

/// `exp(-|x-y|^2 / (2 sigma^2))` of the flattened series.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FlatRbf {
    /// Bandwidth; `auto` is the median distance between corpus series.
    pub sigma: Parameter,
}

/// `(<x,y> + c)^p` of the flattened series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FlatPoly {
    /// Constant; `auto` is the mean of `<x,x>` over the corpus.
    pub c: Parameter,
    /// Degree.
    pub p: u32,
}

impl Default for FlatPoly {
    fn default() -> Self {
        Self { c: Parameter::Auto, p: 2 }
    }
}

const SIGMA: ParameterInfo = ParameterInfo::number(
    "sigma",
    ParameterRange::Positive,
    "auto",
    "bandwidth; auto: median distance of corpus series",
);
const C: ParameterInfo =
    ParameterInfo::number("c", CONSTANT, "auto", "constant >= 0; auto: mean <x,x> of the corpus");

/// The range of a polynomial kernel's constant.
pub(super) const CONSTANT: ParameterRange =
    ParameterRange::NonNegative(" (a negative constant is not positive definite)");
/// The degree of a polynomial kernel.
pub(super) const P: ParameterInfo =
    ParameterInfo::whole("p", ParameterRange::Between("a degree ", 1.0, 32.0), "2", "degree, 1 to 32");

/// One matrix product for all flat kernels.
fn cost(shape: &Shape) -> f64 {
    shape.steps_of_pairs() * shape.channels
}

impl Family for FlatLinear {
    const INFO: KernelInfo = KernelInfo {
        name: "flat_linear",
        words: "the inner product of two series, all values in one row",
        formula: "<x,y>",
        any_lengths: false,
        parameters: &[],
        example: "flat_linear",
    };

    fn validate(&self) -> Result<()> {
        Ok(())
    }

    fn plan(&self, _channels: usize, passes: &mut Passes) -> Result<()> {
        FlatPass::join(passes, Finish::Linear);
        Ok(())
    }

    fn cost(&self, shape: &Shape) -> f64 {
        cost(shape)
    }

    fn features(&self) -> Option<&dyn FeatureVectors> {
        Some(self)
    }
}

impl FeatureVectors for FlatLinear {
    fn width(&self, steps: usize, channels: usize) -> usize {
        steps * channels
    }

    fn vectors(&self, set: &SeriesSet, _run: &Run) -> Result<Matrix> {
        let steps = set.require_equal_length(
            "the kernel flat_linear",
            "bring them to one length with the preparation step `resample`",
        )?;
        let shaped = Matrix::from_values(set.len(), steps * set.channels(), set.values().to_vec());
        Ok(shaped.unwrap_or_else(|| Matrix::zeros(0, 0)))
    }
}

impl Family for FlatRbf {
    const INFO: KernelInfo = KernelInfo {
        name: "flat_rbf",
        words: "nearness of two series as a whole: 1 for equal ones, falling with their distance",
        formula: "exp(-|x-y|^2 / (2 sigma^2))",
        any_lengths: false,
        parameters: &[SIGMA],
        example: "flat_rbf:sigma=3",
    };

    fn validate(&self) -> Result<()> {
        SIGMA.check_given(self.sigma)
    }

    fn resolve(&self, corpus: &SeriesSet) -> Result<Self> {
        Ok(Self { sigma: self.sigma.or_try(|| auto::median_series_distance(corpus))? })
    }

    fn plan(&self, _channels: usize, passes: &mut Passes) -> Result<()> {
        FlatPass::join(passes, Finish::Rbf { factor: rbf_factor(self.sigma.resolved("sigma")?) });
        Ok(())
    }

    fn cost(&self, shape: &Shape) -> f64 {
        cost(shape)
    }
}

impl Family for FlatPoly {
    const INFO: KernelInfo = KernelInfo {
        name: "flat_poly",
        words: "the inner product of two series, raised to a power: products of several values count too",
        formula: "(<x,y> + c)^p",
        any_lengths: false,
        parameters: &[C, P],
        example: "flat_poly:c=1,p=3",
    };

    fn validate(&self) -> Result<()> {
        C.check_given(self.c).and(P.check(self.p))
    }

    fn resolve(&self, corpus: &SeriesSet) -> Result<Self> {
        Ok(Self { c: self.c.or_else(|| auto::mean_series_square(corpus)), ..*self })
    }

    fn plan(&self, _channels: usize, passes: &mut Passes) -> Result<()> {
        FlatPass::join(passes, Finish::Poly { c: self.c.resolved("c")?, p: self.p });
        Ok(())
    }

    fn cost(&self, shape: &Shape) -> f64 {
        cost(shape)
    }
}

enum Finish {
    Linear,
    Rbf { factor: f64 },
    Poly { c: f64, p: u32 },
}

/// The walk of all flat kernels. Keeps `<x,y>`, and `|x-y|^2` where an RBF kernel wants it.
#[derive(Default)]
struct FlatPass {
    finish: Vec<Finish>,
    wants_distance: bool,
    /// `|x|^2` of every row series, where a distance is wanted.
    row_squares: Vec<f64>,
    /// `|y|^2` of every column series, likewise.
    column_squares: Vec<f64>,
}

impl FlatPass {
    /// All flat kernels share one walk.
    fn join(passes: &mut Passes, finish: Finish) {
        let join = |pass: &mut Self| {
            pass.wants_distance |= matches!(finish, Finish::Rbf { .. });
            pass.finish.push(finish);
        };
        passes.join(|_| true, Self::default, join);
    }
}

impl Pass for FlatPass {
    fn check(&self, sets: Sets<'_>) -> Result<()> {
        require_equal_lengths("a flat kernel", sets)
    }

    fn kept(&self) -> usize {
        1 + usize::from(self.wants_distance)
    }

    fn walk(&self, tile: &Tile<'_>, kept: &mut [f64]) -> Result<()> {
        let depth = tile.row_set().series(tile.rows.start).values().len();
        let rows = &tile.row_set().values()[tile.rows.start * depth..tile.rows.end * depth];
        let columns = &tile.column_set().values()[tile.columns.start * depth..tile.columns.end * depth];
        let (products, distances) = kept.split_at_mut(tile.pairs());
        let (a, b) = (Vectors::new(rows, depth), Vectors::new(columns, depth));
        inner_products_of(a, b, tile.wanted(0, 0), products, tile.columns.len());
        if self.wants_distance {
            let squares = [&self.row_squares[tile.rows.clone()], &self.column_squares[tile.columns.clone()]];
            distances.copy_from_slice(products);
            distances_in_place([a, b], squares, tile.wanted(0, 0), distances, tile.columns.len());
        }
        Ok(())
    }

    fn prepare(&mut self, sets: Sets<'_>, _run: &Run) -> Result<()> {
        if self.wants_distance {
            self.row_squares = squares_of(sets.rows());
            self.column_squares = squares_of(sets.columns());
        }
        Ok(())
    }

    fn walk_diagonal(&self, set: &SeriesSet, which: Range<usize>, kept: &mut [f64]) -> Result<()> {
        let depth = set.series(which.start).values().len();
        let rows = &set.values()[which.start * depth..which.end * depth];
        squares(Vectors::new(rows, depth), kept);
        // Distances from itself.
        kept[which.len()..].fill(0.0);
        Ok(())
    }

    fn finish(&self, which: usize, kept: &[f64], out: &mut Values<'_>) {
        let out = &mut *out.mantissas;
        let (products, distances) = kept.split_at(out.len());
        match self.finish[which] {
            Finish::Linear => out.copy_from_slice(products),
            Finish::Rbf { factor } => dispatch(Rbf { factor, distances, out }),
            Finish::Poly { c, p } => {
                for (o, product) in out.iter_mut().zip(products) {
                    [*o] = powers([product + c], p);
                }
            }
        }
    }
}

fn squares_of(set: &SeriesSet) -> Vec<f64> {
    let mut found = vec![0.0; set.len()];
    squares(Vectors::new(set.values(), set.series(0).values().len()), &mut found);
    found
}

struct Rbf<'a> {
    factor: f64,
    distances: &'a [f64],
    out: &'a mut [f64],
}

impl Work for Rbf<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (outs, out_rest) = self.out.as_chunks_mut::<W>();
        let (distances, distance_rest) = self.distances.as_chunks::<W>();
        for (out, distances) in outs.iter_mut().zip(distances) {
            *out = rbf_lanes::<I>(self.factor, distances);
        }
        let mut last = [0.0; W];
        last[..distance_rest.len()].copy_from_slice(distance_rest);
        out_rest.copy_from_slice(&rbf_lanes::<I>(self.factor, &last)[..out_rest.len()]);
    }
}

#[inline(always)]
fn rbf_lanes<I: Isa>(factor: f64, distances: &[f64; W]) -> [f64; W] {
    let mut exponents = [0.0; W];
    for lane in 0..W {
        exponents[lane] = factor * distances[lane];
    }
    exp::<I, W>(exponents)
}
