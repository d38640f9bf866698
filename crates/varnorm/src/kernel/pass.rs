//! [`Pass`]: one walk over pairs of series that serves every kernel that can share it.

use std::any::Any;
use std::ops::Range;

use crate::data::SeriesSet;
use crate::error::Result;
use crate::kernel::Kernel;
use crate::linalg::product::Wanted;
use crate::run::Run;

/// The sets that pairs are taken from.
#[derive(Clone, Copy)]
pub(crate) enum Sets<'a> {
    /// All pairs of one set; only those with `column >= row` are wanted.
    One(&'a SeriesSet),
    /// Every series of the first set (rows) with every one of the second (columns).
    Two(&'a SeriesSet, &'a SeriesSet),
}

impl<'a> Sets<'a> {
    /// The set that rows are taken from.
    pub(crate) fn rows(self) -> &'a SeriesSet {
        match self {
            Self::One(set) | Self::Two(set, _) => set,
        }
    }

    /// The set that columns are taken from.
    pub(crate) fn columns(self) -> &'a SeriesSet {
        match self {
            Self::One(set) | Self::Two(_, set) => set,
        }
    }

    /// Whether rows and columns are of one set: what is made of the rows serves the columns too.
    pub(crate) fn are_one(self) -> bool {
        matches!(self, Self::One(_))
    }
}

/// A rectangle of pairs: some rows of one set against some columns of another.
pub(crate) struct Tile<'a> {
    /// The sets.
    pub(crate) sets: Sets<'a>,
    /// Which series of the set of rows.
    pub(crate) rows: Range<usize>,
    /// Which series of the set of columns.
    pub(crate) columns: Range<usize>,
    /// Asked now and then whether to go on: if not, what is left may be left undone.
    pub(crate) run: &'a Run,
}

impl<'a> Tile<'a> {
    /// The set that rows are taken from.
    pub(crate) fn row_set(&self) -> &'a SeriesSet {
        self.sets.rows()
    }

    /// The set that columns are taken from.
    pub(crate) fn column_set(&self) -> &'a SeriesSet {
        self.sets.columns()
    }

    /// Whether only pairs with `column >= row` are wanted: rows and columns are of one set.
    pub(crate) fn upper(&self) -> bool {
        self.sets.are_one()
    }

    /// Pairs in the tile.
    pub(crate) fn pairs(&self) -> usize {
        self.rows.len() * self.columns.len()
    }

    /// Where the values of a pair are in a plane of all pairs.
    pub(crate) fn place(&self, (row, column): (usize, usize)) -> usize {
        (row - self.rows.start) * self.columns.len() + column - self.columns.start
    }

    /// Whether a pair is wanted.
    pub(crate) fn wants(&self, row: usize, column: usize) -> bool {
        !self.upper() || column >= row
    }

    /// The pairs that are wanted, row by row.
    pub(crate) fn wanted_pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.rows.clone().flat_map(move |row| {
            let wanted = self.columns.clone().filter(move |column| self.wants(row, *column));
            wanted.map(move |column| (row, column))
        })
    }

    /// Which pairs are wanted of the part that begins with this row and this column of the tile.
    pub(crate) fn wanted(&self, row: usize, column: usize) -> Wanted {
        let ahead = (self.columns.start + column) as isize - (self.rows.start + row) as isize;
        if self.upper() { Wanted::Upper { ahead } } else { Wanted::All }
    }
}

/// Kernel values of some pairs: `mantissas * 2^exponents`.
pub(crate) struct Values<'a> {
    /// The values, or what is left of them without the power of two.
    pub(crate) mantissas: &'a mut [f64],
    /// Whole numbers; untouched (zero) by kernels whose values fit an `f64` as they are.
    pub(crate) exponents: &'a mut [f64],
}

impl Values<'_> {
    /// Takes the values of the `which`-th kernel of a walk that keeps a mantissa and an exponent for each.
    pub(crate) fn take_planes(&mut self, which: usize, kept: &[f64]) {
        let pairs = self.mantissas.len();
        self.mantissas.copy_from_slice(&kept[2 * which * pairs..(2 * which + 1) * pairs]);
        self.exponents.copy_from_slice(&kept[(2 * which + 1) * pairs..(2 * which + 2) * pairs]);
    }
}

/// One walk over pairs of series.
///
/// The expensive part, [`walk`](Pass::walk), keeps a few numbers per pair; the cheap one,
/// [`finish`](Pass::finish), makes each kernel's value from them.
pub(crate) trait Pass: Any + Send + Sync {
    /// Whether the walk can take these two sets (lengths; channels are checked by the caller).
    fn check(&self, _sets: Sets<'_>) -> Result<()> {
        Ok(())
    }

    /// Whether it can take their values, where only a look at all of them tells. Called where nothing is walked;
    /// [`prepare`](Pass::prepare) and the walks return the same error.
    fn check_values(&self, _sets: Sets<'_>) -> Result<()> {
        Ok(())
    }

    /// What can be made once for all pairs of two sets; called after [`check`](Pass::check) and before any walk.
    fn prepare(&mut self, _sets: Sets<'_>, _run: &Run) -> Result<()> {
        Ok(())
    }

    /// Numbers kept per pair.
    fn kept(&self) -> usize;

    /// Whether values may need an exponent beside them. If not, a Gram matrix is normalised by its own diagonal.
    fn carries_exponents(&self) -> bool {
        false
    }

