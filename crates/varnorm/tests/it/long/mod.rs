//! Models of one long recording.

mod oracle;
mod streams;

use varnorm::Run;
use varnorm::long::{LongCalibration, LongDetector, LongSettings, Recording, Window};

/// Seeded noise and waves of some channels.
pub fn log(rows: usize, channels: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut noise = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let wave = |t: usize, c: usize| (t as f64 * 0.21 + c as f64).sin() * (1.0 + c as f64);
    (0..rows * channels).map(|i| wave(i / channels, i % channels) + 0.6 * noise() + 3.0).collect()
}

#[test]
fn scores_are_those_of_plain_loops() {
    let (channels, window) = (3, 5);
    let (train, mut test) = (log(80, channels, 1), log(60, channels, 2));
    test[3 * 30] += 4.0;
    test[3 * 44 + 1] = f64::NAN;
    for stride in [1, 2, 3, 5] {
        let settings = LongSettings::default()
            .with_window(Window::Steps(window))
            .with_stride(stride)
            .with_calibration(LongCalibration::None);
        let train = Recording::new(&train, channels).unwrap().with_breaks(&[33]).unwrap();
        let test = Recording::new(&test, channels).unwrap().with_breaks(&[12, 15, 20]).unwrap();
        let detector = LongDetector::fit(&train, &settings, &Run::sequential()).unwrap();
        let found = detector.score(&test, &Run::sequential()).unwrap();
        let naive = oracle::Naive::fit(&train, &[0..33, 33..80], window);
        let segments = [0..12, 12..15, 15..20, 20..44, 45..60];
        let (settled, causal) = naive.score(&test, &segments, stride);
        for row in 0..60 {
            for (found, naive) in [(found.settled[row], settled[row]), (found.causal[row], causal[row])] {
                let same = (found.is_nan() && naive.is_nan()) || (found - naive).abs() < 1e-9 * naive;
                assert!(same, "stride {stride}, row {row}: {found} {naive}");
            }
        }
        assert!(found.settled[12..15].iter().all(|score| score.is_nan()), "a segment shorter than a window");
        assert!(found.settled[15..44].iter().all(|score| score.is_finite()));
    }
}

#[test]
fn both_ways_to_whiten_agree() {
    // The same windows with every value 200 times over, and each of them smaller: more features than are factorised.
    let (few, many) = (log(300, 1, 3), 200);
    let wide: Vec<f64> = few.iter().flat_map(|v| std::iter::repeat_n(*v, many)).collect();
    let settings = LongSettings::default()
        .with_window(Window::Steps(12))
        .with_kernel("flat_linear".parse().unwrap())
        .with_calibration(LongCalibration::None);
    let run = Run::sequential();
    let score = |values: &[f64], channels: usize, alpha: f64| {
        let recording = Recording::new(values, channels).unwrap();
        let detector = LongDetector::fit(&recording, &settings.clone().with_alpha(alpha), &run).unwrap();
        let mut other = values.to_vec();
        other[150 * channels..153 * channels].fill(7.0);
        detector.score(&Recording::new(&other, channels).unwrap(), &run).unwrap().settled
    };
    // A copy has the same share of the trace: alpha relative to the mean eigenvalue is 1/200, as is that of one channel to its sum.
    let (one, copies) = (score(&few, 1, 0.1), score(&wide, many, 0.1 * many as f64));
    assert!(one[140..160].iter().all(|score| *score > 0.5));
    for (a, b) in one.iter().zip(&copies) {
        // A window of the corpus itself is at a distance of rounding: the part outside of the span is a difference.
        assert!((a - b).abs() < 1e-5 * a.max(1.0), "{a} {b}");
    }
}

#[test]
fn what_is_novel_stands_out_and_bits_do_not_depend_on_threads() {
    for channels in [1, 4] {
        let (train, mut test) = (log(3000, channels, 5), log(1500, channels, 6));
        test[700 * channels..720 * channels].iter_mut().for_each(|v| *v = 3.0);
        let train = Recording::new(&train, channels).unwrap();
        let test = Recording::new(&test, channels).unwrap();
        let settings = LongSettings::default().with_most_windows(200);
        let one = LongDetector::fit(&train, &settings, &Run::sequential()).unwrap();
        let run = Run::with_threads(3).unwrap();
        let three = LongDetector::fit(&train, &settings, &run).unwrap();
        let scores = one.score(&test, &Run::sequential()).unwrap();
        let again = three.score(&test, &run).unwrap();
        let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&scores.settled), bits(&again.settled));
        assert_eq!(bits(&scores.causal), bits(&again.causal));
        let top = (0..1500).max_by(|a, b| scores.settled[*a].total_cmp(&scores.settled[*b])).unwrap();
        assert!((680..740).contains(&top), "{channels}: {top}");
        let promise = one.promise(Default::default()).expect("46 blocks");
        assert!(scores.settled[top] > promise.threshold);
        assert!(promise.in_words().starts_with("at most one false alarm in "), "{}", promise.in_words());
    }
}

#[test]
fn too_little_data_is_refused_with_what_is_needed() {
    let (values, run) = (log(400, 2, 1), Run::sequential());
    let recording = Recording::new(&values, 2).unwrap();
    let few = LongSettings::default().with_most_windows(100);
    let auto = LongDetector::fit(&recording, &few, &run).unwrap();
    assert!(auto.promise(Default::default()).is_none());
    let warning = auto.warning().unwrap();
    assert!(
        warning.contains("19 normal blocks of 128 steps, 2432 steps in all, and there are "),
        "{warning}"
    );
    assert!(auto.normal_scores(Default::default()).len() < 400);
    let blocks = few.with_calibration(LongCalibration::Blocks);
    assert!(LongDetector::fit(&recording, &blocks, &run).unwrap_err().to_string().contains("2432 steps"));
    let long = LongSettings::default().with_window(Window::Steps(500));
    let error = LongDetector::fit(&recording, &long, &run).unwrap_err().to_string();
    assert!(error.contains("longest stretch without a gap has 400 rows"), "{error}");
    let mut bad = values.clone();
    bad[7] = f64::INFINITY;
    let error =
        LongDetector::fit(&Recording::new(&bad, 2).unwrap(), &LongSettings::default(), &run).unwrap_err();
    assert!(error.to_string().contains("step 3, channel 1"), "{error}");
    let other = Recording::new(&values, 4).unwrap();
    assert!(auto.score(&other, &run).unwrap_err().to_string().contains("4 channels where 2 are expected"));
}
