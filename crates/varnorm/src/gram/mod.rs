//! Gram matrices: the only parallel loop over pairs of series.
//!
//! A strip of rows is one task and owns its part of the output; inside it the columns go by in tiles. The upper
//! triangle is computed and mirrored, so that a Gram matrix is exactly symmetric; every cell is computed in one
//! fixed order, so that it has the same bits for any number of threads and any tile size.

pub(crate) mod blocks;
pub(crate) mod queries;
pub(crate) mod tiles;

pub use crate::linalg::matrix::Scaled;

use std::ops::Range;

use crate::data::SeriesSet;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::pass::{Pass, Planned, Sets, Tile, Values, plan};
use crate::linalg::matrix::{Matrix, power_of_two};
use crate::memory;
use crate::run::Run;
use crate::words::{Vocabulary, Word, spelled};
use tiles::{Tiling, grams_in_tiles};

/// What to do where kernel values do not fit into memory.
const ADVICE: &str = "give fewer series or kernels at a time; a detector can do without all pairs (space landmarks:256, or features)";

/// Whether kernel values are taken as they are or in feature space of unit length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scaling {
    /// `k(x,y)`.
    Raw,
    /// `k(x,y) / sqrt(k(x,x) k(y,y))`; a series with `k(x,x) = 0` is the origin and has value 0 with all.
    #[default]
    Normalized,
    /// `ln k(x,y)`, for values that no `f64` can hold; an error where a value is negative.
    Log,
    /// The logarithm of the normalised value, likewise.
    LogNormalized,
}

const SCALINGS: Vocabulary = Vocabulary::names("scaling", "a scaling", Scaling::WORDS);

spelled!(Scaling, SCALINGS);

impl Scaling {
    /// Every scaling, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("raw", "k(x,y)"),
        Word::new("normalized", "k(x,y) / sqrt(k(x,x) k(y,y))"),
        Word::new("log", "ln k(x,y)"),
        Word::new("log_normalized", "The logarithm of the normalised value"),
    ];

    /// From its two parts.
    pub fn of(normalized: bool, log: bool) -> Self {
        match (normalized, log) {
            (false, false) => Self::Raw,
            (true, false) => Self::Normalized,
            (false, true) => Self::Log,
            (true, true) => Self::LogNormalized,
        }
    }

    /// The squared length `k(x,x)` in feature space, which normalising makes 1, or 0 for the origin. Logarithms leave it.
    pub(crate) fn square(self, self_value: Scaled) -> f64 {
        match self {
            Self::Normalized => unit(self_value),
            Self::Raw | Self::Log | Self::LogNormalized => self_value.value(),
        }
    }
}

/// The kernel values of a corpus with itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Gram {
    /// The values: symmetric.
    pub matrix: Matrix,
    /// `k(x,x)` before normalising.
    pub self_values: Vec<Scaled>,
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
        let self_values = (0..n).map(|i| matrix.get(i, i).into()).collect();
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
    let mut grams = grams(std::slice::from_ref(kernel), set, scaling, run)?;
    grams.pop().ok_or_else(|| Error::bad_param("kernels", 0, "give at least one kernel"))
}

/// The Gram matrices of many kernels, from as few walks over the pairs as possible.
pub fn grams(kernels: &[Kernel], set: &SeriesSet, scaling: Scaling, run: &Run) -> Result<Vec<Gram>> {
    grams_in_tiles(kernels, set, scaling, Tiling::default(), run)
}

/// The walk that serves one kernel alone.
fn plan_one(kernel: &Kernel, channels: usize) -> Result<Planned> {
    let planned = plan(std::slice::from_ref(kernel), channels)?.pop();
    planned.ok_or_else(|| Error::bad_param("kernels", 0, "give at least one kernel"))
}

/// A pass that can walk over these pairs.
fn prepared(mut planned: Planned, sets: Sets<'_>, run: &Run) -> Result<Planned> {
    // Rows have self-values even where there is no column.
    let sets = if sets.columns().is_empty() { Sets::One(sets.rows()) } else { sets };
    if !sets.rows().is_empty() {
        planned.pass.check(sets)?;
        planned.pass.prepare(sets, run)?;
    }
    Ok(planned)
}

