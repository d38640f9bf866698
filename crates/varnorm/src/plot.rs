//! [`Plot`]: curves over axes, as a self-contained SVG picture.
//!
//! ```
//! use varnorm::plot::{Axis, Curve, Plot};
//! let plot = Plot::new("Squares", Axis::linear("x"), Axis::linear("x * x"))
//!     .with(Curve::line("squares", (0..10).map(|i| (f64::from(i), f64::from(i * i))).collect()));
//! assert!(plot.to_svg().starts_with("<svg"));
//! ```

use std::fmt::Write;

/// How an axis is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps.
    Linear,
    /// Equal factors; values must be positive, and others are left out.
    Log,
}

/// One axis: what it shows, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it shows, in words.
    pub label: String,
    /// How it is divided.
    pub scale: Scale,
    /// Both ends; from the data when left out.
    pub range: Option<(f64, f64)>,
}

impl Axis {
    /// In equal steps.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear, range: None }
    }

    /// In equal factors.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log, range: None }
    }

    /// From one value to another, whatever the data say.
    pub fn between(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }
}

/// How the points of a curve are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Joined.
    Line,
    /// Joined by dashes: for references and bounds.
    Dashed,
    /// Not joined.
    Points,
    /// Joined and marked.
    LineAndPoints,
}

/// Points with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// As the legend tells it; an empty name is not told.
    pub name: String,
    /// Points, in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
    /// How they are shown.
    pub style: Style,
    /// Which colour of the palette; the next one when left out.
    pub color: Option<usize>,
}

impl Curve {
    /// Points in some style.
    pub fn new(name: impl Into<String>, style: Style, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, style, color: None }
    }

    /// Joined points.
    pub fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, Style::Line, points)
    }

    /// The same in this colour of the palette.
    pub fn colored(mut self, color: usize) -> Self {
        self.color = Some(color);
        self
    }
}

/// A picture of curves over two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    title: String,
    x: Axis,
    y: Axis,
    curves: Vec<Curve>,
    width: f64,
    height: f64,
}

/// Told apart by people who see colours differently (Okabe and Ito).
const PALETTE: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#444444"];
const LEFT: f64 = 72.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 62.0;
/// Height of one row of the legend.
const ROW: f64 = 18.0;

