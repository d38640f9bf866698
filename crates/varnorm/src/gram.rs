//! Gram matrices: the only parallel loop over pairs of series.
//!
//! A strip of rows is one task and owns its part of the output; inside it the columns go by in tiles. The upper
//! triangle is computed and mirrored, so that a Gram matrix is exactly symmetric; every cell is computed in one
//! fixed order, so that it has the same bits for any number of threads and any tile size.

use std::ops::Range;

use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::pass::{Pass, Tile, plan};
use crate::matrix::Matrix;
use crate::run::Run;

/// Whether kernel values are taken as they are or in feature space of unit length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scaling {
    /// `k(x,y)`.
    Raw,
    /// `k(x,y) / sqrt(k(x,x) k(y,y))`; a series with `k(x,x) = 0` is the origin and has value 0 with all.
    #[default]
    Normalized,
}

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

/// The kernel values of a corpus with itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Gram {
    /// The values: symmetric.
    pub matrix: Matrix,
    /// `k(x,x)` before normalising.
    pub self_values: Vec<f64>,
    /// What was done to the values.
    pub scaling: Scaling,
}

/// The kernel values of some queries (rows) with a corpus (columns).
#[derive(Debug, Clone, PartialEq)]
pub struct Cross {
    /// The values.
    pub matrix: Matrix,
    /// `k(y,y)` of the queries, after normalising if that was asked for.
    pub self_values: Vec<f64>,
}

impl Gram {
    /// A user's own inner products. The matrix must be square, finite and symmetric to rounding; the upper
    /// triangle counts.
    pub fn from_matrix(mut matrix: Matrix) -> Result<Self> {
        let n = matrix.rows();
        if n != matrix.columns() || n == 0 {
            return Err(Error::bad_param(
                "gram",
                format!("{n} x {}", matrix.columns()),
                "a Gram matrix is square and not empty",
            ));
        }
        require_finite(&matrix, 0)?;
        let largest = matrix.values().iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        for i in 0..n {
            for j in 0..i {
                if (matrix.get(i, j) - matrix.get(j, i)).abs() > 1e-8 * largest {
                    return Err(Error::bad_param(
                        "gram",
                        format!("cell ({i}, {j})"),
                        "a Gram matrix is symmetric",
                    ));
                }
            }
        }
        mirror(&mut matrix);
        let self_values = diagonal(&matrix);
        Ok(Self { matrix, self_values, scaling: Scaling::Raw })
    }

    /// Number of series.
    pub fn len(&self) -> usize {
        self.matrix.rows()
    }

    /// Whether there is no series.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The Gram matrix of some of the series.
    pub fn select(&self, indices: &[usize]) -> Self {
        Self {
            matrix: self.matrix.select(indices, indices),
            self_values: indices.iter().map(|&i| self.self_values[i]).collect(),
            scaling: self.scaling,
        }
    }

    /// Some of the series as queries against others.
    pub fn cross(&self, queries: &[usize], corpus: &[usize]) -> Cross {
        Cross {
            matrix: self.matrix.select(queries, corpus),
            self_values: queries.iter().map(|&i| self.matrix.get(i, i)).collect(),
        }
    }
}

/// The Gram matrix of one kernel. The kernel must be resolved (see [`Kernel::resolve`]).
pub fn gram(kernel: &Kernel, set: &SeriesSet, scaling: Scaling, run: &Run) -> Result<Gram> {
    let mut grams = grams(std::slice::from_ref(kernel), set, scaling, Tiling::default(), run)?;
    grams.pop().ok_or_else(|| Error::bad_param("kernels", 0, "give at least one kernel"))
}

/// The Gram matrices of many kernels, from as few walks over the pairs as possible.
pub fn grams(
    kernels: &[Kernel],
    set: &SeriesSet,
    scaling: Scaling,
    tiling: Tiling,
    run: &Run,
) -> Result<Vec<Gram>> {
    let mut matrices = walk_all(kernels, Pairs::Within(set), tiling, run)?;
    matrices.iter_mut().for_each(mirror);
    Ok(matrices
        .into_iter()
        .map(|mut matrix| {
            let self_values = diagonal(&matrix);
            if scaling == Scaling::Normalized {
                normalize(&mut matrix, &self_values, &self_values);
                // Exactly one, whatever the rounding of the square roots.
                (0..self_values.len())
                    .for_each(|i| matrix.row_mut(i)[i] = f64::from(u8::from(self_values[i] > 0.0)));
            }
            Gram { matrix, self_values, scaling }
        })
        .collect())
}

