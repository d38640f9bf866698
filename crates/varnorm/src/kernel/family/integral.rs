//! Integral kernels: the integral over time of a static kernel of the two series' points.
//!
//! # Formula
//! `K(x,y) = integral over [0,1] of k(x_t, y_t) dt` by the trapezoid rule on the T points, k RBF
//! `exp(-|x_t-y_t|^2 / (2 sigma^2))` or polynomial `(<x_t,y_t> + c)^p` (paper, definition 5.1). A series of one
//! point has weight 1 there.
//!
//! # Cost
//! `T d` multiply-adds per pair, and T static kernel values per pair and kernel.
//!
//! # What it shares
//! One walk over the points of a pair serves all sigma and all (c, p).
//!
//! # Example
//! ```
//! use varnorm::{Kernel, Run, SeriesSet, gram};
//! let set = SeriesSet::from_equal(vec![0.0, 0.0, 1.0, 3.0], 2, 1).unwrap();
//! let poly: Kernel = "integral_poly:c=1,p=2".parse().unwrap();
//! let k = gram::gram(&poly, &set, gram::Scaling::Raw, &Run::sequential()).unwrap();
//! assert_eq!(k.matrix.get(1, 1), (4.0 + 100.0) / 2.0);
//! ```

use serde::{Deserialize, Serialize};

use crate::data::SeriesSet;
use crate::error::Result;
use crate::kernel::drive::steps::{self, Block};
use crate::kernel::family::flat::{CONSTANT, P};
use crate::kernel::family::{Family, Shape};
use crate::kernel::pass::{Pass, Passes, Sets, Tile, Values, require_equal_lengths};
use crate::kernel::{KernelInfo, Parameter, ParameterInfo, ParameterRange, auto, rbf_factor};
use crate::simd::{Function, Isa, MOST_REGISTERS, Power, Register, TOGETHER, W, Work, dispatch, filled, put};

/// The integral over time of `exp(-|x_t-y_t|^2 / (2 sigma^2))`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IntegralRbf {
    /// Bandwidth; `auto` is the median distance between corpus points of one time step.
    pub sigma: Parameter,
}

/// The integral over time of `(<x_t,y_t> + c)^p`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IntegralPoly {
    /// Constant; `auto` is the mean of `<x_t,x_t>` over the corpus.
    pub c: Parameter,
    /// Degree.
    pub p: u32,
}

impl Default for IntegralPoly {
    fn default() -> Self {
        Self { c: Parameter::Auto, p: 2 }
    }
}

const SIGMA: ParameterInfo = ParameterInfo::number(
    "sigma",
    ParameterRange::Positive,
    "auto",
    "bandwidth; auto: median distance of corpus points at one time",
);
const C: ParameterInfo =
    ParameterInfo::number("c", CONSTANT, "auto", "constant >= 0; auto: mean <x_t,x_t> of the corpus");

/// A static kernel at every step.
fn cost(shape: &Shape) -> f64 {
    10.0 * shape.steps_of_pairs() * shape.channels
}

impl Family for IntegralRbf {
    const INFO: KernelInfo = KernelInfo {
        name: "integral_rbf",
        words: "nearness of two series moment by moment, averaged over time",
        formula: "integral of exp(-|x_t-y_t|^2 / (2 sigma^2)) dt",
        any_lengths: false,
        parameters: &[SIGMA],
        example: "integral_rbf:sigma=0.7",
    };

    fn validate(&self) -> Result<()> {
        SIGMA.check_given(self.sigma)
    }

    fn resolve(&self, corpus: &SeriesSet) -> Result<Self> {
        Ok(Self { sigma: self.sigma.or_try(|| auto::median_point_distance(corpus))? })
    }

    fn plan(&self, _channels: usize, passes: &mut Passes) -> Result<()> {
        IntegralPass::join(passes, Static::Rbf { factor: rbf_factor(self.sigma.resolved("sigma")?) });
        Ok(())
    }

    fn cost(&self, shape: &Shape) -> f64 {
        cost(shape)
    }
}

impl Family for IntegralPoly {
    const INFO: KernelInfo = KernelInfo {
        name: "integral_poly",
        words: "the inner product of two series moment by moment, raised to a power and averaged over time",
        formula: "integral of (<x_t,y_t> + c)^p dt",
        any_lengths: false,
        parameters: &[C, P],
        example: "integral_poly:c=0.5,p=2",
    };

    fn validate(&self) -> Result<()> {
        C.check_given(self.c).and(P.check(self.p))
    }

    fn resolve(&self, corpus: &SeriesSet) -> Result<Self> {
        Ok(Self { c: self.c.or_else(|| auto::mean_point_square(corpus)), ..*self })
    }

    fn plan(&self, _channels: usize, passes: &mut Passes) -> Result<()> {
        IntegralPass::join(passes, Static::Poly { c: self.c.resolved("c")?, p: self.p });
        Ok(())
    }

    fn cost(&self, shape: &Shape) -> f64 {
        cost(shape)
    }
}

#[derive(Clone, Copy)]
enum Static {
    Rbf { factor: f64 },
    Poly { c: f64, p: u32 },
}

