//! The untruncated signature kernel: the value of a Goursat problem.
//!
//! # Formula
//! `k(x,y) = sum over all m of scale^m <S_m(x), S_m(y)>` for paths lifted by a static kernel, linear or RBF. It is `u(1, 1)` of
//! `u_st = z u`, `u(0, t) = u(s, 0) = 1`, where z is `scale` times the inner product of lifted increments, constant on each
//! cell of the two time axes. Series may have any lengths. Values of any size are exact: they carry a power of two.
//!
//! Two ways to solve it:
//! - `tolerance` (default `1e-8`): grids of a few widths, extrapolated (`boxes.rs`), as many as are good enough; where none are, the
//!   solution on the edges of cells as polynomials, whose order follows from the data (`growth.rs`). The error is at most
//!   `tolerance` times the value, or times `1e-4` of the largest value on the way, if that is more; without that promise where one
//!   increment alone makes the value grow by a factor of about `e^15`, and but for rounding, of which there is about `1e-16` of the
//!   square of the largest value where a path goes back the way it came.
//! - `dyadic = n`: every cell is divided into `2^n x 2^n`, and the published scheme of second order runs over the corners.
//!
//! # Cost
//! `T S (d + 3 4^n)` multiply-adds per pair for `dyadic = n`; to a tolerance about `T S (d + 40)` or `T S (d + 80)` operations
//! for grids of two or three widths, about `T S (d + 2.5 N^2)` for edges of N coefficients (5 to 8, as a rule).
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

use std::cell::RefCell;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::kernel::drive::lanes_over_pairs::{self, Recurrence};
use crate::kernel::family::sig::{
    LIFT, Lift, SIGMA, resolved_bandwidth, resolved_factor, set_of_factor, validate_lift,
};
use crate::kernel::family::{Family, Shape};
use crate::kernel::goursat::boxes::{self, MIDDLE, NONE};
use crate::kernel::goursat::plan::{CERTAIN, Growth, SLACK, growth, plan, stronger, tail};
use crate::kernel::goursat::search::{Job, Outcome, SMALLEST_SHARE, Way, solve};
use crate::kernel::pass::{Pass, Passes, Tile, Values};
use crate::kernel::points::increments::{of, own_cells};
use crate::kernel::points::pack::Of;
use crate::kernel::points::window::{Pairs, few_channels};
use crate::kernel::{KernelInfo, Parameter, ParameterInfo, ParameterRange, auto};
use crate::simd::L;
use crate::simd::aligned::Cells;

/// The untruncated signature kernel: the sum over all levels m of `scale^m <S_m(x), S_m(y)>`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SigPde {
    /// The static kernel that lifts the points.
    pub lift: Lift,
    /// Bandwidth of the RBF lift; `auto` is the median distance between corpus points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sigma: Option<Parameter>,
    /// Factor of the lifted kernel; `auto` is 1 (RBF), or 1 over the median of `max_t |x_t - x_0|^2` (linear).
    pub scale: Parameter,
    /// Instead of a tolerance: cells are halved so many times along both sides for the published scheme.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dyadic: Option<u32>,
    /// Relative accuracy; `1e-8` when neither it nor `dyadic` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
}

/// The accuracy when neither it nor a dyadic order is given.
const DEFAULT_TOLERANCE: f64 = 1e-8;

const SCALE: ParameterInfo = ParameterInfo::number(
    "scale",
    ParameterRange::Positive,
    "auto",
    "factor of the lifted kernel; auto: 1 / the median of max_t |x_t - x_0|^2 (linear) or 1 (rbf)",
);
const TOLERANCE: ParameterInfo = ParameterInfo::number(
    "tolerance",
    ParameterRange::Between("", 1e-13, 0.1),
    "1e-8",
    "relative accuracy, 1e-13 to 0.1, by grids or polynomials as fine as it takes",
)
.optional();
const DYADIC: ParameterInfo = ParameterInfo::whole(
    "dyadic",
    ParameterRange::Between("a dyadic order ", 0.0, 10.0),
    "none",
    "instead of tolerance: the published scheme with every cell halved so many times, 0 to 10",
)
.optional();

impl Family for SigPde {
    const INFO: KernelInfo = KernelInfo {
        name: "sig_pde",
        words: "the order in which the channels of two series move, at all levels (untruncated signature)",
        formula: "sum over all m of scale^m <S_m(x), S_m(y)>, as the solution of u_st = z u",
        any_lengths: true,
        parameters: &[LIFT, SIGMA, SCALE, TOLERANCE, DYADIC],
        example: "sig_pde:lift=rbf,sigma=1.3,scale=0.5",
    };