    /// Walks over all pairs of a tile. `kept` holds one plane per kept number, each of `tile.pairs()` cells, row
    /// by row. A cell must have the same bits in whatever tile it is computed. An error where a series has values that the
    /// kernels cannot take.
    fn walk(&self, tile: &Tile<'_>, kept: &mut [f64]) -> Result<()>;

    /// Walks over the pairs of some series of the set of rows with themselves: one plane per kept number, each of `which.len()`
    /// cells, with the bits that [`walk`](Pass::walk) gives.
    fn walk_diagonal(&self, set: &SeriesSet, which: Range<usize>, kept: &mut [f64]) -> Result<()> {
        let mut one = vec![0.0; self.kept()];
        for (at, i) in which.clone().enumerate() {
            let (rows, columns) = (i..i + 1, i..i + 1);
            let tile = Tile { sets: Sets::One(set), rows, columns, run: &Run::sequential() };
            self.walk(&tile, &mut one)?;
            one.iter().enumerate().for_each(|(plane, v)| kept[plane * which.len() + at] = *v);
        }
        Ok(())
    }

    /// The values of the `which`-th kernel served, from the planes of a walk.
    fn finish(&self, which: usize, kept: &[f64], out: &mut Values<'_>);
}

/// A walk and the kernels that it serves, as indices into the list given to [`plan`].
pub(crate) struct Planned {
    /// In the order of [`Pass::finish`].
    pub(crate) serves: Vec<usize>,
    /// The walk.
    pub(crate) pass: Box<dyn Pass>,
}

/// The walks that are planned so far. A kernel joins one of them, or adds one.
#[derive(Default)]
pub(crate) struct Passes {
    planned: Vec<Planned>,
    /// The kernel that is being planned.
    kernel: usize,
}

impl Passes {
    /// Adds a walk for the kernel at hand alone.
    pub(crate) fn add(&mut self, pass: impl Pass) {
        self.planned.push(Planned { serves: vec![self.kernel], pass: Box::new(pass) });
    }

    /// Lets the kernel at hand join the first walk of this type that fits, or a new one.
    pub(crate) fn join<P: Pass>(
        &mut self,
        fits: impl Fn(&P) -> bool,
        new: impl FnOnce() -> P,
        join: impl FnOnce(&mut P),
    ) {
        let fitting = |planned: &Planned| {
            let pass: &dyn Any = planned.pass.as_ref();
            pass.downcast_ref::<P>().is_some_and(&fits)
        };
        match self.planned.iter().position(fitting) {
            None => {
                let mut pass = new();
                join(&mut pass);
                self.add(pass);
            }
            Some(at) => {
                let Planned { serves, pass } = &mut self.planned[at];
                serves.push(self.kernel);
                let pass: &mut dyn Any = pass.as_mut();
                if let Some(pass) = pass.downcast_mut::<P>() {
                    join(pass);
                }
            }
        }
    }
}

/// Groups kernels of series of so many channels into as few walks as possible. Every kernel must be resolved: no
/// `auto` left.
pub(crate) fn plan(kernels: &[Kernel], channels: usize) -> Result<Vec<Planned>> {
    let mut passes = Passes::default();
    for (index, kernel) in kernels.iter().enumerate() {
        passes.kernel = index;
        kernel.plan(channels, &mut passes)?;
    }
    Ok(passes.planned)
}

/// Both sets have one common length; otherwise an error that says which kernels take any.
pub(crate) fn require_equal_lengths(needs: &str, sets: Sets<'_>) -> Result<()> {
    const ADVICE: &str = "bring them to one length with the preparation step `resample`";
    let (row_set, column_set) = (sets.rows(), sets.columns());
    let expected = column_set.require_equal_length(needs, ADVICE)?;
    match row_set.lengths().position(|l| l != expected) {
        None => Ok(()),
        Some(series) => Err(crate::Error::UnequalLengths {
            needs: needs.into(),
            series,
            found: row_set.series(series).steps(),
            expected,
            advice: ADVICE.into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_share_walks_where_they_can() {
        let specs = [
            "flat_rbf:sigma=1",
            "gak:sigma=1",
            "flat_linear",
            "sig:level=3,scale=1",
            "sig:level=5,scale=2",
            "sig:level=3,order=2,scale=1",
            "sig:level=2,order=2,scale=1",
            "sig_explicit:level=3,scale=1",
            "sig_random:seed=1,variance=1",
            "sig_random:seed=2,variance=1",
            "sig_random:features=9,seed=1,variance=1",
            "gak:sigma=2,band=3",
        ];
        let kernels: Vec<Kernel> = specs.iter().map(|spec| spec.parse().unwrap()).collect();
        let served = |channels| -> Vec<Vec<usize>> {
            plan(&kernels, channels).unwrap().into_iter().map(|planned| planned.serves).collect()
        };
        // With few channels, the exact kernel comes from features; with many, it has the walk of its order.
        let few = [&[0, 2][..], &[1, 11], &[3, 4], &[5], &[6, 7], &[8, 10], &[9]];
        let many = [&[0, 2][..], &[1, 11], &[3, 4], &[5, 6], &[7], &[8, 10], &[9]];
        assert_eq!(served(3), few);
        assert_eq!(served(100), many);
    }
}
