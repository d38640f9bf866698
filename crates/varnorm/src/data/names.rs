//! Default names: what a format has to write although nobody named it, and what is dropped again on reading.

use super::Channel;

/// `c0`, `c1`, ...
pub(super) fn channel(index: usize) -> String {
    format!("c{index}")
}

/// `None` for `0, 1, 2, ...`: a count is no name.
pub(super) fn cases(names: Vec<String>) -> Option<Vec<String>> {
    let counted = names.iter().enumerate().all(|(i, name)| *name == i.to_string());
    (!counted).then_some(names)
}

/// `None` for `c0, c1, c2, ...`.
pub(super) fn channels(names: Vec<String>) -> Option<Vec<Channel>> {
    let counted = names.iter().enumerate().all(|(i, name)| *name == channel(i));
    (!counted).then(|| Channel::named(names))
}

/// A data set's name from its file's name.
pub(super) fn from_path(path: &std::path::Path) -> String {
    super::packed::stem(path).unwrap_or_else(|| "data".into())
}
