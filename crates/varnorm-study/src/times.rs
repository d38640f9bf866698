//! How long units took: `times.jsonl` in the run folder, beside the results, which are the same bytes however long.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::unit::Unit;

const TIMES: &str = "times.jsonl";

/// What one unit took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Took {
    /// Which unit.
    #[serde(flatten)]
    pub unit: Unit,
    /// Seconds, on the threads of that run.
    pub seconds: f64,
}

/// Adds a line. Times are told where they can be: a folder that does not take them is no error.
pub(super) fn add(folder: &Path, unit: &Unit, seconds: f64) {
    let Ok(line) = serde_json::to_string(&Took { unit: unit.clone(), seconds }) else { return };
    let file = OpenOptions::new().create(true).append(true).open(folder.join(TIMES));
    let _ = file.and_then(|mut file| file.write_all((line + "\n").as_bytes()));
}

/// What the units of a run took, as far as that is known; the last word counts.
pub fn read_times(folder: &Path) -> Vec<Took> {
    let text = std::fs::read_to_string(folder.join(TIMES)).unwrap_or_default();
    let mut times: Vec<Took> = Vec::new();
    for took in text.lines().filter_map(|line| serde_json::from_str::<Took>(line).ok()) {
        match times.iter_mut().find(|known| known.unit == took.unit) {
            Some(known) => known.seconds = took.seconds,
            None => times.push(took),
        }
    }
    times
}

/// Joins the times of pieces.
pub(super) fn merge(pieces: &[impl AsRef<Path>], output: &Path) {
    for took in pieces.iter().flat_map(|piece| read_times(piece.as_ref())) {
        add(output, &took.unit, took.seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_counts_and_torn_lines_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let unit = |class: &str| Unit { dataset: "d".into(), kernel: "k".into(), class: class.into() };
        add(folder.path(), &unit("a"), 1.0);
        add(folder.path(), &unit("b"), 2.0);
        add(folder.path(), &unit("a"), 3.0);
        let path = folder.path().join(TIMES);
        let torn = std::fs::read_to_string(&path).unwrap() + "{\"dataset\":\"d";
        std::fs::write(&path, torn).unwrap();
        let seconds: Vec<f64> = read_times(folder.path()).iter().map(|t| t.seconds).collect();
        assert_eq!(seconds, [3.0, 2.0]);
        assert!(read_times(Path::new("no-such-folder")).is_empty());
    }
}
