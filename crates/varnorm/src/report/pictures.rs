//! The pictures of a report.

use std::fmt::Write;

use super::curves::{Band, Curves, HEIGHT, height};
use super::{NormalScores, Report};
use crate::describe::{percent, significant};
use crate::plot::{Axis, Curve, Plot, Ruler, Scale, Style, escaped};

/// A picture with its heading and a sentence below it.
pub struct Figure {
    /// What it shows.
    pub heading: &'static str,
    /// The picture.
    pub svg: String,
    /// A sentence below it.
    pub caption: String,
}

const SIZE: (f64, f64) = (420.0, 310.0);
const BINS: usize = 30;
/// Colours of the palette: normal series, new ones, flagged ones, references.
const NORMAL: usize = 0;
const NEW: usize = 4;
const FLAGGED: usize = 1;
const REFERENCE: usize = 6;

/// All pictures that the report has data for.
pub(super) fn figures(report: &Report) -> Vec<Figure> {
    let mut figures = vec![distribution(report), map(report), spectrum(report)];
    figures.extend(report.worst_suspect.iter().map(|worst| worst.figure(SIZE, (FLAGGED, NORMAL))));
    if let Some(found) = &report.separation {
        let (roc, pr) = (found.intervals.roc_auc, found.intervals.average_precision);
        let square = |title, x, y| {
            let axis = |name| Axis::linear(name).between(0.0, 1.0);
            Plot::new(title, axis(x), axis(y)).sized(SIZE.0, SIZE.1)
        };
        let chance = Curve::new("guessing", Style::Dashed, vec![(0.0, 0.0), (1.0, 1.0)]).colored(REFERENCE);
        let plot = square("ROC curve", "share of normal series flagged", "share of novel series flagged")
            .with(Curve::line("scores", found.roc.clone()).colored(FLAGGED))
            .with(chance);
        figures.push(Figure {
            heading: "ROC",
            svg: plot.to_inline_svg(),
            caption: format!(
                "Area {:.3}, 95 % interval {:.3} to {:.3}: the chance that a novel series scores higher than a normal \
                 one. Normal are the {} series labelled {}.",
                found.roc_auc, roc.0, roc.1, found.normal, found.label
            ),
        });
        let base = found.novel as f64 / (found.novel + found.normal) as f64;
        let chance = Curve::new("guessing", Style::Horizontal, vec![(0.0, base)]).colored(REFERENCE);
        let plot =
            square("Precision-recall curve", "share of novel series flagged", "novel share of the flagged")
                .with(Curve::line("scores", found.precision_recall.clone()).colored(FLAGGED))
                .with(chance);
        figures.push(Figure {
            heading: "Precision and recall",
            svg: plot.to_inline_svg(),
            caption: format!(
                "Average precision {:.3}, 95 % interval {:.3} to {:.3}: how pure the top of the list is.",
                found.average_precision, pr.0, pr.1
            ),
        });
    }
    figures
}

fn distribution(report: &Report) -> Figure {
    let new: Vec<f64> = report.scored.findings.iter().map(|one| one.finding.score).collect();
    let normal = &report.normal_scores;
    let threshold = report.scored.threshold.filter(|t| t.is_finite());
    let finite: Vec<f64> =
        new.iter().chain(normal).chain(&threshold).copied().filter(|s| s.is_finite()).collect();
    let low = finite.iter().copied().fold(f64::INFINITY, f64::min);
    let high = finite.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Novel scores can be many times the normal ones: equal factors then show both.
    let log = low > 0.0 && high > 20.0 * low;
    let along = |v: f64| if log { v.log10() } else { v };
    let (start, end) =
        if low < high { (along(low), along(high)) } else { (along(low) - 0.5, along(low) + 0.5) };
    let width = (end - start) / BINS as f64;
    let bars = |values: &[f64]| -> Vec<(f64, f64)> {
        let mut counts = [0usize; BINS];
        for value in values.iter().filter(|v| v.is_finite()) {
            counts[(((along(*value) - start) / width) as usize).min(BINS - 1)] += 1;
        }
        let all = values.len().max(1) as f64;
        let middle = |bin: usize| start + (bin as f64 + 0.5) * width;
        counts.iter().enumerate().map(|(bin, n)| (middle(bin), 100.0 * *n as f64 / all)).collect()
    };
    let name = match report.normal_scores_from {
        NormalScores::LeaveOneOut => "normal (left out)",
        _ => "normal (calibration)",
    };
    let mut x = Axis::linear("score (higher is more novel)");
    if log {
        let places = Ruler::new(&Axis { scale: Scale::Log, ..Axis::log("") }, &[low, high], 0.0, 1.0).ticks();
        x = x.named(places.into_iter().map(|(value, label)| (value.log10(), label)).collect());
    }
    let mut plot =
        Plot::new("Distribution of scores", x, Axis::linear("share of series, %")).sized(SIZE.0, SIZE.1);
    if !normal.is_empty() {
        plot = plot.with(Curve::bars(name, width, bars(normal)).colored(NORMAL));
    }
    if !new.is_empty() {
        plot = plot.with(Curve::bars("scored", width, bars(&new)).colored(NEW));
    }
    if let Some(threshold) = threshold {
        let line = vec![(along(threshold), f64::NAN)];
        plot = plot.with(Curve::new("threshold", Style::Vertical, line).colored(FLAGGED));
    }
    let infinite = new.iter().filter(|s| s.is_infinite()).count();
    let mut caption = match threshold {
        Some(t) if report.scored.rule.is_over_a_batch() => {
            format!("In this batch series above {} are flagged.", significant(t, 4))
        }
        Some(t) => format!("A series is flagged above {}.", significant(t, 4)),
        None => "There is no threshold.".to_string(),
    };
    if infinite > 0 {
        let _ = write!(caption, " {infinite} scores are infinite and not drawn.");
    }
    Figure { heading: "Scores", svg: plot.to_inline_svg(), caption }
}

