//! Counters in Prometheus' text form.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use varnorm::calibrate::DriftState;

/// Upper ends of the durations that are counted, in seconds.
const BUCKETS: [f64; 10] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0];

/// What happened since the start.
#[derive(Default)]
pub(crate) struct Metrics {
    /// By path and status.
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    buckets: [AtomicU64; BUCKETS.len()],
    microseconds: AtomicU64,
    count: AtomicU64,
    series: AtomicU64,
    flagged: AtomicU64,
    reloads: AtomicU64,
    failed_reloads: AtomicU64,
}

impl Metrics {
    /// A request is over.
    pub(crate) fn request(&self, path: &'static str, status: u16, took: Duration) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((path, status)).or_default() += 1;
        drop(requests);
        let seconds = took.as_secs_f64();
        for (bucket, end) in self.buckets.iter().zip(BUCKETS) {
            if seconds <= end {
                bucket.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.microseconds.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// So many series were scored, so many of them flagged.
    pub(crate) fn scored(&self, series: usize, flagged: usize) {
        self.series.fetch_add(series as u64, Ordering::Relaxed);
        self.flagged.fetch_add(flagged as u64, Ordering::Relaxed);
    }

    /// The model was read again, or could not be.
    pub(crate) fn reloaded(&self, well: bool) {
        let counter = if well { &self.reloads } else { &self.failed_reloads };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// The text about a running test of drift.
    pub(crate) fn drift(state: &DriftState) -> String {
        let mut text = String::new();
        for (name, help, value) in [
            ("varnorm_drift_series", "Series since the running test of drift began.", state.series as f64),
            (
                "varnorm_drift_martingale",
                "Capital of the running bet that series no longer look like the corpus.",
                state.martingale,
            ),
            (
                "varnorm_drift_largest",
                "Its largest value: 100 is reached with a chance of at most 1 % without drift.",
                state.largest,
            ),
            (
                "varnorm_drift_alarm",
                "1 where recent series no longer look like the corpus.",
                f64::from(u8::from(state.drifted)),
            ),
        ] {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
        }
        text
    }

    /// The text that Prometheus reads, with the counts of connections. Writing to a string cannot fail.
    pub(crate) fn text(
        &self,
        corpus: usize,
        waiting: usize,
        free: usize,
        (open, evicted): (usize, u64),
    ) -> String {
        let head =
            |name: &str, kind: &str, help: &str| format!("# HELP {name} {help}\n# TYPE {name} {kind}\n");
        let mut text = head("varnorm_requests_total", "counter", "Requests by path and status.");
        for ((path, status), count) in self.requests.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = writeln!(text, "varnorm_requests_total{{path=\"{path}\",status=\"{status}\"}} {count}");
        }
        text +=
            &head("varnorm_request_seconds", "histogram", "Time from the head of a request to its answer.");
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        for (bucket, end) in self.buckets.iter().zip(BUCKETS) {
            let _ = writeln!(text, "varnorm_request_seconds_bucket{{le=\"{end}\"}} {}", get(bucket));
        }
        let _ = writeln!(text, "varnorm_request_seconds_bucket{{le=\"+Inf\"}} {}", get(&self.count));
        let _ = writeln!(text, "varnorm_request_seconds_sum {}", get(&self.microseconds) as f64 / 1e6);
        let _ = writeln!(text, "varnorm_request_seconds_count {}", get(&self.count));
        for (name, kind, help, value) in [
            ("varnorm_series_scored_total", "counter", "Series scored.", get(&self.series)),
            ("varnorm_series_flagged_total", "counter", "Series flagged.", get(&self.flagged)),
            ("varnorm_model_reloads_total", "counter", "Times the model was read again.", get(&self.reloads)),
            (
                "varnorm_model_reload_failures_total",
                "counter",
                "Times that failed.",
                get(&self.failed_reloads),
            ),
            ("varnorm_model_corpus_series", "gauge", "Normal series of the model.", corpus as u64),
            ("varnorm_requests_waiting", "gauge", "Requests that wait for a turn.", waiting as u64),
            ("varnorm_turns_free", "gauge", "Requests that could be worked on now.", free as u64),
            ("varnorm_connections_open", "gauge", "Open connections.", open as u64),
            (
                "varnorm_connections_evicted_total",
                "counter",
                "Connections that waited for their client and were closed for others.",
                evicted,
            ),
        ] {
            text += &head(name, kind, help);
            let _ = writeln!(text, "{name} {value}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn durations_are_counted_once_each() {
        let metrics = Metrics::default();
        metrics.request("/v1/score", 200, Duration::from_millis(3));
        metrics.request("/v1/score", 200, Duration::from_secs(60));
        metrics.scored(5, 2);
        let text = metrics.text(10, 0, 2, (3, 1));
        assert!(text.contains("varnorm_requests_total{path=\"/v1/score\",status=\"200\"} 2\n"), "{text}");
        assert!(text.contains("_bucket{le=\"0.0025\"} 0\n") && text.contains("_bucket{le=\"0.005\"} 1\n"));
        assert!(text.contains("_bucket{le=\"10\"} 1\n") && text.contains("_bucket{le=\"+Inf\"} 2\n"));
        assert!(text.contains("varnorm_series_scored_total 5\n"));
        assert!(text.contains("varnorm_connections_evicted_total 1\n"));
        assert_eq!(text.matches("# TYPE").count(), 11);
    }
}