    fn validate(&self) -> Result<()> {
        validate_lift(self.lift, self.sigma).and(SCALE.check_given(self.scale))?;
        match (self.dyadic, self.tolerance) {
            (Some(_), Some(tolerance)) => Err(Error::bad_param(
                TOLERANCE.name,
                tolerance,
                "give either a tolerance or a dyadic order, not both",
            )),
            (Some(dyadic), None) => DYADIC.check(dyadic),
            (None, Some(tolerance)) => TOLERANCE.check(tolerance),
            (None, None) => Ok(()),
        }
    }

    fn resolve(&self, corpus: &SeriesSet) -> Result<Self> {
        let scale = match self.lift {
            Lift::Linear => self.scale.or_else(|| auto::path_scale(corpus)),
            Lift::Rbf => self.scale.or_else(|| 1.0),
        };
        Ok(Self { sigma: resolved_bandwidth(self.lift, self.sigma, 1.0, corpus), scale, ..*self })
    }

    /// Kernels of one lift share a walk.
    fn plan(&self, _channels: usize, passes: &mut Passes) -> Result<()> {
        let (scale, factor) = (self.scale.resolved(SCALE.name)?, resolved_factor(self.lift, self.sigma)?);
        let scheme = match self.dyadic {
            Some(n) => Scheme::Dyadic(n),
            None => Scheme::Tolerance(self.tolerance.unwrap_or(DEFAULT_TOLERANCE)),
        };
        passes.join(
            |pass: &PdePass| pass.factors.is_some() == factor.is_some(),
            || PdePass { factors: factor.map(|_| Vec::new()), kernels: Vec::new() },
            |PdePass { factors, kernels }| {
                let set = set_of_factor(factors, factor);
                kernels.push(One { set, scale, scheme });
            },
        );
        Ok(())
    }

    fn cost(&self, shape: &Shape) -> f64 {
        let of_cell = match self.dyadic {
            Some(n) => 20.0 + 3.0 * 4f64.powf(f64::from(n)),
            // How fine the grids are, and how many coefficients edges have, depends on the data.
            None => 1000.0,
        };
        shape.pairs_of_points() * (shape.channels + of_cell)
    }
}

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

impl One {
    fn to_tolerance(&self) -> bool {
        matches!(self.scheme, Scheme::Tolerance(_))
    }
}

/// The walk of untruncated signature kernels of one lift. Keeps mantissa and exponent of each.
struct PdePass {
    /// `-1 / (2 sigma^2)` per bandwidth of an RBF lift; none for the linear one.
    factors: Option<Vec<f64>>,
    kernels: Vec<One>,
}

impl Pass for PdePass {
    fn carries_exponents(&self) -> bool {
        true
    }

    fn kept(&self) -> usize {
        2 * self.kernels.len()
    }

    fn walk(&self, tile: &Tile<'_>, kept: &mut [f64]) -> Result<()> {
        if !few_channels(tile.row_set()) || !self.kernels.iter().any(One::to_tolerance) {
            lanes_over_pairs::walk(&Staged::new(self, Stage::Whole), tile, kept);
            return Ok(());
        }
        lanes_over_pairs::walk(&Staged::new(self, Stage::First), tile, kept);
        // Pairs that are to be tried with one more level, and then with more still.
        for choice in 1..NONE {
            let open = self.open_pairs(tile, kept, |next| next == choice as f64);
            if !open.is_empty() {
                let before = Before { values: kept.to_vec(), growth: Vec::new(), tile };
                let stage = Stage::Boxes(choice, &before);
                lanes_over_pairs::walk_pairs(&Staged::new(self, stage), tile, &open, kept);
            }
        }
        let mut open = self.open_pairs(tile, kept, |_| true);
        if open.is_empty() {
            return Ok(());
        }
        // The growth of every pair first: pairs that need the same number of coefficients go side by side.
        let mut growth = vec![0.0; 2 * self.sets() * tile.pairs()];
        let growths = Growths { factors: self.factors.as_deref() };
        lanes_over_pairs::walk_pairs(&growths, tile, &open, &mut growth);
        let before = Before { values: kept.to_vec(), growth, tile };
        open.sort_by_cached_key(|pair| self.first_plan(&before, tile.place(*pair)));
        lanes_over_pairs::walk_pairs(&Staged::new(self, Stage::Last(&before)), tile, &open, kept);
        Ok(())
    }

