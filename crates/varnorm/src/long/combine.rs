//! [`Combined`]: the scores of all members of a model as one.
//!
//! One member's score is taken as it is. Scores of several are standardised, and a row has the mean over the members whose
//! windows cover it. A row is settled once it is for every member.

use std::collections::VecDeque;

use super::fit::Core;
use super::state::{Part, Scores, State, parts};
use crate::error::Result;
use crate::run::Run;

/// Where a stream is, for every member.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Combined {
    pub(super) states: Vec<State>,
    /// Settled scores of every member for rows that others have not settled.
    pub(super) waiting: Vec<VecDeque<f64>>,
}

impl Combined {
    pub(super) fn new(core: &Core) -> Self {
        let members = core.members.len();
        Self { states: vec![State::new(); members], waiting: vec![VecDeque::new(); members] }
    }

    /// Rows so far.
    pub(super) fn rows(&self) -> u64 {
        self.states[0].rows
    }

    /// The next row whose settled score is not known.
    pub(super) fn settled(&self) -> u64 {
        self.states.iter().map(|state| state.settled).min().unwrap_or(0)
    }

    /// Takes rows without a gap between them; rows with missing values are gaps.
    pub(super) fn push(&mut self, core: &Core, rows: &[f64], run: &Run, out: &mut Scores) -> Result<()> {
        for part in parts(rows, core.channels()) {
            match part {
                Part::Present(rows) => self.take(core, rows, run, out)?,
                Part::Missing => {
                    self.interrupt(core, out)?;
                    self.miss(out);
                }
            }
        }
        Ok(())
    }

    /// The segment ends here: rows are missing, or there are no more.
    pub(super) fn interrupt(&mut self, core: &Core, out: &mut Scores) -> Result<()> {
        self.settle(core, out)?;
        self.begin_segment();
        Ok(())
    }

    /// Takes rows that are all there.
    pub(super) fn take(&mut self, core: &Core, rows: &[f64], run: &Run, out: &mut Scores) -> Result<()> {
        self.each(core, out, |state, member, scores| state.take(member, rows, run, scores))
    }

    /// The scores of rows that wait for windows which never come.
    pub(super) fn settle(&mut self, core: &Core, out: &mut Scores) -> Result<()> {
        self.each(core, out, State::settle)
    }

    /// A row that cannot be scored.
    pub(super) fn miss(&mut self, out: &mut Scores) {
        self.states.iter_mut().for_each(|state| state.miss(&mut Scores::default()));
        out.causal.push(f64::NAN);
        out.settled.push(f64::NAN);
    }

    pub(super) fn begin_segment(&mut self) {
        self.states.iter_mut().for_each(State::begin_segment);
        self.waiting.iter_mut().for_each(VecDeque::clear);
    }

    /// Forgets rows that nothing needs any more.
    pub(super) fn trim(&mut self, core: &Core) {
        let keep = self.settled();
        self.states.iter_mut().zip(&core.members).for_each(|(state, member)| state.trim(member, keep));
    }

    fn each(
        &mut self,
        core: &Core,
        out: &mut Scores,
        work: impl Fn(&mut State, &super::fit::Member, &mut Scores) -> Result<()>,
    ) -> Result<()> {
        let mut causal: Vec<Vec<f64>> = Vec::with_capacity(core.members.len());
        for (at, member) in core.members.iter().enumerate() {
            let mut scores = Scores::default();
            work(&mut self.states[at], member, &mut scores)?;
            if at == 0 {
                out.windows.append(&mut scores.windows);
            }
            self.waiting[at].extend(scores.settled.iter().map(|score| member.standard.of(*score)));
            causal.push(scores.causal.iter().map(|score| member.standard.of(*score)).collect());
        }
        let rows = causal.first().map_or(0, Vec::len);
        out.causal.extend((0..rows).map(|row| mean(causal.iter().map(|scores| scores[row]))));
        let known = self.waiting.iter().map(VecDeque::len).min().unwrap_or(0);
        for row in 0..known {
            out.settled.push(mean(self.waiting.iter().map(|scores| scores[row])));
        }
        self.waiting.iter_mut().for_each(|scores| drop(scores.drain(..known)));
        Ok(())
    }
}

/// The mean of the scores that there are; NaN where there is none.
fn mean(scores: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0u32);
    for score in scores.filter(|score| !score.is_nan()) {
        sum += score;
        count += 1;
    }
    sum / f64::from(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_over_members_that_know_a_row() {
        assert_eq!(mean([1.0, f64::NAN, 4.0].into_iter()), 2.5);
        assert!(mean([f64::NAN].into_iter()).is_nan());
        // One score keeps its bits.
        assert_eq!(mean([0.1 + 0.2].into_iter()), 0.1 + 0.2);
    }
}
