//! Options that several commands share.

use std::path::Path;

use clap::{Args, ValueEnum};
use varnorm::calibrate::Decision;
use varnorm::data::{CsvLayout, ReadOptions};
use varnorm::detector::Views;
use varnorm::model::View;
use varnorm::{Distance, Error, Norm, Settings};

/// How a list of results is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned columns for people
    Table,
    /// Comma-separated, full precision
    Csv,
    /// JSON, full precision
    Json,
}

impl Format {
    /// What was asked for, else what the file's name says, else a table.
    pub fn choose(asked: Option<Self>, file: Option<&Path>) -> Self {
        let named = |extension: &str| {
            file.and_then(Path::extension).is_some_and(|found| found.eq_ignore_ascii_case(extension))
        };
        asked.unwrap_or(if named("csv") {
            Self::Csv
        } else if named("json") {
            Self::Json
        } else {
            Self::Table
        })
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

impl std::str::FromStr for Size {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Layout {
    /// Told from the header
    Auto,
    /// One row is one series
    Wide,
    /// One row is one step of one series
    Long,
    /// The file is one series, one row is one step
    Recording,
}

/// How data files are read.
#[derive(Debug, Clone, Copy, Args)]
pub struct Reading {
    /// How the rows of .csv data make series
    #[arg(long, value_name = "LAYOUT", value_enum, default_value = "auto")]
    csv_layout: Layout,
}

impl Reading {
    /// For the library.
    pub fn options(self) -> ReadOptions {
        let csv_layout = match self.csv_layout {
            Layout::Auto => CsvLayout::Auto,
            Layout::Wide => CsvLayout::Wide,
            Layout::Long => CsvLayout::Long,
            Layout::Recording => CsvLayout::Recording,
        };
        ReadOptions { csv_layout }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum NormName {
    /// The true variance norm: infinite outside the span of the normal series
    Exact,
    /// The published regularised norm: blind outside the span
    Tikhonov,
    /// Sees inside and outside of the span
    Envelope,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DistanceName {
    /// To the nearest normal series
    Conformance,
    /// To the mean of the normal series
    Mahalanobis,
}

/// How flags are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum DecisionName {
    /// Each series on its own: that share of normal series is flagged
    Each,
    /// Over the whole batch: of the flagged series at most that share is normal
    #[value(alias = "bh")]
    BenjaminiHochberg,
    /// The same, flagging more where much of the batch is novel
    Storey,
    /// The batch as a stream: of the flagged so far at most that share is normal
    Lord,
}

impl From<DecisionName> for Decision {
    fn from(name: DecisionName) -> Self {
        match name {
            DecisionName::Each => Self::Each,
            DecisionName::BenjaminiHochberg => Self::BenjaminiHochberg,
            DecisionName::Storey => Self::Storey,
            DecisionName::Lord => Self::Lord,
        }
    }
}

/// What is measured, and how.
#[derive(Debug, Clone, Args)]
pub struct Method {
    #[arg(long, value_name = "NAME", conflicts_with_all = ["kernel", "prepare", "norm", "alpha", "distance", "neighbour"],
          help = with_default("Views: auto, fast or paper; each option below means one view instead", |s| match s.views {
              Views::Preset(preset) => word(&preset),
              _ => String::new(),
          }))]
    preset: Option<String>,
    #[arg(long, value_name = "SPEC", help = with_default("Kernel, such as flat_rbf or integral_poly:c=1,p=3; see `varnorm kernels`", |_| "chosen by the preset".into()))]
    kernel: Option<String>,
    #[arg(long, value_name = "SPEC", help = with_default("standard, published, none, or steps such as zscore=channel", |_| View::default().prepare.to_string()))]
    prepare: Option<String>,
    #[arg(long, value_enum, help = with_default("Variance norm", |_| word(&View::default().norm)))]
    norm: Option<NormName>,
    #[arg(long, value_name = "X", allow_negative_numbers = true, help = with_default("Regularisation of the norm", |_| word(&View::default().alpha)))]
    alpha: Option<String>,
    #[arg(long, value_enum, help = with_default("Distance to what", |_| word(&View::default().distance)))]
    distance: Option<DistanceName>,
    #[arg(long, value_name = "K", help = with_default("Conformance: distance to the K-th nearest normal series", neighbour))]
    neighbour: Option<usize>,
}

impl Method {
    /// Puts what was given over what is there.
    pub fn apply(&self, settings: &mut Settings) -> Result<(), Error> {
        if let Some(preset) = &self.preset {
            settings.views = Views::Preset(preset.parse()?);
        }
        if self.changes_one_view() { self.apply_to(settings.view_mut()?) } else { Ok(()) }
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
        if let Some(norm) = self.norm {
            view.norm = match norm {
                NormName::Exact => Norm::Exact,
                NormName::Tikhonov => Norm::Tikhonov,
                NormName::Envelope => Norm::Envelope,
            };
        }
        if let Some(alpha) = &self.alpha {
            view.alpha = alpha.parse().map_err(|problem| Error::bad_param("alpha", alpha, problem))?;
        }
        view.distance = match (self.distance, view.distance) {
            (Some(DistanceName::Mahalanobis), _) => Distance::Mahalanobis {},
            (Some(DistanceName::Conformance), Distance::Mahalanobis {}) => Distance::default(),
            (_, kept) => kept,
        };
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

/// The word of a choice, as its JSON has it.
pub fn word(choice: &impl serde::Serialize) -> String {
    match serde_json::to_value(choice) {
        Ok(serde_json::Value::String(word)) => word,
        // A choice with parameters: the word is that of its tag, the first by name that is text.
        Ok(serde_json::Value::Object(fields)) => {
            let words = fields.values().filter_map(|value| value.as_str());
            words.map(str::to_string).next().unwrap_or_default()
        }
        _ => String::new(),
    }
}

fn neighbour(_: &Settings) -> String {
    match View::default().distance {
        Distance::Conformance { neighbour } => neighbour.to_string(),
        Distance::Mahalanobis {} => "1".into(),
    }
}
