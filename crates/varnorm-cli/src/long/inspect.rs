//! `varnorm inspect` of a model of one long recording.

use varnorm::long::{LongDetector, PointScore};

use super::fit::promise_in_words;
use crate::args::ReportFormat;
use crate::console::Console;
use crate::failure::Failure;
use crate::{output, table};

/// Prints what a model says about itself.
pub fn inspect(console: &Console, detector: &LongDetector, format: ReportFormat) -> Result<(), Failure> {
    let promise = |score| {
        detector.promise(score).map(|promise| (promise.threshold, promise_in_words(&promise, detector)))
    };
    let (settled, causal) = (promise(PointScore::Settled), promise(PointScore::Causal));
    output::deliver(console, None, |out| match format {
        ReportFormat::Json => {
            let report = serde_json::json!({
                "kind": "model of one long recording",
                "settings": detector.settings(),
                "window": detector.window(),
                "longest_window": detector.longest_window(),
                "stride": detector.stride(),
                "channels": detector.channels(),
                "channel_names": detector.channel_names(),
                "rows": detector.rows(),
                "windows": detector.windows(),
                "block": detector.block(),
                "seconds_per_row": detector.step(),
                "threshold_settled": settled.as_ref().map(|(threshold, _)| threshold),
                "threshold_causal": causal.as_ref().map(|(threshold, _)| threshold),
                "promise": settled.as_ref().map(|(_, words)| words),
                "fingerprint": detector.fingerprint(),
            });
            output::json(out, &report)
        }
        ReportFormat::Table => {
            let names =
                detector.channel_names().map(|names| format!(" ({})", names.join(", "))).unwrap_or_default();
            let members = detector.members();
            let members: Vec<String> =
                members.iter().map(|(kernel, window)| format!("{window} steps, {kernel}")).collect();
            let words = |found: &Option<(f64, String)>| match found {
                Some((threshold, words)) => format!("above {threshold:.4}: {words}"),
                None => "none".into(),
            };
            let facts = [
                ("kind", "varnorm model of one long recording".to_string()),
                ("channels", format!("{}{names}", detector.channels())),
                ("windows", members.join("; ")),
                ("normal", format!("{} windows kept of {} rows", detector.windows(), detector.rows())),
                ("distance", detector.settings().distance.to_string()),
                ("alarms", words(&settled)),
                ("at once", words(&causal)),
            ];
            table::write_facts(out, &facts)
        }
    })?;
    if let Some(warning) = detector.warning() {
        console.warn(warning);
    }
    Ok(())
}
