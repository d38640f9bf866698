//! The parts of a picture as SVG. Writing to a string cannot fail: its results are dropped throughout.

use std::fmt::Write;

use super::ruler::Ruler;
use super::{Curve, Style, escaped};

/// The plane of a picture: both rulers, and the corners.
pub(super) struct Plane {
    pub(super) x: Ruler,
    pub(super) y: Ruler,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

/// A curve, with what belongs to its points.
pub(super) fn curve(out: &mut String, curve: &Curve, color: &str, plane: &Plane) {
    match curve.style {
        Style::Vertical => {
            for (x, _) in curve.points.iter().filter(|p| plane.x.shows(p.0)) {
                let x = plane.x.place(*x);
                points(out, &[(x, plane.top), (x, plane.bottom)], Style::Dashed, color);
            }
        }
        Style::Horizontal => {
            for (_, y) in curve.points.iter().filter(|p| plane.y.shows(p.1)) {
                let y = plane.y.place(*y);
                points(out, &[(plane.left, y), (plane.right, y)], Style::Dashed, color);
            }
        }
        Style::Bars => bars(out, curve, color, plane),
        _ => {
            let shown =
                curve.points.iter().enumerate().filter(|(_, p)| plane.x.shows(p.0) && plane.y.shows(p.1));
            let (at, places): (Vec<usize>, Vec<(f64, f64)>) =
                shown.map(|(at, p)| (at, (plane.x.place(p.0), plane.y.place(p.1)))).unzip();
            points_with(out, &places, curve.style, color, |i| about(curve, at[i]));
        }
    }
}

fn bars(out: &mut String, curve: &Curve, color: &str, plane: &Plane) {
    let half = 0.5 * curve.width;
    for (at, (x, height)) in curve.points.iter().enumerate().filter(|(_, p)| p.1 != 0.0 && p.1.is_finite()) {
        let (left, right) = (plane.x.place(x - half), plane.x.place(x + half));
        let (top, bottom) = (plane.y.place(*height), plane.y.place(0.0));
        let (attribute, title) = about(curve, at);
        let _ = writeln!(
            out,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{color}\" \
             fill-opacity=\"0.65\"{attribute}>{title}</rect>",
            right - left,
            bottom - top
        );
    }
}

/// The key of a point as an attribute, and its title as an element.
fn about(curve: &Curve, at: usize) -> (String, String) {
    let key = curve.keys.get(at).map(|key| format!(" data-series=\"{key}\"")).unwrap_or_default();
    let title = curve.titles.get(at).map(|t| format!("<title>{}</title>", escaped(t))).unwrap_or_default();
    (key, title)
}

/// Places in a style.
pub(super) fn points(out: &mut String, places: &[(f64, f64)], style: Style, color: &str) {
    points_with(out, places, style, color, |_| Default::default());
}

fn points_with(
    out: &mut String,
    places: &[(f64, f64)],
    style: Style,
    color: &str,
    about: impl Fn(usize) -> (String, String),
) {
    if matches!(style, Style::Line | Style::Dashed | Style::LineAndPoints) {
        let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let dash = if style == Style::Dashed { " stroke-dasharray=\"7 5\"" } else { "" };
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"{dash}/>",
            path.join(" ")
        );
    }
    if style == Style::Diamonds {
        for (at, (x, y)) in places.iter().enumerate() {
            let (attribute, title) = about(at);
            let _ = writeln!(
                out,
                "<path d=\"M{x:.1} {:.1}l5 5-5 5-5-5z\" fill=\"{color}\" fill-opacity=\"0.85\"{attribute}>{title}</path>",
                y - 5.0
            );
        }
    }
    if matches!(style, Style::Points | Style::Rings | Style::LineAndPoints) {
        for (at, (x, y)) in places.iter().enumerate() {
            let (attribute, title) = about(at);
            let paint = match style {
                Style::Rings => format!("fill=\"none\" stroke=\"{color}\" stroke-width=\"1.5\""),
                _ => format!("fill=\"{color}\" fill-opacity=\"0.8\""),
            };
            let close = if title.is_empty() { "/>".into() } else { format!(">{title}</circle>") };
            let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" {paint}{attribute}{close}");
        }
    }
}