/// The walk of all integral kernels. Keeps one number per kernel: its value.
#[derive(Default)]
struct IntegralPass {
    statics: Vec<Static>,
}

impl IntegralPass {
    /// All integral kernels share one walk.
    fn join(passes: &mut Passes, kernel: Static) {
        passes.join(|_| true, Self::default, |pass: &mut Self| pass.statics.push(kernel));
    }
}

impl Pass for IntegralPass {
    fn check(&self, sets: Sets<'_>) -> Result<()> {
        require_equal_lengths("an integral kernel", sets)
    }

    fn kept(&self) -> usize {
        self.statics.len()
    }

    fn walk(&self, tile: &Tile<'_>, kept: &mut [f64]) -> Result<()> {
        let total = tile.row_set().series(tile.rows.start).steps();
        let pairs = tile.pairs();
        kept.fill(0.0);
        let mut add = |distances: bool, block: Block<'_>| {
            let planes = self.statics.iter().zip(kept.chunks_exact_mut(pairs));
            for (kernel, plane) in planes.filter(|(kernel, _)| kernel.of_distances() == distances) {
                dispatch(Add { kernel: *kernel, block: &block, total, plane });
            }
        };
        if self.statics.iter().any(|kernel| kernel.of_distances()) {
            steps::walk::<true>(tile, None, |block| add(true, block));
        }
        if self.statics.iter().any(|kernel| !kernel.of_distances()) {
            steps::walk::<false>(tile, None, |block| add(false, block));
        }
        Ok(())
    }

    fn finish(&self, which: usize, kept: &[f64], out: &mut Values<'_>) {
        let out = &mut *out.mantissas;
        out.copy_from_slice(&kept[which * out.len()..(which + 1) * out.len()]);
    }
}

impl Static {
    /// Whether it is a function of the points' distance, rather than of their inner product.
    fn of_distances(self) -> bool {
        matches!(self, Self::Rbf { .. })
    }
}

/// `(x + c)^p`.
struct Poly(f64, u32);

impl<F: Register> Function<F> for Poly {
    #[inline(always)]
    fn of<const K: usize>(&self, x: [F; K]) -> [F; K] {
        let (mut results, mut squares, mut left) = ([F::splat(1.0); K], x, self.1);
        for k in 0..K {
            squares[k] = x[k].add(F::splat(self.0));
        }
        while left > 0 {
            for k in 0..K {
                if left & 1 == 1 {
                    results[k] = results[k].mul(squares[k]);
                }
                squares[k] = squares[k].mul(squares[k]);
            }
            left >>= 1;
        }
        results
    }
}

/// Adds some steps to the integrals of some pairs.
struct Add<'a> {
    kernel: Static,
    block: &'a Block<'a>,
    /// Steps of the whole.
    total: usize,
    plane: &'a mut [f64],
}

impl Work for Add<'_> {
    #[inline(always)]
    fn run<I: Isa>(self) {
        match self.kernel {
            Static::Rbf { factor } => self.add::<I>(&Power::exp(factor)),
            Static::Poly { c, p } => self.add::<I>(&Poly(c, p)),
        }
    }
}

impl Add<'_> {
    #[inline(always)]
    fn add<I: Isa>(self, kernel: &impl Function<I::Register>) {
        let Self { block, total, plane, .. } = self;
        let inner = trapezoid_weight(1, total.max(3));
        let registers = W / I::Register::WIDTH;
        for (pairs, values) in block.rows() {
            let out = &mut plane[pairs];
            let mut lanes = filled(out, 0.0);
            let mut sums = [I::Register::splat(0.0); MOST_REGISTERS];
            for i in 0..registers {
                sums[i] = I::Register::load(&lanes, i);
            }
            let weight = |step: usize| {
                let ends = step == 0 || step + 1 == total;
                I::Register::splat(if ends { trapezoid_weight(step, total) } else { inner })
            };
            // Some steps at a time.
            let (mut step, mut values) = (block.steps.start, values);
            while values.len() * registers >= TOGETHER {
                let mut some = [I::Register::splat(0.0); TOGETHER];
                for k in 0..TOGETHER {
                    some[k] = I::Register::load(&values[k / registers], k % registers);
                }
                let some = kernel.of(some);
                for k in 0..TOGETHER {
                    let sum = &mut sums[k % registers];
                    *sum = weight(step + k / registers).mul_add(some[k], *sum);
                }
                (step, values) = (step + TOGETHER / registers, &values[TOGETHER / registers..]);
            }
            for (rest, values) in values.iter().enumerate() {
                for i in 0..registers {
                    let [value] = kernel.of([I::Register::load(values, i)]);
                    sums[i] = weight(step + rest).mul_add(value, sums[i]);
                }
            }
            for i in 0..registers {
                sums[i].store(&mut lanes, i);
            }
            put(&lanes, out);
        }
    }
}

/// Weight of one step in the trapezoid rule over [0,1]; the weights add up to 1.
#[inline(always)]
fn trapezoid_weight(step: usize, steps: usize) -> f64 {
    let ends = step == 0 || step + 1 == steps;
    match steps {
        1 => 1.0,
        _ if ends => 0.5 / (steps - 1) as f64,
        _ => 1.0 / (steps - 1) as f64,
    }
}
