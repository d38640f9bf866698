//! [`read_all`] and [`read_split`]: several files as one data set.

use std::fs;
use std::path::{Path, PathBuf};

use crate::data::{Dataset, Format, Matching, ReadOptions, Split, listed_names, read};
use crate::error::{Error, Result};

use super::{names, text};

/// Reads a published split: `dir/NAME/NAME_TRAIN.ts` and `NAME_TEST.ts`, or the same names in `.arff`.
pub fn read_split(dir: &Path, name: &str) -> Result<Split> {
    let folder = dir.join(name);
    let part = |part: &str| -> Result<(PathBuf, Dataset)> {
        let file = |format: Format| folder.join(format!("{name}_{part}{}", format.extension()));
        let choices = [file(Format::Ts), file(Format::Arff)];
        let Some(path) = choices.iter().find(|path| path.is_file()) else {
            let problem = format!(
                "there is no {name}_{part}.ts or {name}_{part}.arff here; check the folder and the name"
            );
            return Err(Error::file(&folder, problem));
        };
        Ok((path.clone(), read(path, &ReadOptions::default())?))
    };
    let ((_, train), (test_path, test)) = (part("TRAIN")?, part("TEST")?);
    same_channels(&test_path, &test, &train)?;
    Ok(Split { train, test })
}

/// Reads several files and folders as one data set; a folder stands for all its files with a known extension,
/// by name, and for those of its sub-folders unless the options say otherwise.
///
/// With more than one file, a series without a name of its own is named by its file: the file's stem if the
/// file holds one series, else `stem/index`. Labels and timestamps are kept if every file has them.
pub fn read_all(paths: &[PathBuf], options: &ReadOptions) -> Result<Dataset> {
    let files = listed(paths, options.recursive)?;
    let (first, more) = (&files[0], &files[1..]);
    let mut all = read(&first.path, options)?;
    if more.is_empty() {
        return Ok(all);
    }
    name_by_file(&mut all, &first.name);
    for File { path, name } in more {
        let mut next = read(path, options)?;
        name_by_file(&mut next, name);
        add(&mut all, next, path)?;
    }
    if let [folder] = paths {
        all.name = folder.file_name().map_or(all.name, |name| name.to_string_lossy().into_owned());
    }
    Ok(all)
}

/// The files that [`read_all`] reads for these paths.
pub fn data_files(paths: &[PathBuf], options: &ReadOptions) -> Result<Vec<PathBuf>> {
    Ok(listed(paths, options.recursive)?.into_iter().map(|file| file.path).collect())
}

/// A file, and what series without a name of their own are named by: its stem, after the sub-folders that it is in.
pub(super) struct File {
    pub path: PathBuf,
    pub name: String,
}

/// All files, at least one; those of a folder by name.
pub(super) fn listed(paths: &[PathBuf], recursive: bool) -> Result<Vec<File>> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let below = |file: PathBuf| {
                let place =
                    super::packed::unpacked_name(file.strip_prefix(path).unwrap_or(&file)).with_extension("");
                let parts: Vec<String> =
                    place.iter().map(|part| part.to_string_lossy().into_owned()).collect();
                File { name: parts.join("/"), path: file }
            };
            files.extend(in_folder(path, recursive)?.into_iter().map(below));
        } else {
            files.push(File { name: names::from_path(path), path: path.clone() });
        }
    }
    match files.is_empty() {
        true => Err(Error::bad_param("paths", "none", "give at least one file or folder")),
        false => Ok(files),
    }
}

/// Levels of sub-folders that are looked into. Links to folders are not followed: they can lead back.
const DEPTH: usize = 32;

fn in_folder(folder: &Path, recursive: bool) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let depth = if recursive { DEPTH } else { 0 };
    let has_folders = collect(folder, depth, &mut files)?;
    if files.is_empty() {
        let known = Format::ALL.map(Format::extension).join(", ");
        let below = if has_folders && !recursive { "; its sub-folders were left out" } else { "" };
        return Err(Error::file(
            folder,
            format!("the folder holds no file of a known format ({known}){below}"),
        ));
    }
    files.sort();
    Ok(files)
}

