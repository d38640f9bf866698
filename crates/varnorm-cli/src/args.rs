//! Options that several commands share.

use std::path::Path;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use varnorm::data::{Columns, CsvLayout, Decimal, Gaps as TimeGaps, ReadOptions, SamplingStep};
use varnorm::detector::{View, Views};
use varnorm::prepare::Gaps;
use varnorm::words::{Word, name_of};
use varnorm::{Distance, Error, Kernel, Norm, Settings};

use crate::failure::Failure;

/// How a list of results is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned columns for people
    Table,
    /// Comma-separated, full precision
    Csv,
    /// JSON, full precision
    Json,
    /// JSON, one line per series
    Jsonl,
}

impl Format {
    /// What was asked for, else what the file's name says; a name that says something else is refused.
    pub fn choose(asked: Option<Self>, file: Option<&Path>) -> Result<Self, Failure> {
        let (None, Some(file)) = (asked, file) else { return Ok(asked.unwrap_or(Self::Table)) };
        match file.extension().map(|found| found.to_string_lossy().to_lowercase()).as_deref() {
            Some("csv") => Ok(Self::Csv),
            Some("json") => Ok(Self::Json),
            Some("jsonl" | "ndjson") => Ok(Self::Jsonl),
            None | Some("txt" | "log" | "text" | "out") => Ok(Self::Table),
            Some(other) => Err(Failure::Words(format!(
                "results are not written as .{other}; name the file .csv, .json, .jsonl or .txt, or state --format"
            ))),
        }
    }
}

/// How a report is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Text for people
    Table,
    /// JSON, full precision
    Json,
}

/// A number of bytes, written as `4G`, `500M` or `1.5GiB`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size(pub f64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let factor = match text[end..].trim().to_ascii_lowercase().as_str() {
            "" | "b" => 1.0,
            "k" | "kb" => 1e3,
            "m" | "mb" => 1e6,
            "g" | "gb" => 1e9,
            "t" | "tb" => 1e12,
            "kib" => 1024.0,
            "mib" => 1024f64.powi(2),
            "gib" => 1024f64.powi(3),
            _ => return Err("write a size such as 4G, 500M or 1.5GiB".into()),
        };
        match text[..end].parse::<f64>() {
            Ok(number) if number > 0.0 && number.is_finite() => Ok(Self(number * factor)),
            _ => Err("write a size such as 4G, 500M or 1.5GiB".into()),
        }
    }
}

/// Parses one of the library's words, and lists them with their meanings in the help.
pub fn one_of<T>(words: &'static [Word]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = Error> + Clone + Send + Sync + 'static,
{
    let value = |word: &'static Word| PossibleValue::new(word.name).help(word.meaning).aliases(word.aliases);
    PossibleValuesParser::new(words.iter().map(value)).try_map(|word| word.parse::<T>())
}

/// How data files are read.
#[derive(Debug, Clone, Args)]
pub struct Reading {
    /// How the rows of .csv data make series
    #[arg(long, value_name = "LAYOUT", value_parser = one_of::<CsvLayout>(CsvLayout::WORDS),
          default_value_t = CsvLayout::default())]
    csv_layout: CsvLayout,
    /// The column of times: a name or number, Date+Time for two, none; t=ms or Date=dmy says more
    #[arg(long, value_name = "COLUMN")]
    time: Option<String>,
    /// The column that names the series; machine+run for two, restart where time begins again, or none
    #[arg(long, value_name = "COLUMN")]
    case: Option<String>,
    /// The channels, by names or numbers of columns; all columns of numbers without
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    columns: Vec<String>,
    /// Columns to leave out
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    ignore: Vec<String>,
    /// The decimal mark of numbers in a table [default: told from the file]
    #[arg(long, value_parser = one_of::<Decimal>(Decimal::WORDS), value_name = "MARK")]
    decimal: Option<Decimal>,
    /// Lines to leave out at the beginning of a table
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: usize,
    /// What becomes of gaps in the times that are longer than the limit
    #[arg(long, value_name = "WHAT", value_parser = one_of::<TimeGaps>(TimeGaps::WORDS),
          default_value_t = TimeGaps::default())]
    time_gaps: TimeGaps,
    /// A gap in the times is long above N sampling steps
    #[arg(long, value_name = "N", default_value_t = TimeGaps::LIMIT)]
    time_gap_limit: u32,
    /// Bring series to this sampling step, such as 10ms, by linear interpolation over their times
    #[arg(long, value_name = "STEP", value_parser = SamplingStep::from_words)]
    resample: Option<SamplingStep>,
    /// Leave sub-folders out
    #[arg(long)]
    no_recursive: bool,
}

impl Reading {
    /// For the library.
    pub fn options(&self) -> ReadOptions {
        let columns = Columns::default()
            .with_time(self.time.clone())
            .with_case(self.case.clone())
            .with_channels(self.columns.clone())
            .with_ignore(self.ignore.clone())
            .with_decimal(self.decimal)
            .with_skip(self.skip);
        ReadOptions::default()
            .with_csv_layout(self.csv_layout)
            .with_columns(columns)
            .with_gaps(self.time_gaps)
            .with_gap_limit(self.time_gap_limit)
            .with_resample(self.resample)
            .with_recursive(!self.no_recursive)
    }
}

