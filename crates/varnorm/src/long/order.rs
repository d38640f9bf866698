//! [`Order`]: which rows follow each other, by their times.

/// A gap is more than so many steps long.
pub const GAP_LIMIT: f64 = 10.0;

/// How a row follows the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follows {
    /// It is the next one, or there is no way to tell.
    Directly,
    /// Rows are missing in between.
    AfterGap,
    /// Its time is before that of the last row: it is dropped, as rows that are scored stay as they are.
    Late,
    /// Its time is that of the last row: it is dropped, and the first one stays.
    Duplicate,
}

/// A time as a number, and whether its unit is the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Seconds since 1970 for dates, else the number itself.
    pub value: f64,
    /// Whether it was a date.
    pub dated: bool,
}

/// Judges rows by their times.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Order {
    /// From one row to the next, in the unit of the times.
    step: Option<f64>,
    limit: f64,
    last: Option<f64>,
}

impl Order {
    /// For rows that are so far apart, where that is known; gaps are longer than so many steps.
    pub fn new(step: Option<f64>, limit: f64) -> Self {
        Self { step, limit, last: None }
    }

    /// The last time was this.
    pub fn resume(&mut self, time: Option<&str>) {
        self.last = time.and_then(moment).map(|moment| moment.value);
    }

    /// Judges the next row. Times that are no times are not judged.
    pub fn judge(&mut self, time: Option<&str>) -> Follows {
        let Some(now) = time.and_then(moment).map(|moment| moment.value) else { return Follows::Directly };
        let Some(last) = self.last else {
            self.last = Some(now);
            return Follows::Directly;
        };
        if now < last {
            return Follows::Late;
        }
        if now == last {
            return Follows::Duplicate;
        }
        self.last = Some(now);
        match self.step.is_some_and(|step| now - last > self.limit * step) {
            true => Follows::AfterGap,
            false => Follows::Directly,
        }
    }
}

/// The median difference of times, where there are enough of them, and whether its unit is the second.
pub fn median_step<'a>(times: impl Iterator<Item = &'a str>) -> Option<(f64, bool)> {
    let moments: Option<Vec<Moment>> = times.map(moment).collect();
    let moments = moments?;
    let mut steps: Vec<f64> =
        moments.windows(2).map(|pair| pair[1].value - pair[0].value).filter(|step| *step > 0.0).collect();
    if steps.is_empty() {
        return None;
    }
    let middle = steps.len() / 2;
    let step = *steps.select_nth_unstable_by(middle, f64::total_cmp).1;
    Some((step, moments.iter().all(|moment| moment.dated)))
}

/// The time that a text states: a number, or a date with a time of day, as ISO 8601 has it.
pub fn moment(text: &str) -> Option<Moment> {
    let text = text.trim();
    if let Ok(value) = text.parse::<f64>() {
        return value.is_finite().then_some(Moment { value, dated: false });
    }
    let (date, rest) = text.split_at_checked(10)?;
    let mut parts = date.split(['-', '/']);
    let (year, month, day) = (whole(parts.next()?)?, whole(parts.next()?)?, whole(parts.next()?)?);
    let real = parts.next().is_none()
        && date.as_bytes()[4] == date.as_bytes()[7]
        && (1..=12).contains(&month)
        && (1..=31).contains(&day);
    let rest = rest.strip_prefix(['T', ' ', 't']).unwrap_or(rest);
    let (clock, zone) = split_zone(rest)?;
    real.then_some(Moment {
        value: days(year, month, day) as f64 * 86_400.0 + seconds(clock)? - zone,
        dated: true,
    })
}

/// A time of day and the seconds that its zone is ahead.
fn split_zone(text: &str) -> Option<(&str, f64)> {
    let text = text.trim();
    if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        return Some((clock, 0.0));
    }
    let Some(at) = text.find(['+', '-']) else { return Some((text, 0.0)) };
    let (clock, zone) = text.split_at(at);
    let sign = if zone.starts_with('-') { -1.0 } else { 1.0 };
    let digits: String = zone[1..].chars().filter(|c| *c != ':').collect();
    let (hours, minutes) = match digits.len() {
        2 => (whole(&digits)?, 0),
        4 => (whole(&digits[..2])?, whole(&digits[2..])?),
        _ => return None,
    };
    Some((clock.trim_end(), sign * (hours * 3600 + minutes * 60) as f64))
}

/// Seconds of a time of day; nothing stated is midnight.
fn seconds(clock: &str) -> Option<f64> {
    if clock.is_empty() {
        return Some(0.0);
    }
    let mut parts = clock.split(':');
    let (hours, minutes) = (whole(parts.next()?)?, whole(parts.next()?)?);
    let seconds = match parts.next() {
        None => 0.0,
        Some(text) => text.replace(',', ".").parse::<f64>().ok().filter(|s| (0.0..61.0).contains(s))?,
    };
    let real = parts.next().is_none() && hours < 25 && minutes < 60;
    real.then_some((hours * 3600 + minutes * 60) as f64 + seconds)
}

fn whole(text: &str) -> Option<i64> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Days since 1970-01-01 in the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last of a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_numbers_and_dates() {
        let value = |text| moment(text).map(|moment| moment.value);
        assert_eq!(value("1970-01-01"), Some(0.0));
        assert_eq!(value("2000-02-29T12:00:00Z"), Some(951_825_600.0));
        assert_eq!(value("2024-03-01 00:00:01.5"), Some(1_709_251_201.5));
        assert_eq!(value("2024-03-01T02:00:00+02:00"), value("2024-03-01 00:00"));
        assert_eq!(value("2024/03/01 00:00:00,25"), Some(1_709_251_200.25));
        assert_eq!(value(" 17.5 "), Some(17.5));
        for text in ["", "monday", "2024-13-01", "2024-01-01 25:61", "2024-1-1", "nan", "01.02.2024 00:00"] {
            assert_eq!(moment(text), None, "{text}");
        }
    }

    #[test]
    fn rows_are_judged_by_their_times() {
        let mut order = Order::new(Some(1.0), 3.0);
        let judged = ["0", "1", "1", "0.5", "4", "7.5", "x"].map(|time| order.judge(Some(time)));
        use Follows::{AfterGap, Directly, Duplicate, Late};
        assert_eq!(judged, [Directly, Directly, Duplicate, Late, Directly, AfterGap, Directly]);
        assert_eq!(order.judge(None), Directly);
        let mut resumed = Order::new(Some(1.0), 3.0);
        resumed.resume(Some("7.5"));
        assert_eq!((resumed.judge(Some("7")), resumed.judge(Some("20"))), (Late, AfterGap));
        assert_eq!(median_step(["0", "2", "4", "9"].into_iter()), Some((2.0, false)));
        assert_eq!(median_step(["2024-03-01", "2024-03-02"].into_iter()), Some((86_400.0, true)));
        assert_eq!(median_step(["a", "b"].into_iter()), None);
    }
}
