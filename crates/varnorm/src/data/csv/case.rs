//! Which rows belong to which series.

use std::collections::HashMap;

use crate::data::CsvLayout;
use crate::error::{Error, Result};

use super::super::text;
use super::axis::{Axis, Chosen, counts};
use super::plan::{CaseAsked, Kind, Plan};
use super::rows::is_none;
use super::table::{Cells, Table};
use super::words::Meaning;

/// Rows as series.
pub(super) struct Series {
    /// The row of each step; `None` where rows are in order already.
    pub order: Option<Vec<usize>>,
    /// The first step of each series, and the end.
    pub starts: Vec<usize>,
    pub names: Option<Vec<String>>,
    /// The columns that name them.
    pub columns: Vec<usize>,
}

impl Series {
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn lengths(&self) -> Vec<usize> {
        self.starts.windows(2).map(|w| w[1] - w[0]).collect()
    }

    pub fn longest(&self) -> usize {
        self.starts.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0)
    }

    fn one(rows: usize) -> Self {
        Self { order: None, starts: vec![0, rows], names: None, columns: Vec::new() }
    }

    /// Rows with the same number are a series, in the order in which they come.
    fn grouped(ids: &[u32], count: usize) -> Self {
        let mut lengths = vec![0usize; count];
        ids.iter().for_each(|id| lengths[*id as usize] += 1);
        let mut starts = vec![0];
        lengths.iter().for_each(|length| starts.push(starts[starts.len() - 1] + length));
        let order = (!ids.is_sorted()).then(|| {
            let mut next = starts.clone();
            let mut order = vec![0; ids.len()];
            for (row, id) in ids.iter().enumerate() {
                order[next[*id as usize]] = row;
                next[*id as usize] += 1;
            }
            order
        });
        Self { order, starts, names: None, columns: Vec::new() }
    }
}

/// The values of a column as numbers from 0, in order of appearance.
struct Groups {
    column: usize,
    ids: Vec<u32>,
    names: Vec<String>,
    runs: usize,
    /// Rows of the smallest group.
    least: usize,
}

impl Groups {
    /// `None` where the column cannot name anything: numbers that are not whole.
    fn of(table: &Table, columns: &[usize]) -> Option<Self> {
        let mut known: HashMap<String, u32> = HashMap::new();
        let (mut ids, mut names) = (Vec::with_capacity(table.rows), Vec::new());
        for row in 0..table.rows {
            let mut name = String::new();
            for (i, &column) in columns.iter().enumerate() {
                if i > 0 {
                    name.push('/');
                }
                match &table.columns[column] {
                    Cells::Words(words) => name.push_str(words.at(row)),
                    Cells::Numbers(place) => {
                        let value = table.numbers[row * table.width + place];
                        if value.fract() != 0.0 {
                            return None;
                        }
                        name.push_str(&value.to_string());
                    }
                    _ => return None,
                }
            }
            let next = known.len() as u32;
            let id = *known.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                next
            });
            ids.push(id);
        }
        let runs = 1 + ids.windows(2).filter(|w| w[0] != w[1]).count();
        let mut counts = vec![0usize; names.len()];
        ids.iter().for_each(|id| counts[*id as usize] += 1);
        let least = counts.into_iter().min().unwrap_or(0);
        Some(Self { column: columns[0], ids, names, runs, least })
    }

    fn is_contiguous(&self) -> bool {
        self.runs == self.names.len()
    }

    fn is_repeated(&self) -> bool {
        self.names.len() > 1 && self.least > 1
    }

    /// Whether time grows within every group.
    fn sorts(&self, axis: &Axis) -> bool {
        let mut last: Vec<Option<usize>> = vec![None; self.names.len()];
        self.ids.iter().enumerate().all(|(row, id)| {
            let before = last[*id as usize].replace(row);
            before.is_none_or(|before| axis.is_later(before, row) == Some(true))
        })
    }

    fn into_series(self, columns: Vec<usize>) -> Series {
        Series { names: Some(self.names.clone()), columns, ..Series::grouped(&self.ids, self.names.len()) }
    }
}