/// Mirrors the upper triangle; normalises by the diagonal where the walk has not done so.
fn finish_gram(mut matrix: Matrix, self_values: Vec<Scaled>, scaling: Scaling, normalized: bool) -> Gram {
    let n = matrix.rows();
    if !normalized {
        let diagonal: Vec<f64> = (0..n).map(|i| matrix.get(i, i)).collect();
        match scaling {
            Scaling::Normalized => normalize(&mut matrix, &diagonal),
            Scaling::LogNormalized => normalize_logarithms(&mut matrix, &diagonal),
            _ => {}
        }
    }
    mirror(&mut matrix);
    if scaling == Scaling::Normalized {
        // Exactly one, whatever the rounding of the square roots.
        (0..n).for_each(|i| matrix.row_mut(i)[i] = unit(self_values[i]));
    }
    Gram { matrix, self_values, scaling }
}

/// `k / sqrt(k_x k_y)` in the upper triangle.
fn normalize(matrix: &mut Matrix, diagonal: &[f64]) {
    let factors: Vec<f64> = diagonal.iter().map(|v| factor(*v)).collect();
    for i in 0..diagonal.len() {
        let cells = matrix.row_mut(i)[i..].iter_mut().zip(&factors[i..]);
        cells.for_each(|(value, factor)| *value *= factors[i] * factor);
    }
}

/// `1 / sqrt(k(x,x))`; the origin has no direction.
fn factor(square: f64) -> f64 {
    if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 }
}

/// `ln k - (ln k_x + ln k_y) / 2` in the upper triangle.
fn normalize_logarithms(matrix: &mut Matrix, diagonal: &[f64]) {
    for i in 0..diagonal.len() {
        let cells = matrix.row_mut(i)[i..].iter_mut().zip(&diagonal[i..]);
        cells.for_each(|(value, other)| *value -= 0.5 * (diagonal[i] + other));
    }
}

/// The kernel values of queries with a corpus whose `k(x,x)` are known (they are part of its [`Gram`]).
pub fn cross(
    kernel: &Kernel,
    queries: &SeriesSet,
    corpus: &SeriesSet,
    corpus_self_values: &[Scaled],
    scaling: Scaling,
    run: &Run,
) -> Result<Cross> {
    blocks::require_channels(queries, corpus)?;
    let sets = Sets::Two(queries, corpus);
    let planned = prepared(plan_one(kernel, corpus.channels())?, sets, run)?;
    let selves = diagonals(&planned, queries, run)?.pop().unwrap_or_default();
    let pass = planned.pass.as_ref();
    let exponents = pass.carries_exponents();
    let outputs = [Output { scaling, exponents, rows: &selves, columns: corpus_self_values }];
    let mut matrices = walk_all(pass, sets, &outputs, &mut [], Tiling::default(), run)?;
    let matrix = matrices.pop().unwrap_or_else(|| Matrix::zeros(queries.len(), corpus.len()));
    let self_values = selves.iter().map(|s| scaling.square(*s)).collect();
    Ok(Cross { matrix, self_values })
}

/// 1 for the square of a unit vector, 0 for that of the origin, which has no direction.
fn unit(square: Scaled) -> f64 {
    if square.mantissa > 0.0 { 1.0 } else { 0.0 }
}

/// `k(x,x)` of every series under every kernel: the Gram matrix's diagonals.
pub fn self_values(kernels: &[Kernel], set: &SeriesSet, run: &Run) -> Result<Vec<Vec<Scaled>>> {
    let mut all = vec![Vec::new(); kernels.len()];
    for planned in plan(kernels, set.channels())? {
        let planned = prepared(planned, Sets::One(set), run)?;
        let found = diagonals(&planned, set, run)?;
        planned.serves.iter().zip(found).for_each(|(index, values)| all[*index] = values);
    }
    Ok(all)
}

/// `k(x,x)` of every series of the set of rows that a pass was prepared for, under each of its kernels.
fn diagonals(planned: &Planned, set: &SeriesSet, run: &Run) -> Result<Vec<Vec<Scaled>>> {
    const SERIES: usize = 64;
    let mut all = vec![vec![Scaled::from(0.0); set.len()]; planned.serves.len()];
    let mut parts: Vec<(usize, Vec<&mut [Scaled]>)> =
        (0..set.len()).step_by(SERIES).map(|start| (start, Vec::new())).collect();
    for values in &mut all {
        parts.iter_mut().zip(values.chunks_mut(SERIES)).for_each(|(part, chunk)| part.1.push(chunk));
    }
    run.for_each("self-values", parts, |(start, outputs)| {
        diagonal(planned.pass.as_ref(), set, start, outputs)
    })?;
    Ok(all)
}

