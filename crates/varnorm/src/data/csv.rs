//! CSV, in three layouts.
//!
//! * Wide: one row is one series; columns `channel_step` (`ax_0,ax_1,...,ay_0,...`), or one column per step.
//! * Long: one row is one step of one case; a column for the case, one for the time, one per channel.
//! * Recording: one file is one series; one row is one step, one column is one channel.
//!
//! Columns are known by their header, in any case: `case_id`, `case`, `series_id`, `series`, `id`; `time`,
//! `timestamp`, `timepoint`, `step`, `t`; `label`, `class`, `target` (a number to predict). An empty cell,
//! `?` or `NaN` is a missing value; in a wide row, trailing empty cells mean that the series is shorter.

mod grouped;
mod table;
mod wide;
mod write;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::data::{Dataset, ReadLimits};
use crate::error::{Error, Result};
use crate::words::{Vocabulary, Word, spelled};

use super::text;
use table::{Head, Role, Table};

pub(super) use write::{write_long, write_wide};

/// How the rows and columns of a CSV file make series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CsvLayout {
    /// Told from the header; an error where it could be two.
    #[default]
    Auto,
    /// One row is one series.
    Wide,
    /// One row is one step of one case.
    Long,
    /// The file is one series and one row is one step.
    Recording,
}

const LAYOUTS: Vocabulary = Vocabulary::names("csv_layout", "a CSV layout", CsvLayout::WORDS);

spelled!(CsvLayout, LAYOUTS);

impl CsvLayout {
    /// Every layout, as users write it.
    pub const WORDS: &'static [Word] = &[
        Word::new("auto", "Told from the header"),
        Word::new("wide", "One row is one series"),
        Word::new("long", "One row is one step of one series"),
        Word::new("recording", "The file is one series, one row is one step"),
    ];
}

/// Reads a CSV file from memory.
pub(super) fn read(path: &Path, bytes: &[u8], layout: CsvLayout, limits: &ReadLimits) -> Result<Dataset> {
    let mut notes = Vec::new();
    let decoded = text::decode(path, bytes, &mut notes)?;
    let table = Table::read(path, &decoded, &mut notes, limits)?;
    let mut dataset = match told(&table, layout)? {
        CsvLayout::Long => grouped::long(&table, &mut notes)?,
        CsvLayout::Recording => grouped::recording(&table, &mut notes)?,
        CsvLayout::Wide | CsvLayout::Auto => wide::read(&table, &mut notes)?,
    };
    dataset.notes = notes;
    let longest = dataset.series.lengths().max().unwrap_or(0);
    limits.admit(dataset.series.len(), longest, dataset.series.channels(), dataset.series.values().len())?;
    Ok(dataset)
}

/// The layout stated, or the one that the header tells.
fn told(table: &Table<'_>, stated: CsvLayout) -> Result<CsvLayout> {
    if stated != CsvLayout::Auto {
        return Ok(stated);
    }
    let has = |role| table.column(role).is_some();
    if has(Role::Time) {
        return Ok(if has(Role::Case) { CsvLayout::Long } else { CsvLayout::Recording });
    }
    let mut values = table.values();
    if table.head != Head::Named || values.all(|c| wide::channel_and_step(&table.names[c]).is_some()) {
        return Ok(CsvLayout::Wide);
    }
    let mut names: Vec<&str> = table.values().take(4).map(|c| table.names[c].as_str()).collect();
    if let Some(fourth) = names.get_mut(3) {
        *fourth = "...";
    }
    Err(Error::file(
        table.path,
        format!(
            "the columns ({}) could be the steps of one series per row or the channels of one \
             recording; state \
             which (`--csv-layout wide` or `--csv-layout recording`), or name columns `channel_step` or \
             add a `time` \
             column",
            names.join(", ")
        ),
    ))
}

#[cfg(test)]
mod tests;
