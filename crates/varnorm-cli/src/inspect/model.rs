//! What a model file holds.

use serde::Serialize;
use varnorm::Distance;
use varnorm::detector::Description;
use varnorm::detector::Diagnostics;
use varnorm::gram::Scaling;

use super::in_words;
use crate::table::{count, significant};

/// A model, described for people.
pub fn facts(report: &Description) -> Vec<(&'static str, String)> {
    let (settings, corpus, spectrum) = (&report.settings, &report.corpus, &report.spectrum);
    let view = &report.views[0].summary;
    let asked = settings.given().first().map(|view| view.kernel.to_string());
    let resolved = report.kernel.to_string();
    let kernel = match asked.filter(|asked| *asked != resolved) {
        Some(asked) => format!("{resolved} (asked for: {asked})"),
        None => resolved,
    };
    let scaling = match view.scaling {
        Scaling::Normalized => "normalized",
        _ => "as they are",
    };
    let distance = match view.distance {
        Distance::Mahalanobis {} => "mahalanobis (to the mean)".into(),
        Distance::Conformance { neighbour: 1 } => "conformance (to the nearest normal series)".into(),
        Distance::Conformance { neighbour } => {
            format!("conformance (to normal series number {neighbour} by nearness)")
        }
    };
    let leading: Vec<String> =
        spectrum.eigenvalues.iter().take(6).map(|value| significant(*value, 4)).collect();
    let more = if spectrum.rank > 6 { ", ..." } else { "" };
    let mut facts = vec![
        ("kind", "varnorm model".into()),
        (
            "fitted on",
            format!(
                "{} of {}, {}",
                count(corpus.series, "series"),
                count(corpus.channels, "channel"),
                if corpus.named { "with names" } else { "without names" }
            ),
        ),
        ("preparation", view.prepare.to_string()),
        (
            "prepared",
            format!("{}, {}", count(corpus.prepared_channels, "channel"), in_words(&corpus.prepared_lengths)),
        ),
        ("kernel", kernel),
        ("kernel values", scaling.into()),
        ("space", space(report)),
        ("norm", format!("{}, alpha {}", word(&view.norm), significant(view.alpha, 4))),
        ("distance", distance),
        (
            "rank",
            format!(
                "{}, {:.2}% of the variance, effective dimension {}",
                spectrum.rank,
                100.0 * spectrum.kept_variance,
                significant(spectrum.effective_dimension, 3)
            ),
        ),
        ("eigenvalues", if leading.is_empty() { "none".into() } else { leading.join(", ") + more }),
        ("calibration", settings.calibration.to_string()),
    ];
    facts.extend(report.calibration.as_ref().map(|calibration| {
        let threshold = match calibration.threshold {
            t if t.is_infinite() => "no threshold".into(),
            t => format!("threshold {}", significant(t, 4)),
        };
        (
            "",
            format!(
                "{}, smallest p-value {}, {threshold} at level {}",
                count(calibration.scores, "score"),
                significant(calibration.smallest_p_value, 3),
                settings.level
            ),
        )
    }));
    facts.push(("decision", format!("{}, level {}", word(&settings.decision), settings.level)));
    facts.extend(report.gaussian_check.iter().map(|check| ("gaussian law", check.in_words())));
    facts.extend(diagnosis(&report.diagnostics));
    facts
}

/// Where the covariance was worked out.
fn space(report: &Description) -> String {
    let Some(own) = &report.space else { return "all pairs of series".into() };
    let coordinates = match own.landmarks {
        Some(landmarks) => {
            format!("{}, which miss {} of the trace", count(landmarks, "landmark"), percent(own.trace_error))
        }
        None => count(own.dimensions, "feature"),
    };
    format!("{}: {coordinates}; {} kept", own.space, count(own.kept_examples, "example"))
}

/// "1.23%", with digits for what is small.
pub fn percent(share: f64) -> String {
    format!("{}%", significant(100.0 * share, 3))
}

/// What the corpus and the norm are good for.
fn diagnosis(found: &Diagnostics) -> Vec<(&'static str, String)> {
    let (plain, seen) = (&found.covariance, &found.regularised);
    let mut facts = vec![
        (
            "shape",
            format!(
                "effective dimension {} and rank {}; as the norm sees it {} and {}",
                significant(plain.effective_dimension, 3),
                significant(plain.effective_rank, 3),
                significant(seen.effective_dimension, 3),
                significant(seen.effective_rank, 3)
            ),
        ),
        (
            "neighbours",
            match (seen.concentration, found.spread) {
                (Some(bound), Some(spread)) => format!(
                    "squared distances between corpus series differ by {:.0}% of their mean (bound epsilon {})",
                    100.0 * spread,
                    significant(bound, 3)
                ),
                _ => "all corpus series are equal".into(),
            },
        ),
        (
            "outside",
            format!(
                "a normal series lies {:.0}% outside the span of the others",
                100.0 * found.outside_others
            ),
        ),
    ];
    let advice = found.advice.iter().enumerate();
    facts.extend(advice.map(|(at, words)| (if at == 0 { "advice" } else { "" }, words.clone())));
    if found.advice.is_empty() {
        facts.push(("advice", "none: nothing stands out".into()));
    }
    facts
}

/// The word that stands for a value in JSON.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default()
}