    fn walk_diagonal(&self, set: &SeriesSet, which: Range<usize>, kept: &mut [f64]) -> Result<()> {
        lanes_over_pairs::walk_diagonal(&Staged::new(self, Stage::Whole), set, which, kept);
        Ok(())
    }

    fn finish(&self, which: usize, kept: &[f64], out: &mut Values<'_>) {
        out.take_planes(which, kept);
    }
}

impl PdePass {
    /// Bandwidths, or the one linear lift.
    fn sets(&self) -> usize {
        self.factors.as_ref().map_or(1, Vec::len)
    }

    /// Pairs with a value that is not good enough yet, and that are to be tried next with such a choice.
    fn open_pairs(&self, tile: &Tile<'_>, kept: &[f64], next: impl Fn(f64) -> bool) -> Vec<(usize, usize)> {
        let is_open = |pair: &(usize, usize)| {
            let value = |plane: usize| kept[plane * tile.pairs() + tile.place(*pair)];
            let open = |k: usize| value(2 * k).is_nan() && next(value(2 * k + 1));
            self.kernels.iter().enumerate().any(|(k, one)| one.to_tolerance() && open(k))
        };
        tile.wanted_pairs().filter(is_open).collect()
    }

    /// The coefficients that the first open kernel of a pair needs.
    fn first_plan(&self, before: &Before<'_>, place: usize) -> Option<(usize, u32)> {
        self.kernels.iter().enumerate().find_map(|(kernel, one)| match one.scheme {
            Scheme::Tolerance(tolerance) if before.value(2 * kernel, place).is_nan() => {
                Some(plan(before.growth(one.set, place).times(one.scale), tolerance))
            }
            _ => None,
        })
    }
}

/// The growth of pairs: two planes per sigma.
struct Growths<'a> {
    factors: Option<&'a [f64]>,
}

impl Recurrence for Growths<'_> {
    fn of(&self) -> Of {
        of(self.factors)
    }

    fn kept(&self) -> usize {
        2 * self.factors.map_or(1, <[f64]>::len)
    }

    fn run(&self, pairs: &mut Pairs<'_>, scratch: &mut Cells, out: &mut [[f64; L]]) {
        out.copy_from_slice(growth(pairs, self.factors, scratch).as_flattened());
    }
}

/// What stages before have found out about the pairs of a tile, in planes.
struct Before<'a> {
    /// Per kernel, mantissa and exponent; where no value is good enough yet, NaN and the choice of boxes to try next.
    values: Vec<f64>,
    /// Per sigma, the largest growth and its weight, if known.
    growth: Vec<f64>,
    tile: &'a Tile<'a>,
}

impl Before<'_> {
    fn value(&self, plane: usize, place: usize) -> f64 {
        self.values[plane * self.tile.pairs() + place]
    }

    /// The growth of one pair under one sigma.
    fn growth(&self, set: usize, place: usize) -> Growth {
        let plane = |plane: usize| self.growth[plane * self.tile.pairs() + place];
        Growth { largest: plane(2 * set), weight: plane(2 * set + 1) }
    }
}

/// Values to a tolerance are looked for in three ways, one after another. Which one finds a value depends on that pair alone.
#[derive(Clone, Copy)]
enum Stage<'a> {
    /// All of them, for the pairs at hand.
    Whole,
    /// What is not good enough after some levels of boxes is left open.
    First,
    /// The same with this choice of levels, for those that are to be tried with it.
    Boxes(usize, &'a Before<'a>),
    /// Edges, for what is open still.
    Last(&'a Before<'a>),
}

/// The kernels of a pass, for one stage.
struct Staged<'a> {
    pass: &'a PdePass,
    stage: Stage<'a>,
    /// Per kernel, the choice of boxes to begin with: what was enough for most pairs of the group before. It decides how long a
    /// search takes, not what it finds.
    begin: RefCell<Vec<usize>>,
}

impl<'a> Staged<'a> {
    fn new(pass: &'a PdePass, stage: Stage<'a>) -> Self {
        Self { pass, stage, begin: RefCell::new(vec![MIDDLE; pass.kernels.len()]) }
    }
}