/// The kernel values of queries with a corpus whose `k(x,x)` are known (they are part of its [`Gram`]).
pub fn cross(
    kernel: &Kernel,
    queries: &SeriesSet,
    corpus: &SeriesSet,
    corpus_self_values: &[f64],
    scaling: Scaling,
    run: &Run,
) -> Result<Cross> {
    let kernels = std::slice::from_ref(kernel);
    let mut self_values = self_values(kernel, queries, run)?;
    let mut matrices = walk_all(kernels, Pairs::Between(queries, corpus), Tiling::default(), run)?;
    let Some(mut matrix) = matrices.pop() else {
        return Err(Error::bad_param("kernels", 0, "give at least one kernel"));
    };
    if scaling == Scaling::Normalized {
        normalize(&mut matrix, &self_values, corpus_self_values);
        self_values.iter_mut().for_each(|v| *v = f64::from(u8::from(*v > 0.0)));
    }
    Ok(Cross { matrix, self_values })
}

/// `k(x,x)` of every series: the bits of the Gram matrix's diagonal.
pub fn self_values(kernel: &Kernel, set: &SeriesSet, run: &Run) -> Result<Vec<f64>> {
    let mut values = vec![0.0; set.len()];
    for pass in plan(std::slice::from_ref(kernel))? {
        if set.is_empty() {
            continue;
        }
        pass.check(set, set)?;
        let tasks: Vec<(usize, &mut f64)> = values.iter_mut().enumerate().collect();
        run.for_each("kernel values", tasks, |(i, value)| {
            let mut kept = vec![0.0; pass.kept()];
            let tile = Tile { row_set: set, rows: i..i + 1, column_set: set, columns: i..i + 1 };
            pass.walk(&tile, &mut Vec::new(), &mut kept);
            pass.finish(0, &kept, std::slice::from_mut(value));
            finite(*value, i, i)
        })?;
    }
    Ok(values)
}

/// Natural logarithms of a matrix of kernel values; an error where a value is negative.
pub fn logarithms(matrix: &mut Matrix) -> Result<()> {
    let columns = matrix.columns();
    for (at, value) in matrix.values_mut().iter_mut().enumerate() {
        if *value < 0.0 {
            return Err(Error::bad_param(
                "log",
                format!("{value} at row {}, column {}", at / columns, at % columns),
                "this kernel takes negative values, which have no logarithm; leave --log out",
            ));
        }
        *value = value.ln();
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Pairs<'a> {
    /// All pairs of one set; only those with column >= row are computed.
    Within(&'a SeriesSet),
    /// Every series of the first with every one of the second.
    Between(&'a SeriesSet, &'a SeriesSet),
}

/// The values of every kernel, as one matrix each (the upper triangle only, for [`Pairs::Within`]).
fn walk_all(kernels: &[Kernel], pairs: Pairs<'_>, tiling: Tiling, run: &Run) -> Result<Vec<Matrix>> {
    let (row_set, column_set) = match pairs {
        Pairs::Within(set) => (set, set),
        Pairs::Between(rows, columns) => (rows, columns),
    };
    if row_set.channels() != column_set.channels() {
        return Err(Error::Channels {
            found: row_set.channels(),
            expected: column_set.channels(),
            advice: "compare series of the same channels".into(),
        });
    }
    let passes = plan(kernels)?;
    let mut matrices: Vec<Matrix> =
        kernels.iter().map(|_| Matrix::zeros(row_set.len(), column_set.len())).collect();
    if row_set.is_empty() || column_set.is_empty() {
        return Ok(matrices);
    }
    for pass in &passes {
        pass.check(row_set, column_set)?;
        let height = strip_height(row_set.len(), tiling, run);
        let tasks = strips(&mut matrices, pass.serves(), height, row_set.len());
        run.for_each("kernel values", tasks, |strip| {
            let first = if matches!(pairs, Pairs::Within(_)) { strip.rows.start } else { 0 };
            walk_strip(pass.as_ref(), row_set, column_set, strip, first, tiling, run)
        })?;
    }
    Ok(matrices)
}

/// Small enough that every thread gets several strips, large enough to be worth packing.
fn strip_height(rows: usize, tiling: Tiling, run: &Run) -> usize {
    let fair = rows.div_ceil(4 * run.threads()).max(12);
    fair.min(tiling.rows).max(1)
}

/// Some rows of the output matrices of one pass.
struct Strip<'a> {
    rows: Range<usize>,
    /// One per kernel served: its matrix's cells of these rows.
    outputs: Vec<&'a mut [f64]>,
}

fn strips<'a>(matrices: &'a mut [Matrix], serves: &[usize], height: usize, total: usize) -> Vec<Strip<'a>> {
    let mut strips: Vec<Strip<'a>> = (0..total)
        .step_by(height)
        .map(|r| Strip { rows: r..(r + height).min(total), outputs: Vec::new() })
        .collect();
    for (index, matrix) in matrices.iter_mut().enumerate() {
        if serves.contains(&index) {
            let columns = matrix.columns();
            let chunks = matrix.values_mut().chunks_mut(height * columns);
            strips.iter_mut().zip(chunks).for_each(|(strip, chunk)| strip.outputs.push(chunk));
        }
    }
    strips
}

