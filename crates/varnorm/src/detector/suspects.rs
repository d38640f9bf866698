//! Members of a corpus that do not seem to belong there.
//!
//! The score of a series without itself does not show a *group* of foreign series: each is the other's neighbour, and all of
//! them together stretch the covariance. So a series is judged by its distance to many others, in the plain distance of each
//! view's feature space: to the k-th nearest of the others, k a share of them that a foreign group does not reach. The
//! logarithms are compared robustly (median and median absolute deviation) and averaged over the views.

use serde::{Deserialize, Serialize};

use super::{Detector, Settings};
use crate::data::SeriesSet;
use crate::describe;
use crate::error::{Error, Result};
use crate::gram::{self, Gram};
use crate::run::Run;

/// The share of the other series that a series is judged by: a foreign group that is smaller is not its own neighbour.
const NEIGHBOURS: f64 = 0.15;
/// The share that `robust: trim` leaves out by itself: chosen in a prototype on the shared sets
/// (docs/robust.md).
pub(super) const SET_ASIDE: f64 = 0.2;
/// Deviations beyond which a member is named where none is left out: about one of five thousand of a Gaussian law.
const NAMED: f64 = 3.5;
/// Added to the spread of logarithms, as in the combination of views.
const FLOOR: f64 = 0.05;
/// Fewer series are not judged: everything may stand out.
const FEWEST: usize = 5;

/// A member of the corpus that does not seem to belong there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suspect {
    /// The series, by its place among those the detector was fitted on.
    pub series: usize,
    /// How far it stands out, in robust deviations of the corpus.
    pub deviations: f64,
    /// Whether it was left out of the model.
    pub left_out: bool,
}

/// How suspicious every series is, in robust deviations, from the Gram matrix of each view.
pub(super) fn deviations(grams: &[Gram], run: &Run) -> Option<Vec<f64>> {
    let count = grams.first().map_or(0, Gram::len);
    if count < FEWEST {
        return None;
    }
    let mut sums = vec![0.0; count];
    for gram in grams {
        let logs = far_neighbours(gram, run);
        let (middle, spread) = location_and_spread(logs.clone());
        for (sum, log) in sums.iter_mut().zip(&logs) {
            *sum += (log - middle) / (spread + FLOOR) / grams.len() as f64;
        }
    }
    Some(sums)
}

/// So many of a corpus are a share of it.
pub(super) fn set_aside(count: usize, share: f64) -> usize {
    (share * count as f64).round() as usize
}

/// The most suspicious first; of equals the first.
pub(super) fn by_suspicion(deviations: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..deviations.len()).collect();
    order.sort_by(|a, b| deviations[*b].total_cmp(&deviations[*a]).then(a.cmp(b)));
    order
}

/// Those that are named where none is left out.
pub(super) fn named(deviations: &[f64]) -> Vec<Suspect> {
    let order = by_suspicion(deviations).into_iter().take_while(|at| deviations[*at] > NAMED);
    order.map(|series| Suspect { series, deviations: deviations[series], left_out: false }).collect()
}

/// The logarithm of each series' distance to its k-th nearest other one.
fn far_neighbours(gram: &Gram, run: &Run) -> Vec<f64> {
    let count = gram.len();
    let wanted = (NEIGHBOURS * (count - 1) as f64).ceil().max(1.0) as usize;
    let value = |i: usize, j: usize| gram.matrix.get(i, j);
    let mut logs = vec![0.0; count];
    let tasks: Vec<_> = logs.iter_mut().enumerate().collect();
    // A run that was cancelled is noticed by what follows.
    let _ = run.for_each("suspects", tasks, |(i, log)| {
        let square = |j: usize| (value(i, i) + value(j, j) - 2.0 * value(i, j)).max(0.0);
        let mut squares: Vec<f64> = (0..count).filter(|j| *j != i).map(square).collect();
        let (_, found, _) = squares.select_nth_unstable_by(wanted - 1, f64::total_cmp);
        // Copies have no distance: far below all others, but finite.
        *log = 0.5 * found.max(1e-300).ln();
        Ok(())
    });
    logs
}

/// Median, and median absolute deviation as a standard deviation.
pub(super) fn location_and_spread(mut values: Vec<f64>) -> (f64, f64) {
    let middle = median(&mut values);
    values.iter_mut().for_each(|value| *value = (*value - middle).abs());
    (middle, GAUSSIAN * median(&mut values))
}

/// The standard deviation of a Gaussian law over its median absolute deviation.
const GAUSSIAN: f64 = 1.4826;

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = |i: usize| values.get(i).copied().unwrap_or(0.0);
    0.5 * (at(values.len().saturating_sub(1) / 2) + at(values.len() / 2))
}

/// What trimming leaves of a corpus.
pub(super) struct Trimmed {
    /// Places of the series that are kept, ascending.
    pub(super) kept: Vec<usize>,
    /// The others, most suspicious first.
    pub(super) suspects: Vec<Suspect>,
}

/// How often preparation, parameters and views are those of the kept series, and all series are judged again.
const ROUNDS: usize = 2;

