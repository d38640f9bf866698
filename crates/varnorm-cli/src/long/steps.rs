//! Durations as numbers of steps, and rows as places in a log.

use varnorm::Error;

/// Units of a duration and their seconds.
const UNITS: &[(&str, f64)] = &[
    ("ms", 0.001),
    ("s", 1.0),
    ("sec", 1.0),
    ("min", 60.0),
    ("m", 60.0),
    ("h", 3600.0),
    ("d", 86_400.0),
    ("w", 604_800.0),
];

/// The steps that a number or a duration such as `30s` means, for rows that are so many seconds apart.
pub fn steps(name: &str, text: &str, seconds_per_step: Option<f64>) -> Result<usize, Error> {
    let text = text.trim();
    if let Ok(steps) = text.parse::<usize>() {
        return Ok(steps);
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = UNITS.iter().find(|(word, _)| *word == unit.trim()).map(|(_, seconds)| *seconds);
    let rule = "must be a number of steps such as 64, or a duration such as 500ms, 30s, 5min, 2h or 1d";
    let (Ok(number), Some(factor)) = (number.parse::<f64>(), factor) else {
        return Err(Error::bad_param(name, text, rule));
    };
    let Some(step) = seconds_per_step else {
        let rule = "is a duration, and the rows have no dates to measure it by; give a number of steps";
        return Err(Error::bad_param(name, text, rule));
    };
    let steps = (number * factor / step).round();
    match (1.0..1e12).contains(&steps) {
        true => Ok(steps as usize),
        false => Err(Error::bad_param(name, text, format!("is not even one step: rows are {step} s apart"))),
    }
}

/// A number of seconds as a person says it.
pub fn duration_in_words(seconds: f64) -> String {
    match seconds {
        s if s >= 2.0 * 86_400.0 => format!("{:.1} days", s / 86_400.0),
        s if s >= 7200.0 => format!("{:.1} hours", s / 3600.0),
        s if s >= 120.0 => format!("{:.0} minutes", s / 60.0),
        s => format!("{s:.1} seconds"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_steps() {
        assert_eq!(steps("window", "64", None).unwrap(), 64);
        assert_eq!(steps("window", "30s", Some(0.5)).unwrap(), 60);
        assert_eq!(steps("window", "1.5 h", Some(60.0)).unwrap(), 90);
        assert!(steps("window", "30s", None).unwrap_err().to_string().contains("no dates"));
        for bad in ["soon", "-3", "s", "3 fortnights", "1ms"] {
            assert!(steps("window", bad, Some(10.0)).is_err(), "{bad}");
        }
        assert_eq!(duration_in_words(86_400.0 * 3.0), "3.0 days");
    }
}
