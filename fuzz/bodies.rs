//! What the fuzz targets do with their bytes. `varnorm-cli/tests/program/fuzz.rs` compiles and runs the same functions, so
//! that they follow the library.

use std::path::Path;

use varnorm::calibrate::Calibration;
use varnorm::data::{CsvLayout, Format, ReadLimits, ReadOptions, read_bytes_within};
use varnorm::detector::Space;
use varnorm::{Detector, Kernel, Preparation, Run, SeriesSet, Settings};

/// Every format, and every layout of CSV; `Auto` tells it from the header.
const READERS: [(Format, CsvLayout); 8] = [
    (Format::Ts, CsvLayout::Auto),
    (Format::Arff, CsvLayout::Auto),
    (Format::Npy, CsvLayout::Auto),
    (Format::Npz, CsvLayout::Auto),
    (Format::Csv, CsvLayout::Auto),
    (Format::Csv, CsvLayout::Wide),
    (Format::Csv, CsvLayout::Long),
    (Format::Csv, CsvLayout::Recording),
];

/// The first byte chooses the reader, the rest is the file. What is read is within the limits.
pub fn readers(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else { return };
    let (format, layout) = READERS[usize::from(*first) % READERS.len()];
    let options = ReadOptions::default().with_csv_layout(layout);
    let limits = ReadLimits { series: 1000, steps: 10_000, channels: 500, bytes: 16 << 20, cancel: None };
    if let Ok(read) = read_bytes_within(Path::new("fuzz"), bytes, format, &options, &limits) {
        assert!(read.series.len() <= limits.series && read.series.channels() <= limits.channels);
        assert!(read.series.lengths().all(|steps| steps <= limits.steps));
    }
}

/// The bytes are a model file; one that is read scores a series. (Its checksum stops nearly all of them: `tools/attack`
/// changes models with a right checksum.)
pub fn model(data: &[u8]) {
    let (Ok(detector), Ok(run)) = (Detector::from_bytes(data), Run::with_threads(1)) else { return };
    let channels = 2;
    if let Ok(series) = SeriesSet::from_equal(vec![0.5; 20 * channels], 20, channels) {
        let _ = detector.score(&series, &run);
    }
}

/// The bytes are words of settings, or settings as JSON. What is read prints as what reads the same again.
pub fn words(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = serde_json::from_str::<Settings>(text);
    let _ = text.parse::<Calibration>();
    let _ = text.parse::<Space>();
    // What a kernel has learned stands in JSON only.
    if let Ok(kernel) = text.parse::<Kernel>()
        && !text.contains('{')
    {
        assert_eq!(kernel.to_string().parse::<Kernel>().ok(), Some(kernel));
    }
    if let Ok(steps) = text.parse::<Preparation>() {
        assert_eq!(steps.to_string().parse::<Preparation>().ok(), Some(steps));
    }
}
