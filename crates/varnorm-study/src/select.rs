//! Which setting, alpha and rank a search ends with.

use serde::{Deserialize, Serialize};

use crate::grid::Setting;
use crate::method::{Cells, Method};
use varnorm::words::{Vocabulary, Word, spelled};

/// How the best is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Select {
    /// The joint maximum over everything; equals go to the smaller model.
    #[default]
    Joint,
    /// As published: kernel parameters, alpha, rank and signature level each by its own maximum, whatever the
    /// others are there.
    Marginal,
}

const SELECTIONS: Vocabulary = Vocabulary::names("select", "a selection", Select::WORDS);

spelled!(Select, SELECTIONS);

impl Select {
    /// Every selection, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("joint", "The joint maximum; equals go to the smaller model"),
        Word::new("marginal", "The published rule: every parameter by its own maximum"),
    ];
}

/// What was chosen, as indices (the rank as itself).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Choice {
    pub(crate) setting: usize,
    pub(crate) alpha: usize,
    pub(crate) rank: usize,
    /// The objective at the maximum (published rule: of the kernel parameters' own maximum).
    pub(crate) score: f64,
}

/// The objectives of a search: for every setting, one per cell.
pub(crate) struct Searched<'a> {
    pub(crate) settings: &'a [Setting],
    pub(crate) objectives: &'a [Vec<f64>],
    pub(crate) cells: Cells,
}

impl Searched<'_> {
    pub(crate) fn choose(&self, select: Select, method: Method) -> Choice {
        match select {
            Select::Joint => self.joint(method),
            Select::Marginal => self.marginal(method),
        }
    }

    fn alphas(&self, method: Method) -> usize {
        if method.has_alpha() { self.cells.alphas } else { 1 }
    }

    fn ranks(&self, method: Method) -> usize {
        if method.has_rank() { self.cells.ranks } else { 1 }
    }

    fn at(&self, method: Method, setting: usize, alpha: usize, rank: usize) -> f64 {
        self.objectives[setting][self.cells.at(method, alpha, rank)]
    }

    /// The order of the loops is the order of preference among equals: fewer eigenvectors, then more regularisation
    /// (alphas ascend), then the earlier setting.
    fn joint(&self, method: Method) -> Choice {
        let mut best = Choice { setting: 0, alpha: 0, rank: 1, score: f64::NEG_INFINITY };
        for rank in 1..=self.ranks(method) {
            for alpha in (0..self.alphas(method)).rev() {
                for setting in 0..self.settings.len() {
                    let score = self.at(method, setting, alpha, rank);
                    if score > best.score {
                        best = Choice { setting, alpha, rank, score };
                    }
                }
            }
        }
        best
    }

    fn marginal(&self, method: Method) -> Choice {
        let (alphas, ranks, settings) = (self.alphas(method), self.ranks(method), self.settings.len());
        let over = |keep: &dyn Fn(usize, usize, usize) -> bool| {
            let mut most = f64::NEG_INFINITY;
            for setting in 0..settings {
                for alpha in 0..alphas {
                    for rank in 1..=ranks {
                        if keep(setting, alpha, rank) {
                            most = most.max(self.at(method, setting, alpha, rank));
                        }
                    }
                }
            }
            most
        };
        let alpha = first_largest((0..alphas).map(|a| over(&|_, alpha, _| alpha == a)));
        let rank = 1 + first_largest((1..=ranks).map(|r| over(&|_, _, rank| rank == r)));
        let level = |setting: usize| self.settings[setting].values.get("order").copied();
        let without = |setting: usize| {
            let mut one = self.settings[setting].clone();
            one.values.remove("order");
            one
        };
        let each: Vec<f64> = (0..settings).map(|s| over(&|setting, _, _| setting == s)).collect();
        let best = first_largest(each.iter().copied());
        let mut levels: Vec<f64> = (0..settings).filter_map(level).collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        let mut setting = best;
        if !levels.is_empty() {
            let of_level = |l: f64| {
                let members = (0..settings).filter(|s| level(*s) == Some(l));
                members.map(|s| each[s]).fold(f64::NEG_INFINITY, f64::max)
            };
            let chosen = levels[first_largest(levels.iter().map(|l| of_level(*l)))];
            let same = |s: &usize| level(*s) == Some(chosen) && without(*s) == without(best);
            setting = (0..settings).find(same).unwrap_or(best);
        }
        Choice { setting, alpha, rank, score: each[best] }
    }
}

/// The index of the first of the largest values.
fn first_largest(values: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (i, value) in values.enumerate() {
        if value > best.1 {
            best = (i, value);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(order: f64, scale: f64) -> Setting {
        let values = [("order".to_string(), order), ("scale".to_string(), scale)].into();
        Setting { values, ..Setting::default() }
    }

    #[test]
    fn the_joint_maximum_prefers_the_smaller_model_and_the_marginal_one_mixes() {
        let settings = [setting(1.0, 1.0), setting(1.0, 2.0), setting(2.0, 1.0), setting(2.0, 2.0)];
        let cells = Cells { alphas: 2, ranks: 3 };
        let mut objectives = vec![vec![0.0; cells.len()]; 4];
        let mut set = |s: usize, alpha: usize, rank: usize, value: f64| {
            objectives[s][cells.at(Method::Conformance, alpha, rank)] = value;
        };
        set(1, 0, 3, 1.5);
        set(1, 1, 2, 1.5);
        set(2, 0, 2, 1.5);
        let searched = Searched { settings: &settings, objectives: &objectives, cells };
        let joint = searched.choose(Select::Joint, Method::Conformance);
        assert_eq!((joint.setting, joint.alpha, joint.rank, joint.score), (1, 1, 2, 1.5));
        let marginal = searched.choose(Select::Marginal, Method::Conformance);
        // Parameters: the first setting with 1.5; level: the first with 1.5; alpha: the first; rank: 2.
        assert_eq!((marginal.setting, marginal.alpha, marginal.rank), (1, 0, 2));
        let mut objectives = objectives.clone();
        objectives[2][cells.at(Method::Conformance, 1, 1)] = 1.6;
        objectives[1][cells.at(Method::Conformance, 0, 3)] = 1.55;
        let searched = Searched { settings: &settings, objectives: &objectives, cells };
        let marginal = searched.choose(Select::Marginal, Method::Conformance);
        assert_eq!((marginal.setting, marginal.alpha, marginal.rank, marginal.score), (2, 1, 1, 1.6));
    }
}