fn walk_strip(
    pass: &dyn Pass,
    row_set: &SeriesSet,
    column_set: &SeriesSet,
    mut strip: Strip<'_>,
    first_column: usize,
    tiling: Tiling,
    run: &Run,
) -> Result<()> {
    let columns = column_set.len();
    let (mut scratch, mut kept, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for start in (first_column..columns).step_by(tiling.columns.max(1)) {
        run.check()?;
        let width = tiling.columns.max(1).min(columns - start);
        let tile = Tile { row_set, rows: strip.rows.clone(), column_set, columns: start..start + width };
        kept.resize(pass.kept() * tile.pairs(), 0.0);
        values.resize(tile.pairs(), 0.0);
        pass.walk(&tile, &mut scratch, &mut kept);
        for (which, output) in strip.outputs.iter_mut().enumerate() {
            pass.finish(which, &kept, &mut values);
            for (r, row) in values.chunks_exact(width).enumerate() {
                if let Some(bad) = row.iter().position(|v| !v.is_finite()) {
                    finite(row[bad], strip.rows.start + r, start + bad)?;
                }
                output[r * columns + start..r * columns + start + width].copy_from_slice(row);
            }
        }
    }
    Ok(())
}

fn finite(value: f64, row: usize, column: usize) -> Result<()> {
    if value.is_finite() { Ok(()) } else { Err(Error::KernelValue { row, column, value }) }
}

fn require_finite(matrix: &Matrix, from: usize) -> Result<()> {
    (from..matrix.rows())
        .try_for_each(|i| matrix.row(i).iter().enumerate().try_for_each(|(j, v)| finite(*v, i, j)))
}

fn diagonal(matrix: &Matrix) -> Vec<f64> {
    (0..matrix.rows()).map(|i| matrix.get(i, i)).collect()
}

/// Copies the upper triangle to the lower one, in blocks that stay in the cache.
fn mirror(matrix: &mut Matrix) {
    const BLOCK: usize = 32;
    let n = matrix.rows();
    let values = matrix.values_mut();
    for rows in (0..n).step_by(BLOCK) {
        for columns in (0..=rows).step_by(BLOCK) {
            for i in rows..(rows + BLOCK).min(n) {
                for j in columns..(columns + BLOCK).min(i) {
                    values[i * n + j] = values[j * n + i];
                }
            }
        }
    }
}

fn normalize(matrix: &mut Matrix, row_self: &[f64], column_self: &[f64]) {
    let inverse = |v: &f64| if *v > 0.0 { 1.0 / v.sqrt() } else { 0.0 };
    let column_factors: Vec<f64> = column_self.iter().map(inverse).collect();
    for (i, row_self) in row_self.iter().enumerate() {
        let factor = inverse(row_self);
        for (value, column_factor) in matrix.row_mut(i).iter_mut().zip(&column_factors) {
            // One product of the factors, so that (i, j) and (j, i) round alike.
            *value *= factor * column_factor;
        }
    }
}