/// Flagged ones first, then evenly spaced others, at most so many.
fn thinned(mut all: Vec<usize>, first: impl Fn(usize) -> bool, limit: usize) -> Vec<usize> {
    if all.len() <= limit {
        return all;
    }
    all.sort_by_key(|at| (!first(*at), *at));
    let flagged = all.iter().filter(|at| first(**at)).count();
    let kept = flagged.min(limit / 2);
    let (few, rest) = all.split_at(kept);
    let step = rest.len().div_ceil((limit - kept).max(1));
    few.iter().chain(rest.iter().step_by(step.max(1))).copied().collect()
}

fn map(report: &Report) -> Figure {
    let map = &report.map;
    let flagged = |at: usize| report.scored.findings[at].finding.novel == Some(true);
    let corpus = thinned((0..map.corpus.len()).collect(), |_| false, report.points);
    let shown = thinned((0..map.series.len()).collect(), flagged, report.points);
    let (novel, rest): (Vec<usize>, Vec<usize>) = shown.into_iter().partition(|at| flagged(*at));
    let places =
        |all: &[[f64; 2]], which: &[usize]| which.iter().map(|at| (all[*at][0], all[*at][1])).collect();
    let axis = |which: usize, name: &str| {
        Axis::linear(format!("{name} ({} of variance)", percent(map.shares[which])))
    };
    let mut plot = Plot::new(
        "Map of normal and scored series",
        axis(0, "first kernel principal coordinate"),
        axis(1, "second"),
    )
    .sized(SIZE.0, SIZE.1)
    .with(Curve::new("normal", Style::Rings, places(&map.corpus, &corpus)).colored(NORMAL));
    if !map.series.is_empty() {
        let points = places(&map.series, &rest);
        plot = plot.with(Curve::new("scored", Style::Points, points).colored(NEW).keyed(rest));
    }
    if report.scored.findings.iter().any(|one| one.finding.novel.is_some()) {
        let points = places(&map.series, &novel);
        plot = plot.with(Curve::new("flagged", Style::Diamonds, points).colored(FLAGGED).keyed(novel));
    }
    Figure {
        heading: "Map",
        svg: plot.to_inline_svg(),
        caption:
            "Two directions of many: series can be novel in others. A click on a scored series opens it."
                .into(),
    }
}

