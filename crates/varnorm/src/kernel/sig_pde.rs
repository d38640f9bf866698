//! The untruncated signature kernel: the value of a Goursat problem.
//!
//! # Formula
//! `k(x,y) = sum over all m of scale^m <S_m(x), S_m(y)>` for paths lifted by a static kernel, linear or RBF. It is `u(1, 1)` of
//! `u_st = z u`, `u(0, t) = u(s, 0) = 1`, where z is `scale` times the inner product of lifted increments, constant on each
//! cell of the two time axes. Series may have any lengths. Values of any size are exact: they carry a power of two.
//!
//! Two ways to solve it:
//! - `tolerance` (default `1e-8`): the solution on the edges of cells as polynomials, whose order follows from the data. The
//!   error is at most `tolerance` times the value, or times `1e-4` of the largest value on the way, if that is more; without
//!   that promise where one increment alone makes the value grow by a factor of about `e^15` (see `growth.rs`).
//! - `dyadic = n`: every cell is divided into `2^n x 2^n`, and the published scheme of second order runs over the corners.
//!
//! # Cost
//! `T S (d + 3 4^n)` multiply-adds per pair for `dyadic = n`, about `T S (d + 2.5 N^2)` for edges of N coefficients (5 to 8, as
//! a rule).
//!
//! # What it shares
//! Products, or distances, of points are made once for all scales, sigma and ways to solve.
//!
//! # Reference
//! C. Salvi, T. Cass, J. Foster, T. Lyons, W. Yang, The signature kernel is the solution of a Goursat PDE, 2021.
//!
//! # Example
//! ```
//! use varnorm::{Kernel, Run, SeriesSet, gram};
//! // Straight lines: the sum of (2 * 3)^m / (m!)^2, a Bessel function.
//! let set = SeriesSet::from_equal(vec![0.0, 2.0, 1.0, 4.0], 2, 1).unwrap();
//! let pde: Kernel = "sig_pde:scale=1".parse().unwrap();
//! let k = gram::gram(&pde, &set, gram::Scaling::Raw, &Run::sequential()).unwrap();
//! let (mut term, mut sum) = (1.0, 1.0);
//! for m in 1..30 {
//!     term *= 6.0 / f64::from(m * m);
//!     sum += term;
//! }
//! assert!((k.matrix.get(0, 1) / sum - 1.0f64).abs() < 1e-8);
//! ```

use std::ops::Range;

use super::columns::{L, Of};
use super::goursat::FOUR;
use super::growth::{growth, plan, tail};
use super::increments::of;
use super::pairs::Pairs;
use super::pass::{Pass, Tile, Values};
use super::pde_walk::{CORNERS, Job, Outcome, solve};
use super::recurrence::{self, Recurrence};
use super::{Kernel, Lift};
use crate::data::SeriesSet;
use crate::error::Result;

/// The accuracy when neither it nor a dyadic order is given.
pub(super) const TOLERANCE: f64 = 1e-8;
/// The highest dyadic order.
pub(super) const MOST_DYADIC: u32 = 10;
/// Values smaller than this share of the largest one on the way are good to `tolerance` of that share.
const SMALLEST_SHARE: f64 = 1e-4;

/// How the Goursat problem is solved.
#[derive(Clone, Copy)]
enum Scheme {
    Dyadic(u32),
    Tolerance(f64),
}

struct One {
    /// Which sigma, for an RBF lift.
    set: usize,
    scale: f64,
    scheme: Scheme,
}

/// The walk of untruncated signature kernels of one lift. Keeps mantissa and exponent of each.
pub(crate) struct PdePass {
    serves: Vec<usize>,
    /// `-1 / (2 sigma^2)` per bandwidth of an RBF lift; none for the linear one.
    factors: Option<Vec<f64>>,
    kernels: Vec<One>,
}

/// Adds a kernel to the walk that can serve it, or to a new one.
pub(crate) fn add(passes: &mut Vec<PdePass>, index: usize, kernel: &Kernel) -> Result<()> {
    let Kernel::SigPde { lift, sigma, scale, dyadic, tolerance } = kernel else { return Ok(()) };
    let rbf = *lift == Lift::Rbf;
    let at = passes.iter().position(|p| p.factors.is_some() == rbf).unwrap_or(passes.len());
    if at == passes.len() {
        passes.push(PdePass { serves: Vec::new(), factors: rbf.then(Vec::new), kernels: Vec::new() });
    }
    let PdePass { serves, factors, kernels } = &mut passes[at];
    let mut set = 0;
    if let Some(factors) = factors {
        let factor = super::rbf_factor(sigma.unwrap_or_default().resolved("sigma")?);
        set = factors.iter().position(|f| *f == factor).unwrap_or(factors.len());
        if set == factors.len() {
            factors.push(factor);
        }
    }
    let scheme = match dyadic {
        Some(n) => Scheme::Dyadic(*n),
        None => Scheme::Tolerance(tolerance.unwrap_or(TOLERANCE)),
    };
    kernels.push(One { set, scale: scale.resolved("scale")?, scheme });
    serves.push(index);
    Ok(())
}

