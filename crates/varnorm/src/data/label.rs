//! Labels from files, and what the headers of `.ts` and `.arff` say about them.

use std::collections::HashSet;

use super::text;
use crate::data::{LabelKind, Labels};

/// Labels that a sentence names.
const NAMED: usize = 20;

/// Some labels for a sentence: a file can have a million.
pub(super) fn listed(labels: &[String]) -> String {
    let mut words = labels.iter().take(NAMED).map(|l| text::cut(l)).collect::<Vec<_>>().join(", ");
    if labels.len() > NAMED {
        words.push_str(&format!(" and {} more", labels.len() - NAMED));
    }
    words
}

/// Appends what is not there yet; returns how many that were.
pub(super) fn add_new(known: &mut Vec<String>, found: Vec<String>) -> usize {
    let seen: HashSet<&str> = known.iter().map(String::as_str).collect();
    let new: Vec<String> = found.into_iter().filter(|label| !seen.contains(label.as_str())).collect();
    let count = new.len();
    known.extend(new);
    count
}

/// Labels of a kind; only classes are declared.
pub(super) fn of_kind(kind: LabelKind, values: Vec<String>) -> Labels {
    match kind {
        LabelKind::Class => Labels::classes(values),
        LabelKind::Target => Labels { kind, values, declared: Vec::new() },
    }
}

/// Puts the header's class names first, in its order, and notes the labels that it does not name.
pub(super) fn declare(labels: &mut Labels, mut declared: Vec<String>, notes: &mut Vec<String>) {
    let before = declared.len();
    if add_new(&mut declared, std::mem::take(&mut labels.declared)) > 0 {
        notes.push(format!("labels that the header does not declare: {}", listed(&declared[before..])));
    }
    labels.declared = declared;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_of_its_own_for_every_series_takes_no_longer_than_reading_them() {
        let values: Vec<String> = (0..200_000).map(|i| format!("label number {i}")).collect();
        let began = std::time::Instant::now();
        let mut labels = Labels::classes(values.clone());
        assert_eq!(labels.declared, values);
        let mut notes = Vec::new();
        declare(&mut labels, values[..100_000].to_vec(), &mut notes);
        // Pairs of them would take a minute.
        assert!(began.elapsed().as_secs_f64() < 5.0);
        assert_eq!(labels.declared.len(), 200_000);
        assert!(notes[0].len() < 1000 && notes[0].ends_with("and 99980 more"), "{}", notes[0]);
    }
}