fn spectrum(report: &Report) -> Figure {
    let values = &report.eigenvalues;
    let shape = &report.diagnostics.covariance;
    let points = values.iter().enumerate().map(|(j, value)| ((j + 1) as f64, *value)).collect();
    let mut plot =
        Plot::new("Spectrum of the covariance", Axis::linear("eigenvector"), Axis::log("eigenvalue"))
            .sized(SIZE.0, SIZE.1)
            .with(Curve::new("eigenvalues", Style::LineAndPoints, points).colored(NORMAL))
            .with(
                Curve::new("kept rank", Style::Vertical, vec![(values.len() as f64, f64::NAN)])
                    .colored(REFERENCE),
            )
            .with(
                Curve::new(
                    "effective dimension",
                    Style::Vertical,
                    vec![(shape.effective_dimension, f64::NAN)],
                )
                .colored(2),
            );
    let view = report.scored.model.views.first();
    let alpha = view.alpha;
    if view.norm != crate::score::Norm::Exact && alpha > 0.0 {
        plot = plot.with(Curve::new("alpha", Style::Horizontal, vec![(f64::NAN, alpha)]).colored(FLAGGED));
    }
    Figure {
        heading: "Spectrum",
        svg: plot.to_inline_svg(),
        caption: format!(
            "{} directions kept, {} of the variance; effective dimension {}, as the norm sees it {}.",
            values.len(),
            percent(report.diagnostics.kept_variance),
            significant(shape.effective_dimension, 3),
            significant(report.diagnostics.regularised.effective_dimension, 3)
        ),
    }
}

/// Places of the plane of a channel's picture: left, top, width, height.
const PANEL: (f64, f64, f64, f64) = (40.0, 8.0, 352.0, 118.0);

/// One channel: axes and the corpus' band, with empty places for a series, its nearest normal one and the shades.
/// Curves are stretched over the plane, so that their x can be in steps and their y in [`HEIGHT`]s.
pub(super) fn panel(curves: &Curves, band: &Band) -> String {
    let (left, top, width, tall) = PANEL;
    let steps = curves.steps.saturating_sub(1).max(1) as f64;
    let x = Ruler::new(&Axis::linear("").between(0.0, steps), &[], left, width);
    let y = Ruler::new(&Axis::linear("").between(band.low, band.high), &[], top + tall, -tall);
    let mut out = String::from("<svg viewBox=\"0 0 400 152\" font-size=\"11\" aria-hidden=\"true\">");
    for (value, label) in every_other(y.ticks()) {
        let at = y.place(value);
        let _ = write!(
            out,
            "<line x1=\"{left}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"var(--grid)\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"var(--soft)\">{}</text>",
            left + width,
            left - 5.0,
            at + 3.8,
            escaped(&label)
        );
    }
    for (value, label) in x.ticks().into_iter().filter(|(value, _)| value.fract() == 0.0) {
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"var(--soft)\">{label}</text>",
            x.place(value),
            top + tall + 14.0
        );
    }
    let _ = write!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"var(--soft)\">prepared step</text>\
         <svg x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{tall}\" viewBox=\"0 0 {steps} {HEIGHT}\" \
         preserveAspectRatio=\"none\"><g class=\"shades\"></g>\
         <path class=\"wide\" d=\"{}\"/><path class=\"narrow\" d=\"{}\"/><path class=\"median\" d=\"{}\"/>\
         <path class=\"nearest\"/><path class=\"series\"/><path class=\"cursor\"/></svg>\
         <path d=\"M{left} {top}V{}H{}\" fill=\"none\" stroke=\"var(--soft)\"/></svg>",
        left + width,
        top + tall + 25.0,
        between(curves, band, 0, 4),
        between(curves, band, 1, 3),
        along(curves, band, 2, false),
        top + tall,
        left + width
    );
    out
}

/// Few enough labels for a low picture.
fn every_other(ticks: Vec<(f64, String)>) -> Vec<(f64, String)> {
    let step = ticks.len().div_ceil(4).max(1);
    ticks.into_iter().step_by(step).collect()
}

/// The area between two quantiles.
fn between(curves: &Curves, band: &Band, low: usize, high: usize) -> String {
    let there = along(curves, band, low, false);
    let back = along(curves, band, high, true).replacen('M', "L", 1);
    if there.is_empty() { there } else { format!("{there}{back}Z") }
}

/// One quantile from the first step to the last, or back.
fn along(curves: &Curves, band: &Band, which: usize, back: bool) -> String {
    let place = |(at, q): (usize, &[f64; 5])| format!("{} {}", at * curves.stride, height(q[which], band));
    let mut places: Vec<String> = band.quantiles.iter().enumerate().map(place).collect();
    if back {
        places.reverse();
    }
    if places.is_empty() { String::new() } else { format!("M{}", places.join("L")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_flagged_and_the_limit() {
        let all: Vec<usize> = (0..20_000).collect();
        let shown = thinned(all, |at| at % 100 == 7, 2000);
        assert!(shown.len() <= 2000, "{}", shown.len());
        assert_eq!(shown.iter().filter(|at| *at % 100 == 7).count(), 200);
        assert_eq!(thinned(vec![3, 4], |_| true, 2000), [3, 4]);
    }
}
