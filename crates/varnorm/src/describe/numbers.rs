//! Numbers with their units.

/// A number in so many significant digits: `0.04217`, `42.17`, `4.217e9`, `inf`.
pub fn significant(value: f64, digits: usize) -> String {
    let last = digits.saturating_sub(1);
    let rounded = format!("{value:.last$e}");
    let exponent: Option<i32> = rounded.split_once('e').and_then(|(_, e)| e.parse().ok());
    match exponent {
        // Zero has an exponent too: it is told as a plain 0.
        _ if value == 0.0 => "0".into(),
        Some(e) if (-4..=6).contains(&e) => {
            format!("{value:.*}", usize::try_from(last as i32 - e).unwrap_or(0))
        }
        _ => rounded,
    }
}

/// "1 channel", "2 channels"; "1 series", "2 series".
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 || noun.ends_with('s') { "" } else { "s" })
}

/// "12.3%".
pub fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// "0.00123%": three digits of a share that may be tiny.
pub fn fine_percent(share: f64) -> String {
    format!("{}%", significant(100.0 * share, 3))
}

/// "12.0 s", "3 min 05 s", "2 h 07 min".
pub fn duration(seconds: f64) -> String {
    if seconds < 60.0 { format!("{seconds:.1} s") } else { whole_duration(seconds) }
}

/// The same without fractions: "12 s", "3 min 05 s", "2 h 07 min".
pub fn whole_duration(seconds: f64) -> String {
    let whole = seconds as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_so_many_digits() {
        for (value, text) in [
            (0.0, "0"),
            (42.1749, "42.17"),
            (0.0421749, "0.04217"),
            (9.9996, "10.00"),
            (123456.7, "123457"),
            (4.2174e9, "4.217e9"),
            (1.5e-7, "1.500e-7"),
            (-3.0, "-3.000"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(significant(value, 4), text);
        }
        assert_eq!((percent(0.0512), fine_percent(0.0000512)), ("5.1%".into(), "0.00512%".into()));
    }

    #[test]
    fn nouns_follow_their_number() {
        let said = [count(1, "channel"), count(0, "channel"), count(1, "series"), count(7, "series")];
        assert_eq!(said, ["1 channel", "0 channels", "1 series", "7 series"]);
    }

    #[test]
    fn sizes_and_times_have_the_unit_that_fits() {
        assert_eq!(
            [3.0, 4.2e5, 4.2e7, 4.26e9].map(crate::describe::bytes),
            ["1 kB", "420 kB", "42 MB", "4.3 GB"]
        );
        let times = [0.04, 59.96, 185.0, 7649.0];
        assert_eq!(times.map(duration), ["0.0 s", "60.0 s", "3 min 05 s", "2 h 07 min"]);
        assert_eq!(times.map(whole_duration), ["0 s", "59 s", "3 min 05 s", "2 h 07 min"]);
    }
}
