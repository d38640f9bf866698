//! [`read`] and [`write()`]: the file formats behind one door.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::data::{Columns, CsvLayout, Dataset, Gaps, ReadLimits, SamplingStep, write_atomically};
use crate::error::{Error, Result};
use crate::words::{Vocabulary, Word, spelled};

use super::packed::{Packing, unpacked, unpacked_name};
use super::view::{Loss, View};
use super::{arff, csv, npz, ts};

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// `.ts`: sktime, aeon, the UEA archive.
    Ts,
    /// `.arff`: Weka, the UEA archive.
    Arff,
    /// `.csv`, `.tsv`, `.txt` and other tables of text: wide, long, or one recording per file.
    Csv,
    /// `.npy`: one NumPy array.
    Npy,
    /// `.npz`: several NumPy arrays; holds everything.
    Npz,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [Self::Ts, Self::Arff, Self::Csv, Self::Npy, Self::Npz];

    /// The file name's extension, with its dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Ts => ".ts",
            Self::Arff => ".arff",
            Self::Csv => ".csv",
            Self::Npy => ".npy",
            Self::Npz => ".npz",
        }
    }

    /// By the file's extension, in any case.
    pub fn from_path(path: &Path) -> Result<Self> {
        Self::known(path).ok_or_else(|| {
            let problem = match path.extension() {
                Some(found) => format!("files named .{} are not known", found.to_string_lossy()),
                None => "the file's name has no extension to tell its format".into(),
            };
            let known = Self::ALL.map(Self::extension).join(", ");
            Error::file(path, format!("{problem}; use one of {known}"))
        })
    }

    /// The format by the file's name, whether or not the file is packed (`.csv.gz`).
    pub(super) fn known(path: &Path) -> Option<Self> {
        let path = unpacked_name(path);
        let found = path.extension()?.to_str()?.to_ascii_lowercase();
        let by_name = Self::ALL.into_iter().find(|format| format.extension()[1..] == found);
        by_name.or_else(|| TABLES.contains(&found.as_str()).then_some(Self::Csv))
    }

    /// Whether a file in a folder is surely data: `.txt` can be anything, and counts only where it is named.
    pub(super) fn is_data(path: &Path) -> bool {
        let plain = unpacked_name(path);
        let text = plain
            .extension()
            .is_some_and(|e| ["txt", "dat", "asc"].iter().any(|word| e.eq_ignore_ascii_case(word)));
        !text && Self::known(path).is_some()
    }

    /// By what the bytes begin with, where there is no name: a table of text unless they say otherwise.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).to_lowercase();
        let tag = start.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with(['#', '%']));
        match tag {
            _ if bytes.starts_with(b"\x93NUMPY") => Self::Npy,
            _ if bytes.starts_with(b"PK\x03\x04") => Self::Npz,
            Some(line) if line.starts_with("@relation") => Self::Arff,
            Some(line) if line.starts_with('@') => Self::Ts,
            _ => Self::Csv,
        }
    }
}

/// Extensions of tables of text besides `.csv`.
const TABLES: [&str; 6] = ["tsv", "txt", "tab", "dat", "asc", "lvm"];

/// How to read a file, where the file itself does not tell.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// How the rows and columns of a CSV file make series.
    pub csv_layout: CsvLayout,
    /// What the user says about the columns of tables.
    pub columns: Columns,
    /// What becomes of gaps in the times that are longer than the limit.
    pub gaps: Gaps,
    /// A gap is long above so many sampling steps.
    pub gap_limit: u32,
    /// The sampling step that series are brought to, by linear interpolation over their times.
    pub resample: Option<SamplingStep>,
    /// Whether a folder stands for the files of its sub-folders too.
    pub recursive: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            csv_layout: CsvLayout::default(),
            columns: Columns::default(),
            gaps: Gaps::default(),
            gap_limit: Gaps::LIMIT,
            resample: None,
            recursive: true,
        }
    }
}

impl ReadOptions {
    /// The rows and columns of a CSV file make series in this way.
    pub fn with_csv_layout(mut self, layout: CsvLayout) -> Self {
        self.csv_layout = layout;
        self
    }

    /// What the user says about the columns of tables.
    pub fn with_columns(mut self, columns: Columns) -> Self {
        self.columns = columns;
        self
    }

    /// What becomes of gaps in the times that are longer than the limit.
    pub fn with_gaps(mut self, gaps: Gaps) -> Self {
        self.gaps = gaps;
        self
    }

