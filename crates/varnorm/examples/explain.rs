//! Why a series is flagged: where, in which channel, and next to what. `cargo run -p varnorm --example explain`.

use varnorm::data::basic_motions;
use varnorm::detector::Explanation;
use varnorm::{Result, Run, SeriesSet, Settings};

const STRETCHES: usize = 5;

/// A walk in which the fourth channel is stuck for a fifth of the time.
fn stuck(mut walk: SeriesSet) -> SeriesSet {
    let (channels, steps) = (walk.channels(), walk.series(0).steps());
    for step in 2 * steps / 5..3 * steps / 5 {
        walk.values_mut()[step * channels + 3] = 8.0;
    }
    walk
}

/// Fits on walks and explains the score of one that went wrong.
pub fn explanation() -> Result<Explanation> {
    let run = Run::with_threads(0)?;
    let motions = basic_motions()?;
    let normal = motions.train.select(&motions.train.with_label("Walking")?);
    let detector = Settings::one_view().fit(&normal.series, &run)?;
    let walks = motions.test.select(&motions.test.with_label("Walking")?);
    detector.explain(&stuck(walks.series.select(&[0])), 0, STRETCHES, &run)
}

/// Prints what adds most to the score.
pub fn main() -> Result<()> {
    let found = explanation()?;
    println!("score {:.2}; the nearest normal series is number {}", found.score, found.nearest);
    for (channel, part) in found.channels.iter().enumerate() {
        println!("channel {channel} adds {:6.2} to the score", part.adds);
    }
    for part in &found.segments {
        println!("steps {} to {} add {:6.2}", part.first_step, part.end_step - 1, part.adds);
    }
    if let Some(most) = found.differences.first() {
        let share = 100.0 * most.share;
        println!(
            "{share:.0} % of the difference is in channel {} from step {}",
            most.channel, most.first_step
        );
    }
    Ok(())
}
