//! The sweep over coordinates that detectors and studies share: every rank of every norm from running sums.
//!
//! A squared norm at rank r is a weighted sum over the first r coordinates, plus what lies outside of them. One walk over the
//! coordinates therefore gives all ranks, and all norms share its squares. What is made of the sums differs: a detector wants
//! the distances to all corpus series, a study only the smallest, of dozens of norms.

use crate::gram::Cross;
use crate::linalg::matrix::Matrix;
use crate::norm::{Norm, Outside};
use crate::simd::{Isa, W, Work, dispatch};
use crate::spectrum::{Projection, Spectrum};

/// Norms over the eigenvalues of one spectrum, ready to be summed.
pub struct Norms {
    /// Coordinate after coordinate, the weight of each norm.
    weights: Vec<f64>,
    outside: Vec<Outside>,
    /// [`Outside::factor`] of each norm.
    factors: Vec<f64>,
}

impl Norms {
    /// Each norm with its regularisation.
    pub fn new(spectrum: &Spectrum, norms: &[(Norm, f64)]) -> Self {
        let weights = spectrum.eigenvalues().iter();
        let off_span = spectrum.off_span();
        let outside: Vec<Outside> = norms.iter().map(|(norm, a)| norm.outside(*a, off_span)).collect();
        Self {
            weights: weights
                .flat_map(|value| norms.iter().map(|(norm, a)| norm.weight(*value, *a)))
                .collect(),
            factors: outside.iter().map(|outside| outside.factor()).collect(),
            outside,
        }
    }

    fn len(&self) -> usize {
        self.outside.len()
    }

    /// The weights of all norms along one coordinate.
    #[inline(always)]
    fn along(&self, coordinate: usize) -> &[f64] {
        &self.weights[coordinate * self.len()..][..self.len()]
    }

    /// The squared norms of a difference from the mean under the first norm: `take` gets the place of the rank and the square.
    pub(super) fn mahalanobis(&self, query: &Query<'_>, ranks: &[usize], mut take: impl FnMut(usize, f64)) {
        let whole = self.outside[0];
        self.sums_to_the_mean::<false>(query, ranks, &mut [0.0], |_, rank, inside, outside| {
            take(rank, whole.add(inside, outside));
        });
    }

    /// The sums of a difference from the mean: `take` gets the norm, the place of the rank, what counts inside the span
    /// of the first coordinates, and the squared length outside of it.
    ///
    /// `ONE_BY_ONE`: see [`Take`].
    fn sums_to_the_mean<const ONE_BY_ONE: bool>(
        &self,
        query: &Query<'_>,
        ranks: &[usize],
        sums: &mut [f64],
        mut take: impl FnMut(usize, usize, f64, f64),
    ) {
        sums.fill(0.0);
        let (mut rest, mut done) = (if ONE_BY_ONE { query.squared_norm } else { 0.0 }, 0);
        for (r, rank) in ranks.iter().enumerate() {
            for j in done..*rank {
                let square = query.coordinates[j] * query.coordinates[j];
                rest = if ONE_BY_ONE { rest - square } else { rest + square };
                sums.iter_mut().zip(self.along(j)).for_each(|(sum, weight)| *sum += weight * square);
            }
            done = *rank;
            let outside = if ONE_BY_ONE { rest } else { query.squared_norm - rest };
            sums.iter().enumerate().for_each(|(norm, inside)| take(norm, r, *inside, outside));
        }
    }
}

/// One query, ready to be measured.
pub struct Query<'a> {
    products: &'a [f64],
    square: f64,
    coordinates: &'a [f64],
    squared_norm: f64,
}

impl<'a> Query<'a> {
    /// The query of a row of kernel values.
    pub fn new(cross: &'a Cross, projection: &'a Projection, index: usize) -> Self {
        Self {
            products: cross.matrix.row(index),
            square: cross.self_values[index],
            coordinates: projection.coordinates.row(index),
            squared_norm: projection.squared_norms[index],
        }
    }
}

/// A corpus, laid out for sweeps.
pub struct Corpus<'a> {
    /// `<x,x>` of each series.
    squares: &'a [f64],
    rank: usize,
    /// The coordinates, W series side by side: panel after panel, one `[f64; W]` per coordinate. Rows of n numbers each would put
    /// a panel's coordinates `8 n` bytes apart: for round n into one cache set.
    panels: Vec<[f64; W]>,
}

impl<'a> Corpus<'a> {
    /// The corpus of a spectrum.
    pub fn new(spectrum: &'a Spectrum) -> Self {
        Self::at(spectrum, spectrum.coordinates())
    }

