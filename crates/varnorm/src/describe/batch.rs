//! What came of a scored batch.

use super::{count, percent, rule_name, significant};
use crate::calibrate::Rule;

/// A scored batch in numbers; its `Display` is the sentence about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Batch {
    /// How flags were made.
    pub rule: Rule,
    /// The level that they aim at.
    pub level: f64,
    /// Series scored.
    pub series: usize,
    /// Series flagged.
    pub flagged: usize,
    /// The score above which series are flagged, where there is one for all of the batch.
    pub threshold: Option<f64>,
    /// The share of normal series above it.
    pub rate: f64,
}

impl std::fmt::Display for Batch {
    /// "3 of 40 flagged (each on its own, level 0.1); scores above 3.221 have p <= 0.1".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { flagged, series, level, .. } = self;
        let rule = rule_name(self.rule);
        let above = significant(self.threshold.unwrap_or(f64::INFINITY), 4);
        let finite = self.threshold.is_some_and(f64::is_finite);
        match self.rule {
            Rule::None => write!(f, "{} scored ({rule})", count(*series, "series")),
            Rule::Supervised | Rule::Fixed => write!(
                f,
                "{flagged} of {series} flagged ({rule}); scores above {above} are flagged: {} of cross-fitted normal \
                 scores are",
                percent(self.rate)
            ),
            _ => {
                write!(f, "{flagged} of {series} flagged ({rule}, level {level})")?;
                match self.rule {
                    _ if !finite => Ok(()),
                    Rule::Quantile => write!(f, "; scores above {above} are flagged"),
                    Rule::BenjaminiHochberg | Rule::Storey => {
                        write!(f, "; in this batch scores above {above} are flagged")
                    }
                    _ => write!(f, "; scores above {above} have p <= {level}"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_told_with_its_rule() {
        let batch = |rule, threshold| Batch {
            rule,
            level: 0.1,
            series: 40,
            flagged: 3,
            threshold: Some(threshold),
            rate: 0.05,
        };
        for (rule, threshold, sentence) in [
            (Rule::None, 1.0, "40 series scored (no calibration, no flags)"),
            (
                Rule::Each,
                3.25,
                "3 of 40 flagged (each on its own, level 0.1); scores above 3.250 have p <= 0.1",
            ),
            (Rule::Storey, f64::INFINITY, "3 of 40 flagged (Storey, level 0.1)"),
            (Rule::Quantile, 2.0, "3 of 40 flagged (quantile, level 0.1); scores above 2.000 are flagged"),
            (
                Rule::Fixed,
                2.0,
                "3 of 40 flagged (fixed threshold); scores above 2.000 are flagged: 5.0% of cross-fitted normal \
                 scores are",
            ),
        ] {
            assert_eq!(batch(rule, threshold).to_string(), sentence);
        }
    }
}
