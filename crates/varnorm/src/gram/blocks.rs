//! A matrix in blocks that are worked out apart, on whatever machine: together they have the bits of the whole.

use super::{Output, Scaling, Tiling, factor, plan_one, prepared, walk_all};
use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::pass::Sets;
use crate::linalg::matrix::{Matrix, Scaled};
use crate::run::Run;

/// Series of a block with their `k(x,x)`, as [`self_values`](super::self_values) gives them.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The series.
    pub set: &'a SeriesSet,
    /// One per series; only read where values are normalised, and empty will do elsewhere.
    pub self_values: &'a [Scaled],
}

/// Whether a kernel can take these two sets, which may be one; the kernel must be resolved. Nothing is worked out.
pub fn check(kernel: &Kernel, rows: &SeriesSet, columns: &SeriesSet) -> Result<()> {
    require_channels(rows, columns)?;
    let sets = Sets::Two(rows, columns);
    let pass = plan_one(kernel, columns.channels())?.pass;
    pass.check(sets).and_then(|()| pass.check_values(sets))
}

/// Rows and columns are of the same channels.
pub(super) fn require_channels(rows: &SeriesSet, columns: &SeriesSet) -> Result<()> {
    if rows.channels() == columns.channels() {
        return Ok(());
    }
    Err(Error::Channels {
        found: rows.channels(),
        expected: columns.channels(),
        advice: "compare series of the same channels".into(),
    })
}

/// A block of the matrix that [`gram`](super::gram) makes, above its diagonal: the series of `rows` come before those of
/// `columns` in the set. A block on the diagonal is the Gram matrix of its own series.
pub fn gram_block(
    kernel: &Kernel,
    rows: Side<'_>,
    columns: Side<'_>,
    scaling: Scaling,
    run: &Run,
) -> Result<Matrix> {
    block(kernel, rows, columns, scaling, true, run)
}

/// A block of the matrix that [`cross`](super::cross) makes.
pub fn cross_block(
    kernel: &Kernel,
    rows: Side<'_>,
    columns: Side<'_>,
    scaling: Scaling,
    run: &Run,
) -> Result<Matrix> {
    block(kernel, rows, columns, scaling, false, run)
}

fn block(
    kernel: &Kernel,
    rows: Side<'_>,
    columns: Side<'_>,
    scaling: Scaling,
    within: bool,
    run: &Run,
) -> Result<Matrix> {
    if matches!(scaling, Scaling::Normalized | Scaling::LogNormalized) {
        for side in [rows, columns] {
            let (found, series) = (side.self_values.len(), side.set.len());
            if found != series {
                let rule = format!("there are {series} series, and each needs its own");
                return Err(Error::bad_param("self_values", found, rule));
            }
        }
    }
    require_channels(rows.set, columns.set)?;
    let sets = Sets::Two(rows.set, columns.set);
    let pass = prepared(plan_one(kernel, columns.set.channels())?, sets, run)?.pass;
    let exponents = pass.carries_exponents();
    // Where an f64 holds every value, a Gram matrix is normalised by factors, after the walk.
    let by_factors = within && !exponents && scaling == Scaling::Normalized;
    let scaling = if by_factors { Scaling::Raw } else { scaling };
    let outputs = [Output { scaling, exponents, rows: rows.self_values, columns: columns.self_values }];
    let mut matrices = walk_all(pass.as_ref(), sets, &outputs, &mut [], Tiling::default(), run)?;
    let mut matrix = matrices.pop().unwrap_or_else(|| Matrix::zeros(rows.set.len(), columns.set.len()));
    if by_factors {
        let factors: Vec<f64> = columns.self_values.iter().map(|s| factor(s.mantissa)).collect();
        for (i, own) in rows.self_values.iter().enumerate() {
            let own = factor(own.mantissa);
            matrix.row_mut(i).iter_mut().zip(&factors).for_each(|(value, factor)| *value *= own * factor);
        }
    }
    Ok(matrix)
}
