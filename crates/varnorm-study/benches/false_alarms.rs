//! The table of `docs/thresholds.md`: observed false-alarm rates of every threshold kind.
//!
//! `cargo bench -p varnorm-study --bench false_alarms` prints it; some minutes on two cores.

#[path = "../../varnorm/benches/common/arguments.rs"]
mod arguments;

use varnorm::{Result, Run};
use varnorm_study::theory::false_alarms::{Cell, KINDS, LEVELS, Plan, false_alarms};

fn main() -> Result<()> {
    if arguments::arguments().is_none() {
        return Ok(());
    }
    let run = Run::with_threads(0)?;
    let mut cells: Vec<Cell> = Vec::new();
    for dimension in [3, 30, 300] {
        for (corpus, trials, fresh) in [(50, 400, 100), (200, 60, 200), (1000, 4, 1000)] {
            cells.extend(false_alarms(Plan { dimension, corpus, trials, fresh }, &run)?);
        }
    }
    for level in LEVELS {
        println!("\nLevel {level}:\n");
        println!(
            "| effective dimension | N | {} |",
            KINDS.map(|k| k.split(':').next().unwrap_or(k)).join(" | ")
        );
        println!("|---|---|{}", "---|".repeat(KINDS.len()));
        let rows = cells.iter().filter(|c| c.kind == KINDS[0] && c.level == level);
        for row in rows {
            let same = |c: &&Cell| c.dimension == row.dimension && c.corpus == row.corpus && c.level == level;
            let told: Vec<String> = cells
                .iter()
                .filter(same)
                .map(|c| {
                    format!("{:.2} ± {:.2} ({:.2})", 100.0 * c.observed, 100.0 * c.error, 100.0 * c.target)
                })
                .collect();
            println!("| {} | {} | {} |", row.dimension, row.corpus, told.join(" | "));
        }
    }
    Ok(())
}
