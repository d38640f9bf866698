//! The paper's figures: histograms of the chosen alphas and ranks, and conformance against Mahalanobis.

use std::collections::BTreeMap;

use crate::method::Method;
use crate::results::Results;
use crate::unit::UnitResult;
use varnorm::internal::plot::{Axis, Curve, Plot, Style};

/// The three figures as SVG, each with the name of its file. `envelope` takes the envelope norm's methods.
pub fn figures(units: &[UnitResult], envelope: bool) -> Vec<(&'static str, String)> {
    plots(units, envelope).into_iter().map(|(name, plot)| (name, plot.to_svg())).collect()
}

/// The three figures, each with the name of its file.
pub(crate) fn plots(units: &[UnitResult], envelope: bool) -> Vec<(&'static str, Plot)> {
    let methods = match envelope {
        false => [Method::Conformance, Method::Mahalanobis],
        true => [Method::ConformanceEnvelope, Method::MahalanobisEnvelope],
    };
    vec![
        ("alphas.svg", histogram(units, methods, "Chosen alpha", |c| c.alpha.map(|a| (a, format!("{a:e}"))))),
        (
            "ranks.svg",
            histogram(units, methods, "Chosen rank, in tens", |c| {
                let tens = c.max_rank?.saturating_sub(1) / 10;
                Some((tens as f64, format!("{}-{}", 10 * tens + 1, 10 * tens + 10)))
            }),
        ),
        ("scatter.svg", scatter(&Results::new(units), methods)),
    ]
}

/// How often each value was chosen, every data set and kernel counting the same whatever its number of classes.
fn histogram(
    units: &[UnitResult],
    methods: [Method; 2],
    title: &str,
    bin: impl Fn(&super::Chosen) -> Option<(f64, String)>,
) -> Plot {
    let mut classes: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for one in units {
        *classes.entry((&one.unit.dataset, &one.unit.kernel)).or_default() += 1.0;
    }
    let mut bins: Vec<(f64, String, [f64; 2])> = Vec::new();
    for one in units {
        for (which, method) in methods.iter().enumerate() {
            let chosen = one.methods.get(method).map(|found| &found.chosen);
            let Some((value, name)) = chosen.and_then(&bin) else { continue };
            let weight = 1.0 / classes[&(one.unit.dataset.as_str(), one.unit.kernel.as_str())];
            match bins.iter_mut().find(|b| b.0 == value) {
                Some(found) => found.2[which] += weight,
                None => {
                    let mut counts = [0.0; 2];
                    counts[which] = weight;
                    bins.push((value, name, counts));
                }
            }
        }
    }
    bins.sort_by(|a, b| a.0.total_cmp(&b.0));
    let names = bins.iter().enumerate().map(|(i, (_, name, _))| (i as f64, name.clone())).collect();
    let x = Axis::linear(title).named(names).between(-0.5, bins.len().max(1) as f64 - 0.5);
    let mut plot = Plot::new(title, x, Axis::linear("data sets x kernels")).sized(520.0, 360.0);
    for (which, name) in ["conformance", "Mahalanobis"].into_iter().enumerate() {
        let place = |i: usize| i as f64 + 0.38 * (which as f64 - 0.5);
        let bars = bins.iter().enumerate().map(|(i, bin)| (place(i), bin.2[which])).collect();
        let titles = bins.iter().map(|bin| format!("{name}, {}: {:.2}", bin.1, bin.2[which])).collect();
        plot = plot.with(Curve::bars(name, 0.38, bars).titled(titles));
    }
    plot
}

/// A point per data set and kernel, for both areas.
fn scatter(results: &Results, methods: [Method; 2]) -> Plot {
    let axis = |name| Axis::linear(name).between(0.0, 1.0);
    let mut plot = Plot::new("Conformance against Mahalanobis", axis("Mahalanobis"), axis("conformance"))
        .sized(520.0, 420.0)
        .with(Curve::new("", Style::Dashed, vec![(0.0, 0.0), (1.0, 1.0)]).colored(6));
    let (mut roc, mut pr, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for dataset in &results.datasets {
        for kernel in &results.kernels {
            let get = |method| results.get(dataset, kernel, method);
            let (Some(conformance), Some(mahalanobis)) = (get(methods[0]), get(methods[1])) else { continue };
            roc.push((mahalanobis.roc_auc, conformance.roc_auc));
            pr.push((mahalanobis.pr_auc, conformance.pr_auc));
            names.push(format!("{dataset}, {kernel}"));
        }
    }
    for (at, (what, points)) in [("ROC AUC", roc), ("PR AUC", pr)].into_iter().enumerate() {
        let titles = names.iter().map(|name| format!("{name}: {what}")).collect();
        plot = plot.with(Curve::new(what, Style::Points, points).titled(titles).colored(at));
    }
    plot
}
