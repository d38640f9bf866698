//! How long in-corpus scores take: `cargo bench -p varnorm --bench leave_one_out -- 1000`.

#[path = "common/arguments.rs"]
mod arguments;

use std::time::Instant;

use varnorm::gram::{Scaling, gram};
use varnorm::law::Gaussian;
use varnorm::score::leave_one_out;
use varnorm::{Distance, Kernel, Measure, Norm, Rank, Result, Run, SeriesSet};

fn main() -> Result<()> {
    let Some(arguments) = arguments::arguments() else { return Ok(()) };
    let count = arguments.first().and_then(|n| n.parse().ok()).unwrap_or(1000);
    let run = Run::with_threads(2)?;
    let law = Gaussian::new((1..=50).map(|j| 1.0 / f64::from(j)).collect())?;
    let series = SeriesSet::from_equal(law.draw(count, 1).into_values(), 10, 5)?;
    let kernel = Kernel::default().resolve(&series)?;
    let gram = gram(&kernel, &series, Scaling::Normalized, &run)?;
    for (what, norm, alpha, rank) in [
        ("envelope, alpha 0.1", Norm::Envelope, 0.1, Rank::default()),
        ("tikhonov, alpha 0.1", Norm::Tikhonov, 0.1, Rank::default()),
        ("envelope, alpha 0.1, rank 50", Norm::Envelope, 0.1, Rank::at_most(50)),
        ("exact", Norm::Exact, 0.0, Rank::default()),
    ] {
        let start = Instant::now();
        let measure = Measure { norm, alpha, distance: Distance::default() };
        let found = leave_one_out(&gram, rank, measure, &run)?;
        let mean = found.values.iter().sum::<f64>() / count as f64;
        println!(
            "{count} series, {what}: {:.2} s on 2 threads (mean score {mean:.4})",
            start.elapsed().as_secs_f64()
        );
    }
    Ok(())
}