/// Adds the files of a folder; returns whether it has sub-folders. Hidden ones are left out.
fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<bool> {
    let failed = |source| Error::io("read", folder, source);
    let mut has_folders = false;
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if path.is_file() && Format::is_data(&path) {
            files.push(path);
        } else if path.is_dir() && !hidden && !path.is_symlink() {
            has_folders = true;
            if depth > 0 {
                collect(&path, depth - 1, files)?;
            }
        }
    }
    Ok(has_folders)
}

/// Case names and notes that still say where they come from when files are put together.
pub(super) fn name_by_file(dataset: &mut Dataset, stem: &str) {
    let count = dataset.series.len();
    dataset.case_names.get_or_insert_with(|| match count {
        1 => vec![stem.to_string()],
        _ => (0..count).map(|i| format!("{stem}/{i}")).collect(),
    });
    for note in &mut dataset.notes {
        *note = format!("{stem}: {note}");
    }
}

pub(super) fn add(all: &mut Dataset, next: Dataset, path: &Path) -> Result<()> {
    let next = like_the_first(next, all, path)?;
    let had = (all.labels.is_some() || next.labels.is_some(), all.times.is_some() || next.times.is_some());
    all.append(next)?;
    for (had, has, what) in
        [(had.0, all.labels.is_some(), "labels"), (had.1, all.times.is_some(), "timestamps")]
    {
        let note = format!("{what} dropped: not every file has them");
        if had && !has && !all.notes.contains(&note) {
            all.notes.push(note);
        }
    }
    Ok(())
}

/// Columns in another order would be compared with the wrong channels: they are put in the order of the first file.
fn like_the_first(next: Dataset, all: &mut Dataset, path: &Path) -> Result<Dataset> {
    let (Some(found), Some(expected)) = (&next.channels, &all.channels) else {
        same_channels(path, &next, all)?;
        if next.channels.is_some() != all.channels.is_some() {
            push_once(&mut all.notes, "not every file names its channels; those are taken by position");
        }
        return Ok(next);
    };
    let whose = "the files before";
    let matching = Matching::new(found, expected, whose).map_err(|problem| Error::file(path, problem))?;
    if !matching.extra.is_empty() {
        let problem = format!(
            "the files before lack {}; give all files the same columns",
            listed_names(matching.extra.iter().map(String::as_str))
        );
        return Err(Error::file(path, problem));
    }
    if matching.reordered {
        push_once(&mut all.notes, "columns in another order than in the first file were matched by name");
    }
    matching.apply(next)
}

fn push_once(notes: &mut Vec<String>, note: &str) {
    if !notes.iter().any(|known| known == note) {
        notes.push(note.into());
    }
}

