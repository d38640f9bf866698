//! [`Times`]: when the steps of series were taken.

mod gaps;
mod sampling;
mod stamps;
mod unit;

use std::borrow::Cow;

use super::text;

pub use gaps::{Gap, Gaps, TimeFaults};
pub use sampling::SamplingStep;
pub use stamps::{StampFormat, StampReading};
pub use unit::TimeUnit;

/// One time per step, in the order of the steps of all series. Written forms survive: what was read is what is
/// written.
#[derive(Debug, Clone, PartialEq)]
pub struct Times {
    points: Points,
    /// Of numbers, where it is known.
    unit: Option<TimeUnit>,
    spelling: Spelling,
}

/// Times that can be compared and subtracted, or texts that cannot.
#[derive(Debug, Clone, PartialEq)]
enum Points {
    /// In `unit`, or in one that nobody named.
    Numbers(Vec<f64>),
    /// Nanoseconds since 1970 in UTC; a stamp without a zone is taken as UTC.
    Stamps(Vec<i64>),
    /// Neither: order and distance are unknown.
    Texts,
}

/// How times are written.
#[derive(Debug, Clone, PartialEq)]
enum Spelling {
    /// Numbers with so many decimals.
    Decimals(usize),
    /// Numbers, as short as they can be.
    Shortest,
    /// Stamps in one format.
    Stamps(StampFormat),
    /// In no way that a rule could tell: kept one by one.
    Texts(Vec<String>),
}

impl Times {
    /// Times as a file has them: numbers if all are, stamps if all are in one known format, else texts.
    ///
    /// Texts that are stamps in two ways (`03/04/2024`) stay texts; see [`StampFormat::of`].
    pub fn from_written(texts: Vec<String>) -> Self {
        if let Some(numbers) = texts.iter().map(|t| number(t)).collect::<Option<Vec<f64>>>() {
            return Self::numbers_as_written(numbers, None, texts);
        }
        match StampFormat::of(texts.iter().map(String::as_str)) {
            StampReading::Certain(format) => {
                Self::stamps_as_written(texts, format).unwrap_or_else(Self::texts)
            }
            StampReading::Ambiguous(..) | StampReading::Unknown => Self::texts(texts),
        }
    }

    /// Stamps in a format that is known; the texts come back where one is not in it.
    pub fn stamps_as_written(texts: Vec<String>, format: StampFormat) -> Result<Self, Vec<String>> {
        let Some(mut stamps) = texts.iter().map(|t| format.parse(t)).collect::<Option<Vec<i64>>>() else {
            return Err(texts);
        };
        if format.is_clock() {
            stamps::unroll(&mut stamps);
        }
        let same = stamps.iter().zip(&texts).all(|(stamp, text)| format.print(*stamp) == *text);
        let spelling = if same { Spelling::Stamps(format) } else { Spelling::Texts(texts) };
        Ok(Self { points: Points::Stamps(stamps), unit: None, spelling })
    }

    /// Numbers with their texts.
    fn numbers_as_written(numbers: Vec<f64>, unit: Option<TimeUnit>, texts: Vec<String>) -> Self {
        let decimals = texts.first().map_or(0, |t| t.split_once('.').map_or(0, |(_, d)| d.len()));
        let candidates = [Spelling::Decimals(decimals), Spelling::Shortest];
        let fits = |spelling: &Spelling| numbers.iter().zip(&texts).all(|(n, t)| spelling.number(*n) == *t);
        let spelling = candidates.into_iter().find(fits);
        let spelling = spelling.unwrap_or(Spelling::Texts(texts));
        Self { points: Points::Numbers(numbers), unit, spelling }
    }

    /// Numbers in a unit, or in one that nobody named; all must be finite, else `None`.
    pub fn numbers(numbers: Vec<f64>, unit: Option<TimeUnit>) -> Option<Self> {
        let finite = numbers.iter().all(|n| n.is_finite());
        finite.then_some(Self { points: Points::Numbers(numbers), unit, spelling: Spelling::Shortest })
    }

    /// Stamps in nanoseconds since 1970 (UTC), written in this format.
    #[cfg_attr(not(feature = "files"), allow(dead_code))]
    pub(super) fn stamps_in(mut nanoseconds: Vec<i64>, format: StampFormat) -> Self {
        if format.is_clock() {
            stamps::unroll(&mut nanoseconds);
        }
        Self { points: Points::Stamps(nanoseconds), unit: None, spelling: Spelling::Stamps(format) }
    }

    /// Stamps in nanoseconds since 1970 (UTC), written as ISO 8601.
    pub fn stamps(nanoseconds: Vec<i64>) -> Self {
        let spelling = Spelling::Stamps(StampFormat::iso());
        Self { points: Points::Stamps(nanoseconds), unit: None, spelling }
    }

    /// Texts whose order and distance are unknown.
    pub fn texts(texts: Vec<String>) -> Self {
        Self { points: Points::Texts, unit: None, spelling: Spelling::Texts(texts) }
    }

