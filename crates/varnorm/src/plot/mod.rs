//! [`Plot`]: curves over axes, as a self-contained SVG picture.
//!
//! ```
//! use varnorm::internal::plot::{Axis, Curve, Plot};
//! let plot = Plot::new("Squares", Axis::linear("x"), Axis::linear("x * x"))
//!     .with(Curve::line("squares", (0..10).map(|i| (f64::from(i), f64::from(i * i))).collect()));
//! assert!(plot.to_svg().starts_with("<svg"));
//! ```

mod draw;
mod look;
mod ruler;

pub use look::Look;
pub(crate) use ruler::Ruler;

use std::fmt::Write;

use draw::Plane;

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
    /// What is named along it; round values when left out.
    pub names: Option<Vec<(f64, String)>>,
}

impl Axis {
    /// In equal steps.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear, range: None, names: None }
    }

    /// In equal factors.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log, range: None, names: None }
    }

    /// From one value to another, whatever the data say.
    pub fn between(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// With these places named instead of round values.
    pub fn named(mut self, names: Vec<(f64, String)>) -> Self {
        self.names = Some(names);
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
    /// Not joined, and hollow.
    Rings,
    /// Not joined, and four-cornered.
    Diamonds,
    /// Joined and marked.
    LineAndPoints,
    /// Bars from zero, as wide as the curve says.
    Bars,
    /// A dashed line from top to bottom at each x.
    Vertical,
    /// A dashed line from left to right at each y.
    Horizontal,
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
    /// The width of a bar, in units of the x axis.
    pub width: f64,
    /// What each point is, told when the mouse rests on it; may be empty.
    pub titles: Vec<String>,
    /// What a page knows each point by; may be empty.
    pub keys: Vec<usize>,
}

impl Curve {
    /// Points in some style.
    pub fn new(name: impl Into<String>, style: Style, points: Vec<(f64, f64)>) -> Self {
        let (titles, keys) = (Vec::new(), Vec::new());
        Self { name: name.into(), points, style, color: None, width: 1.0, titles, keys }
    }

    /// Joined points.
    pub fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, Style::Line, points)
    }

    /// Bars of this width, around their x.
    pub fn bars(name: impl Into<String>, width: f64, points: Vec<(f64, f64)>) -> Self {
        Self { width, ..Self::new(name, Style::Bars, points) }
    }

    /// The same in this colour of the palette.
    pub fn colored(mut self, color: usize) -> Self {
        self.color = Some(color);
        self
    }

    /// With what each point is.
    pub fn titled(mut self, titles: Vec<String>) -> Self {
        self.titles = titles;
        self
    }

    /// With what a page knows each point by.
    pub fn keyed(mut self, keys: Vec<usize>) -> Self {
        self.keys = keys;
        self
    }

    /// Values that the x axis has to hold.
    fn xs(&self) -> Vec<f64> {
        let half = 0.5 * self.width;
        match self.style {
            Style::Horizontal => Vec::new(),
            Style::Bars => self.points.iter().flat_map(|p| [p.0 - half, p.0 + half]).collect(),
            _ => self.points.iter().map(|p| p.0).collect(),
        }
    }

    /// Values that the y axis has to hold.
    fn ys(&self) -> Vec<f64> {
        let values = self.points.iter().map(|p| p.1);
        match self.style {
            Style::Vertical => Vec::new(),
            Style::Bars => values.chain([0.0]).collect(),
            _ => values.collect(),
        }
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

const LEFT: f64 = 72.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
/// Without a heading.
const LOW_TOP: f64 = 14.0;
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

    /// The picture, for a file of its own.
    pub fn to_svg(&self) -> String {
        self.draw(Look::Paper)
    }

    /// The picture for a page that gives the colours and the heading: the title is what a screen reader says.
    pub fn to_inline_svg(&self) -> String {
        self.draw(Look::Page)
    }

    fn draw(&self, look: Look) -> String {
        let named = self.curves.iter().filter(|c| !c.name.is_empty()).count();
        // The legend stands below the axes, in two columns.
        let legend = ROW * named.div_ceil(2) as f64;
        let top = if look == Look::Paper { TOP } else { LOW_TOP };
        let (right, bottom) = (self.width - RIGHT, self.height - BOTTOM - legend);
        let xs: Vec<f64> = self.curves.iter().flat_map(Curve::xs).collect();
        let ys: Vec<f64> = self.curves.iter().flat_map(Curve::ys).collect();
        let x = Ruler::new(&self.x, &xs, LEFT, right - LEFT);
        let y = Ruler::new(&self.y, &ys, bottom, top - bottom);
        let plane = Plane { x, y, left: LEFT, right, top, bottom };
        let mut out = self.head(look);
        self.draw_axes(&mut out, look, &plane);
        for (at, curve) in self.curves.iter().enumerate() {
            draw::curve(&mut out, curve, &color(look, curve, at), &plane);
        }
        self.draw_legend(&mut out, look, bottom + BOTTOM);
        out.push_str("</svg>\n");
        out
    }

    fn head(&self, look: Look) -> String {
        let (w, h, title) = (self.width, self.height, escaped(&self.title));
        match look {
            Look::Paper => format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" \
                 font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">\n\
                 <rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n\
                 <text x=\"{LEFT}\" y=\"24\" font-size=\"16\" fill=\"{}\">{title}</text>\n",
                look.ink()
            ),
            Look::Page => format!(
                "<svg viewBox=\"0 0 {w} {h}\" font-size=\"13\" role=\"img\" aria-label=\"{title}\">\n"
            ),
        }
    }

    fn draw_axes(&self, out: &mut String, look: Look, plane: &Plane) {
        let Plane { x, y, left, right, top, bottom } = plane;
        let (soft, grid, ink) = (look.soft(), look.grid(), look.ink());
        for (value, label) in self.x.names.clone().unwrap_or_else(|| x.ticks()) {
            let (at, label) = (x.place(value), escaped(&label));
            let _ = write!(
                out,
                "<line x1=\"{at:.1}\" y1=\"{top}\" x2=\"{at:.1}\" y2=\"{bottom}\" stroke=\"{grid}\"/>\n\
                 <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{soft}\">{label}</text>\n",
                bottom + 18.0
            );
        }
        for (value, label) in self.y.names.clone().unwrap_or_else(|| y.ticks()) {
            let (at, label) = (y.place(value), escaped(&label));
            let _ = write!(
                out,
                "<line x1=\"{left}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\" stroke=\"{grid}\"/>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{soft}\">{label}</text>\n",
                left - 8.0,
                at + 4.5
            );
        }
        let (middle_x, middle_y) = (0.5 * (left + right), 0.5 * (top + bottom));
        let _ = write!(
            out,
            "<path d=\"M{left} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"{soft}\"/>\n\
             <text x=\"{middle_x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{ink}\">{}</text>\n\
             <text transform=\"translate(18 {middle_y:.1}) rotate(-90)\" text-anchor=\"middle\" fill=\"{ink}\">{}</text>\n",
            bottom + 40.0,
            escaped(&self.x.label),
            escaped(&self.y.label),
        );
    }

    fn draw_legend(&self, out: &mut String, look: Look, top: f64) {
        let column = 0.5 * (self.width - LEFT - RIGHT);
        let named = self.curves.iter().enumerate().filter(|(_, c)| !c.name.is_empty());
        for (place, (at, curve)) in named.enumerate() {
            let (x, y) = (LEFT + column * (place % 2) as f64, top + ROW * (place / 2) as f64);
            let color = color(look, curve, at);
            let sample = [(x, y - 4.0), (x + 26.0, y - 4.0)];
            match curve.style {
                Style::Bars => {
                    let _ = writeln!(
                        out,
                        "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"26\" height=\"10\" fill=\"{color}\" \
                         fill-opacity=\"0.65\"/>",
                        y - 9.0
                    );
                }
                Style::Vertical | Style::Horizontal => draw::points(out, &sample, Style::Dashed, &color),
                style => draw::points(out, &sample, style, &color),
            }
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{y:.1}\" fill=\"{}\">{}</text>",
                x + 34.0,
                look.ink(),
                escaped(&curve.name)
            );
        }
    }
}