fn same_channels(path: &Path, dataset: &Dataset, others: &Dataset) -> Result<()> {
    let (found, expected) = (dataset.series.channels(), others.series.channels());
    if found == expected {
        return Ok(());
    }
    Err(Error::file(
        path,
        format!(
            "the series have {} where those of the files before have {expected}; give series of one kind",
            text::count(found, "channel")
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            fs::write(folder.path().join(name), content).unwrap();
        }
        folder
    }

    #[test]
    fn a_folder_is_read_by_name_and_series_are_named_by_file() {
        let folder = folder(&[
            ("b.csv", "time,x\n0,1\n1,2\n"),
            ("a.ts", "@data\n1\n2\n"),
            ("c.csv", "case_id,time,c0\nme,0,1\n"),
            ("readme.txt", "no"),
        ]);
        let all = read_all(&[folder.path().into()], &ReadOptions::default()).unwrap();
        assert_eq!(all.case_names.unwrap(), ["a/0", "a/1", "b", "me"]);
        assert_eq!(all.name, folder.path().file_name().unwrap().to_str().unwrap());
        let one = read_all(&[folder.path().join("a.ts")], &ReadOptions::default()).unwrap();
        assert_eq!((one.case_names, one.name), (None, "a".into()));
    }

    #[test]
    fn sub_folders_are_read_unless_they_are_to_be_left_out() {
        let root = folder(&[("b.csv", "time,x\n0,1\n1,2\n")]);
        let (deep, hidden) = (root.path().join("a/deep"), root.path().join(".cache"));
        for (place, value) in [(&deep, 3), (&hidden, 9)] {
            fs::create_dir_all(place).unwrap();
            fs::write(place.join("c.csv"), format!("time,x\n0,{value}\n1,4\n")).unwrap();
        }
        let all = read_all(&[root.path().into()], &ReadOptions::default()).unwrap();
        assert_eq!(all.series.values(), [3.0, 4.0, 1.0, 2.0]);
        assert_eq!(all.case_names.unwrap(), ["a/deep/c", "b"]);
        let flat = ReadOptions::default().with_recursive(false);
        assert_eq!(read_all(&[root.path().into()], &flat).unwrap().series.len(), 1);
        let error = read_all(&[root.path().join("a")], &flat).unwrap_err().to_string();
        assert!(error.ends_with("its sub-folders were left out"), "{error}");
    }

    #[test]
    fn what_does_not_fit_names_the_file() {
        let folder = folder(&[("a.ts", "@data\n1:2\n"), ("b.ts", "@data\n1\n")]);
        let error = read_all(&[folder.path().into()], &ReadOptions::default()).unwrap_err().to_string();
        let expected =
            "b.ts: the series have 1 channel where those of the files before have 2; give series of one kind";
        assert!(error.ends_with(expected), "{error}");
        let empty = tempfile::tempdir().unwrap();
        let error = read_all(&[empty.path().into()], &ReadOptions::default()).unwrap_err().to_string();
        let expected = "the folder holds no file of a known format (.ts, .arff, .csv, .npy, .npz)";
        assert!(error.ends_with(expected), "{error}");
        let none = read_all(&[], &ReadOptions::default()).unwrap_err().to_string();
        assert_eq!(none, "paths = none: give at least one file or folder");
    }

    #[test]
    fn channels_are_matched_by_name_and_lost_labels_noted() {
        let read = |files: &[(&str, &str)]| read_all(&[folder(files).path().into()], &ReadOptions::default());
        let swapped = read(&[("a.csv", "time,x,y\n0,1,2\n"), ("b.csv", "time,y,x\n0,3,4\n")]).unwrap();
        assert_eq!(swapped.series.values(), [1.0, 2.0, 4.0, 3.0]);
        assert_eq!(swapped.channel_names().unwrap(), ["x", "y"]);
        assert_eq!(swapped.notes, ["columns in another order than in the first file were matched by name"]);
        let refused = |second: &str| {
            let error = read(&[("a.csv", "time,x,y\n0,1,2\n"), ("b.csv", second)]).unwrap_err().to_string();
            error[error.find("b.csv").unwrap()..].to_string()
        };
        assert_eq!(
            refused("time,x,z\n0,1,2\n"),
            "b.csv: a channel of the files before is missing: y; the data have x, z; rename or add it"
        );
        assert_eq!(
            refused("time,x,y,z\n0,1,2,3\n"),
            "b.csv: the files before lack z; give all files the same columns"
        );
        let half = folder(&[("a.csv", "time,x,label\n0,1,q\n"), ("b.csv", "time,x\n0,1\n")]);
        let all = read_all(&[half.path().into()], &ReadOptions::default()).unwrap();
        assert_eq!(all.notes, ["labels dropped: not every file has them"]);
    }

    #[test]
    fn a_split_falls_back_to_arff() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("Toy");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("Toy_TRAIN.ts"), "@data\n1\n").unwrap();
        let error = read_split(root.path(), "Toy").unwrap_err().to_string();
        assert!(
            error.ends_with("there is no Toy_TEST.ts or Toy_TEST.arff here; check the folder and the name")
        );
        fs::write(folder.join("Toy_TEST.arff"), "@attribute a numeric\n@data\n2\n").unwrap();
        let split = read_split(root.path(), "Toy").unwrap();
        assert_eq!((split.train.series.values(), split.test.series.values()), (&[1.0][..], &[2.0][..]));
    }
}
