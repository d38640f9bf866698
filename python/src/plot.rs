//! Curves as SVG pictures.

use pyo3::prelude::*;
use varnorm::internal::plot::{Axis, Curve, Plot, Style};

use crate::errors::bad_param;

/// One curve: its name, its style, its points.
type Given = (String, String, Vec<f64>, Vec<f64>);

fn curve((name, style, x, y): Given) -> PyResult<Curve> {
    let style = match style.as_str() {
        "line" => Style::Line,
        "dashed" => Style::Dashed,
        "points" => Style::Points,
        "line_and_points" => Style::LineAndPoints,
        other => {
            return Err(bad_param("style", other, "must be line, dashed, points or line_and_points"));
        }
    };
    if x.len() != y.len() {
        return Err(bad_param("curve", &name, format!("has {} values of x and {} of y", x.len(), y.len())));
    }
    Ok(Curve::new(name, style, x.into_iter().zip(y).collect()))
}

fn axis(label: &str, log: bool) -> Axis {
    if log { Axis::log(label) } else { Axis::linear(label) }
}

/// Curves over axes, as SVG.
#[pyfunction]
pub fn plot(
    title: &str,
    x: (String, bool),
    y: (String, bool),
    curves: Vec<Given>,
    size: (f64, f64),
) -> PyResult<String> {
    let mut plot = Plot::new(title, axis(&x.0, x.1), axis(&y.0, y.1)).sized(size.0, size.1);
    for given in curves {
        plot = plot.with(curve(given)?);
    }
    Ok(plot.to_svg())
}