    /// The same with coordinates of the caller's: one row per kept eigenvector, one column per series.
    pub fn at(spectrum: &'a Spectrum, coordinates: &Matrix) -> Self {
        let (n, rank) = (spectrum.corpus_len(), spectrum.rank());
        let mut panels = vec![[0.0; W]; n.div_ceil(W) * rank];
        for j in 0..rank {
            for (p, lanes) in coordinates.row(j).chunks(W).enumerate() {
                panels[p * rank + j][..lanes.len()].copy_from_slice(lanes);
            }
        }
        Self { squares: &spectrum.squares, rank, panels }
    }

    /// The squared norms of a query's differences from all series, one row per rank.
    pub(super) fn distances(&self, norm: &Norms, query: &Query<'_>, ranks: &[usize], out: &mut [f64]) {
        let mut take = All { outside: norm.outside[0], count: self.squares.len(), out };
        dispatch(Sweep { corpus: self, norms: norm, query, ranks, sums: [[0.0; W]; 1], take: &mut take });
    }
}

/// What is made of the sums.
trait Take {
    /// Whether squares are taken off the whole one by one, or summed up and taken off together. The last bits differ, and
    /// results on file have been made in both ways.
    const ONE_BY_ONE: bool;

    /// Takes the whole squared lengths of the differences from the series `first..first + W`; infinite where there is none.
    fn whole(&mut self, whole: &[f64; W]);

    /// Takes what counts inside the span of the first coordinates under one norm, at one of the ranks, and the squared lengths
    /// outside of it.
    fn take<I: Isa>(&mut self, norm: usize, rank: usize, first: usize, inside: &[f64; W], outside: &[f64; W]);
}

/// One query against a corpus.
struct Sweep<'a, S, T> {
    corpus: &'a Corpus<'a>,
    norms: &'a Norms,
    query: &'a Query<'a>,
    /// Ascending.
    ranks: &'a [usize],
    /// As many as there are norms. An array of one stays in registers.
    sums: S,
    take: &'a mut T,
}

impl<S: AsMut<[[f64; W]]>, T: Take> Work for Sweep<'_, S, T> {
    #[inline(always)]
    fn run<I: Isa>(mut self) {
        let n = self.corpus.squares.len();
        for first in (0..n).step_by(W) {
            let width = W.min(n - first);
            // |y - x|^2 = <y,y> + <x,x> - 2 <x,y>; lanes without a series are infinitely far.
            let (mut whole, mut far) = ([f64::INFINITY; W], [f64::INFINITY; W]);
            for lane in 0..width {
                let (square, product) =
                    (self.corpus.squares[first + lane], self.query.products[first + lane]);
                whole[lane] = (self.query.square + square - 2.0 * product).max(0.0);
                far[lane] = 0.0;
            }
            self.take.whole(&whole);
            let sums = self.sums.as_mut();
            sums.fill(far);
            let panel = &self.corpus.panels[first / W * self.corpus.rank..];
            let (mut rest, mut done) = (if T::ONE_BY_ONE { whole } else { [0.0; W] }, 0);
            for (r, rank) in self.ranks.iter().enumerate() {
                let (query, lanes) = (&self.query.coordinates[done..*rank], &panel[done..*rank]);
                for (j, (p, lanes)) in (done..).zip(query.iter().zip(lanes)) {
                    let mut squares = [0.0; W];
                    for lane in 0..W {
                        let difference = p - lanes[lane];
                        squares[lane] = difference * difference;
                        rest[lane] = if T::ONE_BY_ONE {
                            rest[lane] - squares[lane]
                        } else {
                            rest[lane] + squares[lane]
                        };
                    }
                    let weights = self.norms.along(j);
                    if j + 1 < *rank {
                        for (sum, weight) in sums.iter_mut().zip(weights) {
                            add::<I>(sum, *weight, &squares);
                        }
                    } else {
                        // Sums are taken while they are in registers.
                        let outside = outside::<T>(&whole, &rest);
                        for (norm, (sum, weight)) in sums.iter_mut().zip(weights).enumerate() {
                            add::<I>(sum, *weight, &squares);
                            self.take.take::<I>(norm, r, first, sum, &outside);
                        }
                    }
                }
                if done == *rank {
                    let outside = outside::<T>(&whole, &rest);
                    for (norm, sum) in sums.iter().enumerate() {
                        self.take.take::<I>(norm, r, first, sum, &outside);
                    }
                }
                done = *rank;
            }
        }
    }
}

/// Adds weighted squares to a sum.
#[inline(always)]
fn add<I: Isa>(sum: &mut [f64; W], weight: f64, squares: &[f64; W]) {
    for lane in 0..W {
        sum[lane] = I::mul_add(weight, squares[lane], sum[lane]);
    }
}

/// The squared lengths outside the span.
#[inline(always)]
fn outside<T: Take>(whole: &[f64; W], rest: &[f64; W]) -> [f64; W] {
    let mut outside = *rest;
    if !T::ONE_BY_ONE {
        for lane in 0..W {
            outside[lane] = whole[lane] - rest[lane];
        }
    }
    outside
}

