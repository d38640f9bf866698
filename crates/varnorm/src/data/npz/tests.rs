use std::io::{Cursor, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::header;
use crate::Dataset;
use crate::data::{LabelKind, ReadLimits};
use crate::error::Result;

fn within(bytes: u64) -> ReadLimits {
    ReadLimits { bytes: bytes as usize, ..ReadLimits::default() }
}

fn read_npy(path: &Path, bytes: &[u8]) -> Result<Dataset> {
    super::read_npy(path, bytes, &ReadLimits::default())
}

fn read_npz(path: &Path, bytes: &[u8]) -> Result<Dataset> {
    super::read_npz(path, bytes, &ReadLimits::default())
}

#[test]
fn a_stranger_s_file_unpacks_to_so_many_bytes_at_most() {
    let bytes = npz(&[("X", floats(&[2, 3]))]);
    let array = floats(&[2, 3]).len() as u64;
    assert_eq!(super::read_npz(Path::new("x.npz"), &bytes, &within(array)).unwrap().series.len(), 2);
    let error = super::read_npz(Path::new("x.npz"), &bytes, &within(array - 1)).unwrap_err().to_string();
    assert!(error.contains("more bytes of memory"), "{error}");
}

#[test]
fn an_entry_that_claims_more_than_it_can_hold_is_refused() {
    let mut bytes = npz(&[("X", floats(&[2, 3]))]);
    // The size once unpacked stands 24 bytes into the entry of the central directory.
    let at = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap() + 24;
    bytes[at..at + 4].copy_from_slice(&0xffff_fff0_u32.to_le_bytes());
    let error = read_npz(Path::new("x.npz"), &bytes).unwrap_err().to_string();
    assert_eq!(
        error,
        "x.npz: array `X` claims to be far larger than the file, or than may be \
         unpacked; save it in smaller pieces"
    );
}

fn npy(descr: &str, shape: &[usize], values: &[u8]) -> Vec<u8> {
    [header::npy_header(descr, shape), values.to_vec()].concat()
}

fn floats(shape: &[usize]) -> Vec<u8> {
    let count: usize = shape.iter().product();
    npy("<f8", shape, &(0..count).flat_map(|i| (i as f64).to_le_bytes()).collect::<Vec<_>>())
}

fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        zip.start_file(format!("{name}.npy"), options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn ok(bytes: &[u8]) -> Dataset {
    read_npy(Path::new("x.npy"), bytes).unwrap()
}

#[test]
fn headers_are_as_numpy_writes_them() {
    let bytes = header::npy_header("<f8", &[3]);
    assert_eq!(bytes.len() % 64, 0);
    assert!(
        bytes.starts_with(b"\x93NUMPY\x01\0\x76\0{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }")
    );
    assert!(String::from_utf8_lossy(&header::npy_header("<U1", &[])).contains("'shape': (), }"));
    assert!(String::from_utf8_lossy(&header::npy_header("<U1", &[2, 3])).contains("'shape': (2, 3), }"));
}

#[test]
fn every_number_type_and_order() {
    let expected = [1.0, 2.0, 3.0, 4.0, 5.0, 250.0];
    let as_bytes = |each: &dyn Fn(f64) -> Vec<u8>| expected.iter().flat_map(|&v| each(v)).collect::<Vec<_>>();
    for (descr, bytes) in [
        ("<f8", as_bytes(&|v| v.to_le_bytes().to_vec())),
        (">f8", as_bytes(&|v| v.to_be_bytes().to_vec())),
        ("<f4", as_bytes(&|v| (v as f32).to_le_bytes().to_vec())),
        (">i8", as_bytes(&|v| (v as i64).to_be_bytes().to_vec())),
        ("<i2", as_bytes(&|v| (v as i16).to_le_bytes().to_vec())),
        ("|u1", as_bytes(&|v| vec![v as u8])),
    ] {
        let d = ok(&npy(descr, &[1, 3, 2], &bytes));
        assert_eq!((d.series.values(), d.series.channels()), (&expected[..], 2), "{descr}");
    }
    assert_eq!(ok(&npy("|i1", &[1, 2], &[255, 1])).series.values(), [-1.0, 1.0]);
    assert_eq!(ok(&npy("|b1", &[1, 2], &[0, 1])).series.values(), [0.0, 1.0]);
    let fortran = npy("|u1", &[2, 3, 2], &[0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11]);
    let at = fortran.windows(5).position(|w| w == b"False").unwrap();
    let fortran = [&fortran[..at], b"True ", &fortran[at + 5..]].concat();
    assert_eq!(ok(&fortran).series.values(), (0..12).map(f64::from).collect::<Vec<_>>());
}

#[test]
fn labels_of_every_type() {
    let labels = |y: Vec<u8>| {
        let bytes = npz(&[("X", floats(&[2, 3, 1])), ("y", y)]);
        let labels = read_npz(Path::new("x.npz"), &bytes).unwrap().labels.unwrap();
        (labels.kind, labels.values.join("|"))
    };
    assert_eq!(labels(npy("|S2", &[2], b"a\0bc")), (LabelKind::Class, "a|bc".into()));
    assert_eq!(labels(npy(">U1", &[2], b"\0\0\0a\0\0\x01\x00")), (LabelKind::Class, "a|\u{100}".into()));
    assert_eq!(labels(npy("|i1", &[2, 1], &[255, 1])), (LabelKind::Class, "-1|1".into()));
    assert_eq!(labels(npy("|b1", &[2], &[0, 1])), (LabelKind::Class, "False|True".into()));
    assert_eq!(labels(floats(&[2])), (LabelKind::Target, "0.0|1.0".into()));
}

#[test]
fn the_only_array_will_do_and_lengths_cut() {
    let d = read_npz(Path::new("x.npz"), &npz(&[("arr_0", floats(&[2, 3]))])).unwrap();
    assert_eq!((d.series.equal_length(), d.name.as_str()), (Some(3), "x"));
    let d =
        read_npz(Path::new("x.npz"), &npz(&[("X", floats(&[2, 3])), ("lengths", npy("|u1", &[2], &[1, 3]))]));
    assert_eq!(d.unwrap().series.values(), [0.0, 3.0, 4.0, 5.0]);
}

#[test]
fn malformed_arrays_are_explained() {
    let damaged = "which does not fit the 8 bytes of values that follow; the file is damaged, save it again";
    let huge = npy("<f8", &[usize::MAX, usize::MAX, 2], &[0; 8]);
    let reader = |text: &str| {
        let mut bytes = b"\x93NUMPY\x01\0".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        [bytes, text.as_bytes().to_vec()].concat()
    };
    let table: Vec<(Vec<u8>, String)> =
        vec![
        (
            b"1,2,3".to_vec(),
            "this is no .npy array: it does not start with the bytes of one; save it with numpy.save".into(),
        ),
        (b"\x93NUMPY\x01".to_vec(), "the .npy header is cut off; save the array again".into()),
        (b"\x93NUMPY\x02\0\xff\xff\xff\xff".to_vec(), "the .npy header is cut off; save the array \
                                                       again".into()),
        (b"\x93NUMPY\x09\0\0\0".to_vec(), "the .npy version 9 is unknown; save the array with \
                                           numpy.save".into()),
        (reader("{}"), "the .npy header `{}` is not understood; save the array with numpy.save".into()),
        (
            npy("|O", &[2], b""),
            "values of the type `|O` are not supported; save texts with .astype(str) and numbers with \
             .astype(float)"
                .into(),
        ),
        (
            npy("<c16", &[2], b""),
            "values of the type `<c16` are not supported; save numbers as float64 and texts with \
             .astype(str)".into(),
        ),
        (
            reader("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}"),
            "the array has fields (a record array); save a plain array of numbers".into(),
        ),
        (huge, format!("the header promises an array of shape [{0}, {0}, 2], {damaged}", usize::MAX)),
        (npy("<f8", &[2, 1], &[0; 8]), format!("the header promises an array of shape [2, 1], {damaged}")),
        (
            npy("<f8", &[1], &[0; 8]),
            "the array has 1 axis where 3 (series x steps x channels) or 2 (series x steps) are expected; \
             reshape it"
                .into(),
        ),
        (
            npy("<f8", &[0, 4], &[]),
            "the array is empty (shape [0, 4]); give at least one series of one step".into(),
        ),
        (
            npy("|S1", &[1, 2], b"ab"),
            "texts where numbers are expected; save the array with .astype(float)".into(),
        ),
    ];
    for (bytes, expected) in table {
        let error = read_npy(Path::new("x.npy"), &bytes).unwrap_err();
        assert_eq!(error.to_string(), format!("x.npy: {expected}"));
    }
}

#[test]
fn malformed_archives_are_explained() {
    let x = || ("X", floats(&[2, 3, 1]));
    type Arrays = Vec<(&'static str, Vec<u8>)>;
    let table: Vec<(Arrays, &str)> = vec![
        (vec![], "the file holds no arrays; save one as `X`"),
        (
            vec![("b", floats(&[1, 1])), ("a", floats(&[1, 1]))],
            "there is no array `X` among a, b; save the series as `X`",
        ),
        (
            vec![("X", floats(&[1, 1, 1, 1]))],
            "array `X`: the array has 4 axes where 3 (series x steps x channels) or 2 (series x steps) are \
             expected; \
             reshape it",
        ),
        (
            vec![x(), ("y", floats(&[3]))],
            "array `y` has 3 values where `X` asks for 2; save it in the shape that belongs to `X`",
        ),
        (
            vec![x(), ("lengths", npy("|u1", &[2], &[1, 4]))],
            "array `lengths`: 4 is not between 1 and the 3 steps of `X`",
        ),
        (
            vec![x(), ("lengths", npy("<f4", &[2], &[0, 0, 0, 63, 0, 0, 0, 63]))],
            "array `lengths`: every value must be a whole number of zero or more",
        ),
        (
            vec![x(), ("y", floats(&[2])), ("label_kind", npy("|S1", &[], b"z"))],
            "array `label_kind`: `z` is neither `class` nor `target`",
        ),
        (
            vec![x(), ("case_names", npy("<U1", &[2], &[255; 8]))],
            "array `case_names`: a text holds a code that is no letter; the file is damaged, save it again",
        ),
    ];
    for (arrays, expected) in table {
        let error = read_npz(Path::new("x.npz"), &npz(&arrays)).unwrap_err();
        assert_eq!(error.to_string(), format!("x.npz: {expected}"));
    }
    let error = read_npz(Path::new("x.npz"), b"no zip").unwrap_err().to_string();
    assert_eq!(
        error,
        "x.npz: not a readable .npz (zip) file: invalid Zip archive: Could not find EOCD; save it again \
         with numpy.savez"
    );
}
