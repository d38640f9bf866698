//! [`Axis`]: the times of all rows, and which column they come from.

use crate::data::{StampFormat, TimeUnit, Times};
use crate::error::Result;

use super::choice::TimeAsked;
use super::plan::{Kind, Plan};
use super::table::{Cells, Table};
use super::words::{self, Meaning};

const DAY: i64 = 86_400_000_000_000;

/// The times of all rows.
pub(super) enum Axis {
    /// None: rows are in order.
    None,
    Numbers(Vec<f64>, Option<TimeUnit>),
    /// Nanoseconds since 1970, and how they are written, where one column has them whole.
    Stamps(Vec<i64>, Option<StampFormat>),
    /// Words whose order is unknown.
    Words(Vec<String>),
}

impl Axis {
    /// Whether row `b` is later than row `a`; `None` where that is unknown.
    pub fn is_later(&self, a: usize, b: usize) -> Option<bool> {
        match self {
            Self::Numbers(all, _) => Some(all[b] > all[a]),
            Self::Stamps(all, _) => Some(all[b] > all[a]),
            Self::None | Self::Words(_) => None,
        }
    }

    /// Rows whose time is before that of the row above. A clock that passes midnight does not go back.
    pub fn restarts(&self) -> Vec<usize> {
        match self {
            Self::Numbers(all, _) => (1..all.len()).filter(|&i| all[i] < all[i - 1]).collect(),
            Self::Stamps(all, format) => {
                let clock = format.as_ref().is_some_and(is_clock);
                (1..all.len())
                    .filter(|&i| all[i] < all[i - 1] && !(clock && all[i - 1] - all[i] > DAY / 2))
                    .collect()
            }
            Self::None | Self::Words(_) => Vec::new(),
        }
    }

    /// Whether a restart at this row goes back to where the file begins.
    pub fn begins_again(&self, row: usize) -> bool {
        match self {
            Self::Numbers(all, _) => {
                let step = (all.get(1).copied().unwrap_or(all[0]) - all[0]).abs();
                (all[row] - all[0]).abs() <= step.max(1e-9 * all[0].abs())
            }
            _ => false,
        }
    }

    /// As the library wants it, in this order of rows; `None` where times only count.
    pub fn into_times(self, order: Option<&[usize]>, starts: &[usize]) -> Option<Times> {
        fn put<T: Clone>(all: Vec<T>, order: Option<&[usize]>) -> Vec<T> {
            match order {
                Some(order) => order.iter().map(|&i| all[i].clone()).collect(),
                None => all,
            }
        }
        match self {
            Self::None => None,
            Self::Numbers(all, unit) => {
                let all = put(all, order);
                let counts = unit.is_none()
                    && starts
                        .windows(2)
                        .all(|w| all[w[0]..w[1]].iter().enumerate().all(|(i, t)| *t == i as f64));
                if counts { None } else { Times::numbers(all, unit) }
            }
            Self::Stamps(all, Some(format)) => Some(Times::stamps_in(put(all, order), format)),
            Self::Stamps(all, None) => Some(Times::stamps(put(all, order))),
            Self::Words(all) => Some(Times::texts(put(all, order))),
        }
    }
}

fn is_clock(format: &StampFormat) -> bool {
    !has_date(format)
}

fn has_date(format: &StampFormat) -> bool {
    ["%d", "%j", "%s", "%e"].iter().any(|part| format.pattern().contains(part))
}

fn has_clock(format: &StampFormat) -> bool {
    ["%H", "%I", "%s"].iter().any(|part| format.pattern().contains(part))
}

/// The columns that hold the times.
pub(super) struct Chosen {
    pub columns: Vec<usize>,
    pub axis: Axis,
}

/// Finds the times: what the user said, else stamps, else a column named as one.
pub(super) fn choose(plan: &mut Plan<'_>, table: &Table) -> Result<Chosen> {
    let none = || Chosen { columns: Vec::new(), axis: Axis::None };
    match plan.time.clone() {
        Some(TimeAsked::None) => return Ok(none()),
        Some(TimeAsked::Columns(columns, format)) if !columns.is_empty() => {
            let axis = axis(plan, table, &columns, format.as_deref())?;
            return Ok(Chosen { columns, axis });
        }
        _ => {}
    }
    let format = match &plan.time {
        Some(TimeAsked::Columns(_, format)) => format.clone(),
        _ => None,
    };
    let columns = found(plan, table)?;
    if columns.is_empty() {
        return Ok(none());
    }
    let axis = axis(plan, table, &columns, format.as_deref())?;
    Ok(Chosen { columns, axis })
}

