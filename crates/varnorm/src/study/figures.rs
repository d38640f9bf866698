//! The paper's figures: histograms of the chosen alphas and ranks, and conformance against Mahalanobis.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::method::Method;
use super::results::Results;
use super::unit::UnitResult;

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 360.0;
/// Room for the axes: left, right, top, bottom.
const MARGIN: (f64, f64, f64, f64) = (56.0, 16.0, 34.0, 48.0);
const COLOURS: [&str; 2] = ["#1f77b4", "#d95f02"];

/// The three figures as SVG, each with the name of its file. `envelope` takes the envelope norm's methods.
pub fn figures(units: &[UnitResult], envelope: bool) -> Vec<(&'static str, String)> {
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
) -> String {
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
    let most = bins.iter().flat_map(|b| b.2).fold(0.0, f64::max).max(1e-9);
    let mut plot = Plot::new(title, (0.0, bins.len().max(1) as f64), (0.0, most * 1.08));
    plot.y_axis("data sets x kernels", most);
    for (i, (_, name, counts)) in bins.iter().enumerate() {
        for (which, count) in counts.iter().enumerate() {
            plot.bar(i as f64 + 0.12 + 0.38 * which as f64, 0.38, *count, COLOURS[which]);
        }
        plot.x_label(i as f64 + 0.5, name);
    }
    plot.legend(["conformance", "Mahalanobis"]);
    plot.finish()
}

/// A point per data set and kernel, for both areas.
fn scatter(results: &Results, methods: [Method; 2]) -> String {
    let mut plot = Plot::new("Conformance against Mahalanobis", (0.0, 1.0), (0.0, 1.0));
    plot.y_axis("conformance", 1.0);
    for tick in 0..=5 {
        plot.x_label(0.2 * f64::from(tick), &format!("{:.1}", 0.2 * f64::from(tick)));
    }
    plot.x_title("Mahalanobis");
    plot.line((0.0, 0.0), (1.0, 1.0));
    for dataset in &results.datasets {
        for kernel in &results.kernels {
            let get = |method| results.get(dataset, kernel, method);
            let (Some(conformance), Some(mahalanobis)) = (get(methods[0]), get(methods[1])) else { continue };
            let name = format!("{dataset}, {kernel}");
            plot.point((mahalanobis.roc_auc, conformance.roc_auc), COLOURS[0], &format!("{name}: ROC AUC"));
            plot.point((mahalanobis.pr_auc, conformance.pr_auc), COLOURS[1], &format!("{name}: PR AUC"));
        }
    }
    plot.legend(["ROC AUC", "PR AUC"]);
    plot.finish()
}

/// A small drawing with axes.
struct Plot {
    body: String,
    x: (f64, f64),
    y: (f64, f64),
}

// Writing to a string cannot fail: its results are dropped throughout.
impl Plot {
    fn new(title: &str, x: (f64, f64), y: (f64, f64)) -> Self {
        let mut plot = Self { body: String::new(), x, y };
        let _ = writeln!(
            plot.body,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} \
             {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n<title>{0}</title>\n<rect width=\"100%\" \
             height=\"100%\" fill=\"white\"/>",
            escaped(title)
        );
        plot.text(WIDTH / 2.0, 20.0, "middle", title);
        let (left, bottom) = (plot.at(x.0, y.0).0, plot.at(x.0, y.0).1);
        let (right, top) = plot.at(x.1, y.1);
        let _ = writeln!(
            plot.body,
            "<path d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\" fill=\"none\" stroke=\"#333\"/>"
        );
        plot
    }

    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let (left, right, top, bottom) = MARGIN;
        let share = |value: f64, (low, high): (f64, f64)| (value - low) / (high - low);
        (
            left + share(x, self.x) * (WIDTH - left - right),
            HEIGHT - bottom - share(y, self.y) * (HEIGHT - top - bottom),
        )
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, words: &str) {
        let words = escaped(words);
        let _ =
            writeln!(self.body, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>");
    }

    /// Five ticks up to `most`, and the axis' name.
    fn y_axis(&mut self, name: &str, most: f64) {
        for tick in 0..=5 {
            let value = most * f64::from(tick) / 5.0;
            let (x, y) = self.at(self.x.0, value);
            let digits = usize::from(most < 20.0);
            self.text(x - 6.0, y + 4.0, "end", &format!("{value:.digits$}"));
        }
        let (x, y) = (14.0, HEIGHT / 2.0);
        let _ = writeln!(
            self.body,
            "<text transform=\"translate({x} {y}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escaped(name)
        );
    }

    fn x_label(&mut self, x: f64, words: &str) {
        let (x, y) = self.at(x, self.y.0);
        self.text(x, y + 18.0, "middle", words);
    }

    fn x_title(&mut self, words: &str) {
        self.text(WIDTH / 2.0, HEIGHT - 10.0, "middle", words);
    }

    fn bar(&mut self, x: f64, width: f64, value: f64, colour: &str) {
        let (left, bottom) = self.at(x, 0.0);
        let (right, top) = self.at(x + width, value);
        let _ = writeln!(
            self.body,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\"/>",
            right - left,
            bottom - top
        );
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let ((a, b), (c, d)) = (self.at(from.0, from.1), self.at(to.0, to.1));
        let _ = writeln!(
            self.body,
            "<path d=\"M{a:.1} {b:.1}L{c:.1} {d:.1}\" stroke=\"#999\" stroke-dasharray=\"4 3\"/>"
        );
    }

    fn point(&mut self, (x, y): (f64, f64), colour: &str, name: &str) {
        let (x, y) = self.at(x, y);
        let _ = writeln!(
            self.body,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\" \
             fill-opacity=\"0.6\"><title>{}</title></circle>",
            escaped(name)
        );
    }

    fn legend(&mut self, names: [&str; 2]) {
        for (i, name) in names.into_iter().enumerate() {
            let (x, y) = (MARGIN.0 + 10.0, MARGIN.2 + 8.0 + 16.0 * i as f64);
            let colour = COLOURS[i];
            let _ = writeln!(
                self.body,
                "<rect x=\"{x}\" y=\"{:.1}\" width=\"10\" height=\"10\" fill=\"{colour}\"/>",
                y - 9.0
            );
            self.text(x + 15.0, y, "start", name);
        }
    }

    fn finish(mut self) -> String {
        self.body.push_str("</svg>\n");
        self.body
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
