//! From values to places on a picture, and the values that an axis names.

use super::{Axis, Scale};

/// Values are drawn up to this size.
const LARGEST: f64 = 1e300;

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
            None if a == b => ruler.around(a),
            None => 0.04 * (b - a),
        };
        (ruler.low, ruler.high) = (a - air, b + air);
        ruler
    }

    fn along(&self, value: f64) -> f64 {
        // Differences of the largest numbers are no numbers any more: values beyond stand at the end.
        if self.scale == Scale::Log { value.log10() } else { value.clamp(-LARGEST, LARGEST) }
    }

    /// The air around a single value: a half, or half its size where a half would be lost beside it.
    fn around(&self, along: f64) -> f64 {
        if along.abs() > 1e6 { 0.5 * along.abs() } else { 0.5 }
    }

    pub(crate) fn place(&self, value: f64) -> f64 {
        self.start + self.length * (self.along(value) - self.low) / (self.high - self.low)
    }

    pub(super) fn shows(&self, value: f64) -> bool {
        let along = self.along(value);
        let slack = 1e-9 * (self.high - self.low);
        along.is_finite() && along >= self.low - slack && along <= self.high + slack
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
        let only_low = || vec![(self.low, short(self.low))];
        if !(rough > 0.0 && rough.is_finite()) {
            return only_low();
        }
        let power = 10f64.powf(rough.log10().floor()).max(f64::MIN_POSITIVE);
        let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= rough).unwrap_or(10.0);
        let step = factor * power;
        let (first, last) = ((self.low / step).ceil() as i64, (self.high / step).floor() as i64);
        let largest = self.low.abs().max(self.high.abs());
        let values: Vec<_> =
            (first..=last).map(|k| k as f64 * step).map(|v| (v, label(v, step, largest))).collect();
        // Neighbouring numbers have no round value between them.
        if values.is_empty() { only_low() } else { values }
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

/// A value of an axis with such steps, to the last digit in which they differ; with a power of ten where it would be a row
/// of zeros.
fn label(value: f64, step: f64, largest: f64) -> String {
    let order = |v: f64| (v.log10() + 1e-9).floor();
    if step >= 1e-6 && largest < 1e9 {
        let digits = (-order(step)).max(0.0) as usize;
        format!("{value:.digits$}")
    } else if value == 0.0 {
        "0".into()
    } else {
        let digits = (order(value.abs()) - order(step)).clamp(0.0, 16.0) as usize;
        format!("{value:.digits$e}")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(values: &[f64]) -> Vec<(f64, String)> {
        let axis = Axis::linear("");
        let ruler = Ruler::new(&axis, values, 0.0, 100.0);
        assert!(values.iter().all(|v| (0.0..=100.0).contains(&ruler.place(*v))), "{values:?}");
        let ticks = ruler.ticks();
        assert!((1..12).contains(&ticks.len()), "{values:?}: {ticks:?}");
        assert!(ticks.iter().all(|(v, words)| v.is_finite() && words.len() < 25), "{values:?}: {ticks:?}");
        ticks
    }

    #[test]
    fn any_values_have_an_axis() {
        for size in [0.0, 5e-324, 1e-300, 1e-9, 1.0, 3e15, 1e16, 1.7e17, 1e300, f64::MAX] {
            ticks(&[size]);
            ticks(&[-size, size]);
            ticks(&[size, size * (1.0 + f64::EPSILON)]);
            ticks(&[0.0, size]);
        }
        let words: Vec<String> = ticks(&[0.0, 1.0]).into_iter().map(|(_, words)| words).collect();
        assert_eq!(words, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(ticks(&[0.0, 6e20])[1].1, "2e20");
    }
}
