//! One long recording: fitting on its windows, scores of points, windows and events, streams.

mod fit;
mod follow;
mod inspect;
mod log;
mod print;
mod score;
mod steps;

pub use fit::{LongOptions, Shared};
pub use follow::{Follow, ScoreArg};
pub use inspect::inspect;
pub use print::Per;
pub use score::Scoring;

use std::io::Read;
use std::path::Path;

use varnorm::Error;
use varnorm::long::LongDetector;

use crate::failure::Failure;

/// The model in a file, if it is one of a long recording; nothing if it is another, which then says what is wrong with it.
pub fn load(path: &Path) -> Result<Option<LongDetector>, Failure> {
    let mut file = std::fs::File::open(path).map_err(|e| Error::io("read", path, e))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|e| Error::io("read", path, e))?;
    if !LongDetector::is_in(&bytes) {
        return Ok(None);
    }
    let read = LongDetector::from_bytes(&bytes);
    Ok(Some(read.map_err(|problem| Error::Model { path: path.into(), problem })?))
}
