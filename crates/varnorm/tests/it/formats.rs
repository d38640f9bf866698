//! Real files and made-up ones go through every format and come back bit by bit; no bytes make a reader
//! panic.

// Clippy knows `#[test]` functions, not their helpers.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use varnorm::data::{
    Channel, CsvLayout, CsvShape, Dataset, Format, Gaps, LabelKind, Labels, ReadOptions, SeriesSet, Times,
    WriteOptions, read, read_bytes, read_split, write,
};

/// Name, train size, test size, channels, shortest, longest, classes: the paper's table of data sets.
const ARCHIVE: [(&str, usize, usize, usize, usize, usize, usize); 6] = [
    ("BasicMotions", 40, 40, 6, 100, 100, 4),
    ("Epilepsy", 137, 138, 3, 206, 206, 4),
    ("FingerMovements", 316, 100, 28, 50, 50, 2),
    ("JapaneseVowels", 270, 370, 12, 7, 29, 9),
    ("NATOPS", 180, 180, 24, 51, 51, 6),
    ("RacketSports", 151, 152, 6, 30, 30, 4),
];

fn archive() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/uea");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: ../shared is absent");
    None
}

const WIDE: WriteOptions = WriteOptions::new().with_csv(CsvShape::Wide);
const LONG: WriteOptions = WriteOptions::new().with_csv(CsvShape::Long);

/// Every way to write a file, by the format's extension.
const WAYS: [(&str, WriteOptions); 6] =
    [("ts", LONG), ("arff", LONG), ("csv", WIDE), ("csv", LONG), ("npz", LONG), ("ts", LONG)];

fn bits(series: &SeriesSet) -> Vec<u64> {
    series.values().iter().map(|v| v.to_bits()).collect()
}

/// Equal but for the name and notes, which are about the file.
fn assert_same(found: &Dataset, expected: &Dataset, way: &str) {
    assert_eq!(found.series.channels(), expected.series.channels(), "{way}");
    assert!(found.series.lengths().eq(expected.series.lengths()), "{way}");
    assert_eq!(bits(&found.series), bits(&expected.series), "{way}");
    let labels = |d: &Dataset| d.labels.as_ref().map(|l| (l.kind, l.values.clone()));
    assert_eq!(labels(found), labels(expected), "{way}");
    assert_eq!(found.case_names, expected.case_names, "{way}");
    assert_eq!(found.channels, expected.channels, "{way}");
    assert_eq!(found.times, expected.times, "{way}");
}

fn there_and_back(dataset: &Dataset, extension: &str, options: &WriteOptions) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("x.{extension}"));
    let dropped = write(dataset, &path, options).unwrap();
    assert!(dropped.is_empty(), "{dropped:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    read(&path, &ReadOptions::default().with_gaps(Gaps::Keep)).unwrap()
}

#[test]
fn the_archive_has_the_sizes_of_the_paper() {
    let Some(folder) = archive() else { return };
    for (name, train, test, channels, shortest, longest, classes) in ARCHIVE {
        let split = read_split(&folder, name).unwrap();
        for (set, size) in [(&split.train, train), (&split.test, test)] {
            assert_eq!((set.series.len(), set.series.channels()), (size, channels), "{name}");
            assert!(set.series.lengths().all(|l| (shortest..=longest).contains(&l)), "{name}");
            let labels = set.labels.as_ref().unwrap();
            assert_eq!(labels.declared.len(), classes, "{name}");
            assert_eq!((set.name.as_str(), &set.notes[..]), (name, &[][..]));
        }
        let lengths = || split.train.series.lengths().chain(split.test.series.lengths());
        assert_eq!((lengths().min(), lengths().max()), (Some(shortest), Some(longest)), "{name}");
    }
}