impl Plot {
    /// Axes without curves.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, curves: Vec::new(), width: 720.0, height: 440.0 }
    }

    /// With one more curve.
    pub fn with(mut self, curve: Curve) -> Self {
        self.curves.push(curve);
        self
    }

    /// In another size, in pixels.
    pub fn sized(mut self, width: f64, height: f64) -> Self {
        (self.width, self.height) = (width, height);
        self
    }

    /// The picture.
    pub fn to_svg(&self) -> String {
        let named = self.curves.iter().filter(|c| !c.name.is_empty()).count();
        // The legend stands below the axes, in two columns.
        let legend = ROW * named.div_ceil(2) as f64;
        let inner = (self.width - LEFT - RIGHT, self.height - TOP - BOTTOM - legend);
        let values = |pick: fn(&(f64, f64)) -> f64| {
            self.curves.iter().flat_map(|c| c.points.iter().map(pick)).collect::<Vec<f64>>()
        };
        let x = Ruler::new(&self.x, &values(|p| p.0), LEFT, inner.0);
        let y = Ruler::new(&self.y, &values(|p| p.1), TOP + inner.1, -inner.1);
        let mut out = String::new();
        let _ = write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" \
             font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">\n\
             <rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n\
             <text x=\"{LEFT}\" y=\"24\" font-size=\"16\" fill=\"#222222\">{title}</text>\n",
            w = self.width,
            h = self.height,
            title = escaped(&self.title),
        );
        self.draw_axes(&mut out, &x, &y, inner);
        for (at, curve) in self.curves.iter().enumerate() {
            draw_curve(&mut out, curve, color(curve, at), &x, &y);
        }
        self.draw_legend(&mut out, TOP + inner.1 + BOTTOM);
        out.push_str("</svg>\n");
        out
    }

    fn draw_axes(&self, out: &mut String, x: &Ruler, y: &Ruler, inner: (f64, f64)) {
        let (right, bottom) = (LEFT + inner.0, TOP + inner.1);
        for (value, label) in x.ticks() {
            let at = x.place(value);
            let _ = write!(
                out,
                "<line x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom}\" stroke=\"#e6e6e6\"/>\n\
                 <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#444444\">{label}</text>\n",
                bottom + 18.0
            );
        }
        for (value, label) in y.ticks() {
            let at = y.place(value);
            let _ = write!(
                out,
                "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\" stroke=\"#e6e6e6\"/>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#444444\">{label}</text>\n",
                LEFT - 8.0,
                at + 4.5
            );
        }
        let (middle_x, middle_y) = (LEFT + 0.5 * inner.0, TOP + 0.5 * inner.1);
        let _ = write!(
            out,
            "<path d=\"M{LEFT} {TOP}V{bottom}H{right}\" fill=\"none\" stroke=\"#444444\"/>\n\
             <text x=\"{middle_x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#222222\">{}</text>\n\
             <text transform=\"translate(18 {middle_y:.1}) rotate(-90)\" text-anchor=\"middle\" fill=\"#222222\">{}</text>\n",
            bottom + 40.0,
            escaped(&self.x.label),
            escaped(&self.y.label),
        );
    }

    fn draw_legend(&self, out: &mut String, top: f64) {
        let column = 0.5 * (self.width - LEFT - RIGHT);
        let named = self.curves.iter().enumerate().filter(|(_, c)| !c.name.is_empty());
        for (place, (at, curve)) in named.enumerate() {
            let (x, y) = (LEFT + column * (place % 2) as f64, top + ROW * (place / 2) as f64);
            let sample = [(x, y - 4.0), (x + 26.0, y - 4.0)];
            draw_points(out, &sample, curve.style, color(curve, at));
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{y:.1}\" fill=\"#222222\">{}</text>",
                x + 34.0,
                escaped(&curve.name)
            );
        }
    }
}

fn color(curve: &Curve, at: usize) -> &'static str {
    PALETTE[curve.color.unwrap_or(at) % PALETTE.len()]
}

fn draw_curve(out: &mut String, curve: &Curve, color: &str, x: &Ruler, y: &Ruler) {
    let shown = curve.points.iter().filter(|(a, b)| x.shows(*a) && y.shows(*b));
    let places: Vec<(f64, f64)> = shown.map(|(a, b)| (x.place(*a), y.place(*b))).collect();
    draw_points(out, &places, curve.style, color);
}

fn draw_points(out: &mut String, places: &[(f64, f64)], style: Style, color: &str) {
    if style != Style::Points {
        let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let dash = if style == Style::Dashed { " stroke-dasharray=\"7 5\"" } else { "" };
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"{dash}/>",
            path.join(" ")
        );
    }
    if matches!(style, Style::Points | Style::LineAndPoints) {
        for (x, y) in places {
            let _ = writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{color}\" fill-opacity=\"0.8\"/>"
            );
        }
    }
}

/// From values to places on the picture.
struct Ruler {
    scale: Scale,
    low: f64,
    high: f64,
    start: f64,
    length: f64,
}

impl Ruler {
    fn new(axis: &Axis, values: &[f64], start: f64, length: f64) -> Self {
        let usable = |v: &&f64| v.is_finite() && (axis.scale == Scale::Linear || **v > 0.0);
        let seen = values.iter().filter(usable);
        let (low, high) = seen.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
        let (low, high) = axis.range.unwrap_or(if low <= high { (low, high) } else { (1.0, 2.0) });
        let mut ruler = Self { scale: axis.scale, low: 0.0, high: 1.0, start, length };
        let (a, b) = (ruler.along(low), ruler.along(high));
        // A little air, unless the ends were given; a single value stands in the middle.
        let air = match axis.range {
            Some(_) => 0.0,
            None if a == b => 0.5,
            None => 0.04 * (b - a),
        };
        (ruler.low, ruler.high) = (a - air, b + air);
        ruler
    }

