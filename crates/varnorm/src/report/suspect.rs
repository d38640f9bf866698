//! The most suspicious member of the corpus, beside the others.

use serde::Serialize;

use super::pictures::Figure;
use crate::describe::significant;
use crate::detector::Detector;
use crate::plot::{Axis, Curve, Plot, Style};
use crate::prepare::stretched;

/// One channel of the most suspicious member of the corpus, prepared: the one in which it is farthest from the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Worst {
    /// Its name, or its place.
    pub name: String,
    /// How far it stands out, in robust deviations.
    pub deviations: f64,
    /// The channel, after preparation.
    pub channel: usize,
    /// Its values.
    pub values: Vec<f64>,
    /// The median of the corpus at each of its steps.
    pub median: Vec<f64>,
}

/// Corpus series that a median is made of, at most.
const COMPARED: usize = 200;

/// What there is to show of the most suspicious member.
pub(super) fn worst(detector: &Detector) -> Option<Worst> {
    let (first, series) = (detector.suspects().into_iter().next()?, detector.worst_suspect()?.series(0));
    let (steps, channels, corpus) = (series.steps(), series.channels(), detector.corpus());
    let every = corpus.len().div_ceil(COMPARED).max(1);
    let others: Vec<Vec<f64>> =
        (0..corpus.len()).step_by(every).map(|at| stretched(corpus.series(at), steps)).collect();
    let median = |at: usize| {
        let mut values: Vec<f64> = others.iter().map(|one| one[at]).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(0.0)
    };
    let medians: Vec<f64> = (0..steps * channels).map(median).collect();
    let far = |channel: usize| -> f64 {
        let places = (0..steps).map(|t| t * channels + channel);
        places.map(|at| (series.values()[at] - medians[at]).powi(2)).sum()
    };
    let channel = (0..channels).max_by(|a, b| far(*a).total_cmp(&far(*b)).then(b.cmp(a)))?;
    let of = |all: &[f64]| (0..steps).map(|t| all[t * channels + channel]).collect();
    Some(Worst {
        name: first.name.unwrap_or_else(|| first.suspect.series.to_string()),
        deviations: first.suspect.deviations,
        channel,
        values: of(series.values()),
        median: of(&medians),
    })
}

impl Worst {
    /// The picture.
    pub(super) fn figure(&self, (width, height): (f64, f64), colors: (usize, usize)) -> Figure {
        let points = |values: &[f64]| values.iter().enumerate().map(|(t, v)| (t as f64, *v)).collect();
        let (x, y) = (Axis::linear("step, after preparation"), Axis::linear("value, after preparation"));
        let plot = Plot::new("Most suspicious member of the corpus", x, y)
            .sized(width, height)
            .with(Curve::line("suspect", points(&self.values)).colored(colors.0))
            .with(Curve::new("median of the corpus", Style::Dashed, points(&self.median)).colored(colors.1));
        let caption = format!(
            "Normal series {} stands out from the rest of the corpus by {} robust deviations. Shown is channel {}, in which it \
             is farthest from them.",
            self.name,
            significant(self.deviations, 3),
            self.channel
        );
        Figure { heading: "Suspect", svg: plot.to_inline_svg(), caption }
    }
}