#[test]
fn the_archive_goes_through_every_format_in_turn() {
    let Some(folder) = archive() else { return };
    for (name, ..) in ARCHIVE {
        let start = read_split(&folder, name).unwrap().test;
        let mut now = start.clone();
        for (extension, options) in &WAYS {
            now = there_and_back(&now, extension, options);
            assert_same(&now, &start, &format!("{name} {extension}"));
            assert!(now.notes.is_empty(), "{:?}", now.notes);
        }
        // CSV has no place for classes declared in another order than they appear; .npz keeps it.
        let npz = there_and_back(&start, "npz", &LONG);
        assert_eq!((npz.labels, npz.name), (start.labels, start.name));
    }
}

fn odd_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => any::<f64>().prop_map(|v| if v.is_nan() { f64::NAN } else { v }),
        1 => prop::sample::select(vec![
            f64::NAN, -0.0, 0.0, 1e-308, 5e-324, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 1e300, 0.1,
        ]),
    ]
}

/// What goes beside the numbers: which texts, and how many of the parts.
#[derive(Debug, Clone, Copy)]
struct Texts {
    label: &'static str,
    case: Option<&'static str>,
    channel: Option<&'static str>,
    time: Option<&'static str>,
}

const BARE: Texts = Texts { label: "[A-Za-z0-9_.?'\"#@%-]{1,6}", case: None, channel: None, time: None };
/// Texts as CSV can hold them: anything without spaces at the ends.
const NAMED: &str = "[A-Za-z\u{e9}\u{4e2d}][A-Za-z0-9 ,;:'\"\\\\\u{e9}\n]{0,5}[a-z.\u{4e2d}]";

fn names(pattern: Option<&'static str>, count: usize) -> BoxedStrategy<Option<Vec<String>>> {
    match pattern {
        None => Just(None).boxed(),
        Some(pattern) => {
            let unique =
                prop::collection::hash_set(pattern, count).prop_map(|set| Some(set.into_iter().collect()));
            prop_oneof![Just(None), unique].boxed()
        }
    }
}

fn times(pattern: Option<&'static str>, count: usize) -> BoxedStrategy<Option<Vec<String>>> {
    match pattern {
        None => Just(None).boxed(),
        Some(pattern) => prop::option::of(prop::collection::vec(pattern, count)).boxed(),
    }
}

fn labels(pattern: &'static str, count: usize) -> impl Strategy<Value = Option<Labels>> {
    let targets = prop::collection::vec("-?[0-9]{1,3}(\\.[0-9]{1,2})?", count)
        .prop_map(|values| Some(Labels { kind: LabelKind::Target, values, declared: Vec::new() }));
    let classes = prop::collection::vec(pattern, count).prop_map(|values| Some(Labels::classes(values)));
    prop_oneof![Just(None), targets, classes]
}

fn dataset(texts: Texts) -> impl Strategy<Value = Dataset> {
    let sizes = (1..4usize, prop::collection::vec(1..6usize, 1..5));
    sizes.prop_flat_map(move |(channels, lengths)| {
        let (count, steps) = (lengths.len(), lengths.iter().sum::<usize>());
        let values = prop::collection::vec(odd_value(), steps * channels);
        let beside = (
            labels(texts.label, count),
            names(texts.case, count),
            names(texts.channel, channels),
            times(texts.time, steps),
        );
        (values, beside).prop_map(move |(values, (labels, case_names, channel_names, times))| {
            let mut dataset = Dataset {
                labels,
                case_names,
                channels: channel_names.map(Channel::named),
                times: times.map(Times::from_written),
                ..Dataset::new("x", SeriesSet::from_lengths(values, &lengths, channels).unwrap())
            };
            // Readers do the same.
            dataset.sort_by_time();
            Dataset { notes: Vec::new(), ..dataset }
        })
    })
}

