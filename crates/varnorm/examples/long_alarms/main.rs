//! How often blocks of normal data have an alarm, against what was promised: five kinds of series, two levels.
//!
//! ```text
//! cargo run --release --example long_alarms            # the whole table
//! cargo run --release --example long_alarms -- 5       # fewer repetitions
//! ```

mod kinds;

use varnorm::long::{LongCalibration, LongDetector, LongSettings, PointScore, Recording, Window};
use varnorm::{Result, Run};

/// Steps of a window; a block has four windows.
const WINDOW: usize = 16;
const BLOCK: usize = 4 * WINDOW;

fn main() -> Result<()> {
    let repetitions = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(40);
    let run = Run::with_threads(0)?;
    println!("| series | promised | blocks with an alarm | standard error | within two |");
    println!("|---|---|---|---|---|");
    for kind in kinds::KINDS {
        for (level, blocks) in [(0.05, 59), (0.01, 199)] {
            let mut rates = Vec::new();
            let mut promised = level;
            for repetition in 0..repetitions {
                let (rate, of) = one(kind, level, blocks, repetition, &run)?;
                rates.push(rate);
                promised = of;
            }
            let n = rates.len() as f64;
            let mean = rates.iter().sum::<f64>() / n;
            let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
            let error = (variance / n).sqrt();
            let within = if (mean - promised).abs() <= 2.0 * error { "yes" } else { "no" };
            println!(
                "| {kind} | {:.2} % | {:.2} % | {:.2} % | {within} |",
                100.0 * promised,
                100.0 * mean,
                100.0 * error
            );
        }
    }
    Ok(())
}

/// The share of 200 normal blocks that have an alarm, and the share that was promised.
fn one(kind: &str, level: f64, blocks: usize, repetition: u64, run: &Run) -> Result<(f64, f64)> {
    let all = kinds::series(kind, (blocks + 200) * BLOCK, 7000 + repetition);
    let (train, test) = all.split_at(blocks * BLOCK);
    let settings = LongSettings::default()
        .with_window(Window::Steps(WINDOW))
        .with_level(level)
        .with_calibration(LongCalibration::Blocks);
    let detector = LongDetector::fit(&Recording::new(train, 1)?, &settings, run)?;
    let Some(promise) = detector.promise(PointScore::Settled) else { return Ok((f64::NAN, level)) };
    let scores = detector.score_points(&Recording::new(test, 1)?, run)?;
    let alarms = scores
        .chunks_exact(BLOCK)
        .filter(|block| block.iter().any(|score| *score > promise.threshold))
        .count();
    Ok((alarms as f64 / 200.0, promise.rate))
}