impl Recurrence for Staged<'_> {
    fn of(&self) -> Of {
        of(self.pass.factors.as_deref())
    }

    fn kept(&self) -> usize {
        2 * self.pass.kernels.len()
    }

    fn run(&self, pairs: &mut Pairs<'_>, scratch: &mut Cells, out: &mut [[f64; L]]) {
        let factors = self.pass.factors.as_deref();
        let mut search = Search {
            pass: self.pass,
            stage: self.stage,
            begin: &self.begin,
            growth: Vec::new(),
            out,
            jobs: Vec::new(),
            left: Vec::new(),
        };
        search.begin(pairs);
        loop {
            if !search.left.is_empty() {
                search.plan_edges(pairs, factors, scratch);
            }
            if search.jobs.is_empty() {
                return;
            }
            let jobs = std::mem::take(&mut search.jobs);
            let outcomes = solve(&jobs, pairs, factors, scratch);
            search.settle(&jobs, &outcomes);
        }
    }
}

/// The search for values that are good enough.
struct Search<'a> {
    pass: &'a PdePass,
    stage: Stage<'a>,
    begin: &'a RefCell<Vec<usize>>,
    /// The growth of every lane under every sigma, for a scale of 1, once it is known.
    growth: Vec<[Growth; L]>,
    /// Per kernel, mantissa and exponent of the best value so far.
    out: &'a mut [[f64; L]],
    /// What is to be done next.
    jobs: Vec<Job>,
    /// Kernels and lanes that are left to edges.
    left: Vec<(usize, usize)>,
}