/// Splits rows into series.
pub(super) fn split(plan: &mut Plan<'_>, table: &Table, time: &Chosen, layout: CsvLayout) -> Result<Series> {
    let one = Series::one(table.rows);
    match plan.case.clone() {
        CaseAsked::Columns(columns) => {
            let Some(groups) = Groups::of(table, &columns) else {
                let problem =
                    format!("{} does not name series: its numbers are not whole", plan.named(columns[0]));
                return Err(Error::file(plan.path, problem));
            };
            return Ok(groups.into_series(columns));
        }
        CaseAsked::Restart => return restarted(plan, table, time),
        CaseAsked::None => return Ok(one),
        CaseAsked::Unsaid => {}
    }
    let named = (0..plan.columns.len())
        .filter(|&c| plan.columns[c].meaning == Meaning::Case && plan.columns[c].kind != Kind::Skip);
    let named: Vec<usize> = named.collect();
    match (&named[..], layout) {
        ([case, ..], CsvLayout::Recording) => Err(Error::file(
            plan.path,
            format!(
                "a recording is one series and has no case column, but there is `{}`; state `--csv-layout long`, or leave the column out \
                 with `--ignore {}`",
                plan.columns[*case].name,
                plan.word(*case)
            ),
        )),
        ([a, b, ..], _) => Err(Error::file(
            plan.path,
            format!(
                "the columns `{}` and `{}` have the same meaning; state which names the series: `--case {}` or `--case {}`",
                plan.columns[*a].name,
                plan.columns[*b].name,
                plan.word(*a),
                plan.word(*b)
            ),
        )),
        ([case], _) => by_name(plan, table, time, *case, layout),
        ([], CsvLayout::Recording) => Ok(one),
        ([], _) => sniffed(plan, table, time, layout),
    }
}

/// A column whose name means the case.
fn by_name(
    plan: &mut Plan<'_>,
    table: &Table,
    time: &Chosen,
    case: usize,
    layout: CsvLayout,
) -> Result<Series> {
    let groups =
        Groups::of(table, &[case]).ok_or_else(|| Error::file(plan.path, "the case column cannot be read"))?;
    if is_none(&time.axis)
        && time.columns.is_empty()
        && groups.names.len() == table.rows
        && table.rows > 1
        && layout != CsvLayout::Long
    {
        return Err(rows_or_steps(plan, table, case));
    }
    Ok(groups.into_series(vec![case]))
}

/// Every row has its own name: are rows series, or steps?
fn rows_or_steps(plan: &Plan<'_>, table: &Table, case: usize) -> Error {
    plan.two_ways(
        &format!("{}, in which every row has its own value,", plan.named(case)),
        &format!(
            "{} of one row each (`--csv-layout wide`)",
            text::count(table.rows, "series").replace("seriess", "series")
        ),
        &format!("one recording of {} (`--ignore {}`)", text::count(table.rows, "step"), plan.word(case)),
    )
}

/// A series begins where time begins again.
fn restarted(plan: &Plan<'_>, table: &Table, time: &Chosen) -> Result<Series> {
    if is_none(&time.axis) {
        return Err(Error::file(
            plan.path,
            "`--case restart` needs a column of times; name it with `--time`",
        ));
    }
    let mut starts = vec![0];
    starts.extend(time.axis.restarts());
    starts.push(table.rows);
    Ok(Series { starts, ..Series::one(table.rows) })
}