    /// A gap is long above so many sampling steps.
    pub fn with_gap_limit(mut self, limit: u32) -> Self {
        self.gap_limit = limit;
        self
    }

    /// Series are brought to this sampling step.
    pub fn with_resample(mut self, step: Option<SamplingStep>) -> Self {
        self.resample = step;
        self
    }

    /// Whether a folder stands for the files of its sub-folders too.
    pub fn with_recursive(mut self, recursive: bool) -> Self {
        self.recursive = recursive;
        self
    }
}

/// Reads a file; its extension tells the format.
///
/// Missing values become NaN. What a reader noticed and you should know is in [`Dataset::notes`].
pub fn read(path: &Path, options: &ReadOptions) -> Result<Dataset> {
    if path == Path::new("-") {
        return read_standard_input(options);
    }
    // A name that is not there is the first thing to say, before its extension.
    fs::metadata(path).map_err(|source| Error::io("read", path, source))?;
    let format = Format::from_path(path)?;
    let bytes = fs::read(path).map_err(|source| Error::io("read", path, source))?;
    read_bytes(path, &bytes, format, options)
}

/// Standard input: the bytes tell the format.
fn read_standard_input(options: &ReadOptions) -> Result<Dataset> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|source| Error::io("read", Path::new("-"), source))?;
    let name = Path::new("standard input");
    let bytes = unpacked(name, &bytes, &ReadLimits::default())?;
    read_bytes(name, &bytes, Format::of_bytes(&bytes), options)
}

/// Reads a file that is in memory. `name` stands in error messages, and its stem is the data set's name where
/// the content has none.
pub fn read_bytes(name: &Path, bytes: &[u8], format: Format, options: &ReadOptions) -> Result<Dataset> {
    read_bytes_within(name, bytes, format, options, &ReadLimits::default())
}

/// The same for bytes of a stranger: what is beyond the limits is an error, as soon as a reader meets it.
pub fn read_bytes_within(
    name: &Path,
    bytes: &[u8],
    format: Format,
    options: &ReadOptions,
    limits: &ReadLimits,
) -> Result<Dataset> {
    let bytes = &unpacked(name, bytes, limits)?[..];
    let dataset = match format {
        Format::Ts => ts::read(name, bytes, limits),
        Format::Arff => arff::read(name, bytes, limits),
        Format::Csv => csv::read(name, bytes, options.csv_layout, &options.columns, limits),
        Format::Npy => npz::read_npy(name, bytes, limits),
        Format::Npz => npz::read_npz(name, bytes, limits),
    }?;
    let dataset = dataset.settle_times(options.gaps, options.gap_limit)?;
    match &options.resample {
        Some(step) => dataset.resampled(step).map_err(|error| error.within(name.display())),
        None => Ok(dataset),
    }
}

/// How series become rows and columns of a CSV file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CsvShape {
    /// One row per series.
    Wide,
    /// One row per step: `case_id,time,<channels>,label`.
    #[default]
    Long,
}

const SHAPES: Vocabulary = Vocabulary::names("csv_shape", "a CSV shape", CsvShape::WORDS);

spelled!(CsvShape, SHAPES);

impl CsvShape {
    /// Every shape, as users write it.
    pub const WORDS: &'static [Word] =
        &[Word::new("wide", "One row per series"), Word::new("long", "One row per step")];
}

/// How to write a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The layout of a CSV file.
    pub csv: CsvShape,
    /// Whether what the format cannot hold may be dropped; otherwise it is an error.
    pub lossy: bool,
}

impl WriteOptions {
    /// Long CSV files; nothing is dropped.
    pub const fn new() -> Self {
        Self { csv: CsvShape::Long, lossy: false }
    }

    /// A CSV file has this layout.
    pub const fn with_csv(mut self, shape: CsvShape) -> Self {
        self.csv = shape;
        self
    }

    /// Whether what the format cannot hold may be dropped.
    pub const fn with_lossy(mut self, lossy: bool) -> Self {
        self.lossy = lossy;
        self
    }
}