/// The column of times, or a date and a clock time.
fn found(plan: &mut Plan<'_>, table: &Table) -> Result<Vec<usize>> {
    let all = 0..plan.columns.len();
    let free =
        |c: &usize| !plan.is_case(*c) && plan.channels.as_ref().is_none_or(|channels| !channels.contains(c));
    let stamps = |want: fn(&StampFormat) -> bool| -> Vec<usize> {
        let is = |c: &usize| matches!(&plan.columns[*c].kind, Kind::Stamp(format) if want(format));
        all.clone().filter(is).filter(free).collect()
    };
    let whole = stamps(|format| has_date(format) && has_clock(format));
    let dates = stamps(|format| has_date(format) && !has_clock(format));
    let clocks = stamps(is_clock);
    let named = |c: &usize| plan.columns[*c].meaning == Meaning::Time;
    match (&whole[..], &dates[..], &clocks[..]) {
        ([one], _, _) => return Ok(vec![*one]),
        ([], [date], [clock]) => return Ok(vec![*date, *clock]),
        ([], [one], []) | ([], [], [one]) => return Ok(vec![*one]),
        ([], [], []) => {}
        _ => {
            let several = [whole, dates, clocks].concat();
            let by_name: Vec<usize> = several.iter().copied().filter(named).collect();
            return match by_name[..] {
                [one] => Ok(vec![one]),
                _ => Err(which(plan, &several)),
            };
        }
    }
    let numbers: Vec<usize> =
        all.clone().filter(named).filter(free).filter(|&c| plan.columns[c].kind.is_number()).collect();
    match numbers[..] {
        [one] => return Ok(vec![one]),
        [] => {}
        _ => return Err(which(plan, &numbers)),
    }
    let texts: Vec<usize> =
        all.clone().filter(named).filter(free).filter(|&c| plan.columns[c].kind == Kind::Text).collect();
    if let [one] = texts[..] {
        let name = plan.named(one);
        plan.notes.push(format!("the times in {name} are in no known format: rows are taken as they come"));
        return Ok(vec![one]);
    }
    let maybe: Vec<usize> = all
        .filter(|c| plan.columns[*c].meaning == Meaning::MaybeTime)
        .filter(free)
        .filter(|&c| plan.columns[c].kind.is_number())
        .collect();
    for &column in &maybe {
        if let Some(fits) = maybe_time(plan, table, column)? {
            return Ok(fits);
        }
    }
    first_column(plan, table)
}

/// Two columns could be the times.
fn which(plan: &Plan<'_>, columns: &[usize]) -> crate::error::Error {
    let (a, b) = (plan.word(columns[0]), plan.word(columns[1]));
    plan.two_ways(
        "the times",
        &format!("from {} (`--time {a}`)", plan.named(columns[0])),
        &format!("from {} (`--time {b}`)", plan.named(columns[1])),
    )
}

/// Whether a column named `t`, `step` or `x` holds times: `None` where it is a channel.
fn maybe_time(plan: &Plan<'_>, table: &Table, column: usize) -> Result<Option<Vec<usize>>> {
    let Some(numbers) = table.numbers_of(column) else { return Ok(None) };
    let unit = plan.columns[column].unit.as_deref().and_then(words::time_unit);
    if unit.is_some() {
        return Ok(Some(vec![column]));
    }
    let key = words::key(&plan.columns[column].name);
    let others = |names: &[&str]| plan.columns.iter().any(|c| names.contains(&words::key(&c.name).as_str()));
    if matches!(key.as_str(), "data" | "saat") || (key == "x" && others(&["y", "z"])) {
        return Ok(None);
    }
    let all: Vec<f64> = numbers.collect();
    if grows(&all) {
        return Ok(Some(vec![column]));
    }
    // A lone `t` that goes up and down: a time out of order, or a temperature.
    if plan.columns[column].name == "t" && all.len() > 2 {
        let word = plan.word(column);
        return Err(plan.two_ways(
            &format!("{}, which goes up and down,", plan.named(column)),
            &format!("as times out of order (`--time {word}`)"),
            "as a channel (`--time none`)",
        ));
    }
    Ok(None)
}

/// Whether numbers grow, or grow from the same beginning again and again.
fn grows(all: &[f64]) -> bool {
    let falls: Vec<usize> = (1..all.len()).filter(|&i| all[i] <= all[i - 1]).collect();
    all.len() > 1
        && all.iter().all(|t| t.is_finite())
        && falls.len() * 2 <= all.len()
        && falls.iter().all(|&i| all[i] == all[0])
}

/// A first column without a name that grows by one step is the time; by ones, it only counts rows.
fn first_column(plan: &mut Plan<'_>, table: &Table) -> Result<Vec<usize>> {
    let column = &plan.columns[0];
    let candidate =
        column.name.is_empty() && column.kind.is_number() && plan.columns.len() > 1 && !plan.is_case(0);
    let Some(numbers) = table.numbers_of(0).filter(|_| candidate) else { return Ok(Vec::new()) };
    let all: Vec<f64> = numbers.collect();
    if counts(&all)
        || !grows(&all)
        || all.len() < 3
        || !is_regular(&all)
        || plan.channels.as_ref().is_some_and(|c| c.contains(&0))
    {
        return Ok(Vec::new());
    }
    plan.notes.push("column 1 has no name and grows by one step: it was read as the time; `--time none` keeps it as a channel".into());
    Ok(vec![0])
}