fn color(look: Look, curve: &Curve, at: usize) -> String {
    look.color(curve.color.unwrap_or(at))
}

/// Text for an element or an attribute of SVG or HTML.
pub fn escaped(text: &str) -> String {
    // XML knows no control characters but white space.
    let known = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
    let text: String = text.chars().map(|c| if known(c) { c } else { char::REPLACEMENT_CHARACTER }).collect();
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
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
    fn bars_lines_across_keys_and_titles() {
        let plot = Plot::new("t", Axis::linear("x"), Axis::linear("y"))
            .with(
                Curve::bars("b", 2.0, vec![(1.0, 3.0), (3.0, 0.0)]).titled(vec!["<3>".into(), "none".into()]),
            )
            .with(Curve::new("r", Style::Rings, vec![(2.0, 2.0)]).keyed(vec![17]))
            .with(Curve::new("v", Style::Vertical, vec![(2.5, f64::NAN)]));
        let svg = plot.to_inline_svg();
        // The bar from 0 to 3 and its sample; the bar without height is not drawn.
        assert_eq!(svg.matches("<rect").count(), 2, "{svg}");
        assert!(svg.contains("<title>&lt;3&gt;</title>") && !svg.contains("<title>none"), "{svg}");
        assert!(svg.contains("data-series=\"17\""), "{svg}");
        assert_eq!(svg.matches("stroke-dasharray").count(), 2, "{svg}");
        // A page gives the colours; a file has its own.
        assert!(svg.contains("var(--plot-0)") && !svg.contains('#'), "{svg}");
        assert!(!plot.to_svg().contains("var("));
    }

    #[test]
    fn control_characters_are_no_part_of_a_picture() {
        assert_eq!(escaped("a\u{1b}[31m\u{0}\tb<"), "a\u{fffd}[31m\u{fffd}\tb&lt;");
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
