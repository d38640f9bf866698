//! [`Failure`]: what a command could not do, in one sentence.

use std::error::Error as _;
use std::fmt;
use std::io::Write;
use std::path::Path;

use crate::console::printable;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The library's word.
    Library(varnorm::Error),
    /// The library's word about the data of one file.
    About(String, varnorm::Error),
    /// The program's own word.
    Words(String),
    /// Standard output took no more.
    Output(std::io::Error),
}

impl Failure {
    /// The sentence on standard error, then what caused it where the sentence does not tell already.
    pub fn print(&self) {
        let mut told = self.to_string();
        let mut lines = format!("error: {told}\n");
        let mut cause = self.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !told.contains(&text) {
                lines.push_str(&format!("  caused by: {text}\n"));
            }
            told.push_str(&text);
            cause = error.source();
        }
        // Nobody is left to be told when this fails.
        let _ = std::io::stderr().write_all(printable(&lines).as_bytes());
    }

    /// What is true of a run that was stopped after it had kept something.
    pub fn kept(what: impl Fn() -> String) -> impl Fn(varnorm::Error) -> Self {
        move |error| match error {
            varnorm::Error::Cancelled => Self::Words(format!("{error}; {}", what())),
            error => Self::Library(error),
        }
    }

    /// The library's error about one of several inputs.
    pub fn about(path: &Path) -> impl Fn(varnorm::Error) -> Self {
        move |error| match error {
            varnorm::Error::Cancelled => Self::Library(error),
            error => Self::About(path.display().to_string(), error),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A command that keeps something says so itself, with [`Failure::kept`].
            Self::Library(error @ varnorm::Error::Cancelled) => write!(f, "{error}; nothing was written"),
            Self::Library(error) => error.fmt(f),
            Self::About(what, error) => write!(f, "{what}: {error}"),
            Self::Words(words) => f.write_str(words),
            Self::Output(error) => write!(f, "cannot write to standard output: {error}"),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Library(error) | Self::About(_, error) => error.source(),
            Self::Words(_) => None,
            Self::Output(error) => Some(error),
        }
    }
}

impl From<varnorm::Error> for Failure {
    fn from(error: varnorm::Error) -> Self {
        Self::Library(error)
    }
}
