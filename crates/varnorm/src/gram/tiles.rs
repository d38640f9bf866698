//! [`Tiling`]: the shape of the pieces that a Gram matrix is computed in.

use super::{Gram, Output, Scaling, diagonals, finish_gram, prepared, walk_all};
use crate::data::SeriesSet;
use crate::error::Result;
use crate::kernel::Kernel;
use crate::kernel::pass::{Sets, plan};
use crate::linalg::matrix::Scaled;
use crate::run::Run;

/// Tile shape. The results do not depend on it; only speed does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiling {
    /// Rows of a strip, at most.
    pub rows: usize,
    /// Columns of a tile.
    pub columns: usize,
}

impl Default for Tiling {
    /// 96 x 128: packed rows, packed columns and sums together fit the second-level cache.
    fn default() -> Self {
        Self { rows: 96, columns: 128 }
    }
}

/// The Gram matrices of many kernels, from as few walks over the pairs as possible, in tiles of the caller's.
pub fn grams_in_tiles(
    kernels: &[Kernel],
    set: &SeriesSet,
    scaling: Scaling,
    tiling: Tiling,
    run: &Run,
) -> Result<Vec<Gram>> {
    let plain = match scaling {
        Scaling::Normalized => Scaling::Raw,
        Scaling::LogNormalized => Scaling::Log,
        other => other,
    };
    let mut grams: Vec<Option<Gram>> = kernels.iter().map(|_| None).collect();
    for planned in plan(kernels, set.channels())? {
        let planned = prepared(planned, Sets::One(set), run)?;
        let pass = planned.pass.as_ref();
        // The diagonal comes with the matrix; only where an f64 does not hold every value, and they are to be normalised, it has
        // to be known before. It takes little, and where somebody listens, it lets them hear of slow kernels early.
        let exponents = pass.carries_exponents();
        let before = exponents && (scaling != plain || run.is_heard());
        let known = if before { diagonals(&planned, set, run)? } else { Vec::new() };
        let output = |which: usize| {
            let selves = known.get(which).map_or(&[][..], Vec::as_slice);
            let scaling = if before { scaling } else { plain };
            Output { scaling, exponents, rows: selves, columns: selves }
        };
        let outputs: Vec<Output<'_>> = (0..planned.serves.len()).map(output).collect();
        let mut selves = vec![vec![Scaled::from(0.0); set.len()]; outputs.len()];
        let matrices = walk_all(pass, Sets::One(set), &outputs, &mut selves, tiling, run)?;
        for ((index, matrix), selves) in planned.serves.iter().zip(matrices).zip(selves) {
            grams[*index] = Some(finish_gram(matrix, selves, scaling, before));
        }
    }
    Ok(grams.into_iter().flatten().collect())
}
