//! Which cells look like dates or clock times.

const MONTHS: &[&str] = &[
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
    "january",
    "february",
    "march",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "sat",
    "sun",
];

/// Whether a cell looks like a date, a clock time, or both. Cheap: the format is found later.
pub(super) fn is_stamp(text: &str) -> bool {
    let text = text.trim();
    if !(4..=40).contains(&text.len()) || !text.bytes().any(|b| b.is_ascii_digit()) {
        return false;
    }
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let mut month = false;
    for word in words {
        let low = word.to_lowercase();
        month |= MONTHS.contains(&low.as_str());
        if !month
            && !matches!(low.as_str(), "t" | "z" | "utc" | "gmt" | "am" | "pm")
            && !MONTHS.contains(&low.as_str())
        {
            return false;
        }
    }
    if !text.chars().all(|c| c.is_alphanumeric() || "-/.:,+ _".contains(c)) || text.matches(',').count() > 1 {
        return false;
    }
    let groups = text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).count();
    let bytes = text.as_bytes();
    is_date(bytes) || is_clock(bytes) || is_compact(bytes) || (month && groups >= 2)
}

/// How many digits stand from here on.
fn digits(bytes: &[u8], from: usize) -> usize {
    bytes.get(from..).map_or(0, |rest| rest.iter().take_while(|b| b.is_ascii_digit()).count())
}

/// `2024-01-02`, `02.01.2024` or `1/2/24` at the beginning, and a clock time or nothing after it.
fn is_date(bytes: &[u8]) -> bool {
    let first = digits(bytes, 0);
    let second = digits(bytes, first + 1);
    let third = digits(bytes, first + second + 2);
    let (mark, again) = (bytes.get(first), bytes.get(first + second + 1));
    let end = first + second + third + 2;
    let sizes = (first == 4 && third <= 2) || (first <= 2 && (third == 4 || third == 2));
    let after = bytes.get(end).is_none_or(|b| b" T,_Z+".contains(b));
    let rest = bytes.get(end + 1..).unwrap_or_default();
    let clocked = rest.iter().all(|b| b.is_ascii_whitespace()) || rest.contains(&b':') || rest.len() >= 4;
    first > 0
        && (1..=2).contains(&second)
        && third > 0
        && sizes
        && mark == again
        && mark.is_some_and(|m| b"-/.".contains(m))
        && after
        && clocked
}

/// `3:04`, `03:04:05.678`
fn is_clock(bytes: &[u8]) -> bool {
    let first = digits(bytes, 0);
    (1..=4).contains(&first)
        && bytes.get(first) == Some(&b':')
        && digits(bytes, first + 1) == 2
        && bytes.iter().all(|b| b.is_ascii_digit() || b":.,+- apmAPMZ".contains(b))
}

/// `20240102T030405`
fn is_compact(bytes: &[u8]) -> bool {
    digits(bytes, 0) == 8 && bytes.get(8).is_some_and(|b| b"T _".contains(b)) && digits(bytes, 9) >= 4
}

#[cfg(test)]
mod tests {
    #[test]
    fn stamps_are_told_from_numbers_and_names() {
        for text in [
            "2024-01-02",
            "2024-01-02T03:04:05.678Z",
            "2024-01-02 03:04:05,678",
            "02.01.2024 03:04",
            "01/02/2024",
            "1/2/24",
            "03:04",
            "03:04:05.1",
            "02-Jan-2024",
            "Jan 2, 2024 3:04 PM",
            "20240102T030405",
            "2024/01/02 03:04",
            "2024-01-02 03:04:05+01:00",
            "02.01.24",
        ] {
            assert!(super::is_stamp(text), "{text}");
        }
        for text in [
            "1.5",
            "1,234,567",
            "12",
            "v1.2.3",
            "ok",
            "10.0.0.12",
            "a:b",
            "-1.5e-3",
            "sensor 1",
            "1.234.567,8",
            "2024~002~01,1.5,2.5",
            "1.5 2.5 3.5",
            "1,2,3",
        ] {
            assert!(!super::is_stamp(text), "{text}");
        }
    }
}