fn diagonal(pass: &dyn Pass, set: &SeriesSet, start: usize, outputs: Vec<&mut [Scaled]>) -> Result<()> {
    let count = outputs.first().map_or(0, |o| o.len());
    let mut kept = vec![0.0; pass.kept() * count];
    pass.walk_diagonal(set, start..start + count, &mut kept)?;
    let (mut mantissas, mut exponents) = (vec![0.0; count], vec![0.0; count]);
    for (which, output) in outputs.into_iter().enumerate() {
        pass.finish(which, &kept, &mut Values { mantissas: &mut mantissas, exponents: &mut exponents });
        for (at, cell) in output.iter_mut().enumerate() {
            finite(mantissas[at], start + at, start + at)?;
            *cell = Scaled { mantissa: mantissas[at], exponent: exponents[at] };
        }
    }
    Ok(())
}

/// What is made of the values of one kernel.
struct Output<'a> {
    scaling: Scaling,
    /// Whether the kernel's values come with exponents.
    exponents: bool,
    /// `k(x,x)` of the row series.
    rows: &'a [Scaled],
    /// `k(y,y)` of the column series.
    columns: &'a [Scaled],
}

impl Output<'_> {
    /// Makes the values of one row of a tile in place.
    fn finish_row(&self, row: usize, first_column: usize, mantissas: &mut [f64], exponents: &[f64]) {
        let columns = first_column..first_column + mantissas.len();
        let cells = mantissas.iter_mut().zip(exponents);
        match self.scaling {
            Scaling::Raw if !self.exponents => {}
            Scaling::Raw => cells.for_each(|(v, e)| *v *= power_of_two(*e)),
            Scaling::Log => {
                cells.for_each(|(v, e)| *v = Scaled { mantissa: *v, exponent: *e }.ln());
            }
            Scaling::LogNormalized => {
                let x = self.rows[row].ln();
                for ((v, e), y) in cells.zip(&self.columns[columns]) {
                    *v = Scaled { mantissa: *v, exponent: *e }.ln() - 0.5 * (x + y.ln());
                }
            }
            Scaling::Normalized => {
                let x = self.rows[row];
                for ((v, e), y) in cells.zip(&self.columns[columns]) {
                    *v = normalized(Scaled { mantissa: *v, exponent: *e }, x, *y);
                }
            }
        }
    }
}

/// `k / sqrt(k_x k_y)`: symmetric in x and y to the bit; 0 where either is the origin.
fn normalized(k: Scaled, x: Scaled, y: Scaled) -> f64 {
    let square = x.mantissa * y.mantissa;
    if square > 0.0 && square < f64::INFINITY {
        // Half of an odd exponent would not be whole: the odd one goes under the root.
        let exponents = x.exponent + y.exponent;
        let odd = exponents.rem_euclid(2.0);
        let root = if odd == 0.0 { square.sqrt() } else { (2.0 * square).sqrt() };
        k.mantissa / root * power_of_two(k.exponent - 0.5 * (exponents - odd))
    } else if x.mantissa > 0.0 && y.mantissa > 0.0 {
        // The product of the mantissas alone is too large or too small.
        k.mantissa / (x.mantissa.sqrt() * y.mantissa.sqrt())
            * (k.exponent - 0.5 * (x.exponent + y.exponent)).exp2()
    } else {
        0.0
    }
}

/// The values of every kernel of a prepared pass, as one matrix each (the upper triangle only, for [`Sets::One`]), and
/// `k(x,x)` of all series where there is place for them.
fn walk_all(
    pass: &dyn Pass,
    sets: Sets<'_>,
    outputs: &[Output<'_>],
    self_values: &mut [Vec<Scaled>],
    tiling: Tiling,
    run: &Run,
) -> Result<Vec<Matrix>> {
    let (row_set, column_set) = (sets.rows(), sets.columns());
    memory::require_matrix(outputs.len() * row_set.len(), column_set.len(), ADVICE)?;
    let mut matrices: Vec<Matrix> =
        outputs.iter().map(|_| Matrix::zeros(row_set.len(), column_set.len())).collect();
    if row_set.is_empty() || column_set.is_empty() {
        return Ok(matrices);
    }
    let height = strip_height(row_set.len(), tiling, run);
    let tasks = strips(&mut matrices, self_values, height, row_set.len());
    run.for_each("kernel values", tasks, |strip| walk_strip(pass, sets, strip, outputs, tiling, run))?;
    Ok(matrices)
}

/// Small enough that each of several threads gets several strips, large enough to be worth packing.
fn strip_height(rows: usize, tiling: Tiling, run: &Run) -> usize {
    let fair = if run.threads() == 1 { rows } else { rows.div_ceil(4 * run.threads()).max(12) };
    fair.min(tiling.rows).max(1)
}

/// Some rows of the output matrices of one pass.
struct Strip<'a> {
    rows: Range<usize>,
    /// One per kernel served: its matrix's cells of these rows.
    outputs: Vec<&'a mut [f64]>,
    /// One per kernel served: `k(x,x)` of the series of these rows; none where they are not wanted.
    self_values: Vec<&'a mut [Scaled]>,
}