/// What happens to missing values of series that are scored.
#[derive(Debug, Clone, Copy, Args)]
pub struct Filling {
    /// What to do about missing values, where the model does not fill them in itself
    #[arg(long, value_parser = one_of::<Gaps>(Gaps::WORDS), default_value_t = Gaps::default())]
    pub gaps: Gaps,
}

/// What is measured, and how.
#[derive(Debug, Clone, Args)]
pub struct Method {
    #[arg(long, value_name = "NAME", conflicts_with_all = ["kernel", "prepare", "norm", "alpha", "distance", "neighbour"],
          help = with_default("Views: auto, fast or paper; each option below means one view instead", preset))]
    preset: Option<String>,
    #[arg(
        long,
        value_name = "SPEC",
        help = "One view with this kernel, such as flat_rbf or integral_poly:c=1,p=3; see `varnorm kernels`"
    )]
    kernel: Option<String>,
    #[arg(long, value_name = "SPEC", help = with_default("standard, published, none, or steps such as zscore=channel", |_| View::default().prepare.to_string()))]
    prepare: Option<String>,
    #[arg(long, value_parser = one_of::<Norm>(Norm::WORDS), help = with_default("Variance norm", |_| View::default().norm.to_string()))]
    norm: Option<Norm>,
    #[arg(long, value_name = "X", allow_negative_numbers = true, help = with_default(
        "Regularisation of the norm, or auto: a share of the corpus' variance",
        |_| View::default().alpha.to_string(),
    ))]
    alpha: Option<String>,
    #[arg(long, value_parser = one_of::<Distance>(Distance::WORDS), help = with_default("Distance to what", |_| name_of(&View::default().distance)))]
    distance: Option<Distance>,
    #[arg(long, value_name = "K", help = with_default("Conformance: distance to the K-th nearest normal series", neighbour))]
    neighbour: Option<usize>,
}

/// Kernel, alpha and distance of windows, where they are given.
type OfWindows = (Option<Kernel>, Option<f64>, Option<Distance>);

impl Method {
    /// Puts what was given over what is there.
    pub fn apply(&self, settings: &mut Settings) -> Result<(), Error> {
        if let Some(preset) = &self.preset {
            settings.views = Views::Preset(preset.parse()?);
        }
        if self.changes_one_view() { self.apply_to(settings.view_mut()?) } else { Ok(()) }
    }

    /// What was given, for windows of one long recording; an error about what means nothing there.
    pub fn for_windows(&self) -> Result<OfWindows, Error> {
        for (name, given) in [
            ("preset", self.preset.clone()),
            ("prepare", self.prepare.clone()),
            ("norm", self.norm.map(|norm| norm.to_string())),
        ] {
            if let Some(value) = given {
                return Err(Error::bad_param(name, value, "cannot be chosen together with --window"));
            }
        }
        let kernel = self.kernel.as_ref().map(|kernel| kernel.parse()).transpose()?;
        let number = |alpha: &String| {
            let rule = "must be a number with --window: a multiple of the mean eigenvalue";
            alpha.parse().map_err(|_| Error::bad_param("alpha", alpha, rule))
        };
        let alpha = self.alpha.as_ref().map(number).transpose()?;
        let distance = match (self.distance, self.neighbour) {
            (Some(Distance::Mahalanobis {}), Some(k)) => {
                let rule = "the Mahalanobis distance has no neighbours; say --distance conformance";
                return Err(Error::bad_param("neighbour", k, rule));
            }
            (_, Some(neighbour)) => Some(Distance::Conformance { neighbour }),
            (distance, None) => distance,
        };
        Ok((kernel, alpha, distance))
    }

    fn changes_one_view(&self) -> bool {
        self.kernel.is_some()
            || self.prepare.is_some()
            || self.norm.is_some()
            || self.alpha.is_some()
            || self.distance.is_some()
            || self.neighbour.is_some()
    }

    fn apply_to(&self, view: &mut View) -> Result<(), Error> {
        if let Some(kernel) = &self.kernel {
            view.kernel = kernel.parse()?;
        }
        if let Some(prepare) = &self.prepare {
            view.prepare = prepare.parse()?;
        }
        view.norm = self.norm.unwrap_or(view.norm);
        if let Some(alpha) = &self.alpha {
            view.alpha = alpha.parse().map_err(|problem| Error::bad_param("alpha", alpha, problem))?;
        }
        if let Some(distance) = self.distance.filter(|d| name_of(d) != name_of(&view.distance)) {
            view.distance = distance;
        }
        match (self.neighbour, &mut view.distance) {
            (Some(k), Distance::Conformance { neighbour }) => *neighbour = k,
            (Some(k), Distance::Mahalanobis {}) => {
                let rule = "the Mahalanobis distance has no neighbours; say --distance conformance";
                return Err(Error::bad_param("neighbour", k, rule));
            }
            _ => {}
        }
        Ok(())
    }
}

/// A help text that ends with the default, taken from the settings themselves.
pub fn with_default(text: &str, default: impl Fn(&Settings) -> String) -> String {
    format!("{text} [default: {}]", default(&Settings::default()))
}

/// The preset that is the default.
fn preset(settings: &Settings) -> String {
    match settings.views {
        Views::Preset(preset) => preset.to_string(),
        Views::Given(_) => String::new(),
    }
}

fn neighbour(_: &Settings) -> String {
    match View::default().distance {
        Distance::Conformance { neighbour } => neighbour.to_string(),
        Distance::Mahalanobis {} => "1".into(),
    }
}
