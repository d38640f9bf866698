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
        "series {series}, step {step}, channel {channel}: the value is missing (NaN); fill it in, or say \
         how it is to be filled: gaps interpolate"
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
        "series {series}, step {step}: the point has length {}, and tau = {} times that is not below 1; {}state `clip`",
        number_in_words(length.to_string()), number_in_words(tau.to_string()), below_in_words(*below)
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
    #[error("{format} cannot hold {what}; {}say that it may be dropped", if *format == ".npz" { "" } else { "write .npz, or " })]
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
    /// More memory would be needed than there is.
    #[error("{what} would need about {} of memory and {} are free; {advice}", bytes_in_words(*needed), bytes_in_words(*free))]
    Memory {
        /// What would need it.
        what: String,
        /// Bytes needed, by estimate.
        needed: f64,
        /// Bytes that can be had.
        free: f64,
        /// What to do.
        advice: String,
    },
    /// The data are larger than the caller allows.
    #[error("{found} where at most {most} are allowed; send less at a time, or in smaller pieces")]
    Limit {
        /// What was found: "more than 100 series".
        found: String,
        /// The most.
        most: usize,
    },
    /// Something went wrong with one of several things that are worked on.
    #[error("{what}: {error}")]
    Within {
        /// Which of them.
        what: String,
        /// What went wrong.
        error: Box<Error>,
    },
    /// The caller asked to stop.
    #[error("stopped on request")]
    Cancelled,
}

/// "1.5 GB".
pub fn bytes_in_words(bytes: f64) -> String {
    match bytes {
        b if b >= 1e15 => format!("{b:.1e} bytes"),
        b if b >= 1e9 => format!("{:.1} GB", b / 1e9),
        b if b >= 1e6 => format!("{:.0} MB", b / 1e6),
        b => format!("{:.0} kB", (b / 1e3).max(1.0)),
    }
}

/// Advice about tau, where there is a number to give.
fn below_in_words(below: f64) -> String {
    match below > 0.0 {
        true => format!("choose tau below {}, or ", number_in_words(below.to_string())),
        false => "bring the data to unit scale (preparation step `zscore`), or ".into(),
    }
}

/// A number in a sentence: with a power of ten where it would be a row of zeros.
pub(crate) fn number_in_words(text: String) -> String {
    match text.parse::<f64>() {
        Ok(value) if text.len() > 24 && value.is_finite() => format!("{value:e}"),
        _ => text,
    }
}

/// The library's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A parameter outside its domain.
    pub fn bad_param(name: impl Into<String>, value: impl ToString, rule: impl Into<String>) -> Self {
        let value = number_in_words(value.to_string());
        Self::BadParam { name: name.into(), value, rule: rule.into() }
    }

    /// An I/O error with the file that it happened on.
    pub fn io(action: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        // The system has no word for it: the bytes were read, but they are no text.
        match source.kind() == std::io::ErrorKind::InvalidData && source.to_string().contains("UTF-8") {
            true => Self::file(path, "is not text in UTF-8; save it in that encoding"),
            false => Self::Io { action, path: path.into(), source },
        }
    }

    /// A line that does not follow its format.
    pub fn parse(path: impl Into<PathBuf>, line: usize, problem: impl Into<String>) -> Self {
        Self::Parse { path: path.into(), line, problem: problem.into() }
    }

    /// A file that cannot be used as a whole.
    pub fn file(path: impl Into<PathBuf>, problem: impl Into<String>) -> Self {
        Self::File { path: path.into(), problem: problem.into() }
    }

    /// The same error with the thing that it is about. That the caller asked to stop is about nothing.
    pub fn within(self, what: impl ToString) -> Self {
        match self {
            Self::Cancelled => self,
            error => Self::Within { what: what.to_string(), error: Box::new(error) },
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_have_no_rows_of_zeros_and_no_empty_advice() {
        assert!(Error::bad_param("alpha", 1e300, "x").to_string().starts_with("alpha = 1e300: "));
        assert!(Error::bad_param("alpha", 1.5e-300, "x").to_string().starts_with("alpha = 1.5e-300: "));
        assert!(Error::bad_param("alpha", 0.25, "x").to_string().starts_with("alpha = 0.25: "));
        let outside = |below| Error::OutsideDomain { series: 1, step: 2, tau: 0.5, length: 1e300, below };
        let words = outside(0.0).to_string();
        assert!(
            words.contains("length 1e300") && words.contains("zscore") && !words.contains("below 0,"),
            "{words}"
        );
        assert!(outside(1e-300).to_string().contains("choose tau below 1e-300, or state `clip`"));
        let npz = Error::CannotHold { format: ".npz", what: "NUL".into() }.to_string();
        assert_eq!(npz, ".npz cannot hold NUL; say that it may be dropped");
    }
}
