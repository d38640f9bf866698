//! [`Parts`]: many files as a sequence of data sets, none of them larger than memory allows.

use std::path::PathBuf;

use super::files::{File, add, listed, name_by_file};
use crate::data::{Dataset, ReadOptions, read};
use crate::error::Result;

/// Reads files and folders part by part: as many files at a time as it takes to hold so many bytes of values. One file is
/// never cut. Series are named and files compared as [`read_all`](super::read_all) does.
pub struct Parts {
    files: std::vec::IntoIter<File>,
    many: bool,
    options: ReadOptions,
    most_bytes: usize,
    /// The channels of the parts before, which all files must have.
    before: Option<Dataset>,
}

impl Parts {
    /// Lists the files; nothing is read yet.
    pub fn new(paths: &[PathBuf], options: &ReadOptions, most_bytes: usize) -> Result<Self> {
        let files = listed(paths, options.recursive)?;
        let many = files.len() > 1;
        Ok(Self { files: files.into_iter(), many, options: options.clone(), most_bytes, before: None })
    }

    fn next_part(&mut self) -> Result<Option<Dataset>> {
        // What was read before stays behind as a data set without series: files must fit it.
        let mut part = self.before.as_ref().map(|before| before.select(&[]));
        while part.as_ref().is_none_or(|part| 8 * part.series.values().len() < self.most_bytes) {
            let Some(File { path, name }) = self.files.next() else { break };
            let mut next = read(&path, &self.options)?;
            if self.many {
                name_by_file(&mut next, &name);
            }
            match &mut part {
                None => part = Some(next),
                Some(part) => add(part, next, &path)?,
            }
        }
        let part = part.filter(|part| !part.series.is_empty());
        if let Some(part) = &part {
            self.before.get_or_insert_with(|| Dataset { notes: Vec::new(), ..part.select(&[]) });
        }
        Ok(part)
    }
}

impl Iterator for Parts {
    type Item = Result<Dataset>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_part().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::read_all;

    #[test]
    fn parts_are_the_whole_file_by_file() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("a", "1:2\n3:4\n"), ("b", "5:6\n"), ("c", "7:8\n9:10\n")] {
            std::fs::write(folder.path().join(format!("{name}.ts")), format!("@data\n{text}")).unwrap();
        }
        let (paths, options) = ([folder.path().to_path_buf()], ReadOptions::default());
        let whole = read_all(&paths, &options).unwrap();
        for (most, expected) in [(1, vec![2, 1, 2]), (40, vec![3, 2]), (1 << 20, vec![5])] {
            let parts: Vec<Dataset> =
                Parts::new(&paths, &options, most).unwrap().map(Result::unwrap).collect();
            assert_eq!(parts.iter().map(|p| p.series.len()).collect::<Vec<_>>(), expected);
            let names: Vec<String> = parts.iter().flat_map(|p| p.case_names.clone().unwrap()).collect();
            assert_eq!(Some(names), whole.case_names);
            let values: Vec<f64> = parts.iter().flat_map(|p| p.series.values().to_vec()).collect();
            assert_eq!(values, whole.series.values());
        }
        std::fs::write(folder.path().join("d.ts"), "@data\n1\n").unwrap();
        let last = Parts::new(&paths, &options, 1).unwrap().last().unwrap().unwrap_err().to_string();
        assert!(last.contains("1 channel where those of the files before have 2"), "{last}");
    }
}