fn strips<'a>(
    matrices: &'a mut [Matrix],
    self_values: &'a mut [Vec<Scaled>],
    height: usize,
    total: usize,
) -> Vec<Strip<'a>> {
    let empty =
        |r: usize| Strip { rows: r..(r + height).min(total), outputs: Vec::new(), self_values: Vec::new() };
    let mut strips: Vec<Strip<'_>> = (0..total).step_by(height).map(empty).collect();
    for values in self_values {
        let chunks = values.chunks_mut(height);
        strips.iter_mut().zip(chunks).for_each(|(strip, chunk)| strip.self_values.push(chunk));
    }
    for matrix in matrices {
        let columns = matrix.columns();
        let chunks = matrix.values_mut().chunks_mut(height * columns);
        strips.iter_mut().zip(chunks).for_each(|(strip, chunk)| strip.outputs.push(chunk));
    }
    strips
}

fn walk_strip(
    pass: &dyn Pass,
    sets: Sets<'_>,
    mut strip: Strip<'_>,
    outputs: &[Output<'_>],
    tiling: Tiling,
    run: &Run,
) -> Result<()> {
    let upper = sets.are_one();
    let first_column = if upper { strip.rows.start } else { 0 };
    let columns = sets.columns().len();
    let mut kept = Vec::new();
    let (mut mantissas, mut exponents) = (Vec::new(), Vec::new());
    for start in (first_column..columns).step_by(tiling.columns.max(1)) {
        run.check()?;
        let width = tiling.columns.max(1).min(columns - start);
        let tile = Tile { sets, rows: strip.rows.clone(), columns: start..start + width, run };
        kept.resize(pass.kept() * tile.pairs(), 0.0);
        mantissas.resize(tile.pairs(), 0.0);
        exponents.resize(tile.pairs(), 0.0);
        pass.walk(&tile, &mut kept)?;
        run.check()?;
        for (which, cells) in strip.outputs.iter_mut().enumerate() {
            pass.finish(which, &kept, &mut Values { mantissas: &mut mantissas, exponents: &mut exponents });
            let output = &outputs[which];
            let rows = mantissas.chunks_exact_mut(width).zip(exponents.chunks_exact(width));
            for (r, (values, exponents)) in rows.enumerate() {
                let row = strip.rows.start + r;
                // Cells left of the diagonal are mirrored later: a walk need not have filled them.
                let skip = if upper { row.saturating_sub(start).min(width) } else { 0 };
                let (values, exponents) = (&mut values[skip..], &exponents[skip..]);
                let first = values.first().zip(exponents.first()).filter(|_| start + skip == row);
                if let Some((selves, (mantissa, exponent))) = strip.self_values.get_mut(which).zip(first) {
                    selves[r] = Scaled { mantissa: *mantissa, exponent: *exponent };
                }
                output.finish_row(row, start + skip, values, exponents);
                if let Some(bad) = values.iter().position(|v| !v.is_finite()) {
                    unusable(output.scaling, values[bad], row, start + skip + bad)?;
                }
                cells[r * columns + start + skip..r * columns + start + width].copy_from_slice(values);
            }
        }
    }
    Ok(())
}

/// Logarithms may be minus infinity (a value of zero), but not NaN (a negative value).
fn unusable(scaling: Scaling, value: f64, row: usize, column: usize) -> Result<()> {
    match scaling {
        Scaling::Log | Scaling::LogNormalized if value.is_nan() => Err(Error::bad_param(
            "log",
            format!("series {row} and {column}"),
            "the kernel value is negative and has no logarithm; leave the logarithm out",
        )),
        Scaling::Log | Scaling::LogNormalized => Ok(()),
        _ => finite(value, row, column),
    }
}

fn finite(value: f64, row: usize, column: usize) -> Result<()> {
    if value.is_finite() { Ok(()) } else { Err(Error::KernelValue { row, column, value }) }
}

fn require_finite(matrix: &Matrix, from: usize) -> Result<()> {
    (from..matrix.rows())
        .try_for_each(|i| matrix.row(i).iter().enumerate().try_for_each(|(j, v)| finite(*v, i, j)))
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