    fn along(&self, value: f64) -> f64 {
        if self.scale == Scale::Log { value.log10() } else { value }
    }

    fn place(&self, value: f64) -> f64 {
        self.start + self.length * (self.along(value) - self.low) / (self.high - self.low)
    }

    fn shows(&self, value: f64) -> bool {
        let along = self.along(value);
        along.is_finite() && along >= self.low - 1e-9 && along <= self.high + 1e-9
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Linear => self.round_values(),
            Scale::Log => self.decades(),
        }
    }

    /// About six values in steps of 1, 2 or 5 times a power of ten.
    fn round_values(&self) -> Vec<(f64, String)> {
        let rough = (self.high - self.low) / 6.0;
        let power = 10f64.powf(rough.log10().floor());
        let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= rough).unwrap_or(10.0);
        let step = factor * power;
        let digits = (-(step.log10() + 1e-9).floor()).max(0.0) as usize;
        let (first, last) = ((self.low / step).ceil() as i64, (self.high / step).floor() as i64);
        (first..=last).map(|k| k as f64 * step).map(|v| (v, format!("{v:.digits$}"))).collect()
    }

    /// Powers of ten, with 2 and 5 times them where there are few.
    fn decades(&self) -> Vec<(f64, String)> {
        let span = self.high - self.low;
        let factors: &[f64] = if span < 2.6 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let step = (span / 8.0).ceil().max(1.0) as i32;
        let powers = (self.low.floor() as i32..=self.high.ceil() as i32).filter(|p| p.rem_euclid(step) == 0);
        let all = powers.flat_map(|p| factors.iter().map(move |f| f * 10f64.powi(p)));
        all.filter(|v| self.shows(*v)).map(|v| (v, short(v))).collect()
    }
}

/// `0.001`, `200`, `1e-7`.
fn short(value: f64) -> String {
    if (1e-3..1e5).contains(&value) {
        format!("{}", (value * 1e6).round() / 1e6)
    } else {
        format!("{value:e}")
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_ticks() {
        let ruler = Ruler::new(&Axis::log("n").between(1.0, 100.0), &[], 0.0, 200.0);
        assert_eq!([1.0, 10.0, 100.0].map(|v| ruler.place(v)), [0.0, 100.0, 200.0]);
        assert!(!ruler.shows(0.0) && !ruler.shows(-1.0) && !ruler.shows(f64::NAN));
        let labels = |axis: Axis, values: &[f64]| -> Vec<String> {
            Ruler::new(&axis, values, 0.0, 1.0).ticks().into_iter().map(|t| t.1).collect()
        };
        assert_eq!(
            labels(Axis::linear("x").between(0.0, 1.0), &[]),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(labels(Axis::log("x"), &[1e-8, 1.0]).first().map(String::as_str), Some("1e-8"));
        assert_eq!(labels(Axis::linear("x"), &[3.0]), ["2.6", "2.8", "3.0", "3.2", "3.4"]);
    }

    #[test]
    fn words_are_escaped_and_points_without_a_place_left_out() {
        let plot = Plot::new("a < b", Axis::log("x"), Axis::linear("y")).with(Curve::new(
            "p & q",
            Style::Points,
            vec![(0.0, 1.0), (1.0, 2.0), (10.0, f64::NAN)],
        ));
        let svg = plot.to_svg();
        assert!(svg.contains("a &lt; b") && svg.contains("p &amp; q"));
        // One point, and two in the legend.
        assert_eq!(svg.matches("<circle").count(), 3, "{svg}");
    }
}
