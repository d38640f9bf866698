//! The one error type of the library.
//!
//! Every variant carries facts (which file, line, series, step, channel) and its sentence says what to do
//! next. Indices are zero-based in the fields, as in every API, and in the sentences.

use std::path::PathBuf;

/// What went wrong, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused something.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb: "read", "write".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's own words.
        source: std::io::Error,
    },
    /// A file does not follow its format.
    #[error("{}: line {line}: {problem}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// One-based line number.
        line: usize,
        /// What was found, what was expected, what to do.
        problem: String,
    },
    /// A file cannot be used as a whole (no single line is to blame).
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was found, what was expected, what to do.
        problem: String,
    },
    /// A parameter is outside its domain.
    #[error("{name} = {value}: {rule}")]
    BadParam {
        /// The parameter's name as the user writes it.
        name: String,
        /// What the user gave.
        value: String,
        /// What is allowed.
        rule: String,
    },
    /// A value is missing (NaN) and nobody said what to do about it.
    #[error(
        "series {series}, step {step}, channel {channel}: the value is missing (NaN); fill it in, or state the \
         preparation step `interpolate`"
    )]
    Missing {
        /// Zero-based series.
        series: usize,
        /// Zero-based time step.
        step: usize,
        /// Zero-based channel.
        channel: usize,
    },
    /// A value is infinite, or became so.
    #[error(
        "series {series}, step {step}, channel {channel}: the value {value} is not finite{after}; repair or drop \
         this series"
    )]
    NonFinite {
        /// Zero-based series.
        series: usize,
        /// Zero-based time step.
        step: usize,
        /// Zero-based channel.
        channel: usize,
        /// The value found.
        value: f64,
        /// Empty, or the preparation step after which it was found, as " after `zscore`".
        after: String,
    },
    /// Equal lengths are needed and the series have different ones.
    #[error(
        "{needs} needs series of equal length, but series {series} has {found} steps where {expected} are \
         expected; {advice}"
    )]
    UnequalLengths {
        /// Which part of the pipeline needs them equal.
        needs: String,
        /// Zero-based series that differs.
        series: usize,
        /// Its length.
        found: usize,
        /// The length of the others.
        expected: usize,
        /// What to do.
        advice: String,
    },
    /// The data have another number of channels than the model or the other set.
    #[error("the series have {found} channels where {expected} are expected; {advice}")]
    Channels {
        /// Channels found.
        found: usize,
        /// Channels expected.
        expected: usize,
        /// What to do.
        advice: String,
    },
    /// Too few series for what was asked.
    #[error("{what} needs at least {needed} series and got {found}; {advice}")]
    TooFew {
        /// What was asked.
        what: String,
        /// Series needed.
        needed: usize,
        /// Series given.
        found: usize,
        /// What to do.
        advice: String,
    },
    /// A kernel value overflowed.
    #[error(
        "the kernel value of series {row} and {column} is {value}; bring the data to unit scale (preparation step \
         `zscore`) or choose a bounded kernel"
    )]
    KernelValue {
        /// Zero-based row series.
        row: usize,
        /// Zero-based column series.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// A point is outside the domain of the Volterra reservoir kernel.
    #[error(
        "series {series}, step {step}: the point has length {length}, and tau = {tau} times that is not below 1; \
         choose tau below {below}, or state `clip`"
    )]
    OutsideDomain {
        /// Zero-based series.
        series: usize,
        /// Zero-based time step.
        step: usize,
        /// The parameter.
        tau: f64,
        /// The length of the point.
        length: f64,
        /// What tau has to be below.
        below: f64,
    },
    /// A model file cannot be trusted.
    #[error("{}: not a usable varnorm model: {problem}; fit the model again", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// Which check failed.
        problem: String,
    },
    /// The target format cannot hold part of the data.
    #[error("{format} cannot hold {what}; write .npz, or say that it may be dropped")]
    CannotHold {
        /// The file format.
        format: &'static str,
        /// What would be lost.
        what: String,
    },
    /// The eigendecomposition did not converge.
    #[error("the eigendecomposition of the {size} x {size} Gram matrix failed: {problem}")]
    Eigen {
        /// Size of the matrix.
        size: usize,
        /// The solver's word.
        problem: String,
    },
    /// The caller asked to stop.
    #[error("stopped on request")]
    Cancelled,
}

/// The library's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A parameter outside its domain.
    pub fn bad_param(name: impl Into<String>, value: impl ToString, rule: impl Into<String>) -> Self {
        Self::BadParam { name: name.into(), value: value.to_string(), rule: rule.into() }
    }

    /// An I/O error with the file that it happened on.
    pub fn io(action: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io { action, path: path.into(), source }
    }

    /// A line that does not follow its format.
    pub fn parse(path: impl Into<PathBuf>, line: usize, problem: impl Into<String>) -> Self {
        Self::Parse { path: path.into(), line, problem: problem.into() }
    }

    /// A file that cannot be used as a whole.
    pub fn file(path: impl Into<PathBuf>, problem: impl Into<String>) -> Self {
        Self::File { path: path.into(), problem: problem.into() }
    }

    /// The same error with series numbered as in the data that these were picked from: `rows` are the places of
    /// the series looked at, `columns` those of the corpus that a kernel value is with.
    pub fn renumbered(mut self, rows: &[usize], columns: &[usize]) -> Self {
        let back =
            |series: &mut usize, places: &[usize]| *series = places.get(*series).copied().unwrap_or(*series);
        match &mut self {
            Self::Missing { series, .. }
            | Self::NonFinite { series, .. }
            | Self::OutsideDomain { series, .. }
            | Self::UnequalLengths { series, .. } => back(series, rows),
            Self::KernelValue { row, column, .. } => {
                back(row, rows);
                back(column, columns);
            }
            _ => {}
        }
        self
    }
}
