//! Flags over a stream with a bound on the share of false ones at every moment.

use serde::{Deserialize, Serialize};

/// LORD++ (Ramdas, Yang, Wainwright and Jordan, 2017): decides on one p-value after the other, never looking ahead,
/// so that for independent p-values at most a share `level` of all flags so far is false on average, at every moment.
///
/// Wealth starts at half the level; every flag earns some back, and what is spent on a test falls with the time
/// since the last flags. The state is plain data: a stream can be taken up again where it was left.
///
/// ```
/// use varnorm::calibrate::Lord;
/// let mut stream = Lord::new(0.1);
/// assert!(stream.decide(1e-6));
/// assert!(!stream.decide(0.5));
/// assert_eq!((stream.seen(), stream.flagged()), (2, 1));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lord {
    level: f64,
    seen: u64,
    /// When flags were made, counted from 1.
    flags: Vec<u64>,
}

impl Lord {
    /// A stream from its beginning.
    pub fn new(level: f64) -> Self {
        Self { level, seen: 0, flags: Vec::new() }
    }

    /// p-values seen.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Flags made.
    pub fn flagged(&self) -> usize {
        self.flags.len()
    }

    /// The level at which the next p-value will be tested.
    pub fn next_level(&self) -> f64 {
        let now = self.seen + 1;
        let start = 0.5 * self.level;
        let earned = self.flags.iter().enumerate().map(|(at, flag)| {
            let wealth = if at == 0 { self.level - start } else { self.level };
            wealth * share(now - flag)
        });
        start * share(now) + earned.sum::<f64>()
    }

    /// Whether the next p-value is flagged.
    pub fn decide(&mut self, p_value: f64) -> bool {
        let flagged = p_value <= self.next_level();
        self.seen += 1;
        if flagged {
            self.flags.push(self.seen);
        }
        flagged
    }
}

/// Makes the shares add up to just below one (a test adds them up).
const UNIT: f64 = 0.079;

/// The share of a unit of wealth that is spent t steps later.
fn share(t: u64) -> f64 {
    let t = t as f64;
    UNIT * t.max(2.0).ln() / (t * t.ln().sqrt().exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::NormalNumbers;

    #[test]
    fn shares_add_up_to_at_most_one() {
        let terms = 2_000_000u64;
        let sum: f64 = (1..=terms).map(share).sum();
        // The rest of the sum is below the integral of u exp(-sqrt u), u = ln t.
        let v = (terms as f64).ln().sqrt();
        let rest = UNIT * 2.0 * (-v).exp() * (v.powi(3) + 3.0 * v * v + 6.0 * v + 6.0);
        assert!(sum + rest <= 1.0 && sum + rest > 0.99, "{sum} {rest}");
    }

    #[test]
    fn the_false_discovery_rate_of_streams_is_kept() {
        let (level, streams) = (0.1, 300);
        let (mut proportions, mut power, mut novel) = (0.0, 0.0, 0.0);
        for seed in 0..streams {
            let mut numbers = NormalNumbers::new(seed);
            let mut stream = Lord::new(level);
            let (mut wrong, mut right) = (0.0f64, 0.0f64);
            for _ in 0..300 {
                let is_novel = numbers.uniform() < 0.2;
                let p = if is_novel { numbers.uniform().powi(8) } else { numbers.uniform() };
                novel += f64::from(u8::from(is_novel));
                if stream.decide(p) {
                    if is_novel { right += 1.0 } else { wrong += 1.0 }
                }
            }
            proportions += wrong / (wrong + right).max(1.0);
            power += right;
        }
        let rate = proportions / streams as f64;
        assert!(rate < level, "{rate}");
        // It does flag: a rule that never flags keeps every bound.
        assert!(power / novel > 0.2, "{}", power / novel);
    }

    #[test]
    fn a_stream_can_be_taken_up_again() {
        let mut whole = Lord::new(0.2);
        let p = [0.001, 0.4, 0.03, 0.2, 0.0001, 0.06, 0.9];
        let flags: Vec<bool> = p.iter().map(|p| whole.decide(*p)).collect();
        let mut first = Lord::new(0.2);
        let mut again: Vec<bool> = p[..3].iter().map(|p| first.decide(*p)).collect();
        let mut second: Lord = serde_json::from_str(&serde_json::to_string(&first).unwrap()).unwrap();
        again.extend(p[3..].iter().map(|p| second.decide(*p)));
        assert_eq!(flags, again);
    }
}
