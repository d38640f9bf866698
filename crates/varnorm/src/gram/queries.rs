//! A corpus and its queries in one walk: what cross-validation wants of every fold.

use super::{
    Cross, Gram, Output, Pairs, Scaling, SetFeatures, Tiling, diagonal, mirror, strip_height, strips, unit,
    walk_strip,
};
use crate::data::SeriesSet;
use crate::error::Result;
use crate::kernel::Kernel;
use crate::kernel::pass::{Pass, plan};
use crate::matrix::{Matrix, Scaled};
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
    let mut selves = vec![vec![Scaled::from(0.0); set.len()]; kernels.len()];
    let mut matrices: Vec<Matrix> = kernels.iter().map(|_| Matrix::zeros(corpus, set.len())).collect();
    for mut pass in plan(kernels, set.channels())? {
        pass.check(set, set)?;
        pass.prepare(set, set, run)?;
        own_values(pass.as_ref(), set, &mut selves)?;
        let outputs: Vec<Output<'_>> = selves
            .iter()
            .map(|s| Output { scaling: Scaling::Normalized, exponents: true, rows: s, columns: s })
            .collect();
        let features = SetFeatures::new(pass.as_ref(), Pairs::Within(set), run)?;
        let tiling = Tiling::default();
        let tasks = strips(&mut matrices, pass.serves(), strip_height(corpus, tiling, run), corpus);
        run.for_each("kernel values", tasks, |strip| {
            walk_strip(pass.as_ref(), Pairs::Within(set), &features, strip, &outputs, tiling, run)
        })?;
    }
    Ok(matrices.iter().zip(selves).map(|(matrix, selves)| parts(matrix, selves, corpus)).collect())
}

/// `k(x,x)` of all series under the kernels of one pass.
fn own_values(pass: &dyn Pass, set: &SeriesSet, all: &mut [Vec<Scaled>]) -> Result<()> {
    let serves = pass.serves();
    let of_pass = all.iter_mut().enumerate().filter(|(index, _)| serves.contains(index));
    diagonal(pass, set, 0, of_pass.map(|(_, values)| values.as_mut_slice()).collect())
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
