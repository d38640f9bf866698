//! The rate of normal blocks with an alarm is the one that is promised.

use varnorm::Run;
use varnorm::long::{LongCalibration, LongDetector, LongSettings, PointScore, Recording, Window};

use super::kinds::{KINDS, series};

/// Shares of blocks with an alarm, one per repetition: of normal rows that follow the ones that the model was fitted on.
fn rates(kind: &str, repetitions: u64, blocks: usize, settings: &LongSettings) -> (f64, f64, f64) {
    let block = settings.block.unwrap();
    let run = Run::sequential();
    let mut promised = 0.0;
    let rates: Vec<f64> = (0..repetitions)
        .map(|repetition| {
            let all = series(kind, 2 * blocks * block, 1000 + repetition);
            let (train, test) = all.split_at(blocks * block);
            let detector = LongDetector::fit(&Recording::new(train, 1).unwrap(), settings, &run).unwrap();
            let promise = detector.promise(PointScore::Settled).unwrap();
            promised = promise.rate;
            let scores = detector.score_points(&Recording::new(test, 1).unwrap(), &run).unwrap();
            let alarms =
                scores.chunks_exact(block).filter(|b| b.iter().any(|score| *score > promise.threshold));
            alarms.count() as f64 / blocks as f64
        })
        .collect();
    let n = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / n;
    let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt(), promised)
}

#[test]
fn blocks_have_false_alarms_at_the_promised_rate() {
    let settings = LongSettings::default()
        .with_window(Window::Steps(16))
        .with_stride(2)
        .with_block(64)
        .with_kernel("flat_linear".parse().unwrap())
        .with_most_windows(300)
        .with_calibration(LongCalibration::Blocks);
    for kind in KINDS {
        let (rate, error, promised) = rates(kind, 24, 40, &settings);
        assert!(
            (rate - promised).abs() <= 2.0 * error,
            "{kind}: {rate:.4} of {promised:.4}, standard error {error:.4}"
        );
    }
}
