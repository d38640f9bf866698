//! Running the program, and data to run it on.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;
use varnorm::data::{WriteOptions, basic_motions, write};

/// A folder of its own, with BasicMotions in it.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// With `train.ts` and `test.ts`.
    pub fn with_motions() -> Self {
        let folder = Self::new();
        let motions = basic_motions().unwrap();
        write(&motions.train, &folder.path("train.ts"), &WriteOptions::default()).unwrap();
        write(&motions.test, &folder.path("test.ts"), &WriteOptions::default()).unwrap();
        folder
    }

    /// With `walking.model` too.
    pub fn with_model() -> Self {
        let folder = Self::with_motions();
        folder.run(["fit", "train.ts", "--normal", "Walking", "-o", "walking.model"]).code(0);
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.path(name), content).unwrap();
        self
    }

    /// The names of all files, hidden ones too.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The program, to be started in this folder.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_varnorm"));
        command.current_dir(self.0.path()).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Ran {
        Ran::from(self.command(arguments).output().unwrap())
    }

    /// Runs a command line without quotes.
    pub fn line(&self, line: &str) -> Ran {
        self.run(line.split_whitespace())
    }
}

/// What a run of the program gave.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let ran = Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        ran
    }
}

impl Ran {
    #[track_caller]
    pub fn code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        self
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap()
    }

    /// The rows of a CSV without quotes, the header first.
    pub fn rows(&self) -> Vec<Vec<&str>> {
        let rows: Vec<Vec<&str>> = self.out.lines().map(|line| line.split(',').collect()).collect();
        assert!(rows.iter().all(|row| row.len() == rows[0].len()));
        rows
    }

    /// Failed with one sentence that has this in it, and nothing on standard output.
    #[track_caller]
    pub fn fails(self, words: &str) -> Self {
        assert_eq!(self.code, Some(2), "{}\n{}", self.out, self.err);
        assert_eq!(self.out, "");
        let errors: Vec<&str> = self.err.lines().filter(|line| line.starts_with("error: ")).collect();
        assert_eq!(errors.len(), 1, "{}", self.err);
        assert!(errors[0].contains(words), "expected {words:?} in: {}", self.err);
        assert!(!self.err.contains("caused by"), "{}", self.err);
        self
    }
}

/// Series as wide CSV: one row each.
pub fn wide(series: &[Vec<f64>]) -> String {
    let steps = series.iter().map(Vec::len).max().unwrap();
    let header: Vec<String> = (0..steps).map(|t| format!("x_{t}")).collect();
    // Numbered columns alone could be the channels of a recording: names make rows series.
    let mut text = format!("case_id,{}\n", header.join(","));
    for (at, one) in series.iter().enumerate() {
        let cells: Vec<String> =
            (0..steps).map(|t| one.get(t).map_or(String::new(), |v| format!("{v:?}"))).collect();
        text += &format!("{at},{}\n", cells.join(","));
    }
    text
}

/// Smooth series that differ from each other.
pub fn waves(count: usize, steps: usize) -> Vec<Vec<f64>> {
    let value = |i: usize, t: usize| ((i as f64 + 1.0) * 0.7 + t as f64 * 0.3).sin() + 0.1 * i as f64;
    (0..count).map(|i| (0..steps).map(|t| value(i, t)).collect()).collect()
}

/// The bytes of a file.
pub fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}
