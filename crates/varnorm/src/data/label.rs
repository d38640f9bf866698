//! Labels from files, and what the headers of `.ts` and `.arff` say about them.

use crate::data::{LabelKind, Labels};

/// Labels of a kind; only classes are declared.
pub(super) fn of_kind(kind: LabelKind, values: Vec<String>) -> Labels {
    match kind {
        LabelKind::Class => Labels::classes(values),
        LabelKind::Target => Labels { kind, values, declared: Vec::new() },
    }
}

/// Puts the header's class names first, in its order, and notes the labels that it does not name.
pub(super) fn declare(labels: &mut Labels, mut declared: Vec<String>, notes: &mut Vec<String>) {
    let missing: Vec<String> =
        std::mem::take(&mut labels.declared).into_iter().filter(|found| !declared.contains(found)).collect();
    if !missing.is_empty() {
        notes.push(format!("labels that the header does not declare: {}", missing.join(", ")));
    }
    declared.extend(missing);
    labels.declared = declared;
}