impl Pass for PdePass {
    fn serves(&self) -> &[usize] {
        &self.serves
    }

    fn check(&self, _row_set: &SeriesSet, _column_set: &SeriesSet) -> Result<()> {
        Ok(())
    }

    fn carries_exponents(&self) -> bool {
        true
    }

    fn kept(&self) -> usize {
        2 * self.kernels.len()
    }

    fn walk(&self, tile: &Tile<'_>, _scratch: &mut Vec<f64>, kept: &mut [f64]) {
        recurrence::walk(self, tile, kept);
    }

    fn walk_diagonal(&self, set: &SeriesSet, which: Range<usize>, _scratch: &mut Vec<f64>, kept: &mut [f64]) {
        recurrence::walk_diagonal(self, set, which, kept);
    }

    fn finish(&self, which: usize, kept: &[f64], out: &mut Values<'_>) {
        out.take_planes(which, kept);
    }
}

impl Recurrence for PdePass {
    fn of(&self) -> Of {
        of(self.factors.as_deref())
    }

    fn kept(&self) -> usize {
        2 * self.kernels.len()
    }

    fn run(&self, pairs: &mut Pairs<'_>, scratch: &mut Vec<[f64; L]>, out: &mut [[f64; L]]) {
        let factors = self.factors.as_deref();
        let exact = self.kernels.iter().any(|k| matches!(k.scheme, Scheme::Tolerance(_)));
        let sums = if exact { growth(pairs, factors, scratch) } else { Vec::new() };
        let mut jobs = self.first_jobs(pairs.count(), &sums);
        while !jobs.is_empty() {
            let outcomes = solve(&jobs, pairs, factors, scratch);
            jobs = self.settle(&jobs, &outcomes, &sums, out);
        }
    }
}

impl PdePass {
    /// What to try for every kernel and lane, given the growth of every lane under every sigma.
    fn first_jobs(&self, lanes: usize, sums: &[[f64; L]]) -> Vec<Job> {
        let mut jobs = Vec::new();
        for (kernel, one) in self.kernels.iter().enumerate() {
            for lane in 0..lanes {
                let (order, halvings) = match one.scheme {
                    Scheme::Dyadic(n) => (CORNERS, n),
                    Scheme::Tolerance(tolerance) => plan(one.scale * sums[one.set][lane], tolerance),
                };
                self.put(&mut jobs, kernel, lane, order, halvings, false);
            }
        }
        jobs
    }

    /// Adds a lane to the job that does the same, or to a new one.
    fn put(&self, jobs: &mut Vec<Job>, kernel: usize, lane: usize, order: usize, halvings: u32, wide: bool) {
        let same = |j: &&mut Job| (j.kernel, j.order, j.halvings, j.wide) == (kernel, order, halvings, wide);
        if let Some(job) = jobs.iter_mut().find(same) {
            job.lanes[lane] = true;
            return;
        }
        let One { set, scale, .. } = self.kernels[kernel];
        let mut lanes = [false; L];
        lanes[lane] = true;
        jobs.push(Job {
            kernel,
            set,
            factor: scale * 0.25f64.powi(halvings as i32),
            order,
            halvings,
            lanes,
            wide,
        });
    }

    /// Takes the values that are good; what is left to do for the others.
    fn settle(
        &self,
        jobs: &[Job],
        outcomes: &[Outcome],
        sums: &[[f64; L]],
        out: &mut [[f64; L]],
    ) -> Vec<Job> {
        let mut next = Vec::new();
        for (job, outcome) in jobs.iter().zip(outcomes) {
            let One { set, scale, scheme } = self.kernels[job.kernel];
            for lane in (0..L).filter(|lane| job.lanes[*lane]) {
                let (mantissa, exponent) = (outcome.mantissas[lane], outcome.exponents[lane]);
                if !mantissa.is_finite() && !job.wide {
                    self.put(&mut next, job.kernel, lane, job.order, job.halvings, true);
                    continue;
                }
                if let Scheme::Tolerance(tolerance) = scheme {
                    let growth = scale * sums[set][lane];
                    let share = (mantissa.abs().log2() + exponent - outcome.largest[lane]).exp2();
                    let wanted = tolerance * share.clamp(SMALLEST_SHARE, 1.0);
                    if tail(growth, job.order, job.halvings) > wanted && mantissa.is_finite() {
                        let (order, halvings) = plan(growth, wanted);
                        if (order, halvings) != (job.order, job.halvings) {
                            self.put(&mut next, job.kernel, lane, order, halvings, job.wide);
                            continue;
                        }
                    }
                }
                out[2 * job.kernel][lane] = mantissa;
                out[2 * job.kernel + 1][lane] = exponent;
            }
        }
        next
    }
}

/// Groups of four lanes in which some lane is wanted.
pub(super) fn wanted(lanes: &[bool; L]) -> [bool; L / FOUR] {
    let mut wanted = [false; L / FOUR];
    for lane in 0..L {
        wanted[lane / FOUR] |= lanes[lane];
    }
    wanted
}