/// Looks for a column that names series, by what its values do.
fn sniffed(plan: &mut Plan<'_>, table: &Table, time: &Chosen, layout: CsvLayout) -> Result<Series> {
    let counter = counter(plan, table, time);
    let axis = counter.as_ref().unwrap_or(&time.axis);
    let candidates: Vec<Groups> = (0..plan.columns.len())
        .filter(|c| {
            !time.columns.contains(c) && plan.columns[*c].kind != Kind::Skip && is_candidate(plan, *c)
        })
        .filter_map(|c| Groups::of(table, &[c]))
        .collect();
    let is_named = |groups: &Groups| plan.columns[groups.column].meaning == Meaning::MaybeCase;
    let ordered = is_none(axis) || (1..table.rows).all(|row| axis.is_later(row - 1, row) == Some(true));
    if !ordered {
        let restarts = axis.restarts();
        let exact = |groups: &Groups| {
            groups.is_contiguous()
                && groups.runs == restarts.len() + 1
                && restarts.iter().all(|&r| groups.ids[r] != groups.ids[r - 1])
        };
        let fits = |groups: &&Groups| groups.is_repeated() && groups.sorts(axis);
        let named: Vec<&Groups> = candidates.iter().filter(fits).filter(|g| is_named(g)).collect();
        let worded: Vec<&Groups> = candidates
            .iter()
            .filter(fits)
            .filter(|g| plan.columns[g.column].kind == Kind::Text && exact(g))
            .collect();
        let good = if named.is_empty() { worded } else { named };
        if let Some(first) = good.first() {
            if let Some(other) = good.iter().find(|other| other.ids != first.ids) {
                let (a, b) = (plan.word(first.column), plan.word(other.column));
                return Err(plan.two_ways(
                    "the series",
                    &format!("as {} names them (`--case {a}`)", plan.named(first.column)),
                    &format!("as {} does (`--case {b}`)", plan.named(other.column)),
                ));
            }
            let column = first.column;
            let note = format!("{} names the series", plan.named(column));
            let series =
                candidates.into_iter().find(|g| g.column == column).map(|g| g.into_series(vec![column]));
            plan.notes.push(note);
            return Ok(series.unwrap_or_else(|| Series::one(table.rows)));
        }
        let again = !restarts.is_empty()
            && restarts.iter().all(|&r| axis.begins_again(r))
            && layout == CsvLayout::Auto;
        if again || (layout == CsvLayout::Long && !restarts.is_empty()) {
            let names: Vec<String> = candidates
                .iter()
                .filter(|g| is_named(g) || g.is_contiguous())
                .filter(|g| g.names.len() > 1 && g.names.len() < table.rows)
                .take(3)
                .map(|g| plan.word(g.column))
                .collect();
            let column = names.first().map_or("COLUMN".to_string(), Clone::clone);
            return Err(plan.wrong(
                table.line(restarts[0]),
                format!(
                    "the times begin again here, which can be read in two ways: {} recordings in one file (`--case restart`, or `--case \
                     {column}` if a column names them), or one recording with rows out of order (`--csv-layout recording`); state which",
                    restarts.len() + 1
                ),
            ));
        }
        return whole(plan, table, layout);
    }
    let runs = |groups: &&Groups| is_named(groups) && groups.is_repeated() && groups.is_contiguous();
    if let Some(groups) = candidates.iter().find(runs).filter(|_| layout == CsvLayout::Auto) {
        let word = plan.word(groups.column);
        return Err(plan.two_ways(
            &format!("{}, whose values come in {} stretches,", plan.named(groups.column), groups.runs),
            &format!("as the name of {} series (`--case {word}`)", groups.names.len()),
            &format!("as part of one recording (`--ignore {word}`)"),
        ));
    }
    let own = |groups: &&Groups| is_named(groups) && groups.names.len() == table.rows && table.rows > 1;
    if let Some(groups) = candidates.iter().find(own).filter(|_| is_none(axis) && layout == CsvLayout::Auto) {
        return Err(rows_or_steps(plan, table, groups.column));
    }
    whole(plan, table, layout)
}

/// One series, unless several were asked for.
fn whole(plan: &Plan<'_>, table: &Table, layout: CsvLayout) -> Result<Series> {
    match layout {
        CsvLayout::Long => Err(Error::file(
            plan.path,
            "the long layout needs a column that names the series; state it with `--case COLUMN`, or name it `case_id` in a header",
        )),
        _ => Ok(Series::one(table.rows)),
    }
}

/// Words, and whole numbers under a name that can mean the case.
fn is_candidate(plan: &Plan<'_>, column: usize) -> bool {
    let one = &plan.columns[column];
    match one.kind {
        Kind::Text => !matches!(one.meaning, Meaning::Label(_)),
        Kind::Number { .. } => one.meaning == Meaning::MaybeCase,
        _ => false,
    }
}

/// Numbers of rows that begin again stand in for times where there are none.
fn counter(plan: &Plan<'_>, table: &Table, time: &Chosen) -> Option<Axis> {
    if !is_none(&time.axis) {
        return None;
    }
    let index = plan.columns.iter().position(|c| c.meaning == Meaning::Index && c.kind.is_number())?;
    let all: Vec<f64> = table.numbers_of(index)?.collect();
    (counts(&all) && all.windows(2).any(|w| w[1] < w[0])).then_some(Axis::Numbers(all, None))
}
