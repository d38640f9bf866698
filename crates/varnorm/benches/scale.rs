//! How fits with landmarks grow with the corpus: `cargo bench -p varnorm --bench scale -- ../../docs/scale.svg`; and how
//! long all pairs of 4096 series take: `.. --bench scale -- exact`.
//!
//! Series of 50 x 3 (noisy sines of random phase), 1e3, 1e4 and 1e5 of them; 256 landmarks, two threads. Queries are a
//! thousand more, a tenth of them with a faster wave on top.

#[path = "common/arguments.rs"]
mod arguments;

use std::path::Path;
use std::time::Instant;

use varnorm::detector::Space;
use varnorm::gram::gram;
use varnorm::internal::Ranker;
use varnorm::internal::plot::{Axis, Curve, Plot, Style};
use varnorm::law::Gaussian;
use varnorm::{Kernel, Rank, Result, Run, SeriesSet, Settings, Spectrum};

const STEPS: usize = 50;
const CHANNELS: usize = 3;
const LANDMARKS: usize = 256;
const QUERIES: usize = 1000;

fn main() -> Result<()> {
    let Some(arguments) = arguments::arguments() else { return Ok(()) };
    let picture = arguments.first();
    let run = Run::with_threads(2)?;
    if picture.is_some_and(|word| word == "exact") {
        return exact(4096, &run);
    }
    let mut plot = Plot::new("256 landmarks, two threads", Axis::log("series"), Axis::log("seconds to fit"));
    println!("| kernel | series | fit | peak memory | score {QUERIES} | ROC-AUC | flagged | false alarms |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for kernel in ["gak", "sig:level=4,lift=rbf"] {
        let mut points = Vec::new();
        for count in [1_000, 10_000, 100_000] {
            points.push((count as f64, measure(kernel, count, &run)?));
        }
        // The slope over the largest decade: small corpora are mostly what does not grow.
        let exponent = (points[2].1 / points[1].1).log10();
        println!("| {kernel} | | grows as N^{exponent:.2} from 1e4 to 1e5 | | | | | |");
        plot = plot.with(Curve::new(format!("{kernel}: N^{exponent:.2}"), Style::LineAndPoints, points));
    }
    if let Some(picture) = picture {
        varnorm::data::write_atomically(Path::new(picture), |out| out.write_all(plot.to_svg().as_bytes()))?;
    }
    Ok(())
}

/// All pairs, 50 eigenpairs: the parts of a fit, and a fit with its calibration.
fn exact(count: usize, run: &Run) -> Result<()> {
    let (corpus, rank) = (waves(count, 1, 0)?, Rank::at_most(50));
    let settings = Settings::default().with_kernel("gak".parse()?).with_rank(rank);
    let (_, prepared) = settings.given()[0].prepare.fit(&corpus)?;
    let kernel = settings.given()[0].kernel.resolve(&prepared)?;
    let start = Instant::now();
    let gram = gram(&kernel, &prepared, settings.given()[0].scaling, run)?;
    println!("{count} series, gak: Gram matrix {:.1} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let spectrum = Spectrum::new(&gram, rank, run)?;
    println!("{} eigenpairs {:.2} s, {}", spectrum.rank(), start.elapsed().as_secs_f64(), peak_memory());
    drop((gram, spectrum));
    let start = Instant::now();
    settings.fit(&corpus, run)?;
    println!("fit with five-fold calibration {:.1} s, {}", start.elapsed().as_secs_f64(), peak_memory());
    Ok(())
}

/// One line of the table; the seconds of the fit.
fn measure(kernel: &str, count: usize, run: &Run) -> Result<f64> {
    let kernel: Kernel = kernel.parse()?;
    let settings = Settings::default().with_kernel(kernel).with_space(Space::landmarks(LANDMARKS));
    let corpus = waves(count, 1, 0)?;
    let start = Instant::now();
    let detector = settings.fit(&corpus, run)?;
    let fit = start.elapsed().as_secs_f64();
    drop(corpus);
    let novel = QUERIES / 10;
    let queries = waves(QUERIES, 2, novel)?;
    let start = Instant::now();
    let found = detector.score(&queries, run)?;
    let score = start.elapsed().as_secs_f64();
    let normal: Vec<bool> = (0..QUERIES).map(|i| i >= novel).collect();
    let area = Ranker::default().separation(&found.scores(), &normal).roc_auc;
    let flagged = |novelty: bool| {
        found.findings.iter().filter(|f| f.novel == Some(true) && (f.series < novel) == novelty).count()
    };
    println!(
        "| {} | {count} | {fit:.1} s | {} | {score:.2} s | {area:.4} | {} of {novel} | {} of {} |",
        settings.given()[0].kernel,
        peak_memory(),
        flagged(true),
        flagged(false),
        QUERIES - novel
    );
    Ok(fit)
}

/// Noisy sines; the first `novel` of them have a faster wave on top.
fn waves(count: usize, seed: u64, novel: usize) -> Result<SeriesSet> {
    let width = STEPS * CHANNELS + 2 * CHANNELS;
    let numbers = Gaussian::new(vec![1.0; width])?.draw(count, seed);
    let mut values = Vec::with_capacity(count * STEPS * CHANNELS);
    for i in 0..count {
        let (noise, own) = numbers.row(i).split_at(STEPS * CHANNELS);
        for step in 0..STEPS {
            let time = std::f64::consts::TAU * step as f64 / STEPS as f64;
            for channel in 0..CHANNELS {
                let (phase, speed) =
                    (10.0 * own[2 * channel], 1.0 + 0.5 * channel as f64 + 0.1 * own[2 * channel + 1]);
                let wave = (speed * time + phase).sin() + 0.2 * noise[step * CHANNELS + channel];
                let fast = if i < novel { 0.7 * (5.0 * time + phase).sin() } else { 0.0 };
                values.push(wave + fast);
            }
        }
    }
    SeriesSet::from_equal(values, STEPS, CHANNELS)
}

/// The most memory that the process has held so far, where the system says it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.map_or("unknown".into(), |kb| format!("{:.0} MB", kb / 1e3))
}