/// Whether numbers count by ones, from the beginning again where they restart.
pub(super) fn counts(all: &[f64]) -> bool {
    let first = all.first().copied().unwrap_or(0.5);
    first.fract() == 0.0 && all.windows(2).all(|w| w[1] == w[0] + 1.0 || w[1] == first)
}

fn is_regular(all: &[f64]) -> bool {
    let step = all[1] - all[0];
    // One that begins again may as well be a signal.
    step > 0.0 && all.windows(2).all(|w| ((w[1] - w[0]) - step).abs() <= 1e-3 * step)
}

/// The times in these columns.
fn axis(plan: &mut Plan<'_>, table: &Table, columns: &[usize], format: Option<&str>) -> Result<Axis> {
    let mut sum: Option<Vec<i64>> = None;
    for &column in columns {
        match &table.columns[column] {
            Cells::Stamps(stamps) => match &mut sum {
                None => sum = Some(stamps.clone()),
                // A clock time is nanoseconds since midnight.
                Some(sum) => sum.iter_mut().zip(stamps).for_each(|(a, b)| *a = a.saturating_add(*b)),
            },
            Cells::Numbers(_) if columns.len() == 1 => return numbers(plan, table, column, format),
            Cells::Words(words) if columns.len() == 1 => {
                return Ok(Axis::Words((0..table.rows).map(|row| words.at(row).to_string()).collect()));
            }
            _ => {
                let problem = format!(
                    "{} holds no dates or clock times; give other columns with `--time`",
                    plan.named(column)
                );
                return Err(crate::error::Error::file(plan.path, problem));
            }
        }
    }
    let written = match (columns, columns.first().map(|&c| &plan.columns[c].kind)) {
        ([_], Some(Kind::Stamp(format))) => Some(format.clone()),
        _ => None,
    };
    Ok(Axis::Stamps(sum.unwrap_or_default(), written))
}

/// Times that are numbers: since 1970, as spreadsheets count days, or in a unit.
fn numbers(plan: &mut Plan<'_>, table: &Table, column: usize, format: Option<&str>) -> Result<Axis> {
    let all: Vec<f64> = table.numbers_of(column).into_iter().flatten().collect();
    if let Some(row) = all.iter().position(|t| !t.is_finite()) {
        let word = plan.word(column);
        let problem = format!(
            "{}: the time is missing; fill it in, or leave the column out with `--time none --ignore {word}`",
            plan.named(column)
        );
        return Err(plan.wrong(table.line(row), problem));
    }
    let name = plan.columns[column].name.clone();
    let told = plan.columns[column].unit.as_deref().and_then(words::time_unit);
    let told =
        told.or_else(|| words::time_suffix(&name).map(|(_, unit)| unit)).or_else(|| words::time_unit(&name));
    let (low, high) = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), t| (a.min(*t), b.max(*t)));
    // The whole part is exact; only the fraction is rounded.
    let stamps = |factor: f64| {
        Axis::Stamps(
            all.iter()
                .map(|t| t.trunc() as i64 * factor as i64 + (t.fract() * factor).round() as i64)
                .collect(),
            None,
        )
    };
    let key = words::key(&name);
    let dated =
        ["date", "datum", "fecha", "dato", "tarih", "дата", "日"].iter().any(|word| key.contains(word));
    let days = low >= 20_000.0 && high < 80_000.0;
    // Days, rounded to a millisecond: spreadsheets keep no more.
    let excel = || {
        Axis::Stamps(
            all.iter().map(|t| ((t - 25_569.0) * 86_400_000.0).round() as i64 * 1_000_000).collect(),
            None,
        )
    };
    match format {
        Some("excel") => return Ok(excel()),
        Some(unit) if unit != "epoch" => {
            return Ok(Axis::Numbers(all, TimeUnit::from_word(unit)));
        }
        Some(_) => {}
        None if days && dated && told.is_none() => return Ok(excel()),
        None if days
            && told.is_none()
            && plan.columns[column].meaning == Meaning::Time
            && high - low < 400.0
            && all.iter().any(|t| t.fract() != 0.0) =>
        {
            let word = plan.word(column);
            return Err(plan.two_ways(
                &format!("times such as {low}"),
                &format!("days as spreadsheets count them (`--time {word}=excel`)"),
                &format!("seconds (`--time {word}=s`)"),
            ));
        }
        None => {}
    }
    for (unit, factor) in [("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)] {
        let scale = 1e9 / factor;
        let since_1970 = low >= 3e8 * scale && high < 4.2e9 * scale;
        if since_1970 && (told.is_none() || told == Some(unit)) {
            return Ok(stamps(factor));
        }
    }
    Ok(Axis::Numbers(all, told.and_then(TimeUnit::from_word)))
}
