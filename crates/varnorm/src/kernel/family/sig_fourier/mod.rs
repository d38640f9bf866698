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

use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::drive::vectors::{self, Features, Prepared};
use crate::kernel::family::sig::Finish;
use crate::kernel::pass::{Pass, Sets, Tile, Values};
use crate::linalg::matrix::Matrix;
use crate::run::Run;
pub use map::Form;
use map::{FourierMap, Shape};

/// More features than this would be a mistake: projections take `8 M^2` bytes per level.
const MOST_FEATURES: u32 = 4096;
/// Most numbers of a series in the form `diagonal`.
const MOST_NUMBERS: usize = 1 << 17;

/// An error if they are too many.
pub(crate) fn validate(level: u32, features: u32, form: Form) -> Result<()> {
    if !(1..=MOST_FEATURES).contains(&features) {
        return Err(Error::bad_param("features", features, format!("must be from 1 to {MOST_FEATURES}")));
    }
    let numbers = (features as usize).saturating_mul(2usize.checked_shl(level).unwrap_or(usize::MAX));
    if form == Form::Diagonal && numbers > MOST_NUMBERS {
        let rule = format!(
            "the form diagonal has about 2^(level+1) times as many numbers, here more than {MOST_NUMBERS}; \
             choose fewer, a lower level, or the form tensor"
        );
        return Err(Error::bad_param("features", features, rule));
    }
    Ok(())
}

/// The random Fourier signature features of all series, one row each, of a kernel `sig_fourier` without `auto`.
///
/// A row has the constant 1, then the features of every level m times `scale^(m/2)`: the kernel is the inner product of
/// two rows. One seed means the same features on every machine, up to rounding.
pub fn fourier_signature_features(set: &SeriesSet, kernel: &Kernel, run: &Run) -> Result<Matrix> {
    kernel.validate()?;
    let (shape, scale) = asked(kernel)?;
    let features = Features::of_set(&FourierMap::new(shape, set.channels()), set, run)?;
    let length = 1 + features.blocks.iter().map(|(depth, _)| depth).sum::<usize>();
    let mut matrix = Matrix::zeros(set.len(), length);
    for i in 0..set.len() {
        let (one, mut row) = matrix.row_mut(i).split_at_mut(1);
        one[0] = 1.0;
        let mut weight = 1.0;
        for (depth, values) in &features.blocks {
            weight *= scale.sqrt();
            let (part, rest) = row.split_at_mut(*depth);
            let values = &values[i * depth..(i + 1) * depth];
            part.iter_mut().zip(values).for_each(|(feature, value)| *feature = weight * value);
            row = rest;
        }
    }
    Ok(matrix)
}

/// What a kernel asks for, and its scale.
fn asked(kernel: &Kernel) -> Result<(Shape, f64)> {
    let Kernel::SigFourier { level, features, form, sigma, scale, seed } = kernel else {
        return Err(Error::bad_param("kernel", kernel, "must be sig_fourier"));
    };
    let (levels, features) = (*level as usize, *features as usize);
    let shape = Shape { form: *form, levels, features, sigma: sigma.resolved("sigma")?, seed: *seed };
    Ok((shape, scale.resolved("scale")?))
}

/// The walk of kernels that differ in level and scale alone: inner products of features, which
/// [`prepare`](Pass::prepare) makes.
pub(crate) struct FourierPass {
    serves: Vec<usize>,
    finish: Vec<Finish>,
    shape: Shape,
    made: Option<(FourierMap, Prepared)>,
}

/// Adds a kernel to the pass that can serve it, or to a new one.
pub(crate) fn add(passes: &mut Vec<FourierPass>, index: usize, kernel: &Kernel) -> Result<()> {
    let (shape, scale) = asked(kernel)?;
    let same = |pass: &FourierPass| Shape { levels: shape.levels, ..pass.shape } == shape;
    let at = passes.iter().position(same).unwrap_or(passes.len());
    if at == passes.len() {
        passes.push(FourierPass { serves: Vec::new(), finish: Vec::new(), shape, made: None });
    }
    let pass = &mut passes[at];
    pass.shape.levels = pass.shape.levels.max(shape.levels);
    pass.finish.push(Finish { set: 0, level: shape.levels, scale, single: false });
    pass.serves.push(index);
    Ok(())
}

impl Pass for FourierPass {
    fn serves(&self) -> &[usize] {
        &self.serves
    }

    fn check(&self, _sets: Sets<'_>) -> Result<()> {
        Ok(())
    }

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