impl Settings {
    /// Leaves out a share of the corpus: the most suspicious series.
    pub(super) fn trimmed(&self, corpus: &SeriesSet, share: Option<f64>, run: &Run) -> Result<Trimmed> {
        let count = corpus.len();
        let aside = set_aside(count, share.unwrap_or(SET_ASIDE));
        let mut trimmed = Trimmed { kept: (0..count).collect(), suspects: Vec::new() };
        for _ in 0..ROUNDS {
            run.check()?;
            let Some(found) = deviations(&self.grams_by(corpus, &trimmed.kept, run)?, run) else {
                return Err(Error::TooFew {
                    what: "robust trim".into(),
                    needed: FEWEST,
                    found: count,
                    advice: "give more normal series, or robust none".into(),
                });
            };
            let mut order = by_suspicion(&found);
            let kept = order.split_off(aside);
            let same = kept.iter().all(|at| trimmed.kept.binary_search(at).is_ok())
                && kept.len() == trimmed.kept.len();
            let suspect = |series: usize| Suspect { series, deviations: found[series], left_out: true };
            trimmed = Trimmed { kept, suspects: order.into_iter().map(suspect).collect() };
            trimmed.kept.sort_unstable();
            if same {
                break;
            }
        }
        Ok(trimmed)
    }

    /// The Gram matrix of all series in each view, everything that is learned being learned from some.
    fn grams_by(&self, corpus: &SeriesSet, learned_from: &[usize], run: &Run) -> Result<Vec<Gram>> {
        let some = corpus.select(learned_from);
        let inner = |e: Error| e.renumbered(learned_from, learned_from);
        let views = self.chosen_views(&some).map_err(inner)?.0;
        if views.iter().any(|view| !view.space.is_gram()) {
            let rule = format!(
                "{count} series are too many for all pairs, which trimming needs",
                count = corpus.len()
            );
            return Err(Error::bad_param("robust", self.robust, rule));
        }
        let mut grams = Vec::new();
        for view in views {
            let (preparation, prepared) = view.prepare.fit(&some).map_err(inner)?;
            let kernel = view.kernel.resolve(&prepared).map_err(inner)?;
            grams.push(gram::gram(&kernel, &preparation.apply(corpus)?, view.scaling, run)?);
        }
        Ok(grams)
    }
}

/// A suspect with its name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedSuspect {
    /// What it is.
    #[serde(flatten)]
    pub suspect: Suspect,
    /// Its name, where names were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Suspects that a sentence names.
const TOLD: usize = 8;

impl Detector {
    /// Members of the corpus that do not seem to belong there, most suspicious first: left out of the model (`robust:
    /// trim`), or only named.
    pub fn suspects(&self) -> Vec<NamedSuspect> {
        let named = |suspect: &Suspect| NamedSuspect {
            name: self.corpus_name(suspect.series).map(str::to_string),
            suspect: suspect.clone(),
        };
        self.suspects.iter().map(named).collect()
    }

    /// The same as a sentence; none where there are none.
    pub fn suspects_in_words(&self) -> Option<String> {
        let name = |one: NamedSuspect| one.name.unwrap_or_else(|| one.suspect.series.to_string());
        let names: Vec<String> = self.suspects().into_iter().take(TOLD).map(name).collect();
        let left_out = self.suspects.first()?.left_out;
        Some(describe::suspects(&names, self.suspects.len(), left_out.then_some(self.members.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::NormalNumbers;
    use crate::linalg::matrix::Matrix;

    /// Points of two dimensions: normal ones, and a tight group far away.
    fn gram(normal: usize, foreign: usize, seed: u64) -> Gram {
        let mut numbers = NormalNumbers::new(seed);
        let mut point = |at: usize| {
            let scale = if at < normal { 1.0 } else { 0.05 };
            let shift = if at < normal { 0.0 } else { 12.0 };
            [scale * numbers.next() + shift, scale * numbers.next()]
        };
        let points: Vec<[f64; 2]> = (0..normal + foreign).map(&mut point).collect();
        let n = points.len();
        let mut matrix = Matrix::zeros(n, n);
        for i in 0..n {
            for j in 0..n {
                matrix.row_mut(i)[j] = points[i][0] * points[j][0] + points[i][1] * points[j][1];
            }
        }
        Gram::from_matrix(matrix).unwrap()
    }

    #[test]
    fn a_group_that_hides_behind_itself_is_found() {
        let run = Run::sequential();
        for foreign in [1, 4, 8] {
            let found = deviations(&[gram(40, foreign, 3)], &run).unwrap();
            let mut first: Vec<usize> = by_suspicion(&found).into_iter().take(foreign).collect();
            first.sort_unstable();
            assert_eq!(first, (40..40 + foreign).collect::<Vec<_>>());
            let names: Vec<usize> = named(&found).iter().map(|s| s.series).collect();
            assert!((40..40 + foreign).all(|at| names.contains(&at)), "{foreign}: {names:?}");
        }
    }

    #[test]
    fn a_clean_corpus_has_few_suspects() {
        let run = Run::sequential();
        let named: usize =
            (0..50).map(|seed| named(&deviations(&[gram(40, 0, seed)], &run).unwrap()).len()).sum();
        assert!(named < 60, "{named} of 2000");
        assert_eq!(deviations(&[gram(4, 0, 1)], &run), None);
    }
}
