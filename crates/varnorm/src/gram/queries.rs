//! A corpus and its queries in one walk: what cross-validation wants of every fold.

use super::tiles::Tiling;
use super::{
    Cross, Gram, Output, Scaling, diagonals, mirror, prepared, strip_height, strips, unit, walk_strip,
};
use crate::data::SeriesSet;
use crate::error::Result;
use crate::kernel::Kernel;
use crate::kernel::pass::{Sets, plan};
use crate::linalg::matrix::{Matrix, Scaled};
use crate::run::Run;

/// The normalised Gram matrices of the first `corpus` series of a set, and the values of the rest of them with
/// those, for many kernels.
///
/// What a kernel makes once per series (features, self-values) is made once; pairs of queries are not computed.
pub fn with_queries(
    kernels: &[Kernel],
    set: &SeriesSet,
    corpus: usize,
    run: &Run,
) -> Result<Vec<(Gram, Cross)>> {
    let mut found: Vec<Option<(Gram, Cross)>> = kernels.iter().map(|_| None).collect();
    for planned in plan(kernels, set.channels())? {
        let planned = prepared(planned, Sets::One(set), run)?;
        let selves = diagonals(&planned, set, run)?;
        let outputs: Vec<Output<'_>> = selves
            .iter()
            .map(|s| Output { scaling: Scaling::Normalized, exponents: true, rows: s, columns: s })
            .collect();
        crate::memory::require_matrix(2 * selves.len() * corpus, set.len(), super::ADVICE)?;
        let mut matrices: Vec<Matrix> = selves.iter().map(|_| Matrix::zeros(corpus, set.len())).collect();
        let tiling = Tiling::default();
        let tasks = strips(&mut matrices, &mut [], strip_height(corpus, tiling, run), corpus);
        run.for_each("kernel values", tasks, |strip| {
            walk_strip(planned.pass.as_ref(), Sets::One(set), strip, &outputs, tiling, run)
        })?;
        for ((index, matrix), selves) in planned.serves.iter().zip(&matrices).zip(selves.clone()) {
            found[*index] = Some(parts(matrix, selves, corpus));
        }
    }
    Ok(found.into_iter().flatten().collect())
}

/// The square on the left is the corpus with itself, the rest its values with the queries, lying on its side.
fn parts(matrix: &Matrix, mut selves: Vec<Scaled>, corpus: usize) -> (Gram, Cross) {
    let queries = selves.split_off(corpus);
    let (mut square, mut cross) = (Matrix::zeros(corpus, corpus), Matrix::zeros(queries.len(), corpus));
    for i in 0..corpus {
        let row = matrix.row(i);
        square.row_mut(i).copy_from_slice(&row[..corpus]);
        // Exactly one, whatever the rounding of the square roots.
        square.row_mut(i)[i] = unit(selves[i]);
        row[corpus..].iter().enumerate().for_each(|(q, value)| cross.row_mut(q)[i] = *value);
    }
    mirror(&mut square);
    let gram = Gram { matrix: square, self_values: selves, scaling: Scaling::Normalized };
    (gram, Cross { matrix: cross, self_values: queries.into_iter().map(unit).collect() })
}
