//! A running test of whether new series still look like the corpus: a conformal test martingale.
//!
//! Each new score is ranked among the calibration scores *and all new scores before it*. As long as all of them are
//! exchangeable, these p-values are independent and uniform (Vovk, Gammerman and Shafer, *Algorithmic Learning in a Random
//! World*, theorem 8.1; ties are broken by a seeded random number). Bets against that start with a capital of 1, and no bet
//! can be expected to gain. So, by Ville's inequality, the capital ever reaches c with a chance of at most 1/c: whoever
//! calls a capital of 100 a drift is wrong, at any time, with a chance of at most 1 %.
//!
//! Ranking among the calibration scores alone would not do: the p-values would then share those scores, and depend on
//! each other.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::Serialize;

/// A capital that is called a drift: wrong with a chance of at most 1 %, at any time.
pub const DRIFT_ALARM: f64 = 100.0;

/// Bets on scores that rise: exponents of `e p^(e-1)`; 1 bets nothing. Scores that fall are no alarm: those of the corpus
/// itself, which is its own neighbour, do.
const EXPONENTS: [f64; 3] = [1.0, 0.5, 0.2];
const BETS: usize = EXPONENTS.len();
/// The share of the capital that is dealt anew to all bets before each score: what was lost before a change comes back.
const JUMP: f64 = 0.01;

/// What a running test says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DriftState {
    /// Scores seen.
    pub series: u64,
    /// The capital now.
    pub martingale: f64,
    /// The largest capital so far.
    pub largest: f64,
    /// Whether that has reached [`DRIFT_ALARM`].
    pub drifted: bool,
    /// The chance of such an alarm, at any time, while series still look like the corpus.
    pub false_alarm_rate: f64,
}

/// A running test of whether scores still look like calibration scores.
///
/// ```
/// use varnorm::calibrate::Drift;
/// let normal: Vec<f64> = (0..50).map(|i| (f64::from(i) * 0.7).sin()).collect();
/// let mut drift = Drift::new(&normal, 0);
/// normal.iter().for_each(|score| drift.add(*score));
/// assert!(!drift.state().drifted);
/// (0..10).for_each(|i| drift.add(5.0 + f64::from(i)));
/// assert!(drift.state().drifted);
/// ```
#[derive(Debug, Clone)]
pub struct Drift {
    seen: Sorted,
    generator: ChaCha8Rng,
    /// The capital on each bet; infinite capital stays so.
    capital: [f64; BETS],
    largest: f64,
    series: u64,
}

impl Drift {
    /// From the calibration scores; the seed breaks ties.
    pub fn new(calibration: &[f64], seed: u64) -> Self {
        Self {
            seen: Sorted::new(calibration),
            generator: ChaCha8Rng::seed_from_u64(seed),
            capital: [1.0 / BETS as f64; BETS],
            largest: 1.0,
            series: 0,
        }
    }

    /// Looks at one score more.
    pub fn add(&mut self, score: f64) {
        let p = self.p_value(score);
        let whole: f64 = self.capital.iter().sum();
        for (capital, exponent) in self.capital.iter_mut().zip(EXPONENTS) {
            let gain = exponent * p.powf(exponent - 1.0);
            // Beyond any alarm, more capital says no more.
            *capital = (((1.0 - JUMP) * *capital + JUMP * whole / BETS as f64) * gain).min(1e300);
        }
        self.largest = self.largest.max(self.capital.iter().sum());
        self.series += 1;
        self.seen.insert(score);
    }

    /// The share of all scores so far, this one included, that are larger; ties are broken at random.
    fn p_value(&mut self, score: f64) -> f64 {
        // In (0, 1): a bet on p = 0 would win without limit.
        let uniform = ((self.generator.next_u64() >> 12) as f64 + 0.5) / (1u64 << 52) as f64;
        let (above, equal) = self.seen.above_and_equal(score);
        (above as f64 + uniform * (equal + 1) as f64) / (self.seen.count + 1) as f64
    }

    /// What the test says now.
    pub fn state(&self) -> DriftState {
        DriftState {
            series: self.series,
            martingale: self.capital.iter().sum(),
            largest: self.largest,
            drifted: self.largest >= DRIFT_ALARM,
            false_alarm_rate: 1.0 / DRIFT_ALARM,
        }
    }
}