impl Search<'_> {
    /// What to try first for every kernel and lane.
    fn begin(&mut self, pairs: &Pairs<'_>) {
        if let Stage::Boxes(_, before) | Stage::Last(before) = self.stage {
            for lane in 0..pairs.count() {
                let place = before.tile.place(pairs.members(lane));
                for (plane, lanes) in self.out.iter_mut().enumerate() {
                    lanes[lane] = before.value(plane, place);
                }
            }
        }
        let cells = own_cells(pairs, self.pass.factors.as_deref());
        for (kernel, one) in self.pass.kernels.iter().enumerate() {
            for lane in 0..pairs.count() {
                let open = self.out[2 * kernel][lane].is_nan();
                match (one.scheme, self.stage) {
                    (Scheme::Dyadic(n), Stage::Whole | Stage::First) => {
                        self.put(kernel, lane, Way::Corners(n), false, false);
                    }
                    (Scheme::Tolerance(_), Stage::Whole | Stage::First) if boxes::are_of_use(cells[lane]) => {
                        self.put(kernel, lane, Way::Boxes(self.begin.borrow()[kernel]), false, false);
                    }
                    (Scheme::Tolerance(_), Stage::Whole) => self.left.push((kernel, lane)),
                    (Scheme::Tolerance(_), Stage::First) => self.leave(kernel, lane, NONE),
                    (Scheme::Tolerance(_), Stage::Boxes(choice, _))
                        if open && self.out[2 * kernel + 1][lane] == choice as f64 =>
                    {
                        self.put(kernel, lane, Way::Boxes(choice), false, false);
                    }
                    (Scheme::Tolerance(_), Stage::Last(_)) if open => self.left.push((kernel, lane)),
                    _ => {}
                }
            }
        }
    }

    /// Takes up what is left to edges.
    fn plan_edges(&mut self, pairs: &mut Pairs<'_>, factors: Option<&[f64]>, scratch: &mut Cells) {
        if self.growth.is_empty() {
            self.growth = match self.stage {
                Stage::Last(before) => known_growth(before, self.pass.sets(), pairs),
                _ => {
                    // The growth of solutions first, then the solutions.
                    pairs.keep_tables();
                    let of_set = |[largest, weights]: [[f64; L]; 2]| {
                        std::array::from_fn(|lane| Growth { largest: largest[lane], weight: weights[lane] })
                    };
                    growth(pairs, factors, scratch).into_iter().map(of_set).collect()
                }
            };
        }
        for (kernel, lane) in std::mem::take(&mut self.left) {
            let One { set, scale, scheme } = self.pass.kernels[kernel];
            if let Scheme::Tolerance(tolerance) = scheme {
                let (order, halvings) = plan(self.growth[set][lane].times(scale), tolerance);
                self.put(kernel, lane, Way::Edges(order, halvings), false, false);
            }
        }
    }

    /// Adds a lane to the job that does the same, or to a new one.
    fn put(&mut self, kernel: usize, lane: usize, way: Way, wide: bool, again: bool) {
        let wanted = (kernel, way, wide, again);
        let same = |j: &&mut Job| (j.kernel, j.way, j.wide, j.again) == wanted;
        if let Some(job) = self.jobs.iter_mut().find(same) {
            job.lanes[lane] = true;
            return;
        }
        let One { set, scale, scheme } = self.pass.kernels[kernel];
        let tolerance = if let Scheme::Tolerance(tolerance) = scheme { tolerance } else { 0.0 };
        let mut lanes = [false; L];
        lanes[lane] = true;
        self.jobs.push(Job { kernel, set, scale, way, tolerance, lanes, wide, again });
    }

    /// Leaves a value open, to be tried next with such a choice of boxes.
    fn leave(&mut self, kernel: usize, lane: usize, next: usize) {
        self.out[2 * kernel][lane] = f64::NAN;
        self.out[2 * kernel + 1][lane] = next as f64;
    }

    /// Takes the values that are found, and plans what is left to do for those that are not good enough.
    fn settle(&mut self, jobs: &[Job], outcomes: &[Outcome]) {
        for (job, outcome) in jobs.iter().zip(outcomes) {
            if let Way::Boxes(choice) = job.way {
                self.settle_boxes(job, choice, outcome);
                continue;
            }
            for lane in (0..L).filter(|lane| job.lanes[*lane]) {
                let found = (outcome.mantissas[lane], outcome.exponents[lane]);
                if !found.0.is_finite() && !job.wide {
                    self.put(job.kernel, lane, job.way, true, job.again);
                    continue;
                }
                if let Way::Edges(order, halvings) = job.way
                    && let Some(((order, halvings), again)) =
                        self.better(job, (order, halvings), outcome, lane)
                {
                    self.put(job.kernel, lane, Way::Edges(order, halvings), job.wide, again);
                }
                self.out[2 * job.kernel][lane] = found.0;
                self.out[2 * job.kernel + 1][lane] = found.1;
            }
        }
    }

    /// The same for values from boxes.
    fn settle_boxes(&mut self, job: &Job, choice: usize, outcome: &Outcome) {
        for lane in (0..L).filter(|lane| job.lanes[*lane]) {
            let (mantissa, next) = (outcome.mantissas[lane], outcome.choices[lane]);
            if !mantissa.is_nan() {
                self.out[2 * job.kernel][lane] = mantissa;
                self.out[2 * job.kernel + 1][lane] = outcome.exponents[lane];
                continue;
            }
            self.leave(job.kernel, lane, next);
            match self.stage {
                Stage::Whole if next < NONE => self.put(job.kernel, lane, Way::Boxes(next), false, false),
                Stage::Whole => self.left.push((job.kernel, lane)),
                _ => {}
            }
        }
        let mut begin = self.begin.borrow_mut();
        if choice == begin[job.kernel] && matches!(self.stage, Stage::Whole | Stage::First) {
            begin[job.kernel] = enough_for_most(job, outcome);
        }
    }

    /// What to try next, if a value from edges is not good enough yet, and whether that is to confirm it.
    fn better(
        &self,
        job: &Job,
        now: (usize, u32),
        outcome: &Outcome,
        lane: usize,
    ) -> Option<((usize, u32), bool)> {
        let (mantissa, exponent) = (outcome.mantissas[lane], outcome.exponents[lane]);
        if !mantissa.is_finite() {
            return None;
        }
        let One { set, scale, .. } = self.pass.kernels[job.kernel];
        let (largest, tolerance) = (outcome.largest[lane], job.tolerance);
        let size = (mantissa.abs().log2() + exponent).max(largest + SMALLEST_SHARE.log2());
        let growth = self.growth[set][lane].times(scale);
        if growth.largest > CERTAIN {
            // Beyond what the estimate is good for: until two agree.
            let before = (self.out[2 * job.kernel][lane], self.out[2 * job.kernel + 1][lane]);
            let apart = mantissa - before.0 * (before.1 - exponent).exp2();
            let agree = job.again && apart.abs().log2() + exponent <= size + (0.5 * tolerance).log2();
            return if agree { None } else { stronger(now, growth).map(|plan| (plan, true)) };
        }
        let wanted = tolerance * (size - largest).exp2().min(1.0);
        if tail(growth, now.0, now.1) <= SLACK * wanted {
            return None;
        }
        Some((plan(growth, wanted), false)).filter(|(plan, _)| *plan != now)
    }
}

/// The choice of boxes to begin with where pairs need what these lanes did.
fn enough_for_most(job: &Job, outcome: &Outcome) -> usize {
    let (mut lanes, mut two, mut middle) = (0, 0, 0);
    for lane in (0..L).filter(|lane| job.lanes[*lane]) {
        let needed = outcome.choices[lane];
        lanes += 1;
        two += usize::from(needed == 0);
        // What is left to edges may as well begin with few levels.
        middle += usize::from(needed == MIDDLE || needed == NONE);
    }
    // By the work: two levels take a third of that of three, these a quarter of that of five.
    if 4 * two >= 3 * lanes {
        0
    } else if 3 * (two + middle) >= lanes {
        MIDDLE
    } else {
        NONE - 1
    }
}