/// Writes a file; its extension tells the format. Values come back bit by bit when read.
///
/// Returns what had to be dropped, which is nothing unless [`WriteOptions::lossy`] allows it. The file is
/// there whole or not at all ([`write_atomically`]). Notes are never written, and the data set's name only
/// where the format has a place for it.
pub fn write(dataset: &Dataset, path: &Path, options: &WriteOptions) -> Result<Vec<String>> {
    let format = Format::from_path(path)?;
    if dataset.series.is_empty() {
        return Err(Error::TooFew {
            what: "a file".into(),
            needed: 1,
            found: 0,
            advice: "give a data set with series".into(),
        });
    }
    let view = View::of(dataset);
    let name = match (format, options.csv) {
        (Format::Csv, CsvShape::Wide) => "wide .csv",
        (format, _) => format.extension(),
    };
    let mut loss = Loss { format: name, lossy: options.lossy, dropped: Vec::new() };
    match (format, options.csv) {
        (Format::Ts, _) => save(path, ts::write(view, &mut loss)?)?,
        (Format::Arff, _) => save(path, arff::write(view, &mut loss)?)?,
        (Format::Csv, CsvShape::Wide) => save(path, csv::write_wide(view, &mut loss)?)?,
        (Format::Csv, CsvShape::Long) => save(path, csv::write_long(view, &mut loss)?)?,
        (Format::Npy, _) => save(path, npz::write_npy(view, &mut loss)?)?,
        (Format::Npz, _) => save(path, npz::write_npz(view, &mut loss)?)?,
    }
    Ok(loss.dropped)
}

/// Writes a file, packed if its name says so.
fn save(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    match Packing::of(path) {
        None => write_atomically(path, write),
        Some(packing) => write_atomically(path, |out: &mut dyn Write| packing.write(out, write)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SeriesSet;

    #[test]
    fn extensions_tell_the_format() {
        assert_eq!(Format::from_path(Path::new("a/b.TS")).unwrap(), Format::Ts);
        assert_eq!(Format::from_path(Path::new("b.x.Npz")).unwrap(), Format::Npz);
        let error = |name: &str| Format::from_path(Path::new(name)).unwrap_err().to_string();
        assert_eq!(
            error("a.xlsx"),
            "a.xlsx: files named .xlsx are not known; use one of .ts, .arff, .csv, .npy, .npz"
        );
        assert_eq!(
            error("data"),
            "data: the file's name has no extension to tell its format; use one of .ts, .arff, .csv, .npy, \
             .npz"
        );
    }

    #[test]
    fn what_a_format_cannot_hold_is_refused_or_listed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        let mut dataset = Dataset::new("x", SeriesSet::from_equal(vec![1.0, 2.0], 2, 1).unwrap());
        dataset.case_names = Some(vec!["a".into()]);
        dataset.channels = Some(crate::data::Channel::named(["ax"]));
        let strict = write(&dataset, &path, &WriteOptions::default()).unwrap_err();
        assert_eq!(
            strict.to_string(),
            ".npy cannot hold case names; write .npz, or say that it may be dropped"
        );
        assert!(!path.exists());
        let lossy = WriteOptions { lossy: true, ..WriteOptions::default() };
        assert_eq!(write(&dataset, &path, &lossy).unwrap(), ["case names", "channel names"]);
        assert_eq!(read(&path, &ReadOptions::default()).unwrap().series, dataset.series);
    }

    #[test]
    fn labels_that_a_format_cannot_hold_are_named() {
        let mut dataset = Dataset::new("x", SeriesSet::from_equal(vec![1.0], 1, 1).unwrap());
        dataset.labels = Some(crate::data::Labels::classes(vec!["a b".into()]));
        let error = write(&dataset, Path::new("x.ts"), &WriteOptions::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            ".ts cannot hold the label `a b` (it may not be empty or have spaces, colons or brackets); \
             write .npz, or \
             say that it may be dropped"
        );
    }

    #[test]
    fn arff_says_when_a_series_ends_in_missing_steps() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.arff");
        let dataset = Dataset::new("x", SeriesSet::from_equal(vec![1.0, f64::NAN], 2, 1).unwrap());
        let error = write(&dataset, &path, &WriteOptions::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            ".arff cannot hold the last steps of series 0, which are missing in all channels; write .npz, \
             or say \
             that it may be dropped"
        );
        let lossy = WriteOptions { lossy: true, ..WriteOptions::default() };
        assert_eq!(write(&dataset, &path, &lossy).unwrap().len(), 1);
        assert_eq!(read(&path, &ReadOptions::default()).unwrap().series.values(), [1.0]);
    }

    #[test]
    fn a_missing_file_is_said_to_be_missing() {
        let error = read(Path::new("no-such-folder"), &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.starts_with("cannot read no-such-folder: "), "{error}");
    }

    #[test]
    fn no_series_no_file() {
        let empty = Dataset::new("x", SeriesSet::new(1).unwrap());
        let error = write(&empty, Path::new("x.ts"), &WriteOptions::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a file needs at least 1 series and got 0; give a data set with series"
        );
    }
}