/// Sorted numbers in pieces, so that long streams can be ranked.
#[derive(Debug, Clone)]
struct Sorted {
    /// Ascending, and none of them empty but the first.
    pieces: Vec<Vec<f64>>,
    count: usize,
}

/// A piece of this size is cut into two.
const PIECE: usize = 1024;

impl Sorted {
    fn new(values: &[f64]) -> Self {
        let mut all = values.to_vec();
        all.sort_by(f64::total_cmp);
        let mut pieces: Vec<Vec<f64>> = all.chunks(PIECE / 2).map(<[f64]>::to_vec).collect();
        if pieces.is_empty() {
            pieces.push(Vec::new());
        }
        Self { pieces, count: values.len() }
    }

    /// How many are larger, and how many are equal.
    fn above_and_equal(&self, value: f64) -> (usize, usize) {
        let not_above: usize = self.pieces.iter().map(|piece| piece.partition_point(|v| *v <= value)).sum();
        let below: usize = self.pieces.iter().map(|piece| piece.partition_point(|v| *v < value)).sum();
        (self.count - not_above, not_above - below)
    }

    fn insert(&mut self, value: f64) {
        let after = self.pieces.partition_point(|piece| piece.first().is_some_and(|first| *first <= value));
        let piece = &mut self.pieces[after.saturating_sub(1)];
        let at = piece.partition_point(|v| *v <= value);
        piece.insert(at, value);
        if piece.len() >= PIECE {
            let rest = piece.split_off(PIECE / 2);
            self.pieces.insert(after.max(1), rest);
        }
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Normal;

    #[test]
    fn ranks_are_those_of_a_sorted_list() {
        let numbers: Vec<f64> = Normal::new(3).map(|x| (4.0 * x).round()).take(5000).collect();
        let mut sorted = Sorted::new(&numbers[..700]);
        for value in &numbers[700..] {
            sorted.insert(*value);
        }
        assert_eq!((sorted.count, sorted.pieces.iter().map(Vec::len).sum::<usize>()), (5000, 5000));
        assert!(sorted.pieces.iter().all(|piece| piece.len() < PIECE) && sorted.pieces.concat().is_sorted());
        for value in [-9.0, -1.0, 0.0, 0.5, 3.0, 50.0] {
            let above = numbers.iter().filter(|v| **v > value).count();
            let equal = numbers.iter().filter(|v| **v == value).count();
            assert_eq!(sorted.above_and_equal(value), (above, equal), "{value}");
        }
    }

    /// One stream: calibration scores, then new ones, moved by a shift after some.
    fn stream(seed: u64, calibration: usize, quiet: usize, shift: f64, length: usize) -> Vec<DriftState> {
        let mut numbers = Normal::new(seed);
        let normal: Vec<f64> = numbers.by_ref().take(calibration).collect();
        let mut drift = Drift::new(&normal, seed);
        let mut states = Vec::new();
        for (at, score) in numbers.take(length).enumerate() {
            drift.add(if at < quiet { score } else { score + shift });
            states.push(drift.state());
        }
        states
    }

    #[test]
    fn streams_without_drift_alarm_at_most_as_often_as_promised() {
        for calibration in [20, 200] {
            let alarms = (0..1000)
                .filter(|seed| stream(*seed, calibration, 500, 0.0, 500).last().is_some_and(|s| s.drifted))
                .count();
            println!("{calibration} calibration scores: {alarms} of 1000 streams of 500 alarm");
            assert!(alarms <= 10, "{calibration}: {alarms}");
        }
    }

    #[test]
    fn a_shift_is_noticed_within_fifty_series() {
        for (calibration, quiet, shift) in [(40, 0, 3.0), (100, 0, 1.5), (100, 200, 2.0)] {
            let noticed = (5000..5200)
                .filter(|seed| {
                    stream(*seed, calibration, quiet, shift, quiet + 50).last().is_some_and(|s| s.drifted)
                })
                .count();
            println!("{calibration} scores, shift {shift} after {quiet}: {noticed} of 200 noticed within 50");
            assert!(noticed >= 180, "{calibration} {quiet} {shift}: {noticed}");
        }
    }
}
