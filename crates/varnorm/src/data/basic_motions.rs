//! [`basic_motions`]: a small real data set inside the library.

use std::path::Path;

use crate::data::{Format, ReadOptions, Split, read_bytes};
use crate::error::Result;

/// BasicMotions: 40 + 40 series of 100 steps and 6 channels in 4 classes (`Standing`, `Running`, `Walking`,
/// `Badminton`), recorded by students with a smart watch.
///
/// The data are from the UEA archive's BasicMotions, as shipped in the BSD-3-Clause licensed `aeon` package;
/// see `assets/README.md` for its licence.
///
/// ```
/// let split = varnorm::data::basic_motions()?;
/// assert_eq!(split.train.series.len(), 40);
/// assert_eq!(split.train.with_label("Running")?.len(), 10);
/// # Ok::<(), varnorm::Error>(())
/// ```
pub fn basic_motions() -> Result<Split> {
    let train = include_bytes!("../../assets/BasicMotions_TRAIN.ts");
    let test = include_bytes!("../../assets/BasicMotions_TEST.ts");
    let read =
        |name: &str, bytes: &[u8]| read_bytes(Path::new(name), bytes, Format::Ts, &ReadOptions::default());
    Ok(Split { train: read("BasicMotions_TRAIN.ts", train)?, test: read("BasicMotions_TEST.ts", test)? })
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_has_the_published_sizes() {
        let split = super::basic_motions().unwrap();
        for set in [&split.train, &split.test] {
            assert_eq!((set.series.len(), set.series.channels()), (40, 6));
            assert_eq!(set.series.equal_length(), Some(100));
            assert_eq!(set.labels.as_ref().unwrap().declared.len(), 4);
            assert!(set.notes.is_empty(), "{:?}", set.notes);
        }
    }
}
