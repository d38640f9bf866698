//! Fit once, save, and score in another process: `cargo run -p varnorm --example save_and_load`.

use std::path::Path;

use varnorm::calibrate::Decision;
use varnorm::data::basic_motions;
use varnorm::{Detector, Findings, Result, Run, Settings};

/// What the process that trains does.
pub fn train(model: &Path, run: &Run) -> Result<Findings> {
    let motions = basic_motions()?;
    let normal = motions.train.select(&motions.train.with_label("Walking")?);
    // Ten normal series can give no p-value below 1/11.
    let settings = Settings::one_view().with_level(0.1).with_decision(Decision::Each);
    let detector = settings.fit(&normal.series, run)?;
    // Written beside its place and renamed: nobody ever sees half a model.
    detector.save(model)?;
    detector.score(&motions.test.series, run)
}

/// What the process that watches does. A file that was damaged or cut off is an error that says so.
pub fn watch(model: &Path, run: &Run) -> Result<Findings> {
    Detector::load(model)?.score(&basic_motions()?.test.series, run)
}

/// Prints that both found the same.
pub fn main() -> Result<()> {
    let model = std::env::temp_dir().join(format!("walking-{}.model", std::process::id()));
    let run = Run::with_threads(0)?;
    let before = train(&model, &run)?;
    let after = watch(&model, &run)?;
    // Exactly the same scores, on any number of threads.
    println!("{} series, {} flagged as not walking", after.len(), after.flagged());
    println!("scores before and after the file are the same: {}", before == after);
    // A model left in the folder for temporary files does no harm.
    std::fs::remove_file(&model).ok();
    Ok(())
}