    /// The same with the unit of numbers; stamps and texts have none.
    pub fn with_unit(mut self, unit: Option<TimeUnit>) -> Self {
        self.unit = unit.filter(|_| matches!(self.points, Points::Numbers(_)));
        self
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match (&self.points, &self.spelling) {
            (Points::Numbers(all), _) => all.len(),
            (Points::Stamps(all), _) => all.len(),
            (Points::Texts, Spelling::Texts(all)) => all.len(),
            (Points::Texts, _) => 0,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The unit of numbers, where it is known.
    pub fn unit(&self) -> Option<TimeUnit> {
        self.unit
    }

    /// Whether order and distance are unknown.
    pub fn are_texts(&self) -> bool {
        matches!(self.points, Points::Texts)
    }

    /// Numbers, where the times are numbers.
    pub fn as_numbers(&self) -> Option<&[f64]> {
        match &self.points {
            Points::Numbers(all) => Some(all),
            _ => None,
        }
    }

    /// Nanoseconds since 1970 (UTC), where the times are stamps.
    pub fn as_stamps(&self) -> Option<&[i64]> {
        match &self.points {
            Points::Stamps(all) => Some(all),
            _ => None,
        }
    }

    /// A time as it is written.
    pub fn written(&self, at: usize) -> Cow<'_, str> {
        match (&self.spelling, &self.points) {
            (Spelling::Texts(texts), _) => Cow::Borrowed(&texts[at]),
            (Spelling::Stamps(format), Points::Stamps(all)) => Cow::Owned(format.print(all[at])),
            (spelling, Points::Numbers(all)) => Cow::Owned(spelling.number(all[at])),
            _ => Cow::Borrowed(""),
        }
    }

    /// All times as they are written.
    pub fn to_written(&self) -> Vec<String> {
        (0..self.len()).map(|at| self.written(at).into_owned()).collect()
    }

    /// The times at these places, in this order.
    pub fn pick(&self, places: impl IntoIterator<Item = usize> + Clone) -> Self {
        fn of<T: Clone>(all: &[T], places: impl IntoIterator<Item = usize>) -> Vec<T> {
            places.into_iter().map(|at| all[at].clone()).collect()
        }
        let points = match &self.points {
            Points::Numbers(all) => Points::Numbers(of(all, places.clone())),
            Points::Stamps(all) => Points::Stamps(of(all, places.clone())),
            Points::Texts => Points::Texts,
        };
        let spelling = match &self.spelling {
            Spelling::Texts(all) => Spelling::Texts(of(all, places)),
            rule => rule.clone(),
        };
        Self { points, unit: self.unit, spelling }
    }

    /// Two lists of times as one, where both are of one kind; else their texts.
    pub fn joined(self, other: Self) -> Self {
        let same_unit = self.unit == other.unit;
        match (&self.points, &other.points) {
            (Points::Numbers(a), Points::Numbers(b)) if same_unit => {
                let (points, unit) = (Points::Numbers([&a[..], b].concat()), self.unit);
                Self { points, unit, spelling: self.joined_spelling(&other) }
            }
            (Points::Stamps(a), Points::Stamps(b)) => {
                let points = Points::Stamps([&a[..], b].concat());
                Self { points, unit: None, spelling: self.joined_spelling(&other) }
            }
            _ => Self::texts([self.to_written(), other.to_written()].concat()),
        }
    }

    fn joined_spelling(&self, other: &Self) -> Spelling {
        match (&self.spelling, &other.spelling) {
            (a, b) if !matches!(a, Spelling::Texts(_)) && a == b => a.clone(),
            _ => Spelling::Texts([self.to_written(), other.to_written()].concat()),
        }
    }

    /// New times: each so long after one of these, in the unit or in seconds for stamps.
    pub(super) fn shifted(&self, from: &[(usize, f64)]) -> Self {
        let (points, spelling) = match &self.points {
            Points::Numbers(all) => {
                (Points::Numbers(from.iter().map(|(at, by)| all[*at] + by).collect()), Spelling::Shortest)
            }
            Points::Stamps(all) => {
                let later = |(at, by): &(usize, f64)| all[*at].saturating_add((by * 1e9).round() as i64);
                (Points::Stamps(from.iter().map(later).collect()), Spelling::Stamps(StampFormat::iso()))
            }
            Points::Texts => return self.clone(),
        };
        Self { points, unit: self.unit, spelling }
    }

    /// Difference between two times, in the unit or in seconds for stamps.
    pub(super) fn difference(&self, from: usize, to: usize) -> Option<f64> {
        match &self.points {
            Points::Numbers(all) => Some(all[to] - all[from]),
            Points::Stamps(all) => Some((i128::from(all[to]) - i128::from(all[from])) as f64 / 1e9),
            Points::Texts => None,
        }
    }

    /// Which of two times comes first.
    fn order(&self, a: usize, b: usize) -> std::cmp::Ordering {
        match &self.points {
            Points::Numbers(all) => (all[a] + 0.0).total_cmp(&(all[b] + 0.0)),
            Points::Stamps(all) => all[a].cmp(&all[b]),
            Points::Texts => std::cmp::Ordering::Equal,
        }
    }
}

impl Spelling {
    fn number(&self, value: f64) -> String {
        match self {
            Self::Decimals(decimals) => format!("{value:.decimals$}"),
            _ => format!("{value}"),
        }
    }
}

fn number(written: &str) -> Option<f64> {
    text::value(written).filter(|v| v.is_finite())
}

#[cfg(test)]
mod tests;