/// Keeps all squared norms of one norm, one row per rank.
struct All<'a> {
    outside: Outside,
    count: usize,
    out: &'a mut [f64],
}

impl Take for All<'_> {
    const ONE_BY_ONE: bool = false;

    #[inline(always)]
    fn whole(&mut self, _: &[f64; W]) {}

    #[inline(always)]
    fn take<I: Isa>(&mut self, _: usize, rank: usize, first: usize, inside: &[f64; W], outside: &[f64; W]) {
        let width = W.min(self.count - first);
        let cells = &mut self.out[rank * self.count + first..][..width];
        for (lane, cell) in cells.iter_mut().enumerate() {
            *cell = self.outside.add(inside[lane], outside[lane]);
        }
    }
}

/// Keeps the smallest squared norms, lane by lane.
struct Smallest<'a> {
    /// Of what is outside, by norm.
    factors: &'a [f64],
    ranks: usize,
    /// Norm after norm, one per rank.
    best: &'a mut [[f64; W]],
    nearest: [f64; W],
}

impl Take for Smallest<'_> {
    const ONE_BY_ONE: bool = true;

    #[inline(always)]
    fn whole(&mut self, whole: &[f64; W]) {
        for lane in 0..W {
            self.nearest[lane] =
                if whole[lane] < self.nearest[lane] { whole[lane] } else { self.nearest[lane] };
        }
    }

    #[inline(always)]
    fn take<I: Isa>(&mut self, norm: usize, rank: usize, _: usize, inside: &[f64; W], outside: &[f64; W]) {
        let factor = self.factors[norm];
        let best = &mut self.best[norm * self.ranks + rank];
        for lane in 0..W {
            let outside = if outside[lane] > 0.0 { outside[lane] } else { 0.0 };
            let square = if factor > 0.0 { I::mul_add(factor, outside, inside[lane]) } else { inside[lane] };
            best[lane] = if square < best[lane] { square } else { best[lane] };
        }
    }
}

/// The smallest of all lanes.
fn smallest(lanes: &[f64; W]) -> f64 {
    lanes.iter().fold(f64::INFINITY, |m, v| if *v < m { *v } else { m })
}

/// Squared norms for searches over many norms and all ranks: nothing but the smallest is kept of a conformance score, and what is
/// outside is multiplied by 1/alpha instead of divided by alpha. Memory is used again from query to query.
pub struct Search<'a> {
    corpus: Corpus<'a>,
    norms: Norms,
    ranks: Vec<usize>,
    sums: Vec<[f64; W]>,
    means: Vec<f64>,
    best: Vec<[f64; W]>,
}

impl<'a> Search<'a> {
    /// All ranks from 1 to that of the spectrum; a spectrum without rank has one, of no coordinates.
    pub fn new(corpus: Corpus<'a>, norms: Norms) -> Self {
        let ranks: Vec<usize> = if corpus.rank == 0 { vec![0] } else { (1..=corpus.rank).collect() };
        let sums = vec![[0.0; W]; norms.len()];
        let means = vec![0.0; norms.len()];
        let best = vec![[f64::INFINITY; W]; norms.len() * ranks.len()];
        Self { corpus, norms, ranks, sums, means, best }
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks.len()
    }

    /// Conformance: `take` gets the smallest squared norm, norm after norm with its ranks in order. Returns the smallest
    /// squared distance without a norm.
    pub fn conformance(&mut self, query: &Query<'_>, mut take: impl FnMut(usize, f64)) -> f64 {
        self.best.fill([f64::INFINITY; W]);
        let (best, ranks) = (&mut self.best[..], self.ranks.len());
        let mut smaller = Smallest { factors: &self.norms.factors, ranks, best, nearest: [f64::INFINITY; W] };
        dispatch(Sweep {
            corpus: &self.corpus,
            norms: &self.norms,
            query,
            ranks: &self.ranks,
            sums: &mut self.sums[..],
            take: &mut smaller,
        });
        let nearest = smaller.nearest;
        self.best.iter().enumerate().for_each(|(cell, lanes)| take(cell, smallest(lanes)));
        smallest(&nearest)
    }

    /// Mahalanobis: `take` gets the norm, the place of the rank, the squared norm, and the squared length outside the span.
    pub fn mahalanobis(&mut self, query: &Query<'_>, mut take: impl FnMut(usize, usize, f64, f64)) {
        let factors = &self.norms.factors;
        self.norms.sums_to_the_mean::<true>(
            query,
            &self.ranks,
            &mut self.means,
            |norm, rank, inside, outside| {
                let outside = outside.max(0.0);
                take(norm, rank, inside + factors[norm] * outside, outside);
            },
        );
    }
}
