//! Vectors of a program's own in, p-values out: `cargo run -p varnorm --example own_vectors`.

use varnorm::{Findings, Result, Run, SeriesSet, Settings};

const COLUMNS: usize = 3;

/// Made-up readings of a machine: temperature, pressure that follows it, and speed.
fn readings(count: usize) -> Vec<[f64; COLUMNS]> {
    let wave = |i: usize, factor: f64| (factor * i as f64).sin();
    (0..count)
        .map(|i| [20.0 + 5.0 * wave(i, 0.7), 1.0 + 0.2 * wave(i, 0.7), 300.0 + 9.0 * wave(i, 1.3)])
        .collect()
}

/// A vector is a series of one step; `from_equal(values, steps, channels)` takes longer ones just as well.
fn series(vectors: &[[f64; COLUMNS]]) -> Result<SeriesSet> {
    SeriesSet::from_equal(vectors.as_flattened().to_vec(), 1, COLUMNS)
}

/// Fits on normal vectors and scores two new ones.
pub fn findings() -> Result<Findings> {
    let run = Run::with_threads(0)?;
    // How values are spread and how they go together is learnt from normal vectors.
    let settings = Settings::default().with_kernel("flat_linear".parse()?);
    let detector = settings.fit(&series(&readings(200))?, &run)?;
    // Each value of the second is normal by itself; hot at low pressure is not.
    detector.score(&series(&[[22.0, 1.08, 301.0], [24.5, 0.82, 300.0]])?, &run)
}

/// Prints what was found.
pub fn main() -> Result<()> {
    let found = findings()?;
    for finding in &found.findings {
        let p = finding.p_value.unwrap_or(f64::NAN);
        let word = if finding.novel == Some(true) { "NOVEL" } else { "normal" };
        println!("vector {}: score {:.2}, p = {p:.3}, {word}", finding.series, finding.score);
    }
    Ok(())
}
