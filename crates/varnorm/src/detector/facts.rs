//! A model, line by line: the one list that `varnorm inspect` and reports show.

use super::{Description, Detector, ViewDescription};
use crate::calibrate::Rule;
use crate::data::{Channel, SamplingStep};
use crate::describe::{self, Fact, count, fine_percent, significant};
use crate::words;

/// Channels that are named.
const CHANNELS: usize = 20;

/// Eigenvalues that are told.
const EIGENVALUES: usize = 6;

/// How flags are made, of which a batch may choose others than its model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Flagging {
    pub(crate) rule: Rule,
    pub(crate) level: f64,
    pub(crate) threshold: Option<f64>,
}

impl Description {
    /// Everything there is to say about the model that this describes, from its corpus to its flags.
    pub fn facts(&self, detector: &Detector) -> Vec<Fact> {
        let settings = &self.settings;
        let rule = Rule::new(settings.calibration, settings.decision);
        let threshold = self.calibration.as_ref().and_then(|found| found.threshold);
        self.facts_with(detector, Flagging { rule, level: settings.level, threshold })
    }

    /// The same with flags made in another way.
    pub(crate) fn facts_with(&self, detector: &Detector, flagging: Flagging) -> Vec<Fact> {
        let (settings, corpus, spectrum) = (&self.settings, &self.corpus, &self.spectrum);
        let view = &self.views[0].summary;
        let asked = settings.given().first().map_or(&self.kernel, |view| &view.kernel);
        let scores = self.calibration.as_ref().map_or(0, |found| found.scores);
        let fitted_on = describe::fitted_on(corpus.series, corpus.channels, corpus.named);
        let prepared = format!("{}, {}", count(corpus.prepared_channels, "channel"), corpus.prepared_lengths);
        let steps = detector.preparation().steps();
        let rank = describe::rank(spectrum.rank, spectrum.kept_variance, spectrum.effective_dimension);
        let mut facts = vec![Fact::new("Fitted on", fitted_on)];
        facts.extend(corpus.origin.channels.as_ref().map(|channels| Fact::new("Channels", named(channels))));
        facts.extend(corpus.origin.sampling.map(|step| Fact::new("Sampling step", sampled(&step))));
        facts.extend(detector.suspects_in_words().map(|words| Fact::new("Suspects", words)));
        facts.extend(self.views_in_words());
        facts.extend([
            Fact::new("Preparation", describe::preparation(steps)).with(&view.prepare),
            Fact::new("Prepared", prepared),
            Fact::new("Kernel", describe::kernel(&self.kernel, asked))
                .with(describe::kernel_formula(&self.kernel)),
            Fact::new("Kernel values", describe::scaling(view.scaling)),
            Fact::new("Space", self.space_in_words()),
            Fact::new("Norm", describe::norm(view.norm, view.alpha)).with(describe::norm_formula(view.norm)),
            Fact::new("Distance", describe::distance(view.distance)),
            Fact::new("Rank", rank),
            Fact::new("Eigenvalues", eigenvalues(&spectrum.eigenvalues)),
            Fact::new("Calibration", describe::calibration(settings.calibration, scores))
                .with(settings.calibration),
        ]);
        facts.extend(self.calibration.as_ref().map(|found| {
            let at = match flagging.threshold {
                Some(threshold) => format!("{} at level {}", describe::threshold(threshold), flagging.level),
                None => describe::no_one_threshold(flagging.rule, flagging.level, found.smallest_p_value),
            };
            let smallest = significant(found.smallest_p_value, 3);
            Fact::new("Threshold", format!("{at}; the smallest p-value is {smallest}"))
        }));
        facts.push(
            Fact::new("Decision", describe::rule(flagging.rule, flagging.level)).with(word_of(flagging.rule)),
        );
        facts.extend(self.tail_check.iter().map(|check| Fact::new("Tail", describe::tail(check))));
        facts.extend(self.gaussian_check.iter().map(|check| Fact::new("Gaussian law", check.in_words())));
        facts.extend(describe::diagnosis(&self.diagnostics));
        facts
    }

    /// Every view, where there are several; what follows is about the first.
    fn views_in_words(&self) -> Vec<Fact> {
        if self.views.len() == 1 {
            return Vec::new();
        }
        let one = |(at, view): (usize, &ViewDescription)| {
            let what = format!("{}; prepared by {}", view.summary.kernel.info().words, view.summary.prepare);
            Fact::new(&format!("View {}", at + 1), what).with(&view.summary.kernel)
        };
        let mut facts: Vec<Fact> = self.views.iter().enumerate().map(one).collect();
        let combined = describe::combination(self.settings.combination);
        facts.push(Fact::new("Combined by", format!("{combined}; the lines below are about view 1")));
        facts.extend(self.notes.iter().map(|note| Fact::new("Note", note.clone())));
        facts
    }

    /// Where the covariance was worked out.
    fn space_in_words(&self) -> String {
        let Some(own) = &self.space else { return "all pairs of series".into() };
        let coordinates = match own.landmarks {
            Some(landmarks) => {
                let missed = fine_percent(own.trace_error);
                format!("{}, which miss {missed} of the trace", count(landmarks, "landmark"))
            }
            None => count(own.dimensions, "feature"),
        };
        format!("{}: {coordinates}; {} kept", own.space, count(own.kept_examples, "example"))
    }
}

/// Names and units of channels.
fn named(channels: &[Channel]) -> String {
    let shown: Vec<String> = channels.iter().take(CHANNELS).map(Channel::to_string).collect();
    let more = if channels.len() > CHANNELS {
        format!(" and {} more", channels.len() - CHANNELS)
    } else {
        String::new()
    };
    format!("{}{more}; new data are matched by these names", shown.join(", "))
}

/// A sampling step, and whether it can be relied upon.
fn sampled(step: &SamplingStep) -> String {
    let regular = if step.regular { "" } else { " in the median; the series are sampled irregularly" };
    format!("{step}{regular}")
}

/// The leading eigenvalues.
fn eigenvalues(all: &[f64]) -> String {
    let leading: Vec<String> = all.iter().take(EIGENVALUES).map(|value| significant(*value, 4)).collect();
    let more = if all.len() > EIGENVALUES { ", ..." } else { "" };
    if leading.is_empty() { "none".into() } else { leading.join(", ") + more }
}

/// A rule as JSON has it.
fn word_of(rule: Rule) -> String {
    serde_json::to_value(rule).map(|value| words::printed(&value)).unwrap_or_default()
}
