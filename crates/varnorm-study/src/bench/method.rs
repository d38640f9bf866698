//! [`Method`]: what a benchmark compares.

use std::str::FromStr;
use std::time::Instant;

use super::nearest::Nearest;
use super::outcome::{Judged, Outcome, Unit};
use crate::baselines::External;
use varnorm::data::Split;
use varnorm::detector::Preset;
use varnorm::metrics::{average_precision, roc_auc};
use varnorm::{Error, Result, Run, Settings};

/// What a benchmark compares.
#[derive(Debug, Clone, PartialEq)]
pub enum Method {
    /// A detector as a preset has it.
    Preset(Preset),
    /// Baseline: the Euclidean distance to the nearest training series.
    Nearest,
    /// Scores made elsewhere: areas only, as they come without calibration.
    External(External),
}

const NEAREST: &str = "nearest";

/// The names of all methods that need no file, for help texts and errors.
pub fn names() -> String {
    Method::own().iter().map(Method::name).collect::<Vec<_>>().join(", ")
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let known = Self::own().into_iter().find(|method| method.name() == text);
        known.ok_or_else(|| {
            let rule = format!("is none of {}; scores made elsewhere are a column by --scores", names());
            Error::bad_param("methods", text, rule)
        })
    }
}

impl Method {
    /// All that need no file: every preset, and the baseline.
    pub fn own() -> Vec<Self> {
        // The list of words is that of presets: each is one.
        let presets = Preset::WORDS.iter().filter_map(|word| word.name.parse().ok());
        presets.map(Self::Preset).chain([Self::Nearest]).collect()
    }

    /// Its name in tables.
    pub fn name(&self) -> &str {
        match self {
            Self::Preset(preset) => {
                let at = Preset::WORDS.iter().find(|word| word.name.parse().ok() == Some(*preset));
                at.map_or("", |word| word.name)
            }
            Self::Nearest => NEAREST,
            Self::External(external) => &external.name,
        }
    }

    pub(super) fn is_external(&self) -> bool {
        matches!(self, Self::External(_))
    }

    /// Whether an outcome need not be worked out again. Files of scores may have changed and cost nothing; what was
    /// skipped may be possible now.
    pub(super) fn stands(&self, known: &Outcome, data: u32) -> bool {
        !self.is_external() && known.data == data && known.judged.is_some()
    }

    /// Fits on the members of a class and scores the test split; `None` where a file has no scores of the class.
    pub(super) fn scored(
        &self,
        unit: &Unit,
        split: &Split,
        members: &[usize],
        level: Option<f64>,
        run: &Run,
    ) -> Result<Option<Scored>> {
        let (corpus, test) = (split.train.series.select(members), &split.test.series);
        // Errors number the series as in the file.
        let in_file = |error: Error| error.renumbered(members, members).within("training split");
        let in_test = |error: Error| error.within("test split");
        let began = Instant::now();
        match self {
            Self::Preset(preset) => {
                let mut settings = Settings::preset(*preset);
                settings.level = level.unwrap_or(settings.level);
                let detector = settings.fit(&corpus, run).map_err(in_file)?;
                let fitted = began.elapsed().as_secs_f64();
                let found = detector.score(test, run).map_err(in_test)?.findings;
                let scored = began.elapsed().as_secs_f64();
                Ok(Some(Scored {
                    scores: found.iter().map(|one| one.score).collect(),
                    flags: found.iter().map(|one| one.novel).collect(),
                    seconds: Some((fitted, scored - fitted)),
                }))
            }
            Self::Nearest => {
                let nearest = Nearest::fit(&corpus, test.equal_length(), run).map_err(in_file)?;
                let fitted = began.elapsed().as_secs_f64();
                let scores = nearest.score(test, run).map_err(in_test)?;
                let scored = began.elapsed().as_secs_f64();
                let flag = |level: f64| scores.iter().map(|score| nearest.p_value(*score) <= level).collect();
                let flags = level.map(flag);
                Ok(Some(Scored { flags, scores, seconds: Some((fitted, scored - fitted)) }))
            }
            Self::External(external) => {
                let scores = external.of(&unit.dataset, &unit.class, test.len())?;
                Ok(scores.map(|scores| Scored { scores, flags: None, seconds: None }))
            }
        }
    }
}

/// What a method says about the test split.
pub(super) struct Scored {
    /// Higher is more novel.
    scores: Vec<f64>,
    flags: Option<Vec<bool>>,
    /// Of fitting and of scoring.
    seconds: Option<(f64, f64)>,
}

impl Scored {
    /// What labels say about it.
    pub(super) fn judged(&self, normal: &[bool], level: Option<f64>) -> Judged {
        let novel: Vec<bool> = normal.iter().map(|n| !n).collect();
        let flags = self.flags.as_ref().filter(|_| level.is_some());
        let share = |of: &[bool]| {
            let flagged = flags?.iter().zip(of).filter(|(flag, of)| **flag && **of).count();
            Some(flagged as f64 / of.iter().filter(|of| **of).count() as f64)
        };
        Judged {
            roc_auc: roc_auc(&self.scores, &novel),
            average_precision: average_precision(&self.scores, &novel),
            level: level.filter(|_| flags.is_some()),
            novel_flagged: share(&novel),
            normal_flagged: share(normal),
            fit_seconds: self.seconds.map(|seconds| seconds.0),
            score_seconds: self.seconds.map(|seconds| seconds.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for method in Method::own() {
            assert_eq!(method.name().parse::<Method>().unwrap(), method);
        }
        assert!(names().starts_with("auto, ") && names().ends_with(", nearest"), "{}", names());
        let error = "nearst".parse::<Method>().unwrap_err().to_string();
        assert!(error.contains("is none of auto, "), "{error}");
    }

    #[test]
    fn labels_judge_scores_and_flags() {
        let flags = Some(vec![false, true, true, false, true]);
        let scored = Scored { scores: vec![-2.0, 3.0, 1.0, 0.5, 4.0], flags, seconds: None };
        let normal = [true, true, false, false, false];
        let judged = scored.judged(&normal, Some(0.1));
        assert_eq!(judged.roc_auc, 4.0 / 6.0);
        let precision = (1.0 + 2.0 / 3.0 + 3.0 / 4.0) / 3.0;
        assert!((judged.average_precision - precision).abs() < 1e-12, "{judged:?}");
        assert_eq!((judged.novel_flagged, judged.normal_flagged), (Some(2.0 / 3.0), Some(0.5)));
        let without = scored.judged(&normal, None);
        assert_eq!((without.level, without.novel_flagged, without.normal_flagged), (None, None, None));
    }
}
