//! From values to places on a picture, and the values that an axis names.

use super::{Axis, Scale};

/// From values to places on the picture.
pub(crate) struct Ruler {
    scale: Scale,
    low: f64,
    high: f64,
    start: f64,
    length: f64,
}

impl Ruler {
    pub(crate) fn new(axis: &Axis, values: &[f64], start: f64, length: f64) -> Self {
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

    pub(crate) fn place(&self, value: f64) -> f64 {
        self.start + self.length * (self.along(value) - self.low) / (self.high - self.low)
    }

    pub(super) fn shows(&self, value: f64) -> bool {
        let along = self.along(value);
        along.is_finite() && along >= self.low - 1e-9 && along <= self.high + 1e-9
    }

    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
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