/// `.arff` takes a last step that is all missing for padding.
fn fill_last_steps(dataset: &mut Dataset) {
    let (channels, lengths): (usize, Vec<usize>) =
        (dataset.series.channels(), dataset.series.lengths().collect());
    let mut end = 0;
    for length in lengths {
        end += length * channels;
        let last = &mut dataset.series.values_mut()[end - 1];
        if last.is_nan() {
            *last = -0.0;
        }
    }
}

/// Enough for every day; `tools/fuzz` asks for more.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(128)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn made_up_data_go_through_every_format_in_turn(mut start in dataset(BARE)) {
        fill_last_steps(&mut start);
        let mut now = start.clone();
        for (extension, options) in &WAYS {
            now = there_and_back(&now, extension, options);
            assert_same(&now, &start, extension);
        }
    }

    #[test]
    fn npz_holds_everything(start in dataset(Texts {
        label: "\\PC{0,6}", case: Some("\\PC{0,6}"), channel: Some("\\PC{0,6}"), time: Some("\\PC{0,4}"),
    })) {
        assert_same(&there_and_back(&start, "npz", &LONG), &start, "npz");
    }

    #[test]
    fn csv_holds_names_with_commas_quotes_and_line_ends(start in dataset(Texts {
        label: NAMED, case: Some(NAMED), channel: Some(NAMED), time: Some(NAMED),
    })) {
        assert_same(&there_and_back(&start, "csv", &LONG), &start, "long");
    }

    #[test]
    fn wide_csv_holds_all_but_times(start in dataset(Texts {
        label: NAMED, case: Some(NAMED), channel: Some("[a-z_][a-z_\n,]{0,3}[a-z]_?"), time: None,
    })) {
        assert_same(&there_and_back(&start, "csv", &WIDE), &start, "wide");
    }

    #[test]
    fn arff_holds_any_label(mut start in dataset(Texts { label: "(\\PC|[\n\r\t\\\\'\"]){0,6}", ..BARE })) {
        fill_last_steps(&mut start);
        assert_same(&there_and_back(&start, "arff", &LONG), &start, "arff");
    }

    #[test]
    fn ts_holds_times(start in dataset(Texts { time: Some("[0-9:-]{1,5}( [0-9:]{1,5})?"), ..BARE })) {
        assert_same(&there_and_back(&start, "ts", &LONG), &start, "ts");
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_every_way(&bytes);
        read_every_way(&[b"@data\n".as_slice(), &bytes].concat());
        read_every_way(&[b"\x93NUMPY\x01\0".as_slice(), &bytes].concat());
        read_every_way(&[b"PK\x03\x04".as_slice(), &bytes].concat());
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in "[@(){}a-c,:;?'\"\\\\ \n\t0-2._-]{0,80}") {
        read_every_way(text.as_bytes());
        read_every_way(format!("@classLabel true a\n@data\n{text}").as_bytes());
        read_every_way(format!("@attribute a relational\n@end a\n@attribute c \
                                {{a}}\n@data\n{text}").as_bytes());
        read_every_way(format!("case,time,a\n{text}").as_bytes());
    }

    #[test]
    fn damaged_files_do_not_make_a_reader_panic(
        start in dataset(BARE),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        for (i, (extension, options)) in WAYS.iter().enumerate() {
            let path = folder.path().join(format!("{i}.{extension}"));
            let Ok(_) = write(&start, &path, options) else { continue };
            let mut bytes = std::fs::read(&path).unwrap();
            for (at, byte) in &damage {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            read_every_way(&bytes);
        }
    }
}

fn read_every_way(bytes: &[u8]) {
    for format in Format::ALL {
        for csv_layout in [CsvLayout::Auto, CsvLayout::Wide, CsvLayout::Long, CsvLayout::Recording] {
            if format == Format::Csv || csv_layout == CsvLayout::Auto {
                // Either outcome is fine; only a panic is not.
                let _ = read_bytes(
                    Path::new("x"),
                    bytes,
                    format,
                    &ReadOptions::default().with_csv_layout(csv_layout),
                );
            }
        }
    }
}