/// The growth of every lane under every sigma.
fn known_growth(before: &Before<'_>, sets: usize, pairs: &Pairs<'_>) -> Vec<[Growth; L]> {
    let mut lanes = vec![[Growth { largest: 0.0, weight: 1.0 }; L]; sets];
    for lane in 0..pairs.count() {
        let place = before.tile.place(pairs.members(lane));
        for (set, lanes) in lanes.iter_mut().enumerate() {
            lanes[lane] = before.growth(set, place);
        }
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::{Scaling, cross, gram, self_values};
    use crate::kernel::Kernel;
    use crate::random::Normal;
    use crate::run::Run;

    fn walks(lengths: &[usize], channels: usize, size: f64, seed: u64) -> SeriesSet {
        let mut numbers = Normal::new(seed);
        let mut set = SeriesSet::new(channels).unwrap();
        for steps in lengths {
            let values = numbers.by_ref().take(steps * channels).map(|number| size * number).collect();
            set.extend(&SeriesSet::from_equal(values, *steps, channels).unwrap()).unwrap();
        }
        set
    }

    /// The values of the first series with all others.
    fn row(kernel: &Kernel, query: &SeriesSet, others: &SeriesSet) -> Vec<f64> {
        let run = Run::sequential();
        let selves = self_values(std::slice::from_ref(kernel), others, &run).unwrap().remove(0);
        cross(kernel, query, others, &selves, Scaling::Raw, &run).unwrap().matrix.row(0).to_vec()
    }

    #[test]
    fn bits_do_not_depend_on_company() {
        let lengths = [2, 5, 9, 20, 33, 34, 41, 3, 64];
        for seed in 0..5 {
            for (spec, channels) in [("", 1), ("", 3), (",lift=rbf,sigma=2", 2), ("", 24)] {
                let set = walks(&lengths, channels, 1.0 / (channels as f64).sqrt(), seed);
                let (query, others) =
                    (set.select(&[seed as usize % 9]), set.select(&[0, 1, 2, 3, 4, 5, 6, 7, 8]));
                for tolerance in ["3e-4", "4e-8", "1e-11"] {
                    let spec = format!("sig_pde:scale=0.4,tolerance={tolerance}{spec}");
                    let kernel: Kernel = spec.parse().unwrap();
                    for (i, value) in row(&kernel, &query, &others).iter().enumerate() {
                        let alone = row(&kernel, &query, &set.select(&[i]))[0];
                        assert_eq!(*value, alone, "{spec}, seed {seed}: {i}");
                    }
                }
            }
        }
    }

    /// The largest value on the way is next to the last column: that of a shorter series is not to be looked for beyond it.
    #[test]
    fn what_follows_a_shorter_series_is_not_looked_at() {
        let kernel: Kernel = "sig_pde:scale=1,tolerance=4e-8".parse().unwrap();
        let query = SeriesSet::from_equal(vec![0.0, 0.5, 1.0, 0.0, -1.0], 5, 1).unwrap();
        let short = SeriesSet::from_equal(vec![0.0, 1.0], 2, 1).unwrap();
        let mut both = short.clone();
        both.extend(&walks(&[40], 1, 0.1, 1)).unwrap();
        assert_eq!(row(&kernel, &query, &both)[0], row(&kernel, &query, &short)[0]);
    }

    #[test]
    fn paths_of_any_size_keep_the_tolerance() {
        let run = Run::sequential();
        let plain = walks(&[30, 30, 30], 2, 0.1, 3);
        for (size, scale) in [(1e-60, 2e120), (1e80, 2e-160)] {
            let kernel = |scale: f64| format!("sig_pde:scale={scale:e}").parse::<Kernel>().unwrap();
            let sized = walks(&[30, 30, 30], 2, 0.1 * size, 3);
            let expected = gram(&kernel(2.0), &plain, Scaling::Raw, &run).unwrap().matrix;
            let found = gram(&kernel(scale), &sized, Scaling::Raw, &run).unwrap().matrix;
            for (found, expected) in found.values().iter().zip(expected.values()) {
                assert!((found / expected - 1.0).abs() < 3e-8, "{size:e}: {found} {expected}");
            }
        }
    }
}
