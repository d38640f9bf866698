//! CSV and other tables of text, in three layouts.
//!
//! * Wide: one row is one series; columns `channel_step` (`ax_0,ax_1,...,ay_0,...`), or one column per step.
//! * Long: one row is one step of one case; a column for the case, one for the time, one per channel.
//! * Recording: one file is one series; one row is one step, one column is one channel.
//!
//! What a file does not say is told from it where that is certain, and asked for where it is not: a file that can
//! be read in two ways is refused with both readings and the option that decides. The rules are in `docs/files.md`.
//!
//! The way through the modules: [`sniff`] finds separator and rows, [`header`] names and units, [`plan`] decimal
//! marks and kinds of columns, [`layout`] whether rows are series; then [`wide`], or [`table`], [`axis`], [`case`] and
//! [`rows`] for rows that are steps.

mod axis;
mod case;
mod cells;
mod choice;
mod header;
mod layout;
mod number;
mod plan;
mod rows;
mod sniff;
mod stamp;
mod table;
mod wide;
mod words;
mod write;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::data::{Dataset, ReadLimits};
use crate::error::Result;
use crate::words::{Vocabulary, Word, spelled};

use super::text;

pub use choice::Columns;
pub use number::Decimal;
pub(super) use write::{write_long, write_wide};

/// How the rows and columns of a CSV file make series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CsvLayout {
    /// Told from the file; an error where it could be two.
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
        Word::new("auto", "Told from the file, or asked for"),
        Word::new("wide", "One row is one series"),
        Word::new("long", "One row is one step of one series"),
        Word::new("recording", "The file is one series, one row is one step"),
    ];
}

/// Reads a table of text from memory.
pub(super) fn read(
    path: &Path,
    bytes: &[u8],
    layout: CsvLayout,
    columns: &Columns,
    limits: &ReadLimits,
) -> Result<Dataset> {
    let mut notes = Vec::new();
    let decoded = text::decode(path, bytes, &mut notes)?;
    let (text, first_line) = plan::skipped(path, &decoded, columns.skip)?;
    let mut plan = plan::Plan::new(path, text, first_line, columns)?;
    let mut dataset = match layout::rows_are_series(&plan, text, first_line, layout)? {
        true => wide::read(&mut plan, text, first_line, limits)?,
        false => rows::read(&mut plan, text, first_line, layout, limits)?,
    };
    notes.append(&mut plan.notes);
    dataset.notes = notes;
    let longest = dataset.series.lengths().max().unwrap_or(0);
    limits.admit(dataset.series.len(), longest, dataset.series.channels(), dataset.series.values().len())?;
    Ok(dataset)
}

#[cfg(test)]
mod tests;
